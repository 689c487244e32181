/* SPDX-License-Identifier: MIT */
/* Why a trace cannot show that no thread signalled an object. */
#ifndef TXTRACE_WAITS_WHY_DOUBT_H
#define TXTRACE_WAITS_WHY_DOUBT_H

#include "waits/why_words.h"

struct why_doubt {
	struct words reasons; /* why a missing signal is not certain: "3 events were lost"; or an empty text */
	bool lacks_beginning; /* the trace does not show what the program did at first */
	bool has_processes;   /* so an object of one process may also be an object of another process */
};

/* Find the reasons that the file shows.  Call this before its events are read. */
void why_doubt_begin(struct why_doubt *doubt, struct source *source);

/* Add the reasons that only the events show.  Call this after they are read. */
void why_doubt_end(struct why_doubt *doubt, const struct waits *waits);

#endif
