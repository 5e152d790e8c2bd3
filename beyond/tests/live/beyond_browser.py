"""beyond_browser.py PAGE CHROMIUM [--all]: a live page of part two as a reader uses it, from file://, at
a desktop's and a phone's width, light and dark.

A switch and the link that restores it; some links of the READMEs. Of beyond.html options of a kind of
problem, and the runs in the background, whose options are drawn, too. With --all every chapter and
every variant, every link, every switch of every chapter's kernel.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "common" / "tests" / "live"))
from live_browser import SECOND, drive, every_switch, expect, look, open_at, settled, switch
from live_runs import seed
sys.path.append(str(ROOT / "common" / "tools" / "book"))
import live_links

LINK = re.compile(r"\]\([^)#]*#(chapter=1[^)]*)\)")


@dataclass
class Page:
    most: int   # bytes
    links: int  # at least, to it in the READMEs
    parts: tuple


def kernels(page):
    for chapter in page.evaluate("book.chapters.map(one => one.name)"):
        open_at(page, f"#chapter={chapter[:2]}")
        variants = page.evaluate("""kernelsOf(state.chapter).filter(one => one.kind === "variant")
            .map(one => one.name)""")
        for variant in ["", *variants]:
            verdict = open_at(page, f"#chapter={chapter[:2]}&variant={variant}")
            expect(verdict.startswith("Verified"), f"{chapter}, {variant}: {verdict}")


def options(page):
    """A value that the kind takes, one that it refuses, and a k that is not to be chosen."""
    open_at(page, "#chapter=16")
    expect(page.locator("#k").is_disabled(), "k is to be chosen")
    page.select_option("#mask", "causal")
    page.fill("#heads", "4")
    page.fill("#kv-heads", "2")
    page.click("#run")
    expect(settled(page).startswith("Verified"), "heads, kv-heads, mask")
    words = page.evaluate("location.hash")
    expect(words == "#chapter=16_attention&heads=4&kv-heads=2&mask=causal", words)
    page.fill("#kv-heads", "3")
    page.click("#run")
    page.wait_for_selector("#verdict.bad", timeout=60 * SECOND)
    expect("must be a multiple" in page.inner_text("#verdict"), page.inner_text("#verdict"))
    page.select_option("#chapter", label="15_grouped_gemm")
    expect(settled(page).startswith("Verified"), "15 after 16")
    expect(page.locator("#heads").count() == 0, "15 has heads")


def links(page):
    """What each is to say, links_test.py holds; here, that the page opens in that state."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "beyond").glob("*/README.md")]
    found = sorted(f"#{state}" for text in texts for state in LINK.findall(text)
                   if live_links.page_of(state) == NAME)
    expect(len(found) >= PAGES[NAME].links, f"{len(found)} links")
    open_at(page)
    found += page.eval_on_selector_all("header a[href^='#']", "all => all.map(one => one.hash)")
    every = 1 if "--all" in sys.argv or len(found) < 20 else 10
    for state in found[seed() % every::every]:
        verdict = open_at(page, state.replace("&predict=1", ""))
        differs = page.evaluate("state.off.size || kernelHere() ? 1 : 0")
        right = page.evaluate("!state.off.size && kernelHere()?.kind === 'variant'")
        expect(differs, f"{state} opens the kernel as it is")
        expect(verdict.startswith("Verified") == right, f"{state}: {verdict}")


def background(page):
    """A line whose absence the usual run does not show."""
    lines = (ROOT / "beyond/16_attention/kernel.cu").read_text(encoding="utf-8").splitlines()
    line = 1 + lines.index("    if (elected) bulk_wait_group_read(0);")
    open_at(page, f"#chapter=16&off=kernel.cu:{line}")
    page.locator("#background button").click(timeout=120 * SECOND)
    page.wait_for_selector("#verdict.bad", timeout=60 * SECOND)


NAME = Path(sys.argv[1]).name
PAGES = {"beyond.html": Page(450000, 40, (options, background)), "blackwell.html": Page(350000, 30, ())}


def every_part(page):
    for part in (look, switch, links, *PAGES[NAME].parts):
        part(page)
    if "--all" in sys.argv:
        kernels(page)
        every_switch(page, page.evaluate("book.chapters.map(one => one.name.slice(0, 2))"))


if __name__ == "__main__":
    sys.exit(drive(every_part, PAGES[NAME].most))
