/* SPDX-License-Identifier: MIT */
/* The states of a thread that ThreadX records with SUSPEND, and the object that the thread waits for. */
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
	const char *text;  /* describes a wait without an object; NULL if the state is not a wait */
	const char *kind;  /* the kind of the object */
	const char *label; /* the label that the object has in the call that began the wait */
};

extern const struct state states[STATES];

/* Return the state, or NULL if it is unknown or is not a wait. */
const struct state *state_of(unsigned int state);

#endif
