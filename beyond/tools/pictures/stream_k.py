"""Chapter 10: who multiplies which k-tiles of which tiles, with whole tiles, with split-K and with
stream-K, and the sums that travel."""
import re

from data import between, c_table, constants, source
from edit import Replace
from picture import Picture

KERNEL, SPLIT = "beyond/10_stream_k/kernel.cu", "beyond/10_stream_k/split_k.cu"
CTAS, TILES, K_TILES, FOLLOWED = 4, 7, 8, 5
X, RIGHT, LANE = 76, 544, 22
EDITS = [(KERNEL, Replace("if (rest > 0 && 2 * rest < clusters && args.items > 0) --args.items;",
                          "if (rest > 0 && args.items > 0) --args.items;")),
         (KERNEL, Replace("part->k_end = (int)(work->end - first);",
                          "part->k_end = (int)(work->end - first) - 1;")),
         (SPLIT, Replace("#define SPLITS 4", "#define SPLITS 2"))]


def stretches():
    """[[(tile, k_begin, k_end) ...] for each CTA], in the order in which stream-K computes them;
    clusters are of one CTA here, and a pair is a tile."""
    code = between(KERNEL, "struct part {", "/* This CTA's tile of a part. */")
    rounds = re.search(r"const int rest.*?--args\.items;", source(KERNEL), re.S).group()
    rows = c_table(f'''
#define DEVICE static inline
#define CLUSTER 1
struct gemm_args {{ int tiles_m, tiles_n, tiles_k, items; }};
struct {{ int x; }} gridDim = {{{CTAS}}}, blockIdx;
{code}
int main(void) {{
    struct gemm_args args = {{1, {TILES}, {K_TILES}, 0}};
    const int clusters = {CTAS}, tiles = {TILES};
    {rounds}
    for (blockIdx.x = 0; blockIdx.x < {CTAS}; ++blockIdx.x) {{
        struct work work = whole_work(&args);
        struct part p;
        while (next_part(&args, &work, &p))
            printf("%d %d %d %d\\n", blockIdx.x, p.pair, p.k_begin, p.k_end);
    }}
}}''')
    return [[row[1:] for row in rows if row[0] == cta] for cta in range(CTAS)]


def parts(splits):
    """{(CTA of the cluster, tile): its k-tiles} of split-K."""
    tile = re.search(r"tile_at\((blockIdx.x / SPLITS),", source(SPLIT)).group(1)
    k_tile = between(SPLIT, "const int k_tile = item", ";")
    rows = c_table(f'''
#define SPLITS {splits}
struct {{ int x; }} blockIdx;
static int cluster_rank(void) {{ return blockIdx.x % SPLITS; }}
int main(void) {{
    for (blockIdx.x = 0; blockIdx.x < {TILES} * SPLITS; ++blockIdx.x)
        for (int item = 0; item < {K_TILES} / SPLITS; ++item) {{
            {k_tile};
            printf("%d %d %d\\n", cluster_rank(), {tile}, k_tile);
        }}
}}''')
    out = {}
    for rank, tile, k in rows:
        out.setdefault((rank, tile), []).append(k)
    return out


def draw():
    splits = constants(SPLIT)["SPLITS"]
    assert splits == CTAS
    split, streamed = parts(splits), stretches()
    whole = [[(tile, 0, K_TILES) for tile in range(cta, TILES, CTAS)] for cta in range(CTAS)]
    # Every k-tile of every tile once.
    for tile in range(TILES):
        assert sorted(k for (_, t), ks in split.items() if t == tile for k in ks) == list(
            range(K_TILES))
        assert sorted(k for work in streamed for t, b, e in work if t == tile
                      for k in range(b, e)) == list(range(K_TILES))
    rounds = -(-TILES // CTAS) * K_TILES
    ends = {sum(e - b for _, b, e in work) for work in streamed}
    assert len(ends) == 1, "the stretches differ in length"
    end, = ends
    part, = {len(ks) for ks in split.values()}
    assert TILES * part == end
    idle = CTAS * rounds - TILES * K_TILES
    # A tile in p parts: p - 1 tiles of sums travel, in split-K in quarters of a tile.
    owners = [{cta for cta, work in enumerate(streamed) for t, _, _ in work if t == tile}
              for tile in range(TILES)]
    cut = [tile for tile in range(TILES) if len(owners[tile]) > 1]
    sums = [(splits - 1) * TILES, sum(len(own) - 1 for own in owners)]
    # A part that lacks its tile's end comes before one that has it.
    for work in streamed:
        lacks = [e < K_TILES for _, b, e in work if e - b < K_TILES]
        assert lacks == sorted(lacks, reverse=True)
    p = Picture("Stream-K cuts only the last tiles",
                f"""{TILES} whole tiles on {CTAS} CTAs take {rounds} steps of a k-tile, both kinds
                of cut {end}. Split-K cuts all {TILES} tiles, and the sums of {sums[0]} parts
                travel; stream-K cuts {len(cut)}, and {sums[1]} travel (counted from `next_part()`
                and `split_k.cu`).""",
                f"Three schedules of {TILES} tiles of {K_TILES} k-tiles on {CTAS} CTAs. Whole "
                f"tiles: {rounds} steps, and one CTA is idle for the last {idle}. Split-K: the "
                f"CTAs share every tile, {part} k-tiles each, {end} steps. Stream-K: each CTA "
                f"computes a whole tile, and then an equal stretch of the last {len(cut)} tiles, "
                f"{end} steps. Arrows show to which CTA the sums of a cut tile go: to the one that "
                "has the tile's last k-tile.", 568)

    def px(k):
        return X + (RIGHT - X) * k / rounds

    def piece(y, at, wide, tile, word):
        cls, ink = {FOLLOWED: ("item1", "num ink b")}.get(tile, ("mmapale", "num"))
        p.rect(px(at), y, px(wide) - px(0) - 1.5, LANE, cls)
        p.text((px(at) + px(at + wide)) / 2 - .7, y + 16, word, ink, "middle")

    def lane(y, cta):
        p.text(X - 10, y + 16, f"CTA {cta}", "text", "end")
        p.rect(X, y, RIGHT - X, LANE, "lane")

    p.text(20, 60, f"Whole tiles, {K_TILES} k-tiles each: {rounds} steps", "head")
    for cta, work in enumerate(whole):
        y = 72 + 25 * cta
        lane(y, cta)
        for i, (tile, b, e) in enumerate(work):
            piece(y, K_TILES * i, e - b, tile, f"tile {tile}")
        at = K_TILES * len(work)
        if at < rounds:
            p.rect(px(at), y, px(rounds) - px(at), LANE, "idle")
            p.text((px(at) + px(rounds)) / 2, y + 16, "idle", "text b", "middle")

    p.text(20, 204, f"Split-K, {splits} parts of each tile: {end} steps, {sums[0]} sums travel",
           "head")
    for cta in range(CTAS):
        y = 216 + 25 * cta
        lane(y, cta)
        for tile in range(TILES):
            piece(y, part * tile, part, tile, f"{tile}:{','.join(map(str, split[cta, tile]))}")

    p.text(20, 348, f"Stream-K: {end} steps, {sums[1]} sums travel", "head")
    step, done = 38, {}
    mine = next((b, e) for work in streamed for t, b, e in work if t == FOLLOWED and e == K_TILES)
    for cta, work in enumerate(streamed):
        y, at = 360 + step * cta, 0
        lane(y, cta)
        for tile, b, e in work:
            whole_tile = e - b == K_TILES
            piece(y, at, e - b, tile, f"tile {tile}" if whole_tile else f"{tile}: {b}–{e - 1}")
            at += e - b
            done.setdefault(tile, []).append((b, e, px(at), y))
    for tile in cut:
        *lack, (_, e, to, below) = sorted(done[tile])
        assert e == K_TILES
        for _, _, x, y in lack:
            assert below == y + step  # the neighbour: the arrow crosses nothing
            p.path(f"M{x - 9:g} {y + LANE + 1}v7H{px(end) + 16:g}", "rule")
            p.arrow(px(end) + 16, y + LANE + 8, px(end) + 16, below - 1)
        p.rect(px(end) + 6, below, 20, LANE, "epilogue")
        p.text(px(end) + 16, below + 16, "+", "num ink b", "middle")
    p.path(f"M{px(end):g} 196V{360 + step * CTAS - 12}", "dash")
    y = 360 + step * CTAS + 14
    b, last = mine[0], mine[1] - 1
    one, other = split[1, FOLLOWED]
    p.text(20, y, f"{FOLLOWED}:{one},{other}", "num")
    p.text(72, y, f"k-tiles {one} and {other} of tile {FOLLOWED}")
    p.text(316, y, f"{FOLLOWED}: {b}–{last}", "num")
    p.text(378, y, f"k-tiles {b} to {last} of it")
    p.legend(20, y + 27, (("item1", f"tile {FOLLOWED}", 104), ("epilogue", "", 0)))
    p.text(133, y + 27, "+", "num ink b", "middle")
    p.text(149, y + 27, "adds the sums of the tile’s other part")
    return p.svg()
