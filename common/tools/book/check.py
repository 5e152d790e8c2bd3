#!/usr/bin/env python3
"""Holds the book to its sources. check.py [--write | --unheld | --lengths] ROOT

Tables are those of the recorded runs (tables.py, ladder.py, grids.py), and so are the numbers in
prose that a marker holds to a record (prose.py). Excerpts stand in their files (excerpts.py),
figures and pictures exist (figures.py, pictures.py), or are those made of them (pair.py), links to
files and headings lead somewhere (links.py), those to the live pages to the site, if it has an
address (live_links.py), every chapter has the same sections (chapters.py), GitHub and the site
render every page (dialect.py), and the front page fits on a few screens (front.py). Captions say
what their figures show (figures.py), numbers of summaries stand in the pages that they sum up
(summaries.py), predictions have measurements beside them (prediction_tables.py), and the numbers
that nothing holds do not become more (unheld.py). With --write, tables, excerpts, pairs and links
to the live pages are made anew. With --unheld or --lengths, nothing is checked: the numbers that
nothing holds are recorded, or the length of each chapter is printed.

What the libraries' page has besides is in library/tools/book: more_checks.py there has a list
CHECKS of functions such as tables.check().

Exit code: 0 all is well, 1 complaints on stderr, 2 usage, or something could not be read.
"""
import os
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "breaks"))
import hazards

import chapters
import dialect
import excerpts
import figures
import front
import grids
import ladder
import links
import live_links
import pages
import pair
import pictures
import prediction_tables
import prose
import summaries
import tables
import unheld


def more_checks():
    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(here, "..", "..", "..", "library", "tools", "book")
    if not os.path.isdir(library):
        return []
    sys.path.append(library)
    from more_checks import CHECKS
    return CHECKS


def main(arguments):
    option = arguments[0] if len(arguments) == 2 else ""
    if len(arguments) not in (1, 2) or option not in ("", "--write", "--unheld", "--lengths"):
        print("usage: check.py [--write | --unheld | --lengths] ROOT", file=sys.stderr)
        return 2
    book = pages.Book(arguments[-1], option == "--write")
    if option == "--lengths":
        chapters.print_lengths(book)
        return 0
    if option == "--unheld":
        unheld.write(book, True)
        return 0
    claims = 0
    checks = [dialect.check, excerpts.check, tables.check, ladder.check, grids.check, hazards.check,
              *more_checks(), figures.check, pictures.check, pair.check, front.check,
              summaries.check, prediction_tables.check, unheld.check, live_links.check]
    for page in book.pages:
        if pages.is_chapter(page.path):
            chapters.check(book, page)
        for check in checks:
            check(book, page)
        claims += prose.check(book, page)
    links.check(book)
    pictures.check_all(book)
    if book.rewrite:
        book.write_changed()
        unheld.write(book)
    if book.complaints:
        return 1
    print(f"{len(book.pages)} pages, {claims} numbers in their prose")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
