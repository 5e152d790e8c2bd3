#!/bin/sh
# The reports of a broken kernel come after the table, as wide as the terminal, with where to read
# on; that page has a place for every kind of report. A program says when it is older than its
# kernel, and when it will run for long.
#
#   reports.sh ROOT BROKEN_05 SIM_05
#
# Exit code 0: passed; 1: failed.
root=$1 program=$2 chapter=$3
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*"
  failed=1
}

env -u COLUMNS "$program" --size 256 >"$work/both" 2>&1
[ $? = 4 ] || fail "the exit code is not 4"
table=$(grep -n '^05_tma_mbarrier.*HAZARD' "$work/both" | head -1 | cut -d: -f1)
first=$(grep -n '^hazard: missing-proxy-fence-after-read: ' "$work/both" | head -1 | cut -d: -f1)
[ -n "$table" ] && [ -n "$first" ] && [ "$table" -lt "$first" ] ||
  fail "the hazard is in line $first, the table's row in line $table"
awk 'length > 100 && !/technique/' "$work/both" | grep . && fail "lines of more than 100 columns"
[ "$(tail -1 "$work/both")" = \
  "more about missing-proxy-fence-after-read: docs/debugging.md#missing-proxy-fence-after-read" ] ||
  fail "the last line is '$(tail -1 "$work/both")'"

# Wrapping changes blanks alone.
COLUMNS=60 "$program" --size 256 2>"$work/narrow" >/dev/null
COLUMNS=9999 "$program" --size 256 2>"$work/wide" >/dev/null
awk 'length > 60 && !/^more about/' "$work/narrow" | grep . && fail "lines of more than 60 columns"
[ "$(tr -s ' \n' ' ' <"$work/narrow")" = "$(tr -s ' \n' ' ' <"$work/wide")" ] ||
  fail "wrapping changes the text"

# Every kind that the simulator's source names; the rules in doubt stand with both readings.
for kind in deadlock endless misaligned unsupported \
  $(grep -rhoE '"[a-z]+(-[a-z]+)+"' "$root/common/sim" --include='*.c' | tr -d '"' | sort -u); do
  grep -q "<a id=\"$kind\">" "$root/docs/debugging.md" ||
    { grep -q "DOUBT_[A-Z_]*\] = \"$kind\"" "$root/common/sim/core/hazards.c" &&
      grep -q "\`$kind\`" "$root/docs/rules-in-doubt.md"; } ||
    fail "docs/debugging.md has no place for $kind"
done

# The program is not the one that CMake has made, so that it may be old.
mkdir "$work/program"
cp "$chapter" "$work/program/05_tma_mbarrier"
"$work/program/05_tma_mbarrier" --size 128 2>&1 | grep 'has changed' &&
  fail "a program younger than its kernel says that it is older"
touch -d 2000-01-01 "$work/program/05_tma_mbarrier"
"$work/program/05_tma_mbarrier" --size 128 >"$work/old" 2>&1
grep -qx '05_tma_mbarrier: 05_tma_mbarrier/kernel.cu has changed since this program was built: cmake --build build --target sim_05_tma_mbarrier' \
  "$work/old" || fail "an old program does not say that its kernel has changed"

# It says so before it starts.
timeout 2 "$program" --size 8192 >"$work/long" 2>&1
grep -Eq '05_tma_mbarrier: 8192 x 8192 x 8192 takes about [0-9]+ minutes' "$work/long" ||
  fail "8192 does not say how long it takes"
"$program" --size 2000000000 2>&1 | grep -q 'takes about [0-9]* years' ||
  fail "2000000000 does not say that it takes years"
"$program" --size 512 2>&1 | grep 'takes about' && fail "512 says how long it takes"

[ $failed = 0 ] && echo "all checks passed"
exit $failed
