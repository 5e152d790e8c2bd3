#!/usr/bin/env python3
"""litmus.py HOPPER_CHECK DAT3M: litmus tests of another project's model of PTX against hopper_check.

DAT3M is a checkout of github.com/hernanponcedeleon/Dat3M (30640123 was used). Every test of PTX 6.0
becomes a kernel: a litmus thread is lane 0 of a warp, a variable a word of global memory. A strong
read whose value the outcome names is repeated until it has that value, so that what follows is
judged only where the outcome can come about.

An outcome that the model allows, and that no interleaving has, must be a race. One that it forbids
must not be, nor a program without weak accesses. Prints what differs, what cannot be compared and
why, and how many agree.
"""
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

MOST_STATES = 60000
STRIDE = 128  # bytes between two variables
RACES = {"data-race", "global-write-write", "global-read-write", "global-write-read"}
ATOMIC_TYPES = {"add": "u32", "sub": "u32", "exch": "b32", "cas": "b32"}


class Unfit(Exception):
    """The test cannot be compared: why."""


class Test:
    """A litmus test: self.threads are (number, CTA, instructions)."""

    def __init__(self, text):
        text = re.sub(r'"[^"]*"|\(\*.*?\*\)', "", text, flags=re.S)
        initial, body = text[text.index("{") + 1:].split("}", 1)
        condition = re.search(r"(~?\s*exists|forall)\s*(.*)", body, flags=re.S)
        self.kind = re.sub(r"\s", "", condition.group(1))
        self.condition = re.sub(r"(\d+):\s+", r"\1:", " ".join(condition.group(2).split()))
        rows = [row.split("|") for row in body[:condition.start()].split(";") if row.strip()]
        heads = [re.match(r"\s*P(\d+)\s*@\s*cta\s*(\d+)\s*,\s*gpu\s*(\d+)", c) for c in rows[0]]
        if not all(heads) or len({head.group(3) for head in heads}) > 1:
            raise Unfit("several GPUs")
        self.threads = [(int(head.group(1)), int(head.group(2)),
                         [row[i].strip() for row in rows[1:] if i < len(row) and row[i].strip()])
                        for i, head in enumerate(heads)]
        self.registers, self.variables = {}, {}
        for item in filter(None, (part.strip() for part in initial.split(";"))):
            found = re.match(r"(?:P?(\d+):)?\s*(\w+)\s*=\s*(-?\d+)$", item)
            if not found:
                raise Unfit("pointers")
            if found.group(1):
                self.registers[int(found.group(1)), found.group(2)] = int(found.group(3))
            else:
                self.variables[found.group(2)] = int(found.group(3))
        self.wanted = {(int(p), r): int(v) for p, r, v in
                       re.findall(r"P?(\d+):(\w+)\s*==?\s*(\d+)", self.condition)}
        self.barriers = any(i.startswith("bar.") for _, _, code in self.threads for i in code)
        self.weak = any(".weak" in i for _, _, code in self.threads for i in code)

    def members(self, cta):
        return [number for number, of, _ in self.threads if of == cta]


def parts(instruction):
    opcode, _, rest = instruction.partition(" ")
    return opcode.split("."), [operand.strip() for operand in rest.split(",") if operand.strip()]


def is_number(text):
    return re.match(r"-?\d+$", text) is not None


# ---- as a kernel ----

class Kernel:
    """Its text: self.lines, of one thread after the other."""

    def __init__(self, test):
        self.test, self.lines, self.names, self.thread = test, [], set(), 0

    def register(self, name):
        self.names.add((self.thread, name))
        return f"%t{self.thread}_{name}"

    def value(self, text):
        return text if is_number(text) else self.register(text)

    def address(self, variable):
        self.test.variables.setdefault(variable, 0)
        index = list(self.test.variables).index(variable)
        return f"[%d0+{STRIDE * index}]"

    def of_lane(self, line):
        self.lines.append("@%p0 " + line)

    def load(self, words, operands, number):
        if len(words) == 1:
            self.of_lane(f"mov.b32 {self.register(operands[0])}, {self.value(operands[1])};")
            return
        strong = "" if words[1] == "weak" else "." + ".".join(words[1:])
        wanted = self.test.wanted.get((self.thread, operands[0]))
        loop = strong and wanted not in (None, self.test.variables.get(operands[1]))
        register = self.register(operands[0])
        if loop:
            self.lines.append(f"again{self.thread}_{number}:")
        self.of_lane(f"ld{strong}.global.u32 {register}, {self.address(operands[1])};")
        if self.test.barriers:
            self.lines.append(f"shfl.sync.idx.b32 {register}, {register}, 0, 31, 0xffffffff;")
        if loop:
            self.of_lane(f"setp.ne.u32 %p2, {register}, {wanted};")
            self.lines.append("and.pred %p2, %p2, %p0;")
            self.lines.append(f"@%p2 bra again{self.thread}_{number};")

    def atomic(self, words, operands):
        semantics, scope, operation = words[1:4]
        values = [self.value(operand) for operand in operands[words[0] == "atom":][1:]]
        variable = operands[1 if words[0] == "atom" else 0]
        if operation == "sub":
            operation, values = "add", [str(-int(values[0]))]
        if operation not in ATOMIC_TYPES or (words[0] == "red" and semantics == "acq_rel"):
            raise Unfit("no PTX")
        result = [self.register(operands[0])] if words[0] == "atom" else []
        self.of_lane(f"{words[0]}.{semantics}.{scope}.global.{operation}."
                     f"{ATOMIC_TYPES[operation]} "
                     + ", ".join(result + [self.address(variable)] + values) + ";")

    def barrier(self, words, operands, cta):
        name = self.value(operands[1] if len(operands) > 1 else operands[0])
        count = int(operands[2]) if len(operands) > 2 else len(self.test.members(cta))
        self.lines.append(f"barrier.{'.'.join(words[1:])} {name}, {32 * count};")

    def branch(self, words, operands):
        compared = {"beq": "eq", "bne": "ne"}[words[0]]
        line = f"setp.{compared}.u32 %p3, {self.value(operands[0])}, {self.value(operands[1])};"
        self.lines.append(line)
        self.lines.append(f"@%p3 bra {operands[2]}_{self.thread};")

    def instruction(self, text, number, cta):
        words, operands = parts(text)
        label = re.match(r"(\w+):$", text)
        if label:
            self.lines.append(f"{label.group(1)}_{self.thread}:")
        elif words[0] == "ld":
            self.load(words, operands, number)
        elif words[0] == "st":
            strong = "" if words[1] == "weak" else "." + ".".join(words[1:])
            self.of_lane(f"st{strong}.global.u32 {self.address(operands[0])}, "
                         f"{self.value(operands[1])};")
        elif words[0] in ("atom", "red"):
            self.atomic(words, operands)
        elif words[0] in ("fence", "membar"):
            self.of_lane(text + ";")
        elif words[0] == "bar":
            self.barrier(words, operands, cta)
        elif words[0] in ("beq", "bne"):
            self.branch(words, operands)
        elif words[0] == "goto":
            self.lines.append(f"bra {operands[0]}_{self.thread};")
        elif words[0] == "add":
            self.of_lane(f"add.u32 {self.register(operands[0])}, {self.value(operands[1])}, "
                         f"{self.value(operands[2])};")
        else:
            raise Unfit(words[0])

    def text(self):
        ctas = sorted({cta for _, cta, _ in self.test.threads})
        choose = []
        for self.thread, cta, code in self.test.threads:
            warp = self.test.members(cta).index(self.thread)
            choose.append(f"setp.eq.u32 %p1, %r4, {64 * ctas.index(cta) + warp}; "
                          f"@%p1 bra thread{self.thread};")
            self.lines.append(f"thread{self.thread}:")
            for number, line in enumerate(code):
                self.instruction(line, number, cta)
            self.lines.append("ret;")
        declared = [f".reg .b32 %t{t}_{n}; mov.b32 %t{t}_{n}, {self.test.registers.get((t, n), 0)};"
                    for t, n in sorted(self.names)]
        alone = [] if self.test.barriers else ["@!%p0 ret;"]
        return "\n".join(
            [".version 8.4", ".target sm_90a", ".address_size 64",
             ".entry k(.param .u64 y) {", ".reg .pred %p<4>; .reg .b32 %r<5>; .reg .b64 %d<1>;",
             "ld.param.u64 %d0, [y]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;",
             "and.b32 %r2, %r0, 31; setp.eq.u32 %p0, %r2, 0; shr.u32 %r3, %r0, 5;",
             "mad.lo.u32 %r4, %r1, 64, %r3;"] + declared + alone + choose + ["ret;"] +
            self.lines + ["}", ""])


def judge(command, test, work):
    path = os.path.join(work, "litmus.ptx")
    text = Kernel(test).text()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ctas = {cta for _, cta, _ in test.threads}
    warps = max(len(test.members(cta)) for cta in ctas)
    run = subprocess.run([command, "run", path, "--grid", str(len(ctas)), "--block",
                          str(32 * warps), "--buffer", "y=u32:64x64:zeros", "--branch-limit",
                          "20000", "y"], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 4):
        raise Unfit(f"exit code {run.returncode}")
    return set(re.findall(r"^hazard: ([a-z-]+)", run.stdout + run.stderr, flags=re.M))


# ---- as interleavings ----

def step(test, state, index):
    """The state after an instruction of thread `index`; None: it waits, or has ended."""
    at, registers, memory, waiting = state
    number, cta, code = test.threads[index]
    if at[index] == len(code) or index in dict(waiting):
        return None
    registers, memory, waiting = dict(registers), dict(memory), dict(waiting)
    words, operands = parts(code[at[index]])
    following = at[index] + 1

    def value(text):
        return int(text) if is_number(text) else registers.get((number, text), 0)

    if words[0] == "ld":
        registers[number, operands[0]] = (memory.get(operands[1], 0) if len(words) > 1
                                          else value(operands[1]))
    elif words[0] == "st":
        memory[operands[0]] = value(operands[1])
    elif words[0] == "add":
        registers[number, operands[0]] = value(operands[1]) + value(operands[2])
    elif words[0] in ("atom", "red"):
        rest = operands[words[0] == "atom":]
        before, given = memory.get(rest[0], 0), value(rest[1])
        memory[rest[0]] = {"add": before + given, "sub": before - given, "exch": given,
                           "cas": value(rest[-1]) if before == given else before}[words[3]]
        if words[0] == "atom":
            registers[number, operands[0]] = before
    elif words[0] == "bar":
        name = cta, value(operands[1] if len(operands) > 1 else operands[0])
        count = int(operands[2]) if len(operands) > 2 else len(test.members(cta))
        here = [i for i, other in waiting.items() if other == name]
        if len(here) + 1 < count:
            waiting[index] = name
        for i in here if len(here) + 1 >= count else []:
            del waiting[i]
    elif words[0] in ("beq", "bne"):
        if (value(operands[0]) == value(operands[1])) == (words[0] == "beq"):
            following = code.index(operands[2] + ":")
    elif words[0] == "goto":
        following = code.index(operands[0] + ":")
    return (at[:index] + (following,) + at[index + 1:], frozenset(registers.items()),
            frozenset(memory.items()), frozenset(waiting.items()))


def holds(test, registers, memory):
    text = test.condition.replace("/\\", " and ").replace("\\/", " or ").replace("~", " not ")
    text = re.sub(r"(?<![=!<>])=(?!=)", "==", text)
    for number, name in re.findall(r"P?(\d+):(\w+)", text):
        text = re.sub(rf"P?{number}:{name}\b", str(registers.get((int(number), name), 0)), text)
    for name in test.variables:
        text = re.sub(rf"\b{name}\b", str(memory.get(name, 0)), text)
    if not re.fullmatch(r"[\d\s()=!andort-]*", text):
        raise Unfit("condition")
    return bool(eval(text))  # numbers, comparisons, and, or, not


def outcomes(test):
    """Does the condition hold: the values that it has at the end of an interleaving."""
    first = (tuple(0 for _ in test.threads), frozenset(test.registers.items()),
             frozenset(test.variables.items()), frozenset())
    todo, seen, found = [first], set(), set()
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        if len(seen) > MOST_STATES:
            raise Unfit("too many interleavings")
        if all(at == len(code) for at, (_, _, code) in zip(state[0], test.threads)):
            found.add(holds(test, dict(state[1]), dict(state[2])))
        todo += filter(None, (step(test, state, i) for i in range(len(test.threads))))
    return found


def compare(command, test, expected, work):
    """Do both agree? Raises Unfit."""
    hazards = judge(command, test, work)
    if not hazards & RACES and hazards:
        raise Unfit("ends with " + ", ".join(sorted(hazards)))
    race, found = bool(hazards & RACES), outcomes(test)
    # Of exists `expected` says whether there is one, of the others whether it is so.
    allowed = expected if test.kind == "exists" else not expected
    wanted = test.kind != "forall"
    if allowed and wanted not in found:
        return race or not test.weak
    if allowed and test.weak:
        raise Unfit("the outcome is that of an interleaving")
    return not race


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    command, root = sys.argv[1:]
    unfit, agree, differ = collections.Counter(), 0, 0
    table = os.path.join(root, "dartagnan/src/test/resources/PTXv6_0-expected.csv")
    with open(table, encoding="utf-8") as file, tempfile.TemporaryDirectory() as work:
        for path, expected in filter(None, csv.reader(file)):
            with open(os.path.join(root, path), encoding="utf-8") as text:
                try:
                    good = compare(command, Test(text.read()), expected == "1", work)
                except Unfit as why:
                    unfit[str(why)] += 1
                    continue
            agree, differ = agree + good, differ + (not good)
            if not good:
                print("differs:", path)
    for why, count in unfit.most_common():
        print(f"not compared: {count}: {why}")
    print(f"{agree} agree, {differ} differ, {sum(unfit.values())} are not compared")


if __name__ == "__main__":
    main()
