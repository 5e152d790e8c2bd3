#!/bin/sh
# attention.sh PROGRAM: what 16_attention's kind refuses; its default k; queries that see no key; for
# every way of sharing heads and both masks, lengths of which neither is a multiple of anything;
# every scale; few keys; and sequences behind one another, between them rows that belong to none.
set -u
. "$(dirname "$0")/../../../common/tests/support/expect_run.sh"
program=$1
expect 2 '--k 65: this kernel is for --k 128' "$program" --k 65
expect 2 '--k 128: this kernel is for --k 64' "$program" --k 128 --variant d64
expect 2 'attention: --heads must be a multiple of --kv-heads' "$program" --heads 3 --kv-heads 2
expect 0 '70 x 70 x 128, bf16' "$program" --size 70
expect 0 '70 x 70 x 64, bf16' "$program" --size 70 --variant d64
expect 0 'mask causal' "$program" --m 300 --n 70 --mask causal
expect 0 '"kind": "attention", "batch": 1, "heads": 4, "kv-heads": 2, "mask": "causal", ' "$program" --m 9 \
    --n 70 --heads 4 --kv-heads 2 --mask causal --json
for heads in '1 1' '4 2' '3 1'; do
    for mask in none causal; do
        for variant in serial_d64 pingpong_d64 d64; do
            expect 0 yes "$program" --variant $variant --m 133 --n 277 --heads "${heads% *}" \
                --kv-heads "${heads#* }" --mask $mask --input normal
        done
    done
done
# Few keys: the roundings of P to 16 bits are too few to even out.
for variant in serial_d64 pingpong_d64 d64; do
    expect 0 yes "$program" --variant $variant --m 386 --n 8 --kv-heads 1 --input integer \
        --scale usual --pitches drawn
done
# Many blocks of keys, in which what is a little wrong in each shows in LSE.
for scale in usual one steep; do
    for variant in serial pingpong_d64 d64; do
        expect 0 yes "$program" --variant $variant --m 64 --n 3000 --heads 1 --scale $scale \
            --input integer
    done
    expect 0 yes "$program" --m 133 --n 1277 --mask causal --scale $scale --input normal
done
# Each sequence ends in the middle of a tile and of a block of keys.
for variant in serial pingpong serial_d64 pingpong_d64 d64; do
    for mask in none causal; do
        expect 0 yes "$program" --variant $variant --batch 3 --m 133 --n 277 --heads 2 --kv-heads 1 \
            --mask $mask --pitches drawn
    done
done
expect 0 yes "$program" --batch 5 --m 133 --n 277 --heads 1 --mask causal --padding finite \
    --pitches drawn --schedule late
expect 0 yes "$program" --batch 2 --m 9 --n 7 --heads 1 --pitches far
exit $failed
