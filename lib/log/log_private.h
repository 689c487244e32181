/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the source files of the log writer share.  No other file includes this.  No file of this list calls
 * functions of a file above it (tests/tree/modules.sh checks this):
 *
 *	resume.c	continues the log of a dead writer
 *	log.c		begins, writes and ends a log
 *	stage.c		stages events, and counts them
 *	write.c		writes the staged events to the file
 *	volume.c	a volume in memory, and its object slots
 *	descriptor.c	the file descriptor
 *
 * `staged` is the state that the log will have after the next write.  `written` is the state in the file.  After a
 * write that succeeds, the writer copies `staged` to `written`.  After a write that fails, it copies `written` to
 * `staged`.
 */
#ifndef PX_LOG_LOG_PRIVATE_H
#define PX_LOG_LOG_PRIVATE_H

#include "calls/translate.h"
#include "log/format.h"
#include "log/log.h"

#define PX_LOG_TYPES_FIRST (1 + PX_LOG_IN_USE) /* first object slot of an event type */
#define PX_LOG_BUCKETS 1024

/* The object slot of a thread, or of the object of a call, in a volume. */
struct px_log_context {
	uint32_t handle; /* 0: free */
	bool is_dirty;	 /* the object is not in the file yet */
	bool is_stale;	 /* the file has another object in this slot */
	uint16_t next;	 /* next context of the same bucket: slot + 1, or 0 */
	uint64_t last;	 /* position of the last entry that has this context or names it */
	struct px_object object;
	uint64_t address, site;
};

/*
 * The state of the time stamps of a volume after its last entry.  Long time gaps may be shortened (PX_LOG_GAP_FILLERS).
 */
struct px_log_stamps {
	bool begun;
	uint64_t base_ns;
	uint64_t ticks; /* stamp of the last entry, extended to 64 bits */
	uint64_t real;	/* the exact ticks since base_ns */
};

struct px_log_volume {
	struct px_log_stamps stamps;
	uint32_t nr_types;
	struct px_eventset listed;	 /* the event types in the object registry */
	uint16_t bucket[PX_LOG_BUCKETS]; /* index: from the handle; value: slot + 1, or 0 */
	uint32_t hand;			 /* where the search for a free slot continues */
	uint64_t none_before;		 /* free_context() finds no slot for a `keep` below this position */
	struct px_log_context context[1 + PX_LOG_IN_USE];
	unsigned int type[PX_LOG_OBJECTS - PX_LOG_TYPES_FIRST]; /* index: object slot */
	uint32_t types_written;
};

/* The state that px_log_append() changes, and that the writer restores after a failed write. */
struct px_log_cursor {
	uint64_t first, end; /* the log has the positions from first to end - 1 */
	uint64_t nr_events, nr_shortened, shortened_ns, nr_overwritten;
	uint64_t last_ns;	     /* time of the newest event */
	bool has_stop;		     /* the last STOP of a full log is staged */
	bool ends_stopped;	     /* STOP is staged, and neither START nor a user event came after it */
	struct px_log_stamps stamps; /* stamps of the current volume */
};

struct px_log {
	int fd;
	int access; /* O_RDWR or O_WRONLY */
	dev_t device;
	ino_t inode;
	uint32_t remote_pid;	     /* pid of the target; 0: this process */
	struct px_log_header header; /* header of the next volume */
	struct px_log_layout layout;
	struct px_log_commit commit; /* the commit in the file */
	const struct px_view *view;  /* for its wrappers; or NULL */
	const struct px_threads *threads;
	const struct px_typelist *types;
	struct px_translator *translator; /* exists from the first call on */
	const struct px_namer *namer;
	uint32_t serial;      /* serial of the last object before the translator was made */
	bool has_translation; /* true for an event that was not taken and will be appended again */
	struct px_translation translation;
	uint32_t open; /* 1 + the staged entry that waits for the next context; 0: none */
	bool is_idle; /* the last written entry has no next context: the CPU is idle in the image */
	struct px_eventset named; /* types whose names are in the file */
	uint32_t types_done;	  /* all types before this index of the list are in `named` */
	struct px_checkpoint_file *checkpoint_file; /* or NULL */
	uint64_t capacity;			    /* number of slots of all volumes; 0: no bound */
	bool loops;
	bool is_full;
	uint64_t hole;	   /* position at which a volume ended early */
	bool has_hole;	   /* the hole is not in the file yet */
	uint64_t spoiled;  /* a failed write may have left entries up to this position */
	bool is_cleared;   /* the log in memory is empty, but the file is not empty yet */
	uint64_t to_clear; /* number of entries of the first volume to fill with zeros after the clear */
	bool wants_stop;   /* the log is full, and its last entry must be STOP */
	uint64_t nr_lost;
	int first_error;   /* first error of writing since create or clear */
	uint64_t nr_begun; /* volumes */

	struct px_log_cursor written, staged;
	struct px_log_volume *volumes; /* in a LOOP log all volumes; otherwise the current one */

	uint64_t stage_position; /* position of the first staged slot */
	uint32_t nr_staged, stage_size;
	struct px_txtb_entry *entries;
	struct px_log_slot *slots;
	uint64_t *heads; /* of a LOOP log: if bit i is 1, a record begins at slot i */

	uint64_t nr_heads; /* of a resumed log: the number of heads found in the file */
};

PX_INLINE struct px_log_volume *px_log_volume_of(const struct px_log *log, uint64_t position)
{
	return &log->volumes[log->loops ? px_log_volume_number(&log->header, position) : 0];
}

/* descriptor.c */

/* Make a private duplicate of fd, with a high number, and store it in log->fd.  Return 0 or an error number. */
int px_log_take_descriptor(struct px_log *log, int fd);

/* volume.c */

/* Make the volume empty. */
void px_log_reset_volume(struct px_log_volume *volume);

/* End the volume here: the next event goes to the beginning of the next volume. */
void px_log_next_volume(struct px_log *log);

/* Return the object slot of this handle, or NULL. */
struct px_log_context *px_log_find_context(struct px_log_volume *volume, uint32_t handle);

/* Give this object slot another handle. */
void px_log_enter_context(struct px_log_volume *volume, uint32_t slot, uint32_t handle);

/* Clear the bits in `heads` for all positions from `from` up to `to` - 1.  Return how many of them were set. */
uint64_t px_log_take_heads(struct px_log *log, uint64_t from, uint64_t to);

/* write.c */

/* Create, in the file, the volume that has this position. */
int px_log_begin_volume(struct px_log *log, uint64_t position);

/* Write the names of the event types that were opened since the last call, for the next commit. */
int px_log_write_names(struct px_log *log);

/* Write the list of modules loaded now, for the next commit. */
int px_log_write_modules(struct px_log *log);

/* Write the wrapper statistics, for the next commit. */
int px_log_write_wrappers(struct px_log *log, double tick_ns);

/* Fill in the next commit. */
void px_log_fill_commit(struct px_log *log, const struct px_log_state *state);

/*
 * Write the next commit to the file, and before it the checkpoint of the commit.  NULL means: use the checkpoint of the
 * previous commit.
 */
int px_log_write_commit(struct px_log *log, struct px_checkpoint *checkpoint);

/* Write the staged entries, and commit them.  Return 0, or the error of the first write that failed. */
int px_log_write_stage(struct px_log *log, const struct px_log_state *state);

/* Add the state of the log in memory to this checkpoint, and make it `base` of the checkpoint file. */
void px_log_keep_checkpoint(struct px_log *log, struct px_checkpoint *checkpoint);

/* Undo an unfinished clear: make the entries visible to the viewer again. */
int px_log_show_first(struct px_log *log);

/* Empty the file of a cleared log.  If this fails, the next write tries again. */
int px_log_empty_file(struct px_log *log);

/* stage.c */

/* Make the translator of calls, with the objects that are already in the log.  Return false if there is no memory. */
bool px_log_make_translator(struct px_log *log);

/* Stage the fillers before the first event of a volume.  time_ns is the time of that event. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns);

/* Stage the last STOP of a full log, if it is missing. */
void px_log_stage_stop(struct px_log *log);

/* log.c */

/* Allocate the memory that a log with this header needs.  Return 0 or ENOMEM. */
int px_log_allocate(struct px_log *log);

#endif
