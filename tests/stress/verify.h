/* SPDX-License-Identifier: MIT */
/*
 * What a controller demands of a stream, or of its log.
 *
 *	- Each event has the bytes that were written, and the right process, thread and type.
 *	- The numbers of one writer rise, and time with them.
 *	- A number is missing only where OVERFLOW stands or the stream stopped by itself, or as often as
 *	  losses without a mark were counted.
 *	- What returned before stop was called, and began after start had returned, is there or counted.
 *	- All of this is true for the processes that the stream traces, and the stream has no event of others.
 */
#ifndef PX_TESTS_STRESS_VERIFY_H
#define PX_TESTS_STRESS_VERIFY_H

#include "stress/board.h"

enum window { UNKNOWN, OPEN, CLOSED };

struct record; /* what is known of the events of a life */

struct stream {
	trace_id_t trid;
	char name[120];
	uint32_t target;
	bool is_bounded, is_inherited, has_log, log_loops, log_fills;
	bool is_foreign; /* of another program: its events are not known */
	size_t max_data;
	uint64_t ordered_ns, made_ns; /* before and after its creation */

	/* One window, from start to stop. */
	struct record *record; /* LIVES_MAX */
	uint32_t first_life, last_life;
	enum window window;
	uint32_t breaks, overflows;
	uint64_t newest_ns; /* of the events that were reported */
	bool resume_is_next;
	uint64_t silent;       /* missing events without OVERFLOW */
	uint64_t missing;      /* in earlier windows, since losses were counted from 0 */
	uint64_t missing_most; /* of one life, and its pid */
	uint32_t missing_life;
	unsigned char type_of[4096]; /* ids: number of the type + 1; 0: not asked yet */
};

void stream_init(struct stream *stream);
void stream_destroy(struct stream *stream);

/* Right after start has returned; right before stop, or shutdown, is called; right after stop has returned. */
void window_begin(struct stream *stream);
void window_end(struct stream *stream);
void window_stopped(struct stream *stream);

/* Return true if no call goes on that had begun before stop returned.  Such a call may still complete an event. */
bool window_is_quiet(const struct stream *stream);

/* Check an event that was reported. */
void check_event(struct stream *stream, const struct posix_trace_event_info *info,
		 const unsigned char *data, size_t size);

/* All events of the window were reported, and this many were lost in all. has_end: the window ended with stop. */
void window_settle(struct stream *stream, uint64_t lost, bool has_end);

/* Check the log of a stream that was shut down after one window. */
void look_at_log(struct stream *stream, int fd);

#endif
