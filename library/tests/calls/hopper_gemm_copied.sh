#!/bin/sh
# hopper_gemm_copied.sh REPOSITORY WORK NVCC: the examples of the library's page compile. The
# commands by which the page copies a configuration out of the repository, as they stand there; then
# a program made of the copies alone. It links, and without a GPU it says so.
set -u
repository=$1 work=$2
PATH=$(dirname "$3"):$PATH
export PATH

fail() {
    echo "hopper_gemm_copied: $1" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work/mine" || exit 1
page=$repository/library/README.md
sed -n '/^## Calls and plans/,/^## /{/^```c$/,/^```$/{/^```/!p}}' "$page" >"$work/example.c"
nvcc -I"$repository/library/hopper_gemm" -c "$work/example.c" -o "$work/example.o" ||
    fail "the example does not compile"
for name in project layer_open layer_run tuned_plan; do
    nm "$work/example.o" | grep -q " T $name\$" || fail "the page's examples have no $name"
done
sed -n '/^### A single configuration, copied/,/^##* /s/^    //p' "$page" >"$work/commands"
[ -s "$work/commands" ] || fail "the page has no commands"
(cd "$repository" && MINE=$work/mine sh -eux "$work/commands") || fail "a command of the page fails"

cd "$work/mine" || exit 1
cat >main.c <<'END'
#include "gemm.h"

extern const struct gemm_kernel pp192_bf16;

int main(void) {
    static element_t memory[64 * 64] __attribute__((aligned(16)));
    const struct gemm_problem problem = {.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldd = 64,
                                         .a = memory, .b = memory, .d = memory};
    return pp192_bf16.launch(&problem, NULL);
}
END
nvcc -O2 -Icommon main.c ./*.o -o program || fail "the copies do not link"
# An empty list hides every GPU.
CUDA_VISIBLE_DEVICES='' ./program 2>errors && fail "it computes without a GPU"
grep -q '^CUDA: ' errors || fail "without a GPU it says: $(cat errors)"
