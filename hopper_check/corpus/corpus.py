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


def of_breaks(breaks):
    body = []
    for origin in sorted({b["origin"] for b in breaks}, key=str.lower):
        of = [b for b in breaks if b["origin"] == origin]
        body.append([origin, len({b["file"] for b in of}), len(of),
                     sum(b["reported"] != "-" for b in of)])
    return table(("origin", "kernels", "breaks", "reported"), body)


def page():
    kernels, findings, breaks = rows("kernels.tsv"), rows("findings.tsv"), rows("breaks.tsv")
    parts = {
        "origins": by_origin(kernels, findings),
        "findings": table(("kernel", "rule", "lines", "section", "verdict", "second reading"),
                          ((f"{f['origin']}, {f['kernel']}", f"`{f['rule']}`", f["lines"],
                            f["section"], f["verdict"], f["second"] or "-") for f in findings)),
        "breaks": of_breaks(breaks),
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
