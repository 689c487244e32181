/* SPDX-License-Identifier: MIT */
#include "stream/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/layout.h"
#include "base/procfs.h"
#include "base/write_signals.h"
#include "log/archive_log.h"
#include "log/checkpoint.h"
#include "log/settle.h"
#include "registry/registry_of.h"
#include "registry/names_file.h"
#include "registry/shared_names.h"
#include "stream/flush.h"
#include "stream/stream.h"
#include "trace/process.h"

#define PREFIX PX_LAYOUT_PREFIX("log") /* the names of checkpoint files begin with this */
#define OPEN_FLAGS (O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* A log file. */
struct log {
	int fd;
	struct px_log_header header;
	struct px_log_layout layout;
	struct px_log_commit commit;
};

/* The controller. */

static bool is_of_this_boot(const struct px_checkpoint_content *file)
{
	char boot_id[40];

	px_log_boot_id(boot_id);
	return memcmp(boot_id, file->boot_id, sizeof(boot_id)) == 0;
}

static struct px_registry_slot slot_of(const struct px_checkpoint_content *file)
{
	return (struct px_registry_slot){.generation = file->generation,
					 .controller = file->controller,
					 .segment = file->segment};
}

static bool is_dead(const struct px_checkpoint_content *file)
{
	const struct px_registry_slot slot = slot_of(file);

	return !is_of_this_boot(file) || px_registry_is_orphaned(file->index, &slot, true);
}

/* The log. */

static bool is_file_of(const struct stat *status, const struct px_checkpoint_content *file)
{
	return S_ISREG(status->st_mode) && status->st_dev == file->device &&
	       status->st_ino == file->inode && status->st_uid == file->owner;
}

/* Read header and commit of a log.  Return 0, or EINVAL if this is not a log that posixtrace wrote. */
static int read_log(struct log *log, int fd)
{
	log->fd = fd;
	return px_log_find(fd, &log->header, &log->layout) && px_log_header_is_ours(&log->header) &&
			       px_log_read_commit(fd, &log->header, &log->layout, &log->commit) ?
		       0 :
		       EINVAL;
}

static bool is_log_of(const struct log *log, const struct px_checkpoint_content *file)
{
	return memcmp(log->header.uuid, file->uuid, sizeof(file->uuid)) == 0;
}

/* Recovery. */

/* Free the registry slot.  If it was freed before, do nothing, because another stream may be using it. */
static void withdraw_slot(const struct px_checkpoint_content *file)
{
	const struct px_registry_slot slot = slot_of(file);
	int fd;

	if (file->segment != 0 && !is_of_this_boot(file))
		return; /* the segment id may belong to another segment now */
	if (file->segment != 0) {
		px_registry_of_end(file->user, file->index, &slot, false);
		return;
	}
	if (px_registry_lock(&fd) != 0)
		return; /* the next posix_trace_create() will find that the controller is dead */
	px_registry_withdraw(file->index, file->generation);
	px_registry_unlock(fd);
}

/*
 * Remove slot, segment and checkpoint file, in this order: without the checkpoint file, no process would search for the
 * segment.
 */
static void clean_up(struct px_checkpoint_file *checkpoint_file)
{
	withdraw_slot(checkpoint_file->file);
	if (checkpoint_file->file->segment == 0)
		px_registry_remove_files(checkpoint_file->file->index,
					 checkpoint_file->file->generation);
	PX_TESTPOINT("recover.segment.removed");
	px_checkpoint_file_remove(checkpoint_file);
}

/*
 * Continue the log from the segment, and complete it.  Return 0, or ENOENT or EINVAL if there is nothing to recover the
 * log from.  After any other error, a later recovery may succeed.
 */
static int continue_log(struct px_checkpoint_file *checkpoint_file, const struct log *log)
{
	struct px_log_left left = {.fd = log->fd,
				   .header = &log->header,
				   .layout = &log->layout,
				   .commit = &log->commit,
				   .checkpoint_file = checkpoint_file};
	struct px_stream *stream;
	int error;

	if (!px_checkpoint_file_find(checkpoint_file, log->commit.serial))
		return EINVAL;
	error = px_stream_resume(checkpoint_file, true, &stream);
	if (error)
		return error;
	if (stream->view.max_data != log->header.attr.max_data_size) {
		px_stream_free(stream);
		return EINVAL;
	}
	left.threads = &stream->view.segment->threads;
	left.types = &stream->view.segment->types;
	left.descriptions = &stream->view.segment->descriptions;
	left.view = &stream->view;
	error = px_log_resume(&left, &stream->logging.log);
	if (!error)
		error = px_flush_recover(stream);
	if (!error)
		px_stream_end_dead(stream);
	px_stream_free(stream);
	return error;
}

/* Recover the log with this checkpoint file, which the caller has locked.  This function also frees checkpoint_file. */
static int recover_taken(struct px_checkpoint_file *checkpoint_file, const struct log *log)
{
	struct px_write_signals signals;
	int error = 0;

	if (!is_dead(checkpoint_file->file)) {
		px_checkpoint_file_free(checkpoint_file);
		return EBUSY;
	}
	px_write_signals_hold(&signals);
	if (!is_log_of(log, checkpoint_file->file) || !is_of_this_boot(checkpoint_file->file))
		error = ENOENT;
	else if (log->commit.is_complete == PX_LOG_OPEN)
		error = continue_log(checkpoint_file, log);
	else
		error = px_log_settle(log->fd);
	PX_TESTPOINT("recover.log.done");
	if (error == 0 || error == ENOENT || error == EINVAL)
		clean_up(checkpoint_file);
	else
		px_checkpoint_file_free(checkpoint_file);
	px_write_signals_release(&signals);
	return error == EINVAL ? ENOENT : error;
}

/*
 * Lock the checkpoint file, and recover the log.  Before this function had the lock, another process may have recovered
 * the log: so read the log again.
 */
static int recover(const char *name, int fd, bool waits)
{
	struct px_checkpoint_file *checkpoint_file;
	struct stat status;
	struct log log;
	int error = px_checkpoint_file_take(name, waits, &checkpoint_file);

	if (error)
		return error;
	error = fstat(fd, &status) != 0			    ? errno :
		!is_file_of(&status, checkpoint_file->file) ? ENOENT :
							      read_log(&log, fd);
	if (!error)
		return recover_taken(checkpoint_file, &log);
	px_checkpoint_file_free(checkpoint_file);
	return error;
}

/* One log, by its descriptor. */

struct search {
	const struct log *log;
	struct stat status;
	char name[PX_SHM_NAME_MAX];
	/* the error when this process could not read a checkpoint file (no memory, no descriptor); 0: none */
	int error;
};

static bool is_shortage(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

static void compare(const char *name, void *argument)
{
	struct search *search = argument;
	struct px_checkpoint_content file;
	int error;

	if (search->name[0])
		return;
	error = px_checkpoint_file_read(name, true, &file);
	if (is_shortage(error))
		search->error = error;
	else if (!error && is_file_of(&search->status, &file) && is_log_of(search->log, &file))
		strcpy(search->name, name);
}

/* Open the file again, because the descriptor of the caller may be for reading only, or for appending. */
static int reopen(int fd, int *again)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	*again = open(link, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return *again < 0 ? errno : 0;
}

/* fd_error is the error of opening the log for writing, or 0. */
static int recover_found(struct log *log, int fd_error)
{
	struct search search = {.log = log};
	bool is_complete = log->commit.is_complete != PX_LOG_OPEN;
	int error;

	if (fstat(log->fd, &search.status) != 0)
		return errno;
	error = px_shm_for_each(PREFIX, compare, &search);
	if (error)
		search.error = error;
	if (search.name[0] && is_complete)
		recover(search.name, log->fd,
			true); /* wait: a recovery that was killed has left the checkpoint file */
	if (is_complete)
		return 0;
	if (!search.name[0] && is_shortage(search.error))
		return search.error;
	if (!search.name[0])
		return px_archive_log_is_written(&log->header) ? EBUSY : ENOENT;
	return fd_error ? fd_error : recover(search.name, log->fd, true);
}

/* Recover the log.  Another process may complete it at the same time, so read the log again after ENOENT. */
static int recover_open(struct log *log, int fd_error)
{
	int error = recover_found(log, fd_error);

	if (error == ENOENT && read_log(log, log->fd) == 0 &&
	    log->commit.is_complete != PX_LOG_OPEN)
		error = 0;
	return error;
}

int px_recover_file(int fd)
{
	struct stat status;
	struct log log;
	int error, again, fd_error;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return EINVAL;
	fd_error = reopen(fd, &again);
	error = read_log(&log, fd_error ? fd : again);
	if (!error)
		error = is_shortage(fd_error) ? fd_error : recover_open(&log, fd_error);
	if (!fd_error)
		close(again);
	return error;
}

/* All logs, by their paths. */

/*
 * Open the directory of the log.  Return -1 if it is not the directory that the checkpoint file describes: in another
 * name space, the path may lead to another directory.
 */
static int open_directory(const struct px_checkpoint_content *file)
{
	char path[PX_CHECKPOINT_FILE_PATH_MAX];
	struct stat status;
	int fd = -1;

	memcpy(path, file->path, sizeof(path));
	if (path[0] == '/' && file->directory_inode != 0)
		fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_dev != file->directory_device ||
			status.st_ino != file->directory_inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Search the directory for the log, which may have another name now.  Return a descriptor of the log, or -1. */
static int find_in(DIR *directory, const struct px_checkpoint_content *file)
{
	const struct dirent *entry;
	struct stat status;

	while ((entry = readdir(directory)))
		if (entry->d_ino == file->inode &&
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    is_file_of(&status, file))
			return openat(dirfd(directory), entry->d_name, OPEN_FLAGS);
	return -1;
}

/*
 * Call this when the path does not lead to the log.  If the directory is there, open the log under its new name, or
 * return ENOENT: then the log counts as removed.  If the directory is not there, return EACCES: its file system may not
 * be mounted, or may be in another name space or root.
 */
static int find_again(const struct px_checkpoint_content *file, int *fd)
{
	static const char deleted[] = " (deleted)"; /* appended by the kernel */
	size_t length = strlen(file->path);
	DIR *directory = NULL;
	int at;

	if (length >= sizeof(deleted) &&
	    strcmp(file->path + length - (sizeof(deleted) - 1), deleted) == 0)
		return ENOENT;
	at = open_directory(file);
	if (at >= 0)
		directory = fdopendir(at);
	if (!directory) {
		if (at >= 0)
			close(at);
		return EACCES;
	}
	errno = ENOENT;
	*fd = find_in(directory, file);
	at = *fd < 0 ? errno : 0;
	closedir(directory);
	return at;
}

/* Open the log.  Return 0, or ENOENT if the log is gone.  After any other error it cannot be opened at present. */
static int open_log(const struct px_checkpoint_content *file, int *fd)
{
	struct stat status;
	int error = 0;

	*fd = open(file->path, OPEN_FLAGS);
	if (*fd < 0 && errno != ENOENT)
		return errno;
	if (*fd >= 0 && fstat(*fd, &status) == 0 && !is_file_of(&status, file)) {
		close(*fd);
		*fd = -1;
	}
	if (*fd < 0)
		error = find_again(file, fd);
	if (error)
		return error;
	if (fstat(*fd, &status) != 0)
		error = errno;
	else if (!is_file_of(&status, file) || status.st_uid != geteuid())
		error = EACCES;
	if (error)
		close(*fd);
	return error;
}

/* Call this when no process can ever complete the log: remove slot, segment and checkpoint file. */
static void discard(const char *name)
{
	struct px_checkpoint_file *checkpoint_file;

	if (px_checkpoint_file_take(name, false, &checkpoint_file) == 0)
		clean_up(checkpoint_file);
}

struct totals {
	unsigned int nr_recovered, nr_left;
	const struct px_process_id *self;
	bool only_own;		   /* true: recover only logs of this process; false: only those of other processes */
	bool leaves_forked;	   /* skip logs that px_former_find() may return to their own process */
	px_recover_report *report; /* or NULL */
	void *argument;
};

static bool is_in_use(int error)
{
	return error == EBUSY || error == EALREADY;
}

static void recover_by_path(const char *name, const struct px_checkpoint_content *file,
			    struct totals *totals)
{
	int fd, error = open_log(file, &fd);

	if (!error) {
		error = recover(name, fd, false);
		close(fd);
		totals->nr_recovered += error == 0;
	}
	if (error == ENOENT || error == EINVAL)
		discard(name);
	else if (error && !is_in_use(error))
		totals->nr_left++;
	if (totals->report && !is_in_use(error))
		totals->report(file->path, error, totals->argument);
}

/* Return true if the program that the process has executed may take the events of this log into its own. */
static bool may_be_taken(const struct px_checkpoint_content *file, bool by_us)
{
	return file->is_forked &&
	       (by_us || (is_of_this_boot(file) &&
			  px_procfs_is_same(file->controller.pid, file->controller.start)));
}

static void recover_each(const char *name, void *argument)
{
	struct totals *totals = argument;
	struct px_checkpoint_content file;
	int error = px_checkpoint_file_read(name, false, &file);

	if (error == EINVAL || error == EACCES)
		px_checkpoint_file_remove_invalid(name);
	else if (!error && px_process_id_is(&file.controller, totals->self) == totals->only_own &&
		 !(totals->leaves_forked && may_be_taken(&file, totals->only_own)) &&
		 is_dead(&file))
		recover_by_path(name, &file, totals);
}

/* Remove what killed processes have left of their names, and of streams that they were creating. */
static void sweep(void)
{
	int fd;

	px_shared_names_sweep();
	if (!px_registry_get() || px_registry_lock_for(&fd, PX_REGISTRY_END_WAIT_NS) != 0)
		return;
	px_names_file_sweep();
	px_registry_sweep();
	px_registry_unlock(fd);
}

/*
 * Skip the logs of this process, because they are in use.  begin() has already recovered the logs that this process
 * wrote before an exec.
 */
void px_recover_all(unsigned int *nr_recovered, unsigned int *nr_left)
{
	struct px_process_id self = px_process_id();
	struct totals totals = {.self = &self};

	sweep();
	if (px_registry_get())
		px_shm_for_each(PREFIX, recover_each, &totals);
	*nr_recovered = totals.nr_recovered;
	*nr_left = totals.nr_left;
}

void px_recover_for_create(void)
{
	struct px_process_id self = px_process_id();
	struct totals totals = {.self = &self, .leaves_forked = true};

	sweep();
	if (px_registry_get())
		px_shm_for_each(PREFIX, recover_each, &totals);
}

void px_recover_each(px_recover_report *report, void *argument)
{
	struct px_process_id self = px_process_id();
	struct totals totals = {.self = &self, .report = report, .argument = argument};

	if (px_registry_get())
		px_shm_for_each(PREFIX, recover_each, &totals);
}

/* Logs from between fork and exec. */

/* Another process, or another copy of this library, may be recovering the log.  Then this call leaves the log alone. */
static void pick_forked(const char *name, void *argument)
{
	const struct px_process_id self = px_process_id();
	struct px_checkpoint_content file;
	char *found = argument;

	if (!found[0] && px_checkpoint_file_read(name, false, &file) == 0 && file.is_forked &&
	    px_process_id_is(&file.controller, &self) && is_dead(&file))
		strcpy(found, name);
}

/* Return true if no event of the log is in its file, and its checkpoint agrees with the file. */
static bool is_empty_log(struct px_former *former)
{
	const struct px_checkpoint_content *file = former->checkpoint_file->file;
	struct log log;
	bool is_empty;
	int fd;

	if (!is_of_this_boot(file) || open_log(file, &fd) != 0)
		return false;
	is_empty = read_log(&log, fd) == 0 && is_log_of(&log, file) &&
		   log.commit.is_complete == PX_LOG_OPEN && log.commit.end == log.commit.first &&
		   log.commit.nr_lost == 0 &&
		   px_checkpoint_file_find(former->checkpoint_file, log.commit.serial);
	close(fd);
	former->device = file->device;
	former->inode = file->inode;
	return is_empty;
}

bool px_former_find(struct px_former *former)
{
	char name[PX_SHM_NAME_MAX] = "";

	former->stream = NULL;
	if (!px_registry_get() || px_shm_for_each(PREFIX, pick_forked, name) != 0 || !name[0] ||
	    px_checkpoint_file_take(name, false, &former->checkpoint_file) != 0)
		return false;
	if (is_empty_log(former) &&
	    px_stream_resume(former->checkpoint_file, false, &former->stream) == 0 &&
	    px_stream_is_transferable(former->stream))
		return true;
	px_former_leave(former);
	return false;
}

void px_former_leave(struct px_former *former)
{
	if (former->stream)
		px_stream_free(former->stream);
	px_checkpoint_file_free(former->checkpoint_file);
}

void px_former_remove(struct px_former *former)
{
	struct stat status;
	const char *path = former->checkpoint_file->file->path;

	if (lstat(path, &status) == 0 && is_file_of(&status, former->checkpoint_file->file))
		unlink(path);
	px_stream_end_dead(former->stream);
	px_stream_free(former->stream);
	clean_up(former->checkpoint_file);
}

static void recover_own(bool leaves_forked)
{
	struct px_process_id self = px_process_id();
	struct totals totals = {.self = &self, .only_own = true, .leaves_forked = leaves_forked};

	if (px_registry_get())
		px_shm_for_each(PREFIX, recover_each, &totals);
}

void px_recover_own(void)
{
	recover_own(false);
}

#ifndef PX_TAKES_FORMER_LOG
#define PX_TAKES_FORMER_LOG false
#endif

/*
 * EXEC-4: recover the logs that this process wrote before an exec.  This constructor runs after the constructor of
 * process.c, which frees the registry slots of these streams.  So no thread of this process writes to these streams any
 * more.
 */
__attribute__((constructor(102))) static void begin(void)
{
	int saved_errno = errno;

	recover_own(PX_TAKES_FORMER_LOG);
	errno = saved_errno;
}
