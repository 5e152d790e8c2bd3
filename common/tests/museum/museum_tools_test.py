"""museum_tools_test.py ROOT DIRECTORY: gpu_record.py with exhibits and a sanitizer that are not
real, and what museum_page.py makes of a source, a report and that record."""

import contextlib
import io
import os
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

ROOT, DIRECTORY = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "common/tools/museum"))
import gpu_record
import museum_page
import exhibits

# Of three exhibits one is wrong, one never ends, one fails to launch.
PROGRAM = """#!/bin/bash
[ "$1" = list ] && { printf '%s\\n' 01_wrong 02_hangs 03_fails; exit; }
case "$1 $2" in
*fixed) echo "$1 $2: $3 runs, 0 wrong" ;;
01*) echo "$1 $2: $3 runs, 4 wrong"; exit 1 ;;
02*) exec sleep 60 ;;
03*) echo "CUDA: launch of 03_fails: unspecified launch failure"
     echo "$1 $2: 2 runs, 0 wrong, then one failed"; exit 1 ;;
esac
"""
# Synccheck says the same of both forms, racecheck more of a wrong one.
SANITIZER = """#!/bin/bash
tool=$2
while [ "$1" != --print-limit ]; do shift; done
shift 2
echo '========= COMPUTE-SANITIZER'
"$@"; code=$?
[ $tool = synccheck ] && echo '========= Barrier error detected. Missing wait'
[ $tool$code = racecheck1 ] && echo '========= Error: Race reported at f(int)+0x1 in 01_wrong.cu:7'
exit $code
"""
SOURCE = """one
#if FIXED
    better();
#else
    worse();
#endif
    behind();
far
    /* accused: data-race */
    read(a,
         b);
farther
    write(); /* accused: data-race */
"""
DIFF = [" one", "-    worse();", "+    better();", "     behind();", "@@",
        "     /* accused: data-race */", "     read(a,", "          b);", "@@",
        "     write(); /* accused: data-race */"]

failures = 0


def expect(what, expected, got):
    global failures
    if expected != got:
        failures += 1
        print(f"{what}: expected {expected!r}, got {got!r}")


def write(name, text):
    path = os.path.join(DIRECTORY, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def record():
    """(exit code, rows by exhibit and form, the text)"""
    gpu_record.ALONE_S = gpu_record.HUNG_S = 1
    sys.argv = ["gpu_record.py", write("museum", PROGRAM), "--sanitizer",
                write("sanitizer", SANITIZER)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = gpu_record.main()
    names, *rows = [line.split("\t") for line in said.getvalue().splitlines()]
    return code, {tuple(row[:2]): dict(zip(names, row)) for row in rows}, said.getvalue()


def main():
    os.makedirs(os.path.join(DIRECTORY, "docs/results"), exist_ok=True)
    code, rows, text = record()
    expect("exit code", 0, code)
    expect("rows", 6, len(rows))
    expect("wrong", "wrong in 4 of 500 runs", rows["01_wrong", "broken"]["alone"])
    expect("hangs", "hangs", rows["02_hangs", "broken"]["alone"])
    expect("hangs under a tool", "hangs", rows["02_hangs", "broken"]["memcheck"])
    expect("fails", "fails after 2 runs: unspecified launch failure",
           rows["03_fails", "broken"]["alone"])
    expect("right", "correct", rows["01_wrong", "fixed"]["alone"])
    expect("a report", "1 reported: Error: Race reported 01_wrong.cu:7",
           rows["01_wrong", "broken"]["racecheck"])
    expect("a report of both", "1 reported, of the fixed form, too",
           rows["01_wrong", "broken"]["synccheck"])
    expect("none", "nothing", rows["01_wrong", "broken"]["memcheck"])

    write("docs/results/museum.tsv", '# {"gpu": "NVIDIA X", "command": "record"}\n' + text)
    lines = museum_page.tables(DIRECTORY)
    expect("what it was made on", True, lines[1].startswith("Measured: NVIDIA X"))
    expect("the table's first row", "| 01_wrong | wrong in 4 of 500 runs | nothing | 1 reported: "
           "Error: Race reported 01_wrong.cu:7 | 1 reported, of the fixed form, too | correct; "
           "synccheck: 1 reported: Barrier error detected. Missing wait |", lines[5])
    expect("rows of the table", 3, sum(line.startswith("| 0") for line in lines))

    expect("diff", DIFF, exhibits.diff_of(SOURCE))
    report = ["```text", "$ museum", "hazard: data-race: a.cu:7: thread 3", "exit code 4", "```"]
    other = [line.replace("thread 3", "thread 9") for line in report]
    expect("the same report in other words", True, museum_page.same(report, other))
    other = [line.replace("a.cu:7", "a.cu:8") for line in report]
    expect("a report of another line", False, museum_page.same(report, other))
    expect("no report yet", False, museum_page.same([], report))
    return 1 if failures else 0


sys.exit(main())
