/* SPDX-License-Identifier: MIT */
/*
 * Messages between the programs of several traces: an event of one file says that a message was sent, and an event of
 * another file with the same number says that it was received.  They tell how far the clocks of the files are from each
 * other, because a message arrives after it was sent; see clock_fit.h.
 *
 * The times of a file are corrected: the time to add to a time is `offset_ns + drift * (time - origin_ns)`.
 */
#ifndef TXTRACE_REPORT_MESSAGES_H
#define TXTRACE_REPORT_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/spans.h"

struct clock_correction {
	int64_t offset_ns;
	double drift;
	int64_t origin_ns;
};

struct messages_file {
	const char *path;
	struct source *source; /* NULL: messages_place() opens the file while it reads it */
	int64_t shift_ns; /* is added to the times of the file before the correction */
	unsigned int clock; /* the number of the first file with the same clock, which may be this one */
	struct clock_correction correction; /* the result */
	int64_t uncertainty_ns; /* the true correction is not farther away; -1: not known */
	/* What the file itself tells of its clock: the correction to UTC, and how far it is from the true one. */
	struct clock_correction told;
	int64_t told_uncertainty_ns; /* -1: it tells nothing */
};

static inline int64_t clock_correction_at(const struct clock_correction *correction, int64_t time_ns)
{
	return correction->offset_ns + (int64_t)(correction->drift * (double)(time_ns - correction->origin_ns));
}

static inline int64_t messages_time(const struct messages_file *file, int64_t time_ns)
{
	time_ns += file->shift_ns;
	return time_ns + clock_correction_at(&file->correction, time_ns);
}

/*
 * Read the events of all files, find the corrections, and print what is known of each clock, and which events of
 * `kinds`, the messages, no file has.  The sources are at their beginning afterwards.  Without messages, the
 * corrections are 0.  If a file cannot be opened, print a message and return false.
 */
bool messages_place(struct spans *kinds, struct messages_file *files, unsigned int nr_files);

/*
 * Do the same with the connections between the files alone (sockets.h).  If they do not bound the clock of each file in
 * both directions, *is_known becomes false, the corrections are 0, and nothing is printed.  The same is true if they
 * contradict what two files tell of their clocks (told): then they are other connections with the same addresses and
 * ports.  This is printed.
 */
bool messages_place_by_sockets(struct messages_file *files, unsigned int nr_files, bool *is_known);

#endif
