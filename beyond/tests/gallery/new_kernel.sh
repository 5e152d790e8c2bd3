#!/bin/sh
# new_kernel.sh ROOT WORK GALLERY...: breaks of a kernel that the record does not have. GALLERY is
# the gallery's command.
#
# In a copy of the sources, beyond/17_mine is 08's kernel. Its breaks are judged by their class, and
# those with which nothing is wrong by 08's reasons, since its functions have the same text. Where the
# text is another, there is no reason, and such a break was not caught. A record whose rows stand in
# another order than they are written in is out of date.
set -u
root=$1 work=$2
shift 2
for argument; do
    case $argument in */kernels.json) kernels=$argument ;; esac
done
fail() {
    echo "new_kernel: $*" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work/beyond/17_mine"
(cd "$root" && find 0* common beyond \( -name '*.cu' -o -name '*.h' -o -name '*.tsv' -o -name '*.py' \
    -o -name seed.sh \) -exec cp --parents {} "$work" \;) || exit 1
python3 -c 'import json, sys
kernels = json.load(sys.stdin)
model = next(kernel for kernel in kernels if kernel["name"] == "08_persistent_pingpong")
new = {"name": "17_mine", "house": "beyond", "file": "beyond/17_mine/kernel.cu"}
json.dump([*kernels, {**model, **new}], sys.stdout)' <"$kernels" >"$work/kernels.json" || exit 1
kernel=$work/beyond/17_mine/kernel.cu
sed 's/08_persistent_pingpong/17_mine/' "$root/08_persistent_pingpong/kernel.cu" >"$kernel"

# gallery OPTIONS...: of the new kernel.
command=$*
gallery() {
    # shellcheck disable=SC2086 # the command's words
    $command --root "$work" --work "$work/run" --kernels "$work/kernels.json" "$@"
}
said=$(gallery --only 17_mine/kernel.cu --sample 7) || fail "$said"
[ "$(echo "$said" | grep -c '^no row: ')" -gt 10 ] || fail "few breaks: $said"

# The release behind the main loop may come later: 08's reason.
line=$(grep -n 'release_stage(shared, &release);' "$kernel" | tail -n 1 | cut -d: -f1)
said=$(gallery --only "17_mine/kernel.cu:$line ") || fail "$said"
echo "$said" | grep -q '^no row: .*: survived$' || fail "no break that is harmless: $said"

sed -i 's|order_phase ^= 1;|&;|' "$kernel"
said=$(gallery --only "17_mine/kernel.cu:$line ") && fail "another text is excused, too: $said"
echo "$said" | grep -q 'was not caught' || fail "another text: $said"
echo "$said" | grep -q 'the target gallery_record_beyond ' || fail "what records it: $said"

said=$(gallery --sample 9999)
echo "$said" | grep -q '^out of date: verdicts.tsv' && fail "the record is out of date: $said"
sed -i '2{h;d};3G' "$work/beyond/tests/gallery/verdicts.tsv"
said=$(gallery --sample 9999) && fail "rows in another order pass: $said"
echo "$said" | grep -q '^out of date: verdicts.tsv has its rows' || fail "rows in another order: $said"
