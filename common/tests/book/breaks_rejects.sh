#!/bin/bash
# breaks_rejects.sh DIRECTORY PYTHON SHOWN_BREAKS ROOT WORK COMPILER ARGUMENT...: what shown_breaks.py
# says of a page with one broken kernel, and of mistakes in it and in the store. What follows DIRECTORY
# is what HOPPER_DOCS_VERDICTS has; ROOT and WORK are replaced.
set -u
dir=$1 python=$2 shown=$3 root=$4
compile=("${@:6}")
rm -rf "$dir"
mkdir -p "$dir/book/docs" "$dir/book/common/breaks" "$dir/book/beyond/breaks" || exit 2
ln -s "$root/02_smem_tiled" "$dir/book/" || exit 2
for path in "$root"/common/*; do
    [ "${path##*/}" = breaks ] || ln -s "$path" "$dir/book/common/"
done
page=$dir/book/docs/page.md
failed=0

# store EDIT: one break, of this edit.
store() {
    printf '%s\n' 'from edit import Diff, Remove, Replace' 'from store import Break' \
        "BREAKS = {'02_smem_tiled': [Break('one', $1, '--size 128')]}" \
        >"$dir/book/common/breaks/authored.py"
    printf '%s\n' '<!-- break: 02.one -->' >"$page"
}
# expect CODE TEXT [--write]
expect() {
    local code=$1 text=$2 out said
    shift 2
    out=$("$python" "$shown" "$@" --only docs/page.md "$dir/book" "$dir/work" "${compile[@]}" 2>&1)
    said=$?
    [ "$said" -eq "$code" ] && grep -qF -- "$text" <<<"$out" && return
    echo "expected exit code $code and '$text', got $said and: $out"
    failed=1
}

echo 'BREAKS = {}' >"$dir/book/beyond/breaks/authored_beyond.py"
store "Remove('__syncthreads();', 1)"
expect 1 'no edit and no report stand behind it'
expect 0 '1 breaks, 0 complaints' --write
grep -q '^hazard: data-race: 02_smem_tiled/kernel.cu:' "$page" || { cat "$page" && failed=1; }
grep -q '^-        __syncthreads();$' "$page" || { cat "$page" && failed=1; }
sed -i 's/kernel.cu:[0-9]*/kernel.cu:1/' "$page" # a line may have moved
expect 0 '1 breaks, 0 complaints'
sed -i 's/^hazard: data-race/hazard: lost-race/' "$page"
expect 1 'the report has changed'
sed -i 's/^-        __syncthreads/-        syncthreads/' "$page"
expect 1 'the edit is stale'
store "Remove('__syncthreads();', 2)"
expect 1 '02_smem_tiled/kernel.cu has 2 times __syncthreads();'
offset='DEVICE int tile_offset(int row, int chunk) { return row * PITCH + chunk * CHUNK; }'
store "Remove('$offset')"
expect 1 'the edited kernel does not compile'
# A program that ends before it can find anything.
store "Replace('$offset', '$offset __attribute__((constructor)) static void end(void) { void exit(int); exit(3); }')"
expect 1 '--check does not find it' --write
sed -i 's/02.one/02.two/' "$page"
expect 1 'there is no break 02.two'
sed 's/02_smem_tiled/10_ten/' "$dir/book/common/breaks/authored.py" \
    >"$dir/book/beyond/breaks/authored_beyond.py"
sed -i 's/02.two/10.one/' "$page"
expect 1 'this page cannot break a kernel of another house'
exit "$failed"
