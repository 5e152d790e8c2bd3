#!/bin/bash
# site.sh ROOT BUILD PYTHON: makes the site in BUILD, checks it, and lets the check find what is wrong
# in a copy. Exit code: 77 if the site's packages cannot be installed here (skipped).
set -uo pipefail
root=$1 build=$2 python=$3
check=$(dirname "$0")/site_check.py
"$python" -B "$root/docs/site/build.py" "$build" || exit
"$python" -B "$check" "$root" "$build/site" || exit 1

bad=$build/site-bad
trap 'rm -rf "$bad"' EXIT
failed=0
# rejects TEXT: the copy is found wrong, and so; then it is in order again.
rejects() {
    local output
    output=$("$python" -B "$check" "$root" "$bad" 2>&1) && { echo "not found: $1" && failed=1; }
    grep -qF -- "$1" <<<"$output" || { echo "not '$1', but: $output" && failed=1; }
    copy
}
copy() { rm -rf "$bad" && cp -r "$build/site" "$bad"; }
copy
rm "$bad/docs/machine.html"
rejects 'docs/machine.md: not on the site'
sed -i 's/<section id="parity">/<section id="parity-1">/' "$bad/docs/mbarrier.html"
rejects "docs/mbarrier.html: the headings' anchors are not GitHub's: ['parity', 'parity-1']"
sed -i 's|</body>|<script src="https://example.org/a.js"></script></body>|' "$bad/index.html"
rejects 'index.html: loaded from elsewhere: https://example.org/a.js'
sed -i 's/ id="L1"/ id="M1"/' "$bad/01_naive/kernel.cu.html"
rejects 'there is no such anchor'
sed -i 's|</article>|<!-- numbers: all --></article>|' "$bad/index.html"
rejects 'index.html: a marker is still there'
exit $failed
