/* SPDX-License-Identifier: MIT */
/* Pre-recorded streams: open, rewind, close. */
#include "api/api.h"

#include <pthread.h>
#include <trace_ext.h>

#include "base/clock.h"
#include "log/archive.h"
#include "log/format.h"
#include "ring/wakeup.h"
#include "stream/recover.h"
#include "trace/process.h"

#define RECOVERY_WAIT_NS UINT64_C(2000000000)
#define RECOVERY_ROUND_NS 2000000

/*
 * Wait for another process that recovers the log, but not forever, because that process may be stopped.  Return 0 (the
 * caller tries again), ETIMEDOUT, or EINTR (a signal handler without SA_RESTART ran).
 */
static int wait_for_recovery(uint64_t end_ns)
{
	/* No thread clears this flag: only the time or a signal ends the wait. */
	uint32_t flag = PX_WAITING_EVENT;
	struct timespec round;
	int error;

	if (px_clock_monotonic_ns() >= end_ns)
		return ETIMEDOUT;
	round = px_clock_timespec(px_clock_realtime_ns() + RECOVERY_ROUND_NS);
	error = px_wakeup_sleep(&flag, &round);
	return error == EINTR ? EINTR : 0;
}

static int recover(int file_desc)
{
	uint64_t end_ns = px_clock_monotonic_ns() + RECOVERY_WAIT_NS;
	int error;

	while ((error = px_recover_file(file_desc)) == EALREADY) {
		error = wait_for_recovery(end_ns);
		if (error)
			return error;
	}
	return error;
}

/*
 * `recovery` is the result of the recovery.  Return the error of posix_trace_open() after this result.  If no process
 * can complete the log now, return 0: then a reader can read it up to its last commit.
 */
static int error_after(int recovery)
{
	switch (recovery) {
	case EBUSY: /* OPEN-3: the writer of the log lives */
		return EINVAL;
	case ETIMEDOUT:
		return EBUSY;
	case EINTR:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return recovery;
	default:
		return 0;
	}
}

/*
 * EXIT-4: if the writer of the log has died, complete the log first as far as possible.  If a log seems to be in use,
 * its writer may have executed another program since then.
 */
static int open_complete(int file_desc, struct px_archive **archive)
{
	int recovery, failure, error = px_archive_open(file_desc, 0, archive);
	bool may_be_left = error == EINVAL || (!error && !(*archive)->info.is_foreign &&
					       !(*archive)->info.is_complete);

	if (!may_be_left)
		return error;
	recovery = recover(file_desc);
	failure = error_after(recovery);
	if (error && failure != EBUSY && failure != EINTR)
		failure = 0; /* `error` is EINVAL: return that */
	if (recovery != 0 && failure == 0)
		return error;
	if (!error)
		(*archive)->kind->free(*archive);
	return failure ? failure : px_archive_open(file_desc, 0, archive);
}

/* Return true if the file is a log of a newer version of this library. */
static bool is_newer(int file_desc)
{
	struct px_log_header header;
	struct px_log_layout layout;

	return px_log_find(file_desc, &header, &layout) && px_log_header_is_newer(&header);
}

/* Open what posix_trace_open() would open, and if it would open nothing, what the flags allow. */
static int open_with(int file_desc, int flags, struct px_archive **archive)
{
	unsigned int allowed = (flags & TXTRACE_OPEN_RUNNING ? PX_ARCHIVE_RUNNING : 0u) |
			       (flags & TXTRACE_OPEN_DAMAGED ? PX_ARCHIVE_DAMAGED : 0u);
	int error = open_complete(file_desc, archive);

	if (error != EINVAL || !flags)
		return error;
	if (is_newer(file_desc))
		return ENOTSUP;
	/* It may be both: its writer lives, and parts are missing. */
	error = allowed & PX_ARCHIVE_RUNNING ?
			px_archive_open(file_desc, PX_ARCHIVE_RUNNING, archive) :
			EINVAL;
	return error == EINVAL ? px_archive_open(file_desc, allowed, archive) : error;
}

static int open_archive(int file_desc, int flags, bool tells_losses, trace_id_t *trid)
{
	struct px_archive *archive;
	int error = open_with(file_desc, flags, &archive);

	if (error)
		return error;
	archive->tells_losses = tells_losses;
	error = px_handle_open((struct px_handle){.archive = archive}, trid);
	if (error)
		archive->kind->free(archive);
	return error;
}

static int open_trace(int file_desc, int flags, bool tells_losses, trace_id_t *trid)
{
	int saved_errno = errno;
	int error, state;

	if (!trid || flags & ~(TXTRACE_OPEN_RUNNING | TXTRACE_OPEN_DAMAGED))
		return EINVAL;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	/* Identifiers need this process's id; even if this call fails, the process can read files. */
	px_process_init();
	error = open_archive(file_desc, flags, tells_losses, trid);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	return error;
}

PX_EXPORT int txtrace_open(int file_desc, int flags, trace_id_t *trid)
{
	return open_trace(file_desc, flags, true, trid);
}

/* LOGP-7: POSIX_TRACE_OVERFLOW is a loss of the stream, so what the log lost is in the status only. */
PX_EXPORT int posix_trace_open(int file_desc, trace_id_t *trid)
{
	return open_trace(file_desc, 0, false, trid);
}

PX_EXPORT int txtrace_refresh(trace_id_t trid, int *running)
{
	struct px_archive *archive;
	int saved_errno = errno;
	int error = EINVAL;

	if (!running || !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	if (archive->kind->extend)
		error = archive->kind->extend(archive);
	*running = archive->info.is_running;
	px_handle_unlock(trid);
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
