"""choices.py: cases in which the reader chooses. What is offered runs, and `want` says which is right:
the one with the fewest or the most simulated cycles, or, `alone`, the only one whose run fails. Each says why
it comes out as it does. Those that are named -e are exercises of the chapters
(breaks/exercises.py). A test runs every choice.
"""

CHOICES = [
    {"id": "03-e1", "want": "fewest", "run": {"m": 512, "n": 512, "k": 512},
     "task": "Shared memory has room for two CTAs with three stages each, or for one CTA with five. "
             "Which is faster at 512 × 512 × 512?",
     "choices": [
         {"text": "three stages, two CTAs per SM",
          "why": "While one CTA waits at its barrier or stores its tile, the other multiplies."},
         {"text": "five stages, one CTA per SM", "variant": "stages5",
          "why": "Five stages hide the latency of loads, and nothing hides prologue, barriers and "
                 "epilogue."}],
     "hints": ["What does a deeper ring hide, and what does it not?",
               "All four warps of a CTA wait at the same barrier, and store at the same time."],
     "why": "A second CTA fills every gap of the first; a deeper ring only those in which loads are "
            "late."},
    {"id": "04-e2", "want": "fewest", "run": {"m": 512, "n": 512, "k": 512},
     "task": "Which is the fastest at 512 × 512 × 512?",
     "choices": [
         {"text": "three stages, two CTAs per SM", "why": "Each CTA fills the other's gaps."},
         {"text": "four stages, one CTA per SM", "variant": "stages4",
          "why": "Loads are early, and every barrier leaves a gap."},
         {"text": "three stages, one CTA per SM", "variant": "one_cta",
          "why": "The same gaps, and loads one k-tile later."}],
     "hints": ["What waits, if loads are never late?", "Prologue and epilogue, once a tile."],
     "why": "The second CTA wins at every k of the exercise, by less as k grows: gaps once a tile weigh "
            "less then."},
    {"id": "05-c1", "want": "fewest", "run": {"m": 512, "n": 512, "k": 128},
     "task": "k is 128: a tile has two k-tiles. Which ring is the fastest?",
     "choices": [
         {"text": "three stages, two CTAs per SM",
          "why": "Both k-tiles are requested at once, and the other CTA works meanwhile."},
         {"text": "two stages, two CTAs per SM", "variant": "stages2",
          "why": "Only one k-tile is requested ahead, so the second is late."},
         {"text": "five stages, one CTA per SM", "variant": "stages5",
          "why": "Three of the stages stay empty, and there is no second CTA to work during prologue "
                 "and epilogue."}],
     "hints": ["How many k-tiles are requested before the first is multiplied? STAGES - 1.",
               "Main loops are short here. Who works during prologue and epilogue?"],
     "why": "A ring need not be deeper than the k-tiles there are. With so short a main loop most of "
            "the time is prologue and epilogue, and a second CTA is what hides them."},
    {"id": "06-c1", "want": "fewest", "run": {"m": 512, "n": 512, "k": 512},
     "task": "Stages and WAIT, the groups that stay in flight: which pair is the fastest?",
     "choices": [
         {"text": "four stages, WAIT 1",
          "why": "The next multiplications are queued before the last have ended, and loads run two "
                 "k-tiles ahead."},
         {"text": "four stages, WAIT 0", "variant": "wait0",
          "why": "The Tensor Core idles in every k-tile: the wait, the refill and the next issue come "
                 "while nothing is queued."},
         {"text": "two stages, WAIT 1", "variant": "stages2",
          "why": "One stage is being read and the other waited for: nothing is loaded ahead, and every "
                 "k-tile pays the latency of a load."}],
     "hints": ["With WAIT 1 a stage is refilled one k-tile after it was issued.",
               "STAGES - WAIT - 1 k-tiles are loaded ahead."],
     "why": "WAIT costs a stage: of four, one is being multiplied, one is queued behind it, two are "
            "loaded ahead."},
    {"id": "06-c2", "want": "fewest", "run": {"m": 512, "n": 512, "k": 128},
     "task": "k is 128, so most of the time goes into storing D. Which kernel is the fastest?",
     "choices": [
         {"text": "one warpgroup, wide stores",
          "why": "One warpgroup stores the whole tile, and nothing is multiplied meanwhile."},
         {"text": "one warpgroup, narrow stores", "variant": "narrow",
          "why": "Each store instruction writes fewer bytes of a row, so there are more of them."},
         {"text": "two warpgroups, wide stores", "variant": "two_warpgroups",
          "why": "A larger tile, and twice as many warps to store it: the same D in fewer, fuller "
                 "steps."}],
     "hints": ["How many warps store, and how many bytes does each store write?",
               "Tiles are fewer where they are larger."],
     "why": "With so short a k the epilogue decides. Warps that store are what it wants, and bytes in "
            "each store."},
    {"id": "07-c1", "want": "most", "run": {"m": 256, "n": 512, "k": 1024},
     "task": "In 06 both WAIT 0 and two stages cost time. Which of these is slow in 07?",
     "choices": [
         {"text": "four stages, WAIT 1", "why": "This is the chapter's kernel."},
         {"text": "four stages, WAIT 0", "variant": "wait0",
          "why": "While one consumer drains, the other consumer's multiplications are queued: the "
                 "Tensor Core does not notice."},
         {"text": "two stages, WAIT 1", "variant": "stages2",
          "why": "A stage is free again after both consumers have read it, one k-tile later; then its "
                 "load still has to come."}],
     "hints": ["Two consumers send work to one Tensor Core.",
               "A second consumer hides a drain. Does it hide a load that is late for both?"],
     "why": "Another warpgroup hides what one warpgroup waits for. It does not hide what both wait "
            "for."},
    {"id": "07-c2", "want": "alone", "run": {},
     "off": "07_warp_specialized/kernel.cu|consumer|release_stage(shared, &release);|0",
     "task": "The consumers never release a stage within the main loop: the call in line LINE is off. "
             "Choose the k that shows it.",
     "choices": [
         {"text": "k = 64", "run": {"k": 64},
          "why": "One k-tile: the release behind the loop is the only one that there is."},
         {"text": "k = 256", "run": {"k": 256},
          "why": "Four k-tiles fill four stages. Nobody needs one a second time."},
         {"text": "k = 320", "run": {"k": 320},
          "why": "The fifth k-tile needs stage 0 again, and the producer waits for its release for "
                 "ever."}],
     "hints": ["A release matters to whoever wants the stage again.", "The ring has four stages."],
     "why": "A missing release shows when the ring comes round: k > STAGES · BK. A test with a small k "
            "passes."},
    {"id": "07-e3", "want": "most", "run": {"m": 512, "n": 512, "k": 1024},
     "task": "Which of the four takes the most simulated cycles?",
     "choices": [
         {"text": "07, WAIT 1", "why": "The queue is never empty."},
         {"text": "07, WAIT 0", "variant": "wait0",
          "why": "While one consumer drains, the other one's multiplications are queued."},
         {"text": "06's two warpgroups, WAIT 1", "chapter": "06", "variant": "two_warpgroups",
          "why": "Each warpgroup has a group in flight while it waits."},
         {"text": "06's two warpgroups, WAIT 0", "chapter": "06", "variant": "two_wait0",
          "why": "Both warpgroups drain before the same barrier, so neither fills the other's gap."}],
     "hints": ["Two warpgroups alone do not help: they must not wait at the same time.",
               "In 06 a __syncthreads() stands in every k-tile."],
     "why": "Between full and empty barriers the consumers drift apart, and one computes while the "
            "other drains. A barrier of the whole CTA keeps them in step."},
    {"id": "08-c1", "want": "fewest", "run": {"m": 512, "n": 512, "k": 512},
     "task": "D is 512 × 512, on four SMs. Which tile?",
     "choices": [
         {"text": "128 × 192, ping-pong",
          "why": "12 tiles, three for each SM; a third of each tile in the last column lies "
                 "outside of D."},
         {"text": "128 × 256, persistent.cu", "variant": "persistent",
          "why": "8 tiles, two for each SM, and all of them full."},
         {"text": "128 × 192, ping-pong, two stages", "variant": "stages2",
          "why": "12 tiles as well, and loads come late."}],
     "hints": ["Count tiles, and the columns that lie outside of D.",
               "512 / 192 is 2.67, and 512 / 256 is 2."],
     "why": "3 · 192 columns are multiplied for 512: an eighth more than D has, which costs more than "
            "ping-pong hides. With n = 768 nothing lies outside."},
    {"id": "08-c2", "want": "fewest", "run": {"m": 512, "n": 768, "k": 256},
     "task": "How are tiles given to CTAs? 512 × 768 × 256, 128 × 256 tiles, four SMs. Which schedule?",
     "choices": [
         {"text": "06's two warpgroups: a CTA for each tile, no producer", "chapter": "06",
          "variant": "two_warpgroups",
          "why": "Each tile begins with a cold ring, and ends with an epilogue under which nothing "
                 "else happens."},
         {"text": "07: a CTA for each tile, with a producer", "chapter": "07",
          "why": "The producer loads ahead within a tile. At its end the CTA ends, and the next one "
                 "starts from nothing."},
         {"text": "persistent.cu: a CTA for each SM", "variant": "persistent",
          "why": "The producer loads the next tile while the consumers store this one."}],
     "hints": ["Three tiles for each SM. What happens between two of them?",
               "Who loads the first k-tiles of the next tile, and when?"],
     "why": "A persistent kernel pays launch, barriers and the first load once, and its producer never "
            "stops at the end of a tile."},
    {"id": "09-c1", "want": "fewest", "run": {"m": 512, "n": 768, "k": 512, "sms": 3},
     "task": "Three SMs. Which kernel?",
     "choices": [
         {"text": "09: clusters of two",
          "why": "A cluster needs two SMs at a time. The third SM has nothing to do."},
         {"text": "08's persistent.cu: no clusters", "chapter": "08", "variant": "persistent",
          "why": "Three CTAs, four tiles each."},
         {"text": "07: a CTA for each tile", "chapter": "07",
          "why": "All three SMs have work, but each of the four tiles starts anew."}],
     "hints": ["Where does a cluster of two fit?", "12 tiles on three SMs, or on two."],
     "why": "Clusters want SMs in pairs: a third of these cannot be used."},
    {"id": "09-e3", "want": "fewest", "run": {"m": 128, "n": 1024, "k": 512},
     "task": "D is one row of tiles: 128 × 1024. Which kernel?",
     "choices": [
         {"text": "09: clusters of two, one above the other",
          "why": "The lower CTA of each cluster lies outside of D, and computes for nothing."},
         {"text": "08: 128 × 192, ping-pong", "chapter": "08",
          "why": "6 tiles on four SMs: two SMs have two of them."},
         {"text": "08's persistent.cu: 128 × 256", "chapter": "08", "variant": "persistent",
          "why": "4 tiles, one for each SM."}],
     "hints": ["How many SMs compute a tile of D that exists?", "Count tiles for each SM."],
     "why": "What a CTA shares is worth nothing if its partner has no tile."},
    {"id": "09-c3", "want": "fewest", "run": {"m": 512, "n": 768, "k": 256},
     "task": "Multicast or not, two or four stages?",
     "choices": [
         {"text": "multicast, four stages",
          "why": "Each CTA requests two thirds of what lands in its memory."},
         {"text": "each CTA loads its own B, four stages", "variant": "unicast",
          "why": "Half as many requests to the L2 again delay the k-tiles behind them."},
         {"text": "multicast, two stages", "variant": "stages2",
          "why": "A stage is free only when the consumers of both CTAs have read it, which makes the "
                 "ring as good as shorter."}],
     "hints": ["What does multicast save, and what does it wait for?",
               "A release has to come from both CTAs."],
     "why": "Multicast lowers the number of requests and makes a release slower, so it wants a ring "
            "that is deep enough."},
]
