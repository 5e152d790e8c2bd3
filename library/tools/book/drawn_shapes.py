"""Shapes drawn by a seed, as common/tools/record/drawn_shapes.c draws them for the programs; a
record's shapes must be these, so the two are held together."""
import math

COUNT = 60
WORD = (1 << 64) - 1


class SplitMix64:
    """common/splitmix64.h"""

    def __init__(self, seed):
        self.state = seed & WORD

    def next(self):
        self.state = self.state + 0x9e3779b97f4a7c15 & WORD
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & WORD
        z = (z ^ z >> 27) * 0x94d049bb133111eb & WORD
        return z ^ z >> 31


def log_uniform(random, least, most):
    """From `least` to `most`; its logarithm is uniform."""
    uniform = (random.next() >> 11) / 9007199254740992.0
    return min(most, int(least * math.exp(uniform * math.log((most + 1.0) / least))))


def rounded(value, unit, odd):
    """The multiple of `unit` below a value, but not zero; if `odd`, none of 64."""
    multiple = max(unit, value // unit * unit)
    return multiple + unit if odd and multiple % 64 == 0 else multiple


def shape(seed, index):
    random = SplitMix64(SplitMix64(seed * 1000003 + index).next())
    kind = random.next() % 15  # 0 to 2: not aligned; 3 to 6: not to lines
    while True:
        m = log_uniform(random, 8, 16384)
        n = log_uniform(random, 8, 16384)
        k = log_uniform(random, 64, 32768)
        if kind >= 3:
            n, k = (rounded(value, 8 if kind < 7 else 64, kind < 7) for value in (n, k))
        if 2.0 * m * n * k <= 4e12 and n <= 16384 and k <= 32768:
            return m, n, k
