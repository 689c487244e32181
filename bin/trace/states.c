/* SPDX-License-Identifier: MIT */
#include "trace/states.h"

#include <stddef.h>

const struct state states[STATES] = {
	[3] = {"is suspended", NULL, NULL},
	[4] = {"sleeps", NULL, NULL},
	[5] = {"waits for a queue", "queue", "queue_ptr"},
	[6] = {"waits for a semaphore", "semaphore", "semaphore_ptr"},
	[7] = {"waits for event flags", "event flags", "event_flags_ptr"},
	[8] = {"waits for a block pool", "block pool", "block_pool_ptr"},
	[9] = {"waits for a byte pool", "byte pool", "byte_pool_ptr"},
	[STATE_NET] = {"waits for NetX", "NetX", NULL},
	[STATE_MUTEX] = {"waits for a mutex", "mutex", "mutex_ptr"},
};

const struct state *state_of(unsigned int state)
{
	return state < STATES && states[state].text ? &states[state] : NULL;
}
