/* SPDX-License-Identifier: MIT */
/*
 * Who traces whom: one small file for all processes of a user, which stays.  This is the registry of our own
 * user, mapped; that of another one is in registry_remote.h.
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
 * would look for it later.  But for that of a dead controller that had a log: it stays for who completes the
 * log (recover.h), and the slot's next stream has another generation.
 */
#ifndef PX_REGISTRY_REGISTRY_H
#define PX_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/shm.h"

#define PX_STREAMS_MAX 64 /* TRACE_SYS_MAX */

#if defined __x86_64__
#define PX_GATE_BLOCK 4096
#else
#define PX_GATE_BLOCK 65536 /* the largest page of the others */
#endif

/*
 * A process: pids come again, pids with the time of their start do not.  Containers that share the
 * directory have pids of their own, which say nothing here.
 */
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
	uint64_t create_ns;    /* CLOCK_REALTIME */
	uint64_t create_start; /* as px_procfs_now(): what was born later may inherit */
	uint32_t is_inherited; /* children of the target are traced too (FORK-1) */
	uint32_t shared_names; /* number of the table of event names (shared_names.h) */
	uint32_t segment;      /* number of root's memory for it (sysv.h); 0: it is a file */
	uint32_t has_log;      /* it is needed to complete a log, should the controller die */
	uint32_t reserved[14];
};

_Static_assert(sizeof(struct px_registry_slot) == 128, "slot");

struct px_registry {
	struct px_registry_gate gate;
	struct px_registry_slot slot[PX_STREAMS_MAX];
};

/* Another layout needs another name: programs with older libraries go on in the same directory. */
#define PX_REGISTRY_MAGIC UINT64_C(0x3252786574736967)
#define PX_REGISTRY_NAME "registry"
#define PX_REGISTRY_WAIT_NS UINT64_C(5000000000) /* for the lock */
#define PX_REGISTRY_END_WAIT_NS                                                                    \
	UINT64_C(200000000) /* at the end of a stream: exit may have many to end */

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

/* True if a stream of this controller exists, by pid and start alone: a log knows no more of its writer. */
bool px_registry_has(const struct px_process_id *controller);

/*
 * Lock against all other controllers; 0, or the error of the file system.  Waits for a living
 * holder, which is short; ETIMEDOUT after some seconds of a stopped one.
 */
int px_registry_lock(int *fd);

/* The same, waiting for so long at most. */
int px_registry_lock_for(int *fd, uint64_t wait_ns);
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

/*
 * A copy of a slot as it is now; taken without the lock, so it may be of a stream that has just ended.  False: the
 * slot is free.  Async-signal-safe.
 */
bool px_registry_read(uint32_t index, struct px_registry_slot *slot);

/* Of a stream of ours: whether it has a log is as this slot says. */
void px_registry_mark_log(uint32_t index, const struct px_registry_slot *slot);

/* With the lock held: free the slots of this controller, and clean up behind them. */
void px_registry_forget(const struct px_process_id *controller);

/* The name of a stream's segment, where that is a file, and of its bequest (checkpoint.h). */
void px_registry_segment_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX]);
void px_registry_checkpoint_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX]);

/*
 * Remove the file that was a stream's segment, unless its log is yet to be completed from it.  True if the name is
 * free then.
 */
bool px_registry_clean(uint32_t index, uint32_t generation);

/*
 * Map the segment of the stream that the slot, as it was read, stands for; or read a part of it without keeping it
 * mapped.  0, or what px_shm_attach() and px_sysv_attach() say.  Async-signal-safe.
 */
int px_registry_attach(uint32_t index, const struct px_registry_slot *slot,
		       struct px_mapping *mapping);
int px_registry_read_segment(uint32_t index, const struct px_registry_slot *slot, size_t offset,
			     void *to, size_t size);

/* True if the controller's process is gone; or is another program by now: look_closer, which is dear. */
bool px_registry_is_orphaned(uint32_t index, const struct px_registry_slot *slot, bool look_closer);

#endif
