#!/bin/sh
# practice.sh PRACTICE SOLVED ROOT: the program as a reader uses it. Leaves the reader's progress, which is
# the file SOLVED, as it is.
practice=$1
solved=$2
root=$3
failed=0
kept=$(mktemp) || exit 1
[ -f "$solved" ] && cp "$solved" "$kept" && there=1
rm -f "$solved"

# expect CODE PATTERN ARGUMENT...
expect() {
    code=$1 pattern=$2
    shift 2
    said=$("$practice" "$@" 2>&1)
    got=$?
    if [ "$got" -ne "$code" ] || ! printf '%s\n' "$said" | grep -q -- "$pattern"; then
        echo "practice $*: exit code $got, expected $code and '$pattern': $said"
        failed=1
    fi
}

expect 2 'choose a command'
expect 2 'there is no case' show 99-9
expect 2 'answer is missing' check 05-1
expect 0 '^  05-1 ' list 05
expect 0 'Predict it' next
expect 0 'Line 102 of kernel.cu' show 05-1
predicted=$("$practice" show 05-1 | sed -n 's/^Answer: check 05-1 //p')
right=
for choice in $(echo "$predicted" | tr -d '|'); do
    "$practice" check 05-1 "$choice" >/dev/null && right="$right $choice"
done
[ "$(echo "$right" | wc -w)" -eq 1 ] || { echo "right for 05-1:$right, of $predicted"; failed=1; }
expect 0 '^x 05-1 ' list 05
expect 0 '^1 of [0-9]* solved (x)' list 5
expect 0 'Find the line' next 05
expect 2 'did you mean 05_tma_mbarrier?' list 05_tma_mbarier
expect 2 'did you mean 05-14?' show 5-14
expect 2 'did you mean list?' lsit
expect 2 'on paper, or with build/sim/inspect' show 06-e1
expect 2 "'foo' is none of the choices: .* | " check 05-1 foo
find=$("$practice" list 05 | sed -n 's/^. \(05-[0-9]*\) *Find.*/\1/p' | head -1)
expect 0 'calls it' hint "$find"
expect 0 '^hazard: ' hint "$find"
expect 0 'There are no more hints' hint "$find"
expect 1 'has no call that synchronizes' check "$find" kernel.cu:1
expect 1 'simulated cycles' check 06-c1 2
expect 2 'none of the choices: 1 | 2 | 3' check 06-c1 4
expect 0 'simulated cycles' check 06-c1 1
expect 1 'Both complete on this barrier' check 05-n1 16384
expect 0 '^Yes' check 05-n1 32768
expect 0 'BK = 32' answer 06-e2
expect 2 'is a kernel of 06_wgmma, and 05-e2 is about 05_tma_mbarrier' check 05-e2 \
    "$root/06_wgmma/kernel.cu"
mend=$("$practice" list 05 | sed -n 's/^. \(05-[0-9]*\) *Mend.*/\1/p' | head -1)
"$practice" show "$mend" >"$kept.mend"
[ "$(grep -c '^ *[0-9]* ' "$kept.mend")" -lt 40 ] || { echo "show $mend is long"; failed=1; }
rm "$kept.mend"
"$practice" list 2>"$kept.pipe" | head -1 >/dev/null
[ ! -s "$kept.pipe" ] || { echo "into a pipe: $(cat "$kept.pipe")"; failed=1; }
rm "$kept.pipe"
expect 0 '^Your edit: check 06-e2' show 06-e2
expect 1 'smem: 131104, not 65568' check 06-e2 "$root/06_wgmma/kernel.cu"
expect 1 'Four barriers' check 06-e2 65536
edited=$(mktemp -d) || exit 1
sed 's/BK = 64/BK = 32/' "$root/06_wgmma/kernel.cu" >"$edited/half.cu"
expect 1 'With it: ' check 06-e2 "$edited/half.cu"
sed 's/0, 1024, SWIZZLE_128B/0, 512, SWIZZLE_64B/; s/SWIZZLE_128B/SWIZZLE_64B/' "$edited/half.cu" \
    >"$edited/right.cu"
sed 's/BK = 64/BK = 32/' "$root/06_wgmma/kernel.cu" >"$edited/saved.cu"
"$practice" watch 06-e2 "$edited/saved.cu" >"$kept.watched" 2>&1 &
for _ in $(seq 300); do grep -q 'or end with Ctrl-C' "$kept.watched" && break; sleep 0.1; done
cp "$edited/right.cu" "$edited/saved.cu"
wait $! || { echo "watch: exit code $?"; failed=1; }
for said in '^No. With it' '^It does what it should' '^Yes'; do
    grep -q "$said" "$kept.watched" || { echo "watch: no '$said': $(cat "$kept.watched")"; failed=1; }
done
rm -r "$edited" "$kept.watched"
expect 2 'asks for no edit' watch 05-1 kernel.cu
expect 0 '^x 06-e2' list 06
expect 0 '^0 of [0-9]* solved' reset 06
expect 0 '^x 05-1 ' list 05
make=$("$practice" list 07 | sed -n 's/^. \(07-[0-9]*\) *Make.*/\1/p' | head -1)
expect 1 'This run passes' check "$make" --m 128
expect 0 'One line is wrong' show m10
expect 0 'overwritten-while-read' hint m10
expect 0 'cu:1[89] by thread 0' hint m10 # compilers number a call of two lines differently
expect 1 'The last stores are complete' check m10 28
expect 1 'no line of code' check m10 30
expect 1 'Line 23 it is' check m10 23
expect 2 "'bank-conflict' is none of the choices" check m10 23 bank-conflict
expect 0 '^+    bulk_wait_group(0);' check m10 23 overwritten-while-read

if [ -n "$there" ]; then mv "$kept" "$solved"; else rm -f "$kept" "$solved"; fi
exit "$failed"
