#!/bin/sh
# programs.sh HOPPER_CHECK NVCC WORK: whole programs, and what a person reads when one cannot be
# judged. Skipped (77) where there is no nvcc.
set -u
check=$1 nvcc=$2 work=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/expect.sh"
"$nvcc" --version >/dev/null 2>&1 || { echo "no nvcc"; exit 77; }
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 2
failed=0

# build PROGRAM SOURCE FLAGS...: PTX alone, as fast as nvcc can.
build() {
    program=$1 source=$2
    shift 2
    "$nvcc" -std=c++17 -lineinfo -diag-suppress 20054 -o "$program" "$here/programs/$source.cu" "$@" ||
        exit 2
}
ptx='-gencode arch=compute_90a,code=compute_90a -cudart shared'

# shellcheck disable=SC2086 # $ptx is a list of options
{
for program in saxpy race host product unusual pointers faults early fences owners turns graphs; do build $program $program $ptx; done
build blas blas $ptx -lcublas -lcublasLt
build driver driver $ptx -lcuda
build im2col im2col $ptx -lcuda

# Right programs, however unusual, are not accused, and what was checked is said.
expect 0 'clean' ./saxpy
expect 0 'checked: 6 runs, 6 launches, 121584 instructions' ./saxpy
expect 0 'checked: 1 run, 1 launch, ' --schedule late ./saxpy
expect 0 'clean' ./product
expect 0 'clean' ./unusual
expect 4 'in doubt: exchange-releases-nothing' --keep-going --doubtful on ./unusual
expect 0 'clean' ./pointers
expect 4 'global-bounds' ./pointers beyond
expect 0 'clean' --follow all ./pointers
expect 0 'clean' ./host
expect 0 'it is that of a model' ./host
expect 0 'the program uses more than one stream' ./host
said=$("$check" --schedule time ./early 2>&1) # on one stream alone
case $said in *'more than one stream'*) echo "./early: $said"; failed=1 ;; esac
expect 0 'clean' ./blas
expect 0 'clean' ./driver "$here/ptx/sum.ptx"
expect 0 'the program uses more than one stream' ./driver "$here/ptx/sum.ptx"
expect 0 'clean' ./im2col
expect 4 'missing-proxy-fence' ./im2col no-fence

# Memory of the GPU that the host touches, before and after a launch, also in a library's function.
expect 0 'clean' ./owners
expect 0 'cudaHostAlloc 3 is freed by the wrong function, which fails: it is for cudaFreeHost()' ./owners
expect 4 'the host reads cudaMalloc 1 + 0, which is memory of the GPU' ./owners read
expect 4 "in the host's code, after launch 3, of count" ./owners read
expect 4 'the host writes cudaMallocAsync 2 + 4, which' ./owners write
expect 4 'the host reads cudaMalloc 1 + 4, which' ./owners copy
expect 4 "in the host's code, before any launch" ./owners first
expect 1 'crashed in its host code, by signal 11' ./owners other # behind the block
expect 4 'write of 4 bytes at cudaMallocAsync 2 + 0, which has been freed' ./owners freed
build marked owners $ptx -g
address=$("$check" ./marked read 2>&1 | sed -n 's/.*addr2line -Cfe //p')
if command -v addr2line >/dev/null; then
    # shellcheck disable=SC2086 # the program and the address
    case $(addr2line -Cfe $address) in *owners.cu:*) ;; *) echo "$address is no line"; failed=1 ;; esac
fi

# CTAs that wait for a lower index pass; the order that CUDA leaves open is a rule in doubt.
expect 0 'clean' ./turns
expect 4 'in doubt: lower-ctas-first' --doubtful on ./turns
expect 4 'in CUDA C++ cudaOccupancyMaxActiveBlocksPerMultiprocessor()' ./turns upward
expect 4 'cuda::ptx::mbarrier_try_wait_parity(sem_acquire, scope_cluster, ...)' ./turns remote

# Captured graphs: what is launched is what was captured, and it is judged.
expect 0 'clean' ./graphs
expect 0 '6 runs, 48 launches' ./graphs
expect 4 'in launch 2, of turn' ./graphs race
expect 5 'a capture of a stream does not take all calls' ./graphs alloc

# A kernel of the book, as the page says.
root=$here/../..
"$nvcc" -std=c++17 $ptx -lineinfo -I"$root/common" -DGEMM_KERNEL=kernel_of_chapter \
    -DGEMM_BF16_ELEMENTS=1 "$here/programs/chapter.cu" "$root/09_cluster_multicast/kernel.cu" \
    "$root/common/gpu/cuda_call.c" "$root/common/gpu/encode_tensor_map.c" \
    "$root/common/gpu/launch.c" -o chapter || exit 2
expect 0 'clean' ./chapter

# A finding: its lines, its run again, its JSON, its SARIF, its suppression.
expect 4 'programs/race.cu:11: thread 32' ./race
expect 4 'hopper_check --schedule random --seed 5 ./race' --schedule random --seed 5 ./race
expect 4 'checked: 6 runs' --keep-going ./race
expect 4 'findings: 2, of which 1 are printed' --print-limit 1 ./race
expect 9 'findings' --error-exitcode 9 ./race
printf '# known\ndata-race race.cu:11 programs/race.cu:7\n' >known
expect 0 'findings: 0, and 2 suppressed' --suppressions known ./race
expect 0 'checked: 6 runs' --suppressions known ./race
printf 'data-race race.cu:11 race.cu:8\n' >other
expect 4 'findings: 2' --suppressions other ./race
printf 'data-race race.cu\n' >wrong
expect 2 'wrong:1: expected RULE FILE:LINE' --suppressions wrong ./race
expect 4 'in launch 1, of shift' --kernel-name kernel_substring=hif ./race
expect 5 'nothing was checked' --kernel-name other ./race
expect 5 'nothing was checked' --launch-skip 1 ./race
expect 0 'checked: 6 runs, 12 launches' --launch-skip 1 --launch-count 2 ./unusual
expect 4 '' --json race.json --sarif race.sarif --log-file race.log ./race
grep -q '"verdict": "findings"' race.json && grep -q '"ruleId": "data-race"' race.sarif &&
    grep -q '"startLine": 7' race.sarif && grep -q '^findings: 2' race.log ||
    { echo "race.json, race.sarif or race.log is not as it should be"; failed=1; }
# The page of a launch: what was found in it, its barriers, and steps instead of times.
expect 4 'launch 1, step by step: page/index.html' --report page ./race
grep -q '"kind":"data-race"' page/index.html && grep -q '"tick":"step"' page/index.html ||
    { echo "page/index.html is not the page of the race"; failed=1; }
expect 0 'launch 1, step by step' --schedule late --report clean ./chapter
grep -q '"barriers":\[{' clean/index.html && grep -q '"name":"loads 0"' clean/index.html ||
    { echo "clean/index.html has no barriers, or no loads"; failed=1; }
expect 2 "cannot write into '/proc/page'" --schedule time --report /proc/page ./chapter
expect 4 '' --jobs 1 --keep-going --json again.json ./race
expect 4 '' --jobs 3 --keep-going --json third.json ./race
cmp again.json third.json || failed=1
# Paths of SARIF: from the repository of the source, else from where the command was called.
mkdir -p repository/.git repository/part
cp "$here/programs/race.cu" repository/part/race.cu
"$nvcc" $ptx -lineinfo -diag-suppress 20054 -o in_repository "$PWD/repository/part/race.cu" || exit 2
expect 4 '' --schedule time --sarif repository/sarif ./in_repository
grep -q '"uri": "part/race.cu"' repository/sarif ||
    { echo "not relative to the repository: $(cat repository/sarif)"; failed=1; }
build no_barrier product $ptx -DNO_BARRIER
expect 4 'hazard: overwritten' ./no_barrier
build column product $ptx -DCOLUMN=1
expect 4 "docs/layouts.md, The TMA's side" ./column # the rule that no manual has
for log in one two; do
    "$check" --schedule random --seed 5 --log-file $log ./no_barrier >/dev/null
done
cmp one two || failed=1 # a run made again gives the same report
build barrier race $ptx -DBARRIER
expect 0 'clean' ./barrier
expect 4 'global-bounds' ./faults bounds
"$nvcc" $ptx -o no_lines "$here/programs/saxpy.cu" || exit 2
expect 0 'has no lines, so reports have those of its PTX; compile it with: nvcc' ./no_lines

# Launches that begin early: the right ones, and one that touches too early what the launch ahead uses,
# with both lines.
early() {
    first=$(grep -n "// $2\$" "$here/programs/early.cu") second=$(grep -n "// $3\$" "$here/programs/early.cu")
    expect 4 "early-access: programs/early.cu:${first%%:*}: " ./early "$1"
    expect 4 "may still $4 it, at programs/early.cu:${second%%:*}." ./early "$1"
    expect 4 "$(printf 'findings: 1\nto see')" ./early "$1"
}
expect 0 'clean' ./early
early reads 'too early' 'produced' write
early writes 'too early, too' 'read by produce' read
early one 'summed' 'produced' write
early never 'behind two launches' 'produced' write
early far 'of the launch ahead' 'summed' write
early adds 'an ordinary addition' 'an ordinary addition' write
expect 4 'in CUDA C++ cudaGridDependencySynchronize()' ./early reads

# fence.sc: two of them order what stands before the first and behind the second.
expect 0 'clean' ./fences
for mistake in no-writer no-reader one-writer narrow; do
    expect 4 "data-race: programs/fences.cu:$(grep -n '// read$' "$here/programs/fences.cu" | cut -d: -f1): " \
        ./fences $mistake
done
expect 4 'in CUDA C++ __threadfence()' ./fences one-writer

# PTX, however it is compressed, and beside machine code.
for mode in none size speed; do
    build packed saxpy $ptx --compress-mode=$mode
    expect 0 'clean' ./packed
done
build whole saxpy -arch=sm_90a -cudart shared
expect 0 'clean' ./whole

# Nothing was checked.
expect 5 'the program has launched nothing' ./faults no-launch
expect 5 'no kernel has accessed memory' ./faults no-access
expect 5 "has not used CUDA's runtime" true
# The program itself fails.
expect 1 'ended with status 7' ./faults status
expect 1 'ended with status 1' ./faults no-memset # new memory is not 0
expect 1 'crashed in its host code, by signal 11' ./faults crash
# What is not there.
expect 5 'calls cudaGraphCreate, which' ./faults graph
expect 5 'calls cublasLtCreate, which' ./blas lt
build dynamic dynamic -gencode arch=compute_90a,code=compute_90a -cudart shared -rdc=true -lcudadevrt
expect 2 'as dynamic parallelism needs it' ./dynamic
echo 'void cudaFromTomorrow(void); int main(void) { cudaFromTomorrow(); return 0; }' >tomorrow.c
echo 'void cudaFromTomorrow(void) {}' >stub.c
cc -shared -fPIC stub.c -o libstub.so && cc tomorrow.c -L. -lstub -o tomorrow && cc -shared -fPIC -x c \
    /dev/null -o libstub.so || exit 2
LD_LIBRARY_PATH=. expect 5 'needs cudaFromTomorrow, which' ./tomorrow
# Programs that would not meet the runtime.
build static saxpy -gencode arch=compute_90a,code=compute_90a
expect 2 'runtime linked into it' ./static
build machine_code saxpy -gencode arch=compute_90a,code=sm_90a -cudart shared
expect 2 'machine code and no PTX' ./machine_code
build blackwell saxpy -gencode arch=compute_100,code=compute_100 -cudart shared
expect 2 'a target after sm_90a' ./blackwell
real=$(dirname "$(ldd ./saxpy | sed -n 's/.*libcudart[^>]*> \([^ ]*\) .*/\1/p')")
if [ -e "$real/libcudart.so" ]; then
    build elsewhere saxpy $ptx -Xlinker -rpath="$real" -Xlinker --disable-new-dtags
    expect 2 'a real one' ./elsewhere
fi
expect 2 'there is no program ./nowhere' ./nowhere
expect 2 'needs as many SMs, and there are 1' --sms 1 ./product
# Too long, before it begins and once it has.
expect 5 'would take about' --launch-limit 1 ./product 4096 4096 4096
expect 5 'as its first CTAs have shown' --launch-limit 1 ./faults long
"$check" --launch-limit any --schedule time ./product >/dev/null || failed=1
}

# Ctrl-C: what was found so far, a code of its own, and which launch was under way. A launch that takes
# ten seconds is told of.
interrupt() { # PROGRAM'S ARGUMENT, LINE TO WAIT FOR, SECONDS
    "$check" --jobs 1 --launch-limit any ./faults "$1" >interrupted 2>&1 &
    for _ in $(seq "$3"); do
        grep -q "$2" interrupted && break
        sleep 1
    done
    kill -INT $!
    wait $!
    code=$?
    [ "$code" -eq 130 ] || { echo "interrupted: exit code $code: $(cat interrupted)"; failed=1; }
}
interrupted() { # TEXT
    grep -q "$1" interrupted || { echo "expected '$1', got: $(cat interrupted)"; failed=1; }
}
interrupt wait waiting 10
interrupted 'incomplete: it was interrupted$'
interrupt races waiting 10
interrupted 'incomplete: it was interrupted$'
interrupted 'findings: 1$'
grep -q keep-going interrupted && { echo "a hint after Ctrl-C: $(cat interrupted)"; failed=1; }
interrupt spin 'of spin, has run for 10 seconds: [1-9]' 60
interrupted 'of spin, has run for 10 seconds: [1-9]'
interrupted 'incomplete: it was interrupted in launch 1, of spin, whose threads had executed [1-9]'
exit "$failed"
