# shellcheck shell=bash
# Debian packages: which ones each job needs, and how the missing ones are installed.
# shellcheck disable=SC2034

# What a Swift toolchain needs from Debian 12 to compile and link, and the C libraries of the server.
readonly build_packages=(
    binutils ca-certificates git libc6-dev libcurl4 libgcc-12-dev libncurses6 libsqlite3-0 libstdc++-12-dev libxml2
    tzdata zlib1g-dev
    libmicrohttpd-dev libpq-dev libsodium-dev pkg-config
)
readonly run_packages=(curl postgresql-15)
readonly python_packages=(python3 python3-venv)
# What sets the clock of one process.
readonly test_packages=(libfaketime)
readonly demo_packages=(python3 python3-httpx python3-nacl)
readonly generator_packages=(default-jre-headless)
readonly check_packages=(shellcheck)
readonly every_package=(
    "${build_packages[@]}" "${run_packages[@]}" "${python_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}"
    "${check_packages[@]}"
)

as_root() {
    if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

missing_packages() {
    comm -23 <(printf '%s\n' "$@" | sort -u) \
        <(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null \
            | awk '$2 == "installed" { print $1 }' | sort -u)
}

# Installs those of the named packages that are not there; silent when nothing is missing.
need_packages() {
    command -v dpkg-query >/dev/null || die "this is not Debian; install by its own means what stands for: $*"
    local -a missing
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    if ((EUID != 0)) && ! command -v sudo >/dev/null; then
        mapfile -t missing < <(missing_packages "$@" "${every_package[@]}")
        die "Debian packages are missing and there is no sudo; as root, run (it has what all of bin/ needs):" \
            "apt-get install --no-install-recommends ${missing[*]}"
    fi
    step "Installing Debian packages: ${missing[*]}"
    as_root apt-get update -qq || die "apt-get update failed; is the network there, and may this account use sudo?"
    without_default_cluster install_packages "${missing[@]}" \
        || die "apt-get could not install: ${missing[*]} (Debian 12 has them all; its message is above)"
}

# What packages say while they are set up concerns nobody unless it fails.
install_packages() {
    local said
    said=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" </dev/null 2>&1) && return 0
    printf '%s\n' "$said" >&2
    return 1
}

# Debian's PostgreSQL makes and starts a cluster of its own when first installed. Nobody asked for one here.
without_default_cluster() {
    local folder=/etc/postgresql-common/createcluster.d
    local file=$folder/enfilade.conf status=0
    if [[ ! -d /usr/lib/postgresql/15 ]]; then
        as_root mkdir -p "$folder"
        as_root tee "$file" <<<'create_main_cluster = false' >/dev/null
    fi
    "$@" || status=$?
    as_root rm -f "$file"
    return "$status"
}
