# shellcheck shell=bash
# The Swift toolchain and the release build.

readonly swift_needed=6.3
readonly swift_from="https://www.swift.org/install/linux/"
readonly build_space_kib=$((3 * 1024 * 1024))

# Puts a toolchain on PATH that is installed in a usual place but not named there.
find_swift() {
    local folder
    for folder in "" /opt/swift/usr/bin /usr/local/swift/usr/bin "${SWIFTLY_BIN_DIR:-${HOME:-}/.local/share/swiftly/bin}"; do
        [[ -z $folder || -x $folder/swift ]] || continue
        [[ -z $folder ]] || PATH=$folder:$PATH
        ! command -v swift >/dev/null || return 0
    done
    die "there is no 'swift' on PATH; install Swift $swift_needed or newer from $swift_from"
}

# To be called when the packages are there: without them the toolchain itself may not start.
check_swift() {
    local words version
    words=$(swift --version 2>&1) || die "'swift --version' fails: ${words%%$'\n'*}"
    [[ $words =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]] || die "'swift --version' names no version: ${words%%$'\n'*}"
    version=${BASH_REMATCH[1]}.${BASH_REMATCH[2]}
    printf '%s\n' "$swift_needed" "$version" | sort -V -C \
        || die "Swift $version is too old; install Swift $swift_needed or newer from $swift_from"
}

check_space() {
    local free
    free=$(df --output=avail -k . | tail -n 1)
    ((free >= build_space_kib)) \
        || die "only $((free / 1024)) MiB are free in $PWD and a first build needs $((build_space_kib / 1024)); make room"
}

# After find_swift. Builds only when a source, the manifest or the toolchain is not the one of the last build.
build_release() {
    local stamp=.build/enfilade.built begun=.build/enfilade.begun now
    [[ ! -e .build || -O .build ]] || die ".build belongs to $(stat -c %U .build): run this as that user, or remove it"
    now=$(fingerprint)
    if [[ -x .build/release/enfilade && -f $stamp && $(<"$stamp") == "$now" ]]; then return 0; fi
    [[ -x .build/release/enfilade ]] || check_space
    check_swift
    # Optimised across modules, each is compiled with what others look like inside; the package manager compiles it again only
    # when they change outside. What it would put together from old and new crashes.
    if [[ -e .build/release && ! (-f $begun && $(<"$begun") == "$now") ]]; then rm -rf "$(realpath .build/release)"; fi
    mkdir -p .build
    printf '%s\n' "$now" >"$begun"
    step "Building (release; the first time takes some minutes)"
    swift build -c release --product enfilade --static-swift-stdlib </dev/null \
        || die "the build failed; the compiler's message is above"
    printf '%s\n' "$now" >"$stamp"
}

fingerprint() {
    {
        stat -L -c '%n %s %Y' "$(command -v swift)"
        find Package.swift Sources migrations openapi -type f -printf '%p %s %T@\n' | sort
    } | sha256sum
}
