"""museum_page.py ROOT PROGRAM [--write]: the generated parts of docs/museum.md.

Behind `<!-- museum-list -->` stands a table of the exhibits, from the comments at their tops. Behind
`<!-- museum: NAME -->` and up to `<!-- end -->` stand what the fix of an exhibit
(breaks/exhibits.py) changes, with the lines that the simulator names, and what the simulator says of
the broken form in its run: PROGRAM is build/sim/museum. Behind `<!-- museum-gpu -->` stand the
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
                for name in ("book", "../breaks")]

import exhibits
import links
import live_links
import report
import seen_on_gpu

END = "<!-- end -->"
NOT_RECORDED = "*Not yet recorded: there is no `docs/results/museum.tsv`.*"
TOOLS = ("memcheck", "racecheck", "synccheck")


def complain(what):
    print(f"museum_page.py: {what}", file=sys.stderr)
    sys.exit(2)


# ---- the report ----

def report_of(program, one):
    """The command and what it said, up to the second hazard."""
    options = [one["name"], "broken", *one["run"].split()]
    run = subprocess.run([program, *options], capture_output=True, text=True, check=False)
    if report.verdict_of(run.returncode, run.stderr) != one["reports"]:
        complain(f"{one['name']}: not {one['reports']} with {one['run']}: {run.stderr}")
    said = re.sub(r"^(?!hazard| ).*\n", "", run.stderr, flags=re.M)
    return ["$ build/sim/museum " + " ".join(options),
            *report.shown(said, run.returncode, every_cta=True)]


def essence(lines):
    """The command, the link, and of the report also the line."""
    return [line for line in lines if line.startswith(("$ ", "[Run it]"))], \
        report.essence(lines, with_line=True)


def exhibit(root, program, one):
    said = report_of(program, one)
    diff = exhibits.diff_of(exhibits.source_of(root, one["name"]))
    address = address_of(one["name"], one["run"])
    return ["```diff", *diff, "```", "```text", *said, "```", "",
            f"[Run it]({live_links.target(root, exhibits.PAGE, address)})"]


def address_of(name, options):
    """The state of the live page that shows this; common/live/page/museum.js has the same."""
    words = dict(option.split() for option in options.removeprefix("--").split(" --"))
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

def overview(root, there):
    """Of all exhibits; those for Blackwell come last."""
    out = ["", "| exhibit | project | kind | what the simulator reports |", "|---|---|---|---|"]
    for one in sorted(there.values(), key=lambda one: one["kind"] == "Blackwell"):
        cells = [f"[{one['name'][:2]}](#{links.anchor_of(one['title'])})",
                 one["project"].split(", ")[0],
                 one["kind"].replace("a practice", "[a practice](#practice-against-the-letter)"),
                 ", ".join(f"`{kind}`" for kind in exhibits.kinds_of(root, one))]
        out.append(f"| {' | '.join(cells)} |")
    return [*out, ""]


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
    there = exhibits.read(root)
    while i < len(lines):
        out.append(lines[i])
        marker = re.match(r"<!-- (museum-list|museum-gpu|museum: (\S+)) -->$", lines[i])
        i += 1
        if not marker:
            continue
        # Before the next exhibit and the next section: their text is not this one's.
        end = next((j for j in range(i, len(lines))
                    if re.match(r"#{2,} |<!-- museum|<!-- end -->$", lines[j])), None)
        if end is None or lines[end] != END:
            complain(f"{exhibits.PAGE}: no {END} behind {marker.group()}")
        name = marker.group(2)
        if name and name not in there:
            complain(f"{exhibits.PAGE}: there is no exhibit {name}")
        if name:
            seen.append(name)
        if name:
            after = exhibit(root, program, there[name])
        else:
            after = overview(root, there) if marker.group(1) == "museum-list" else tables(root)
        if not (same(lines[i:end], after) if name else lines[i:end] == after):
            stale.append(name or marker.group(1))
        out += after if rewrite else lines[i:end]
        i = end
    if sorted(seen) != list(there):
        complain(f"{exhibits.PAGE} shows {sorted(seen)}, the exhibits are {list(there)}")
    return out, stale


def main():
    rewrite = "--write" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    if len(arguments) != 2:
        complain("usage: museum_page.py ROOT PROGRAM [--write]")
    path = os.path.join(arguments[0], exhibits.PAGE)
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    new, stale = remake(*arguments, lines, rewrite)
    if rewrite:
        if new != lines:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(new) + "\n")
        return 0
    if stale:
        print(f"{exhibits.PAGE} is stale ({', '.join(stale)}): build the target docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
