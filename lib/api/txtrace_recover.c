/* SPDX-License-Identifier: MIT */
/* Logs of dead controllers, and logs that are longer than what they hold. */
#include "api/api.h"

#include <pthread.h>
#include <sys/stat.h>
#include <trace_ext.h>

#include "base/write_signals.h"
#include "log/compact.h"
#include "log/log.h"
#include "stream/recover.h"
#include "trace/process.h"

PX_EXPORT int txtrace_recover(int file_desc)
{
	int saved_errno = errno;
	int error, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_process_init(); /* even if this call fails, the log may already be complete */
	error = px_recover_file(file_desc);
	if (error == EALREADY)
		error = EBUSY;
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_recover_all(unsigned int *restrict nr_recovered,
				  unsigned int *restrict nr_left)
{
	int saved_errno = errno;
	int error, state;

	if (!nr_recovered || !nr_left)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = px_process_init();
	if (!error)
		px_recover_all(nr_recovered, nr_left);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_recover_each(void (*report)(const char *path, int error, void *argument),
				   void *argument)
{
	int saved_errno = errno;
	int error, state;

	if (!report)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = px_process_init();
	if (!error)
		px_recover_each(report, argument);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

/* Events in shared memory would be lost if the packed log took the place of a log that can still be completed. */
static int pack(int from, int to)
{
	struct px_write_signals signals;
	int error = px_recover_file(from);

	if (error == EALREADY)
		return EBUSY;
	if (error && error != ENOENT && error != EINVAL)
		return error;
	px_write_signals_hold(&signals);
	error = px_compact_file(from, to);
	px_write_signals_release(&signals);
	return error;
}

PX_EXPORT int txtrace_pack(int from, int to)
{
	int saved_errno = errno;
	int error = px_log_check(to), state;
	struct stat status;

	if (!error && (fstat(to, &status) != 0 || status.st_size != 0 || fstat(from, &status) != 0))
		error = EINVAL;
	if (!error) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		px_process_init(); /* if this fails there is no stream to recover from */
		error = pack(from, to);
		pthread_setcancelstate(state, &state);
	}
	errno = saved_errno;
	return error;
}
