"""ring_browser.py PAGE CHROMIUM PROGRAM: the page of the ring as a reader uses it, from file://.
What it draws of chapter 07's own kernel is what PROGRAM says natively.

Every number of stages and WAIT under every schedule: no stage is filled before it was released, or
read before its bytes have landed, and nobody waits for two barriers at once. A link that restores
the state; keys, slider, play and pause; a desktop's and a phone's width, light and dark.
"""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import live_browser
from live_browser import SECOND, expect

PROGRAM = sys.argv[3]
PAGE = Path(sys.argv[1]).resolve()
MOST = 250000  # bytes, with the page of layouts


def open_at(page, fragment):
    page.goto("about:blank")
    page.goto(PAGE.as_uri() + fragment)
    page.wait_for_selector("#verdict.good", timeout=60 * SECOND)


def native(*options):
    run = [PROGRAM, "--m", "128", "--n", "256", "--k", "512", "--sms", "1", *options]
    return subprocess.run(run, check=True, text=True, stdout=subprocess.PIPE).stdout


def fillings(page):
    """{stage: [[k-tile, asked, landed, done, consumer 0's read, consumer 1's]]}; None: never."""
    return json.loads(page.evaluate("""() => JSON.stringify(life.stages.map(
        ({fillings}) => fillings.map(
            ({kTile, asked, landed, done, reads}) => [kTile, asked, landed, done, ...reads])))"""))


def same(page):
    open_at(page, "#stages=4&k=512")
    cycles = json.loads(native("--json").splitlines()[0])["cycles"]
    said = page.inner_text("#verdict")
    expect(re.sub(r"\D", "", said) == str(cycles), f"{said}, not {cycles}")
    for number in range(8):
        told = native("--explain", f"mbarrier:{number}").splitlines()
        flips = [int(line.split()[0]) for line in told if " flip: " in line]
        shown = [one[3 if number % 2 else 2] for one in fillings(page)[number // 2]]
        expect([cycle for cycle in shown if cycle is not None] == flips,
               f"mbarrier {number}: {shown}, not {flips}")


def every_run(page):
    for stages in (2, 3, 4):
        for wait in (0, 1):
            for schedule in ("time", "early", "late", "random"):
                where = f"#stages={stages}&wait={wait}&schedule={schedule}&k=512&seed=3"
                open_at(page, where)
                drawn = fillings(page)
                expect(len(drawn) == stages and
                       sorted(one[0] for stage in drawn for one in stage) == list(range(8)),
                       f"{where}: {drawn}")
                waits = json.loads(page.evaluate("""() => JSON.stringify(life.stages.flatMap(
                    ({waits}) => waits.map(({role, from, to}) => [role, from, to])))"""))
                for role in (-1, 0, 1):
                    own = sorted(one[1:] for one in waits if one[0] == role)
                    expect(own and all(one[1] <= after[0] for one, after in zip(own, own[1:])),
                           f"{where}: role {role} waits for two barriers at once: {own}")
                most = 0
                for stage in drawn:
                    for one, after in zip(stage, stage[1:] + [None]):
                        _, asked, landed, done, *reads = one
                        expect(asked <= landed <= min(read[0] for read in reads), f"{where}: {one}")
                        expect(after is None or max(read[1] for read in reads) <= done <= after[1],
                               f"{where}: {one}, then {after}")
                begun = sorted(one[4][0] for stage in drawn for one in stage)
                for now in begun:  # k-tiles that consumer 0 reads at once: WAIT, and one more
                    most = max(most, sum(one[4][0] <= now and (one[4][1] is None or now < one[4][1])
                                         for stage in drawn for one in stage))
                expect(most == wait + 1, f"{where}: {most} k-tiles are read at once")


def state(page):
    open_at(page, "#stages=4&k=512")
    text = page.inner_text("#roles")
    expect("producer waits for empty of stage" in text and text.count("reads k-tile") == 2, text)
    expect(page.locator("#ring .load").count() > 0 and page.locator("#ring path.wait").count() > 0,
           "the moment does not show all")
    page.select_option("#stages", "3")
    page.wait_for_selector("#verdict.good")
    page.focus("#at")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    at, text = page.input_value("#at"), page.inner_text("#roles")
    link = page.get_attribute("#link", "href")
    expect("stages=3" in link and "at=" in link and page.url.endswith(link), f"{page.url}, {link}")
    open_at(page, link)
    expect((page.input_value("#at"), page.inner_text("#roles")) == (at, text),
           f"{link} does not restore the moment")
    expect(page.input_value("#stages") == "3", "nor the stages")
    open_at(page, "#stages=9&wait=x&k=100&at=-1&none=1")
    expect((page.input_value("#stages"), page.input_value("#k")) == ("4", "1024"),
           "of a wrong link")


def keyboard(page):
    open_at(page, "#stages=4&k=512")
    at = int(page.input_value("#at"))
    page.keyboard.press("ArrowLeft")
    expect(int(page.input_value("#at")) == at - 1, "the left key does not step back")
    expect(page.inner_text("#says") != "", "nothing is said of the moment")
    page.keyboard.press(" ")
    expect(page.inner_text("#play") == "Pause", "the space bar does not play")
    page.wait_for_timeout(2 * SECOND)
    page.keyboard.press(" ")
    expect(int(page.input_value("#at")) > at, "nothing is played")
    expect(page.inner_text("#play") == "Play", "the space bar does not pause")
    page.locator("#at").fill("0")
    expect(page.locator("#ring .never").count() == 4, "the first moment has no empty stages")
    page.locator(".lane > div").first.click()  # in the middle
    middle = page.evaluate("life.moments.at(-1)") / 2
    expect(abs(page.evaluate("state.at") - middle) < middle / 4, "a click does not choose the time")


def look(page):
    for width in (1366, 360):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            open_at(page, "#stages=4&k=512")
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            expect(wider <= 0, f"{width} px: {wider} px wider than the window")


def every_part(page):
    for part in (same, every_run, state, keyboard, look):
        part(page)


if __name__ == "__main__":
    layouts = len(gzip.compress(PAGE.with_name("layouts.html").read_bytes(), 9))
    sys.exit(live_browser.drive(every_part, MOST - layouts))
