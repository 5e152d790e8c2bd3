#!/bin/sh
# arrows.sh include_graph.sh FOLDER-OF-COMMON OBJECTS symbol_graph.sh: the folders' #includes point
# the way that arrows.txt says, which has no circle, and so do the calls between the simulator's
# folders. One symbol may point up: the table through which the core asks those above it.
set -u
allowed=$(dirname "$0")/arrows.txt
failed=0

rules=$(sed '/^#/d; /^$/d' "$allowed")
# A pair a line: the folder, one that it may use.
pairs=$(echo "$rules" | awk '{ for (i = 3; i <= NF; ++i) if ($i != "*") print $1, $i }')
echo "$pairs" | tsort >/dev/null 2>&1 || { echo "arrows.txt has a circle"; failed=1; }

# judge WHAT: complains about every arrow on stdin that no rule allows.
judge() {
    judged=0
    while read -r from _ to rest; do
        echo "$rules" | grep -q "^$from -> .*[*]" && continue
        echo "$pairs" | grep -qx "$from $to" && continue
        echo "$1: $from -> $to is against arrows.txt: $rest"
        judged=1
    done
    return $judged
}
graph=$("$1" --places "$2") || { echo "no include graph"; exit 1; }
[ "$(echo "$graph" | cut -d' ' -f1-3 | sort -u | wc -l)" -ge 30 ] ||
    { echo "that cannot be all: $graph"; failed=1; }
echo "$graph" | judge include || failed=1
calls=$("$4" "$3") || { echo "no symbol graph"; exit 1; }
[ "$(echo "$calls" | wc -l)" -ge 10 ] || { echo "that cannot be all: $calls"; failed=1; }
echo "$calls" | grep -vx 'sim/core -> sim sim_hooks' | judge call || failed=1
exit "$failed"
