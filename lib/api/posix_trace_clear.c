/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <pthread.h>

#include "stream/flush.h"

static int clear(trace_id_t trid)
{
	struct px_stream *stream = px_handle_lock(trid);

	return stream ? px_flush_clear(trid, stream) : EINVAL;
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
