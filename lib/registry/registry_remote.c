/* SPDX-License-Identifier: MIT */
#include "registry/registry_remote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sysv.h"

#ifndef SYS_openat2
#define SYS_openat2 437 /* glibc before 2.32; on all architectures but Alpha */
#endif

#define BASE "/dev/shm"

#define GENERATION_OFFSET offsetof(struct px_registry_gate, generation)

/*
 * Open a file in a directory that another user can change.  This call does not block, and opens no file outside the
 * directory.  On Linux 5.6 or later it also does not access a file system that the user has mounted there.
 */
static int open_below(int directory, const char *name, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
	int fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));

	/* Linux before 5.6 does not have this system call, and filters of system calls may refuse it. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(directory, name, (int)how.flags);
	return fd;
}

/* Translate an error of open(). */
static int refusal(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return EPERM;
	case ELOOP:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
	case ENODEV:
	case EXDEV:
		return EACCES;
	case ENOSPC:
	case EDQUOT:
		return ENOMEM;
	default:
		return error;
	}
}

static bool is_private(int fd, mode_t type, uid_t owner, struct stat *status)
{
	return fstat(fd, status) == 0 && (status->st_mode & S_IFMT) == type &&
	       status->st_uid == owner && (status->st_mode & 077) == 0;
}

static bool write_all(int fd, const void *from, size_t size, size_t offset)
{
	return pwrite(fd, from, size, (off_t)offset) == (ssize_t)size;
}

static bool read_all(int fd, void *to, size_t size, size_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Creation. */

/* Write a registry without streams. */
static int fill(int fd, uid_t owner)
{
	const uint64_t magic = PX_REGISTRY_MAGIC;
	const uint32_t generation = 1;
	int error = px_shm_allocate(fd, sizeof(struct px_registry));

	if (error)
		return error;
	if (!write_all(fd, &magic, sizeof(magic), offsetof(struct px_registry_gate, magic)) ||
	    !write_all(fd, &generation, sizeof(generation), GENERATION_OFFSET) ||
	    fchmod(fd, 0600) != 0 || fchown(fd, owner, (gid_t)-1) != 0)
		return refusal(errno);
	return 0;
}

/* Give the file its name only when it is complete.  Never replace an existing file. */
static int make_file(int directory, uid_t owner)
{
	int fd = open_below(directory, ".", O_TMPFILE | O_RDWR);
	char path[48];
	int error;

	if (fd < 0)
		return refusal(errno);
	error = fill(fd, owner);
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	if (!error && linkat(AT_FDCWD, path, directory, PX_REGISTRY_NAME, AT_SYMLINK_FOLLOW) != 0 &&
	    errno != EEXIST)
		error = refusal(errno);
	close(fd);
	return error;
}

/*
 * Create the directory under a temporary name, with a registry in it, and rename it.  If another process has created
 * the directory at the same time, remove our directory and return 0.  The caller checks the directory in both cases.
 */
static int make_directory(int base, const char *name, uid_t owner)
{
	char temporary[64];
	int fd, error;

	snprintf(temporary, sizeof(temporary), "posixtrace-new.%ld.%llu", syscall(SYS_gettid),
		 (unsigned long long)px_clock_monotonic_ns());
	if (mkdirat(base, temporary, 0700) != 0)
		return refusal(errno);
	fd = open_below(base, temporary, O_RDONLY | O_DIRECTORY);
	error = fd < 0 ? refusal(errno) : make_file(fd, owner);
	if (!error && (fchmod(fd, 0700) != 0 || fchown(fd, owner, (gid_t)-1) != 0))
		error = refusal(errno);
	if (!error && syscall(SYS_renameat2, base, temporary, base, name, RENAME_NOREPLACE) != 0)
		error = errno;
	if (error) {
		if (fd >= 0)
			unlinkat(fd, PX_REGISTRY_NAME, 0);
		unlinkat(base, temporary, AT_REMOVEDIR);
	}
	if (fd >= 0)
		close(fd);
	return error == EEXIST ? 0 : refusal(error);
}

/* Opening. */

static int open_directory(struct px_registry_remote *remote, bool make)
{
	int base = open(BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	char name[32];
	int error = 0;

	if (base < 0)
		return errno;
	snprintf(name, sizeof(name), "posixtrace-%u", (unsigned int)remote->owner);
	remote->directory = open_below(base, name, O_RDONLY | O_DIRECTORY);
	if (remote->directory < 0 && errno == ENOENT && make) {
		error = make_directory(base, name, remote->owner);
		if (!error)
			remote->directory = open_below(base, name, O_RDONLY | O_DIRECTORY);
	}
	if (!error && remote->directory < 0)
		error = refusal(errno);
	close(base);
	if (!error && !is_private(remote->directory, S_IFDIR, remote->owner, &status)) {
		close(remote->directory);
		error = EACCES;
	}
	return error;
}

/*
 * The file is too short if another process is still creating it, or could not allocate its space.  Then allocate the
 * space here, as px_shm_open_or_create() does.
 */
static int complete(int fd, uid_t owner)
{
	const off_t size = sizeof(struct px_registry);
	struct stat status;

	if (!is_private(fd, S_IFREG, owner, &status) || status.st_size > size)
		return EACCES;
	return status.st_size < size ? px_shm_allocate(fd, (size_t)size) : 0;
}

static int open_file(struct px_registry_remote *remote, bool make)
{
	int error = 0;

	remote->file = open_below(remote->directory, PX_REGISTRY_NAME, O_RDWR);
	if (remote->file < 0 && errno == ENOENT && make) {
		error = make_file(remote->directory, remote->owner);
		if (!error)
			remote->file = open_below(remote->directory, PX_REGISTRY_NAME, O_RDWR);
	}
	if (!error && remote->file < 0)
		error = refusal(errno);
	if (error)
		return error;
	error = complete(remote->file, remote->owner);
	if (error)
		close(remote->file);
	return error;
}

static int open_both(struct px_registry_remote *remote, uid_t owner, bool make)
{
	int error;

	remote->owner = owner;
	error = open_directory(remote, make);
	if (error)
		return error;
	error = open_file(remote, make);
	if (error)
		close(remote->directory);
	return error;
}

static void close_both(const struct px_registry_remote *remote)
{
	close(remote->file);
	close(remote->directory);
}

/*
 * The lock belongs to the open file description.  If a child shares that description, close() or the end of this
 * process does not release the lock.  Another thread may fork at any time, so unlock explicitly.
 */
static void give_lock_back(int fd)
{
	struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

	fcntl(fd, F_OFD_SETLK, &whole);
}

/* The first process writes the words of the gate.  All processes would write the same values. */
static int read_slots(struct px_registry_remote *remote)
{
	const uint64_t right_magic = PX_REGISTRY_MAGIC;
	const uint32_t first = 1;
	uint32_t generation;
	uint64_t magic;

	if (!read_all(remote->file, &magic, sizeof(magic),
		      offsetof(struct px_registry_gate, magic)) ||
	    !read_all(remote->file, &generation, sizeof(generation), GENERATION_OFFSET) ||
	    !read_all(remote->file, remote->slot, sizeof(remote->slot),
		      offsetof(struct px_registry, slot)))
		return EACCES; /* another process has truncated the file */
	if (magic != 0 && magic != PX_REGISTRY_MAGIC)
		return EACCES;
	if ((magic == 0 && !write_all(remote->file, &right_magic, sizeof(right_magic),
				      offsetof(struct px_registry_gate, magic))) ||
	    (generation == 0 && !write_all(remote->file, &first, sizeof(first), GENERATION_OFFSET)))
		return ENOMEM;
	return 0;
}

int px_registry_remote_lock(struct px_registry_remote *remote, uid_t owner)
{
	int error;

	px_write_signals_hold(&remote->signals);
	error = open_both(remote, owner, true);
	if (!error) {
		error = px_shm_lock(remote->file, F_OFD_SETLK, PX_REGISTRY_WAIT_NS);
		if (!error)
			error = read_slots(remote);
		if (error)
			close_both(remote);
	}
	if (error)
		px_write_signals_release(&remote->signals);
	return error;
}

void px_registry_remote_unlock(struct px_registry_remote *remote)
{
	give_lock_back(remote->file);
	close_both(remote);
	px_write_signals_release(&remote->signals);
}

/* Slots. */

static size_t offset_of(uint32_t index)
{
	return offsetof(struct px_registry, slot) + index * sizeof(struct px_registry_slot);
}

static bool write_word(const struct px_registry_remote *remote, uint32_t value, size_t offset)
{
	return write_all(remote->file, &value, sizeof(value), offset);
}

static bool notify_trace_points(const struct px_registry_remote *remote)
{
	uint32_t generation;

	if (!read_all(remote->file, &generation, sizeof(generation), GENERATION_OFFSET))
		return false;
	generation++;
	return write_word(remote, generation != 0 ? generation : 1, GENERATION_OFFSET);
}

/* Return true if the slot still has this stream. */
static bool is_still(const struct px_registry_remote *remote, uint32_t index,
		     const struct px_registry_slot *slot)
{
	struct px_registry_slot now;

	return read_all(remote->file, &now, sizeof(now), offset_of(index)) && now.active &&
	       now.generation == slot->generation &&
	       px_process_id_is(&now.controller, &slot->controller);
}

/* Free the slot if it still has this stream, then notify the trace points. */
static void withdraw(struct px_registry_remote *remote, uint32_t index,
		     const struct px_registry_slot *slot)
{
	if (!is_still(remote, index, slot))
		return;
	if (write_word(remote, 0, offset_of(index) + offsetof(struct px_registry_slot, active)))
		notify_trace_points(remote);
	remote->slot[index].active = 0;
}

/*
 * Each write is complete before the next one starts.  Processes that have the file mapped see the writes in this order.
 */
int px_registry_remote_publish(struct px_registry_remote *remote, uint32_t index,
			       const struct px_registry_slot *slot)
{
	const size_t begin = offsetof(struct px_registry_slot, controller);
	const size_t at = offset_of(index);

	if (write_word(remote, slot->generation,
		       at + offsetof(struct px_registry_slot, generation)) &&
	    write_all(remote->file, (const char *)slot + begin, sizeof(*slot) - begin,
		      at + begin) &&
	    write_word(remote, 1, at + offsetof(struct px_registry_slot, active)) &&
	    notify_trace_points(remote))
		return 0;
	withdraw(remote, index, slot);
	return ENOMEM;
}

int px_registry_remote_open(const struct px_registry_remote *remote, const char *name, int *fd)
{
	*fd = open_below(remote->directory, name, O_RDWR);
	return *fd < 0 ? refusal(errno) : 0;
}

/* Remove the file of a stream's segment, if there is one. */
static void unlink_segment(const struct px_registry_remote *remote, uint32_t index,
			   uint32_t generation)
{
	char name[PX_SHM_NAME_MAX];
	struct stat status;

	/* Keep the segment if another process must still complete a log of that user from it. */
	px_registry_checkpoint_name(index, generation, name);
	if (fstatat(remote->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	px_registry_segment_name(index, generation, name);
	unlinkat(remote->directory, name, 0);
}

static void remove_stream(struct px_registry_remote *remote, uint32_t index)
{
	const struct px_registry_slot slot = remote->slot[index];

	if (slot.segment == 0)
		unlink_segment(remote, index, slot.generation);
	else if (!slot.has_log) /* a recovery of the log needs the segment (recover.h) */
		px_sysv_remove(slot.segment, remote->owner);
	withdraw(remote, index, &slot);
}

/*
 * A System V segment in this registry belongs to a controller of root, and only root can read the mappings of that
 * controller.  So check the mappings at once (look_closer).
 */
static bool is_orphaned(const struct px_registry_remote *remote, uint32_t index, bool look_closer)
{
	const struct px_registry_slot *slot = &remote->slot[index];

	return slot->active &&
	       px_registry_is_orphaned(index, slot, look_closer || slot->segment != 0);
}

uint32_t px_registry_remote_find_free(struct px_registry_remote *remote)
{
	uint32_t i = PX_STREAMS_MAX;

	for (int look_closer = 0; look_closer < 2 && i == PX_STREAMS_MAX; look_closer++) {
		for (i = 0; i < PX_STREAMS_MAX; i++)
			if (is_orphaned(remote, i, look_closer))
				remove_stream(remote, i);
		for (i = 0; i < PX_STREAMS_MAX && remote->slot[i].active;)
			i++;
	}
	return i;
}

int px_registry_remote_read_segment(const struct px_registry_remote *remote, uint32_t index,
				    size_t offset, void *to, size_t size)
{
	const struct px_registry_slot *slot = &remote->slot[index];
	char name[PX_SHM_NAME_MAX];
	struct stat status;
	int fd, error = 0;

	if (slot->segment != 0)
		return px_sysv_read(slot->segment, remote->owner, offset, to, size);
	px_registry_segment_name(index, slot->generation, name);
	fd = open_below(remote->directory, name, O_RDONLY);
	if (fd < 0)
		return refusal(errno);
	if (!is_private(fd, S_IFREG, remote->owner, &status) || !read_all(fd, to, size, offset))
		error = EACCES;
	close(fd);
	return error;
}

void px_registry_remote_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_remote remote;

	if (open_both(&remote, owner, false) != 0)
		return;
	px_write_signals_hold(&remote.signals);
	px_shm_lock(remote.file, F_OFD_SETLK, PX_REGISTRY_END_WAIT_NS);
	withdraw(&remote, index, slot);
	px_registry_remote_unlock(&remote);
}

/* No lock is needed: only the controller of this stream writes to the slot. */
void px_registry_remote_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_remote remote;

	if (open_both(&remote, owner, false) != 0)
		return;
	px_write_signals_hold(&remote.signals);
	if (is_still(&remote, index, slot))
		write_word(&remote, slot->has_log,
			   offset_of(index) + offsetof(struct px_registry_slot, has_log));
	close_both(&remote);
	px_write_signals_release(&remote.signals);
}
