"""run_links.py ROOT KERNELS: writes the links of the book to the live page. Behind every broken kernel that
a page shows (breaks/shown_breaks.py), and that the live page has, stands

    [Run it](../docs/live.md#chapter=05&m=256&k=256&off=kernel.cu:140)

with the state of the live page behind the # (tools/book/live_links.py). KERNELS is switches.py's
OUT.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tools", "book"))
import cases
import live_links
import pages
import simulate


def key_of(live, number):
    """A switch in an address: page/source.js has the same."""
    switch = live["switches"][number]
    same = [one["number"] for one in live["switches"]
            if (one["file"], one["line"]) == (switch["file"], switch["line"])]
    place = same.index(number)
    return cases.place_of(switch) + (f".{place + 1}" if place else "")


def address_of(live, state):
    """What follows the #, as page/address.js writes it."""
    usual = simulate.usual_run(live, state["chapter"])
    words = [f"chapter={state['chapter'][:2]}"]
    words += [f"{name}={state['run'][name]}" for name in usual
              if state["run"].get(name, usual[name]) != usual[name]]
    if state["kernel"] >= 0:
        words.append("{kind}={name}".format_map(live["kernels"][state["kernel"]]))
    if state["off"] is not None:
        words.append(f"off={key_of(live, state['off'])}")
    return "&".join(words)


def decoded(live, address):
    """(chapter, run, numbers of switches, number of a kernel); a LookupError names what is wrong."""
    words = dict(word.split("=", 1) for word in address.split("&"))
    asked = words.pop("chapter")
    chapter = next(one["name"] for one in live["chapters"] if one["name"].startswith(asked))
    number = simulate.number_of(live, chapter, words)
    kernel = simulate.kernel_of(live, chapter, number)
    keys = {key_of(live, one["number"]): one["number"] for one in live["switches"]
            if one["file"] in kernel["files"]}
    off = [keys[key] for key in words.pop("off", "").split(",") if key]
    for word in ("variant", "break", "predict"):
        words.pop(word, None)
    run = {**simulate.usual_run(live, chapter), **kernel["needs"]}
    for name, value in words.items():
        run[name] = type(run[name])(value)
    return chapter, run, off, number


def load(kernels):
    with open(os.path.join(kernels, "live.json"), encoding="ascii") as file:
        live = json.load(file)
    with open(os.path.join(kernels, "shown.json"), encoding="ascii") as file:
        return live, json.load(file)


def line_of(book, page, address):
    return f"[Run it]({live_links.target(book.root, page.path, address)})"


def write(root, live, shown):
    book = pages.Book(root, True)
    by_path = {page.path: page for page in book.pages}
    for one in sorted(shown, key=lambda one: -one["line"]):  # what is above keeps its place
        page, at = by_path[one["page"]], one["line"]
        wanted = line_of(book, page, address_of(live, one))
        there = at + 1 < len(page.lines) and page.lines[at + 1].startswith("[Run it](")
        page.replace(at, at + 2 if there else at, ["", wanted])
    book.write_changed()


if __name__ == "__main__":
    write(sys.argv[1], *load(sys.argv[2]))
