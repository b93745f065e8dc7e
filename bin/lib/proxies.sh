# shellcheck shell=bash
# The proxies of deploy/, from Debian's packages but not installed: an installed one would be started, now and at every
# boot, on ports that somebody else may want.

readonly proxy_packages=(nginx haproxy caddy)
# What their programs load.
# shellcheck disable=SC2034
readonly proxy_libraries=(libcap2 libcrypt1 liblua5.3-0 libpcre2-8-0 libssl3 libsystemd0 zlib1g)

# Puts nginx, haproxy and caddy on PATH: those of the system, else unpacked below .build.
find_proxies() {
    local folder=$PWD/.build/proxies package
    PATH=$PATH:/usr/sbin:$folder/usr/sbin:$folder/usr/bin
    for package in "${proxy_packages[@]}"; do
        command -v "$package" >/dev/null || unpack_proxy "$package" "$folder"
    done
}

unpack_proxy() {
    local package=$1 folder=$2 scratch status=0
    step "Unpacking Debian's $package"
    scratch=$(mktemp -d)
    chmod 755 "$scratch"
    (cd "$scratch" && apt-get download --quiet=2 "$package" && mkdir -p "$folder" && dpkg -x ./*.deb "$folder") \
        >/dev/null || status=$?
    rm -rf "$scratch"
    ((status == 0)) || die "apt-get could not download $package"
    command -v "$package" >/dev/null || die "Debian's $package holds no program $package"
}
