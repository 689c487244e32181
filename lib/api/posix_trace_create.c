/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <pthread.h>

#include "base/confined.h"
#include "base/write_signals.h"
#include "ring/wakeup.h"
#include "stream/flush.h"
#include "stream/recover.h"

/* Maximum time at exit to write the log to a slow disk. */
#define EXIT_DRAIN_NS UINT64_C(10000000000)

static void discard(struct px_stream *stream)
{
	if (stream->logging.log)
		px_log_free(stream->logging.log);
	stream->logging.log = NULL;
	px_stream_end(stream);
	px_stream_free(stream);
}

/* On failure, undo everything and leave *trid unchanged (CREATE-18). */
static int create(pid_t pid, const struct px_attr *attr, int log_fd, trace_id_t *trid)
{
	struct px_stream *stream;
	struct px_write_signals signals;
	unsigned long id;
	int error;

	px_write_signals_hold(&signals); /* the segment and the log are files */
	error = px_stream_create(pid, attr, log_fd, &stream);
	px_write_signals_release(&signals);
	if (error)
		return error;
	error = px_handle_open((struct px_handle){.stream = stream}, &id);
	if (!error && stream->attr.stream_policy == PX_POLICY_FLUSH) {
		error = px_flush_start_thread(id, stream);
		if (error && px_handle_lock(id)) {
			px_handle_close(id);
			px_handle_release(id);
		}
	}
	if (error)
		discard(stream);
	else
		*trid = id;
	return error;
}

static int create_undisturbed(pid_t pid, const trace_attr_t *attr, int log_fd, trace_id_t *trid)
{
	int saved_errno = errno;
	int error, state;

	if (pid < 0 || !trid || (attr && !px_attr_is_valid(px_attr_to_read(attr))))
		return EINVAL;
	/* GEN-7: a cancellation must not interrupt the creation. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = create(pid, px_attr_to_read(attr), log_fd, trid);
	if (!error)
		px_recover_for_create(); /* EXIT-4 */
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr,
				 trace_id_t *restrict trid)
{
	return create_undisturbed(pid, attr, -1, trid);
}

PX_EXPORT int posix_trace_create_withlog(pid_t pid, const trace_attr_t *restrict attr,
					 int file_desc, trace_id_t *restrict trid)
{
	if (file_desc < 0)
		return EBADF;
	return create_undisturbed(pid, attr, file_desc, trid);
}

static int shut_down(trace_id_t trid, const struct px_caller *caller)
{
	struct px_stream *stream = px_handle_lock(trid);
	int error = 0;

	if (!stream)
		return EINVAL;
	px_handle_close(trid);
	px_wakeup_wake(px_stream_waiting(stream)); /* waiting threads find the identifier closed (SHUT-6) */
	px_handle_drain(trid);
	if (stream->logging.log)
		error = px_flush_end(stream, caller); /* SHUT-8: free the resources in any case */
	px_stream_end(stream);
	px_handle_release(trid);
	px_flush_join_thread(stream);
	px_stream_free(stream);
	return error;
}

PX_EXPORT_CALL int posix_trace_shutdown(trace_id_t trid)
{
	struct px_caller caller = {__builtin_return_address(0)};
	int saved_errno = errno;
	int error, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = shut_down(trid, &caller);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

/*
 * Complete the log of a stream at exit.  If a thread is in a flush and does not leave it in time, leave the log
 * incomplete, like the log of a killed process.  This may be the thread that calls exit(): a signal handler may have
 * interrupted its flush and called exit().
 */
static void end_at_exit(unsigned long id, struct px_stream *stream)
{
	if (stream->logging.log) {
		px_wakeup_wake(px_stream_waiting(stream));
		if (px_handle_drain_for(id, EXIT_DRAIN_NS))
			px_flush_end(stream, NULL);
	}
	px_stream_end(stream);
}

/*
 * SHUT-11, EXIT-8: this runs after the exit handlers and destructors of all objects that were
 * loaded after this library.
 */
__attribute__((destructor(101))) static void end(void)
{
	if (!px_is_confined())
		px_handle_close_all(end_at_exit);
}
