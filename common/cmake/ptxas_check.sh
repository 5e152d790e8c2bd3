#!/bin/sh
# ptxas_check.sh COMPILER ARGUMENTS...: compiles, and fails where ptxas only remarks.
#
# Four remarks mean that a kernel is not the one its source describes: registers spilled to local
# memory; a stack frame, which holds what should be in registers or, as a copied tensor map, where
# the TMA cannot read it; notes C7504 to C7508 (setmaxnreg ignored); notes C7509 to C7520 (wgmma
# serialized). All are errors here, and so is any warning. ptxas speaks of the first two only with
# -Xptxas -v. An object compiled with -DTRACE=1 may spill: its kernel is recorded, not timed, and the
# recorder takes a register or two that the fullest kernels do not have.
#
#   ptxas_check.sh --judge < OUTPUT    judges the compiler's words alone (for its test)
#   ptxas_check.sh --foreign ...       another project's kernels: they may spill and cause warnings,
#                                      but with serialized wgmma they would be no fair rivals
set -u

foreign=
[ "${1-}" = --foreign ] && foreign=1 && shift
memory='[1-9][0-9]* bytes (stack frame|spill stores|spill loads)'
warning='(^|[^a-z])[Ww]arning([^a-z]|$)'
[ -n "$foreign" ] && memory=C75[0-9][0-9] && warning=$memory
for argument in "$@"; do
    [ "$argument" = -DTRACE=1 ] && memory=C75[0-9][0-9] # nothing beyond what is sought anyway
done

# Prints the offending lines of the file $1; succeeds if there are some.
offending() {
    grep -E -e 'C75[0-9][0-9]' -e "$memory" \
        -e "$warning" "$1"
}

output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
trap 'exit 1' HUP INT TERM

if [ "${1-}" = --judge ]; then
    cat >"$output"
    code=0
else
    "$@" >"$output" 2>&1
    code=$?
fi
if [ "$code" -ne 0 ]; then
    cat "$output" >&2
    exit "$code"
fi
if offending "$output" >&2; then
    echo "ptxas_check.sh: the remarks above are errors: spilled registers, a stack frame, an ignored" \
        "setmaxnreg, serialized wgmma, or a warning. In: ${*}" >&2
    # No object may stay behind, or the next build would take it for a good one.
    object=
    for argument in "$@"; do
        [ "$object" = -o ] && rm -f "$argument"
        object=$argument
    done
    exit 1
fi
# The registers of each kernel, shown by a verbose build.
[ -z "${VERBOSE-}" ] || grep -E 'Compiling entry|Used [0-9]+ registers' "$output"
exit 0
