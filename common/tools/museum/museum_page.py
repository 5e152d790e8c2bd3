"""museum_page.py ROOT PROGRAM [--write]: the generated parts of docs/museum.md.

Behind `<!-- museum: NAME -->` and up to `<!-- end -->` stand what the fix of an exhibit changes,
with the lines that the simulator names, and what the simulator says of the broken form: PROGRAM is
build/sim/museum. It is run under the schedule that the marker names, `<!-- museum: NAME --schedule
late -->`, or else under the first that sees the mistake. Behind `<!-- museum-gpu -->` stand the
tables of docs/results/*museum.tsv, recorded on GPUs.

Without --write fails if an exhibit is missing, if a diff or a table is not what the sources say, or
if a report's first line has another kind or place. Exit code: 0 it is, 1 it is not, 2 something
does not fit together.
"""

import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name)
                for name in ("mutants", "book")]

import live_links
import seen_on_gpu

PAGE, FOLDER = "docs/museum.md", "common/tests/museum"
END = "<!-- end -->"
COLUMNS, SHOWN, SEEDS = 96, 10, 60
RANDOM = [["--schedule", "random", "--schedule-seed", str(seed)] for seed in range(SEEDS)]
SCHEDULES = [*(["--schedule", name] for name in ("time", "late", "early")), *RANDOM]
NOT_RECORDED = "*Not yet recorded: there is no `docs/results/museum.tsv`.*"
TOOLS = ("memcheck", "racecheck", "synccheck")


def complain(what):
    print(f"museum_page.py: {what}", file=sys.stderr)
    sys.exit(2)


# ---- the diff ----

def read_lines(source):
    """(sign, text, number) of each line but the preprocessor's; the sign is of the fix: ' ', '-', '+'."""
    sign, lines = " ", []
    for number, text in enumerate(source.splitlines(), 1):
        word = text.split()
        if word[:1] == ["#if"] and word[-1] in ("FIXED", "!FIXED"):
            sign = "+" if word[-1] == "FIXED" else "-"
        elif word[:1] == ["#else"]:
            sign = "-" if sign == "+" else "+"
        elif word[:1] == ["#endif"]:
            sign = " "
        else:
            lines.append((sign, text, number))
    return lines


def diff_of(path):
    """The lines that the fix changes, one line around them, and those that are accused."""
    with open(path, encoding="utf-8") as file:
        lines = read_lines(file.read())
    shown = set()
    for i, (sign, text, _) in enumerate(lines):
        if sign != " ":
            shown |= {i - 1, i, i + 1}
        if "/* accused" in text:
            # In a line of its own the comment is about the statement that follows.
            last = i
            while text.strip().startswith("/*") and last + 1 < len(lines):
                last += 1
                if lines[last][1].rstrip().endswith((";", "{")):
                    break
            shown |= set(range(i, last + 1))
    kept = [i for i in sorted(shown) if 0 <= i < len(lines) and lines[i][1].strip()]
    indent = min(len(lines[i][1]) - len(lines[i][1].lstrip()) for i in kept)
    out, added = [], []
    for before, i in zip([None, *kept], kept):
        if lines[i][0] == " ":
            out += added
            added = []
        if before is not None and i != before + 1:
            out.append("@@")
        # Of two forms the broken one comes first.
        (added if lines[i][0] == "+" else out).append(lines[i][0] + lines[i][1][indent:])
    return out + added


# ---- the report ----

def wrapped(line):
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lines = []
    while len(line) > COLUMNS:
        cut = line.rfind(" ", 20, COLUMNS)
        if cut < 0:
            break
        lines.append(line[:cut])
        line = indent + line[cut + 1:]
    return [*lines, line]


def report_of(program, name, chosen):
    """The command and what it said, up to the second hazard."""
    for schedule in [chosen] if chosen else SCHEDULES:
        options = [name, "broken", *schedule]
        run = subprocess.run([program, *options], capture_output=True, text=True, check=False)
        if run.returncode != 4:
            continue
        said = run.stderr.splitlines()
        following = [i for i, line in enumerate(said) if line.startswith("hazard")][1:2]
        said = said[:following[0] if following else len(said)]
        said = [line for line in said if line.startswith(("hazard", " "))][:SHOWN]
        return ["$ build/sim/museum " + " ".join(options),
                *(part for line in said for part in wrapped(line)), "exit code 4"]
    complain(f"{name}: the broken form is not caught under " + (" ".join(chosen) or "any schedule"))


def essence(lines):
    """The command, the kind, the place, and the link."""
    report = next((i for i, line in enumerate(lines) if line.startswith("hazard: ")), 0)
    return [line for line in lines if line.startswith(("$ ", "[Run it]"))], \
        re.findall(r"^hazard: ([^:]*): ([^:]*:\d+)", lines[report])


def exhibit(root, program, name, chosen):
    path = os.path.join(root, FOLDER, f"{name}.cu")
    if not os.path.exists(path):
        complain(f"{PAGE}: there is no {FOLDER}/{name}.cu")
    report = report_of(program, name, chosen)
    return ["```diff", *diff_of(path), "```", "```text", *report, "```", "",
            f"[Run it]({live_links.target(root, PAGE, address_of(name, report[0]))})"]


def address_of(name, command):
    """The state of the live page that shows this; common/live/page/museum.js has the same."""
    _, *options = command.split(" --")
    words = dict(option.split() for option in options)
    address = f"exhibit={name}"
    if words["schedule"] != "time":
        address += f"&schedule={words['schedule']}"
    return address + (f"&seed={words['schedule-seed']}" if "schedule-seed" in words else "")


def same(before, after):
    """Are these blocks of an exhibit the same, but for a report's words?"""
    def parts(lines):
        fence = lines.index("```text") if "```text" in lines else len(lines)
        return lines[:fence], essence(lines[fence:] or [""])
    return parts(before) == parts(after)


# ---- the tables ----

def table(path):
    made, rows = seen_on_gpu.read_table(path)
    fixed = {row["exhibit"]: row for row in rows if row["form"] == "fixed"}
    columns = ("exhibit", "broken, by itself", *TOOLS, "fixed")
    out = [seen_on_gpu.measured(made, path), "",
           "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        if row["form"] != "broken":
            continue
        right = fixed[row["exhibit"]]
        odd = [f"{tool}: {right[tool]}" for tool in TOOLS if right[tool] != "nothing"]
        cells = [row["exhibit"], row["alone"], *(row[tool] for tool in TOOLS),
                 "; ".join([right["alone"], *odd])]
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*out, ""]


def tables(root):
    paths = sorted(glob.glob(os.path.join(root, "docs/results/*museum.tsv")))
    lines = [line for path in paths for line in table(path)]
    return ["", *(lines[:-1] if lines else [NOT_RECORDED]), ""]


# ---- the page ----

def remake(root, program, lines, rewrite):
    """(the page's lines anew, what was stale)"""
    out, stale, seen, i = [], [], [], 0
    while i < len(lines):
        out.append(lines[i])
        marker = re.match(r"<!-- (museum-gpu|museum: (\S+)(.*)) -->$", lines[i])
        i += 1
        if not marker:
            continue
        try:
            end = lines.index(END, i)
        except ValueError:
            complain(f"{PAGE}: no {END} behind {marker.group()}")
        name = marker.group(2)
        if name:
            seen.append(name)
        after = exhibit(root, program, name, marker.group(3).split()) if name else tables(root)
        if not (same(lines[i:end], after) if name else lines[i:end] == after):
            stale.append(name or "the table")
        out += after if rewrite else lines[i:end]
        i = end
    there = sorted(os.path.basename(path)[:-3]
                   for path in glob.glob(os.path.join(root, FOLDER, "[0-9]*.cu")))
    if sorted(seen) != there:
        complain(f"{PAGE} shows {sorted(seen)}, the exhibits are {there}")
    return out, stale


def main():
    rewrite = "--write" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if len(arguments) != 2:
        complain("usage: museum_page.py ROOT PROGRAM [--write]")
    path = os.path.join(arguments[0], PAGE)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    new, stale = remake(*arguments, lines, rewrite)
    if rewrite:
        if new != lines:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(new) + "\n")
        return 0
    if stale:
        print(f"{PAGE} is stale ({', '.join(stale)}): build the target docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
