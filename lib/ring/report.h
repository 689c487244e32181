/* SPDX-License-Identifier: MIT */
/* What readers of streams and of logs return: an event, and how many events were lost. */
#ifndef PX_RING_REPORT_H
#define PX_RING_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "ring/record.h"

/* Events lost since the stream was created or cleared. */
struct px_loss {
	uint64_t overwritten; /* by newer ones */
	uint64_t dropped;     /* there was no room */
	uint64_t abandoned;   /* their writers did not finish them */
};

/* What is reported: a record, or an event that the reader makes. */
struct px_report {
	struct px_record record;
	uint64_t time_ns; /* CLOCK_REALTIME scale; px_stream_next() and archives fill it in */
	size_t length;	  /* bytes of data recorded for the application */
	size_t copied;	  /* bytes of it in the caller's buffer */
	uint64_t place;	  /* in an archive: 1 + where it stands; else not told */
};

enum px_next {
	PX_NEXT_EVENT,
	PX_NEXT_NONE,
	PX_NEXT_PENDING /* an event is on its way: ask again soon */
};

#endif
