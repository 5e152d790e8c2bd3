"""removed_lines.py: every line that synchronizes, removed, in every configuration of every kernel.

gallery.py looks for one configuration in which a break is caught. This looks at the others, too:
a line that is removed must be reported in every configuration that has it, or be listed in
harmless.py with the reason why that configuration can do without it. Sizes alone do not make
another configuration, as in the gallery, and a line of a header is the gallery's alone.

    --only TEXT    the lines whose description contains TEXT. Also: the environment's BREAKS
    --sample N     every N-th line and configuration, as in gallery.py
    --afresh       also what the gallery's record holds already
"""

import collections
import concurrent.futures
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

import gallery

import harmless
from store import sample


def is_recorded(breaks, edit, configuration):
    """Does the test of the gallery hold that this configuration reports the break?"""
    row, where = breaks.rows.get(gallery.key_of(edit)), breaks.where(edit)
    return row and where and where[0] == configuration and row[gallery.KEY] != gallery.WRONG


def run(breaks, edit, configuration):
    """The outcome: of the run that catches the break in the gallery's configuration, and if that
    does not here, of the search."""
    where = breaks.where(edit)
    if where:
        outcome = breaks.run_in(edit, configuration, where[1])
        if not outcome or outcome.verdict not in (gallery.SURVIVED, gallery.WRONG):
            return outcome
    return breaks.run_in(edit, configuration)


def main():
    parser = gallery.parser_of("Removes every line that synchronizes, in every configuration.")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    breaks = gallery.Gallery(options)
    removed = [edit for edit in breaks.edits if edit.what == "removed"]
    pairs = [(edit, configuration) for edit in removed
             for configuration in breaks.configurations if configuration.file == edit.file]
    left = [(edit, configuration) for edit, configuration in pairs
            if options.only in gallery.describe(edit) and
            (options.afresh or not is_recorded(breaks, edit, configuration))]
    left = sample(left, options.sample, options.root)
    counts, failures = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda pair: run(breaks, *pair), left)
        for (edit, configuration), outcome in zip(left, outcomes):
            excused = harmless.reason_of(edit) or harmless.not_needed(edit, configuration.label)
            problem = gallery.judge(edit, outcome, excused) if outcome else None
            counts["absent" if not outcome else "survived" if outcome.verdict == gallery.SURVIVED
                   else "caught"] += 1
            if problem:
                failures += 1
                print(f"{configuration.label}: {gallery.describe(edit)}\n    {problem}", flush=True)
    unused = [rule for rule in harmless.NOT_NEEDED
              if not any(harmless.is_about(rule, edit, configuration.label)
                         for edit, configuration in pairs)]
    for rule in unused:
        print(f"out of date: harmless.py: {' | '.join(rule[:3])}")
    print(f"{len(removed)} lines, {len(pairs)} with their kernels' configurations; the gallery's "
          f"record holds {len(pairs) - len(left)}.\nOf {len(left)}: {counts['caught']} caught, "
          f"{counts['absent']} not part of the configuration, {counts['survived']} survived; "
          f"{failures} failures")
    return 1 if failures or unused else 0


if __name__ == "__main__":
    sys.exit(main())
