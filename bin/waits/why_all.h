/* SPDX-License-Identifier: MIT */
/*
 * What txtrace why prints for each of the longest waits of a file.
 *
 * The code reads the file twice, however many waits it explains.  It stores at most STRETCHES waits, holds and states
 * for all of them together (wait_history.h).  If there are more, it leaves out the waits that need most of them.
 */
#ifndef TXTRACE_WAITS_WHY_ALL_H
#define TXTRACE_WAITS_WHY_ALL_H

#include "trace/selection.h"
#include "waits/why_words.h"

struct why_listener {
	void *arg;
	void (*begin)(void *arg, const struct wait *wait); /* the lines of this wait follow */
	void (*line)(void *arg, unsigned int depth, const char *line, const struct why_step *step);
};

/*
 * Explain the longest waits that begin in the selection, at most nr, in the order of their begins.  The lines are those
 * of txtrace why with the thread and the time at which the wait begins.
 */
void why_all(struct source *source, const struct selection *selection, size_t nr, const struct why_listener *listener);

#endif
