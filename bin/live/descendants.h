/* SPDX-License-Identifier: MIT */
/*
 * A traced process and its running descendants.  The tool reads the modules and the shared memory of each of them while
 * it runs, because nobody can read them after its end.  A descendant whose parent has ended is found only if it was
 * found before.
 */
#ifndef TXTRACE_LIVE_DESCENDANTS_H
#define TXTRACE_LIVE_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/namer.h"

struct descendant {
	pid_t pid;
	int64_t read_ns; /* time at which the tool reads the modules next */
	int64_t step_ns; /* time from that reading to the one after it */
};

/* A struct descendants with only its first three members set knows no process. */
struct descendants {
	pid_t root;
	bool has_children; /* false: look only at the process itself */
	struct namer *namer;
	struct descendant *list;
	size_t nr, room;
	int64_t look_ns; /* time of the next look for new descendants */
};

/*
 * Look for new descendants, and let the namer read them and the process itself, if it is time for this.  A look takes
 * at most a fiftieth of the time: after a long look, the next one is late.  Return the time in milliseconds to the next
 * look, or -1 if there is none.
 */
int descendants_look(struct descendants *descendants);
void descendants_free(struct descendants *descendants);

#endif
