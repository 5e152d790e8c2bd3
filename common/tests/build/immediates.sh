#!/bin/sh
# immediates.sh COMMON WORK COMPILER: an operand that PTX has only as an immediate stops a C build,
# too, unless it is a constant.
set -u
common=$1 work=$2
shift 2

# builds KERNEL: does this statement compile, `n` being a variable?
builds() {
    printf '%s\n' '#include "gemm.h"' '#include "hopper/cp_async.h"' '#include "hopper/registers.h"' \
        '#include "hopper/tma.h"' '#include "hopper/wgmma.h"' \
        'extern int n;' 'void kernel(void);' "void kernel(void) { $1; }" >"$work/immediate.c"
    "$compiler" -std=gnu11 -I"$common" -DGEMM_BF16_ELEMENTS=1 -c -o "$work/immediate.o" \
        "$work/immediate.c" 2>"$work/immediate.log"
}
compiler=$1
mkdir -p "$work" || exit 1
status=0
for call in cp_async_wait_group bulk_wait_group bulk_wait_group_read wgmma_wait_group \
    setmaxnreg_inc setmaxnreg_dec; do
    builds "$call(8 * 3)" || { cat "$work/immediate.log" && echo "$call refuses a constant" && status=1; }
    builds "$call(n)" && echo "$call takes a variable" && status=1
done
exit $status
