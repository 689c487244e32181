/* SPDX-License-Identifier: MIT */
/* Pre-recorded streams: open, rewind, close. */
#include "api/api.h"

#include <pthread.h>

#include "log/archive.h"
#include "stream/recover.h"
#include "trace/process.h"

/*
 * EXIT-4: if the writer of the log has died, complete the log first as far as possible.  A log that
 * seems to be in use may also belong to a process that has become another program.
 */
static int open_complete(int file_desc, struct px_archive **archive)
{
	int error = px_archive_open(file_desc, archive);
	bool may_be_left = error == EINVAL || (!error && !(*archive)->info.is_foreign &&
					       !(*archive)->info.is_complete);

	if (!may_be_left || px_recover_file(file_desc) != 0)
		return error;
	if (!error)
		(*archive)->kind->free(*archive);
	return px_archive_open(file_desc, archive);
}

static int open_archive(int file_desc, trace_id_t *trid)
{
	struct px_archive *archive;
	int error = open_complete(file_desc, &archive);

	if (error)
		return error;
	error = px_handle_open((struct px_handle){.archive = archive}, trid);
	if (error)
		archive->kind->free(archive);
	return error;
}

PX_EXPORT int posix_trace_open(int file_desc, trace_id_t *trid)
{
	int saved_errno = errno;
	int error, state;

	if (!trid)
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	px_process_init(); /* identifiers need this process's id; if this fails, files can still be read */
	error = open_archive(file_desc, trid);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int posix_trace_rewind(trace_id_t trid)
{
	struct px_archive *archive = px_handle_lock_archive(trid);

	if (!archive)
		return EINVAL;
	archive->kind->rewind(archive);
	px_handle_unlock(trid);
	return 0;
}

PX_EXPORT int posix_trace_close(trace_id_t trid)
{
	struct px_archive *archive;
	int saved_errno = errno;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	archive = px_handle_lock_archive(trid);
	if (archive) {
		px_handle_close(trid);
		px_handle_release(trid);
		archive->kind->free(archive);
	}
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return archive ? 0 : EINVAL;
}
