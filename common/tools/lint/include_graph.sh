#!/bin/sh
# include_graph.sh [--places] [REPOSITORY]: which folder includes which, one arrow a line, with the
# number of #include lines behind it, or with --places a line for each of these. Folders are those of
# common/, without that word, of beyond/, library/ and hopper_check/; "ground" are the headers that lie in
# common/ itself, "chapters" the folders of part one, "beyond" those of part two, "beyond/kinds" the
# kind.c there, and "beyond/rivals" the rivals.cu, rivals_*.cu and rivals.c.
#
#   common/tools/lint/include_graph.sh            this checkout's
#   common/tools/lint/include_graph.sh | awk '{print $1, $3}' | tsort     in order, or the cycle
#
# A name is the file beside the including one, below common/ or its own house; otherwise, as
# with the include directories of a CMake target, the file of that name wherever it lies.
set -eu
places=0
[ "${1-}" = --places ] && places=1 && shift
cd "${1:-$(dirname "$0")/../../..}"
find [0-9]* common beyond library hopper_check \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) 2>/dev/null | sort |
    awk -v places=$places '
    # common/sim/units/tma/load.c -> sim/units; tests, tools and sim/units
    # are one folder each.
    function folder(path,   at, house) {
        if (path ~ /^[0-9]/) return "chapters"
        if (path ~ /^beyond\/[0-9][^\/]*\/kind\.c$/) return "beyond/kinds"
        if (path ~ /^beyond\/[0-9][^\/]*\/rivals(_[a-z]+)?\.cu?$/) return "beyond/rivals"
        if (path ~ /^beyond\/[0-9]/) return "beyond"
        house = house_of(path)
        path = substr(path, length(house) + 1)
        if (house == "common/") house = ""
        if (path ~ /^(tests|tools)\//) return house substr(path, 1, 5)
        if (path ~ /^sim\/units\//) return "sim/units"
        at = match(path, /\/[^\/]*$/)
        return at ? house substr(path, 1, at - 1) : house == "" ? "ground" : substr(house, 1, length(house) - 1)
    }
    function house_of(path) { return substr(path, 1, index(path, "/")) }
    function found(from, name,   beside) {
        beside = from
        sub(/[^\/]*$/, name, beside)
        if (beside in known) return beside
        if ("common/" name in known) return "common/" name
        if (house_of(from) name in known) return house_of(from) name
        return name in by_name ? by_name[name] : ""
    }
    { known[$0]; file[NR] = $0; name = $0; sub(/.*\//, "", name); by_name[name] = $0 }
    END {
        for (i = 1; i <= NR; ++i) {
            line = 0
            while ((getline text < file[i]) > 0) {
                ++line
                if (text !~ /^#include "/) continue
                split(text, part, "\"")
                from = folder(file[i])
                at = found(file[i], part[2])
                if (at == "" && part[2] ~ /\.inc$/) continue # made by the build
                to = at == "" ? "nowhere" : folder(at)
                if (from == to) continue
                if (places) print from " -> " to, file[i] ":" line
                else ++arrows[from " -> " to]
            }
            close(file[i])
        }
        for (arrow in arrows) print arrow, arrows[arrow]
    }' | sort
