"""gpu_sample_test.py ROOT DIRECTORY KERNELS: gpu_sample.py with a compiler, kernels and a sanitizer that are not
real, and the page made of what it records."""

import contextlib
import io
import os
import shutil
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

sys.path.insert(0, os.path.join(sys.argv[1], "common/tools/mutants"))
import gpu_list
import gpu_page
import gpu_sample

# Compiling keeps the kernel's source; linking makes a program that is wrong if a call was removed,
# and that never ends if the rows are not checked.
NVCC = """#!/bin/bash
while [ $# -gt 0 ]; do
    case $1 in
    -c) compile=1 from=$2 && shift ;;
    -o) to=$2 && shift ;;
    *.o) [ -n "$from" ] || from=$1 ;;
    esac
    shift
done
[ -n "$compile" ] && { cp "$from" "$to" && echo 'ptxas info : (C7510) serialized'; exit; }
echo '#!/bin/bash' >"$to"
if grep -q '((void)0)' "$from"; then
    echo 'echo "shape 8 8 8: 20 runs, 3 wrong"; exit 1' >>"$to"
elif grep -q 'valid = columns' "$from"; then
    echo 'echo "shape 8 8 8: 20 runs, 0 wrong"; exec sleep 60' >>"$to"
else
    echo 'echo "shape 8 8 8: 20 runs, 0 wrong"' >>"$to"
fi
chmod +x "$to"
"""
# Racecheck has something to say of every kernel, and more of a wrong one.
SANITIZER = """#!/bin/bash
echo '========= COMPUTE-SANITIZER'
for last; do :; done
while [ "$1" != --print-limit ]; do tool=$2; [ "$1" = --tool ] && kind=$tool; shift; done
shift 2
"$@"; code=$?
if [ $kind = racecheck ]; then
    echo '========= Error: Race reported between Read access at f(int)+0x1 in a.h:1'
    echo '=========     and Write access at g(int)+0x2 in a.h:2 [8 hazards]'
    [ $code = 0 ] || echo '=========     and Write access at h(int)+0x3 in a.h:3 [8 hazards]'
fi
echo '========= SUMMARY'
exit $code
"""

failures = 0


def expect(what, expected, got):
    global failures
    if expected != got:
        print(f"{what}: expected {expected!r}, got {got!r}")
        failures += 1


def script(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def check_words():
    """What single runs and reports are taken for."""
    shape = "shape 1 2 3: 20 runs, {} wrong\n"
    expect("a right run", "correct", gpu_sample.judge_runs(0, shape.format(0)))
    expect("a wrong run", "wrong in 5 of 40 runs",
           gpu_sample.judge_runs(1, shape.format(5) + shape.format(0)))
    expect("a hang", "hangs after 20 runs, 2 of them wrong", gpu_sample.judge_runs(124, shape.format(2)))
    expect("a hang at once", "hangs", gpu_sample.judge_runs(137, ""))
    expect("an error", "fails: misaligned address",
           gpu_sample.judge_runs(1, "CUDA: 06_wgmma: misaligned address\n" + shape.format(1)))
    expect("no GPU", gpu_sample.NOT_RUN, gpu_sample.judge_runs(3, ""))
    expect("reports", ["Invalid __global__ read of size 16 bytes thread.h:67",
                       "Barrier error detected. Divergent thread(s) in block kernel.cu:90"],
           gpu_sample.reports_in("""========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 16 bytes
=========     at ld_global_b128(const void *)+0x4d0 in thread.h:67
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f0000 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f of size 12 bytes
=========
========= Barrier error detected. Divergent thread(s) in block
=========     at kernel+0x2f0 in kernel.cu:90
=========
========= ERROR SUMMARY: 2 errors
"""))


def check_sample(root, work, kernels):
    """All cells of one chapter's programs."""
    gpu_sample.PLAIN_S = gpu_sample.HUNG_S = 1
    sys.argv = ["gpu_sample.py", f"--root={root}", f"--work={work}", f"--kernels={kernels}",
                f"--nvcc={script(work, 'nvcc', NVCC)}", "--library_directory=/",
                "--seconds=60", f"--sanitizer={script(work, 'sanitizer', SANITIZER)}",
                "--only=02_smem_tiled:"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = gpu_sample.main()
    expect("exit code", 0, code)
    record = os.path.join(work, "record.tsv")
    with open(record, "w", encoding="ascii") as file:
        file.write('# {"gpu": "none", "command": "test"}\n' + printed.getvalue())
    made, rows = gpu_page.read_table(record)
    expect("header", "none", made["gpu"])
    chosen = [line for line in gpu_list.CHOSEN if line[1].startswith("02")]
    expect("rows", len(chosen) + 1, len(rows))
    expect("unbroken", ("02_smem_tiled", "serializes wgmma", "correct", "correct", "nothing",
                        "1 reported: Error: Race reported between Read access a.h:1 "
                        "and Write access a.h:2"),
           tuple(rows[0][name] for name in ("kernel", "compiler", "plain", "delays", "memcheck",
                                            "racecheck")))
    for line in chosen:
        row = gpu_list.one(rows, line, gpu_page.key_of)
        if line[4] == "removed":
            expect("a removed call", "wrong in 3 of 20 runs", row["plain"])
            expect("new", "2 reported, 1 new: Error: Race reported between Read access a.h:1 and "
                   "Write access a.h:3", row["racecheck"])
        elif line[4] == "rows not checked":
            expect("a hang", "hangs after 20 runs, 0 of them wrong", row["plain"])
            expect("a hang under a tool", "hangs", row["memcheck"])
            expect("hang cut off", "hangs", row["racecheck"])
        else:
            expect("an edit that does nothing here", "1 reported, none new", row["racecheck"])


def check_page(root):
    """The page of a complete record: the sums right, and who is missed."""
    _, verdicts = gpu_page.read_table(os.path.join(root, gpu_page.VERDICTS))
    rows = []
    for i, line in enumerate(gpu_list.CHOSEN):
        verdict = gpu_page.verdict_of(verdicts, line)
        rows.append({**verdict, "compiler": "nothing", "delays": "correct", "memcheck": "nothing",
                     "plain": "hangs" if i == 0 else "correct", "synccheck": "nothing",
                     "racecheck": "2 reported, 1 new: race" if i < 2 else "2 reported, none new",
                     "initcheck": "nothing"})
    unbroken = {**rows[0], "kernel": "original", "edit": "none", "plain": "correct",
                "memcheck": "1 reported: a", "racecheck": "1 reported: a"}
    lines = gpu_page.recorded({"gpu": "none"}, [*rows, unbroken], verdicts)

    def sums_of(what):
        row = next(line for line in lines if line.startswith(f"| {what} | "))
        return [int(cell) for cell in row.strip("| ").split(" | ")[1:]]
    first, count = gpu_list.KINDS[0], len(rows)
    of_first = sum(line[0] == first for line in gpu_list.CHOSEN)
    expect("sums of a kind", [of_first, of_first, 0, 1, 0, 0, 2, 0, 0], sums_of(first))
    expect("sums", [count, count, 0, 1, 0, 0, 2, 0, 0], sums_of("all"))
    expect("sums of all kinds", sums_of("all"),
           [sum(column) for column in zip(*(sums_of(kind) for kind in gpu_list.KINDS))])
    expect("an unbroken kernel", "| original | correct | correct | memcheck, racecheck: 1 reported: "
           "a |", lines[-1])
    expect("missing runs", False, any("runs are missing" in line for line in lines))
    rows[5]["initcheck"] = "not run"
    expect("a missing run", True, "1 runs are missing." in
           gpu_page.recorded({"gpu": "none"}, rows, verdicts))
    expect("missed", f"Nothing on the GPU noticed {count - 2}:",
           next(line for line in lines if line.startswith("Nothing")))


def run_page(*arguments):
    sys.argv = ["gpu_page.py", *arguments]
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return gpu_page.main()
        except SystemExit as end:
            return end.code


def check_staleness(root, work):
    """A page that does not say what the files say is complained about, and mended if asked."""
    book = os.path.join(work, "book")
    shutil.rmtree(book, ignore_errors=True)
    for path in (gpu_page.PAGE, gpu_page.RECORD, gpu_page.VERDICTS):
        os.makedirs(os.path.dirname(os.path.join(book, path)), exist_ok=True)
    shutil.copy(os.path.join(root, gpu_page.VERDICTS), os.path.join(book, gpu_page.VERDICTS))
    page = os.path.join(book, gpu_page.PAGE)
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"# Page\n{gpu_page.BEGIN}\nold\n{gpu_page.END}\nbehind\n")
    expect("a stale page", 1, run_page(book))
    expect("mending", 0, run_page(book, "--write"))
    expect("a mended page", 0, run_page(book))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    expect("what is said without a record", True, gpu_page.NOT_RECORDED in text)
    expect("what stands around", True, text.startswith("# Page\n") and text.endswith("\nbehind\n"))
    with open(os.path.join(book, gpu_page.RECORD), "w", encoding="utf-8") as file:
        file.write("\t".join(gpu_sample.FIELDS) + "\n")
    expect("a record without rows", 2, run_page(book, "--write"))


def main():
    root, work, kernels = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    check_words()
    check_sample(root, work, kernels)
    check_page(root)
    check_staleness(root, work)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
