#!/bin/sh
# include_graph.sh [--places] [FOLDER-OF-COMMON]: which folder of common/ includes which, one arrow a
# line, with the number of #include lines behind it, or with --places a line for each of these.
# "ground" are the headers that lie in common/ itself, "chapters" the folders beside common/.
#
#   common/tools/house/include_graph.sh            this checkout's
#   common/tools/house/include_graph.sh | awk '{print $1, $3}' | tsort     in order, or the cycle
set -eu
places=0
[ "${1-}" = --places ] && places=1 && shift
cd "${1:-$(dirname "$0")/../..}"
find . ../[0-9]* ../beyond \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) 2>/dev/null | sort |
    xargs awk -v places=$places '
    # sim/units/tma_load.c -> sim/units; tests and tools are one folder each, gemm.h is on the ground
    function folder(path,   at) {
        sub(/^\.\//, "", path)
        if (path ~ /^\.\.\//) return "chapters"
        if (path ~ /^(tests|tools)\//) return substr(path, 1, 5)
        at = match(path, /\/[^\/]*$/)
        return at ? substr(path, 1, at - 1) : "ground"
    }
    function exists(path,   line, found) {
        found = (getline line < path) >= 0
        close(path)
        return found
    }
    /^#include "/ {
        split($0, part, "\"")
        beside = FILENAME
        sub(/[^\/]*$/, part[2], beside)
        from = folder(FILENAME)
        to = folder(exists(beside) ? beside : part[2])
        if (from == to) next
        if (places) print from " -> " to, FILENAME ":" FNR
        else ++arrows[from " -> " to]
    }
    END { for (arrow in arrows) print arrow, arrows[arrow] }' | sort
