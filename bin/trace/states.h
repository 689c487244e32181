/* SPDX-License-Identifier: MIT */
/* The states in which ThreadX suspends a thread, as SUSPEND tells them, and what the thread waits for then. */
#ifndef TXTRACE_TRACE_STATES_H
#define TXTRACE_TRACE_STATES_H

enum {
	STATE_ENDED = 1,
	STATE_CANCELLED = 2,
	STATE_SUSPENDED = 3,
	STATE_SLEEP = 4,
	STATE_NET = 12,
	STATE_MUTEX = 13,
	STATES
};

struct state {
	const char *text;  /* if there is no object; NULL: it is no wait */
	const char *kind;  /* of the object */
	const char *label; /* of the object in the call that led to it */
};

extern const struct state states[STATES];

/* NULL: it is none, or no wait. */
const struct state *state_of(unsigned int state);

#endif
