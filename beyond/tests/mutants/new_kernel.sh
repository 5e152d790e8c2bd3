#!/bin/sh
# new_kernel.sh ROOT WORK MUTANTS...: mutants of a kernel that the record does not have. MUTANTS is
# the gallery's command.
#
# In a copy of the sources, beyond/17_mine is 08's kernel. Its mutants are judged by their class, and
# those with which nothing is wrong by 08's reasons, since its functions have the same text. Where the
# text is another, there is no reason, and such a mutant was not caught.
set -u
root=$1 work=$2
shift 2
for argument; do
    case $argument in --kernels=*) kernels=$argument ;; esac
done
fail() {
    echo "new_kernel: $*" >&2
    exit 1
}
rm -rf "$work"
mkdir -p "$work/beyond/17_mine"
(cd "$root" && find 0* common beyond \( -name '*.cu' -o -name '*.h' -o -name '*.tsv' -o -name '*.py' \
    -o -name seed.sh \) -exec cp --parents {} "$work" \;) || exit 1
kernel=$work/beyond/17_mine/kernel.cu
sed 's/08_persistent_pingpong/17_mine/' "$root/08_persistent_pingpong/kernel.cu" >"$kernel"

said=$("$@" --root "$work" --work "$work/run" "$kernels,beyond/17_mine||kernel.cu|" \
    --only 17_mine/kernel.cu --sample 7) || fail "$said"
[ "$(echo "$said" | grep -c '^no row: ')" -gt 10 ] || fail "few mutants: $said"
echo "$said" | grep -q '^no row: .*: survived$' || fail "no mutant that is harmless: $said"

sed -i 's|^\( *\)release_stage(shared, &release);|\1; &|' "$kernel"
said=$("$@" --root "$work" --work "$work/run" "$kernels,beyond/17_mine||kernel.cu|" \
    --only 17_mine/kernel.cu --sample 7) && fail "another text is excused, too"
echo "$said" | grep -q 'was not caught' || fail "another text: $said"
