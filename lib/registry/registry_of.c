/* SPDX-License-Identifier: MIT */
#include "registry/registry_of.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfs_maps.h"
#include "base/sysv.h"
#include "registry/names_file.h"

int px_registry_of_open(struct px_registry_of *registry, uid_t owner)
{
	registry->is_remote = owner != geteuid();
	return registry->is_remote ? px_registry_remote_lock(&registry->remote, owner) :
				     px_registry_lock(&registry->fd);
}

void px_registry_of_close(struct px_registry_of *registry)
{
	if (registry->is_remote)
		px_registry_remote_unlock(&registry->remote);
	else
		px_registry_unlock(registry->fd);
}

/*
 * If a file with the name of a free slot exists, a controller has left it behind: the controller has crashed, or has
 * changed its user.
 */
int px_registry_of_find(struct px_registry_of *registry, uint32_t *index, uint32_t *generation)
{
	uint32_t found;

	found = registry->is_remote ? px_registry_remote_find_free(&registry->remote) :
				      px_registry_find_free();
	if (found == PX_STREAMS_MAX)
		return EAGAIN;
	*index = found;
	if (registry->is_remote) { /* the segments of this registry are not files */
		*generation = registry->remote.slot[found].generation + 1;
		return 0;
	}
	*generation = px_registry_get()->slot[found].generation;
	px_registry_clean(found, *generation);
	while (!px_registry_clean(found, ++*generation))
		/* A process must still complete a log of an older registry file: try the next generation. */
		;
	return 0;
}

bool px_registry_of_read(const struct px_registry_of *registry, uint32_t index,
			 struct px_registry_slot *slot)
{
	if (!registry->is_remote)
		return px_registry_read(index, slot);
	*slot = registry->remote.slot[index];
	return slot->active == 1;
}

int px_registry_of_read_segment(const struct px_registry_of *registry, uint32_t index,
				const struct px_registry_slot *slot, size_t offset, void *to,
				size_t size)
{
	return registry->is_remote ?
		       px_registry_remote_read_segment(&registry->remote, index, offset, to, size) :
		       px_registry_read_segment(index, slot, offset, to, size);
}

int px_registry_of_open_names(const struct px_registry_of *registry, uint32_t pid, int *fd)
{
	char name[PX_SHM_NAME_MAX];
	struct stat status;
	uint64_t inode;
	int error;

	if (!px_procfs_file(pid, PX_NAMES_FILE_PREFIX, name, sizeof(name), &inode))
		return ENOENT;
	error = registry->is_remote ? px_registry_remote_open(&registry->remote, name, fd) :
				      px_shm_open(name, fd);
	if (!error && (fstat(*fd, &status) != 0 || status.st_ino != inode)) {
		close(*fd); /* the process has a file of another directory */
		error = ENOENT;
	}
	return error;
}

int px_registry_of_make_segment(const struct px_registry_of *registry, uint32_t index,
				struct px_registry_slot *slot, size_t size,
				struct px_mapping *mapping)
{
	char name[PX_SHM_NAME_MAX];

	if (registry->is_remote)
		return px_sysv_create(size, mapping, &slot->segment);
	px_registry_segment_name(index, slot->generation, name);
	return px_shm_create(name, size, mapping);
}

int px_registry_of_make_part(uint32_t index, const struct px_registry_slot *slot, size_t size,
			     size_t first, struct px_mapping *mapping)
{
	char name[PX_SHM_NAME_MAX];

	px_registry_segment_name(index, slot->generation, name);
	return px_shm_create_partly(name, size, first, mapping);
}

void px_registry_of_unmake_segment(const struct px_registry_of *registry, uint32_t index,
				   const struct px_registry_slot *slot)
{
	if (registry->is_remote)
		px_sysv_withdraw(slot->segment);
	else
		px_registry_clean(index, slot->generation);
}

/*
 * Until px_sysv_give() no other process can access the segment.  After that the user of the target can change every
 * word.
 */
int px_registry_of_publish(struct px_registry_of *registry, uint32_t index,
			   const struct px_registry_slot *slot)
{
	int error;

	if (!registry->is_remote) {
		px_registry_publish(index, slot);
		return 0;
	}
	error = px_sysv_give(slot->segment, registry->remote.owner);
	return error ? error : px_registry_remote_publish(&registry->remote, index, slot);
}

void px_registry_of_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot)
{
	if (slot->segment != 0)
		px_registry_remote_mark_log(owner, index, slot);
	else
		px_registry_mark_log(index, slot);
}

void px_registry_of_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot,
			bool leaves_log)
{
	int error, fd;

	if (slot->segment != 0) {
		if (!leaves_log)
			px_sysv_withdraw(slot->segment);
		px_registry_remote_end(owner, index, slot);
		return;
	}
	error = px_registry_lock_for(&fd, PX_REGISTRY_END_WAIT_NS);
	px_registry_clean(index, slot->generation); /* this call keeps the file if a log needs it */
	/* Free the slot even without the lock, because only this stream uses the slot while this process lives. */
	px_registry_withdraw(index, slot->generation);
	if (!error)
		px_registry_unlock(fd);
}
