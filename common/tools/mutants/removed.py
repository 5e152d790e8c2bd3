"""removed.py: every line that synchronizes, removed, in every configuration of every kernel.

mutants.py looks for one configuration in which a mutant is caught. This looks at the others, too:
a line that is removed must be reported in every configuration that has it, or be listed in
harmless.py with the reason why that configuration can do without it. Sizes alone do not make
another configuration, as in the gallery, and a line of a header is the gallery's alone.

    --only TEXT    the lines whose description contains TEXT. Also: the environment's MUTANTS
    --sample N     every N-th line and configuration, as in mutants.py
    --afresh       also what the gallery's record holds already
"""

import collections
import concurrent.futures
import sys

sys.dont_write_bytecode = True  # what follows lies in the source tree

import harmless
import house
import mutants
import rules


def is_recorded(gallery, edit, configuration):
    """Does the test of the gallery hold that this configuration reports the mutant?"""
    row, where = gallery.rows.get(mutants.key_of(edit)), gallery.where(edit)
    return row and where and where[0] == configuration and row[mutants.KEY] != mutants.WRONG


def run(gallery, edit, configuration):
    """The outcome: of the run that catches the mutant in the gallery's configuration, and if that
    does not here, of the search."""
    where = gallery.where(edit)
    if where:
        outcome = gallery.run_in(edit, configuration, where[1])
        if not outcome or outcome.verdict not in (mutants.SURVIVED, mutants.WRONG):
            return outcome
    return gallery.run_in(edit, configuration)


def judge(edit, configuration, outcome):
    """What is wrong with this outcome; None: nothing."""
    excused = harmless.reason_of(edit) or harmless.not_needed(edit, configuration.label)
    if outcome.verdict == mutants.SURVIVED:
        return None if excused else "was not caught"
    if excused:
        return f"is listed in harmless.py, but: {outcome.verdict}"
    if outcome.verdict == mutants.WRONG:
        return None if edit.category == rules.VALUE else "gave a wrong result without a report"
    return outcome.verdict if " " in outcome.verdict else None


def main():
    parser = mutants.parser_of("Removes every line that synchronizes, in every configuration.")
    parser.add_argument("--afresh", action="store_true")
    options = parser.parse_args()
    gallery = mutants.Gallery(options)
    removed = [edit for edit in gallery.edits if edit.what == "removed"]
    pairs = [(edit, configuration) for edit in removed
             for configuration in gallery.configurations if configuration.file == edit.file]
    left = [(edit, configuration) for edit, configuration in pairs
            if options.only in mutants.describe(edit) and
            (options.afresh or not is_recorded(gallery, edit, configuration))]
    left = house.sample(left, options.sample, options.root)
    counts, failures = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda pair: run(gallery, *pair), left)
        for (edit, configuration), outcome in zip(left, outcomes):
            problem = judge(edit, configuration, outcome) if outcome else None
            counts["absent" if not outcome else "survived" if outcome.verdict == mutants.SURVIVED
                   else "caught"] += 1
            if problem:
                failures += 1
                print(f"{configuration.label}: {mutants.describe(edit)}\n    {problem}", flush=True)
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
