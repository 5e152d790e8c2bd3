#!/usr/bin/env python3
"""corpus.py fetch DIR | table [--check]: public kernels that hopper_check has run.

`fetch` brings each origin (origins.tsv) into DIR, at its commit, from GitHub. `table` writes what
stands between the markers of README.md from kernels.tsv, findings.tsv and breaks.tsv; with --check
it fails if something else stands there. Exit code: 0 done, 1 the page is another, 2 usage.
"""
import collections
import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VERDICTS = ("seen", "letter", "doubtful", "false")
BREAKS = 3  # of each clean kernel
ENDED = ("clean", "findings")  # every run was made up to its end, or up to a finding


def rows(name):
    with open(os.path.join(HERE, name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def fetch(into):
    for origin in rows("origins.tsv"):
        where = os.path.join(into, origin["origin"])
        address = f"https://github.com/{origin['repository']}"
        git = ["git", "-C", where]
        os.makedirs(where, exist_ok=True)
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "fetch", "-q", "--depth", "1", address, origin["commit"]], check=True)
        subprocess.run([*git, "checkout", "-q", "FETCH_HEAD"], check=True)


def table(head, body):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for line in body:
        yield "| " + " | ".join(str(cell) for cell in line) + " |"


def by_origin(kernels, findings):
    body = []
    for origin in [*rows("origins.tsv"), None]:
        of = [k for k in kernels if not origin or k["origin"] == origin["origin"]]
        found = [f for f in findings if not origin or f["origin"] == origin["origin"]]
        verdicts = collections.Counter(f["verdict"] for f in found)
        name = (f"[{origin['origin']}](https://github.com/{origin['repository']}/tree/"
                f"{origin['commit']})" if origin else "together")
        body.append([name, len(of), sum(k["verdict"] in ENDED for k in of),
                     sum(k["result"].startswith(("exact", "near", "as it")) for k in of),
                     sum(k["verdict"] == "clean" for k in of),
                     *(verdicts[v] for v in VERDICTS)])
    return table(("origin", "kernels", "ran to the end", "right", "clean", *VERDICTS), body)


def of_breaks(kernels, breaks):
    """The clean kernels of each origin, how many of them have three breaks that are reported, and
    their breaks."""
    for row in breaks:
        if not any(k["origin"] == row["origin"] and k["kernel"] == row["kernel"] and
                   k["verdict"] == "clean" for k in kernels):
            sys.exit(f"breaks.tsv: {row['origin']}, {row['kernel']} is no clean kernel")
    reported = [b for b in breaks if not b["reported"].startswith("-")]
    times = collections.Counter((b["origin"], b["kernel"]) for b in reported)
    body = []
    for origin in [*rows("origins.tsv"), None]:
        of = [k for k in kernels
              if k["verdict"] == "clean" and (not origin or k["origin"] == origin["origin"])]
        if of:
            here = {(k["origin"], k["kernel"]) for k in of}
            body.append([origin["origin"] if origin else "together", len(of),
                         sum(times[k] >= BREAKS for k in here),
                         sum((b["origin"], b["kernel"]) in here for b in breaks),
                         sum((b["origin"], b["kernel"]) in here for b in reported)])
    return table(("origin", "clean kernels", "with three breaks", "breaks", "reported"), body)


def page():
    kernels, findings, breaks = rows("kernels.tsv"), rows("findings.tsv"), rows("breaks.tsv")
    parts = {
        "origins": by_origin(kernels, findings),
        "findings": table(("kernel", "rule", "lines", "section", "verdict", "second reading"),
                          ((f"{f['origin']}, {f['kernel']}", f"`{f['rule']}`", f["lines"],
                            f["section"], f["verdict"], f["second"] or "-") for f in findings)),
        "breaks": of_breaks(kernels, breaks),
    }
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        lines, keep = [], True
        for line in file.read().splitlines():
            keep = keep or line == "<!-- end -->"
            if keep:
                lines.append(line)
            if line.startswith("<!-- corpus: "):
                lines += ["", *parts[line.split()[2]], ""]
                keep = False
    return "\n".join(lines) + "\n"


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "fetch":
        return fetch(arguments[1])
    if arguments not in (["table"], ["table", "--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    readme, wanted = os.path.join(HERE, "README.md"), page()
    if arguments[-1] == "--check":
        with open(readme, encoding="utf-8") as file:
            same = file.read() == wanted
        print("" if same else "README.md: corpus.py table makes another one", end="")
        return 0 if same else 1
    with open(readme, "w", encoding="utf-8") as file:
        file.write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
