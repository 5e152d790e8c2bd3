/*
 * atomics.h: the simulator's half of hopper/atomics.h.
 */
#ifndef SIM_HOPPER_ATOMICS_H
#define SIM_HOPPER_ATOMICS_H

#include "sim/hopper/call.h"

enum scope;

uint32_t sim_ld_global_relaxed(const uint32_t *word, enum scope scope);
uint32_t sim_ld_global_acquire(const uint32_t *word, enum scope scope);
void sim_st_global_relaxed(uint32_t *word, uint32_t value, enum scope scope);
void sim_st_global_release(uint32_t *word, uint32_t value, enum scope scope);
uint32_t sim_atomic_add_relaxed(uint32_t *word, uint32_t value, enum scope scope);
uint32_t sim_atomic_add_acquire(uint32_t *word, uint32_t value, enum scope scope);
uint32_t sim_atomic_add_release(uint32_t *word, uint32_t value, enum scope scope);
uint32_t sim_atomic_add_acq_rel(uint32_t *word, uint32_t value, enum scope scope);
uint64_t sim_atomic_add_acq_rel_b64(uint64_t *word, uint64_t value, enum scope scope);
uint64_t sim_atomic_cas_relaxed_b64(uint64_t *word, uint64_t expected, uint64_t value,
                                    enum scope scope);
void sim_red_add_relaxed(uint32_t *word, uint32_t value, enum scope scope);
void sim_red_add_release(uint32_t *word, uint32_t value, enum scope scope);
void sim_fence_acq_rel(enum scope scope);

/* ---- the wrappers ---- */

#define ld_global_relaxed(word, scope) SIM(sim_ld_global_relaxed(word, scope))
#define ld_global_acquire(word, scope) SIM(sim_ld_global_acquire(word, scope))
#define st_global_relaxed(word, value, scope) SIM(sim_st_global_relaxed(word, value, scope))
#define st_global_release(word, value, scope) SIM(sim_st_global_release(word, value, scope))
#define atomic_add_relaxed(word, value, scope) SIM(sim_atomic_add_relaxed(word, value, scope))
#define atomic_add_acquire(word, value, scope) SIM(sim_atomic_add_acquire(word, value, scope))
#define atomic_add_release(word, value, scope) SIM(sim_atomic_add_release(word, value, scope))
#define atomic_add_acq_rel(word, value, scope) SIM(sim_atomic_add_acq_rel(word, value, scope))
#define atomic_add_acq_rel_b64(word, value, scope)                                                 \
    SIM(sim_atomic_add_acq_rel_b64(word, value, scope))
#define atomic_cas_relaxed_b64(word, expected, value, scope)                                       \
    SIM(sim_atomic_cas_relaxed_b64(word, expected, value, scope))
#define red_add_relaxed(word, value, scope) SIM(sim_red_add_relaxed(word, value, scope))
#define red_add_release(word, value, scope) SIM(sim_red_add_release(word, value, scope))
#define fence_acq_rel(scope) SIM(sim_fence_acq_rel(scope))

#endif
