/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <pthread.h>

#include "log/archive.h"
#include "ring/wakeup.h"

#define PENDING_PAUSE_NS 50000
#define TRY_NS 1000000 /* the longest wait of posix_trace_trygetnext_event() */

/* The memory in which a call stores its event. */
struct destination {
	struct posix_trace_event_info *event;
	void *data;
	size_t num_bytes;
	size_t *data_len;
	int *unavailable;
};

static bool is_usable(const struct destination *to)
{
	return to->event && to->data_len && to->unavailable && (to->data || to->num_bytes == 0);
}

static void fill_in(const struct px_report *report, const struct destination *to)
{
	const struct px_record *record = &report->record;

	to->event->posix_event_id = record->id;
	to->event->posix_pid = (pid_t)record->pid;
	to->event->posix_prog_address = (void *)(uintptr_t)record->address;
	to->event->posix_thread_id = (pthread_t)record->thread;
	to->event->posix_timestamp = px_clock_timespec(report->time_ns);
	to->event->posix_truncation_status = px_truncation(report);
	to->event->__reserved[PX_INFO_CONTEXT] = (int)record->context;
	to->event->__reserved[PX_INFO_PRIORITY] = (int)record->priority;
	to->event->__reserved[PX_INFO_CPU] = (int)record->cpu;
	to->event->__reserved[PX_INFO_PLACE_LOW] = (int)(uint32_t)report->place;
	to->event->__reserved[PX_INFO_PLACE_HIGH] = (int)(uint32_t)(report->place >> 32);
	if (sizeof(to->event->posix_prog_address) < sizeof(record->address)) {
		to->event->__reserved[PX_INFO_ADDRESS_HIGH] = (int)(uint32_t)(record->address >> 32);
		to->event->__reserved[PX_INFO_THREAD_HIGH] = (int)(uint32_t)(record->thread >> 32);
	}
	*to->data_len = report->copied;
	*to->unavailable = 0;
}

static enum px_next try_next(struct px_stream *stream, const struct destination *to)
{
	struct px_report report = {.place = 0};
	enum px_next next = px_stream_next(stream, to->data, to->num_bytes, &report);

	if (px_likely(next == PX_NEXT_EVENT))
		fill_in(&report, to);
	return next;
}

/* Take the next complete event.  Do not wait for a writer. */
static enum px_next take_at_once(struct px_stream *stream, const struct destination *to)
{
	struct px_report report = {.place = 0};
	enum px_next next = px_stream_next_at_once(stream, to->data, to->num_bytes, &report);

	if (next == PX_NEXT_EVENT)
		fill_in(&report, to);
	return next;
}

/* GETNEXT-3: reading a pre-recorded stream never blocks, and its end is not an error. */
static void take_from(struct px_archive *archive, const struct destination *to)
{
	struct px_report report = {.place = 0};

	if (px_likely(archive->kind->next(archive, to->data, to->num_bytes, &report) ==
		      PX_NEXT_EVENT))
		fill_in(&report, to);
	else
		*to->unavailable = 1;
}

/*
 * musl cancels a thread asynchronously by a change of its program counter alone.  So on x86 the cleanup handlers run on
 * a stack of any alignment, and those of the program end with SIGSEGV where they use vectors.  The handler here is the
 * first one.  It aligns its own frame, and lets pthread_exit() run the others above that.
 */
#if !defined __GLIBC__ && (defined __x86_64__ || defined __i386__)
#define ALIGNS_STACK __attribute__((force_align_arg_pointer))
#define CANCELS_ON_ANY_STACK true
#else
#define ALIGNS_STACK
#define CANCELS_ON_ANY_STACK false
#endif

/*
 * The cleanup handler of a thread that is cancelled while it sleeps.  The stream still counts the thread as a user.
 * The thread does not return from its call any more, so end this use here.
 */
ALIGNS_STACK static void cancelled(void *argument)
{
	const trace_id_t *trid = argument;

	if (px_handle_return(*trid))
		px_handle_unlock(*trid);
	if (CANCELS_ON_ANY_STACK)
		pthread_exit(PTHREAD_CANCELED);
}

/* Sleep.  If the thread is cancelled, cancelled() cleans up. */
static int sleep_away(trace_id_t *trid, uint32_t *waiting, enum px_next next,
		      const struct timespec *abstime)
{
	int error;

	pthread_cleanup_push(cancelled, trid);
	if (next == PX_NEXT_PENDING) {
		px_wakeup_pause(PENDING_PAUSE_NS);
		error = 0;
	} else {
		error = px_wakeup_sleep(waiting, abstime);
	}
	pthread_cleanup_pop(0);
	return error;
}

/*
 * Unlock the stream, sleep until there may be an event, and lock the stream again.  If another thread has shut the
 * stream down, return EINVAL without the lock.
 */
static int sleep_on(trace_id_t trid, struct px_stream *stream, enum px_next next,
		    const struct timespec *abstime)
{
	uint32_t *waiting = px_stream_waiting(stream);
	int error;

	px_handle_leave(trid);
	error = sleep_away(&trid, waiting, next, abstime);
	if (!px_handle_return(trid))
		return EINVAL; /* GETNEXT-11: another thread shut the stream down */
	return error;
}

static bool is_time(const struct timespec *abstime)
{
	return abstime && abstime->tv_nsec >= 0 && abstime->tv_nsec < 1000000000;
}

static bool has_passed(const struct timespec *abstime)
{
	const struct timespec now = px_clock_timespec(px_clock_realtime_ns());

	return now.tv_sec != abstime->tv_sec ? now.tv_sec > abstime->tv_sec :
					       now.tv_nsec >= abstime->tv_nsec;
}

/* Wait for an event.  If timed is true, wait until abstime, otherwise forever. */
static int wait_for(trace_id_t trid, struct px_stream *stream, const struct destination *to,
		    bool timed, const struct timespec *abstime)
{
	enum px_next next = try_next(stream, to);
	int error = 0;

	if (next != PX_NEXT_EVENT && timed && !is_time(abstime)) {
		next = take_at_once(stream, to);
		if (next != PX_NEXT_EVENT)
			error = EINVAL; /* TIMED-5: an invalid abstime is an error only if the call has to wait */
	}
	while (next != PX_NEXT_EVENT && error == 0) {
		if (next == PX_NEXT_NONE) {
			px_stream_prepare_wait(stream, PX_WAITING_EVENT);
			next = try_next(stream, to);
			if (next == PX_NEXT_EVENT)
				break;
		}
		error = sleep_on(trid, stream, next, abstime);
		if (error == EINVAL)
			return error;
		/* If an event is available now, return it even if the wait has failed (GETNEXT-13). */
		next = try_next(stream, to);
		if (next == PX_NEXT_PENDING && (error != 0 || (timed && has_passed(abstime)))) {
			next = take_at_once(stream, to);
			error = error ? error : ETIMEDOUT;
		}
	}
	px_handle_unlock(trid);
	if (next == PX_NEXT_EVENT)
		return 0;
	if (error != EINVAL)
		*to->unavailable = 1; /* AMB-23 */
	return error;
}

/*
 * GETNEXT-14: a reader takes events from the stream, and a log would miss these events.  So if the stream has a log,
 * unlock it and return false.
 */
static bool is_readable(trace_id_t trid, const struct px_stream *stream)
{
	if (px_likely(!stream->logging.log))
		return true;
	px_handle_unlock(trid);
	return false;
}

static int get_next(trace_id_t trid, const struct destination *to, bool timed,
		    const struct timespec *abstime)
{
	struct px_handle handle;
	int saved_errno = errno;
	int error = 0;

	pthread_testcancel(); /* GEN-7: cancel only before this call takes an event */
	if (!is_usable(to))
		return EINVAL;
	if (!px_handle_lock_any(trid, &handle)) {
		error = EINVAL;
	} else if (handle.archive) {
		take_from(handle.archive, to); /* TIMED-7: ignore abstime */
		px_handle_unlock(trid);
	} else if (is_readable(trid, handle.stream)) {
		error = wait_for(trid, handle.stream, to, timed, abstime);
	} else {
		error = EINVAL;
	}
	if (error)
		px_handle_stay_at_exit(trid);
	errno = saved_errno;
	return error;
}

PX_EXPORT int posix_trace_getnext_event(trace_id_t trid,
					struct posix_trace_event_info *restrict event,
					void *restrict data, size_t num_bytes,
					size_t *restrict data_len, int *restrict unavailable)
{
	struct destination to = {event, data, num_bytes, data_len, unavailable};

	return get_next(trid, &to, false, NULL);
}

PX_EXPORT int posix_trace_timedgetnext_event(trace_id_t trid,
					     struct posix_trace_event_info *restrict event,
					     void *restrict data, size_t num_bytes,
					     size_t *restrict data_len, int *restrict unavailable,
					     const struct timespec *restrict abstime)
{
	struct destination to = {event, data, num_bytes, data_len, unavailable};

	return get_next(trid, &to, true, abstime);
}

/*
 * A writer has not finished the next event.  Wait a short time for this writer, then take another event (TRY-1).  This
 * function is not a cancellation point.  If the stream was shut down, return EINVAL without the lock.
 */
static int take_behind_writer(trace_id_t trid, struct px_stream *stream,
			      const struct destination *to, enum px_next *next)
{
	uint64_t begin = px_clock_monotonic_ns();
	uint32_t unused = 0;

	while (*next == PX_NEXT_PENDING && px_clock_monotonic_ns() - begin < TRY_NS) {
		px_handle_leave(trid);
		px_wakeup_doze(&unused, PX_WAITING_NOBODY, PENDING_PAUSE_NS);
		if (!px_handle_return(trid))
			return EINVAL;
		*next = try_next(stream, to);
	}
	if (*next == PX_NEXT_PENDING)
		*next = take_at_once(stream, to);
	return 0;
}

PX_EXPORT int posix_trace_trygetnext_event(trace_id_t trid,
					   struct posix_trace_event_info *restrict event,
					   void *restrict data, size_t num_bytes,
					   size_t *restrict data_len, int *restrict unavailable)
{
	struct destination to = {event, data, num_bytes, data_len, unavailable};
	struct px_stream *stream;
	int saved_errno = errno;
	enum px_next next;
	int error = 0;

	if (!is_usable(&to))
		return EINVAL;
	stream = px_handle_lock(trid);
	if (!stream && px_handle_has_exited(trid)) {
		*unavailable = 1; /* the same result as at the end of all events */
		return 0;
	}
	if (!stream || !is_readable(trid, stream))
		return EINVAL;
	next = try_next(stream, &to);
	if (px_unlikely(next == PX_NEXT_PENDING))
		error = take_behind_writer(trid, stream, &to, &next);
	if (!error) {
		if (next != PX_NEXT_EVENT)
			*unavailable = 1;
		px_handle_unlock(trid);
	}
	errno = saved_errno;
	return error;
}
