"""layouts_browser.py PAGE CHROMIUM ROOT INSPECT COMPILER: the page of layouts as a reader uses it,
from file://. Its numbers are what INSPECT and compiled lines of C have from the same models.

Every picture under each swizzle; fields of a descriptor; a link that restores the state; what a
link says wrongly; the keyboard; a desktop's and a phone's width, light and dark.
"""

import re
import subprocess
import sys
from pathlib import Path

import live_browser
from live_browser import expect

ROOT, INSPECT, COMPILER = sys.argv[3:6]
sys.path.append(f"{ROOT}/common/tools/pictures")
import data

data.BOOK, data.COMPILER = ROOT, COMPILER
PAGE = Path(sys.argv[1]).resolve().as_uri()
MOST = 250000  # bytes


def inspect(*options):
    return subprocess.run([INSPECT, *map(str, options)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def open_at(page, fragment):
    page.goto("about:blank")
    page.goto(PAGE + fragment)
    page.wait_for_selector("#d-says:not(:empty)")


def cells(page, table):
    """[[text of a cell]] of the lines that begin with a heading and have cells."""
    return page.evaluate("""id => [...byId(id).rows]
        .filter(row => row.querySelector("[data-element]"))
        .map(row => [...row.cells].map(cell => cell.firstChild?.textContent ?? ""))""", table)


def numbers(text):
    """The lines of a table that inspect prints, without the headings."""
    return [line.split() for line in text.splitlines()
            if re.match(r" *(0x)?[0-9a-f]+ +(0x)?[0-9]", line)]


def tile(page):
    for swizzle, base in ((0, 0), (32, 0), (64, 512), (128, 0), (128, 128), (128, 4096)):
        open_at(page, f"#swizzle={swizzle}&base={base}&m=0&k=0")
        said = numbers(inspect("swizzle", "--swizzle", swizzle, "--base", base, "--rows", 16))
        shown = cells(page, "tile")
        expect(shown == said, f"swizzle {swizzle}, base {base}: {shown}")
    for swizzle, pitch, chunk in ((0, 128, 0), (0, 144, 3), (0, 80, 1), (0, 32, 1), (128, 128, 5),
                                  (64, 64, 2), (32, 32, 1), (32, 128, 4)):
        open_at(page, f"#swizzle={swizzle}&pitch={pitch}&m=9&k={8 * chunk}")
        said = inspect("tile", "--swizzle", swizzle, "--pitch", pitch, "--column", chunk)
        fronts = re.search(r"lanes 8-15\): (\d+)", said).group(1)
        expect(f"takes {fronts} wavefront" in page.inner_text("#tile-says"),
               f"pitch {pitch}: {page.inner_text('#tile-says')}, not {fronts}")
        most = page.evaluate("Math.max(...[...document.querySelectorAll('.bars td')].map(td => "
                             "td.children.length))")
        expect(most == int(fronts), f"pitch {pitch}: {most} bars above each other")


def descriptor(page):
    """Of fields that fit, all chunks are found; of others, inspect's addresses are shown."""
    for swizzle, more in ((128, ""), (64, ""), (32, ""), (0, "&pitch=16")):
        for major in ("k", "mn"):
            for k in (0, 20, 63):
                open_at(page, f"#swizzle={swizzle}{more}&major={major}&k={k}")
                expect("finds all" in page.inner_text("#found-says"),
                       f"{page.url}: {page.inner_text('#found-says')}")
    usual = {"start": 0, "lbo": 0, "sbo": 1024, "offset": 0, "major": "k"}
    for swizzle, fields in ((128, {}), (128, {"start": 64, "offset": 1}),
                            (0, {"lbo": 128, "sbo": 256}), (128, {"mode": 64}),
                            (64, {"major": "mn", "lbo": 8192, "sbo": 1024})):
        asked = {**usual, "mode": swizzle, **fields}
        open_at(page, "&".join([f"#swizzle={swizzle}&k=0",
                                *(f"{name}={value}" for name, value in asked.items())]))
        names = {"offset": "base-offset", "mode": "swizzle"}
        said = inspect("descriptor", *(word for name, value in asked.items()
                                       for word in (f"--{names.get(name, name)}", value)))
        shown = [[line[0], *(f"0x{address}" for address in line[1:])]
                 for line in cells(page, "found")]
        expect(shown == numbers(said), f"{fields}: {shown}")
        expect(page.inner_text("#word") == re.search("0x[0-9a-f]{16}", said).group(),
               f"{fields}: {page.inner_text('#word')}")
    expect("others than" in page.inner_text("#found-says"), page.inner_text("#found-says"))
    page.click("#fit")
    expect("finds all" in page.inner_text("#found-says"), "the fields do not fit")
    page.fill("#sbo", "256")
    page.locator("#sbo").blur()
    expect("others than" in page.inner_text("#found-says") and "sbo=256" in page.url, page.url)


def owners(page):
    """Each element of A's k step and of D's first 64 columns, by the functions of the models."""
    asked = {"a": ("fragment_of_a(thread, i / 2, i % 2)", 8, "i / 2, i % 2"),
             "d": ("fragment_of_d(thread, i)", 32, "i, 0")}
    open_at(page, "#swizzle=128")
    for name, (position, count, index) in asked.items():
        said = data.c_table(f'''#include "sim/models/fragments.h"
int main(void) {{
    for (int thread = 0; thread < 128; ++thread)
        for (int i = 0; i < {count}; ++i) {{
            const struct fragment_position p = {position};
            printf("%d %d %d %d %d\\n", p.row, p.column, thread, {index});
        }}
}}''')
        shown = page.evaluate("""([name, wanted]) => wanted.map(([row, column]) => {
            const {thread, index, half} = ownerOf(models[`owner_of_${name}`](row, column));
            return [row, column, thread, index, name === "a" ? half : 0];
        })""", [name, said])
        expect(shown == [list(one) for one in said], f"the owners of {name}")
    # As docs/pictures/fragment.svg has it: lane 6 holds acc[4] in row 1, column 12.
    open_at(page, "#swizzle=128&m=1&n=12")
    expect("lane 6, acc[4]" in page.inner_text("#d-says"), page.inner_text("#d-says"))
    expect(page.locator("#d .mine, #d .chosen").count() == 4, "the lane's elements are not marked")


def state(page):
    open_at(page, "#swizzle=128")
    page.select_option("#swizzle", "64")
    page.fill("#m", "10")
    page.locator("#m").blur()
    said, found = page.inner_text("#tile-says"), cells(page, "found")
    expect("line 10, chunk 2" in said, said)
    link = page.get_attribute("#link", "href")
    expect(page.url.endswith(link), f"{page.url} is not {link}")
    open_at(page, link)
    expect(page.inner_text("#tile-says") == said and cells(page, "found") == found,
           f"{link} does not restore the state")
    expect([page.input_value(f"#{name}") for name in ("swizzle", "pitch", "m")] ==
           ["64", "64", "10"], "nor the controls")
    page.evaluate("location.hash = '#swizzle=32'")
    page.wait_for_selector("#word:has-text('0xc0')")
    open_at(page, "#swizzle=48&base=0x80&m=64&k=-1&pitch=20&none=1")
    expect(page.url.endswith("#swizzle=128&base=128"), f"of a wrong link: {page.url}")
    expect("misaligned-swizzle" in page.inner_text("#tile-warns"), "nothing is said of the base")


def keyboard(page):
    open_at(page, "#swizzle=128&m=0&k=0&n=0")
    for table, key, wanted in (("tile", "ArrowRight", "A[0][8]"), ("tile", "ArrowDown", "A[1][8]"),
                               ("tile", "ArrowUp", "A[0][8]"), ("tile", "ArrowUp", "A[0][8]"),
                               ("found", "ArrowLeft", "A[0][0]"), ("found", "ArrowLeft", "A[0][0]"),
                               ("a", "ArrowRight", "A[0][1]"), ("d", "ArrowRight", "D[0][1]"),
                               ("d", "ArrowDown", "D[1][1]")):
        page.focus(f"#{table}")
        page.keyboard.press(key)
        said = page.inner_text("#d-says" if wanted.startswith("D") else "#tile-says")
        expect(said.startswith(wanted), f"{key} in {table}: {said}")
    page.locator("#tile [data-element]").nth(8 * 5 + 7).click()  # 5.2, in line 5 the last
    expect(page.inner_text("#tile-says").startswith("A[5][16]"), page.inner_text("#tile-says"))


def look(page):
    for width in (1366, 360):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for fragment in ("#swizzle=128", "#swizzle=64&major=mn&base=196608&lbo=128&m=63&k=63"):
                open_at(page, fragment)
                wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                expect(wider <= 0, f"{width} px: {wider} px wider than the window")
                cut = page.evaluate("""[...document.querySelectorAll(".cells td, .cells th")]
                    .filter(cell => cell.scrollWidth > cell.clientWidth + 1)
                    .map(cell => cell.textContent)""")
                expect(not cut, f"{width} px: wider than their cells: {cut[:5]}")


def every_part(page):
    for part in (tile, descriptor, owners, state, keyboard, look):
        part(page)


if __name__ == "__main__":
    sys.exit(live_browser.drive(every_part, MOST))
