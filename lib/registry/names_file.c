/* SPDX-License-Identifier: MIT */
#include "registry/names_file.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/confined.h"
#include "base/decimal.h"
#include "base/file_at.h"
#include "base/kernel_time.h"
#include "base/layout.h"
#include "base/procfs.h"
#include "base/shm.h"
#include "registry/registry.h"

#define FILE_MAGIC PX_LAYOUT_MAGIC(0x6d616e736578)
#define MAPPED_BYTES 4096 /* of the file: any page shows it in /proc/<pid>/maps */
#define SWEEP_EVERY 32
#define PART 16 /* entries that one read gets */
/* How often, and how long each time, a controller waits for a process that is making a shared table. */
#define MAKER_ATTEMPTS 100
#define MAKER_NAP_NS 1000000

/* The first part of the file. */
struct header {
	uint64_t magic, key;
	uint32_t founder, pid_namespace, moved_to;
	uint32_t is_doomed; /* a process removes the file: see remove_unused() */
};

_Static_assert(offsetof(struct header, key) == offsetof(struct px_shared_names, key) &&
		       offsetof(struct header, moved_to) ==
			       offsetof(struct px_shared_names, moved_to) &&
		       offsetof(struct header, is_doomed) ==
			       offsetof(struct px_shared_names, is_doomed),
	       "the file has the layout of the table");

static bool write_at(int fd, const void *from, size_t size, size_t offset)
{
	return px_write_at(fd, from, size, offset) == (long)size;
}

static bool read_at(int fd, void *to, size_t size, size_t offset)
{
	return px_read_at(fd, to, size, offset) == (long)size;
}

/* Write the beginning of the names of files that this process makes.  Return the address of its null byte. */
static char *put_prefix(uint32_t founder, char name[PX_SHM_NAME_MAX])
{
	const size_t length = strlen(PX_NAMES_FILE_PREFIX);
	char *end;

	memcpy(name, PX_NAMES_FILE_PREFIX, length);
	end = px_decimal_put(name + length, founder);
	*end++ = '.';
	*end = '\0';
	return end;
}

static void name_of(const struct px_shared_names *names, char name[PX_SHM_NAME_MAX])
{
	char *end = put_prefix(names->founder, name);

	*px_decimal_put(end, (uint32_t)names->key) = '\0';
}

static int open_file(const struct px_shared_names *names, int *fd)
{
	char name[PX_SHM_NAME_MAX];
	int error;

	name_of(names, name);
	error = px_shm_open(name, fd);
	if (!error && !px_shm_is_private(*fd, geteuid())) {
		syscall(SYS_close, *fd);
		error = EACCES;
	}
	if (error)
		*fd = -1;
	return error;
}

/* Removal. */

/* Return true if a process other than this one has an entry in the file and is alive. */
static bool has_users(int fd, uint64_t self)
{
	struct px_shared_names_member member[PART];

	for (size_t i = 0; i < PX_SHARED_NAMES_MEMBERS; i += PART) {
		if (!read_at(fd, member, sizeof(member),
			     offsetof(struct px_shared_names, member) + i * sizeof(member[0])))
			return false; /* another process has truncated the file: it is of no use */
		for (size_t j = 0; j < PART; j++)
			if (member[j].word != 0 && member[j].word != self &&
			    px_procfs_has_word(member[j].word))
				return true;
	}
	return false;
}

/*
 * Remove the file that is open here, if has_users(fd, self) still finds no user.  A child that was just made by fork()
 * may enter itself at the same time.  It stores its entry, and then reads the mark; this process writes the mark, and
 * then reads the entries.  So either this process finds the child, or the child finds the mark, and makes a shared
 * table.  Nobody takes the mark back: a file with the mark and with users only costs a shared table.  If the mark
 * cannot be written, remove the file at once.
 */
static void remove_unused(const char *name, int fd, uint64_t self)
{
	const uint32_t mark = 1;
	bool is_marked;

	PX_TESTPOINT("names_file.remove.unused");
	is_marked = !px_shm_is_beyond_limit(sizeof(struct header)) &&
		    write_at(fd, &mark, sizeof(mark), offsetof(struct header, is_doomed));
	PX_TESTPOINT("names_file.remove.marked");
	px_full_fence();
	if (!is_marked || !has_users(fd, self))
		px_shm_unlink(name);
}

/* argument: the word of this process, if it has just begun and so uses none of these files; otherwise 0. */
static void sweep_file(const char *name, void *argument)
{
	struct header header = {.magic = 0};
	int fd;

	if (px_shm_open(name, &fd) != 0)
		return;
	if (px_shm_is_private(fd, geteuid())) {
		/*
		 * A file without a header is of a process that was killed while it made the file: a living process
		 * would hold the lock.  This process cannot see processes in other pid namespaces.
		 */
		if (!read_at(fd, &header, sizeof(header), 0) || header.magic != FILE_MAGIC)
			px_shm_unlink(name);
		else if (header.pid_namespace == px_procfs_pid_namespace() &&
			 !has_users(fd, *(const uint64_t *)argument))
			remove_unused(name, fd, *(const uint64_t *)argument);
	}
	syscall(SYS_close, fd);
}

void px_names_file_sweep(void)
{
	uint64_t none = 0;

	px_shm_for_each(PX_NAMES_FILE_PREFIX, sweep_file, &none);
}

/* A program that this process executed before may have left a file. */
static void sweep_former(uint32_t pid)
{
	uint64_t word = px_procfs_word(pid, px_procfs_start(pid));
	char prefix[PX_SHM_NAME_MAX];

	put_prefix(pid, prefix);
	px_shm_for_each(prefix, sweep_file, &word);
}

void px_names_file_leave(const struct px_shared_names *names, uint64_t self)
{
	char name[PX_SHM_NAME_MAX];
	int error, fd;

	if (names->key == 0 || px_is_confined())
		return;
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
		uint64_t word = px_read_once(&names->member[i].word);

		if (word != 0 && word != self && px_procfs_has_word(word))
			return;
	}
	name_of(names, name);
	error = open_file(names, &fd);
	if (!error) {
		remove_unused(name, fd, self);
		syscall(SYS_close, fd);
	} else if (error == EMFILE || error == ENFILE) {
		px_shm_unlink(name); /* without a mark: a child that enters itself at this moment is not found */
	}
}

/* Creation. */

static bool fill(int fd, const struct px_shared_names *names)
{
	const struct header header = {.magic = FILE_MAGIC,
				      .key = names->key,
				      .founder = names->founder,
				      .pid_namespace = names->pid_namespace};

	return write_at(fd, &header, sizeof(header), 0) &&
	       mmap(NULL, MAPPED_BYTES, PROT_NONE, MAP_SHARED, fd, 0) != MAP_FAILED;
}

int px_names_file_make(struct px_shared_names *names)
{
	struct px_registry *registry = px_registry_get();
	char name[PX_SHM_NAME_MAX];
	int error, fd;

	names->founder = (uint32_t)getpid();
	names->pid_namespace = px_procfs_pid_namespace();
	names->key = px_fetch_add(&registry->gate.epochs, UINT64_C(1)) + 1;
	sweep_former(names->founder);
	if (names->key % SWEEP_EVERY == 0)
		px_names_file_sweep();
	name_of(names, name);
	error = px_shm_make(name, sizeof(*names), &fd);
	if (!error) {
		PX_TESTPOINT("names_file.make.made");
		if (!fill(fd, names)) {
			px_shm_unlink(name);
			error = ENOMEM;
		}
		close(fd);
	}
	if (error)
		names->key = 0;
	return error;
}

/* Use. */

static bool store_name(int fd, const struct px_shared_names *names, unsigned int id)
{
	const struct px_name_entry *entry = &names->names.entry[id - PX_EVENT_USER_FIRST];

	return write_at(fd, entry, sizeof(*entry), (size_t)((const char *)entry - (const char *)names));
}

static bool store(int fd, const struct px_shared_names *names, unsigned int id,
		  const struct px_shared_names_member *member)
{
	if (id >= PX_EVENT_USER_FIRST && id < PX_EVENT_USER_END && !store_name(fd, names, id))
		return false;
	return !member || write_at(fd, member, sizeof(*member),
				   (size_t)((const char *)member - (const char *)names));
}

/* The text comes first: a copy that has the entry has the text, too. */
static bool store_description(int fd, const struct px_shared_names *names, unsigned int id)
{
	const struct px_descriptions *descriptions = &names->descriptions;
	size_t length;
	const char *text = px_descriptions_text(descriptions, id, &length);
	uint32_t entry = text ? px_read_once(&descriptions->at[id]) : 0;

	return !text || (write_at(fd, text, length, (size_t)(text - (const char *)names)) &&
			 write_at(fd, &entry, sizeof(entry),
				  (size_t)((const char *)&descriptions->at[id] - (const char *)names)));
}

/* Begin a change of the file of a table.  *fd is -1 if the table has no file. */
static int begin_store(const struct px_shared_names *names, int *fd)
{
	*fd = -1;
	if (names->key == 0 || px_is_confined())
		return 0;
	return px_shm_is_beyond_limit(sizeof(*names)) ? EFBIG : open_file(names, fd);
}

/*
 * The shared table that a process of this table has made, if it still exists, or 0.  A process that cannot open the
 * file tells the number only here (px_names_file_move_own()).
 */
static uint32_t moved_by_memory(const struct px_shared_names *names)
{
	uint32_t number = px_load_ordered(&names->moved_to);
	struct px_shared_names_ref ref;
	int error;

	if (px_likely(number == 0))
		return 0;
	error = px_shared_names_attach(number, geteuid(), &ref);
	if (!error)
		px_shared_names_detach(&ref);
	return !error || error == EAGAIN ? number : 0;
}

/* After a change, find out whether another table replaces this one. */
static int end_store(const struct px_shared_names *names, int fd, bool is_stored, uint32_t *moved_to)
{
	struct header header = {.moved_to = 0};
	bool is_valid;

	px_full_fence(); /* the store comes before the mark is read: see remove_unused() */
	is_valid = fd >= 0 && read_at(fd, &header, sizeof(header), 0) && header.key == names->key;
	if (fd >= 0)
		syscall(SYS_close, fd);
	*moved_to = is_valid && header.moved_to != 0 ? header.moved_to : moved_by_memory(names);
	return is_valid && is_stored && header.is_doomed == 0 ? 0 : EIO;
}

/* A table without a file, or a process that makes no system calls any more. */
static int without_file(const struct px_shared_names *names, uint32_t *moved_to)
{
	px_full_fence();
	*moved_to = px_is_confined() ? 0 : moved_by_memory(names);
	return 0;
}

int px_names_file_store(const struct px_shared_names *names, unsigned int id,
			const struct px_shared_names_member *member, uint32_t *moved_to)
{
	int fd, error = begin_store(names, &fd);

	if (!error && fd < 0)
		return without_file(names, moved_to);
	return end_store(names, fd, !error && store(fd, names, id, member), moved_to);
}

int px_names_file_store_description(const struct px_shared_names *names, unsigned int id, uint32_t *moved_to)
{
	int fd, error = begin_store(names, &fd);

	if (!error && fd < 0)
		return without_file(names, moved_to);
	return end_store(names, fd, !error && store_description(fd, names, id), moved_to);
}

/*
 * Attach the table with this number, if it was made from the private table with this key.  Return 0, EAGAIN if another
 * process is making it, or another error.
 */
static int attach_moved(uint32_t number, uint64_t key, uid_t owner, struct px_shared_names_ref *ref)
{
	int error = number != 0 ? px_shared_names_attach(number, owner, ref) : ENOENT;

	if (error || px_read_once(&ref->shared_names->key) == key)
		return error;
	px_shared_names_detach(ref);
	return ENOENT;
}

static bool store_moved(int fd, uint32_t number)
{
	return write_at(fd, &number, sizeof(number), offsetof(struct header, moved_to));
}

/* The number comes first: a process that does not find it has stored its names before this copy. */
static bool copy_file(int fd, const struct px_shared_names_ref *ref)
{
	struct px_shared_names *to = ref->shared_names;
	const size_t begin = offsetof(struct px_shared_names, names);

	return store_moved(fd, ref->number) &&
	       read_at(fd, &to->names, offsetof(struct px_shared_names, unused) - begin, begin);
}

int px_names_file_move(int fd, uid_t owner, uint32_t found, struct px_shared_names_ref *ref)
{
	static const struct px_kernel_time nap = {.nanoseconds = MAKER_NAP_NS};
	struct header header;
	int error = EAGAIN;

	for (int i = 0; i < MAKER_ATTEMPTS && error == EAGAIN; i++) {
		if (i > 0)
			px_kernel_sleep(&nap);
		if (!px_shm_is_private(fd, owner) || !read_at(fd, &header, sizeof(header), 0) ||
		    header.magic != FILE_MAGIC || header.key == 0)
			return EACCES;
		error = attach_moved(header.moved_to, header.key, owner, ref);
	}
	if (!error || attach_moved(found, header.key, owner, ref) == 0)
		return 0;
	error = px_shared_names_prepare(owner, ref);
	if (error)
		return error;
	PX_TESTPOINT("names_file.move.prepared");
	ref->shared_names->key = header.key;
	if (!copy_file(fd, ref)) {
		px_shared_names_detach(ref);
		return EACCES;
	}
	px_shared_names_complete(ref->shared_names);
	return 0;
}

/* The table that a controller has made from this file, or 0.  *fd becomes -1 if the file is not that of the table. */
static uint32_t moved_by_file(const struct px_shared_names *names, int *fd)
{
	struct header header = {.key = 0};

	if (*fd >= 0 && read_at(*fd, &header, sizeof(header), 0) && header.key == names->key)
		return header.moved_to;
	if (*fd >= 0)
		syscall(SYS_close, *fd);
	*fd = -1;
	return 0;
}

/*
 * The processes of the table share names->moved_to, so the one that changes it from `number` decides for all.  It does
 * so before the copy, as copy_file() stores the number before it.
 */
static int move_memory(struct px_shared_names *names, int fd, uint32_t number, struct px_shared_names_ref *ref)
{
	int error = px_shared_names_prepare(geteuid(), ref);

	if (error)
		return error;
	PX_TESTPOINT("names_file.move_own.prepared");
	if (!px_compare_exchange(&names->moved_to, number, ref->number)) {
		px_shared_names_detach(ref); /* another process was first; the next call finds its table */
		return EAGAIN;
	}
	if (fd >= 0)
		(void)store_moved(fd, ref->number); /* without it, a controller finds it in a list of mappings */
	ref->shared_names->key = names->key;
	memcpy(&ref->shared_names->names, &names->names, sizeof(names->names));
	memcpy(&ref->shared_names->descriptions, &names->descriptions, sizeof(names->descriptions));
	memcpy(ref->shared_names->member, names->member, sizeof(names->member));
	px_shared_names_complete(ref->shared_names);
	return 0;
}

int px_names_file_move_own(struct px_shared_names *names, struct px_shared_names_ref *ref)
{
	uint32_t number = px_load_ordered(&names->moved_to), by_controller;
	int fd = -1, error;

	if (names->key != 0 && !px_shm_is_beyond_limit(sizeof(struct header)))
		(void)open_file(names, &fd);
	by_controller = moved_by_file(names, &fd);
	error = attach_moved(by_controller, names->key, geteuid(), ref);
	if (error && error != EAGAIN)
		error = attach_moved(number, names->key, geteuid(), ref);
	if (error && error != EAGAIN)
		error = move_memory(names, fd, number, ref);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return error;
}
