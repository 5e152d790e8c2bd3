"""break_added.py ROOT WORK KERNELS.JSON COMPILER ARGUMENT...: a break that is added in one place, the store, is on the page
that names it, with edit, report and link; in the gallery; on the live page; in the practice; and what it
reports is tested. In a copy of the tree, with the kernels as they are. COMPILER and what follows is what
shown_breaks.py wants.
"""

import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT, WORK, KERNELS, *COMPILE = sys.argv[1:]
TREE, PAGE = os.path.join(WORK, "tree"), "docs/page.md"
CHAPTERS = sorted(name for name in os.listdir(ROOT) if name.startswith("0"))
ADDED = """
BREAKS["02_smem_tiled"].append(Break(
    "chunks-left-out", Replace("        st_shared_b128(&shared[", "        if (i > 0) st_shared_b128(&shared["),
    "--size 128", gallery=("the first chunks are not stored", ORDER), reports="uninitialized-shared",
    asks={"deadlock": "No thread waits for it."}, because="What is not stored is read."))
"""


def copy():
    """The tree as links, but for the store, and a page that shows the break."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(os.path.join(TREE, "docs"))
    os.makedirs(os.path.join(TREE, "common"))
    for name in os.listdir(os.path.join(ROOT, "common")):
        if name != "breaks":
            os.symlink(os.path.join(ROOT, "common", name), os.path.join(TREE, "common", name))
    shutil.copytree(os.path.join(ROOT, "common/breaks"), os.path.join(TREE, "common/breaks"))
    for name in CHAPTERS:
        os.symlink(os.path.join(ROOT, name), os.path.join(TREE, name))
    with open(os.path.join(TREE, "common/breaks/authored.py"), "a", encoding="utf-8") as file:
        file.write(ADDED)
    with open(os.path.join(TREE, PAGE), "w", encoding="utf-8") as file:
        file.write("<!-- break: 02.chunks-left-out -->\n")


def run(script, *arguments):
    return subprocess.run([sys.executable, os.path.join(TREE, "common", script), *arguments], text=True,
                          env=dict(os.environ, HOPPER_BOOK="tree"), capture_output=True, check=False)


def page():
    with open(os.path.join(TREE, PAGE), encoding="utf-8") as file:
        return file.read()


def main():
    wrong = []

    def expect(what, good):
        if not good:
            wrong.append(what)

    copy()
    shown = ("--only", PAGE, TREE, os.path.join(WORK, "shown"), *COMPILE)
    run("breaks/shown_breaks.py", "--write", *shown)
    expect("the page has the edit", "+        if (i > 0) st_shared_b128(" in page())
    expect("the page has the report", "hazard: uninitialized-shared: 02_smem_tiled" in page())
    expect("its report is held", run("breaks/shown_breaks.py", *shown).returncode == 0)
    with open(os.path.join(TREE, PAGE), "a", encoding="utf-8") as file:
        file.write(page().replace("uninitialized-shared", "data-race"))
    expect("another would not pass", run("breaks/shown_breaks.py", *shown).returncode == 1)

    kernels = os.path.join(WORK, "kernels")
    run("live/switches.py", TREE, kernels, KERNELS, *CHAPTERS)
    run("live/run_links.py", TREE, kernels)
    with open(os.path.join(kernels, "live.json"), encoding="ascii") as file:
        live = json.load(file)
    expect("the live page has it", any(one["name"] == "chunks-left-out" for one in live["kernels"]))
    expect("the page has the link", "#chapter=02&" in page() and "break=chunks-left-out" in page())

    sys.path[:0] = [os.path.join(TREE, "common", name) for name in ("live", "breaks", "tools/gallery")]
    import hand_made_cases
    from house_kernels import House
    case = {one["id"]: one for one in hand_made_cases.cases(live, TREE)}.get("02-chunks-left-out", {})
    expect("the practice asks for it", case.get("answer") == "uninitialized-shared")
    expect("the gallery has it",
           "chunks-left-out" in {one.name for one in House(TREE, "", KERNELS).written})
    for what in wrong:
        print(f"not so: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
