#!/bin/sh
# unused.sh SOURCE COMPILER: the simulator's build lets a kernel leave a variable, parameter or
# function unused, for the sake of experiments. The kernels of the book leave nothing unused.
set -u
source=$1 compiler=$2
files=0
bad=0
for file in "$source"/0*/*.cu "$source"/beyond/*/*.cu; do
    [ -f "$file" ] || continue # a copy without beyond/
    case $file in */rivals.cu | */rivals_*.cu) continue ;; esac # for the GPU alone
    files=$((files + 1))
    "$compiler" -std=gnu11 -fsyntax-only -Wall -Wextra -Wno-psabi -Werror -DTRACE=0 \
        -DGEMM_KERNEL=kernel_here -DGEMM_BF16_ELEMENTS=1 -I"$source/common" -I"$source/beyond" -x c "$file" ||
        bad=$((bad + 1))
done
echo "$files kernels, $bad with warnings"
[ "$files" -gt 12 ] && [ "$bad" -eq 0 ]
