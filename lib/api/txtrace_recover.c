/* SPDX-License-Identifier: MIT */
/* Logs of dead controllers. */
#include "api/api.h"

#include <pthread.h>
#include <trace_ext.h>

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

PX_EXPORT int txtrace_recover_each(void (*tell)(const char *path, int error, void *argument),
				   void *argument)
{
	int saved_errno = errno;
	int error, state;

	if (!tell)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = px_process_init();
	if (!error)
		px_recover_each(tell, argument);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}
