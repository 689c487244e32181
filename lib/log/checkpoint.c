/* SPDX-License-Identifier: MIT */
#include "log/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/layout.h"
#include "base/sysv.h"
#include "log/format.h"

#define REMOTE_INDEX PX_STREAMS_MAX /* in a file name, a segment id follows this number */

/*
 * Only one thread of a process recovers at a time.  Two threads could open the same file.  When one of them closes its
 * descriptor, the kernel releases the record lock of the other.  A thread takes this mutex before all other locks of
 * recovery.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void after_fork(void)
{
	pthread_mutex_init(&mutex, NULL);
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

/* Sizes. */

static size_t checkpoint_size(uint32_t nr_rings)
{
	return sizeof(struct px_checkpoint) + nr_rings * sizeof(struct px_checkpoint_ring);
}

static size_t file_size(uint32_t nr_rings)
{
	return sizeof(struct px_checkpoint_content) + 2 * checkpoint_size(nr_rings);
}

/*
 * Return the place in the file for the checkpoint of the commit with this serial.  There are two places, which the
 * writer uses in turn.
 */
static struct px_checkpoint *checkpoint_at(const struct px_checkpoint_file *checkpoint_file,
					   uint64_t serial)
{
	char *first = (char *)checkpoint_file->mapping.base + sizeof(struct px_checkpoint_content);

	return (struct px_checkpoint *)(first +
					serial % 2 *
						checkpoint_size(checkpoint_file->file->nr_rings));
}

/*
 * If the slot is in another user's registry, our own registry may use the same slot number for another stream.  Then
 * the name has the segment id instead, which is unique.
 */
static void name_file(uint32_t index, uint32_t generation, uint32_t segment,
		      char name[PX_SHM_NAME_MAX])
{
	if (segment != 0)
		px_registry_checkpoint_name(REMOTE_INDEX, segment, name);
	else
		px_registry_checkpoint_name(index, generation, name);
}

struct px_checkpoint *px_checkpoint_make(uint32_t nr_rings)
{
	return calloc(1, checkpoint_size(nr_rings));
}

/* Creation. */

static int allocate(uint32_t nr_rings, struct px_checkpoint_file **checkpoint_file)
{
	struct px_checkpoint_file *made = calloc(1, sizeof(*made));

	if (!made)
		return ENOMEM;
	made->fd = -1;
	made->base = px_checkpoint_make(nr_rings);
	*checkpoint_file = made;
	if (made->base)
		return 0;
	px_checkpoint_file_free(made);
	return ENOMEM;
}

/*
 * `path` is the path of a file.  Store the device and inode of its directory.  This function removes the file name from
 * path.
 */
static void note_directory(struct px_checkpoint_content *file,
			   char path[PX_CHECKPOINT_FILE_PATH_MAX])
{
	struct stat status = {.st_dev = 0};

	if (path[0] != '/' || stat(dirname(path), &status) != 0)
		status = (struct stat){.st_dev = 0};
	px_write_once(&file->directory_device, (uint64_t)status.st_dev);
	px_write_once(&file->directory_inode, (uint64_t)status.st_ino);
}

void px_checkpoint_file_note_path(struct px_checkpoint_file *checkpoint_file, int fd)
{
	char link[32], path[PX_CHECKPOINT_FILE_PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	length = readlink(link, path, sizeof(path));
	if (length < 0 || (size_t)length == sizeof(path))
		length = 0;
	memset(path + length, 0, sizeof(path) - (size_t)length);
	if (memcmp(path, checkpoint_file->file->path, sizeof(path)) != 0)
		memcpy(checkpoint_file->file->path, path, sizeof(path));
	note_directory(checkpoint_file->file, path);
}

static void describe(struct px_checkpoint_file *checkpoint_file,
		     const struct px_checkpoint_file_setup *setup, const struct stat *status)
{
	struct px_checkpoint_content *file = checkpoint_file->file;

	file->size = checkpoint_file->mapping.size;
	file->user = setup->user;
	file->index = setup->index;
	file->generation = setup->slot->generation;
	file->segment = setup->slot->segment;
	file->controller = setup->slot->controller;
	file->target = setup->slot->target;
	file->nr_rings = setup->nr_rings;
	file->device = status->st_dev;
	file->inode = status->st_ino;
	file->owner = status->st_uid;
	px_log_boot_id(file->boot_id);
	px_checkpoint_file_note_path(checkpoint_file, setup->fd);
}

int px_checkpoint_file_create(const struct px_checkpoint_file_setup *setup,
			      struct px_checkpoint_file **checkpoint_file)
{
	struct px_checkpoint_file *made;
	struct stat status;
	int error;

	if (fstat(setup->fd, &status) != 0)
		return errno;
	error = allocate(setup->nr_rings, &made);
	if (error)
		return error;
	name_file(setup->index, setup->slot->generation, setup->slot->segment, made->name);
	error = px_shm_create(made->name, file_size(setup->nr_rings), &made->mapping);
	if (error) {
		px_checkpoint_file_free(made);
		return error;
	}
	made->file = made->mapping.base;
	describe(made, setup, &status);
	PX_TESTPOINT("checkpoint.create.described");
	*checkpoint_file = made;
	return 0;
}

void px_checkpoint_file_validate(struct px_checkpoint_file *checkpoint_file, const uint8_t uuid[16])
{
	memcpy(checkpoint_file->file->uuid, uuid, sizeof(checkpoint_file->file->uuid));
	px_store_release(&checkpoint_file->file->magic, PX_CHECKPOINT_FILE_MAGIC);
}

void px_checkpoint_file_free(struct px_checkpoint_file *checkpoint_file)
{
	bool was_taken = checkpoint_file->fd >= 0;

	px_shm_unmap(&checkpoint_file->mapping);
	if (was_taken)
		close(checkpoint_file->fd); /* this call also releases the record lock */
	free(checkpoint_file->base);
	free(checkpoint_file);
	if (was_taken)
		pthread_mutex_unlock(&mutex);
}

void px_checkpoint_file_remove(struct px_checkpoint_file *checkpoint_file)
{
	px_shm_unlink(checkpoint_file->name);
	px_checkpoint_file_free(checkpoint_file);
}

/* Checkpoints. */

/*
 * As long as the checkpoint in the file is not whole, its serial is 0.  The new checkpoint replaces the older of the
 * two stored checkpoints: no commit needs it any more.
 */
void px_checkpoint_file_publish(struct px_checkpoint_file *checkpoint_file,
				const struct px_checkpoint *checkpoint, uint64_t serial)
{
	struct px_checkpoint *to = checkpoint_at(checkpoint_file, serial);
	size_t size = checkpoint_size(checkpoint_file->file->nr_rings);

	px_write_once(&to->serial, 0);
	px_write_fence();
	memcpy((char *)to + sizeof(to->serial), (const char *)checkpoint + sizeof(to->serial),
	       size - sizeof(to->serial));
	PX_TESTPOINT("checkpoint.publish.copied");
	px_store_release(&to->serial, serial);
}

void px_checkpoint_file_keep(struct px_checkpoint_file *checkpoint_file,
			     const struct px_checkpoint *checkpoint)
{
	memcpy(checkpoint_file->base, checkpoint, checkpoint_size(checkpoint_file->file->nr_rings));
}

bool px_checkpoint_file_find(struct px_checkpoint_file *checkpoint_file, uint64_t serial)
{
	const struct px_checkpoint *found = checkpoint_at(checkpoint_file, serial);

	if (serial == 0 || px_load_acquire(&found->serial) != serial)
		return false;
	memcpy(checkpoint_file->base, found, checkpoint_size(checkpoint_file->file->nr_rings));
	return true;
}

/* Recovery. */

/*
 * Return true if the file is valid under this name.  The name must match the slot that the file records, because the
 * file may be a copy under another name.
 */
static bool is_valid(const struct px_checkpoint_content *file, const char *name, size_t size)
{
	char expected[PX_SHM_NAME_MAX];

	if (size < sizeof(*file) || px_load_acquire(&file->magic) != PX_CHECKPOINT_FILE_MAGIC ||
	    file->nr_rings == 0 || file->nr_rings > PX_RINGS_MAX || file->index >= PX_STREAMS_MAX ||
	    file->path[PX_CHECKPOINT_FILE_PATH_MAX - 1] != '\0')
		return false;
	name_file(file->index, file->generation, file->segment, expected);
	return size == file_size(file->nr_rings) && file->size == size &&
	       strcmp(name, expected) == 0;
}

/* Lock the file.  Return ENOENT if another process has removed the file while it held the lock. */
static int lock_file(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat status;

	if (fcntl(fd, F_SETLK, &whole) != 0)
		return errno == EACCES || errno == EAGAIN ? EALREADY : errno;
	if (fstat(fd, &status) != 0)
		return errno;
	return status.st_nlink > 0 ? 0 : ENOENT;
}

static int take_locked(const char *name, struct px_checkpoint_file **checkpoint_file)
{
	struct px_mapping mapping = {NULL, 0};
	const struct px_checkpoint_content *file;
	int error, fd;

	error = px_shm_open(name, &fd);
	if (error)
		return error;
	error = lock_file(fd);
	if (!error)
		error = px_shm_map(fd, &mapping);
	file = mapping.base;
	if (!error && !is_valid(file, name, mapping.size))
		error = EINVAL;
	if (!error)
		error = allocate(file->nr_rings, checkpoint_file);
	if (error) {
		px_shm_unmap(&mapping);
		close(fd);
		return error;
	}
	(*checkpoint_file)->mapping = mapping;
	(*checkpoint_file)->file = mapping.base;
	(*checkpoint_file)->fd = fd;
	strcpy((*checkpoint_file)->name, name);
	return 0;
}

static bool lock(bool waits)
{
	return (waits ? pthread_mutex_lock(&mutex) : pthread_mutex_trylock(&mutex)) == 0;
}

int px_checkpoint_file_take(const char *name, bool waits,
			    struct px_checkpoint_file **checkpoint_file)
{
	int error;

	if (!lock(waits))
		return EALREADY;
	error = strlen(name) < PX_SHM_NAME_MAX ? take_locked(name, checkpoint_file) : ENOENT;
	if (error)
		pthread_mutex_unlock(&mutex);
	return error;
}

/*
 * Take the mutex.  Without it, px_shm_attach() would close a descriptor of the file, and the kernel would release the
 * record lock of another thread's recovery.
 */
int px_checkpoint_file_read(const char *name, bool waits, struct px_checkpoint_content *copy)
{
	struct px_mapping mapping;
	int error;

	if (!lock(waits))
		return EALREADY;
	error = px_shm_attach(name, true, &mapping);
	if (!error) {
		if (is_valid(mapping.base, name, mapping.size))
			memcpy(copy, mapping.base, sizeof(*copy));
		else
			error = EINVAL;
		px_shm_unmap(&mapping);
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

void px_checkpoint_name(uint32_t index, const struct px_registry_slot *slot,
			char name[PX_SHM_NAME_MAX])
{
	name_file(index, slot->generation, slot->segment, name);
}

/* The writer stores 0 in the serial before it changes a checkpoint, so the serial is the same before and after. */
static int copy_checkpoint(struct px_checkpoint_file *from, uint64_t serial,
			   struct px_checkpoint **checkpoint)
{
	const struct px_checkpoint *found = checkpoint_at(from, serial);
	uint32_t nr_rings = px_read_once(&from->file->nr_rings);

	if (serial == 0 || px_load_acquire(&found->serial) != serial)
		return EAGAIN;
	*checkpoint = px_checkpoint_make(nr_rings);
	if (!*checkpoint)
		return ENOMEM;
	memcpy(*checkpoint, found, checkpoint_size(nr_rings));
	px_read_fence();
	if (px_read_once(&found->serial) == serial)
		return 0;
	free(*checkpoint);
	return EAGAIN;
}

int px_checkpoint_copy(const char *name, uint64_t serial, struct px_checkpoint **checkpoint)
{
	struct px_checkpoint_file from = {.fd = -1};
	int error;

	lock(true);
	error = px_shm_attach(name, true, &from.mapping);
	if (!error) {
		from.file = from.mapping.base;
		error = is_valid(from.file, name, from.mapping.size) ?
				copy_checkpoint(&from, serial, checkpoint) :
				EINVAL;
		px_shm_unmap(&from.mapping);
	}
	pthread_mutex_unlock(&mutex);
	return error;
}

/*
 * Get slot number and generation from a name, or REMOTE_INDEX and the segment id.  Return false if the name is not
 * valid.
 */
static bool parse_name(const char *name, uint32_t *index, uint32_t *generation)
{
	char expected[PX_SHM_NAME_MAX];

	if (sscanf(name, PX_LAYOUT_PREFIX("log") "%u.%u", index, generation) != 2 || *index > REMOTE_INDEX)
		return false;
	px_registry_checkpoint_name(*index, *generation, expected);
	return strcmp(name, expected) == 0;
}

static bool is_invalid(const char *name)
{
	struct px_mapping mapping;
	uint64_t magic = 0;

	if (px_shm_attach(name, true, &mapping) != 0)
		return true; /* the file is empty, or does not exist */
	if (mapping.size >= sizeof(magic))
		magic = px_read_once((uint64_t *)mapping.base);
	px_shm_unmap(&mapping);
	return magic == 0;
}

/*
 * Return true if the stream of this checkpoint file does not exist any more.  A controller publishes its slot, or
 * creates its segment, before it creates the file.  It keeps the slot and the segment at least until it calls
 * px_checkpoint_file_validate().  So if the stream does not exist, no controller will make the file valid.
 */
static bool is_orphan(const struct px_registry *registry, uint32_t index, uint32_t generation)
{
	if (index == REMOTE_INDEX)
		return px_sysv_is_orphan(generation);
	return !px_load_acquire(&registry->slot[index].active) ||
	       px_read_once(&registry->slot[index].generation) != generation;
}

static void remove_segment(uint32_t index, uint32_t generation)
{
	if (index == REMOTE_INDEX)
		px_sysv_withdraw(generation);
	else
		px_registry_remove_files(index, generation);
}

/* Remove the checkpoint file last: without it, no process would search for the segment. */
void px_checkpoint_file_remove_invalid(const char *name)
{
	struct px_registry *registry = px_registry_get();
	uint32_t index, generation;
	int fd;

	if (!registry || !parse_name(name, &index, &generation) || px_registry_lock(&fd) != 0)
		return;
	if (is_orphan(registry, index, generation) && is_invalid(name)) {
		remove_segment(index, generation);
		PX_TESTPOINT("checkpoint.segment.removed");
		px_shm_unlink(name);
	}
	px_registry_unlock(fd);
}
