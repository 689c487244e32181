/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <pthread.h>

/* A trid is made last, so that a failure leaves nothing behind (CREATE-18). */
static int create(pid_t pid, const struct px_attr *attr, trace_id_t *trid)
{
	struct px_stream *stream;
	int error = px_stream_create(pid, attr, &stream);

	if (error)
		return error;
	error = px_handle_open(stream, trid);
	if (error) {
		px_stream_end(stream);
		px_stream_free(stream);
	}
	return error;
}

PX_EXPORT int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr,
				 trace_id_t *restrict trid)
{
	int saved_errno = errno;
	int error, state;

	if (pid < 0 || !trid || (attr && !px_attr_is_valid(px_attr_to_read(attr))))
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* GEN-7: never half done */
	error = create(pid, px_attr_to_read(attr), trid);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

static int shut_down(trace_id_t trid)
{
	struct px_stream *stream = px_handle_lock(trid);

	if (!stream)
		return EINVAL;
	px_handle_close(trid);
	px_stream_end(stream); /* which wakes readers; they find the identifier closed (SHUT-6) */
	px_handle_release(trid, px_stream_free);
	return 0;
}

PX_EXPORT int posix_trace_shutdown(trace_id_t trid)
{
	int saved_errno = errno;
	int error, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = shut_down(trid);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

/* SHUT-11, EXIT-8: after the handlers and destructors of whatever was loaded after this library. */
__attribute__((destructor(101))) static void end(void)
{
	px_handle_close_all(px_stream_end);
}
