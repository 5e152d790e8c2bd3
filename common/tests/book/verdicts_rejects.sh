#!/bin/bash
# verdicts_rejects.sh DIRECTORY PYTHON VERDICTS ROOT WORK COMPILER ARGUMENT...: what verdicts.py says
# of a page with one broken kernel, and of mistakes in it. What follows DIRECTORY is what
# HOPPER_DOCS_VERDICTS has; ROOT and WORK are replaced.
set -u
dir=$1 python=$2 verdicts=$3 root=$4
compile=("${@:6}")
rm -rf "$dir"
mkdir -p "$dir/book/docs" || exit 2
ln -s "$root/common" "$root/02_smem_tiled" "$dir/book/" || exit 2
page=$dir/book/docs/page.md
failed=0

# page DIFF: a page with this edit, and a report of nothing.
page() {
    printf '%s\n' '<!-- verdict: 02_smem_tiled --size 128 -->' '```diff' "$1" '```' '```text' nothing \
        '```' >"$page"
}
# expect CODE TEXT [--write]
expect() {
    local code=$1 text=$2 out said
    shift 2
    out=$("$python" "$verdicts" "$@" --only docs/page.md "$dir/book" "$dir/work" "${compile[@]}" 2>&1)
    said=$?
    [ "$said" -eq "$code" ] && grep -qF -- "$text" <<<"$out" && return
    echo "expected exit code $code and '$text', got $said and: $out"
    failed=1
}

page "         /* Every thread has read the tile before any thread overwrites it. bar.sync */
-        __syncthreads();"
expect 0 '1 verdicts, 0 complaints' --write
grep -q '^hazard: data-race: 02_smem_tiled/kernel.cu:' "$page" || { cat "$page" && failed=1; }
sed -i 's/kernel.cu:[0-9]*/kernel.cu:1/' "$page" # a line may have moved
expect 0 '1 verdicts, 0 complaints'
sed -i 's/^hazard: data-race/hazard: lost-race/' "$page"
expect 1 'the verdict has changed'
page '-        __syncthreads();'
expect 1 'the edit does not fit exactly one place of 02_smem_tiled/kernel.cu'
page '-DEVICE int tile_offset(int row, int chunk) { return row * PITCH + chunk * CHUNK; }'
expect 1 'the edited kernel does not compile'
# A program that ends before it can find anything.
page " DEVICE int tile_offset(int row, int chunk) { return row * PITCH + chunk * CHUNK; }
+__attribute__((constructor)) static void end(void) { void exit(int); exit(3); }"
expect 1 '--check does not find it'
sed -i '/^```text/,$d' "$page"
expect 1 'a verdict needs a ```diff and a ```text block behind it'
page ' '
sed -i 's/02_smem_tiled/beyond\/10_ten/' "$page"
expect 1 'this page cannot break a kernel of another house'
exit "$failed"
