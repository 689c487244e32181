/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <pthread.h>

#include "flush.h"
#include "signals.h"

static int clear(trace_id_t trid)
{
	struct px_stream *stream = px_handle_lock(trid);
	struct px_signals signals;
	int error;

	if (!stream || !px_flush_wait(trid, stream))
		return EINVAL;
	px_signals_hold(&signals); /* the log is written too */
	error = px_stream_clear(stream);
	px_signals_release(&signals);
	px_handle_unlock(trid);
	return error;
}

PX_EXPORT int posix_trace_clear(trace_id_t trid)
{
	int saved_errno = errno;
	int error, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = clear(trid);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}
