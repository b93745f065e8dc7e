# shellcheck shell=bash
# Words to the person at the terminal.

say() { printf '%s\n' "$*"; }

step() { printf '==> %s\n' "$*"; }

# One clear line that says what is wrong and what to do, then the end.
die() {
    printf '%s: %s\n' "$0" "$*" >&2
    exit 1
}

# The help of a command is the comment at its top.
print_help() {
    awk 'NR > 1 && /^#/ { sub(/^# ?/, ""); print; next } NR > 1 { exit }' "bin/${0##*/}"
}

# Seconds with one digit between two readings of $EPOCHREALTIME.
seconds_between() {
    local from=${1/[.,]/} to=${2/[.,]/}
    local tenths=$(((to - from) / 100000))
    printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}
