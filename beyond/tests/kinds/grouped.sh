#!/bin/sh
# grouped.sh PROGRAM: 15_grouped_gemm's kind refuses more rows of B than can be counted.
set -u
. "$(dirname "$0")/../../../common/tests/support/expect_run.sh"
expect 2 'matrices have up to 5120000000 rows or columns' "$1" --groups 256 --n 20000000 --k 8 --m 1
exit $failed
