/* SPDX-License-Identifier: MIT */
/*
 * Memory that a walk over a stack reads: stacks, and the tables of modules (U1 and U2 in unwind.h).
 *
 * The functions are async-signal-safe.  If memory cannot be read, they store the reason in `end`.
 */
#ifndef PX_TRACE_UNWIND_MEMORY_H
#define PX_TRACE_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "trace/unwind.h"

#define PX_UNWIND_WINDOW_BYTES 256

/* The sanitizers do not let a function read the stack frames of other functions. */
#define PX_READS_ANY_STACK __attribute__((no_sanitize("address"), no_sanitize("thread")))

/* Memory that the kernel has read last. */
struct px_unwind_window {
	uintptr_t at;
	uint32_t length;
	unsigned char bytes[PX_UNWIND_WINDOW_BYTES] __attribute__((aligned(8)));
};

struct px_unwind_memory {
	uintptr_t low, high; /* the thread may read this part of the stack (U1) */
	enum px_unwind_end end;
	struct px_unwind_window window;
};

/* Let the kernel read memory, at most up to the end of the page.  Return false if it cannot. */
bool px_unwind_fill(struct px_unwind_memory *memory, uintptr_t at);

/* Return why the kernel reads no memory for this process, or 0.  Keeps errno. */
int px_unwind_check(void);

/* Find the part of the stack that can be loaded directly. */
void px_unwind_enter_stack(struct px_unwind_memory *memory, uintptr_t sp);

/* Read a word of a stack. */
PX_READS_ANY_STACK static inline bool px_unwind_word(struct px_unwind_memory *memory, uintptr_t at, uintptr_t *word)
{
	struct px_unwind_window *window = &memory->window;

	if (at % sizeof(*word) != 0) {
		memory->end = PX_UNWIND_WRONG;
		return false;
	}
	if (px_likely(at >= memory->low && at < memory->high)) {
		*word = *(const volatile uintptr_t *)at;
		return true;
	}
	if ((at - window->at >= window->length || window->at + window->length - at < sizeof(*word)) &&
	    (!px_unwind_fill(memory, at) || window->length < sizeof(*word)))
		return false;
	memcpy(word, window->bytes + (at - window->at), sizeof(*word));
	return true;
}

#endif
