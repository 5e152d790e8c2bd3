#!/bin/sh
# arrows_rejects.sh TOOLS REPOSITORY OBJECTS WORK: arrows.sh complains about an #include, a call
# and a rule that point the wrong way.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tools=$1 folder=$2 objects=$3 work=$4
rm -rf "$work"
mkdir -p "$work" || exit 2
failed=0

# expect TEXT FOLDER OBJECTS SCRIPT: it fails and says so.
expect() {
    said=$("$4" "$tools/include_graph.sh" "$2" "$3" "$tools/symbol_graph.sh" 2>&1) &&
        { echo "accepted: $1"; failed=1; }
    case $said in *"$1"*) ;; *) echo "expected '$1', got: $said"; failed=1 ;; esac
}

mkdir -p "$work/one/01_naive" "$work/one/beyond/10_stream_k" "$work/one/library/hopper_gemm"
cp -r "$folder/common" "$work/one/common"
for house in beyond library; do
    [ ! -d "$folder/$house" ] || cp -r "$folder/$house" "$work/one"
done
echo '#include "sim/core/state.h"' >>"$work/one/common/harness/options.h"
expect 'include: harness -> sim/core is against arrows.txt: common/harness/options.h:' \
    "$work/one" "$objects" "$here/arrows.sh"
echo '#include "harness/verify.h"' >"$work/one/01_naive/kernel.cu"
expect 'include: chapters -> harness is against arrows.txt: 01_naive/kernel.cu:1' \
    "$work/one" "$objects" "$here/arrows.sh"
# A bare name is the file of that name in beyond/, and no part of common/ may include one.
echo '/* a header of part two */' >"$work/one/beyond/10_stream_k/of_beyond.h"
echo '#include "of_beyond.h"' >>"$work/one/common/tests/support/expect.h"
expect 'include: tests -> beyond: nothing outside beyond/ may use it: common/tests/support/expect.h:' \
    "$work/one" "$objects" "$here/arrows.sh"
# No house may use another's.
echo '#include "of_beyond.h"' >>"$work/one/library/hopper_gemm/of_library.h"
expect 'include: library/hopper_gemm -> beyond: nothing outside beyond/ may use it: library/' \
    "$work/one" "$objects" "$here/arrows.sh"

printf 'void poll_launch_begins(void);\nvoid f(void) { poll_launch_begins(); }\n' >"$work/f.c"
mkdir -p "$work/hopper_sim.dir/core"
cc -c "$work/f.c" -o "$work/hopper_sim.dir/core/f.c.o" || exit 2
{ cat "$objects"; echo "$work/hopper_sim.dir/core/f.c.o"; } >"$work/objects.txt"
expect 'call: sim/core -> sim/units' "$folder" "$work/objects.txt" "$here/arrows.sh"

cp "$here/arrows.sh" "$work"
sed 's|^sim/models -> .*|& sim/units|' "$here/arrows.txt" >"$work/arrows.txt"
expect 'arrows.txt has a circle' "$folder" "$objects" "$work/arrows.sh"
exit "$failed"
