/* SPDX-License-Identifier: MIT */
/*
 * The registry lists the streams: which process traces which other process.  It is one small file for all processes of
 * a user.  The file is never removed.  This module maps the registry of our own user; registry_remote.h is for the
 * registry of another user.
 *
 * The first block holds the generation and counters.  The generation is the last word of the block.  In memory, the
 * private word of the process follows it directly, and a trace point compares the two (process.h).  The slots follow,
 * one for each stream.
 *
 * Two kinds of processes write to slots: controllers, and processes that complete the log of a dead controller.  A
 * traced process writes only the word `absent`.  To
 * take a free slot, a controller holds the registry's lock: a record lock on the file, which the kernel releases when
 * the process ends, and a mutex of this process.  One store to `active` makes a slot visible or removes it.  After that
 * the process increments the generation.  Trace points read the slots without a lock.
 *
 * A free slot keeps its last generation, which is part of the name of the last segment.  If that segment still exists,
 * the next controller in the slot can find and remove it.  The next creation of any stream removes such segments of
 * all free slots (px_registry_sweep()).  A controller that is not killed removes the name of its segment before it
 * frees the slot.  The slot of a dead controller with a log may become free while its segment still exists.  The
 * segment stays for the process that completes the log (recover.h).  The next stream in the slot has another
 * generation.
 */
#ifndef PX_REGISTRY_REGISTRY_H
#define PX_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/layout.h"
#include "base/shm.h"

#define PX_STREAMS_MAX 64 /* maximum number of streams (TRACE_SYS_MAX) */

#if defined __x86_64__ || defined __i386__
#define PX_GATE_BLOCK 4096
#else
#define PX_GATE_BLOCK 65536 /* the largest page size of all architectures */
#endif

/*
 * The id of a process.  The kernel reuses pids, so the start time is part of the id.  Containers may share the
 * directory of the registry, but each has its own pids, so the pid namespace is part of the id.
 */
struct px_process_id {
	uint32_t pid;
	uint32_t pid_namespace; /* inode number of the namespace; 0 if there is no /proc */
	uint64_t start;		/* start time in clock ticks since boot; 0 if there is no /proc */
};

PX_INLINE bool px_process_id_is(const struct px_process_id *a, const struct px_process_id *b)
{
	return px_read_once(&a->pid) == px_read_once(&b->pid) &&
	       px_read_once(&a->pid_namespace) == px_read_once(&b->pid_namespace) &&
	       px_read_once(&a->start) == px_read_once(&b->start);
}

struct px_registry_gate {
	uint64_t magic;
	uint64_t epochs;  /* newest epoch of any process */
	uint64_t threads; /* serial of the last thread handle */
	uint64_t trial;	  /* of restartable sequences, and of which start of the machine (own_rings.h) */
	char unused[PX_GATE_BLOCK - 36];
	uint32_t generation; /* never 0; a process increments it after each change of a slot */
};

_Static_assert(sizeof(struct px_registry_gate) == PX_GATE_BLOCK, "the generation is the last word");

struct px_registry_slot {
	uint32_t active;     /* 1: the stream exists; 0: the slot is free */
	uint32_t generation; /* part of the name of the segment */
	struct px_process_id controller;
	struct px_process_id target;
	uint64_t create_ns;    /* time of creation, of CLOCK_REALTIME */
	/* Time of creation, from px_procfs_now(): processes that started earlier do not inherit. */
	uint64_t create_start;
	uint32_t is_inherited; /* 1: the stream also traces descendants of the target (FORK-1) */
	uint32_t shared_names; /* number of the shared name table (shared_names.h) */
	/* Id of the System V segment that root created (sysv.h); 0: the segment is a file. */
	uint32_t segment;
	/* 1: if the controller dies, another process needs the segment to complete the log. */
	uint32_t has_log;
	uint32_t reserved[2];
	/*
	 * A process that could not attach the stream: generation << 32 | pid << 10 | other ones << 9 | error; or 0.
	 * Processes with the same layout that do not know this word leave it as it was, and the generation tells.
	 */
	px_wide_word absent;
	uint32_t reserved_2[10];
};

_Static_assert(sizeof(struct px_registry_slot) == 128, "slot");

struct px_registry {
	struct px_registry_gate gate;
	struct px_registry_slot slot[PX_STREAMS_MAX];
};

#define PX_REGISTRY_MAGIC PX_LAYOUT_MAGIC(0x52786574736967)
#define PX_REGISTRY_NAME PX_LAYOUT_REGISTRY
#define PX_REGISTRY_WAIT_NS UINT64_C(5000000000) /* maximum wait for the lock */
#define PX_REGISTRY_END_WAIT_NS                                                                    \
	UINT64_C(200000000) /* maximum wait at the end of a stream; exit() may end many streams */

/* Open the registry, or create it.  The caller uses *fd to map the registry and the gate, and closes it. */
int px_registry_open(int *fd);

/* Map the registry of fd and use it from now on.  Call it once in a process. */
int px_registry_map(int fd);

/* Return the mapped registry, or NULL if none is mapped. */
struct px_registry *px_registry_get(void);

/* Device and inode of the registry, or zeros if no registry is mapped. */
struct px_registry_file {
	uint64_t device, inode;
};
struct px_registry_file px_registry_file(void);

/*
 * Return true if this controller has a stream in the registry.  Compare only pid and start time, because a log stores
 * only these two of its writer.
 */
bool px_registry_has(const struct px_process_id *controller);

/* Return the number of streams of this controller that have a log.  Async-signal-safe. */
uint32_t px_registry_count_logs(const struct px_process_id *controller);

/*
 * Lock the registry, so that no other controller can change it.  Return 0, ETIMEDOUT, or the error of the file system.
 * A process that runs keeps the lock only for a short time.  If the process with the lock is stopped, this function
 * gives up after some seconds (PX_REGISTRY_WAIT_NS).
 */
int px_registry_lock(int *fd);

/* Do the same as px_registry_lock(), but wait for at most wait_ns. */
int px_registry_lock_for(int *fd, uint64_t wait_ns);
void px_registry_unlock(int fd);

/*
 * Find a free slot.  Free the slots of dead controllers first, together with their segments.  Return the index, or
 * PX_STREAMS_MAX.  Treat controllers in other pid namespaces as alive, because this process cannot see them.  The
 * caller holds the lock.
 */
uint32_t px_registry_find_free(void);

/* Put this stream into the slot, then notify the trace points.  The caller holds the lock. */
void px_registry_publish(uint32_t index, const struct px_registry_slot *slot);

/*
 * Free the slot if it still has the stream of this generation, then notify the trace points.  The
 * caller holds the lock.
 */
void px_registry_withdraw(uint32_t index, uint32_t generation);

/*
 * Copy a slot.  The caller needs no lock, so the stream may have just ended.  Return false if the slot is free.
 * Async-signal-safe.
 */
bool px_registry_read(uint32_t index, struct px_registry_slot *slot);

/*
 * The processes that a stream should trace, but that could not map it, or had no memory for it.
 * Each process enters itself, because no other process sees the failure.  The kernel may reuse its pid
 * later.
 */
struct px_registry_absent {
	uint32_t pid;	/* the first one; 0: none */
	uint32_t error; /* why it could not: an error number */
	bool others;	/* there were others after it */
};

/* Enter this process for the stream of this generation, if no other stream has the slot.  Async-signal-safe. */
void px_registry_note_absent(uint32_t index, uint32_t generation, uint32_t pid, int error);

/* Get what px_registry_note_absent() entered for this generation.  Untrusted: any process of the user may write it. */
struct px_registry_absent px_registry_absent(uint32_t index, uint32_t generation);

/* Store slot->has_log in the registry, for a stream of this process. */
void px_registry_mark_log(uint32_t index, const struct px_registry_slot *slot);

/*
 * Free the slots of this controller.  Remove its segments, except those from which another process must still complete
 * a log.  The caller holds the lock.
 */
void px_registry_forget(const struct px_process_id *controller);

/* Get the name of a stream's segment, if the segment is a file. */
void px_registry_segment_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX]);

/* Get the name of a stream's checkpoint file (checkpoint.h). */
void px_registry_checkpoint_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX]);

/*
 * Get the name of the file with the mappings of a process (maps_file.h).  first: 0 for the program that it executed
 * last; for an earlier one, the handle with which that program began.
 */
void px_registry_maps_name(uint32_t index, uint32_t generation, uint32_t pid, uint32_t first,
			   char name[PX_SHM_NAME_MAX]);

/* Remove the files of a stream: its segment, and the mappings of its processes.  Not async-signal-safe. */
void px_registry_remove_files(uint32_t index, uint32_t generation);

/*
 * Remove the files of a stream, unless a process must still complete the log from it.  Return true if the name
 * is free afterwards.
 */
bool px_registry_clean(uint32_t index, uint32_t generation);

/*
 * Remove the files of segments that have no stream and no log to complete: their controllers were killed while they
 * created the stream.  The caller holds the lock, so no controller is creating one.
 */
void px_registry_sweep(void);

/*
 * Map the segment of a stream.  *slot is a copy of registry slot index.  If populates is true, map all pages of the
 * segment now, so that writers have no page faults.  For a process that lives only some milliseconds, this costs more
 * time than it saves.  Return 0 or an error of px_shm_attach() or px_sysv_attach().  Async-signal-safe.
 */
int px_registry_attach(uint32_t index, const struct px_registry_slot *slot, bool populates,
		       struct px_mapping *mapping);

/*
 * Read a part of the segment of a stream without a mapping.  Return 0 or an error of px_shm_read() or px_sysv_read().
 */
int px_registry_read_segment(uint32_t index, const struct px_registry_slot *slot, size_t offset,
			     void *to, size_t size);

/*
 * Return true if the controller's process does not exist any more.  If look_closer is true, also return true if the
 * process has executed another program since then.  look_closer makes this function slow.
 */
bool px_registry_is_orphaned(uint32_t index, const struct px_registry_slot *slot, bool look_closer);

#endif
