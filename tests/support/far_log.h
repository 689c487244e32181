/* SPDX-License-Identifier: MIT */
/* An empty LOOP log that goes on as if it had written and overwritten very many events. */
#ifndef PX_TESTS_SUPPORT_FAR_LOG_H
#define PX_TESTS_SUPPORT_FAR_LOG_H

#include "log/log_private.h"

/*
 * Let a new log go on at the beginning of the round that has this position, with so many events behind it.  Nothing may
 * have been appended.  Return the position.
 */
PX_INLINE uint64_t px_test_go_far(struct px_log *log, uint64_t position, uint64_t nr_events)
{
	position -= position % log->capacity;
	log->staged.first = log->staged.end = log->stage_position = position;
	log->staged.nr_events = log->staged.nr_overwritten = nr_events;
	log->written = log->staged;
	log->is_full = true;
	return position;
}

#endif
