"""reworded_test.py ROOT WORK: pages are not a database. In a copy of the tree every sentence of
docs/museum.md and docs/debugging.md is another one; cases, exhibits and hazards are what they were, but
for the stories that the museum's page quotes whole.
"""

import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "live"))
import museum_cases
import exhibits
import hazards

PAGES = ("docs/museum.md", "docs/debugging.md")
SENTENCE = "Quite another sentence."
KEPT = re.compile(r"^(<!--|#|```|\s*$)")  # markers, headings, fences, blank lines


def reworded(text):
    """Each line of prose and of tables says something else, outside of what is generated."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        lines.append(line if fenced or KEPT.match(line) else
                     "| Quite | another | thing |" if line.startswith("|") else SENTENCE)
    return "\n".join(lines)


def told(root):
    """What the practice and the museum's page have of the exhibits, without the stories."""
    found, about = museum_cases.load(root)
    stories = [about[name].pop("story") for name in about]
    for case in found:
        case["explanation"] = case["explanation"].removeprefix(stories[list(about).index(case["exhibit"])])
    return found, about, hazards.verdicts()


def main():
    root, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "docs"))
    os.symlink(os.path.join(root, "common"), os.path.join(work, "common"))
    for name in os.listdir(os.path.join(root, "docs")):
        path = os.path.join(root, "docs", name)
        if f"docs/{name}" not in PAGES:
            os.symlink(path, os.path.join(work, "docs", name))
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert reworded(text) != text
        with open(os.path.join(work, "docs", name), "w", encoding="utf-8") as file:
            file.write(reworded(text))
    before, after = told(root), told(work)
    others = [one["story"] for one in exhibits.read(work).values()
              if one["story"].replace(SENTENCE, "").strip()]
    if before != after or len(before[0]) < 20 or others:
        print(f"reworded pages change what is read of {len(before[0])} cases; old stories: {others}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
