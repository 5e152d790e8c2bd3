"""What an expression over the recorded runs is worth.

An expression has numbers, + - * / ( ), min(a, b, ...), max(a, b, ...), abs(a), and

    column(kernel, shape)           from the record <results>.jsonl that the marker names; COLUMNS
    column(kernel, shape, record)   lists the columns. Calls of one claim, or of one cell, that name
                                    the same record and shape are answered from one run: the last
                                    that has all of them. A record may name its type, h200-fp8-rows:e4m3, or a text
                                    that its run's command has, h200-two-gpus@DEVICES=0, or both,
                                    h100-grouped:bf16@--router even
    gain(kernel, other, shape)      by how many percent more TFLOPS the kernel has than the other;
    loss(kernel, other, shape)      by how many percent fewer; a record may follow, too
    cell(file, text, n)             the n-th number after `text`, in the last line of the record
                                    <file> that has the text, which may have commas. Several blanks
                                    are as one
    round(x, digits)                x with so many decimals, for a sum of rounded numbers
    apart(x)                        x, which combines numbers of several runs
    beside(x, column(...))          x, of a run that has the other number, too
    selected(kernel, shape)         in a grid: the name of what the kernel selected in its run

A GPU's clock and power differ between runs, so times are compared with those of the same rotation,
and cycles with cycles. An expression that combines numbers of two runs is refused, unless apart()
says that it does; the text has to say so, too. A ratio of two numbers of one run may be combined
with a ratio of another. A sum, a difference or a ratio of cycles and times is refused; clock()
makes cycles of times. A row of a grid, and all claims of a marker, take a kernel's numbers from one
run, unless they name another in the record.
"""
import ast
import math
import re

import records

# A column's number in a result, its scale, and whether it is taken per that of the run's cuBLAS.
COLUMNS = {
    "tflops": (("burst", "tflops"), 1, False),
    "ms": (("burst", "ms"), 1, False),
    "clock": (("burst", "clock_mhz"), 1, False),
    "spread": (("burst", "spread"), 100, False),
    "sustained": (("sustained", "tflops"), 1, False),
    "sustained_clock": (("sustained", "clock_mhz"), 1, False),
    "power": (("sustained", "power_w"), 1, False),
    "cycles": (("cycles",), 1, False),
    "utilization": (("tensor_core_utilization",), 100, False),
    "registers": (("registers",), 1, False),
    "quantization_error": (("quantization_error",), 100, False),
    "accumulation_error": (("accumulation_error",), 100, False),
    "rounding_error": (("rounding_error",), 100, False),
    "cublas": (("burst", "tflops"), 100, True),
    "sustained_cublas": (("sustained", "tflops"), 100, True),
}


# Powers of time, of cycles and of watts in a column's number. Others are numbers without a unit.
UNITS = {"tflops": (-1, 0, 0), "sustained": (-1, 0, 0), "ms": (1, 0, 0), "clock": (-1, 1, 0),
         "sustained_clock": (-1, 1, 0), "power": (0, 0, 1), "cycles": (0, 1, 0),
         "utilization": (0, -1, 0)}
PURE = (0, 0, 0)
SAID_APART = re.compile(r"\b(runs?|ran|rotations?|records?)\b")  # that they are of several


class Mistake(Exception):
    """Why an expression has no value."""


class NotRecorded(Mistake):
    """No run has what the expression asks for."""


class Source:
    """What an expression's calls are looked up in."""

    def __init__(self, book, page, results, dtype):
        self.book, self.page = book, page
        self.results = results  # the record of a column that names none
        self.dtype = dtype
        self.answered = {}  # the runs that have answered for a kernel, a shape and a record
        self.apart = False  # has an expression combined runs?

    def new_row(self):
        """Another row of a grid, which may take its numbers from other runs."""
        self.answered = {}

    def evaluate(self, *expressions):
        """The values of the expressions of one claim or cell."""
        calls = []
        trees = [self.parse(expression, calls) for expression in expressions]
        for call in calls:
            if call.value is None:
                self.answer(call, calls)
        self.apart |= any("apart(" in expression for expression in expressions)
        return [value_of(tree, calls).value for tree in trees]

    # ---- calls ----

    def parse(self, expression, calls):
        """The expression as Python's, with _N for the N-th call."""
        def add(found):
            name, inside = found.groups()
            if name == "cell":
                calls.append(self.cell(inside))
            elif name in ("gain", "loss"):
                words = arguments(inside)
                if len(words) not in (3, 4):
                    raise Mistake("gain and loss need two kernels and a shape")
                for kernel in words[:2]:
                    calls.append(self.call("tflops", [kernel] + words[2:]))
                first, sign = len(calls) - 2, 1 if name == "gain" else -1
                return f"({sign} * 100 * (_{first} / _{first + 1} - 1))"
            else:
                calls.append(self.call(name, arguments(inside)))
            return f"_{len(calls) - 1}"

        names = "|".join([*COLUMNS, "gain", "loss", "cell", "selected"])
        text = re.sub(rf"\b({names})\(([^)]*)\)", add, expression)
        for name in re.findall(r"\b([a-z]\w*)\s*\(", text):
            if name not in FUNCTIONS:
                raise Mistake(f"there is no column or function {name}")
        try:
            return ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            raise Mistake(f"expected a number, a call or a ( ) in '{expression.strip()}'") from None

    def call(self, column, words):
        if len(words) not in (2, 3):
            raise Mistake(f"{column} needs a kernel and a shape")
        return Call(column, words[0], words[1], words[2] if len(words) == 3 else self.results)

    def cell(self, inside):
        """The n-th number after a text in the last line of a file that has it."""
        words = re.fullmatch(r"([^,]*), *(.*),([^,]*)", inside)
        if not words:
            raise Mistake(f"expected cell(file, text, n) in {inside}")
        file, text, n = words.groups()
        content = self.book.text(self.book.path_for(self.page, f"results/{file}")) or ""
        content, text = (re.sub(" +", " ", lines) for lines in (content, text))
        at = content.rfind(text)
        line = content[at + len(text):].split("\n", 1)[0] if at >= 0 else ""
        numbers = re.findall(r"\d[\d]*(?:\.\d*)?(?:[eE][-+]?\d+)?", line)
        if not 0 < int(n) <= len(numbers):
            raise NotRecorded(f"there is no such cell of {file}")
        return Call("cell", value=float(numbers[int(n) - 1]))

    def answer(self, first, calls):
        """Answers the calls that name the same record and shape, from one run."""
        like = [c for c in calls if c.value is None and
                (c.record, c.shape) == (first.record, first.shape)]
        name, dtype, command = re.fullmatch(r"([^:@]*)(?::([^@]*))?(?:@(.*))?",
                                            first.record).groups()
        dtype, command = dtype or self.dtype, command or ""
        shape = records.shape_of(first.shape)
        for run in reversed(records.load(self.book, self.page, name)):
            if command not in records.text(run.header, "command"):
                continue
            values = [call.look_up(run.find(call.kernel, shape, dtype)) for call in like]
            if all(values):
                for call, value in zip(like, values):
                    call.value, call.run = value, run
                    key = call.kernel, call.shape, call.record
                    if self.answered.setdefault(key, run) is not run:
                        raise Mistake(f"{call.kernel} at {call.shape} is of two runs of {name}: "
                                      "name one, as in RECORD@TEXT")
                return
        raise NotRecorded(f"no run has {first.column} of {first.kernel} at {first.shape}, with "
                          "what it is compared with")


class Call:
    def __init__(self, column, kernel="", shape="", record="", value=None):
        self.column, self.kernel, self.shape, self.record = column, kernel, shape, record
        self.value = value
        self.run = None  # that has answered

    def quantity(self):
        units = UNITS.get(self.column, PURE)
        kind = "times" if self.column.endswith("cublas") else ""
        # The simulator has no clock and no power: its runs may be compared.
        alone = units == PURE or not self.run or self.run.is_simulated()
        return Quantity(self.value, units, kind, set() if alone else {id(self.run)})

    def look_up(self, found):
        """The column of what a run has; None if it has none."""
        if not found:
            return None
        if self.column == "selected":
            return records.text(found.value, "selected")
        keys, scale, per_cublas = COLUMNS[self.column]
        value = scale * records.number(found.value, *keys)
        if per_cublas:
            cublas = records.number(found.cublas, *keys)
            value = value / cublas if cublas else 0
        return value if value > 0 else None


def arguments(inside):
    return [word.lstrip(" ") for word in inside.split(",")]


# ---- values ----

def rounded(value, digits):
    """Halves go away from zero."""
    unit = 10 ** -digits
    return math.copysign(math.floor(abs(value / unit) + 0.5) * unit, value)


class Quantity:
    """A number, its unit, and the runs that it depends on. The ratio of two numbers with a unit has
    none and depends on no run any more; `kind`: what it is a ratio of, times or cycles."""

    def __init__(self, value, units=PURE, kind="", runs=frozenset()):
        self.value, self.units, self.kind, self.runs = value, units, kind, runs


def kind_of(units):
    time, cycles, _ = units
    return "times" if time and not cycles else "cycles" if cycles and not time else ""


def runs_of(quantities, apart):
    runs = set().union(*(quantity.runs for quantity in quantities))
    if len(runs) > 1 and not apart:
        raise Mistake("numbers of two runs: take them from one, or write apart(...) and say so in "
                      "the text")
    return runs


def alike(quantities, apart):
    """The common unit of what is added or compared."""
    with_unit = [quantity for quantity in quantities if quantity.units != PURE]
    kinds = {kind for kind in (quantity.kind or kind_of(quantity.units) for quantity in quantities)
             if kind}
    if len(kinds) > 1:
        raise Mistake("cycles beside times: compare cycles with cycles, times with times")
    if any(quantity.units != with_unit[0].units for quantity in with_unit):
        raise Mistake("a sum of different units")
    return (with_unit[0].units if with_unit else PURE, "" if with_unit else "".join(kinds),
            runs_of(quantities, apart))


def product(left, right, sign, apart):
    units = tuple(a + sign * b for a, b in zip(left.units, right.units))
    runs = runs_of((left, right), apart)
    if left.kind and right.kind and left.kind != right.kind:
        raise Mistake("cycles beside times: compare cycles with cycles, times with times")
    value = left.value * right.value if sign > 0 else left.value / right.value
    if units != PURE:
        return Quantity(value, units, "", runs)
    kind = left.kind or right.kind
    if left.units != PURE:
        kind = kind_of(left.units)
    return Quantity(value, PURE, kind)


def combined(operator, left, right, apart):
    if isinstance(operator, (ast.Mult, ast.Div)):
        return product(left, right, 1 if isinstance(operator, ast.Mult) else -1, apart)
    value = left.value + right.value if isinstance(operator, ast.Add) else left.value - right.value
    return Quantity(value, *alike((left, right), apart))


FUNCTIONS = {"min": min, "max": max, "abs": abs, "round": rounded, "apart": None, "beside": None}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def value_of(tree, calls, apart=False):
    """Evaluates what the language has, and nothing else of Python."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, OPERATORS):
        try:
            return combined(tree.op, value_of(tree.left, calls, apart),
                            value_of(tree.right, calls, apart), apart)
        except ZeroDivisionError:
            raise Mistake("a division by zero") from None
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        inside = value_of(tree.operand, calls, apart)
        return Quantity(-inside.value, inside.units, inside.kind, inside.runs)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)):
        return Quantity(tree.value)
    if isinstance(tree, ast.Name) and re.fullmatch(r"_\d+", tree.id):
        return calls[int(tree.id[1:])].quantity()
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        if tree.func.id == "apart" and len(tree.args) == 1:
            inside = value_of(tree.args[0], calls, True)
            return Quantity(inside.value, inside.units, inside.kind)
        if tree.func.id == "beside" and len(tree.args) == 2:
            return value_of(tree.args[0], calls, apart)
        inside = [value_of(argument, calls, apart) for argument in tree.args]
        value = FUNCTIONS[tree.func.id](*(quantity.value for quantity in inside))
        return Quantity(value, *alike(inside, apart))
    raise Mistake("expected a number, a call or a ( )")
