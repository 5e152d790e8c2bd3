/*
 * doubt.h: the rules that are in doubt.
 *
 * In a few places the PTX ISA can be read in two ways, or the simulator asks for more than the
 * letter. The book's kernels keep these rules; whoever holds the other view switches all of them
 * off (--doubtful off). Those that kernels in wide use break are off unless asked for (--doubtful
 * all). docs/rules-in-doubt.md has both readings of each.
 */
#ifndef SIM_CORE_DOUBT_H
#define SIM_CORE_DOUBT_H

#include <stdbool.h>

enum doubtful_rule {
    DOUBT_ONE_RELEASE,        /* a wait for wgmmas speaks for its own warp */
    DOUBT_PROXY_FENCE,        /* of shared memory: the thread that accessed executes the fence */
    DOUBT_MISALIGNED_SWIZZLE, /* a swizzled box begins where its pattern does */
    DOUBT_LOST_UPDATE,        /* a strong store and an addition to one word are ordered */
    DOUBT_BARRIER_AFTER_EXIT, /* __syncthreads(), __syncwarp() count threads that have ended */
    DOUBT_OWN_ARRIVAL,   /* a warp does not wait at a named barrier where it has just arrived */
    DOUBT_EXIT_RELEASES, /* a thread that ends releases nothing at the cluster's barrier */
    DOUBT_UNCHANGED_REGISTER, /* a write of a register that leaves its value is a write */
    DOUBT_UNREAD_WORD,        /* a word is read, unwritten, that then is for nobody */
    DOUBT_ONE_INSTRUCTION,    /* lanes that write one word by one instruction race */
    DOUBT_INIT_FENCE,         /* the TMA and peers see an initialization after its fence only */
    DOUBT_STORE_BEFORE_EXIT,  /* a thread waits for its TMA stores to be read before it ends */
    DOUBT_EQUAL_VALUES,       /* writes of the same bytes to one place are ordered */
    DOUBT_EXCHANGE,           /* lanes that exchange registers do not order memory by that */
    DOUBT_ENTRY_REGISTERS,    /* a kernel begins with all registers that its bounds leave it */
    DOUBT_CTA_ORDER,          /* a CTA with a lower index may begin after one that waits for it */
    /* on demand: */
    DOUBT_TENSOR_FENCE,       /* an order by release and acquire needs tcgen05.fence, too */
    DOUBT_TENSOR_LANE,        /* the address of tcgen05.ld has the warp's own lanes */
    DOUBT_COMMIT_BEFORE_EXIT, /* a CTA waits for each commit, not for a later one */
    DOUBT_TENSOR_UNWRITTEN,   /* tcgen05.ld of columns that nothing has written */
    DOUBT_REMOTE_SCOPE,       /* a handoff of tensor memory to another CTA has its scope */
    DOUBTS
};

extern bool doubtful_rules;     /* are kept; the default */
extern bool all_doubtful_rules; /* and those on demand */

/* What the report of a doubtful rule says about switches, where they are on by default. */
extern const char *doubt_advice;

/* As reports and docs/rules-in-doubt.md call it. */
const char *doubt_name(enum doubtful_rule rule);

/* The report that follows rests on this rule, and says so. */
void doubt_in_next_report(enum doubtful_rule rule);

#endif
