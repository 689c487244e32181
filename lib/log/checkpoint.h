/* SPDX-License-Identifier: MIT */
/*
 * If the controller dies, another process can complete its log with the checkpoint file.  Its name is
 * log.<slot>.<generation>, in the directory of the segment.  It exists from the creation of the log until the log is
 * complete.  If root traces a process of another user, the name is log.64.<segment id>, in root's own directory
 * (sysv.h).
 *
 * The file records which log belongs to which stream, and which processes are controller and target.  It also holds the
 * two newest checkpoints.  A checkpoint holds the positions in the rings at which the log continues, and the state of
 * the log writer.  It belongs to one log commit, and has the serial of that commit.  The writer stores a checkpoint
 * before it writes the commit, and overwrites the older of the two.  So the checkpoint of the commit in the log is
 * always whole.  When the writer writes the next commit, it switches to the new checkpoint in one step.  To store a
 * checkpoint, the writer makes no system call.
 *
 * The controller maps the file.  The file is in a directory that only the controller's user can access (shm.h).  A
 * thread that recovers the log holds a record lock on the checkpoint file, which excludes other processes.  It also
 * holds a mutex, which excludes other threads of its process: px_checkpoint_file_take().
 */
#ifndef PX_LOG_CHECKPOINT_H
#define PX_LOG_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/shm.h"
#include "registry/registry.h"

#define PX_CHECKPOINT_FILE_MAGIC UINT64_C(0x3374736575716562) /* changes with the layout */
#define PX_CHECKPOINT_FILE_PATH_MAX 4096

/* The position of the reader in one ring (struct px_cursor). */
struct px_checkpoint_ring {
	uint64_t position;
	uint64_t extra;
	uint64_t last_counter;
	uint64_t passed_until;
	uint32_t passed_tid;
	uint32_t reserved;
};

/* The part of the log writer's state that the commit does not hold. */
struct px_checkpoint_log {
	uint64_t last_ns;
	uint64_t nr_lost;  /* events that were not written, or were discarded */
	uint64_t nr_begun; /* number of volumes that the writer has begun */
	uint64_t volume;   /* number of the volume that has the stamps below */
	uint64_t base_ns, ticks, real;
	uint32_t has_stamps; /* 0: the volume has no stamp yet */
	uint32_t has_stop;   /* the log is full, and has its last STOP */
	uint32_t wants_stop; /* the log is full, and must get a last STOP */
	uint32_t serial; /* serial of the last object of a call */
};

struct px_checkpoint {
	uint64_t serial; /* serial of the log commit; 0: no checkpoint, or an unfinished one */

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
	uint32_t has_last_stop; /* also of struct px_auto_stop */
	uint32_t reserved;

	struct px_checkpoint_log log;
	struct px_checkpoint_ring ring[];
};

/* The first part of the file.  The two checkpoints follow it. */
struct px_checkpoint_content {
	uint64_t magic; /* written last, when the log exists */
	uint64_t size;
	struct px_process_id controller;
	uint32_t index, generation; /* the stream's registry slot */
	uint32_t user;		    /* the registry belongs to this user */
	uint32_t segment;	    /* same value as in the registry slot */
	uint32_t nr_rings;
	uint32_t is_forked; /* the controller is a child by fork that has not executed a program (px_former_find()) */
	struct px_process_id target;
	uint64_t device, inode; /* of the log */
	uint32_t owner;		/* uid of the log's owner */
	uint32_t reserved_2;
	uint8_t uuid[16]; /* uuid in the header of the log */
	char boot_id[40];
	char path[PX_CHECKPOINT_FILE_PATH_MAX]; /* path of the log at the last flush; "": unknown */
	/*
	 * Device and inode of the log's directory; 0: unknown.  Recovery compares them, because in another name space
	 * the path may lead to another directory.
	 */
	uint64_t directory_device, directory_inode;

	/* These values do not belong to a commit. */
	uint64_t spoiled;	    /* the log may have uncommitted entries up to this position */
	uint64_t to_clear;	    /* number of entries that an unfinished clear must still erase; 0: none */
	uint64_t last_stop_counter; /* counter of the STOP that recovery adds (stream/auto_stop.h) */
};

struct px_checkpoint_file {
	struct px_checkpoint_content *file;
	struct px_mapping mapping;
	char name[PX_SHM_NAME_MAX];
	int fd;			    /* holds the record lock; -1: in the controller */
	struct px_checkpoint *base; /* checkpoint of the last commit in the log */
};

/* Return an empty checkpoint for this number of rings, or NULL.  The caller frees it with free(). */
struct px_checkpoint *px_checkpoint_make(uint32_t nr_rings);

/* Arguments of px_checkpoint_file_create(): the log and its stream. */
struct px_checkpoint_file_setup {
	uid_t user;
	uint32_t index; /* slot in the registry of this user */
	const struct px_registry_slot *slot;
	uint32_t nr_rings;
	int fd; /* of the log */
};

/*
 * Create the file.  It becomes valid with px_checkpoint_file_sign().  Return 0, ENOMEM, EMFILE, or an error of the file
 * system.
 */
int px_checkpoint_file_create(const struct px_checkpoint_file_setup *setup,
			      struct px_checkpoint_file **checkpoint_file);

/* Mark the file as valid, because the log exists now.  From now on, another process can recover the log. */
void px_checkpoint_file_sign(struct px_checkpoint_file *checkpoint_file, const uint8_t uuid[16]);

/* Store the current path of the log, which may have been renamed. */
void px_checkpoint_file_note_path(struct px_checkpoint_file *checkpoint_file, int fd);

/* Store a checkpoint.  Call this before the log commit with this serial is written. */
void px_checkpoint_file_publish(struct px_checkpoint_file *checkpoint_file,
				const struct px_checkpoint *checkpoint, uint64_t serial);

/* Call this when the commit with this checkpoint is in the log.  The checkpoint becomes `base`. */
void px_checkpoint_file_keep(struct px_checkpoint_file *checkpoint_file,
			     const struct px_checkpoint *checkpoint);

/* Copy the stored checkpoint with this serial to `base`.  Return false if there is no such checkpoint. */
bool px_checkpoint_file_find(struct px_checkpoint_file *checkpoint_file, uint64_t serial);

/* Free the memory, and release the lock if there is one.  px_checkpoint_file_remove() first removes the file. */
void px_checkpoint_file_free(struct px_checkpoint_file *checkpoint_file);
void px_checkpoint_file_remove(struct px_checkpoint_file *checkpoint_file);

/*
 * For recovery: lock the checkpoint file of this name.  Return 0, ENOENT, EALREADY (another process has locked it),
 * EINVAL (not valid), EACCES, ENOMEM.  The same thread must free it with px_checkpoint_file_free() or _remove().  If
 * waits is true and another thread of this process recovers a log, wait until that recovery ends; if waits is false,
 * return EALREADY.
 */
int px_checkpoint_file_take(const char *name, bool waits,
			    struct px_checkpoint_file **checkpoint_file);

/*
 * Copy the contents of a checkpoint file, without the checkpoints, and do not lock the file.  Return 0, or the same
 * errors as px_checkpoint_file_take().
 */
int px_checkpoint_file_read(const char *name, bool waits, struct px_checkpoint_content *copy);

/*
 * Remove the checkpoint file of this name if it was never signed, because its controller died too early.  Also remove
 * the segment of its stream.  Keep both if the stream still exists, or if the file has another magic: it may belong to
 * another version of the library.
 */
void px_checkpoint_file_remove_unsigned(const char *name);

#endif
