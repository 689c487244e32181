/* SPDX-License-Identifier: MIT */
/*
 * What a controller leaves to whoever completes its log, should it die: the file log.<slot>.<generation>, beside
 * the segment of its stream, from the creation of the log until the log is complete.  Where root traces another user's
 * process it is log.64.<number of the memory>, in root's own directory (sysv.h).
 *
 * It says which log and which stream belong together, and whose they were.  And it holds two checkpoints: from
 * where in the rings the log goes on, and how its writer stood.  A checkpoint belongs to one log commit and
 * carries its serial.  It is written ahead of that commit, into the place of the one before the last; so
 * whichever commit is in the log when the controller dies, its checkpoint is whole, and the two change in one
 * step.  What it takes is plain stores, however many rings there are.
 *
 * The file is mapped by its controller, in a directory that belongs to its user alone (shm.h).  Who recovers the
 * log holds a record lock on it, and a mutex, since record locks are the whole process's: px_checkpoint_file_take().
 */
#ifndef PX_LOG_CHECKPOINT_H
#define PX_LOG_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/shm.h"
#include "registry/registry.h"

#define PX_CHECKPOINT_FILE_MAGIC UINT64_C(0x3274736575716562) /* bumped with the layout */
#define PX_CHECKPOINT_FILE_PATH_MAX 4096

/* Where the reader stands in one ring (struct px_cursor). */
struct px_checkpoint_ring {
	uint64_t position;
	uint64_t extra;
	uint64_t last_counter;
	uint64_t passed_until;
	uint32_t passed_tid;
	uint32_t reserved;
};

/* How the writer of the log stands, as far as its commit does not say it. */
struct px_checkpoint_log {
	uint64_t last_ns;
	uint64_t nr_lost;  /* not written, or discarded */
	uint64_t nr_begun; /* volumes */
	uint64_t volume;   /* the stamps are of this one, */
	uint64_t base_ns, ticks, real;
	uint32_t has_stamps; /* if there are any yet */
	uint32_t has_stop;
	uint32_t wants_stop;
	uint32_t serial; /* of the last object of a call */
};

struct px_checkpoint {
	uint64_t serial; /* of the log commit; 0: none, or it is being written */

	/* The reader. */
	uint64_t gap_counter;
	uint64_t cut;
	uint64_t reported_counter;
	uint64_t overwritten, abandoned;
	uint32_t in_gap;
	uint32_t skips_overflow, skips_resume;
	uint32_t stop_reported; /* struct px_auto_stop in stream/auto_stop.h */
	struct px_timeline timeline;

	/* The stream. */
	uint64_t dropped_base, given_up_base;
	uint32_t was_overrun;
	uint32_t is_suspended;
	uint32_t has_last_stop; /* likewise */
	uint32_t reserved;

	struct px_checkpoint_log log;
	struct px_checkpoint_ring ring[];
};

/* The file, ahead of its two checkpoints. */
struct px_checkpoint_content {
	uint64_t magic; /* written last: the log is begun */
	uint64_t size;
	struct px_process_id controller;
	uint32_t index, generation; /* of the stream's registry slot, */
	uint32_t user;		    /* in the registry of this user */
	uint32_t segment;	    /* as in that slot */
	uint32_t nr_rings;
	uint32_t reserved;
	struct px_process_id target;
	uint64_t device, inode; /* of the log */
	uint32_t owner;		/* its uid */
	uint32_t reserved_2;
	uint8_t uuid[16]; /* in its header */
	char boot_id[40];
	char path
		[PX_CHECKPOINT_FILE_PATH_MAX]; /* as of the last flush; "" where /proc does not tell */
	/* Which directory that is: elsewhere, the path may be another's.  0: not known. */
	uint64_t directory_device, directory_inode;

	/* These go with no commit. */
	uint64_t spoiled;  /* entries of the log may stand up to here that were never committed */
	uint64_t to_clear; /* entries that an unfinished clear leaves; 0: there is none */
	uint64_t last_stop_counter; /* recovery: of the STOP to add (stream/auto_stop.h) */
};

struct px_checkpoint_file {
	struct px_checkpoint_content *file;
	struct px_mapping mapping;
	char name[PX_SHM_NAME_MAX];
	int fd;			    /* that holds the lock; -1: we are the controller */
	struct px_checkpoint *base; /* of the log as it is */
};

/* An empty checkpoint for this number of rings, for free(); or NULL. */
struct px_checkpoint *px_checkpoint_make(uint32_t nr_rings);

/* Whose log, and which. */
struct px_checkpoint_file_setup {
	uid_t user;
	uint32_t index; /* in the registry of this user */
	const struct px_registry_slot *slot;
	uint32_t nr_rings;
	int fd; /* of the log */
};

/* Make the file, not valid yet.  0, ENOMEM, EMFILE, or what the file system says. */
int px_checkpoint_file_create(const struct px_checkpoint_file_setup *setup,
			      struct px_checkpoint_file **checkpoint_file);

/* The log is begun: from now on it can be recovered. */
void px_checkpoint_file_sign(struct px_checkpoint_file *checkpoint_file, const uint8_t uuid[16]);

/* The log may have been renamed. */
void px_checkpoint_file_note_path(struct px_checkpoint_file *checkpoint_file, int fd);

/* Ahead of the log commit with this serial. */
void px_checkpoint_file_publish(struct px_checkpoint_file *checkpoint_file,
				const struct px_checkpoint *checkpoint, uint64_t serial);

/* The commit with this checkpoint is in the log: the checkpoint becomes `base`. */
void px_checkpoint_file_keep(struct px_checkpoint_file *checkpoint_file,
			     const struct px_checkpoint *checkpoint);

/* The published checkpoint with this serial becomes `base`.  False: there is none. */
bool px_checkpoint_file_find(struct px_checkpoint_file *checkpoint_file, uint64_t serial);

/* Forget it; also the file, unless somebody is to recover the log. */
void px_checkpoint_file_free(struct px_checkpoint_file *checkpoint_file);
void px_checkpoint_file_remove(struct px_checkpoint_file *checkpoint_file);

/*
 * For recovery.  A bequest of this name for ourselves alone: 0; ENOENT; EBUSY when somebody has it; EINVAL when it
 * is not valid; EACCES, ENOMEM.  To be given back by px_checkpoint_file_free() or px_checkpoint_file_remove(), by the same thread.
 * waits: for other threads of this process, which may take as long as their recovery.
 */
int px_checkpoint_file_take(const char *name, bool waits,
			    struct px_checkpoint_file **checkpoint_file);

/* Copy what a bequest says, without taking it.  0, or like px_checkpoint_file_take(). */
int px_checkpoint_file_read(const char *name, bool waits, struct px_checkpoint_content *copy);

/*
 * Remove a file of this name that is no bequest: its controller died before it had signed it.  Not if the stream that
 * it would belong to exists, or somebody of another version may know what it is.
 */
void px_checkpoint_file_remove_unsigned(const char *name);

#endif
