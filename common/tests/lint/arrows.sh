#!/bin/sh
# arrows.sh include_graph.sh REPOSITORY OBJECTS symbol_graph.sh: the folders' #includes point
# the way that arrows.txt says, which has no circle, and so do the calls between the simulator's
# folders. No rule, "*" included, lets a folder outside beyond/ use one of beyond/, and so with library/
# and hopper_check/. Two symbols may point up: the table through which the core asks those above it, and the function that cannot be
# part of the table.
set -u
allowed=$(dirname "$0")/arrows.txt
failed=0

rules=$(sed '/^#/d; /^$/d' "$allowed")
# A pair a line: the folder, one that it may use.
pairs=$(echo "$rules" | awk '{ for (i = 3; i <= NF; ++i) if ($i != "*") print $1, $i }')
echo "$pairs" | tsort >/dev/null 2>&1 || { echo "arrows.txt has a circle"; failed=1; }

# judge WHAT: complains about every arrow on stdin that no rule allows.
judge() {
    awk -v what="$1" -v rules="$rules" '
    BEGIN {
        for (i = split(rules, rule, "\n"); i; --i)
            for (j = split(rule[i], word, " "); j > 2; --j) allowed[word[1], word[j]]
    }
    {
        house = $3
        sub(/\/.*/, "", house)
        outside = house ~ /^(beyond|library|hopper_check)$/ && $1 !~ "^" house
        if (!outside && (($1, "*") in allowed || ($1, $3) in allowed)) next
        why = outside ? "nothing outside " house "/ may use it" : "is against arrows.txt"
        print what ": " $1 " -> " $3 (outside ? ": " : " ") why ": " $4
        bad = 1
    }
    END { exit bad }'
}
graph=$("$1" --places "$2") || { echo "no include graph"; exit 1; }
[ "$(echo "$graph" | cut -d' ' -f1-3 | sort -u | wc -l)" -ge 30 ] ||
    { echo "that cannot be all: $graph"; failed=1; }
echo "$graph" | judge include || failed=1
calls=$("$4" "$3") || { echo "no symbol graph"; exit 1; }
[ "$(echo "$calls" | wc -l)" -ge 10 ] || { echo "that cannot be all: $calls"; failed=1; }
echo "$calls" | grep -vxE 'sim/core -> sim( sim_(hooks|drain))+' | judge call || failed=1
exit "$failed"
