/*
 * tensor_core_spans.h: when the Tensor Core worked on what.
 */
#ifndef TIMELINE_TENSOR_CORE_SPANS_H
#define TIMELINE_TENSOR_CORE_SPANS_H

#include "timeline/model.h"

/* The multiplications that one TRACE_MMA_BEGIN announces: those of a k-tile, or of a part of it. */
struct multiplication {
    int64_t issue,
        done; /* begins to be issued; the first moment at which it is known to be complete */
    int64_t begin, end; /* on the Tensor Core */
    int k_tile, tile, role;
    bool inferred;
};

struct multiplications {
    struct multiplication *at; /* by issue */
    int count, capacity;
    bool asynchronous[TRACE_ROLES]; /* wgmma: the role goes on while they are under way */
};

/* Does a mark of this kind end the mma.syncs that the role has begun? */
bool timeline_ends_mma(int event);

/* Finds all multiplications of a CTA. The caller frees ->at. */
void timeline_multiplications(const struct timeline *timeline, struct cta_record *cta,
                              struct multiplications *out);

/* Adds the spans in which the Tensor Core is busy for this CTA. */
void timeline_tensor_core(struct cta_record *cta, const struct multiplications *work,
                          struct track *track, void (*add)(struct track *, struct span));

/* Adds to every Tensor Core track the spans in which it works for other CTAs of the same SM. All
 * tracks are built. */
void timeline_share_tensor_core(struct timeline *timeline,
                                void (*add)(struct track *, struct span));

#endif
