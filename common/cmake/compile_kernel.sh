#!/bin/sh
# compile_kernel.sh COMPILER ARGUMENTS...: compiles a kernel's file, also one with an exercise half
# done in it. What the compiler refuses stops neither the tour nor the tests of other chapters: its
# words are shown, and the object has a record that says so (does_not_compile.c). OBJECT.refused
# keeps the words; where it is, chapter_program.sh refuses the chapter's own program.
set -u

object='' source='' record='' before=''
for argument in "$@"; do
    case $before in
    -o) object=$argument ;;
    -c) source=$argument ;;
    esac
    case $argument in -DGEMM_KERNEL=*) record=${argument#*=} ;; esac
    before=$argument
done
refused=$object.refused words=$object.words
trap 'rm -f "$words"' EXIT
trap 'exit 1' HUP INT TERM

# A file without its record would stop the linker. The first try speaks to the terminal, in colors;
# the second is for the words, and for what failed by chance.
compile() {
    "$@" || return
    nm "$object" | grep -q " [A-Z] _*$record\$" && return
    echo "$source: error: there is no record: const struct gemm_kernel GEMM_KERNEL" >&2
    return 1
}
compile "$@" || compile "$@" >"$words" 2>&1
code=$?
rm -f "$refused"
[ "$code" -eq 0 ] || [ "$code" -gt 128 ] && exit "$code"

# The same command twice more: for the files that the object depends on, and with the record's file.
chapter=$(basename "$(dirname "$source")") file=$(basename "$source")
dependencies() {
    before=''
    for argument in "$@"; do
        shift
        case $before$argument in
        -c | -o | -o*) ;;
        -MD) set -- "$@" -M ;;
        *) set -- "$@" "$argument" ;;
        esac
        before=''
        [ "$argument" != -o ] || before=-o
    done
    "$@" 2>/dev/null
}
stand_in() {
    before=''
    for argument in "$@"; do
        shift
        case $before in
        -c) argument=$(dirname "$0")/does_not_compile.c ;;
        -MF | -MT) before='' && continue ;;
        esac
        before=$argument
        case $argument in -MD | -MF | -MT) continue ;; esac
        set -- "$@" "$argument"
    done
    "$@" "-DKERNEL_CHAPTER=\"$chapter\"" "-DKERNEL_FILE=\"$file\""
}
dependencies "$@"
stand_in "$@" || exit 1
mv "$words" "$refused"
