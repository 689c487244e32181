/* SPDX-License-Identifier: MIT */
#include "base/sysv.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/atomic.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define NOTHING ((void *)-1)

/*
 * Until px_sysv_init() has checked it, assume that the process is AT_SECURE, which is the safe answer.
 */
static bool is_secure = true;

void px_sysv_init(void)
{
	is_secure = getauxval(AT_SECURE) != 0;
}

static int id_of(uint32_t number)
{
	return (int)(number - 1);
}

static bool is_made_for(const struct shmid_ds *status, uid_t owner)
{
	return status->shm_perm.uid == owner && owner != 0 && status->shm_perm.cuid == 0 &&
	       (status->shm_perm.mode & 077) == 0;
}

/* Kernels before 5.14 cannot allocate all pages with one call: then write to each page. */
static int populate(const struct px_mapping *mapping)
{
	long page = sysconf(_SC_PAGESIZE);

	if (madvise(mapping->base, mapping->size, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL)
		return ENOMEM;
	for (size_t at = 0; at < mapping->size; at += (size_t)page)
		px_write_once((uint32_t *)((char *)mapping->base + at), 0);
	return 0;
}

int px_sysv_create(size_t size, struct px_mapping *mapping, uint32_t *number)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	int error = 0;

	if (id < 0) /* ENOSPC: too many segments; EINVAL: too large */
		return errno == ENOSPC || errno == EINVAL ? ENOMEM : errno;
	mapping->size = size;
	mapping->base = shmat(id, NULL, 0);
	if (mapping->base == NOTHING) {
		error = ENOMEM;
	} else {
		error = populate(mapping);
		if (error)
			px_shm_unmap(mapping);
	}
	if (error)
		shmctl(id, IPC_RMID, NULL);
	else
		*number = (uint32_t)id + 1;
	return error;
}

int px_sysv_give(uint32_t number, uid_t owner)
{
	struct shmid_ds status;

	if (shmctl(id_of(number), IPC_STAT, &status) != 0)
		return EPERM;
	status.shm_perm.uid = owner;
	return shmctl(id_of(number), IPC_SET, &status) == 0 ? 0 : EPERM;
}

/* With this as its argument `owner`, attach() accepts any owner, but checks that this process's user is the creator. */
#define OURS ((uid_t)-1)

/*
 * Attach first and check afterwards, because the kernel cannot reuse the number while the segment
 * is attached.
 */
static int attach(uint32_t number, uid_t owner, int flags, struct px_mapping *mapping)
{
	struct shmid_ds status;
	void *base = shmat(id_of(number), NULL, flags);

	if (base == NOTHING)
		return errno == EINVAL || errno == EIDRM ? ENOENT : errno;
	if (shmctl(id_of(number), IPC_STAT, &status) != 0 ||
	    !(owner == OURS ? status.shm_perm.cuid == geteuid() : is_made_for(&status, owner))) {
		shmdt(base);
		return EACCES;
	}
	mapping->base = base;
	mapping->size = status.shm_segsz;
	return 0;
}

int px_sysv_attach(uint32_t number, struct px_mapping *mapping)
{
	int saved_errno = errno;
	int error = is_secure ? EACCES : attach(number, geteuid(), 0, mapping);

	/* This is only an optimization, so ignore errors. */
	if (!error && mapping->size <= PX_SHM_POPULATE_MAX)
		madvise(mapping->base, mapping->size, MADV_POPULATE_WRITE);
	errno = saved_errno;
	return error;
}

int px_sysv_attach_own(uint32_t number, struct px_mapping *mapping)
{
	return attach(number, OURS, 0, mapping);
}

bool px_sysv_is_orphan(uint32_t number)
{
	struct shmid_ds status;

	return shmctl(id_of(number), IPC_STAT, &status) != 0 ||
	       (kill(status.shm_cpid, 0) != 0 && errno == ESRCH);
}

int px_sysv_read(uint32_t number, uid_t owner, size_t offset, void *to, size_t size)
{
	int saved_errno = errno;
	struct px_mapping mapping;
	int error = attach(number, owner, SHM_RDONLY, &mapping);

	if (!error) {
		if (mapping.size < size || offset > mapping.size - size)
			error = EIO;
		else
			memcpy(to, (const char *)mapping.base + offset, size);
		px_shm_unmap(&mapping);
	}
	errno = saved_errno;
	return error;
}

void px_sysv_withdraw(uint32_t number)
{
	struct shmid_ds status;

	if (shmctl(id_of(number), IPC_STAT, &status) == 0 && status.shm_perm.cuid == geteuid())
		shmctl(id_of(number), IPC_RMID, NULL);
}

void px_sysv_remove(uint32_t number, uid_t owner)
{
	struct shmid_ds status;

	if (shmctl(id_of(number), IPC_STAT, &status) == 0 && is_made_for(&status, owner))
		shmctl(id_of(number), IPC_RMID, NULL);
}
