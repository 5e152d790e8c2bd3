#!/bin/sh
# include_graph.sh [FOLDER-OF-COMMON]: which folder of common/ includes which, one arrow a line, with
# the number of #include lines behind it. "ground" are the headers that lie in common/ itself.
#
#   common/tools/house/include_graph.sh            this checkout's
#   common/tools/house/include_graph.sh | awk '{print $1, $3}' | tsort     in order, or the cycle
set -eu
cd "${1:-$(dirname "$0")/../..}"
find . \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) | sort | xargs awk '
    # sim/units/tma_load.c -> sim/units; tests and tools are one folder each, gemm.h is on the ground
    function folder(path,   at) {
        sub(/^\.\//, "", path)
        if (path ~ /^(tests|tools)\//) return substr(path, 1, 5)
        at = match(path, /\/[^\/]*$/)
        return at ? substr(path, 1, at - 1) : "ground"
    }
    /^#include "/ {
        split($0, part, "\"")
        from = folder(FILENAME)
        to = folder(part[2])
        if (from != to) ++arrows[from " -> " to]
    }
    END { for (arrow in arrows) print arrow, arrows[arrow] }' | sort
