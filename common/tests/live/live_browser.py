"""live_browser.py PAGE CHROMIUM [--all]: the live page as a reader uses it, from file://, at a desktop's
and a phone's width, light and dark.

The first result, no error on the console, nothing wider than the window; lines switched off and on
again; a link that restores the state; variants and broken kernels; a prediction; the runs in the
background; the stepper at a hazard; a case of each kind, answered wrongly and rightly; an exercise;
beside it the museum's page, every exhibit, and each that asks for its line. With --all every switch and every edited kernel of chapters
05 to 09, and 300 runs without growth.
"""

import gzip
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGE = Path(sys.argv[1]).resolve().as_uri()
MUSEUM = Path(sys.argv[1]).resolve().with_name("museum.html").as_uri()
WIDTHS = {"desktop": {"width": 1366, "height": 768}, "phone": {"width": 390, "height": 844}}
SECOND = 1000
MOST = 350000  # bytes
complaints = []


def expect(good, text):
    if not good:
        complaints.append(text)
        print(text, file=sys.stderr)


def settled(page):
    page.wait_for_selector("#verdict.good, #verdict.bad", timeout=60 * SECOND)
    return page.inner_text("#verdict")


def open_at(page, fragment=""):
    page.goto("about:blank")
    page.goto(PAGE + fragment)
    return settled(page)


def exercise(page):
    """Its text, and its answer, which is folded away and can be opened and run."""
    page.goto("about:blank")
    page.goto(f"{PAGE}#chapter=06&case=06-e2")
    page.wait_for_selector("#case-body button")
    expect("Half the k-tile" in page.inner_text("#case-body"), "not the README's text")
    expect(not page.locator(".answer pre").is_visible(), "the answer is to be seen")
    page.click(".answer summary")
    expect("BK = 32" in page.inner_text(".answer pre"), page.inner_text(".answer pre"))
    page.click(".answer button")
    page.wait_for_selector(".line.edited")
    expect(settled(page).startswith("Verified"), "the answer does not pass")
    expect("variant=exercise-2" in page.url, f"the address does not say it: {page.url}")


def look(page):
    for name, size in WIDTHS.items():
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            verdict = open_at(page)
            expect(verdict.startswith("Verified"), f"{name}: {verdict}")
            expect(re.search("\\d\u202f\\d{3} simulated cycles", verdict),
                   f"{name}: the number may break: {verdict}")
            first = page.evaluate("performance.now()")
            expect(first < 10 * SECOND, f"{name}: the first result took {first:.0f} ms")
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            expect(wider <= 0, f"{name}: {wider} px wider than the window")
            light = page.evaluate("""() => getComputedStyle(document.body).backgroundColor
                .match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3""") > 128
            expect(light == (scheme == "light"), f"{name}: not {scheme}")
    page.set_viewport_size(WIDTHS["desktop"])


def switch(page):
    open_at(page)
    wait = page.evaluate("switchesIn(state.file).findIndex(one => /consumer_wait|mbarrier_wait/.test(one.call))")
    button = page.locator(".switch").nth(wait)
    button.click()
    page.wait_for_selector("#verdict.bad", timeout=60 * SECOND)
    expect("off=kernel.cu" in page.url, f"the address does not say it: {page.url}")
    expect(page.locator(".line.first").count() > 0, "no line of the report is marked")
    expect(page.locator("#report").is_visible(), "there is no timeline")
    link, verdict = page.get_attribute("#link", "href"), page.inner_text("#verdict")
    button.click()
    page.wait_for_selector("#verdict.good", timeout=60 * SECOND)
    expect(open_at(page, link) == verdict, "the link does not restore the state")
    expect(page.locator('.switch[aria-checked="false"]').count() == 1, "nor the switch")


def kernels(page):
    """A variant is right, a kernel that the book breaks is not, and its edit is marked."""
    open_at(page, "#chapter=06")
    page.select_option("#kernel", label="narrow stores")
    page.wait_for_selector(".line.edited, #files")
    expect(settled(page).startswith("Verified"), "06 with narrow stores")
    page.select_option("#kernel", label="The alignment")
    page.wait_for_selector("#verdict.bad", timeout=60 * SECOND)
    expect("misaligned-swizzle" in page.inner_text("#verdict"), page.inner_text("#verdict"))
    expect("break=the-alignment" in page.url, f"the address does not say it: {page.url}")
    expect(page.locator(".line.edited").count() > 0, "the edited line is not marked")
    page.select_option("#kernel", label="as the chapter has it")
    page.wait_for_selector("#verdict.good", timeout=60 * SECOND)
    expect(page.input_value("#k") == "256", "the run of a broken kernel stays")
    page.click("#restore")
    page.wait_for_selector("#verdict.good", timeout=60 * SECOND)
    expect(page.locator(".line.edited").count() == 0, "an edit is left")
    open_at(page, "#chapter=06&version=the-alignment")
    expect("break=the-alignment" in page.url, f"a link that was kept leads to {page.url}")


def predict(page):
    """A verdict is asked for, and of a variant whether it takes longer; no result is shown before."""
    for fragment, right in (("#chapter=05&off=kernel.cu:140&k=512", "accesses that nothing orders"),
                            ("#chapter=06&variant=wait0", "more cycles than")):
        page.goto("about:blank")
        page.goto(f"{PAGE}{fragment}&predict=1")
        buttons = page.locator("#prediction button")
        buttons.first.wait_for(timeout=60 * SECOND)
        expect(page.locator("#verdict.good, #verdict.bad, .hazard").count() == 0, "it is shown")
        buttons.filter(has_text=right).click()
        page.wait_for_selector("#prediction .good")
        page.wait_for_selector("#verdict.good, #verdict.bad")
    page.uncheck("#predict")


def stepper(page):
    """The barrier that the hazard names, at the time of the hazard, and its stages in memory."""
    open_at(page, "#chapter=05&off=kernel.cu:140&k=512")
    report = page.frame_locator("#report")
    report.locator("#memory-stages .flight").first.wait_for(timeout=60 * SECOND)
    position = report.locator("#barrier-position").inner_text()
    expect(not position.startswith("event 1 of"), f"the stepper is at {position}")
    command = report.locator("#run code").inner_text()
    expect(command == "build/sim/05_tma_mbarrier --m 128 --n 256 --k 512 # without kernel.cu:140",
           command)
    event = lambda: int(report.locator("#barrier-position").inner_text().split()[1])
    report.locator("#step-back").click()  # the keys go on where the button stops
    before = event()
    page.keyboard.press("j")
    page.keyboard.press("ArrowLeft")
    expect(event() == before - 2, f"after a click two keys lead from {before} to {event()}")
    stages = report.locator("#memory-stages li").count()
    expect(stages == 3, f"{stages} stages of 3")
    for link in ('a[href^="#step="]', "#link"):  # stays in the report
        report.locator(link).first.click()
        expect(report.locator("#memory-stages").count() == 1, f"{link} has replaced the report")


def bad_link(page):
    """What a link names in vain is said."""
    open_at(page, "#chapter=05&break=none&variant=waiting&off=kernel.cu:1")
    said = page.inner_text("#unknown")
    expect("variant, break" in said and "kernel.cu:1" in said, f"of a bad link: {said}")
    open_at(page, "#chapter=05&k=1000000&m=-1")
    said, k = page.inner_text("#unknown"), page.input_value("#k")
    expect("k=1000000, m=-1" in said.replace("m=-1, k=1000000", "k=1000000, m=-1") and k == "256",
           f"of extents that are out of range: {said} k {k}")
    page.goto("about:blank")
    page.goto(f"{PAGE}#chapter=12")
    page.wait_for_selector("#unknown a[href='beyond.html#chapter=12']")


def check(page):
    """A line whose absence one run does not show."""
    case = page.evaluate("book.cases.find(one => one.kind === 'catch').id")
    key = page.evaluate("id => keyOf(book.switches[caseOf(id).off[0]])", case)
    chapter = page.evaluate("id => caseOf(id).chapter", case)
    verdict = open_at(page, f"#chapter={chapter}&off={key}")
    expect(verdict.startswith("Verified"), f"{key}: {verdict}")
    page.locator("#background button").click(timeout=60 * SECOND)
    page.wait_for_selector("#verdict.bad", timeout=60 * SECOND)


def answer(page, kind):
    case = page.evaluate("kind => book.cases.find(one => one.kind === kind).id", kind)
    page.goto("about:blank")
    page.goto(f"{PAGE}#chapter=05&case={case}")
    page.wait_for_selector("#case-body button")
    facts = page.evaluate("id => caseOf(id)", case)
    if kind == "find":
        file = page.evaluate("number => book.switches[number].file", facts["off"][0])
        page.locator(f".pick:not([data-switch='{facts['off'][0]}'])").first.click()
        page.wait_for_selector("#case-answer p.bad:has-text('another case')", timeout=60 * SECOND)
        page.evaluate("file => openFile(file)", file)
        page.locator(f".pick[data-switch='{facts['off'][0]}']").click()
    elif kind == "mend":
        choices = page.locator(".choices.mend button")
        right = facts["right"][0]
        choices.nth(int(right == 0)).click()
        page.wait_for_selector("#case-answer p.bad:has-text('No: with it')", timeout=60 * SECOND)
        choices.nth(right).click()
    elif kind == "choose":
        choices = page.locator(".choices.choose button")
        for i in range(choices.count()):  # from the wrong ones on
            if page.locator("#case-answer p.good").count() == 0:
                choices.nth(i).click()
                page.wait_for_selector("#case-answer p.good, #case-answer p.bad:has-text('No.')",
                                       timeout=60 * SECOND)
        rows = page.locator(".chosen tr").count()
        expect(rows == choices.count(), f"{case}: {rows} choices are told")
    elif kind == "predict":
        told = facts["choices"][facts["right"][0]]
        wrong = next(choice for choice in facts["choices"] if choice != told)
        page.locator(".choices button", has_text=wrong).first.click()
        page.wait_for_selector("#case-answer p.bad")
        page.get_by_role("button", name=told, exact=True).click()
    else:
        expect(settled(page).startswith("Verified"), f"{case} does not pass at first")
        page.fill("#k", str(facts["run"]["k"] // 2))
        page.click("#run")
        page.wait_for_selector("#case-answer p.bad", timeout=60 * SECOND)
        for name in ("m", "n", "k", "sms"):
            page.fill(f"#{name}", str(facts["witness"][name]))
        page.select_option("#schedule", facts["witness"]["schedule"])
        if facts["witness"]["schedule"] == "random":
            page.fill("#seed", str(facts["witness"]["seed"]))
        page.click("#run")
    page.wait_for_selector("#case-answer p.good", timeout=60 * SECOND)
    expect("1 of" in page.inner_text("#progress"), f"{kind}: {page.inner_text('#progress')}")
    page.click("#reset-cases")
    expect("0 of" in page.inner_text("#progress"), f"reset: {page.inner_text('#progress')}")


def every_switch(page, chapters):
    for chapter in chapters:
        open_at(page, f"#chapter={chapter}")
        for key in page.evaluate("switchesOf(state.chapter).map(keyOf)"):
            open_at(page, f"#chapter={chapter}&off={key}")
        for kernel in page.evaluate("kernelsOf(state.chapter)"):
            run = "".join(f"&{name}={value}" for name, value in kernel["run"].items())
            open_at(page, f"#chapter={chapter}&{kernel['kind']}={kernel['name']}{run}")


def grow(page):
    open_at(page)
    memory = "performance.memory.usedJSHeapSize"
    sizes = []
    for _ in range(3):
        for _ in range(100):
            page.click("#run")  # at once there is no verdict
            page.wait_for_selector("#verdict.good", timeout=60 * SECOND)
        sizes.append(page.evaluate(memory))
    expect(sizes[2] < 2 * sizes[0] + 20e6, f"300 runs: the heap has {sizes}")


def museum(page):
    """Every exhibit of docs/museum.md by its link: the page says what the book quotes. The fixed form
    passes, and a link restores the state."""
    text = (Path(__file__).resolve().parents[3] / "docs" / "museum.md").read_text(encoding="utf-8")
    shown = re.findall(r"^hazard: ([\w-]+): museum/(\w+)\.cu.*?^\[Run it\]\([^)#]*(#[^)]*)\)", text,
                       re.M | re.S)
    expect(len(shown) == text.count("<!-- museum: "), f"{len(shown)} exhibits have a link")
    for kind, name, link in shown:
        page.goto("about:blank")
        page.goto(MUSEUM + link)
        first = page.locator("#hazards h3").first
        first.wait_for(timeout=60 * SECOND)
        expect(first.inner_text() == kind, f"{name}: {first.inner_text()}, not {kind}")
        expect(page.locator(".line.first").count() > 0, f"{name}: no line is marked")
    page.select_option("#form", "fixed")
    page.wait_for_selector("#verdict.good", timeout=60 * SECOND)
    page.goto("about:blank")
    page.goto(f"{MUSEUM}#exhibit={name}&form=fixed")
    expect(settled(page).startswith("Verified"), "the fixed form does not pass")
    for one in page.evaluate("book.exhibits.filter(one => one.case).map(({name, case: {says, rules}}) => "
                             "({name, says, rules}))"):
        find_first(page, **one)
    for width in WIDTHS.values():
        for link in (f"#exhibit={name}", "#exhibit=15_owner_returns&find=1"):
            page.set_viewport_size(width)
            page.goto("about:blank")
            page.goto(MUSEUM + link)
            page.wait_for_selector("#verdict:not(.running)", timeout=60 * SECOND)
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            expect(wider <= 0, f"the museum is {wider} px wider than the window")
    page.set_viewport_size(WIDTHS["desktop"])


def find_first(page, name, says, rules):
    """A wrong line has its reason, the result comes with the second hint, and the answer is the exhibit."""
    page.goto("about:blank")
    page.goto(f"{MUSEUM}#exhibit={name}&find=1")
    page.wait_for_selector("#verdict:has-text('behind the hints')", timeout=60 * SECOND)
    expect(page.locator(".line.off, .line.first, .hazard").count() == 0, f"{name}: the answer is to be seen")
    expect("FIXED" not in page.inner_text("#code"), f"{name}: the form is to be seen")
    wrong = next(i for i, text in enumerate(says) if text)
    page.click(f".pick[aria-label='Line {wrong + 1}']")
    expect(says[wrong] in page.inner_text("#case-answer p.bad"), f"{name}: no reason")
    for _ in range(2):
        page.locator("#case-body button", has_text="Hint").click()
    expect(page.locator("#hazards h3").first.inner_text() == rules_right(rules), f"{name}: another rule")
    expect(page.locator(".line.first").count() > 0, f"{name}: no line is marked")
    page.click(f".pick[aria-label='Line {says.index('') + 1}']")
    page.get_by_role("button", name=next(rule for rule, text in rules.items() if text), exact=True).click()
    page.wait_for_selector("#case-answer p.bad")
    page.get_by_role("button", name=rules_right(rules), exact=True).click()
    page.wait_for_selector("#case-answer p.good")
    expect("FIXED" in page.inner_text("#code"), f"{name}: the exhibit is not shown")
    page.locator("#case-body button").click()
    page.wait_for_selector("#verdict.good", timeout=60 * SECOND)


def rules_right(rules):
    return next(rule for rule, text in rules.items() if not text)


def every_part(page):
    look(page)
    switch(page)
    kernels(page)
    predict(page)
    stepper(page)
    bad_link(page)
    check(page)
    exercise(page)
    for kind in ("find", "predict", "choose", "mend", "catch"):
        answer(page, kind)
    museum(page)
    if "--all" in sys.argv:
        every_switch(page, ("05", "06", "07", "08", "09"))
        grow(page)


def drive(test, most):
    """Calls test(page); the exit code. most: bytes of the page, packed."""
    size = len(gzip.compress(Path(sys.argv[1]).read_bytes(), 9))
    print(f"{size} bytes, packed by gzip")
    expect(size <= most, f"{size} bytes, more than {most}")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=sys.argv[2], args=["--no-sandbox"])
        page = browser.new_page()
        page.on("console", lambda message: expect(
            message.type not in ("error", "warning"), f"console: {message.text}"))
        page.on("pageerror", lambda error: expect(False, f"error: {error}"))
        test(page)
        browser.close()
    print(f"{len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(drive(every_part, MOST))
