/* SPDX-License-Identifier: MIT */
/*
 * Who traces whom: one small file for all processes of a user, which stays.
 *
 * The first block holds the generation and counters; its last word is the generation, so that it
 * can lie right before the private word that a trace point compares it with (process.h).  Behind it
 * stand the slots, one a stream.
 *
 * Slots are written under the registry's lock (a record lock on the file, which dies with its
 * process, and a mutex of this process), by controllers only.  A slot becomes visible, and goes, by
 * one store of `active`; then the generation is raised, and trace points look at the slots without
 * a lock.
 *
 * A slot that is free keeps its last generation, so that its next user can remove a segment of that
 * name, if the last one could not.  The name of a segment goes before its slot is free: nobody
 * would look for it later.
 */
#ifndef PX_REGISTRY_H
#define PX_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "atomic.h"
#include "shm.h"

#define PX_STREAMS_MAX 64 /* TRACE_SYS_MAX */

#if defined __x86_64__
#define PX_GATE_BLOCK 4096
#else
#define PX_GATE_BLOCK 65536 /* the largest page of the others */
#endif

/* A process: pids come again, pids with the time of their start do not.  Containers that share the
 * directory have pids of their own, which say nothing here. */
struct px_process_id {
	uint32_t pid;
	uint32_t pid_namespace; /* inode; 0 without /proc */
	uint64_t start;		/* clock ticks since boot; 0 without /proc */
};

PX_INLINE bool px_process_id_is(const struct px_process_id *a, const struct px_process_id *b)
{
	return px_read_once(&a->pid) == px_read_once(&b->pid) &&
	       px_read_once(&a->pid_namespace) == px_read_once(&b->pid_namespace) &&
	       px_read_once(&a->start) == px_read_once(&b->start);
}

struct px_registry_gate {
	uint64_t magic;
	uint64_t epochs;  /* last epoch given to a process */
	uint64_t threads; /* serial of the last thread handle */
	char unused[PX_GATE_BLOCK - 28];
	uint32_t generation; /* never 0; raised after each change of a slot */
};

_Static_assert(sizeof(struct px_registry_gate) == PX_GATE_BLOCK, "the generation is the last word");

struct px_registry_slot {
	uint32_t active;     /* 1: the stream exists */
	uint32_t generation; /* part of the segment's name */
	struct px_process_id controller;
	struct px_process_id target;
	uint64_t create_ns; /* CLOCK_REALTIME */
	uint64_t reserved[2];
};

struct px_registry {
	struct px_registry_gate gate;
	struct px_registry_slot slot[PX_STREAMS_MAX];
};

/* Open or make the registry.  *fd is for px_registry_map() and the gate; the caller closes it. */
int px_registry_open(int *fd);

/* Use the registry behind fd from now on.  Once in a process. */
int px_registry_map(int fd);

/* NULL as long as there is none. */
struct px_registry *px_registry_get(void);

/* Which file the registry is: device and inode, or zeros. */
struct px_registry_file {
	uint64_t device, inode;
};
struct px_registry_file px_registry_file(void);

/* True if a stream of this controller exists. */
bool px_registry_has(const struct px_process_id *controller);

/*
 * Lock against all other controllers; 0, or the error of the file system.  Waits for a living
 * holder, which is short; ETIMEDOUT after some seconds of a stopped one.
 */
int px_registry_lock(int *fd);
void px_registry_unlock(int fd);

/*
 * With the lock held: find a free slot, freeing those of dead controllers together with their
 * segments.  Returns its index, or PX_STREAMS_MAX.  Controllers of other pid name spaces count as
 * alive: nobody here can tell.
 */
uint32_t px_registry_find_free(void);

/* With the lock held: the slot becomes this stream; then trace points are told. */
void px_registry_publish(uint32_t index, const struct px_registry_slot *slot);

/*
 * With the lock held: the slot is free, if it still is the stream of this generation; then trace
 * points are told.
 */
void px_registry_withdraw(uint32_t index, uint32_t generation);

/* With the lock held: free the slots of this controller, and remove their segments. */
void px_registry_forget(const struct px_process_id *controller);

/* The name of a stream's segment. */
void px_registry_segment_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX]);

#endif
