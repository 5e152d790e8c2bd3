#!/bin/sh
# seed.sh [COMMAND...]: the seed from which a test draws its sample: HOPPER_SEED, or a number made of
# the commit's hash, so that over the commits every sample comes round; 0 outside a repository. Prints
# it, or runs COMMAND with --seed and the seed behind it, and says how to repeat that.
set -u
hash=$(git -C "$(dirname "$0")" rev-parse --short=8 HEAD 2>/dev/null) || hash=0
seed=${HOPPER_SEED:-$(printf '%d' "0x$(printf %.8s "$hash")")}
[ $# -eq 0 ] && { echo "$seed"; exit; }
echo "seed $seed; HOPPER_SEED=$seed repeats this"
exec "$@" --seed "$seed"
