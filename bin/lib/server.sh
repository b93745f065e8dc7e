# shellcheck shell=bash
# The server as a child of the calling script.

port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# A port that nothing listened on a moment ago.
free_port() {
    local port
    for _ in {1..50}; do
        port=$((RANDOM % 20000 + 12000))
        if ! port_is_taken "$port"; then
            printf '%d' "$port"
            return 0
        fi
    done
    die "no free port found on 127.0.0.1"
}

is_ready() { curl --silent --fail --noproxy '*' --max-time 5 --output /dev/null "$1/readyz"; }

# Waits until the server answers that it is ready, or until the process that should become it has ended.
wait_until_ready() {
    local url=$1 pid=$2
    until is_ready "$url"; do
        kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.05
    done
}
