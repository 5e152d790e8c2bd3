"""exponentials_overlap.py CUOBJDUMP OBJECT...: do exponentials run under the product of the values?

In a block of keys the scores are one group of wgmma and the values' product another. Between the wait
for the first (WARPGROUP.DEPBAR of all but one group) and the wait for all, a thread takes the
exponentials of one of its two rows: a quarter as many as the scores' product has columns. Those of the
other row come behind it, but for a few that ptxas takes before. ptxas moves waits within a basic
block, the result stays right, and the overlap is gone: nothing else would say so. Exit code 1 and the
counts if there are fewer; also if no loop has two such waits.
"""
import re
import subprocess
import sys

SCORES = re.compile(r'HGMMA\.64x(\d+)x16\S* R\d+, gdesc')
WAIT = re.compile(r'WARPGROUP\.DEPBAR\.LE gsb0, (0x[0-9a-f]+)')
EARLY = 1 / 4  # of the second row's, at most


def blocks(listing):
    """(keys, exponentials between the waits, behind them) of each place with two such waits."""
    keys, between, behind, state = 0, 0, 0, 'outside'
    for line in listing.splitlines():
        wait = WAIT.search(line)
        if 'GMMA' in line or 'Function :' in line:
            if state == 'behind':
                yield keys, between, behind
            state = 'outside'
            scores = SCORES.search(line)
            keys = int(scores.group(1)) if scores else keys
        elif wait and int(wait.group(1), 16) == 1:
            state, between, behind = 'between', 0, 0
        elif wait and state == 'between':
            state = 'behind'
        elif 'MUFU.EX2' in line:
            between += state == 'between'
            behind += state == 'behind'
    if state == 'behind':
        yield keys, between, behind


def check(tool, path):
    listing = subprocess.run([tool, '-sass', path], check=True, capture_output=True,
                             text=True).stdout
    found = list(blocks(listing))
    good = bool(found)
    for keys, between, behind in found:
        row = keys // 4
        if between < row or behind < row * (1 - EARLY):
            good = False
            print(f'{path}: of {keys} keys a thread takes {between} exponentials between the waits '
                  f'and {behind} behind them, and {row} of each row')
    if not found:
        print(f'{path}: no wait for the scores alone, followed by one for all')
    return good


if __name__ == '__main__':
    sys.exit(0 if all([check(sys.argv[1], path) for path in sys.argv[2:]]) else 1)
