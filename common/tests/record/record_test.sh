#!/bin/bash
# record_test.sh TOOLS DIRECTORY: the scripts for the GPU, as far as they can be tried without one: what
# record.sh would run, and the tables that ncu.sh and sass_loop.awk make of the tools' output.
set -u
. "$(dirname "$0")/../support/expect_same.sh"
tools=$(cd "$1" && pwd)
shift
mkdir -p "$1" && cd "$1" || exit 2
# No GPU, also on a machine that has one.
mkdir -p without
printf '#!/bin/sh\nexit 1\n' >without/nvidia-smi
chmod +x without/nvidia-smi
PATH=$PWD/without:$PATH

# Every section has a command, and nothing is written.
sections=$("$tools/record.sh" 2>&1 | sed -n 's/.*choose sections: //p')
beyond=0 library=0 # is it there?
[ ! -d "$tools/../../../beyond" ] || beyond=1
[ ! -d "$tools/../../../library" ] || library=1
expect 'sections' $((18 + 10 * beyond + 5 * library)) "$(echo "$sections" | wc -w | tr -d ' ')"
for section in $sections; do
    "$tools/record.sh" --dry --out "$PWD/results" "$section" >commands 2>&1
    expect "exit code of $section" 0 $?
    expect "commands of $section" yes "$(grep -q '^+ ' commands && echo yes)"
done
# Every variant that a command names, as in 6:rs, is declared; all and tuned are compare's own.
for section in $sections; do
    "$tools/record.sh" --dry --build build "$section"
done >commands 2>&1
grep -oE '[0-9a-z_]:[a-z][a-z0-9_]*' commands | sed 's/.*://' | sort -u | while read -r variant; do
    case $variant in all | tuned) continue ;; esac
    cat "$tools"/../../../CMakeLists.txt "$tools"/../../../*/CMakeLists.txt 2>/dev/null |
        grep -qE "(^| )$variant:[a-z0-9_]+\.cu" || echo "$variant"
done >undeclared
[ $beyond = 0 ] || expect 'variants that are declared nowhere' '' "$(cat undeclared)"
expect 'variants named' yes "$(grep -q ':persistent' commands && echo yes)"
expect 'files of a dry run' no "$([ -e results ] && echo yes || echo no)"
"$tools/record.sh" --dry tour nonsense >commands 2>&1
expect 'exit code of an unknown section' 2 $?

# A run that fails is said to have failed, and its file says how it was made.
mkdir -p build/gpu
printf '#!/bin/sh\necho "2000 random shapes, 1 failures"\nexit 1\n' >build/gpu/sweep
chmod +x build/gpu/sweep
cp build/gpu/sweep build/gpu/sweep_beyond
cp build/gpu/sweep build/gpu/sweep_library
"$tools/record.sh" --build "$PWD/build" --out "$PWD/results" sweep >log 2>&1
expect 'exit code of a failure' 1 $?
expect 'the records of a failure' $((4 + 4 * beyond + 4 * library)) "$(grep -c '^# exit code 1' results/sweep.txt)"
expect 'the headers' '1 2 3 4 ' \
    "$(sed -n 's/.*"command": ".*\/sweep --variant all.* --seed \(.\)".*/\1/p' results/sweep.txt |
        tr '\n' ' ')"
expect 'files in between' no "$([ -e results/sweep.txt.parts ] && echo yes || echo no)"

if [ $beyond = 1 ]; then
    # Every layer of fp8_layers is a shape: name, n x k, numbers of tokens.
    "$tools/record.sh" --dry fp8_layers >commands
    expect 'layers' 20 "$(grep -oE '[0-9]+x[0-9]+x[0-9]+' commands | sort -u | wc -l | tr -d ' ')"
fi

# The section order prints how much a kernel differs between its two places, and fails if that is
# too much. This kernel is slower in the second place by $SLOWER %.
cat >build/gpu/compare <<'END'
#!/bin/bash
for kernel in 09_cluster_multicast 02_smem_tiled; do
    [ "$2" = 9,8,7,6,2 ] && ms=1 || ms=1.0$SLOWER
    echo "{\"chapter\": \"$kernel\", \"burst\": {\"ms\": $ms}, \"sustained\": null, \"baselines\": []}"
done
END
chmod +x build/gpu/compare
for SLOWER in 1 3; do
    export SLOWER
    "$tools/record.sh" --build "$PWD/build" --out "$PWD/results" order >log 2>&1
    expect "exit code of $SLOWER % between places" $((SLOWER > 2)) $?
    expect "differences printed for $SLOWER %" 2 "$(grep -c "at the other 1.0${SLOWER}00 ms" log)"
done
expect 'the record of the order' 'order.jsonl sweep.txt' "$(cd results && echo *)"

# Another GPU's files have names of their own.
printf '#!/bin/sh\necho "NVIDIA H100 80GB HBM3"\n' >nvidia-smi
printf '#!/bin/sh\necho "{}"\n' >build/gpu/tour
chmod +x nvidia-smi build/gpu/tour
PATH=$PWD:$PATH "$tools/record.sh" --build "$PWD/build" --out "$PWD/other" sweep tour >log 2>&1
rm nvidia-smi
expect 'the files of an H100' 'h100-sweep.txt h100-tour.jsonl' "$(cd other && echo *)"
expect 'its header' 4 "$(grep -c '"gpu": "NVIDIA H100 80GB HBM3"' other/h100-tour.jsonl)"
rm -rf other

# Racecheck may report; the others may not. Each line is kept once, and of lines that say that all is
# well, how many there are.
cat >compute-sanitizer <<'END'
#!/bin/bash
printf '========= COMPUTE-SANITIZER\n========= \nsame\nsame\n'
printf 'at f()+0x%x in f.h:1 [%d hazards]\n' 16 3 32 4
printf '%s: 4 triples, 0 failures, 0 hazards\n' one two
printf 'three: 4 triples, 1 failures, 0 hazards\na: ok\nb: ok\n'
printf 'sweep: %s is left out: it is another\'"'"'s\n' four five
case $2 in racecheck | initcheck) exit 9 ;; esac
END
chmod +x compute-sanitizer
PATH=$PWD:$PATH "$tools/record.sh" --build "$PWD/build" --out "$PWD/results" sanitizer >log 2>&1
expect 'exit code of reports' 1 $?
failed=$((2 + 6 * beyond + 3 * library)) lines=$((15 + 24 * beyond + 12 * library))
expect 'failures' "record.sh: $failed commands failed" "$(tail -n 1 log)"
expect 'lines kept' $lines "$(grep -c same results/sanitizer.txt)"
for line in "$lines at f() in f.h:1" "$lines counted: 2 kernels right in 8 triples" \
    "$lines three: 4 triples, 1 failures, 0 hazards" "$lines counted: 2 checks ok" \
    "$lines counted: 2 kernels left out: it is another's" '0 one: ' '0 a: ok'; do
    expect "lines '${line#* }'" "${line%% *}" "$(grep -cF "${line#* }" results/sanitizer.txt)"
done
expect 'the first tool' memcheck "$(sed -n 's/.*--tool \([a-z]*\) .*/\1/p;q' results/sanitizer.txt)"
if [ $beyond = 1 ]; then
    for dtype in e4m3 w4a8; do
        expect "runs in $dtype" 4 "$(grep -c "command.*sweep_beyond .*--dtype $dtype" results/sanitizer.txt)"
    done
    expect 'runs of split-K' 4 "$(grep -c 'command.*split_k' results/sanitizer.txt)"
fi
rm -rf results

# ncu.sh with an ncu that knows three counters.
cat >ncu <<'END'
#!/bin/bash
if [ "$1" = --query-metrics ]; then
    printf 'sm__cycles_active Counter\ngpu__time_duration Counter\nlts__t_sectors_op_read Counter\n'
    exit
fi
while [ "$1" != ./tour ]; do
    case $1 in
    --log-file) log=$2 ;;
    --metrics) metrics=$2 ;;
    esac
    shift
done
{
    echo '==PROF== Connected'
    echo "\"ID\",\"Kernel Name\",\"${metrics//,/\",\"}\""
    echo '"","","ns","cycle","register/thread","sector"'
    echo '"0","kernel","275,000,000","1234567","40","62,500"'
    echo '"1","kernel","550000","734567.5","168","31250000"'
} >"$log"
exec "$@"
END
row='{"chapter": "%s", "variant": %s, "backend": "cuda", "m": 1, "n": 2, "k": 3, "dtype": "bf16"}\n'
{
    printf '#!/bin/sh\ncat <<END\n{"gpu": "no row of a kernel"}\n'
    # shellcheck disable=SC2059
    printf "$row" 01_naive null 06_wgmma '"wait0"'
    echo END
} >tour
chmod +x ncu tour
PATH=$PWD:$PATH "$tools/ncu.sh" ./tour --size 4096 >table 2>log
expect 'exit code of ncu.sh' 0 $?
expect 'counters missing' 12 "$(grep -c 'this ncu has no' log)"
expect 'first row' '| 01_naive  | 1 x 2 x 3 | 275000 | 1234567 | 40 | 2 |' "$(grep '^| 01' table)"
expect 'second row' '| 06_wgmma wait0 | 1 x 2 x 3 | 550 | 734568 | 168 | 1000 |' "$(grep '^| 06' table)"

# The same with the coalescer's counters, of which this ncu knows two.
counters='lrc__lts2lrc_sectors_op_read Counter\\nlrc__xbar2lrc_requests_op_read Counter\\n'
sed -e "s/'sm__cycles_active.*'/'$counters'/" \
    -e 's/"","","ns".*/"","","request","sector"'"'"'/' \
    -e 's/"275,000,000".*/"12,582,912","62,500"'"'"'/' -e 's/"550000".*/"1024","312.5"'"'"'/' ncu >ncu_lrc
mv ncu_lrc ncu && chmod +x ncu
PATH=$PWD:$PATH "$tools/ncu.sh" --coalescer ./tour --size 4096 >table 2>log
expect 'exit code of ncu.sh --coalescer' 0 $?
expect 'its headings' '| kernel | size | requests in | MB from the slices |' "$(grep '^| kernel' table)"
expect 'its first row' '| 01_naive  | 1 x 2 x 3 | 12582912 | 2 |' "$(grep '^| 01' table)"
expect 'its second row' '| 06_wgmma wait0 | 1 x 2 x 3 | 1024 | 0.01 |' "$(grep '^| 06' table)"

# nsys.sh with an nsys that saw both ranges of every chapter but 03's burst.
cat >nsys <<'END'
#!/bin/bash
case $1 in
--version) echo "NVIDIA Nsight Systems" ;;
stats)
    report=${!#}
    chapter=${report##*/}
    echo 'NVTX Range,Style,Kern Inst,Avg (ns),Kernel Name'
    [ "${chapter%.nsys-rep}" = 03_cp_async_multistage.2 ] ||
        echo ":${chapter%.?.nsys-rep},PushPop,21,190984.9,kernel(gemm_args)"
    ;;
esac
END
chmod +x nsys
PATH=$PWD:$PATH "$tools/nsys.sh" ./tour --size 4096 >table 2>log
expect 'exit code of nsys.sh' 1 $?
expect 'ranges of nsys.sh' 17 "$(grep -c '^| 0' table)"
# shellcheck disable=SC2016
expect 'a range' '| 07_warp_specialized, burst | `kernel(gemm_args)` | 21 | 191.0 |' \
    "$(grep '^| 07.*burst' table)"
expect 'the range that is missing' 1 "$(grep -c 'nothing recorded in range 2 of 03_cp' log)"

# The line that says how a run was made, with a GPU and without.
cat >nvidia-smi <<'END'
#!/bin/sh
case $1 in
--query-gpu=name) echo 'NVIDIA H100' ;;
--query-gpu=driver_version) echo 580 ;;
--query-gpu=power.limit) echo '700.00 W' ;;
esac
END
for backend in cuda sim; do
    printf '#!/bin/sh\necho %s\n' "'{\"chapter\": \"01_naive\", \"backend\": \"$backend\"}'" >program
    chmod +x nvidia-smi program
    PATH=$PWD:$PATH "$tools/../book/docs_record.sh" "$backend.jsonl" ./program --size 64
    expect 'exit code of docs_record.sh' 0 $?
    expect 'lines' 2 "$(wc -l <"$backend.jsonl" | tr -d ' ')"
done
expect 'the GPU' 1 "$(grep -c '"gpu": "NVIDIA H100", "driver": "580", .*"power_limit": "700.00 W"' cuda.jsonl)"
expect 'no GPU' 1 "$(grep -c '"gpu": "simulator", "driver": "", .*"command": "./program --json --size 64"' sim.jsonl)"

# A loop of four instructions, two of which multiply, inside one of six.
cat >listing <<'END'
		Function : kernel
        /*0000*/                   MOV R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */
                                                             /* 0x000fe20000000800 */
        /*0010*/                   LDSM.16.M88.4 R4, [R2] ;  /* 0x0000000000027919 */
        /*0020*/                   HMMA.16816.F32 R8, R4, R6, R8 ; /* 0x0000000000027919 */
        /*0030*/              @!P0 HMMA.16816.F32 R8, R4, R6, R8 ; /* 0x0000000000027919 */
        /*0040*/               @P1 BRA 0x10 ;                /* 0x0000000000027919 */
        /*0050*/                   BRA 0x0 ;                 /* 0x0000000000027919 */
        /*0060*/                   EXIT ;                    /* 0x0000000000027919 */
END
expect 'the main loop' '| k | 4 | 2 | 0 | 1 | 0 | 0 | 0 | 0 | 32 | 0 |' \
    "$(awk -f "$tools/sass_loop.awk" -v kernel=k -v per_tile=16 listing)"
[ "$failures" -eq 0 ]
