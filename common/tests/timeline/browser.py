#!/usr/bin/env python3
"""Opens report pages in a headless Chromium, from file://, as readers do: on a desktop and on a
phone, in light and dark.

browser.py GOOD.html BROKEN.html

GOOD is a report of kernels that are right, BROKEN of one with a hazard. GOOD also checks itself
(page/selftest.js). Exit code 0: passed; 1: failed; 77: there is no Chromium (skipped).
"""
import os
import sys
import urllib.parse

sys.dont_write_bytecode = True  # what follows lies in the source tree
import chromium

SCREENS = [(width, height, phone, dark) for width, height, phone in
           ((1366, 768, False), (390, 844, True)) for dark in (False, True)]
failures = 0

# Elements, but for what scrolls within itself, that reach beyond the screen.
BEYOND = """[...document.querySelectorAll("#page *")].filter(node => {
    const box = node.getBoundingClientRect();
    return box.width && (box.right > document.documentElement.clientWidth + 1 || box.left < -1);
  }).map(node => node.tagName + "#" + node.id + "." + node.className).slice(0, 5).join(" ")"""
STATE = """[view.from, view.to, barrier.step.name, shortName(barrier.which), barrier.at,
    view.steps.filter(step => !step.visible).map(step => step.name).join()].join(" ")"""
WIDTHS = """[...document.querySelectorAll("#results tbody tr")].map(row =>
    [...row.cells].filter(cell => cell.querySelector(".bar")).map(cell =>
      [parseFloat(cell.textContent), cell.querySelector(".bar i").getBoundingClientRect().width,
       cell.dataset.title]))"""


def check(what, good, detail=""):
    global failures
    failures += not good
    print(f"{'ok' if good else 'FAILED'}: {what}" + (f" ({detail})" if detail else ""), flush=True)


def rounded(state):
    """The ends of the view are whole cycles in an address."""
    start, end, *rest = state.split(" ")
    return [round(float(start)), round(float(end)), *rest]


def place_of_span(browser):
    """A load on the screen, in the middle of the window: its place, and where it ends."""
    return browser.run("""(() => {
        fit();
        const row = view.rows.find(row => row.lane.kind === TRACK_SLOT && row.lane.count > 1 &&
          row.step.timeline.barriers.length);
        const lane = row.lane, i = lane.type.findIndex((type, i) => i > 0 && type === SPAN_LOAD);
        show(lane.begin[i] - 300, lane.end[i] + 300);
        scrollTo(0, byId("lanes").getBoundingClientRect().top + scrollY + row.y - innerHeight / 2);
        const box = byId("lanes").getBoundingClientRect();
        return [box.left + placeOf((lane.begin[i] + Math.min(lane.end[i], lane.begin[i] + 400)) / 2),
          box.top + row.y + row.height / 2, lane.end[i], row.step.name];
      })()""")


def check_links(browser, url):
    """What is shown is in the address, and comes back with it."""
    x, y, end, step = place_of_span(browser)
    browser.click(x, y)
    chosen = browser.until(f"""barrier.step.name === {step!r} &&
        Math.abs(eventOf(barrier.which, barrier.at).cycle - {end}) <= 2""")
    check("a click on a load goes to the event of its barrier at its end", chosen,
          browser.run("byId('barrier-position').textContent"))
    browser.run("view.steps[0].box.click()")
    browser.run("show(view.cursor.time - 15, view.cursor.time + 15); stepBy(-1000)")
    check("the timelines follow the event", browser.run(
        "view.cursor.time >= view.from && view.cursor.time <= view.to"))
    browser.settle()
    before, address = browser.run(STATE), browser.run("location.hash")
    check("the link has the address", browser.run("byId('link').getAttribute('href')") == address)
    browser.open(url + address)
    after = browser.run(STATE)
    check("the address brings the view back", rounded(before) == rounded(after),
          f"{address}: {before}, {after}")
    browser.run("location.hash = '#step=' + encodeURIComponent(view.steps[2].name)")
    check("a step's link scrolls to it", browser.until("""(() => {
        const heading = view.headings.find(heading => heading.step === view.steps[2]);
        const y = byId("lanes").getBoundingClientRect().top + heading.y;
        return y >= 0 && y < innerHeight / 2;
      })()"""))


def check_fingers(browser):
    x, y, *_ = place_of_span(browser)
    scroll, start, end = browser.run("[scrollY, view.from, view.to]")
    browser.touch(((x, y), (x, y - 200)))
    check("a vertical swipe on the timelines scrolls the page",
          browser.until(f"scrollY > {scroll} + 100") and browser.run("view.from") == start,
          f"from {scroll} to {browser.run('scrollY')}")
    x, y, *_ = place_of_span(browser)
    start, end = browser.run("[view.from, view.to]")
    browser.touch(((x - 40, y), (x - 100, y)), ((x + 40, y), (x + 100, y)))
    check("a pinch zooms", browser.until(f"view.to - view.from < 0.7 * ({end} - {start})"),
          f"{end - start} to {browser.run('view.to - view.from')}")
    x, y, *_ = place_of_span(browser)
    start = browser.run("view.from")
    browser.touch(((x, y), (x - 100, y)))
    check("a horizontal swipe pans", browser.until(f"view.from > {start}"))
    x, y, *_ = place_of_span(browser)
    browser.touch(((x, y), (x, y)))
    check("a tap names the span", browser.until("!byId('tooltip').hidden"))


def check_fit(browser):
    browser.run("fit()")
    shown, shortest, longest = browser.run("""[view.to, ...(ends => [Math.min(...ends),
        Math.max(...ends)])(view.steps.map(step => step.shownEnd))]""")
    check("Fit shows what is drawn", shortest <= shown <= 1.02 * longest)
    browser.run("""view.steps[0].shownEnd = view.end = 100 * view.steps[1].shownEnd; fit()""")
    check("Fit does not let a long step shrink the others", browser.run("view.to") <= shown,
          f"{shown}, then {browser.run('view.to')}")
    browser.run("relayOut(); beginning()")


def check_bars(browser):
    bars = {}
    for row in browser.run(WIDTHS):
        for number, width, title in row:
            bars.setdefault(title, []).append((number, width))
    for title, pairs in bars.items():
        pairs.sort()
        check(f"the bars of '{title}' grow with their numbers", all(
            a[1] <= b[1] + 0.5 for a, b in zip(pairs, pairs[1:])) and pairs[0][1] < pairs[-1][1])
    check("there are bars", bars)


def check_good(browser, url, phone, dark):
    check("nothing is beside the screen", not browser.run(BEYOND), browser.run(BEYOND))
    check_bars(browser)
    check_fit(browser)
    check("a note above a timeline has room", browser.run("""view.headings.every(heading => {
        const pen = byId("lanes").getContext("2d");
        pen.font = "600 13px system-ui, sans-serif";
        return view.narrow || pen.measureText(heading.step.name).width < view.width / 2;
      })"""))
    if phone:
        browser.run("stepBy(8)")
        check("nothing of a barrier's events is beside the screen", not browser.run(BEYOND),
              browser.run(BEYOND))
        check_fingers(browser)
    else:
        check_links(browser, url)
    if not dark and not phone:
        browser.send("Emulation.setEmulatedMedia", media="print")
        browser.run("dispatchEvent(new Event('beforeprint'))")
        check("nothing is beside the paper", not browser.run(BEYOND), browser.run(BEYOND))
        browser.run("dispatchEvent(new Event('afterprint'))")
        browser.send("Emulation.setEmulatedMedia", media="")


def check_broken(browser, path):
    check("nothing is beside the screen", not browser.run(BEYOND), browser.run(BEYOND))
    text = browser.run("byId('hazards').innerText")
    for words in ("missing-proxy-fence-after-read", "kernel.cu:103", "kernel.cu:71", "tma_load(", "ldmatrix",
                  "each reading thread needs fence_proxy_async()"):
        check(f"the hazard says {words}", words in text)
    check("both accesses are in view", browser.run("""(marks => marks.length === 2 &&
        marks.every(side => side.time > view.from && side.time < view.to))(
          marksOf(view.steps[0].hazards[0]))"""))
    red = browser.run("""(() => {
        draw();
        const heading = view.headings[0], ratio = devicePixelRatio;
        return marksOf(heading.step.hazards[0]).map(side => [...byId("lanes").getContext("2d")
          .getImageData(Math.round(placeOf(side.time) * ratio - 0.5),
            (heading.bottom - 1) * ratio - 1, 1, 1).data]);
      })()""")
    check("and have a red line each", all(r > g + 60 and r > b + 60 for r, g, b, _ in red), red)
    link = browser.run("document.querySelector('.hazard a').getAttribute('href')")
    page, _, anchor = urllib.parse.unquote(link).partition("#")
    page = os.path.join(os.path.dirname(os.path.realpath(path)), page)
    check("its link leads to the explanation", os.path.exists(page) and
          f'<a id="{anchor}">' in open(page, encoding="utf-8").read(), link)
    check("the result is called a hazard", browser.run(
        "document.querySelector('#results .bad').textContent") == "hazard")


def main():
    good, broken = sys.argv[1:]
    try:
        browser = chromium.Browser()
    except FileNotFoundError as missing:
        print(f"skipped: {missing}")
        return 77
    try:
        for width, height, phone, dark in SCREENS:
            print(f"---- {'phone' if phone else 'desktop'}, {'dark' if dark else 'light'}")
            browser.screen(width, height, phone, dark)
            browser.open("file://" + good)
            check_good(browser, "file://" + good, phone, dark)
            browser.screen(width, height, phone, dark)
            browser.open("file://" + broken)
            check_broken(browser, broken)
        browser.screen(1366, 768, False, False)
        # But for Chromium's advice about reading pixels, which only tests do.
        said = [text for text in browser.console if "willReadFrequently" not in text]
        check("nothing is on the console", not said, "; ".join(said))
        browser.open("file://" + good + "#selftest")
        said = browser.run("byId('selftest').textContent")
        check("the page's own test passes", "selftest: passed" in said, said)
    except RuntimeError as reason:
        check("the browser answers", False, reason)
    finally:
        browser.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
