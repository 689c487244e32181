/* SPDX-License-Identifier: MIT */
/* FileX Statistics and NetX Statistics of TraceX: sums over the events of these packages. */
#ifndef TXTRACE_REPORT_COUNTERS_H
#define TXTRACE_REPORT_COUNTERS_H

#include "report/events.h"

enum counters_of { COUNTERS_FILEX, COUNTERS_NETX };

struct counter {
	enum counters_of of;
	const char *section, *name;
	unsigned int native;
	int word; /* number of the information word to add up; -1 means: count the events */
	bool (*takes)(const struct report_event *event); /* takes an event if this is true; NULL takes all events */
};

#define COUNTERS_MAX 64

extern const struct counter counters[];
extern const size_t nr_counters;

struct counts {
	uint64_t value[COUNTERS_MAX];
	uint64_t nr_events[2]; /* number of events of each package */
};

void counters_event(struct counts *counts, const struct report_event *event);

#endif
