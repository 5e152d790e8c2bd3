#!/bin/bash
# docs_rejects.sh DIRECTORY CHECK...: a small book that is in order, then one mistake at a time;
# each must be found, and --write must mend those that can be mended.
set -euo pipefail
dir=$1
shift
command=("$@")
. "$(dirname "$0")/small_book.sh"

book
expect 0 '2 pages'
grep -qF '| 01_one | 100 | 50 % |' "$dir/README.md" || { echo 'no such row'; failed=1; }
book
sed -i 's/columns=burst,cublas/columns=traced/' "$dir/README.md"
{
    echo '{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run both"}'
    row='"backend": "cuda", "m": 64, "n": 64, "k": 64, "dtype": "bf16", "baselines": []'
    echo "{\"stage\": \"01_one\", \"variant\": null, $row, \"burst\": {\"ms\": 2.00}}"
    echo "{\"stage\": \"01_one\", \"variant\": \"+trace\", $row, \"burst\": {\"ms\": 2.05}}"
} >>"$dir/docs/results/gpu.jsonl"
check --write "$dir" >/dev/null
grep -qF '| 01_one | +2.5 % |' "$dir/README.md" || { echo 'no row of the recorder'; failed=1; }
book
grep -qF '| cublas | 200 | 100 % |' "$dir/README.md" || { echo 'no baseline'; failed=1; }

sed -i 's/"tflops": 100/"tflops": 101/' "$dir/docs/results/gpu.jsonl"
expect 1 'README.md:4: the table is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'

sed -i 's/int b;/int b2;/' "$dir/01_one/kernel.cu"
expect 1 'this excerpt is not in 01_one/kernel.cu: build'
check --write "$dir" >/dev/null
expect 0 '2 pages'
sed -i 's/int a;/int a2;/' "$dir/01_one/kernel.cu"
expect 1 'nor are its first and last line'

book
sed -i 's/## Measured/## Results/' "$dir/01_one/README.md"
expect 1 "expected the section 'Measured'"
book
echo '## More' >>"$dir/01_one/README.md"
expect 1 'a section that the other chapters do not have'
# The length of a chapter is printed, whatever it is. Headings and "word" are 18 words (7 s), the
# excerpt is 3 lines of code (18 s), the diagram 1 line (4 s), the figure 30 s.
book
printf 'word\n![a figure](../README.md)\n    a diagram of many words\n<!-- words -->\n' \
    >>"$dir/01_one/README.md"
touch "$dir/01_one/other.cu"
expect 0 '2 pages'
got=$(check --lengths "$dir")
[ "$got" = '01_one: 18 words, README.md 19 lines, kernel.cu 4 lines, other.cu 0 lines, 1.0 minutes' ] ||
    { echo "not the lengths: $got" && failed=1; }
# Both timelines of a chapter, or the one that is asked for.
book
mkdir "$dir/docs/figures"
touch "$dir/docs/figures/01_one-measured.svg" "$dir/docs/figures/01_one-simulated.svg"
printf '<!-- figure: 01_one -->\n<!-- end -->\n' >>"$dir/README.md"
printf '<!-- figure: 01_one measured -->\n<!-- end -->\n' >>"$dir/01_one/README.md"
expect 1 'the figure is stale'
check --write "$dir" >/dev/null
[ "$(grep -c 'figures/01_one' "$dir/README.md")" -eq 2 ] || { echo 'not both figures'; failed=1; }
[ "$(sed -n 's/.*figures.01_one-\(.*\).svg.*/\1/p' "$dir/01_one/README.md")" = measured ] ||
    { echo 'not the measured figure alone'; failed=1; }
sed -i 's/01_one measured -->/01_one mesured -->/' "$dir/01_one/README.md"
expect 1 "a figure is measured or simulated, not 'mesured'"
# A measured one that is not there.
sed -i 's/01_one mesured -->/01_one measured -->/' "$dir/01_one/README.md"
rm "$dir/docs/figures/01_one-measured.svg"
expect 1 'the figure is stale'
check --write "$dir" >/dev/null
grep -qx '\*Not yet recorded.\*' "$dir/01_one/README.md" || { echo 'no figure'; failed=1; }
# A picture has its title and its caption from its SVG, whose links are from docs/.
book
mkdir "$dir/docs/pictures"
cat >"$dir/docs/pictures/one.svg" <<'SVG'
<svg xmlns="http://www.w3.org/2000/svg"><title id="t">One &lt; two</title>
<metadata>Three words (counted, [record](results/gpu.jsonl)).</metadata></svg>
SVG
expect 1 'no page shows docs/pictures/one.svg'
printf '<!-- picture: one -->\n<!-- end -->\n' >>"$dir/01_one/README.md"
expect 1 'the picture is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'
grep -qxF '![One < two](../docs/pictures/one.svg)' "$dir/01_one/README.md" ||
    { echo 'no picture'; failed=1; }
grep -qxF '*Three words (counted, [record](../docs/results/gpu.jsonl)).*' "$dir/01_one/README.md" ||
    { echo 'no caption'; failed=1; }
sed -i 's/Three words/Four words/' "$dir/docs/pictures/one.svg"
expect 1 'the picture is stale'
rm "$dir/docs/pictures/one.svg"
expect 1 'there is no picture docs/pictures/one.svg'
rmdir "$dir/docs/pictures"
book
echo '[x](docs/missing.md)' >>"$dir/README.md"
expect 1 'the link leads nowhere: docs/missing.md'
book
echo '[x](missing.md)' >"$dir/01_one/more.md" # a chapter's other pages are checked, too
expect 1 '01_one/more.md:1: the link leads nowhere: missing.md'
book
echo '[x](01_one/README.md#nothing)' >>"$dir/README.md"
expect 1 'there is no such heading: 01_one/README.md#nothing'
book
sed -i 's/kernels=01,cublas/kernels=02/' "$dir/README.md"
expect 1 "have no '02' at these shapes"
book
sed -i 's/columns=burst/columns=speed/' "$dir/README.md"
expect 1 "there is no column 'speed'"
# Records have the key "chapter"; older ones, as above, have "stage".
# A later run that has the library alone does not supply it where an earlier one has both.
book
cat >"$dir/docs/results/gpu2.jsonl" <<'END'
{"gpu": "GPU", "driver": "1", "toolkit": "2", "date": "today", "command": "run again"}
{"chapter": "02_two", "variant": null, "backend": "cuda", "m": 64, "n": 64, "k": 64, "dtype": "bf16", "burst": {"tflops": 300}, "baselines": [{"name": "cublas", "burst": {"tflops": 400}}]}
END
expect 0 '2 pages'
sed -i 's/kernels=01,cublas/kernels=01,02,cublas/' "$dir/README.md"
expect 1 'README.md:4: the table is stale'
check --write "$dir" >/dev/null || true # it is written, and refused: numbers of two runs
grep -qF '| cublas | 400 | 100 % |' "$dir/README.md" || { echo 'of equal runs not the last'; failed=1; }
grep -qF 'run again' "$dir/README.md" || { echo 'a run is not named'; failed=1; }
# A chapter of part two has the same sections; its tables and figures find their way to docs.
book
mkdir -p "$dir/beyond/10_ten"
printf '.technique = "shares"\n' >"$dir/beyond/10_ten/kernel.cu"
sed 's|01_one/kernel.cu|beyond/10_ten/kernel.cu|; s|int a;|.technique = "shares"|; /^int [bc];/d' \
    "$dir/01_one/README.md" >"$dir/beyond/10_ten/README.md"
sed 's/01_one/10_ten/; s/"stage"/"chapter"/' "$dir/docs/results/gpu.jsonl" >"$dir/docs/results/gpu2.jsonl"
printf '<!-- table: results=gpu kernels=10 shapes=64 columns=burst link=yes -->\n<!-- end -->\n' \
    >>"$dir/beyond/10_ten/README.md"
expect 1 'beyond/10_ten/README.md'
check --write "$dir" >/dev/null
expect 0 '3 pages'
grep -qF '| shares | 100 |' "$dir/beyond/10_ten/README.md" || { echo 'no technique of part two'; failed=1; }
grep -qF '](../../docs/results/gpu2.jsonl)' "$dir/beyond/10_ten/README.md" ||
    { echo 'no way to the record from part two'; failed=1; }
sed -i '/^## Prediction/d' "$dir/beyond/10_ten/README.md"
expect 1 'beyond/10_ten/README.md'
sed -i 's/^## The code/## Prediction\n&/' "$dir/beyond/10_ten/README.md"
expect 0 '3 pages'
# A page of part two finds a record in its own house first, one of part one never there.
sed 's/01_one/10_ten/; s/100/300/' "$dir/docs/results/gpu.jsonl" >"$dir/own.jsonl"
mkdir -p "$dir/beyond/docs/results"
mv "$dir/own.jsonl" "$dir/beyond/docs/results/own.jsonl"
printf '<!-- numbers: results=own\n 300 = tflops(10, 64) -->\nIt has 300.\n' >"$dir/beyond/docs/page.md"
printf '<!-- numbers: results=gpu\n 100 = tflops(01, 64) -->\nIt has 100.\n' >"$dir/beyond/docs/more.md"
expect 0 '5 pages, 2 numbers'
cp "$dir/beyond/docs/results/own.jsonl" "$dir/beyond/docs/results/gpu.jsonl"
expect 1 'beyond/docs/more.md:2: the number'
rm "$dir/beyond/docs/results/gpu.jsonl"
cp "$dir/beyond/docs/page.md" "$dir/docs/page.md"
expect 1 'docs/page.md:2: the number'
# Part one does without part two: its links into it are checked where it is.
rm "$dir/docs/page.md"
echo '[x](beyond/docs/page.md#x)' >>"$dir/README.md"
expect 1 'there is no such heading: beyond/docs/page.md#x'
echo '# x' >>"$dir/beyond/docs/page.md"
expect 0 '5 pages'
printf '<!-- excerpt: beyond/10_ten/kernel.cu -->\n```c\n.technique = "shares"\n```\n' \
    >>"$dir/README.md"
expect 1 'this page cannot show a file of beyond/'
sed -i '/^<!-- excerpt/,$d' "$dir/README.md"
rm -r "$dir/beyond"
expect 0 '2 pages'
# Numbers in prose: `claims` puts these claims before a paragraph with this text.
claims() {
    book
    printf 'cell of it: %s more\n' '1,234 and 0.5' '77 and 0.25' >"$dir/docs/results/file.txt"
    printf '\n> <!-- numbers: results=gpu\n>      %s -->\n> %s\n\nThe end, 9 %%.\n' "$1" "$2" \
        >>"$dir/README.md"
}
accept() {
    claims "$1" "$2"
    expect 0 '2 pages, 1 numbers in their prose'
}
reject() {
    claims "$1" "$2"
    expect 1 "$3"
}
accept '100 = tflops(01, 64)' 'It has 100 TFLOPS,'
accept '50 % = cublas(01, 64)' 'half, 50 %.'
accept '100 % = gain(cublas, 01, 64)' 'It is 100 % faster.'
accept '50 % = loss(01, cublas, 64, gpu)' 'It is 50 % slower.'
accept '100 = tflops(01, 64, gpu:bf16)' 'It has 100 TFLOPS in bf16.'
accept '50 % = cublas(01, 64, gpu@run)' 'In the run of this command 50 %.'
accept '210 = 2 * (tflops(01, 64) + 7) - 4' 'Rounded to its zeros: 210.'
accept '1.5 = min(tflops(01, 64), 3, 150) / -max(-2, abs(-1) - 3)' '1.5 times'
accept '12 <= cell(file.txt, cell of it:, 1) / 6' 'The last line that has the text, 12.'
accept '13 >= cell(file.txt, cell of it:, 1) / 6' 'At most 13.'
accept '0.3 = round(cell(file.txt, of it: 77 and, 1), 1)' 'Rounded, 0.3.'
# The text of a command may have a relation's sign.
claims $'50 % =\n>      cublas(01, 64, gpu@d=0)' 'In the run of this command 50 %.'
expect 1 'no run has cublas of 01 at 64'
sed -i 's/"command": "run/"command": "d=0 run/' "$dir"/docs/results/gpu*.jsonl
check --write "$dir" >/dev/null
expect 0 '2 pages, 1 numbers in their prose'
reject '101 % = gain(cublas, 01, 64)' 'It is 101 % faster.' "the text has '101 %', the record 100"
reject '201 = 2 * tflops(01, 64)' 'Not to its zeros: 201.' "the text has '201', the record 200"
reject '110 % = tflops(01, 64) + 6' '110 %' "the text has '110 %', the record 106"
reject '0.50 = 1 - 0.49' 'Too little, 0.50.' "the text has '0.50', the record 0.51"
reject '12 >= cell(file.txt, cell of it:, 1) / 6' 'at most 12' "the record 12.8333"
reject '50 % = cublas(01, 64)' 'It has 150 %, 50.1 % or 3.50 % of it.' "does not have '50 %'"
reject $'50 % = cublas(01, 64)\n>      50 % = loss(01, cublas, 64)' 'Only once 50 %.' 'so often'
reject '50 % = cublas(02, 64)' '50 %' 'no run has cublas of 02 at 64'
reject '50 % = cublas(01, 65)' '50 %' 'no run has cublas of 01 at 65'
reject '50 % = cublas(01, 64, gpu@walk)' '50 %' 'no run has cublas of 01 at 64'
reject '50 % = clock(01, 64)' '50 %' 'no run has clock of 01 at 64'
reject '50 % = speed(01, 64)' '50 %' 'there is no column or function speed'
reject '50 % = cublas(01, 64) +' '50 %' 'expected a number'
reject '50 % = cell(file.txt, nothing like it, 1)' '50 %' 'no such cell of file.txt'
reject '50 % = cell(file.txt, cell of it:, 3)' '50 %' 'no such cell of file.txt'
reject '50 %' '50 %' 'a claim is a number, a relation and an expression'
reject '9 % = 9' 'The next paragraph has it.' "does not have '9 %'"
# One marker for a paragraph, in front of it: a second would not be read.
claims '50 % = cublas(01, 64)' '50 %'
sed -i 's/^> <!-- numbers/> <!-- numbers: none: a reason -->\n&/' "$dir/README.md"
expect 1 'a marker inside what it shall hold'
claims '50 % = cublas(01, 64)' '50 %'
sed -i 's/^> <!-- numbers/> It has\n&/' "$dir/README.md"
expect 1 'a marker inside what it shall hold'
claims '51 % = cublas(01, 64, gpu)' '51 %'
sed -i 's/numbers: results=gpu/numbers:/' "$dir/README.md"
expect 1 "the text has '51 %', the record 50"
# A grid's cells are computed.
grid() {
    book
    printf '%s\n' '| 06_six  | small | 12 | 3.50 | 7654 |' '| 06_six two | small | 12 | 4 | 9 |' \
        >"$dir/docs/results/file.txt"
    printf '%s\n' '' '<!-- grid: results=gpu' '| | a | b |' '|---|---:|---:|' "$@" '-->' '<!-- end -->' \
        >>"$dir/README.md"
}
grid '| {1} | {{tflops({2}, 64) | {3}}} | {{cell(file.txt, 06_six  | small |, 3) | 1,}} x |' \
    '- one; 01; 0' '- a library; cublas; +1' '+ | **own** | {{1 - 3 | 1}} | |' 'bold: max 2-3'
expect 1 'the table is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'
for row in '| one | 100 | **7,654.0 x** |' '| a library | +200.0 | **7,654.0 x** |' \
    '| **own** | **−2.0** | |'; do
    grep -qxF "$row" "$dir/README.md" || { echo "the grid lacks $row"; failed=1; }
done
sed -i 's/^| one | 100 |/| one | 101 |/' "$dir/README.md"
expect 1 'the table is stale'
grid '| {1} | {{tflops(02, 64) | 0}} | |' '- one'
expect 1 'no run has tflops of 02 at 64'
grid '| {1} | {{tflops(01, 64)}} | |' '- one'
expect 1 '| decimals'
grid '| {1} | {{tflops(01, 64) | 0 | |' '- one'
expect 1 'a cell without }}'
grid '| {1} | 1 | 2 |' 'one'
expect 1 'no row of a grid: one'
# Names, goals, what is not recorded, templates that follow each other, and rows in several lines.
grid '| {1} | `{{selected({1}, 64)}}` {{tflops({1}, 64) | 0 >=100}} x' \
    '  | {{tflops({1}, 64) / tflops(cublas, 64) | 2 <=0.4}} |' '- 01' \
    '| {1} | {{tflops({1}, 64) | 0?}} % | {{100 | -1,}} |' '- 02'
sed -i 's/"burst": {"tflops": 100}/"selected": "fast", &/' "$dir/docs/results/gpu.jsonl"
check --write "$dir" >/dev/null
expect 0 '2 pages'
for row in '| 01 | `fast` **100 x** | 0.50 |' '| 02 | – | 100 |'; do
    grep -qxF "$row" "$dir/README.md" || { echo "the grid lacks $row"; failed=1; }
done
sed -i '/^<!-- grid/,/^<!-- end/{s/^/> /; s/ $//}' "$dir/README.md"
expect 0 '2 pages'
sed -i 's/^> | 02 | – |/> | 02 | 2 |/' "$dir/README.md"
expect 1 'the table is stale'
# A cell for each of some words; a row's first field as records have it; a row without a field.
grid 'columns: 01; cublas' '| {1} | {{tflops({c}, {1x}) | 0}} |' '- 64 × 64 × 64' '- 64³'
check --write "$dir" >/dev/null
expect 0 '2 pages'
for row in '| 64 × 64 × 64 | 100 | 200 |' '| 64³ | 100 | 200 |'; do
    grep -qxF "$row" "$dir/README.md" || { echo "the grid lacks $row"; failed=1; }
done
grid '| {1} | {2} | {{tflops(01, {3}) | 0}} |' '- one; two'
expect 1 'a row has no {3}: one; two'
grid '| {1} | {{tflops(01, 64) | 0.0}} | |' '- one'
expect 1 "| decimals, not '0.0'"
claims '50 % = cublas(01, 64)' '| 50 % |'
sed -i 's/^> //' "$dir/README.md"
expect 1 'numbers over a table are stated twice'
# Two numbers of one claim come from one run, the last that has both.
claims '100 = gain(cublas, 01, 64)' 'by 100'
sed -n 1,2p "$dir/docs/results/gpu.jsonl" >"$dir/docs/results/gpu.more"
sed 's/100}/300}/; s/, "baselines.*/}/' "$dir/docs/results/gpu.more" >>"$dir/docs/results/gpu.jsonl"
sed -i '/<!-- table/,/<!-- end/d' "$dir/README.md"
expect 0 '1 numbers in their prose'
sed -i 's/100 = gain(cublas, 01, 64)/100 = tflops(01, 64)/' "$dir/README.md"
expect 1 "the text has '100', the record 300"
# A page may require a marker before every paragraph of measured numbers.
book
printf '\nIt has 50 of them, measured.\n\nMeasured: GPU, 1.\n' >>"$dir/README.md"
expect 0 '2 pages, 0 numbers'
printf '\n<!-- numbers: all -->\n' >>"$dir/README.md"
expect 1 'numbers that nothing holds to a record'
sed -i 's/^It has 50/<!-- numbers: none: it was long ago -->\n&/' "$dir/README.md"
expect 0 '2 pages, 0 numbers'
# What GitHub or the site shows as text; in a block of code it is text.
while IFS='|' read -r what line; do
    book
    printf '%s\n' "$line" >>"$dir/README.md"
    expect 1 "README.md:14: $what: not in the Markdown"
done <<'END'
a directive|```{note}
a drawing made of code|```mermaid
an admonition|!!! note "Title"
a directive|::: tip
an alert|> [!NOTE]
a tab|=== "C"
an include|--8<-- "file.md"
an include|{% include "file.md" %}
attributes|A paragraph. {: .wide }
a role|See {doc}`README`.
a formula|It is $$ x $$.
a footnote|[^1]: A note.
HTML that GitHub removes|<div class="wide">
END
book
printf '```text\n!!! note\n```\n`{{x}}` and `$$`\n<!-- !!! note -->\n' >>"$dir/README.md"
expect 0 '2 pages'
book
rm -f "$dir"/docs/results/gpu*.jsonl
check --write "$dir" >/dev/null
grep -qF 'Not yet recorded' "$dir/README.md" || { echo 'numbers without a record'; failed=1; }
# The ladder: shares of a run, and diff's lines.
book
mkdir "$dir/02_two"
cp "$dir/01_one/README.md" "$dir/02_two"
printf 'int a;\nint x;\n.technique = "more"\n' >"$dir/02_two/kernel.cu"
sed -n 2p "$dir/docs/results/gpu.jsonl" | sed 's/01_one/02_two/; s/100}/150}/' \
    >>"$dir/docs/results/gpu.jsonl"
printf '<!-- ladder: results=gpu shape=64\n     steps=01,02 -->\n<!-- end -->\n' >>"$dir/README.md"
expect 1 'the table is stale'
check --write "$dir" >/dev/null
for row in '| [01](01_one/README.md) |  | 50 | – |' '| [02](02_two/README.md) | more | 75 | 5 |'; do
    grep -qxF "$row" "$dir/README.md" || { echo "the ladder lacks $row"; failed=1; }
done
echo 'int e;' >>"$dir/02_two/kernel.cu"
expect 1 'the table is stale'
check --write "$dir" >/dev/null
grep -qxF '| [02](02_two/README.md) | more | 75 | 6 |' "$dir/README.md" || { echo 'not the lines of diff'; failed=1; }
sed -i 's/steps=01,02/steps=01,03/' "$dir/README.md"
expect 1 'no run has all steps of the ladder'
# The picture of two steps is made of their figures.
book
mkdir -p "$dir/docs/figures"
for name in 06_wgmma 08_persistent_pingpong; do
    for kind in simulated measured; do
        printf '%s\n' '<text class="label">threads</text>' \
            '<rect class="epilogue" x="200.0" y="1" width="70.0" height="15.0"/>' \
            '<text class="label">threads multiply</text>' '<text class="label">Tensor Core</text>' \
            >"$dir/docs/figures/$name-$kind.svg"
    done
done
printf '<!-- pair: 06_wgmma 08_persistent_pingpong -->\n<!-- end -->\n' >>"$dir/README.md"
expect 1 '06-beside-08.svg is stale'
check --write "$dir" >/dev/null
expect 0 '2 pages'
sed -i 's/x="200.0"/x="210.0"/' "$dir/docs/figures/06_wgmma-measured.svg"
expect 1 '06-beside-08.svg is stale'
rm "$dir/docs/figures/06_wgmma-measured.svg"
expect 1 'there is no figure of 06_wgmma, measured'
sed -i 's/06_wgmma 08_pers/07_wgmma 08_pers/' "$dir/README.md"
expect 1 'a pair is two of'
# Links to a live page lead to docs/live.md, or to the site, if it has an address.
book
mkdir "$dir/docs/site"
printf '# Live\n' >"$dir/docs/live.md"
echo '[Run](../docs/live.md#chapter=05&k=64), [bug](../docs/live.md#exhibit=a),
[tile](../docs/live.md#swizzle=0)' >>"$dir/01_one/README.md"
expect 0 '3 pages'
cp "$dir/01_one/README.md" "$dir/before"
printf '# none yet\n' >"$dir/docs/site/address.txt"
expect 0 '3 pages'
echo 'https://example.org/book' >>"$dir/docs/site/address.txt"
expect 1 'a link to a live page has not the form that docs/site/address.txt asks for'
check --write "$dir" >/dev/null
site=https://example.org/book
grep -qxF "[Run]($site/live.html#chapter=05&k=64), [bug]($site/museum.html#exhibit=a)," \
    "$dir/01_one/README.md" && grep -qxF "[tile]($site/layouts.html#swizzle=0)" \
    "$dir/01_one/README.md" || { echo 'no link leads to the site'; failed=1; }
expect 0 '3 pages'
rm "$dir/docs/site/address.txt"
check --write "$dir" >/dev/null
cmp "$dir/before" "$dir/01_one/README.md" || failed=1
echo 'example.org' >"$dir/docs/site/address.txt"
expect 2 'has to have one address'
# The front page is short and narrow.
book
printf '%0100d\n| [a](https://example.org/%0100d) |\n' 0 0 >>"$dir/README.md"
expect 0 '2 pages'
printf '%0101d\n' 0 >>"$dir/README.md"
expect 1 'a line of the front page has 101 columns'
book
while [ "$(wc -l <"$dir/README.md")" -lt 80 ]; do echo word; done >>"$dir/README.md"
expect 0 '2 pages'
echo word >>"$dir/README.md"
expect 1 'the front page has 81 lines, more than 80'
exit "$failed"
