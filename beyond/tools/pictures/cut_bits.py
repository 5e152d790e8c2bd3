"""Chapter 11: the bits that the Tensor Core cuts off a small product beside a large sum, and where
they are when 128 products have a sum of their own first."""
from data import c_table
from edit import Replace
from picture import Picture

RULE = "common/sim/models/tensor_sum.c"
SO_FAR, PRODUCTS = 1024, ((3, 1.25), (.25, .25))
TOP_BIT, LAST_BIT = 10, -13  # the columns: powers of two
X, CELL, ROW = 108, 18, 25
EDITS = [(RULE, Replace(": (struct tensor_precision){13, 13};",
                        ": (struct tensor_precision){14, 14};")),
         (RULE, Replace("terms[i].exponent > greatest) greatest = terms[i].exponent;",
                        "terms[i].exponent < greatest) greatest = terms[i].exponent;"))]
UNIT = 2.0 ** LAST_BIT


def sums():
    """Of the sum with and without what is there so far: (exponent, fraction, kept, [cut terms in
    units of the last column], the result in them); the last one is fp32's sum of both."""
    products = ", ".join(f"product({a}, {b})" for a, b in PRODUCTS)
    rows = c_table(f'''
#include "sim/models/element_values.c"
#include "{RULE.removeprefix("common/")}"
static struct tensor_term product(double a, double b) {{
    int bits[2] = {{0, 0}};
    const double value[2] = {{a, b}};
    for (int i = 0; i < 2; ++i)
        while (tensor_element(TENSOR_E4M3, bits[i]).value != value[i]) ++bits[i];
    return tensor_product(TENSOR_E4M3, bits[0], TENSOR_E4M3, bits[1]);
}}
static float as_float(uint32_t bits) {{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}}
int main(void) {{
    const struct tensor_precision keeps = tensor_precision(TENSOR_E4M3);
    float result = 0;
    for (int with = 1; with >= 0; --with) {{
        const float so_far = with ? {SO_FAR} : 0;
        uint32_t bits;
        memcpy(&bits, &so_far, sizeof bits);
        const struct tensor_term terms[] = {{tensor_accumulator(bits), {products}}};
        const int count = sizeof terms / sizeof *terms;
        const int exponent = tensor_sum_exponent(terms, count);
        printf("%d %d %d", exponent, keeps.fraction, keeps.kept);
        for (int i = 0; i < count; ++i)
            printf(" %.0f", tensor_align(terms[i], exponent, keeps) *
                                ldexp(1, exponent - keeps.fraction - {LAST_BIT}));
        result = as_float(tensor_sum(terms, count, keeps));
        printf(" %.0f\\n", result / {UNIT});
    }}
    printf("%.0f\\n", (result + {SO_FAR}.0f) / {UNIT});
}}''')
    return [(row[:3], row[3:-1], row[-1]) for row in rows[:2]] + [rows[2][0]]


def draw():
    (at, _, long), (own, few, short), promoted = sums()
    exact = [SO_FAR] + [a * b for a, b in PRODUCTS]
    units = [round(value / UNIT) for value in exact]
    lost = sum(units) - long
    assert at[0] == TOP_BIT and at[1] == at[2] and 0 < lost < units[1]
    assert short == sum(units[1:]) and list(few[1:]) == units[1:] and promoted == sum(units)
    bits = at[1] + 1
    names = [f"so far {SO_FAR}"] + [f"{a:g}·{b:g}" for a, b in PRODUCTS]
    p = Picture(f"The Tensor Core keeps {bits} bits of a sum",
                f"""The largest term places the window of {bits} bits: beside the {SO_FAR} so far,
                {lost * UNIT:g} of two products of e4m3 lies below it and is cut off (scales of 1).
                The products alone fit into {bits} bits, and the {TOP_BIT - LAST_BIT + 1} of fp32
                hold the whole sum (counted from `common/sim/models/tensor_sum.c`).""",
                f"Above, the Tensor Core adds {names[1]} and {names[2]} to {SO_FAR}: it keeps "
                f"{bits} bits from 2 to the {TOP_BIT} down, the second product lies below them, "
                f"and the result is {long * UNIT:g}. Below, it adds the two products alone, and "
                f"the {bits} bits begin at 2 to the {own[0]}: nothing is lost. The CUDA cores add "
                f"the result to {SO_FAR} in fp32, with 24 bits: {promoted * UNIT}.", 560)

    def x_of(bit):
        return X + CELL * (TOP_BIT - bit)

    def number(y, name, value, high, low, faint=False):
        """The bits of a value; those outside the window high .. low are lost."""
        p.text(X - 8, y + 16, name, "text b" if faint else "text", "end")
        p.cells([(x_of(b) + 1, y + 1, CELL - 2, ROW - 4) for b in range(low, high + 1)
                 if not value >> b - LAST_BIT & 1], "lane")
        for b in range(LAST_BIT, TOP_BIT + 1):
            if value >> b - LAST_BIT & 1:
                kept = low <= b <= high
                p.rect(x_of(b) + 1, y + 1, CELL - 2, ROW - 4,
                       ("mma" if faint else "item0") if kept else "hot")
                p.text(x_of(b) + CELL / 2, y + 16, 1, "num bg" if not kept else "num ink b",
                       "middle")

    def window(y, rows, high, low, word):
        p.rect(x_of(high) - 1, y - 2, CELL * (high - low + 1) + 2, ROW * rows + 1, "box")
        p.text(x_of(low) + CELL, y - 8, word, "text b", "end")

    def add(y, names_, values, result, high, low, word):
        for i, (name, value) in enumerate(zip(names_, values)):
            number(y + ROW * i, name, value, high, low)
        number(y + ROW * len(values), "sum", result, high, low, True)
        window(y, len(values) + 1, high, low, word)

    p.text(20, 62, f"The largest term, {SO_FAR}, places the window", "head")
    add(94, names, units, long, at[0], at[0] - at[1], f"{bits} bits")
    p.text(x_of(-4) + CELL + 8, 94 + 2 * ROW + 16, "cut off")
    assert units[2] * UNIT == 2.0 ** -4  # the bit beside the words
    p.text(20, 224, f"Promoted: products first, {names[1]} places it", "head")
    add(256, names[1:], units[1:], short, own[0], own[0] - own[1], f"{bits} bits")
    p.text(20, 358, "Then, in the CUDA cores, the sum of both in fp32", "head")
    add(390, [names[0], "products"], [units[0], short], promoted, TOP_BIT, LAST_BIT, "24 bits")
    for bit, power in ((TOP_BIT, 1 << TOP_BIT), (0, 1), (LAST_BIT, f"1/{1 << -LAST_BIT}")):
        x = x_of(bit) + CELL / 2
        p.path(f"M{x:g} 469v5", "rule")
        p.text(x, 490, power, "num soft", "middle")
    p.text(20, 520, "so far: the running sum, of the k-tiles before")
    p.text(20, 541, f"sum above: {long * UNIT:g}; promoted: {promoted * UNIT}")
    return p.svg()
