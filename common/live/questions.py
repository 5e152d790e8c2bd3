"""questions.py: what the practice asks besides what find_cases.py has found: numbers to predict, and
choices. The texts are written by hand; a test holds every number and every choice against runs.

A prediction: `asks` names what the simulator is asked for (cases.measured()), `choices` each answer
that is offered, with what it would be instead; the right one has no such text.

A choice: what is offered runs, and `want` says which is right: the one with the fewest or the most
simulated cycles, or the only one whose run fails. Each says why it comes out as it does.
"""

PREDICTIONS = [
    {"id": "01-n1", "asks": ["smem"],
     "task": "How many bytes of shared memory does a CTA of this kernel have?",
     "choices": {
         "0": "", "512": "That is the CTA's tile of D; each element stays in a register.",
         "16384": "Loads go through the L1 cache; nothing is staged."},
     "hints": ["Look for struct smem.", "There is none."],
     "why": "Threads share no data here, so each of them loads all that it multiplies. Chapter 02 "
            "changes that."},
    {"id": "02-n1", "asks": ["smem"],
     "task": "How many bytes of shared memory does a CTA of this kernel have?",
     "choices": {
         "36864": "", "32768": "A row has PITCH elements, more than the BK that are used.",
         "73728": "There is one tile of A and one of B, and no second pair of them.",
         "16384": "That is A or B alone, without its padding."},
     "hints": ["Two tiles, of A and of B. Read struct smem.",
               "A tile has 128 rows of PITCH elements of 2 bytes."],
     "why": "(128 + 128) rows of 72 elements are 36,864 bytes: 4,096 of them are padding, which "
            "keeps the rows of one ldmatrix in different banks."},
    {"id": "03-n1", "asks": ["smem"],
     "task": "How many bytes of shared memory does a CTA of this kernel have?",
     "choices": {
         "98304": "", "110592": "With chapter 02's padding. The swizzle needs none.",
         "65536": "Two stages. The ring has STAGES of them, also while one is multiplied.",
         "196608": "That is what the two CTAs of an SM have together."},
     "hints": ["A k-tile has 128 rows of A and 128 of B, 64 elements each.",
               "A k-tile is 32,768 bytes. How many of them are in the ring?"],
     "why": "Three stages of 32,768 bytes. Two CTAs of 98,304 bytes fit in the SM's 227 KiB, which is "
            "why the ring has three stages and not four."},
    {"id": "05-n1", "asks": ["announced", "full[0]"],
     "task": "Thread 0 announces bytes on full[0] before it requests k-tile 0. How many?",
     "choices": {
         "32768": "", "16384": "One of the two loads. Both complete on this barrier.",
         "98304": "All stages. Each stage has a barrier of its own.",
         "65536": "An element has 2 bytes, not 4."},
     "hints": ["Everything that has to land before the stage may be read.",
               "A tile of A and a tile of B: 128 rows of 64 elements each."],
     "why": "STAGE_BYTES = (128 + 128) · 64 · 2. The phase completes when thread 0 has arrived and "
            "the last of these bytes has landed."},
    {"id": "05-n2", "asks": ["phases", "full[0]"], "run": {"k": 512},
     "task": "k is 512: eight k-tiles. How many phases of full[0] complete in CTA 0?",
     "choices": {
         "3": "", "8": "Each k-tile completes one phase, but of the barrier of its own stage.",
         "2": "8 / 3 leaves a rest, and the stages that have it complete once more.",
         "1": "A barrier is used again in every round of the ring."},
     "hints": ["Which k-tiles lie in stage 0?", "K-tiles 0, 3 and 6."],
     "why": "Stage 0 holds k-tiles 0, 3 and 6. The wait for k-tile 3 needs parity 1, the one for "
            "k-tile 6 parity 0 again."},
    {"id": "05-n3", "asks": ["missing"], "version": "too-many-bytes", "verdict": "deadlock",
     "task": "This kernel announces more than it loads, and ends in a deadlock. How many bytes does "
             "the report call missing?",
     "choices": {
         "32768": "", "65536": "That is what is announced; half of it lands.",
         "16384": "Compare what is announced with what both loads bring.",
         "0": "No thread waits for a barrier that has all its bytes."},
     "hints": ["Announced, less what lands.", "Both loads together bring 32,768 bytes."],
     "why": "65,536 bytes are announced and 32,768 land. The phase of full[0] waits for the rest, "
            "which nothing will ever load."},
    {"id": "06-n1", "asks": ["smem"],
     "task": "How many bytes of shared memory does a CTA of this kernel have?",
     "choices": {
         "131104": "", "131072": "The stages alone. The barriers lie in shared memory, too.",
         "131136": "A stage has one barrier here; chapter 07 gives it a second.",
         "98328": "That is chapter 05: three stages, and three barriers."},
     "hints": ["Stages, and what belongs to each.", "Four stages of 32,768 bytes; an mbarrier has 8."],
     "why": "4 · 32,768 bytes of stages and 4 · 8 bytes of barriers. Only one CTA fits on an SM."},
    {"id": "06-n2", "asks": ["delivers", "full[0]"],
     "task": "How many bytes does one tma_load bring to full[0]?",
     "choices": {
         "16384": "", "32768": "That is announced for both loads together.",
         "8192": "A row of the box has 64 elements of 2 bytes, which is the swizzle's 128 bytes.",
         "128": "That is one row of the box."},
     "hints": ["One load copies one box.", "The box has 128 rows."],
     "why": "A box of 128 rows of 64 elements: 128 · 128 bytes. The barrier's count of missing bytes "
            "falls by as much at a time."},
    {"id": "07-n1", "asks": ["announced", "ring[0].full"],
     "task": "How many bytes does the producer announce for one k-tile?",
     "choices": {
         "49152": "", "32768": "That was 06. Here the tile has 256 columns.",
         "24576": "A k-tile of one consumer's rows. Both consumers wait on the same barrier.",
         "196608": "That is the whole ring."},
     "hints": ["The tile is 128 × 256.", "(128 + 256) rows of 128 bytes."],
     "why": "(128 + 256) · 64 · 2 bytes. The tile grows by a half against 06, and the work doubles: "
            "more FLOPs for each byte."},
    {"id": "07-n2", "asks": ["arrivals", "ring[0].empty"],
     "task": "How many arrivals complete a phase of empty[0]?",
     "choices": {
         "8": "", "2": "One for each consumer would say that its other warps have read, too; nothing "
                       "orders them.",
         "256": "One of 32 lanes arrives; the wait for the multiplications is the whole warp's.",
         "1": "That is full: the producer's own arrival, and the bytes."},
     "hints": ["Who releases a stage? Read release_stage.",
               "One lane of each warp that has read the stage."],
     "why": "Two consumers of four warps each; one lane of each warp arrives."},
    {"id": "07-n3", "asks": ["waits"], "version": "the-producer-s-first-phase",
     "verdict": "deadlock",
     "task": "The producer starts with phase 0 in this kernel. Which barrier does the first thread in "
             "the deadlock report wait for?",
     "choices": {
         "ring[0].empty, phase 0": "",
         "ring[0].full, phase 0": "The consumers wait there, because nothing is ever loaded.",
         "ring[0].empty, phase 1": "Phase 1 is what the parity of the right kernel asks for.",
         "ring[3].empty, phase 0": "The producer never comes to stage 3."},
     "hints": ["The producer acquires before it loads anything.",
               "A fresh barrier is in phase 0, and nobody has read a stage yet."],
     "why": "The first acquire waits for phase 0 of empty[0], which would complete with the release "
            "of a stage that nobody has filled. Parity 1, that of the phase before the first, passes "
            "at once."},
    {"id": "08-n1", "asks": ["arrivals", "ring[0].empty"],
     "task": "How many arrivals complete a phase of empty[0]?",
     "choices": {
         "4": "", "8": "As in 07, if both consumers read each stage. Here they have different tiles.",
         "1": "Each warp releases for itself.", "128": "One lane of a warp arrives for all of it."},
     "hints": ["Which warps read a stage?", "The consumer of the tile to which the k-tile belongs."],
     "why": "A stage belongs to one tile, and a tile to one consumer: four warps."},
    {"id": "08-n2", "asks": ["announced", "ring[0].full"],
     "task": "How many bytes does the producer announce for one k-tile?",
     "choices": {
         "40960": "", "49152": "A consumer's tile has 192 columns here, not 256.",
         "81920": "The consumers have tiles of their own, and so k-tiles of their own.",
         "20480": "A row has 64 elements of 2 bytes."},
     "hints": ["One consumer's tile: 128 × 192.", "(128 + 192) rows of 128 bytes."],
     "why": "(128 + 192) · 64 · 2 bytes: the accumulators of a whole tile lie in one warpgroup, so the "
            "tile is narrower than in 07."},
    {"id": "08-n3", "asks": ["smem"],
     "task": "How many bytes of shared memory does a CTA of this kernel have?",
     "choices": {
         "221280": "", "204800": "The ring alone. D is staged in shared memory, too.",
         "221184": "Without the barriers: two a stage, and the two of the order.",
         "237664": "With two staging buffers a consumer; BUFFERS is 1."},
     "hints": ["Five stages, two staging buffers of 8,192 bytes, barriers.",
               "The barriers: 2 · 5 in the ring, and order[2], 8 bytes each."],
     "why": "5 · 40,960 + 2 · 8,192 + 12 · 8. A sixth stage does not fit in 232,448 bytes."},
    {"id": "09-n1", "asks": ["announced", "ring[0].full"],
     "task": "Each CTA requests 128 rows of A and 128 of B for a k-tile. How many bytes does it "
             "announce?",
     "choices": {
         "49152": "", "32768": "What it requests. The other CTA's half of B lands here, too.",
         "98304": "Each CTA counts what lands in its own shared memory.",
         "65536": "A of the other CTA does not come here."},
     "hints": ["The barrier counts what lands, whoever has requested it.",
               "A, and both halves of B."],
     "why": "(128 + 256) · 64 · 2 bytes land in each CTA, and it requests two thirds of them: the "
            "other third comes by the other CTA's multicast."},
    {"id": "09-n2", "asks": ["arrivals", "ring[0].empty"],
     "task": "How many arrivals complete a phase of empty[0] in CTA 0?",
     "choices": {
         "16": "", "8": "The consumers of both CTAs read what this CTA's producer writes.",
         "2": "Warps arrive, not CTAs.", "32": "A warp arrives once at each CTA."},
     "hints": ["Who reads what this producer loads?", "The consumer warps of both CTAs."],
     "why": "Two CTAs of two consumers of four warps each. Lane r of a warp arrives at CTA r."},
    {"id": "09-n3", "asks": ["delivers", "ring[0].full"],
     "task": "The first load of a k-tile is a multicast half of B. How many bytes does it bring to "
             "full[0] of CTA 0?",
     "choices": {
         "16384": "", "32768": "That is both halves, and so both loads, one of each CTA.",
         "8192": "Half of the columns is 128 rows of B.",
         "49152": "All that lands for a k-tile."},
     "hints": ["Half of the columns of B.", "128 rows of 128 bytes."],
     "why": "128 · 128 bytes, in each of the two CTAs, from one request to the L2."},
]

CHOICES = [
    {"id": "03-e1", "want": "fewest", "run": {"m": 512, "n": 512, "k": 512},
     "task": "Shared memory has room for two CTAs with three stages each, or for one CTA with five. "
             "Which is faster at 512 × 512 × 512?",
     "choices": [
         {"text": "three stages, two CTAs per SM",
          "why": "While one CTA waits at its barrier or stores its tile, the other multiplies."},
         {"text": "five stages, one CTA per SM", "version": "stages5",
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
         {"text": "four stages, one CTA per SM", "version": "stages4",
          "why": "Loads are early, and every barrier leaves a gap."},
         {"text": "three stages, one CTA per SM", "version": "one_cta",
          "why": "The same gaps, and loads one k-tile later."}],
     "hints": ["What waits, if loads are never late?", "Prologue and epilogue, once a tile."],
     "why": "The second CTA wins at every k of the exercise, by less as k grows: gaps once a tile weigh "
            "less then."},
    {"id": "05-c1", "want": "fewest", "run": {"m": 512, "n": 512, "k": 128},
     "task": "k is 128: a tile has two k-tiles. Which ring is the fastest?",
     "choices": [
         {"text": "three stages, two CTAs per SM",
          "why": "Both k-tiles are requested at once, and the other CTA works meanwhile."},
         {"text": "two stages, two CTAs per SM", "version": "stages2",
          "why": "Only one k-tile is requested ahead, so the second is late."},
         {"text": "five stages, one CTA per SM", "version": "stages5",
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
         {"text": "four stages, WAIT 0", "version": "wait0",
          "why": "The Tensor Core idles in every k-tile: the wait, the refill and the next issue come "
                 "while nothing is queued."},
         {"text": "two stages, WAIT 1", "version": "stages2",
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
         {"text": "one warpgroup, narrow stores", "version": "narrow",
          "why": "Each store instruction writes fewer bytes of a row, so there are more of them."},
         {"text": "two warpgroups, wide stores", "version": "two_warpgroups",
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
         {"text": "four stages, WAIT 0", "version": "wait0",
          "why": "While one consumer drains, the other consumer's multiplications are queued: the "
                 "Tensor Core does not notice."},
         {"text": "two stages, WAIT 1", "version": "stages2",
          "why": "A stage is free again after both consumers have read it, one k-tile later; then its "
                 "load still has to come."}],
     "hints": ["Two consumers send work to one Tensor Core.",
               "A second consumer hides a drain. Does it hide a load that is late for both?"],
     "why": "Another warpgroup hides what one warpgroup waits for. It does not hide what both wait "
            "for."},
    {"id": "07-c2", "want": "fails", "run": {},
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
         {"text": "07, WAIT 0", "version": "wait0",
          "why": "While one consumer drains, the other one's multiplications are queued."},
         {"text": "06's two warpgroups, WAIT 1", "chapter": "06", "version": "two_warpgroups",
          "why": "Each warpgroup has a group in flight while it waits."},
         {"text": "06's two warpgroups, WAIT 0", "chapter": "06", "version": "two_wait0",
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
         {"text": "128 × 256, persistent.cu", "version": "persistent",
          "why": "8 tiles, two for each SM, and all of them full."},
         {"text": "128 × 192, ping-pong, two stages", "version": "stages2",
          "why": "12 tiles as well, and loads come late."}],
     "hints": ["Count tiles, and the columns that lie outside of D.",
               "512 / 192 is 2.67, and 512 / 256 is 2."],
     "why": "3 · 192 columns are multiplied for 512: an eighth more than D has, which costs more than "
            "ping-pong hides. With n = 768 nothing lies outside."},
    {"id": "08-c2", "want": "fewest", "run": {"m": 512, "n": 768, "k": 256},
     "task": "How are tiles given to CTAs? 512 × 768 × 256, 128 × 256 tiles, four SMs. Which schedule?",
     "choices": [
         {"text": "06's two warpgroups: a CTA for each tile, no producer", "chapter": "06",
          "version": "two_warpgroups",
          "why": "Each tile begins with a cold ring, and ends with an epilogue under which nothing "
                 "else happens."},
         {"text": "07: a CTA for each tile, with a producer", "chapter": "07",
          "why": "The producer loads ahead within a tile. At its end the CTA ends, and the next one "
                 "starts from nothing."},
         {"text": "persistent.cu: a CTA for each SM", "version": "persistent",
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
         {"text": "08's persistent.cu: no clusters", "chapter": "08", "version": "persistent",
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
         {"text": "08's persistent.cu: 128 × 256", "chapter": "08", "version": "persistent",
          "why": "4 tiles, one for each SM."}],
     "hints": ["How many SMs compute a tile of D that exists?", "Count tiles for each SM."],
     "why": "What a CTA shares is worth nothing if its partner has no tile."},
    {"id": "09-c3", "want": "fewest", "run": {"m": 512, "n": 768, "k": 256},
     "task": "Multicast or not, two or four stages?",
     "choices": [
         {"text": "multicast, four stages",
          "why": "Each CTA requests two thirds of what lands in its memory."},
         {"text": "each CTA loads its own B, four stages", "version": "unicast",
          "why": "Half as many requests to the L2 again delay the k-tiles behind them."},
         {"text": "multicast, two stages", "version": "stages2",
          "why": "A stage is free only when the consumers of both CTAs have read it, which makes the "
                 "ring as good as shorter."}],
     "hints": ["What does multicast save, and what does it wait for?",
               "A release has to come from both CTAs."],
     "why": "Multicast lowers the number of requests and makes a release slower, so it wants a ring "
            "that is deep enough."},
]
