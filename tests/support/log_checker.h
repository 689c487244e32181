/* SPDX-License-Identifier: MIT */
/*
 * A log seen from both sides: what the viewer sees of each volume (txtb_checker.h) and what stands in the
 * sections, position by position, and whether the two agree.  Expectations are those of Check.
 */
#ifndef PX_TESTS_SUPPORT_LOG_CHECKER_H
#define PX_TESTS_SUPPORT_LOG_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#include "log/format.h"

/* What a test knows of its log. */
enum px_test_log_look {
	PX_TEST_LOG_IS_CUT = 1 << 0, /* its writer died: the image may be ahead of the commit */
	PX_TEST_LOG_WRAPS_STAMPS = 1 << 1, /* it spans more than the range of a stamp */
	PX_TEST_LOG_WAS_BROKEN = 1 << 2,   /* a write failed: there may be less in the image */
	PX_TEST_LOG_IS_OPEN = 1 << 3,	   /* it goes on; nothing is being written just now */
	PX_TEST_LOG_NAMES_TWICE = 1 << 4,  /* an object that is no thread may have the name of another one */
	PX_TEST_LOG_LIES = 1 << 5	   /* its target said of events that they were at other times */
};

struct px_test_log_facts {
	struct px_log_header header;
	struct px_log_commit commit;
	struct px_log_layout layout; /* of the first volume; it is at offset base */
	uint64_t base;
	uint64_t volume_at[16]; /* offsets of the first volumes */
	uint64_t capacity;
	uint64_t nr_volumes; /* that are there */
	uint64_t nr_entries; /* the viewer shows, in all volumes */
	uint64_t nr_events;  /* in the sections */
	uint64_t nr_fillers; /* in the sections: entries for the viewer only that show nothing */
};

/*
 * Every volume is accepted without a warning, with all contexts named and time rising; the times of events
 * never fall; every position that is committed is in the image as what it is, and nothing else but the rest
 * of a record whose beginning was overwritten; the distances of events are those of their times.
 */
void px_test_check_log(int fd, unsigned int look, struct px_test_log_facts *facts);

#endif
