/* SPDX-License-Identifier: MIT */
#include "flush.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/prctl.h>

#include "handle.h"
#include "signals.h"
#include "wait.h"

#define AGE_NS 1000000000     /* the longest that something waits for a flush */
#define ROUND_NS (AGE_NS / 4) /* of the thread's sleep: for the age; all else wakes it */
#define PENDING_NS 50000
#define STACK_BYTES (128 << 10)

/* One flush. */
struct flush {
	unsigned long id;
	struct px_stream *stream;
	bool is_last;	/* the identifier is closed: there is no lock */
	bool has_bound; /* stop behind this counter */
	uint64_t bound;
	int error; /* the first */
};

static void take_note(struct px_stream *stream, int error)
{
	struct px_logging *logging = &stream->logging;

	logging->log_is_full = px_log_is_full(logging->log);
	logging->nr_lost = px_log_nr_lost(logging->log);
	if (error && !logging->flush_error)
		logging->flush_error = error;
}

/* Give the lock up, for what may take long. */
static void leave(const struct flush *flush)
{
	if (!flush->is_last)
		px_handle_leave(flush->id);
}

/* False: the identifier was closed meanwhile. */
static bool return_to(const struct flush *flush)
{
	return flush->is_last || px_handle_return(flush->id);
}

/* Write, and lay out the event that found no room before; in this order, without the lock. */
static enum px_log_room write_then_append(struct flush *flush, const struct px_report *report,
					  const struct px_log_state *state, int *error)
{
	struct px_log *log = flush->stream->logging.log;
	enum px_log_room room;

	do {
		int failed = px_log_write(log, state);

		if (failed && !*error)
			*error = failed;
		room = report ? px_log_append(log, report, flush->stream->logging.data) :
				PX_LOG_TAKEN;
	} while (room == PX_LOG_WRITE_FIRST);
	return room;
}

/*
 * False: the identifier was closed meanwhile; whoever did that goes on where we are, so nothing may be left in
 * our hands.
 */
static bool write_out(struct flush *flush, const struct px_report *report, enum px_log_room *room)
{
	struct px_stream *stream = flush->stream;
	struct px_log_state state;
	int error = 0;

	px_stream_log_state(stream, &state);
	leave(flush);
	*room = write_then_append(flush, report, &state, &error);
	if (*room == PX_LOG_FULL)
		px_log_count_lost(stream->logging.log);
	if (error && !flush->error)
		flush->error = error;
	if (!return_to(flush))
		return false;
	take_note(stream, error);
	return true;
}

static bool pause_for(struct flush *flush)
{
	leave(flush);
	px_wait_pause(PENDING_NS);
	return return_to(flush);
}

/* A full log ends with STOP, and what comes behind it is discarded (LOGP-2, LOGP-3). */
static void end_full_log(struct px_stream *stream)
{
	if (px_log_refuses(stream->logging.log) && !stream->logging.is_suspended &&
	    px_stream_suspend(stream))
		px_log_append_stop(stream->logging.log);
}

static bool append(struct flush *flush, const struct px_report *report)
{
	struct px_log *log = flush->stream->logging.log;
	enum px_log_room room = px_log_append(log, report, flush->stream->logging.data);

	if (room == PX_LOG_FULL)
		px_log_count_lost(log);
	if (room == PX_LOG_WRITE_FIRST && !write_out(flush, report, &room))
		return false;
	if (room == PX_LOG_FULL)
		end_full_log(flush->stream);
	return true;
}

static bool is_behind_bound(const struct flush *flush, const struct px_report *report)
{
	return flush->has_bound && report->record.context != 0 &&
	       (int64_t)(report->record.counter - flush->bound) >= 0;
}

/* False: the identifier was closed meanwhile, and the lock is not held. */
static bool pump(struct flush *flush)
{
	struct px_stream *stream = flush->stream;

	for (;;) {
		enum px_log_room room;
		struct px_report report;
		enum px_next next = px_stream_next(stream, stream->logging.data,
						   stream->reader.held_capacity, &report);

		if (next == PX_NEXT_NONE)
			return write_out(flush, NULL, &room);
		if (next == PX_NEXT_PENDING) {
			if (!pause_for(flush))
				return false;
			continue;
		}
		if (!append(flush, &report))
			return false;
		if (is_behind_bound(flush, &report))
			return write_out(flush, NULL, &room);
	}
}

static bool run(struct flush *flush)
{
	struct px_signals signals;
	bool is_open;

	px_signals_hold(&signals);
	is_open = pump(flush);
	px_signals_release(&signals);
	return is_open;
}

bool px_flush_wait(unsigned long id, struct px_stream *stream)
{
	while (stream->logging.is_flushing)
		if (!px_handle_wait(id))
			return false;
	return true;
}

int px_flush(unsigned long id, struct px_stream *stream, const struct px_caller *caller)
{
	struct px_logging *logging = &stream->logging;
	struct flush flush = {.id = id, .stream = stream, .has_bound = true};
	uint64_t counter, heads;

	if (!px_flush_wait(id, stream))
		return EINVAL;
	logging->is_flushing = true;
	heads = px_view_heads(&stream->view);
	if (px_stream_mark_flush(stream, PX_EVENT_FLUSH_START, caller, &flush.bound))
		heads++;
	else
		flush.bound = px_clock_read((enum px_clock_source)stream->view.rings.source);
	if (!run(&flush)) /* whoever closed it does the rest */
		return flush.error ? flush.error : EINVAL;
	if (flush.error && !caller)
		px_stream_mark_error(stream, flush.error);
	heads += px_stream_mark_flush(stream, PX_EVENT_FLUSH_STOP, caller, &counter);
	logging->heads = heads; /* what is beyond them now came meanwhile, and is due in its time */
	logging->waiting_ns = 0;
	logging->is_flushing = false; /* FLOP-9: behind FLUSH_STOP */
	px_handle_wake(id);
	px_handle_unlock(id);
	return flush.error;
}

int px_flush_end(struct px_stream *stream, const struct px_caller *caller)
{
	struct flush flush = {.stream = stream, .is_last = true};
	struct px_log_state state;
	struct px_signals signals;
	int error;

	end_full_log(stream); /* a flush that was interrupted may have found it so */
	px_stream_stop(stream, caller);
	run(&flush);
	px_stream_log_state(stream, &state);
	px_signals_hold(&signals);
	error = px_log_complete(stream->logging.log, &state);
	px_signals_release(&signals);
	stream->logging.log = NULL;
	return flush.error ? flush.error : error;
}

/* The thread. */

/* FLUSHP-1: what was recorded since the last flush is not left waiting for ever. */
static bool has_aged(struct px_stream *stream)
{
	struct px_logging *logging = &stream->logging;
	uint64_t now;

	if (px_view_heads(&stream->view) == logging->heads)
		return false;
	now = px_clock_monotonic_ns();
	if (logging->waiting_ns == 0)
		logging->waiting_ns = now;
	return now - logging->waiting_ns >= AGE_NS;
}

/* FLUSHP-5, and regularly. */
static bool is_due(struct px_stream *stream)
{
	const struct px_logging *logging = &stream->logging;
	bool is_full = px_state_of(px_load_acquire(&stream->view.segment->state)) ==
		       PX_STATE_AUTO_FULL;

	if (logging->is_flushing)
		return false;
	if (is_full || px_view_is_half_full(&stream->view, NULL))
		return true;
	return has_aged(stream);
}

static struct px_stream *sleep_on(unsigned long id, struct px_stream *stream)
{
	uint32_t *waiting = px_stream_waiting(stream);

	/* As long as the flag is up there is nothing to announce: that would cost all CPUs a barrier. */
	if (px_read_once(waiting) != PX_WAITING_HALF) {
		px_stream_prepare_wait(stream, PX_WAITING_HALF);
		if (is_due(stream))
			return stream;
	}
	px_handle_leave(id);
	px_wait_doze(waiting, PX_WAITING_HALF, ROUND_NS);
	return px_handle_return(id);
}

static void *flush_regularly(void *argument)
{
	unsigned long id = (unsigned long)(uintptr_t)argument;
	struct px_stream *stream;

	prctl(PR_SET_NAME, "posixtrace");
	for (stream = px_handle_lock(id); stream;) {
		if (!is_due(stream)) {
			stream = sleep_on(id, stream);
			continue;
		}
		px_flush(id, stream, NULL);
		stream = px_handle_lock(id);
	}
	return NULL;
}

static int add_tls(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

/* The C library takes it from a thread's stack; programs have been seen with more than we need. */
static size_t static_tls_bytes(void)
{
	size_t sum = 0;

	dl_iterate_phdr(add_tls, &sum);
	return sum;
}

int px_flush_start_thread(unsigned long id, struct px_stream *stream)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int error;

	if (pthread_attr_init(&attr) != 0)
		return ENOMEM;
	pthread_attr_setstacksize(&attr, STACK_BYTES + static_tls_bytes());
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&stream->logging.flusher, &attr, flush_regularly,
			       (void *)(uintptr_t)id);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	stream->logging.has_flusher = error == 0;
	return error ? ENOMEM : 0;
}

void px_flush_join_thread(struct px_stream *stream)
{
	if (stream->logging.has_flusher)
		pthread_join(stream->logging.flusher, NULL);
}
