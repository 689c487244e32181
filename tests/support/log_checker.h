/* SPDX-License-Identifier: MIT */
/*
 * Check a log from both sides: the contents that the viewer shows of each volume (txtb_checker.h), and the contents of
 * the sections, position by position; and compare them.  The checks are Check assertions.
 */
#ifndef PX_TESTS_SUPPORT_LOG_CHECKER_H
#define PX_TESTS_SUPPORT_LOG_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#include "log/format.h"

/* What a test knows about its log. */
enum px_test_log_look {
	PX_TEST_LOG_IS_CUT = 1 << 0, /* its writer died: the image may be ahead of the commit */
	PX_TEST_LOG_WRAPS_STAMPS = 1 << 1, /* its time span exceeds the range of a stamp */
	PX_TEST_LOG_WAS_BROKEN = 1 << 2,   /* a write failed: there may be less in the image */
	PX_TEST_LOG_IS_OPEN = 1 << 3,	   /* the writer goes on, but does not write at this moment */
	PX_TEST_LOG_NAMES_TWICE = 1 << 4,  /* an object that is no thread may have the name of another one */
	PX_TEST_LOG_LIES = 1 << 5	   /* its target forged the times of events */
};

struct px_test_log_facts {
	struct px_log_header header;
	struct px_log_commit commit;
	struct px_log_layout layout; /* of the first volume, which is at offset base */
	uint64_t base;
	uint64_t volume_at[16]; /* offsets of the first volumes */
	uint64_t capacity;
	uint64_t nr_volumes; /* that are there */
	uint64_t nr_entries; /* number of events that the viewer shows, in all volumes */
	uint64_t nr_events;  /* in the sections */
	uint64_t nr_fillers; /* in the sections: entries for the viewer only that show nothing */
};

/*
 * The checker accepts each volume without a warning, all contexts have names, and time rises.  The times of events
 * never fall.  Each committed position is in the image with the right content, and the image has nothing else, except
 * the rest of a record whose beginning was overwritten.  The distances of events match their times.
 */
void px_test_check_log(int fd, unsigned int look, struct px_test_log_facts *facts);

#endif
