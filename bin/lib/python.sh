# shellcheck shell=bash
# Virtual environments on Debian's own Python.

# Makes .venv/NAME from a file of pinned requirements; does nothing when it is already made from that file.
need_venv() {
    local folder=$PWD/.venv/$1 requirements=$2 now
    now=$({ printf '%s\n' "$folder"; /usr/bin/python3 --version; cat "$requirements"; } | sha256sum)
    if [[ -f $folder/stamp && $(<"$folder/stamp") == "$now" ]]; then return 0; fi
    step "Python packages of $requirements"
    rm -rf "$folder"
    /usr/bin/python3 -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements" \
        || die "pip could not install $requirements; is the network there?"
    printf '%s\n' "$now" >"$folder/stamp"
}
