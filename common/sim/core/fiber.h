/*
 * fiber.h: stacks that take turns. Each simulated thread runs on its own fiber; the scheduler
 * resumes one, the fiber suspends itself, and control is back in the scheduler. One OS thread.
 */
#ifndef SIM_CORE_FIBER_H
#define SIM_CORE_FIBER_H

struct sim_fiber;

/* A fiber that will run entry(argument) when first resumed; entry must end with fiber_exit(). Its
 * stack comes from a pool. NULL if there is no memory. */
struct sim_fiber *fiber_new(void (*entry)(void *), void *argument);
/* Gives the stack back to the pool, also that of a fiber which was left in the middle. Not from the
 * fiber itself. */
void fiber_free(struct sim_fiber *fiber);
/* Runs the fiber until it suspends or exits. From the scheduler only. */
void fiber_resume(struct sim_fiber *fiber);
/* Back to the scheduler. From a fiber only. */
void fiber_suspend(void);
void fiber_exit(void) __attribute__((noreturn));
/* Returns the pool's memory to the system if it has more than `kept` stacks; no fiber may exist. */
void fiber_pool_trim(int kept);

#endif
