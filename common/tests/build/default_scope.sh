#!/bin/sh
# default_scope.sh NVCC INCLUDES: the scope of an mbarrier operation that names none, as
# docs/memory-order.md says it. A kernel calls the wrappers that leave it to the default. With .cta
# written into the PTX, ptxas must compile it to the same bytes, and with .cluster to others.
set -u
nvcc=$1 includes=$2
ptxas=$(dirname "$nvcc")/ptxas
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failures=0 tried=0

cat >"$directory/kernel.cu" <<'END'
#include "hopper/cluster.h"
__global__ void kernel(uint32_t *word, uint32_t rank) {
    __shared__ mbarrier_t barrier;
    __shared__ uint32_t copy[2];
    copy[rank] = word[0];
    mbarrier_arrive_remote(&barrier, rank);
    copy[rank] += word[1];
    mbarrier_arrive(&barrier);
    copy[rank] += word[2];
    mbarrier_arrive_expect_tx(&barrier, rank);
    word[3] = mbarrier_test_wait(&barrier, rank) + word[4];
    word[5] = mbarrier_try_wait(&barrier, rank) + word[6] + copy[1];
}
END

# assemble NAME: NAME.ptx to NAME.
assemble() { "$ptxas" -arch=sm_90a "$directory/$1.ptx" -o "$directory/$1" || exit 1; }

# check INSTRUCTION SEMANTICS REST: the default form is INSTRUCTION.REST.
check() {
    tried=$((tried + 1))
    for scope in cta cluster; do
        sed "s/$1\\.$3/$1.$2.$scope.$3/" "$directory/default.ptx" >"$directory/$scope.ptx"
        if cmp -s "$directory/default.ptx" "$directory/$scope.ptx"; then
            echo "$1.$3: not in the kernel's PTX" && exit 1
        fi
        assemble "$scope"
    done
    if ! cmp -s "$directory/default" "$directory/cta"; then
        echo "$1.$3: not the code of .$2.cta"
        cmp -s "$directory/default" "$directory/cluster" && echo "    but that of .$2.cluster"
        failures=$((failures + 1))
    elif cmp -s "$directory/cta" "$directory/cluster"; then
        echo "$1.$3: the same code with either scope, which decides nothing"
        failures=$((failures + 1))
    fi
}

"$nvcc" -ptx -arch=sm_90a -std=c++17 -I"$includes" "$directory/kernel.cu" \
    -o "$directory/default.ptx" || exit 1
assemble default
check mbarrier.arrive release shared::cluster
check mbarrier.arrive release shared::cta
check mbarrier.arrive.expect_tx release shared::cta
check mbarrier.test_wait.parity acquire shared::cta
check mbarrier.try_wait.parity acquire shared::cta
echo "$tried operations without a scope, $failures not of .cta"
[ "$failures" -eq 0 ] && [ "$tried" -gt 0 ]
