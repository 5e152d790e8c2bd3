#!/usr/bin/env python3
"""Opens every page of the site in Chromium, from file://, and looks at it as a reader would.
site_browser.py SITE QUESTIONS CHROMIUM

At a desktop's and a phone's width, light and dark: no error on the console, no page wider than the
window, dark pages dark. The phone's contents open, the switch of light and dark works, a listing's
lines are marked, a print has the text alone; no word of code is broken in two that a line has room
for, and no line of 100 columns is cut. For each line of QUESTIONS, a question and the right pages, one of these is among the search's
first three.

Exit code: 0 all is well, 1 complaints on stderr.
"""
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(sys.argv[1]).resolve()
WIDTHS = {"desktop": (1280, 720), "phone": (390, 844)}
DARKEST_OF_LIGHT = 128
LIGHT = """() => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
  return (r + g + b) / 3;
}"""
BROKEN = """() => [...document.querySelectorAll("article code.literal .pre")].filter(word =>
    word.innerText.length < 40 &&
    word.offsetHeight > 2.2 * parseFloat(getComputedStyle(word).fontSize))
    .map(word => word.innerText)"""
CUT = """() => [...document.querySelectorAll("article pre")].filter(code =>
    code.scrollWidth > code.clientWidth &&
    code.innerText.split("\\n").every(line => line.length <= 100))
    .map(code => code.innerText.slice(0, 80))"""
WIDER = "() => document.documentElement.scrollWidth - innerWidth"
complaints = 0


def complain(place, text):
    global complaints
    complaints += 1
    print(f"{place}: {text}", file=sys.stderr)


def look(page, name):
    for width, (w, h) in WIDTHS.items():
        page.set_viewport_size({"width": w, "height": h})
        wider = page.evaluate(WIDER)
        if wider > 0:
            complain(name, f"{wider} px wider than a {width}")
        broken = page.evaluate(BROKEN) if width == "desktop" else []
        if broken:
            complain(name, f"broken in two: {broken[0]}")
        cut = page.evaluate(CUT) if width == "desktop" else []
        if cut:
            complain(name, f"{len(cut)} boxes of code are cut: {cut[0]}")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if (page.evaluate(LIGHT) > DARKEST_OF_LIGHT) != (scheme == "light"):
                complain(name, f"not {scheme} on a {width}")


def use(page):
    """What needs a click."""
    page.set_viewport_size(dict(zip(("width", "height"), WIDTHS["phone"])))
    page.goto((SITE / "index.html").as_uri())
    page.click("label.nav-overlay-icon")
    page.wait_for_timeout(500)
    if not page.is_visible(".sidebar-tree a") or page.locator(".sidebar-drawer").bounding_box()["x"]:
        complain("index.html", "the contents do not open on a phone")
    page.set_viewport_size(dict(zip(("width", "height"), WIDTHS["desktop"])))
    page.emulate_media(color_scheme="light")
    page.goto((SITE / "index.html").as_uri())
    for _ in range(2):  # auto, the opposite of the system's, the system's
        if page.evaluate(LIGHT) > DARKEST_OF_LIGHT:
            page.click(".theme-toggle-content button")
    if page.evaluate(LIGHT) > DARKEST_OF_LIGHT:
        complain("index.html", "the switch does not make it dark")
    page.evaluate("localStorage.clear()")
    page.goto((SITE / "01_naive" / "kernel.cu.html").as_uri() + "#L10-L12")
    page.wait_for_timeout(200)
    if page.locator(".line.marked").count() != 3:
        complain("01_naive/kernel.cu.html", "#L10-L12 does not mark three lines")
    page.emulate_media(media="print")
    for part in (".sidebar-drawer", ".mobile-header", ".skip-to-content"):
        if page.locator(part).evaluate("node => getComputedStyle(node).display") != "none":
            complain("01_naive/kernel.cu.html", f"{part} is printed")
    page.emulate_media(media="screen")


def ask(page, question, wanted):
    page.goto((SITE / "index.html").as_uri())
    page.fill("input.sidebar-search", question)
    page.press("input.sidebar-search", "Enter")
    page.wait_for_selector("#search-results a.page")
    hits = page.eval_on_selector_all("#search-results a.page",
                                     "all => all.slice(0, 3).map(a => a.getAttribute('href'))")
    right = [path.replace("README.md", "index.md").replace(".md", ".html") for path in wanted]
    if not set(hits) & set(right):
        complain("search.html", f"'{question}' finds {', '.join(hits)}, not {', '.join(right)}")


def look_into_search(page):
    """A misspelt word is searched for as it is meant, and no markup is among the texts."""
    page.goto((SITE / "search.html").as_uri() + "?q=swizzel")
    page.wait_for_selector("#search-results a.page")
    better = page.inner_text("#search-note a")
    if better != "swizzle" or "docs/layouts.html" not in page.inner_html("#search-results"):
        complain("search.html", f"of swizzel it says {page.inner_text('#search-note')}")
    page.fill("#search-words", "swizzle")
    if page.inner_text("#search-note"):
        complain("search.html", f"of swizzle it says {page.inner_text('#search-note')}")
    marked = page.evaluate(
        "PAGES.flatMap(page => page.sections).filter(one => /<a id=/.test(one))")
    if marked:
        complain("search.html", f"markup in a section's text: {str(marked[0])[:200]}")


def main(questions, chromium):
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    with sync_playwright() as playwright:
        # Root (in a container) may run it only without its sandbox; the pages are our own.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("console", lambda message: message.type in ("error", "warning")
                and complain(page.url, f"on the console: {message.text}"))
        page.on("pageerror", lambda error: complain(page.url, f"an error: {error}"))
        page.on("requestfailed", lambda request: complain(page.url, f"not there: {request.url}"))
        for name in names:
            page.goto((SITE / name).as_uri())
            look(page, name)
        use(page)
        look_into_search(page)
        lines = Path(questions).read_text(encoding="utf-8").splitlines()
        for line in lines:
            question, wanted = line.split("\t")
            ask(page, question, wanted.split())
        browser.close()
    if complaints:
        return 1
    print(f"{len(names)} pages, {len(lines)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[2:]))
