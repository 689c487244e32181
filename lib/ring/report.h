/* SPDX-License-Identifier: MIT */
/* The results of readers, both of streams and of logs: an event, and the numbers of lost events. */
#ifndef PX_RING_REPORT_H
#define PX_RING_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "ring/record.h"

/* Events lost since the stream was created or cleared. */
struct px_loss {
	uint64_t overwritten; /* overwritten by newer events */
	uint64_t dropped;     /* not recorded, because the stream had no room */
	uint64_t abandoned;   /* a writer began to record them, but did not finish */
};

/* What a reader returns: a record, or a synthesized event. */
struct px_report {
	struct px_record record;
	uint64_t time_ns; /* CLOCK_REALTIME scale; px_stream_next() and archives fill it in */
	size_t length;	  /* bytes of data recorded for the application */
	size_t copied;	  /* bytes of data in the caller's buffer */
	uint64_t place;	  /* in an archive: 1 + position of the event; otherwise not set */
};

enum px_next {
	PX_NEXT_EVENT,
	PX_NEXT_NONE,
	PX_NEXT_PENDING /* a writer has not committed its event: try again soon */
};

#endif
