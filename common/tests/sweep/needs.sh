#!/bin/sh
# needs.sh SWEEP SOAK: the two of them linked with registry_needs.c. They use each kernel in the
# types that it has, and leave out, with a line, what needs more GPUs than there are.
set -u
sweep=$1 soak=$2
. "$(dirname "$0")/../support/expect_run.sh"

alone='01_naive is left out: it needs 9 GPUs'
expect 0 "$alone" "$sweep" --triples 4
expect 0 '02_smem_tiled: 4 triples, 0 failures' "$sweep" --triples 4
expect 0 '05_tma_mbarrier: 4 triples, 0 failures' "$sweep" --triples 4
expect 0 '02_smem_tiled is left out: it is not compiled for fp16' "$sweep" --triples 4 --dtype fp16
expect 0 '4 random shapes, 4 runs, 0 failures' "$sweep" --random 4 --largest 50
expect 0 '02_smem_tiled bf16: 2 runs, all bitwise identical' "$sweep" --repeat 2
expect 3 "$alone" "$sweep" --chapter 01_naive --triples 4
expect 3 'not compiled for fp16' "$sweep" --chapter 02_smem_tiled --dtype fp16
expect 2 'no such chapter or variant: 03' "$sweep" --chapter 03
expect 0 '20 trials of 3 kernels and variants' "$soak" --trials 20
exit $failed
