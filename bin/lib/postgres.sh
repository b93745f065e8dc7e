# shellcheck shell=bash
# A private PostgreSQL cluster, reached only through a socket in a folder that none but its owner can enter: no TCP,
# no passwords, and nothing in common with a cluster that the machine has of its own.

readonly postgres_bin=/usr/lib/postgresql/15/bin
cluster=""     # its folder
socket=""      # the folder of its socket
database_pid=""

# PostgreSQL refuses to run as root; then the cluster belongs to Debian's user for it.
cluster_owner=()
((EUID != 0)) || cluster_owner=(--reuid=postgres --regid=postgres --init-groups)
readonly cluster_owner

as_cluster_owner() (
    cd / && exec setpriv "${cluster_owner[@]}" --pdeathsig INT -- "$@"
)

database_url() { printf 'postgresql://%s@/enfilade?host=%s' "$1" "$socket"; }

# Starts the cluster kept under a state folder, with further options of the server; makes it first when there is none.
start_cluster() {
    local state=$1
    shift
    place_cluster "$state"
    [[ -d $cluster/data ]] || make_cluster "$state/postgres.log"
    end_leftover
    place_socket
    # In a session of its own, so that Ctrl-C reaches the server first and the database when the server has ended.
    setsid setpriv "${cluster_owner[@]}" --pdeathsig INT -- "$postgres_bin/postgres" -D "$cluster/data" \
        -c listen_addresses= -c unix_socket_directories="$socket" -c unix_socket_permissions=0700 \
        -c cluster_name=enfilade "$@" </dev/null >>"$state/postgres.log" 2>&1 9>&- &
    database_pid=$!
    until "$postgres_bin/pg_isready" --quiet --host="$socket"; do
        kill -0 "$database_pid" 2>/dev/null || die "PostgreSQL did not start; see $state/postgres.log"
        sleep 0.05
    done
}

stop_cluster() {
    [[ -n $database_pid ]] || return 0
    kill -INT "$database_pid" 2>/dev/null || true
    wait "$database_pid" || true
    database_pid=""
    [[ $socket == "$cluster"/* ]] || rm -rf "$socket"
}

# Under the state folder, or under /var/lib with a link there, when the cluster's owner cannot get into a checkout of root's.
place_cluster() {
    local state=$1 link=$1/postgres
    if [[ ! -e $link ]]; then
        rm -f "$link"
        if ((EUID == 0)) && ! as_cluster_owner test -x "$state"; then
            local elsewhere
            elsewhere=$(place_elsewhere "$state")
            say "User postgres cannot enter $state, so the database is kept in $elsewhere."
            install -d -m 711 "${elsewhere%/*}"
            mkdir -p "$elsewhere"
            ln -s "$elsewhere" "$link"
        else
            mkdir "$link"
        fi
        chmod 700 "$link"
        ((EUID != 0)) || chown postgres:postgres "$link/"
    fi
    cluster=$(realpath "$link")
}

place_elsewhere() { printf '/var/lib/enfilade-dev/%s' "$(sha256sum <<<"$1" | cut -c 1-16)"; }

# Complete or not there at all: the data folder gets its name when roles and database are in it.
make_cluster() {
    local log=$1 draft=$cluster/data.new
    step "Making a PostgreSQL cluster in $cluster"
    rm -rf "$draft"
    as_cluster_owner "$postgres_bin/initdb" --pgdata="$draft" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --data-checksums --no-instructions >>"$log" 2>&1 \
        || die "initdb failed; see $log"
    as_cluster_owner "$postgres_bin/postgres" --single -D "$draft" -c exit_on_error=on postgres >>"$log" 2>&1 <<'SQL' \
        || die "the new cluster refused its roles; see $log"
CREATE ROLE enfilade_owner LOGIN
CREATE ROLE enfilade_app LOGIN
CREATE DATABASE enfilade OWNER enfilade_owner
REVOKE ALL ON DATABASE enfilade FROM PUBLIC
GRANT CONNECT ON DATABASE enfilade TO enfilade_app
SQL
    mv "$draft" "$cluster/data"
}

# After a crash: a cluster that still runs is stopped; a process id that is now somebody else's is forgotten.
# A plain stale file is left to PostgreSQL, which also looks whether old backends still hold its memory.
end_leftover() {
    local file=$cluster/data/postmaster.pid pid
    [[ -f $file ]] || return 0
    read -r pid <"$file" || true
    [[ $pid =~ ^[0-9]+$ && -d /proc/$pid ]] || return 0
    if [[ $(readlink "/proc/$pid/cwd") == "$cluster/data" ]]; then
        say "Stopping the PostgreSQL that an earlier run left behind."
        as_cluster_owner "$postgres_bin/pg_ctl" stop --pgdata="$cluster/data" --mode=fast --silent || true
    else
        rm -f "$file"
    fi
}

# A socket's path is at most 107 bytes long, and a plain one needs no quoting in settings and URLs.
place_socket() {
    socket=$cluster/socket
    if ((${#socket} > 80)) || [[ $socket =~ [^[:alnum:]/._-] ]]; then
        socket=$(mktemp -d /tmp/enfilade.XXXXXX)
        ((EUID != 0)) || chown postgres:postgres "$socket"
    else
        rm -rf "$socket"
        as_cluster_owner mkdir -m 700 "$socket"
    fi
}
