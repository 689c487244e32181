/* SPDX-License-Identifier: MIT */
/*
 * Traps on the way through the sequences of cpuring.h.  Who runs into one is disturbed there: the kernel has it begin
 * anew once the handler is done.
 */
#ifndef PX_TESTS_SUPPORT_TRAPS_H
#define PX_TESTS_SUPPORT_TRAPS_H

#include <stdbool.h>
#include <stddef.h>

/* How many instructions there are ahead of which a thread may be disturbed: in all copies of the sequences. */
size_t px_test_nr_steps(void);

/* Plant a trap there.  The first one who comes takes it out, and calls the function, if there is one, in the handler. */
void px_test_plant(size_t step, void (*action)(void));

/* The same, but it stays until it is taken out. */
void px_test_plant_for_good(size_t step);

/* Take the trap out, if it is still there.  Returns how often somebody ran into it. */
unsigned int px_test_unplant(void);

#endif
