#!/bin/sh
# symbol_graph.sh OBJECTS: which folder of the simulator calls or reads which, one arrow a line, with
# the names it uses there. OBJECTS is a file with the paths of its object files, one a line:
# BUILD/common/tests/lint/sim_objects.txt.
set -eu
while read -r object; do
    source=${object##*hopper_sim.dir/}
    nm "$object" | sed "s|^|${source#./} |" # Ninja's paths begin with ./
done <"$1" | awk '
    # units/tma/load.c.o -> sim/units; hooks.c.o -> sim
    function folder(object) { return object ~ /\// ? "sim/" substr(object, 1, index(object, "/") - 1) : "sim" }
    $2 == "U" { used[folder($1) " " $3] = 1; next }
    $3 ~ /^[TDBRCVW]$/ { home[$4] = folder($1) }
    END {
        for (use in used) {
            split(use, word, " ")
            to = home[word[2]]
            if (to != "" && to != word[1]) names[word[1] " -> " to] = names[word[1] " -> " to] " " word[2]
        }
        for (arrow in names) print arrow names[arrow]
    }' | sort
