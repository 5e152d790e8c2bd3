"""gpu_page.py ROOT [--write]: the sums in docs/mutants-on-the-gpu.md.

Made from docs/results/mutants-gpu.tsv, which gpu_sample.py has recorded on the GPU, and
verdicts.tsv, the simulator's. Where there is no recording the page says so. Without --write fails
if the page is not what these files say. Exit code: 0 it is, 1 it is not, 2 something does not fit
together.
"""

import collections
import json
import os
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

import gpu_list

PAGE, RECORD = "docs/mutants-on-the-gpu.md", "docs/results/mutants-gpu.tsv"
VERDICTS = "common/tests/mutants/verdicts.tsv"
BEGIN, END = "<!-- mutants-gpu -->", "<!-- end -->"
RUNS, TOOLS = ("plain", "delays"), ("memcheck", "racecheck", "synccheck", "initcheck")
HEADINGS = {"compiler": "ptxas", "plain": "by itself", "delays": "with delays"}
NOT_RECORDED = f"*Not yet recorded: there is no `{RECORD}`.*"
NOTHING = "–"


def complain(what):
    print(f"gpu_page.py: {what}", file=sys.stderr)
    sys.exit(2)


def read_table(path):
    """(the line that says how it was made, or None; the rows as dictionaries)"""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    made = [json.loads(line[1:]) for line in lines if line.startswith("#")]
    names, *rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    if any(len(row) != len(names) for row in rows):
        complain(f"{path}: a line does not have {len(names)} fields")
    return (made[0] if made else None), [dict(zip(names, row)) for row in rows]


def key_of(row):
    return tuple(row[name] for name in ("file", "function", "code", "edit", "nth"))


def quoted(code):
    return f"`{code.replace('|', chr(92) + '|')}`"


def name_of(row):
    """The broken line, as short as it can be told from others."""
    code = row["code"] if len(row["code"]) <= 60 else row["code"][:57] + "..."
    which = f", place {int(row['nth']) + 1}" if row["nth"] != "0" else ""
    return f"{quoted(code)} {row['edit']}{which} ({row['file']})"


def found_by_run(cell):
    return cell not in ("correct", "not run")


def found_by_tool(cell):
    return " new: " in cell


def tools_said(row):
    """What ptxas and the sanitizer's tools have to say, in one cell."""
    by_words = collections.defaultdict(list)
    for tool in ("compiler", *TOOLS):
        if row[tool] != "nothing":
            by_words[row[tool]].append(HEADINGS.get(tool, tool))
    return "; ".join(f"{', '.join(tools)}: {words}" for words, tools in by_words.items()) or NOTHING


def table_row(cells):
    return "| " + " | ".join(cells) + " |"


def heading(first, columns):
    names = [first, *(HEADINGS.get(column, column) for column in columns)]
    return [table_row(names), "|" + "---|" * len(names)]


def verdict_of(verdicts, line):
    """The row about a chosen mutant, as its own: it may be that of another kernel (mutants.py)."""
    rows = {(row["file"] != line[1], *key_of(row)[1:]): row for row in reversed(verdicts)}
    for elsewhere in (False, True):
        found = [row for (other, *_), row in rows.items() if other == elsewhere and
                 gpu_list.is_chosen(line, (line[1], *key_of(row)[1:]))]
        if found:
            return {**found[-1], "file": line[1]}
    raise LookupError(f"no verdict fits gpu_list.py's {line[1:]}")


def measured(made, path):
    """The sentence of a page of docs that says where and how the record at `path` was made."""
    said = [made.get("gpu", ""), *(f"{name} {made[key]}" for name, key in
            (("driver", "driver"), ("CUDA", "toolkit")) if made.get(key)), made.get("date", "")]
    return (f"Measured: {', '.join(said)}, commit {made.get('commit', '?')}; "
            f"`{made.get('command', '?')}` ([record](results/{os.path.basename(path)})).")


def how_made(made):
    return [measured(made, RECORD), "",
            "The record has a row for each mutant and each unbroken kernel: how many of its runs "
            "were wrong,", "and what each tool reported first.", ""]


def noticed_by(row, verdict):
    """The columns of the sums that this mutant belongs to."""
    seen = {column for column in RUNS if found_by_run(row[column])}
    seen |= {tool for tool in TOOLS if found_by_tool(row[tool])}
    if row["compiler"] != "nothing":
        seen.add("compiler")
    if verdict != "survived":
        seen.add("simulator")
    return seen


def sums(rows, verdicts):
    """Who saw how many."""
    counts, missed, left_out = collections.defaultdict(collections.Counter), [], 0
    for line in gpu_list.CHOSEN:
        row = gpu_list.one(rows, line, key_of)
        seen = noticed_by(row, verdict_of(verdicts, line)["verdict"])
        for kind in (line[0], "all"):
            counts[kind].update(["mutants", *seen])
        left_out += sum(row[column] == "not run" for column in (*RUNS, *TOOLS))
        if not seen - {"simulator"}:
            missed.append(name_of(row))
    columns = ("mutants", "simulator", "compiler", *RUNS, *TOOLS)
    lines = ["How many mutants of each kind were noticed, and by what:", "",
             *heading("kind", columns)]
    lines += [table_row([kind, *(str(counts[kind][column]) for column in columns)])
              for kind in (*gpu_list.KINDS, "all")]
    lines.append("")
    if left_out:
        lines += [f"{left_out} runs are missing.", ""]
    lines += [f"Nothing on the GPU noticed {len(missed)}" + (":" if missed else "."), ""]
    return lines + [f"- {name}" for name in missed] + ([""] if missed else [])


def recorded(made, rows, verdicts):
    columns = (*RUNS, "tools")
    lines = how_made(made or {}) + sums(rows, verdicts)
    lines += ["### The kernels unbroken", "", *heading("kernel", columns)]
    lines += [table_row([row["kernel"], *(row[run] for run in RUNS), tools_said(row)])
              for row in rows if row["edit"] == "none" and not row["file"].startswith("beyond/")]
    return lines


def made_of(root):
    path = os.path.join(root, RECORD)
    lines = [NOT_RECORDED]
    if os.path.exists(path):
        _, verdicts = read_table(os.path.join(root, VERDICTS))
        lines = recorded(*read_table(path), verdicts)
    return "\n".join(["", *lines, "", ""])


def main():
    rewrite = "--write" in sys.argv[1:]
    roots = [argument for argument in sys.argv[1:] if argument != "--write"]
    if len(roots) != 1:
        complain("usage: gpu_page.py ROOT [--write]")
    path = os.path.join(roots[0], PAGE)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    begin, end = page.find(BEGIN + "\n"), page.find(END + "\n")
    if begin < 0 or end < begin:
        complain(f"{PAGE}: there is no {BEGIN} ... {END}")
    begin += len(BEGIN) + 1
    try:
        new = page[:begin] + made_of(roots[0]) + page[end:]
    except LookupError as error:
        complain(f"{error}; if the kernels have changed, record the section mutants anew")
    if new == page:
        return 0
    if not rewrite:
        print(f"{PAGE} is stale: build the target docs", file=sys.stderr)
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
