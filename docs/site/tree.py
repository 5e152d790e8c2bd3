"""What the site shows of the repository: the pages in reading order, and the sources with a page of
their own. Paths are from the root, with /; nothing is listed by hand, so that a page that is added
is on the site."""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "common" / "tools" / "book"))
import links

CHAPTER = re.compile(r"\d\d_")
SOURCE = re.compile(r".*(\.(cu|c|h|py|sh|cmake)|CMakeLists\.txt)")


def walk(root):
    """All files but those of hidden folders and of build folders."""
    for folder, folders, names in os.walk(root):
        inside = Path(folder).relative_to(root)
        folders[:] = sorted(name for name in folders if name[0] != "."
                            and not os.path.exists(f"{folder}/{name}/CMakeCache.txt"))
        if inside == Path("."):
            folders[:] = [name for name in folders if name != "build"]
        yield from ((inside / name).as_posix() for name in sorted(names))


def part(page):
    """Where a page belongs: the caption in the contents."""
    if page == "README.md":
        return ""
    if CHAPTER.match(page):
        return "Chapters"
    if page.startswith("beyond/"):
        return "Part two"
    if page.startswith("library/"):
        return "The library"
    return "Questions" if page.startswith("docs/questions/") else "Reference"


def rank(page):
    """By this, the pages of a part are in order: a folder's README before its other pages, chapters
    first, what is recorded and how to contribute at the end."""
    words = page.split("/")
    late = "results" in words or words[-1] == "CONTRIBUTING.md"
    chapter = any(CHAPTER.match(word) for word in words)
    return (late, page not in ("beyond/README.md", "library/README.md"), not chapter, words[:-1],
            words[-1] != "README.md", words[-1])


def parts(root=ROOT):
    """The captions, in order, each with its pages."""
    found = {"": [], "Chapters": [], "Part two": [], "The library": [], "Reference": [],
             "Questions": []}
    for page in walk(root):
        if page.endswith(".md"):
            found[part(page)].append(page)
    return {caption: sorted(pages, key=rank) for caption, pages in found.items() if pages}


def pages(root=ROOT):
    return [page for of_part in parts(root).values() for page in of_part]


def targets(root, page):
    """The files of the repository to which a page links."""
    text = (root / page).read_text(encoding="utf-8")
    for target in links.TARGET.findall(text):
        file = target.partition("#")[0]
        if file and "://" not in file:
            yield os.path.normpath(os.path.join(os.path.dirname(page), file)).replace(os.sep, "/")


def listings(root=ROOT):
    """The sources that have a page: those of the chapters, what they include, what a page links
    to."""
    linked = {target for page in pages(root) for target in targets(root, page)}
    shown = re.compile(r"(beyond/)?\d\d_[^/]*/[^/]*|common/(hopper/)?[^/]*\.h|"
                       r"(common|beyond)/building_blocks/[^/]*\.h")
    return [path for path in walk(root)
            if SOURCE.fullmatch(path) and (path in linked or shown.fullmatch(path))]


def source(path):
    """A source as the book has it: common/tools/book/book_text.sh."""
    script = ROOT / "common" / "tools" / "book" / "book_text.sh"
    return subprocess.run([script, ROOT, path], capture_output=True, check=True).stdout.decode(
        "utf-8", "replace")


def html(path):
    """The site's file for a page or a listing."""
    if path.endswith(".md"):
        return document(path) + ".html"
    return path + ".html"


def document(page):
    """A page's name for Sphinx. README.md is a folder's first page, as on GitHub."""
    return re.sub(r"(^|/)README$", r"\1index", page.removesuffix(".md"))


def repository(root=ROOT):
    """The repository's address on GitHub, for links to what is not on the site; "" if there is
    none."""
    if "GITHUB_REPOSITORY" in os.environ:
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{os.environ['GITHUB_REPOSITORY']}"
    try:
        url = subprocess.run(["git", "-C", root, "remote", "get-url", "origin"], text=True,
                             capture_output=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
    found = re.search(r"github\.com[:/]([^/]+/[^/]+?)(\.git)?$", url)
    return f"https://github.com/{found.group(1)}" if found else ""
