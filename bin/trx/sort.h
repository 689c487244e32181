/* SPDX-License-Identifier: MIT */
/*
 * Events on their way into a trace buffer, in the order of time: a file without a name, so that memory does not grow
 * with them.
 *
 * They come nearly in order.  One that is older than what came before is kept in memory until the end, and read in its
 * place; so events of one time stay in the order in which they came.
 */
#ifndef TXTRACE_TRX_SORT_H
#define TXTRACE_TRX_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spooled {
	int64_t time_ns;
	uint32_t context, priority, id, info[4];
	uint32_t is_more; /* it goes on with the data of the one before */
};

#define SORT_WINDOW 1024

struct sorter {
	int fd;
	int error; /* 0: all is well */
	int64_t newest_ns;
	uint64_t nr_events; /* in the file */
	struct spooled *late;
	size_t nr_late, late_room;
	size_t nr_out; /* in out[], not yet in the file */
	struct spooled out[SORT_WINDOW];
};

/* A place in the order of time; all 0 is the beginning. */
struct sort_cursor {
	uint64_t event; /* next one in the file, */
	size_t late;	/* and of those that came late */
	uint64_t window_first;
	size_t window_size;
	struct spooled window[SORT_WINDOW];
};

/* The file stands where this one will, or, if it cannot, in $TMPDIR.  False: it cannot be made, and that was said. */
bool sort_open(struct sorter *sorter, const char *path);
void sort_close(struct sorter *sorter);

void sort_put(struct sorter *sorter, const struct spooled *event);

/* All is there: from now on it is read.  False: it could not be written, and that was said. */
bool sort_end(struct sorter *sorter);

/* The next event; NULL behind the last.  Valid until the next call for this cursor. */
const struct spooled *sort_next(struct sorter *sorter, struct sort_cursor *cursor);

#endif
