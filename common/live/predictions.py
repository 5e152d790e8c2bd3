"""predictions.py: numbers that the practice asks for, besides the verdicts that find_cases.py has found.

`asks` names what the simulator is asked for (simulate.measured()), `choices` each answer that is
offered, with what it would be instead; the right one has no such text. A test holds every answer
against a run.
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
    {"id": "05-n3", "asks": ["missing"], "break": "too-many-bytes", "verdict": "deadlock",
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
    {"id": "07-n3", "asks": ["waits"], "break": "the-producer-s-first-phase",
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
