"""fragments_kept.py CUOBJDUMP OBJECT...: does anything write the registers of a wgmma's first operand
while the Tensor Core may still read them? ptxas makes no remark about it.

A wgmma whose first operand is in registers names their first; the 64 x K operand has four. From such
an instruction on, in the order of the listing, no instruction may write them before the wait
(WARPGROUP.DEPBAR) that covers its group. Exit code 1 and the two instructions if one does; also if
there is no such wgmma at all.
"""
import re
import subprocess
import sys

MULTIPLY = re.compile(r'([HQ]GMMA)\.\S+ R\d+, R(\d+), gdesc.*?(gsb0)?\s*;')
WAIT = re.compile(r'WARPGROUP\.DEPBAR\.LE gsb0, (0x[0-9a-f]+)')
INSTRUCTION = re.compile(r'/\*([0-9a-f]{4,5})\*/\s+(@!?U?P\d+ )?\s*([A-Z]\S*) (.*?);')
# What has its result in the first operand, apart from stores, branches and the like.
NO_RESULT = ('ST', 'BRA', 'SYNCS', 'BAR', 'RED', 'EXIT', 'UTMA', 'WARPSYNC', 'BSYNC', 'CALL')


def written(name, operands):
    """The registers that an instruction writes."""
    match = re.match(r'(?:U?P\d+, |U?PT, )*R(\d+)\b', operands)
    if not match or name.startswith(NO_RESULT) or 'GMMA' in name:
        return range(0)
    wide = 4 if '.128' in name or name.startswith('LDSM') and '.4' in name else \
        2 if '.64' in name or '.WIDE' in name else 1
    return range(int(match.group(1)), int(match.group(1)) + wide)


def check(tool, path):
    listing = subprocess.run([tool, '-sass', path], check=True, capture_output=True,
                             text=True).stdout
    groups, current, found, bad = [], [], 0, 0
    for line in listing.splitlines():
        if 'Function :' in line:
            groups, current = [], []
        match = INSTRUCTION.search(line)
        if not match:
            continue
        address, name, operands = match.group(1), match.group(3), match.group(4)
        multiply = MULTIPLY.search(line)
        if 'GMMA' in name:
            if multiply:
                found += 1
                first = int(multiply.group(2))
                current.append((range(first, first + 4), line.split(';')[0].strip()))
            if 'gsb0' in line:
                groups.append(current)
                current = []
            continue
        wait = WAIT.search(line)
        if wait:
            groups = groups[len(groups) - int(wait.group(1), 16):] if int(wait.group(1), 16) else []
            continue
        for register in written(name, operands):
            for group in groups + [current]:
                for registers, by in group:
                    if register in registers:
                        print(f'{path}: {address}: {name} {operands.strip()}\n    writes R{register} '
                              f'of {by}')
                        bad += 1
    if not found:
        print(f'{path}: no wgmma with its first operand in registers')
    return bad == 0 and found > 0


if __name__ == '__main__':
    sys.exit(0 if all([check(sys.argv[1], path) for path in sys.argv[2:]]) else 1)
