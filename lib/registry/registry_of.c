/* SPDX-License-Identifier: MIT */
#include "registry/registry_of.h"

#include <errno.h>
#include <unistd.h>

#include "base/sysv.h"

int px_registrar_open(struct px_registrar *registrar, uid_t owner)
{
	registrar->is_far = owner != geteuid();
	return registrar->is_far ? px_farregistry_lock(&registrar->far, owner) :
				   px_registry_lock(&registrar->fd);
}

void px_registrar_close(struct px_registrar *registrar)
{
	if (registrar->is_far)
		px_farregistry_unlock(&registrar->far);
	else
		px_registry_unlock(registrar->fd);
}

/* The slot is free: what is there was left by who became another user, or by a crash. */
int px_registrar_find(struct px_registrar *registrar, uint32_t *index, uint32_t *generation)
{
	uint32_t found;

	found = registrar->is_far ? px_farregistry_find_free(&registrar->far) :
				    px_registry_find_free();
	if (found == PX_STREAMS_MAX)
		return EAGAIN;
	*index = found;
	if (registrar->is_far) { /* its segments are no files */
		*generation = registrar->far.slot[found].generation + 1;
		return 0;
	}
	*generation = px_registry_get()->slot[found].generation;
	px_registry_clean(found, *generation);
	while (!px_registry_clean(found, ++*generation))
		; /* the registry was made anew, and a log of an older one is still to be completed */
	return 0;
}

bool px_registrar_read(const struct px_registrar *registrar, uint32_t index,
		       struct px_registry_slot *slot)
{
	if (!registrar->is_far)
		return px_registry_read(index, slot);
	*slot = registrar->far.slot[index];
	return slot->active == 1;
}

int px_registrar_read_segment(const struct px_registrar *registrar, uint32_t index,
			      const struct px_registry_slot *slot, size_t offset, void *to,
			      size_t size)
{
	return registrar->is_far ?
		       px_farregistry_read_segment(&registrar->far, index, offset, to, size) :
		       px_registry_read_segment(index, slot, offset, to, size);
}

int px_registrar_make_segment(const struct px_registrar *registrar, uint32_t index,
			      struct px_registry_slot *slot, size_t size,
			      struct px_mapping *mapping)
{
	char name[PX_SHM_NAME_MAX];

	if (registrar->is_far)
		return px_sysv_create(size, mapping, &slot->segment);
	px_registry_segment_name(index, slot->generation, name);
	return px_shm_create(name, size, mapping);
}

void px_registrar_unmake_segment(const struct px_registrar *registrar, uint32_t index,
				 const struct px_registry_slot *slot)
{
	if (registrar->is_far)
		px_sysv_withdraw(slot->segment);
	else
		px_registry_clean(index, slot->generation);
}

/* Before it is given away nobody else can touch it; afterwards its words are anybody's. */
int px_registrar_publish(struct px_registrar *registrar, uint32_t index,
			 const struct px_registry_slot *slot)
{
	int error;

	if (!registrar->is_far) {
		px_registry_publish(index, slot);
		return 0;
	}
	error = px_sysv_give(slot->segment, registrar->far.owner);
	return error ? error : px_farregistry_publish(&registrar->far, index, slot);
}

void px_registrar_mark_log(uid_t owner, uint32_t index, const struct px_registry_slot *slot)
{
	if (slot->segment != 0)
		px_farregistry_mark_log(owner, index, slot);
	else
		px_registry_mark_log(index, slot);
}

void px_registrar_end(uid_t owner, uint32_t index, const struct px_registry_slot *slot,
		      bool leaves_log)
{
	int error, fd;

	if (slot->segment != 0) {
		if (!leaves_log)
			px_sysv_withdraw(slot->segment);
		px_farregistry_end(owner, index, slot);
		return;
	}
	error = px_registry_lock_for(&fd, PX_REGISTRY_END_WAIT_NS);
	px_registry_clean(index, slot->generation); /* which sees for itself whether it is needed */
	/* Also when the lock is not to be had: the slot is ours alone as long as we live. */
	px_registry_withdraw(index, slot->generation);
	if (!error)
		px_registry_unlock(fd);
}
