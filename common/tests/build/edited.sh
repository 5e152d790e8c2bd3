#!/bin/sh
# edited.sh SOURCE WORK [--all] OPTIONS...: whatever a reader has made of the chapters' kernels, the
# project configures, and what tells of the book's kernels is made of the book's. OPTIONS are
# cmake's.
#
# In a copy of the project, with a repository of its own, all kernels from 02 to 09 are edited: one
# line that synchronizes goes, and then none of them compiles. With one that does not, the tour runs
# the others, its chapter's program is refused, and the tests of other chapters pass. With --all,
# each chapter by itself is edited in both ways: the other chapters' programs, the tour, the
# practice, and the live page, where there is emscripten, are built, and the practice judges.
#
# Without a repository the book's text is not known. Then the practice leaves out what does not fit.
set -u
source=$1 work=$2
shift 2
all=
[ "$1" = --all ] && all=1 && shift

fail() {
    echo "edited: $1" >&2
    exit 1
}
command -v git >/dev/null || { echo "skipped: it needs git"; exit 77; }
rm -rf "$work"
mkdir -p "$work/tree" || exit 1
tree=$work/tree build=$work/tree/build log=$work/log
cp -r "$source"/[0-9]* "$source/CMakeLists.txt" "$source/CMakePresets.json" "$source/README.md" \
    "$source/common" "$source/docs" "$tree" || exit 1
[ ! -d "$source/beyond" ] || cp -r "$source/beyond" "$tree" || exit 1
# The copy's own time, so that what is built is not older.
(cd "$tree" && git init -q && git add [0-9]* common docs README.md CMakeLists.txt &&
    git -c user.name=a -c user.email=a@b commit -q -m book) >"$log" 2>&1 || fail "$(cat "$log")"

# One line that synchronizes goes.
line_gone() {
    calls='fence_proxy_async|fence_mbarrier_init|wgmma_fence|wgmma_wait_group|bulk_wait_group'
    calls="$calls|cp_async_commit_group|__syncthreads|cluster_sync"
    awk -v line="^ *($calls)[(].*;\$" '!gone && $0 ~ line { gone = 1; next } { print }' \
        "$1" >"$work/edited"
    ! cmp -s "$1" "$work/edited" || fail "$1 has no line to leave out"
    cp "$work/edited" "$1"
}
no_c() {
    printf 'int half( {\n' >>"$1"
}
configure() {
    cmake -S "$tree" -B "$build" "$@" >"$log" 2>&1 || fail "it does not configure: $(cat "$log")"
}
build() {
    cmake --build "$build" --parallel 2 --target "$@" >"$log" 2>&1 ||
        fail "$*: it does not build: $(tail -n 40 "$log")"
}

# The kernel of a chapter does not compile.
half_done() {
    name=$1
    build sim_tour
    grep -q 'error: ' "$log" || fail "$name: the compiler's words are not shown: $(cat "$log")"
    "$build/sim/tour" --size 64 >"$log" 2>&1
    code=$?
    [ $code -eq 2 ] || fail "$name: the tour ends with $code: $(cat "$log")"
    grep -q "^tour: $name: kernel.cu does not compile; why: .*--target sim_$name\$" "$log" ||
        fail "$name: the tour says: $(cat "$log")"
    verified=$(grep -c ' yes | ' "$log")
    [ "$verified" -gt 8 ] || fail "$name: $verified steps are verified: $(cat "$log")"
    for again in '' '' HOPPER_KEEP_GOING=1 ''; do
        env $again cmake --build "$build" --parallel 2 --target "sim_$name" >"$log" 2>&1
        code=$?
        case $code$again in
        0) fail "$name is built" ;;
        [1-9]*HOPPER*) fail "$name stops the others" ;;
        esac
        grep -q "$name/kernel.cu:.* error: " "$log" || fail "$name: no error: $(cat "$log")"
    done
}

configure "$@"
kernels=$build/live/kernels
if [ -z "$all" ]; then
    build live_kernels
    cp "$kernels/live.json" "$work/live.json"
    for edit in line_gone no_c; do
        for chapter in "$tree"/0[2-9]_*; do
            $edit "$chapter/kernel.cu"
        done
        configure
        build live_kernels
        cmp "$work/live.json" "$kernels/live.json" ||
            fail "$edit: the practice has the edited kernels"
        grep -q '06_wgmma/kernel.cu is edited' "$log" ||
            fail "$edit: nothing is said: $(cat "$log")"
    done
    git -C "$tree" checkout -q .
    no_c "$tree/05_tma_mbarrier/kernel.cu"
    half_done 05_tma_mbarrier
    build sim_sweep
    "$build/sim/sweep" --chapter 06_wgmma --triples 1 >"$log" 2>&1 || fail "06: $(cat "$log")"
    "$build/sim/sweep" --chapter 05_tma_mbarrier --triples 1 >"$log" 2>&1 && fail "05 passes"
    grep -q '^05_tma_mbarrier: kernel.cu does not compile' "$log" || fail "05: $(cat "$log")"
    git -C "$tree" checkout -q .
    build sim_tour sim_05_tma_mbarrier
    "$build/sim/tour" --size 64 >"$log" 2>&1 || fail "put back, the tour says: $(cat "$log")"
    rm -rf "$tree/.git" "$kernels"
    configure
    for chapter in "$tree"/0[2-9]_*; do
        cp "$source/${chapter##*/}/kernel.cu" "$chapter"
        line_gone "$chapter/kernel.cu"
    done
    build live_kernels
    grep -q 'left out: ' "$log" || fail "without a repository nothing is left out: $(cat "$log")"
    exit 0
fi

programs=
for chapter in "$tree"/0[1-9]_*; do
    programs="$programs sim_${chapter##*/}"
done
live=
command -v emcc >/dev/null && command -v wasm-opt >/dev/null && live=live
build $programs sim_practice broken_05 $live
for edit in line_gone no_c; do
    for chapter in "$tree"/0[2-9]_*; do
        name=${chapter##*/}
        cp "$chapter/kernel.cu" "$work/kernel.cu"
        $edit "$chapter/kernel.cu"
        configure
        others=$(echo "$programs" | sed "s/ sim_$name//")
        build $others sim_practice broken_05 $live
        number=$(echo "$name" | cut -c1-2)
        "$build/sim/practice" show "$number-1" >"$log" 2>&1 || fail "$edit $name: $(cat "$log")"
        "$build/sim/practice" check 05-n1 32768 >"$log" 2>&1 || fail "$edit $name: $(cat "$log")"
        if [ "$edit" = line_gone ]; then
            build "sim_$name"
            "$build/sim/$name" --check >"$log" 2>&1 && fail "$name passes without its line"
            build sim_tour
        else
            half_done "$name"
        fi
        cp "$work/kernel.cu" "$chapter/kernel.cu"
    done
done
exit 0
