"""museum_tools_test.py ROOT DIRECTORY: what museum_page.py makes of a source, a report and a record."""

import os
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

ROOT, DIRECTORY = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "common/tools/museum"))
import museum_page
import exhibits

RECORD = """# {"gpu": "NVIDIA X", "driver": "1", "toolkit": "2", "date": "a day", "commit": "3", "command": "record"}
exhibit\tform\talone\tmemcheck\tracecheck\tsynccheck
01_wrong\tbroken\twrong in 4 of 500 runs\tnothing\t1 reported: Race 01_wrong.cu:7\t1 reported, of the fixed form, too
01_wrong\tfixed\tcorrect\tnothing\tnothing\t1 reported: Missing wait
02_hangs\tbroken\thangs\thangs\tnothing\tnothing
02_hangs\tfixed\tcorrect\tnothing\tnothing\tnothing
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


def main():
    os.makedirs(os.path.join(DIRECTORY, "docs/results"), exist_ok=True)
    write("docs/results/museum.tsv", RECORD)
    lines = museum_page.tables(DIRECTORY)
    expect("what it was made on", True, lines[1].startswith("Measured: NVIDIA X, driver 1"))
    expect("the table's first row", "| 01_wrong | wrong in 4 of 500 runs | nothing | 1 reported: "
           "Race 01_wrong.cu:7 | 1 reported, of the fixed form, too | correct; "
           "synccheck: 1 reported: Missing wait |", lines[5])
    expect("rows of the table", 2, sum(line.startswith("| 0") for line in lines))

    expect("diff", DIFF, exhibits.diff_of(SOURCE))
    report = ["```text", "$ museum", "hazard: data-race: a.cu:7: thread 3", "exit code 4", "```"]
    other = [line.replace("thread 3", "thread 9") for line in report]
    expect("the same report in other words", True, museum_page.same(report, other))
    other = [line.replace("a.cu:7", "a.cu:8") for line in report]
    expect("a report of another line", False, museum_page.same(report, other))
    expect("no report yet", False, museum_page.same([], report))
    return 1 if failures else 0


sys.exit(main())
