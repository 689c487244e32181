/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <pthread.h>

#include "stream/flush.h"

static int flush(trace_id_t trid, const struct px_caller *caller)
{
	struct px_stream *stream = px_handle_lock(trid);

	if (!stream)
		return EINVAL;
	if (!stream->logging.log) {
		px_handle_unlock(trid);
		return EINVAL; /* FLUSH-2 */
	}
	return px_flush(trid, stream, caller);
}

/* FLOP-3: return only when all events are in the log. */
PX_EXPORT_CALL int posix_trace_flush(trace_id_t trid)
{
	struct px_caller caller = {__builtin_return_address(0)};
	int saved_errno = errno;
	int error, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = flush(trid, &caller);
	if (error)
		px_handle_stay_at_exit(trid);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}
