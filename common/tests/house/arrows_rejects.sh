#!/bin/sh
# arrows_rejects.sh TOOLS FOLDER-OF-COMMON OBJECTS WORK: arrows.sh complains about an #include, a call
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

cp -r "$folder" "$work/common"
echo '#include "sim/core/run.h"' >>"$work/common/harness/options.h"
expect 'include: harness -> sim/core is against arrows.txt: ./harness/options.h:' \
    "$work/common" "$objects" "$here/arrows.sh"
mkdir "$work/01_naive"
echo '#include "harness/verify.h"' >"$work/01_naive/kernel.cu"
expect 'include: chapters -> harness is against arrows.txt: ../01_naive/kernel.cu:1' \
    "$work/common" "$objects" "$here/arrows.sh"

printf 'void poll_launch_begins(void);\nvoid f(void) { poll_launch_begins(); }\n' >"$work/f.c"
mkdir -p "$work/hopper_sim.dir/core"
cc -c "$work/f.c" -o "$work/hopper_sim.dir/core/f.c.o" || exit 2
{ cat "$objects"; echo "$work/hopper_sim.dir/core/f.c.o"; } >"$work/objects.txt"
expect 'call: sim/core -> sim/units' "$folder" "$work/objects.txt" "$here/arrows.sh"

cp "$here/arrows.sh" "$work"
sed 's|^sim/models -> .*|& sim/units|' "$here/arrows.txt" >"$work/arrows.txt"
expect 'arrows.txt has a circle' "$folder" "$objects" "$work/arrows.sh"
exit "$failed"
