/* SPDX-License-Identifier: MIT */
/*
 * If the controller dies, another process can complete its log with the help of the checkpoint file.  The name of the
 * checkpoint file is log.<layout>.<slot>.<generation>, in the directory of the segment.  It exists from the creation of
 * the log until the log is complete.  If root traces a process of another user, the name is
 * log.<layout>.64.<segment id>, in root's own directory (sysv.h).
 *
 * The file records which log belongs to which stream, and which processes are controller and target.  It also holds the
 * two newest checkpoints.  A checkpoint holds the positions in the rings at which the log continues, and the state of
 * the log writer.  It belongs to one log commit, and has the serial of that commit.  The writer stores a checkpoint
 * before it writes the commit, and overwrites the older of the two.  So the file always has the whole checkpoint that
 * belongs to the commit in the log.  The write of the next commit makes the new checkpoint valid, in one step.  To
 * store a checkpoint, the writer makes no system call.
 *
 * The controller maps the file.  The file is in a directory that only the controller's user can access (shm.h).  A
 * thread that recovers the log holds a record lock on the checkpoint file, and so excludes other processes.  The thread
 * also holds a mutex, and so excludes other threads of its process (px_checkpoint_file_take()).
 */
#ifndef PX_LOG_CHECKPOINT_H
#define PX_LOG_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/layout.h"
#include "base/shm.h"
#include "registry/registry.h"

#define PX_CHECKPOINT_FILE_MAGIC PX_LAYOUT_MAGIC(0x74736575716562)
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
	uint64_t nr_lost;  /* number of events that were discarded, or whose write failed */
	uint64_t nr_begun; /* number of volumes that the writer has begun */
	uint64_t volume;   /* the stamps below belong to the volume with this number */
	uint64_t base_ns, ticks, real;
	uint32_t has_stamps; /* 0: the volume has no stamp yet, and the stamps mean nothing */
	uint32_t has_stop;   /* the log is full, and has its last STOP */
	uint32_t wants_stop; /* the log is full, and must get a last STOP */
	uint32_t serial; /* serial of the newest object of a call */
	/*
	 * Members of struct px_log.  With them, a process that recovers the log stages the same entries as its writer
	 * did.
	 */
	uint32_t ran, ran_priority, is_idle;
	uint32_t ends_stopped; /* a member of struct px_log_cursor; 0 in checkpoints of older versions */
};

struct px_checkpoint {
	/* Serial of the log commit; 0: the checkpoint does not exist, or is not whole. */
	uint64_t serial;

	/* State of the reader. */
	uint64_t gap_counter;
	uint64_t cut;
	uint64_t reported_counter;
	uint64_t marks_passed; /* marks of losses up to this counter have become gaps (px_reader_find_marks()) */
	uint64_t overwritten, abandoned;
	uint32_t in_gap;
	uint32_t skips_overflow, skips_resume;
	uint32_t stop_reported; /* a member of struct px_auto_stop (stream/auto_stop.h) */
	struct px_timeline timeline;

	/* State of the stream. */
	uint64_t dropped_base, given_up_base;
	uint32_t was_overrun;
	uint32_t is_suspended;
	uint32_t has_last_stop; /* a member of struct px_auto_stop */
	uint32_t reserved;

	struct px_checkpoint_log log;
	struct px_checkpoint_ring ring[];
};

_Static_assert(sizeof(struct px_checkpoint) == 1008, "the same for each word size (layout.h)");

/* The first part of the file.  The two checkpoints follow it. */
struct px_checkpoint_content {
	uint64_t magic; /* the controller writes it last, when the log exists */
	uint64_t size;
	struct px_process_id controller;
	uint32_t index, generation; /* number and generation of the stream's registry slot */
	uint32_t user;		    /* the registry belongs to the user with this uid */
	uint32_t segment;	    /* id of the stream's segment, as in the registry slot */
	uint32_t nr_rings;
	/* The controller was made by fork(), and has not called exec (px_former_find()). */
	uint32_t is_forked;
	struct px_process_id target;
	uint64_t device, inode; /* device and inode of the log */
	uint32_t owner;		/* uid of the log's owner */
	uint32_t reserved_2;
	uint8_t uuid[16]; /* uuid in the header of the log */
	char boot_id[40];
	/* Path of the log at the last flush; "": the writer does not know it. */
	char path[PX_CHECKPOINT_FILE_PATH_MAX];
	/*
	 * Device and inode of the log's directory; 0: the writer does not know them.  Recovery compares them, because
	 * in another namespace the path may lead to another directory.
	 */
	uint64_t directory_device, directory_inode;

	/* The following members do not depend on a commit. */
	uint64_t spoiled;	    /* the log may have uncommitted entries up to this position */
	uint64_t to_clear;	    /* number of entries that an unfinished clear must still erase; 0: none */
	uint64_t last_stop_counter; /* counter of the STOP that recovery adds (stream/auto_stop.h) */
};

struct px_checkpoint_file {
	struct px_checkpoint_content *file;
	struct px_mapping mapping;
	char name[PX_SHM_NAME_MAX];
	/* The descriptor that has the record lock; -1: this is the controller, and there is no lock. */
	int fd;
	struct px_checkpoint *base; /* checkpoint of the last commit in the log */
};

/*
 * Return an empty checkpoint for this number of rings, or NULL if there is no memory.  The caller frees it with free().
 */
struct px_checkpoint *px_checkpoint_make(uint32_t nr_rings);

/* Arguments of px_checkpoint_file_create(): the log and its stream. */
struct px_checkpoint_file_setup {
	uid_t user;
	uint32_t index; /* slot of the stream in the registry of this user */
	const struct px_registry_slot *slot;
	uint32_t nr_rings;
	int fd; /* descriptor of the log */
};

/*
 * Create the file.  It becomes valid with px_checkpoint_file_validate().  Return 0, ENOMEM, EMFILE, or an error of the
 * file system.
 */
int px_checkpoint_file_create(const struct px_checkpoint_file_setup *setup,
			      struct px_checkpoint_file **checkpoint_file);

/* Mark the file as valid, because the log exists now.  From now on, another process can recover the log. */
void px_checkpoint_file_validate(struct px_checkpoint_file *checkpoint_file, const uint8_t uuid[16]);

/* Store the current path of the log, because a user may have renamed the log. */
void px_checkpoint_file_note_path(struct px_checkpoint_file *checkpoint_file, int fd);

/* Store a checkpoint.  Call this function before you write the log commit that has the same serial. */
void px_checkpoint_file_publish(struct px_checkpoint_file *checkpoint_file,
				const struct px_checkpoint *checkpoint, uint64_t serial);

/*
 * Call this function when the commit that belongs to this checkpoint is in the log.  It copies the checkpoint to
 * `base`.
 */
void px_checkpoint_file_keep(struct px_checkpoint_file *checkpoint_file,
			     const struct px_checkpoint *checkpoint);

/* Copy the stored checkpoint with this serial to `base`.  Return false if there is no such checkpoint. */
bool px_checkpoint_file_find(struct px_checkpoint_file *checkpoint_file, uint64_t serial);

/* Free the memory, and release the lock if there is one.  px_checkpoint_file_remove() first removes the file. */
void px_checkpoint_file_free(struct px_checkpoint_file *checkpoint_file);
void px_checkpoint_file_remove(struct px_checkpoint_file *checkpoint_file);

/*
 * For recovery: lock the checkpoint file of this name.  Return 0, ENOENT, EALREADY (another process has locked it),
 * EINVAL (not valid), EACCES, ENOMEM.  The same thread must free it with px_checkpoint_file_free() or _remove().
 * Another thread of this process may be recovering a log.  If waits is true, wait until that recovery ends.  If waits
 * is false, return EALREADY.
 */
int px_checkpoint_file_take(const char *name, bool waits,
			    struct px_checkpoint_file **checkpoint_file);

/*
 * Copy the first part of a checkpoint file.  Do not lock the file.  Return 0, or the same errors as
 * px_checkpoint_file_take().
 */
int px_checkpoint_file_read(const char *name, bool waits, struct px_checkpoint_content *copy);

/* Get the name of the checkpoint file of the stream in this registry slot. */
void px_checkpoint_name(uint32_t index, const struct px_registry_slot *slot,
			char name[PX_SHM_NAME_MAX]);

/*
 * Copy the checkpoint with this serial from the checkpoint file of a living controller, and do not lock the file.  The
 * caller frees it with free().  Return 0, EAGAIN (the file has no such checkpoint any more), or the errors of
 * px_checkpoint_file_read().
 */
int px_checkpoint_copy(const char *name, uint64_t serial, struct px_checkpoint **checkpoint);

/*
 * A controller may die before it calls px_checkpoint_file_validate().  Then remove its checkpoint file, which has this
 * name, and the segment of its stream.  Keep both if the stream still exists.  Also keep both if the file has another
 * magic, because it may belong to another version of the library.
 */
void px_checkpoint_file_remove_invalid(const char *name);

#endif
