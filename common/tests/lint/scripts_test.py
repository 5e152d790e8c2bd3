"""scripts_test.py ROOT WORK: the pages' scripts, type-checked by TypeScript's compiler: names that are not
there, calls with other arguments, members that an object does not have. Exit code: 77 without tsc.

A page's scripts are one program, and no modules: each finds the names of the others. So each page is
checked by itself, and a file in the first page that has it. Then each of some mistakes must be found.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

ROOT, WORK = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "common", "live"))
import one_file

LIVE, TIMELINE, SITE = "common/live/page", "common/timeline/page", "docs/site/static"
PAGES = {
    "timeline": [os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/{TIMELINE}/*.js")],
    **{page: [os.path.normpath(f"{LIVE}/{name}.js") for name in scripts]
       for page, scripts in one_file.SCRIPTS.items()},
    "run": ["common/live/run.js"],
    **{name: [f"{SITE}/{name}.js"] for name in ("lines", "beside", "search")}}
# page: (file, text, replacement, what the compiler says)
MISTAKES = {"live": (f"{LIVE}/main.js", "selectChapter(byId(", "selectChapters(byId(", "Cannot find name"),
            "ring": (f"{LIVE}/ring.js", "stages: 4", "stage: 4", "does not exist"),
            "timeline": (f"{TIMELINE}/play.js", "goTo(0)", "goTo(0, 1, 2)", "arguments")}


def said(page, root):
    """What the compiler says of the page's files, {file: [message]}."""
    run = subprocess.run(["tsc", "--noEmit", "--allowJs", "--checkJs", "--target", "es2022", "--lib",
                          "es2022", "--pretty", "false", os.path.join(HERE, "browser.d.ts"), *PAGES[page]],
                         cwd=root, capture_output=True, text=True, check=False)
    messages = {}
    for line in run.stdout.splitlines():
        place = re.match(r"([^\s(]+)\(\d+,\d+\): ", line)
        if place:
            messages.setdefault(os.path.relpath(place.group(1), "."), []).append(line)
    return messages


def main():
    if not shutil.which("tsc"):
        print("skipped: there is no tsc (Debian: node-typescript)")
        return 77
    failures, seen = 0, set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for page, messages in zip(PAGES, pool.map(lambda page: said(page, ROOT), PAGES)):
            for file in [file for file in PAGES[page] if file not in seen] + \
                    [file for file in messages if file not in PAGES[page]]:
                for message in messages.get(file, ()):
                    print(f"{page}: {message}")
                    failures += 1
            seen.update(PAGES[page])
    found = {os.path.relpath(path, ROOT) for folder in ("common", "beyond", "library", "docs")
             for path in glob.glob(f"{ROOT}/{folder}/**/*.js", recursive=True)}
    for file in sorted(found - seen):
        print(f"{file} is in no page of scripts_test.py")
        failures += 1
    for page, (file, text, replacement, expected) in MISTAKES.items():
        shutil.rmtree(WORK, ignore_errors=True)
        for name in PAGES[page]:
            os.makedirs(os.path.dirname(os.path.join(WORK, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(WORK, name))
        with open(os.path.join(WORK, file), encoding="utf-8") as source:
            before = source.read()
        with open(os.path.join(WORK, file), "w", encoding="utf-8") as source:
            source.write(before.replace(text, replacement, 1))
        if before.replace(text, replacement, 1) == before or \
                not any(expected in message for message in said(page, WORK).get(file, ())):
            print(f"not found in {file}: {replacement}")
            failures += 1
    return 1 if failures else 0


sys.exit(main())
