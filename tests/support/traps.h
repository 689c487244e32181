/* SPDX-License-Identifier: MIT */
/*
 * Traps in the sequences of cpuring.h.  A thread that reaches a trap is disturbed there: after the handler, the kernel
 * restarts the sequence.
 */
#ifndef PX_TESTS_SUPPORT_TRAPS_H
#define PX_TESTS_SUPPORT_TRAPS_H

#include <stdbool.h>
#include <stddef.h>

/* Return the number of instructions before which a thread may be disturbed: in all copies of the sequences. */
size_t px_test_nr_steps(void);

/*
 * Set a trap at this step.  The first thread that reaches it removes it, and calls the function, if there is one, in
 * the handler.
 */
void px_test_plant(size_t step, void (*action)(void));

/* The same, but the trap stays until it is removed. */
void px_test_plant_for_good(size_t step);

/* Remove the trap, if it is still there.  Return how often a thread reached it. */
unsigned int px_test_unplant(void);

#endif
