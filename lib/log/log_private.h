/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the log writer share.  No other file includes this.  The parts, each above the next, and none
 * calls a part above it:
 *
 *	resume.c	continues the log of a dead writer
 *	log.c		begins and ends a log
 *	write.c		writes to the file what was laid out
 *	stage.c		lays events out in memory, and counts them
 *	descriptor.c	the file descriptor
 *
 * `staged` is how the log will be when everything laid out is written, `written` how it is in the file.  A
 * write makes the first the second, or, if it fails, the second the first.
 */
#ifndef PX_LOG_LOG_PRIVATE_H
#define PX_LOG_LOG_PRIVATE_H

#include "calls/translate.h"
#include "log/format.h"
#include "log/log.h"

#define PX_LOG_TYPES_FIRST (1 + PX_LOG_IN_USE) /* registry slot */
#define PX_LOG_BUCKETS 1024

/* The registry slot of a thread, or of the object of a call, in a volume. */
struct px_log_context {
	uint32_t handle; /* 0: free */
	bool is_dirty;	 /* the file does not have it yet, */
	bool is_stale;	 /* but another one in its place */
	uint16_t next;	 /* in its bucket: slot + 1, or 0 */
	uint64_t last;	 /* position of the last entry that has or names it */
	struct px_object object;
	uint64_t address, site;
};

/* How stamps stand in a volume: they go on where the last entry was, gaps shortened where need be. */
struct px_log_stamps {
	bool begun;
	uint64_t base_ns;
	uint64_t ticks; /* of the image, not cut to 32 bits */
	uint64_t real;	/* ticks since base_ns */
};

struct px_log_volume {
	struct px_log_stamps stamps;
	uint32_t nr_types;
	struct px_eventset listed;	 /* event types in the registry */
	uint16_t bucket[PX_LOG_BUCKETS]; /* by handle: slot + 1, or 0 */
	uint32_t hand;			 /* where the search for a free slot goes on, */
	uint64_t none_before;		 /* which finds none up to this position */
	struct px_log_context context[1 + PX_LOG_IN_USE];
	unsigned int type[PX_LOG_OBJECTS - PX_LOG_TYPES_FIRST]; /* by registry slot */
	uint32_t types_written;
};

/* What appending changes, and a failed write takes back. */
struct px_log_cursor {
	uint64_t first, end; /* positions */
	uint64_t nr_events, nr_shortened, shortened_ns, nr_overwritten;
	uint64_t last_ns;	     /* time of the newest event */
	bool has_stop;		     /* the last one of a full log */
	struct px_log_stamps stamps; /* of the volume that is written to */
};

struct px_log {
	int fd;
	int access; /* as open() has it */
	dev_t device;
	ino_t inode;
	uint32_t remote_pid;	     /* of the target; 0: it is this process */
	struct px_log_header header; /* of the next volume that is begun */
	struct px_log_layout layout;
	struct px_log_commit commit; /* as it is in the file */
	const struct px_view *view;  /* what calls there can be; or NULL */
	const struct px_threads *threads;
	const struct px_typelist *types;
	struct px_translator *translator; /* from the first call on */
	const struct px_namer *namer;
	uint32_t serial;      /* of the object before its first */
	bool has_translation; /* of the record in hand, which is appended again */
	struct px_translation translation;
	uint32_t
		open; /* 1 + the entry staged whose last word is the context of the next; 0: none */
	bool is_idle; /* in the image, that is: the last one is written, and said so */
	struct px_eventset named;   /* types that the file names */
	uint32_t types_done;	    /* all ahead of this one in the list are */
	struct px_checkpoint_file *checkpoint_file; /* or NULL */
	uint64_t capacity;	    /* positions that can be there at one time; 0: no bound */
	bool loops;
	bool is_full;
	uint64_t hole;	   /* position at which a volume ended early, */
	bool has_hole;	   /* if that is not in the file yet */
	uint64_t spoiled;  /* entries may stand up to here that a failed write has left */
	bool is_cleared;   /* and the file is not yet */
	uint64_t to_clear; /* entries of the first volume */
	bool wants_stop;   /* as the last event */
	uint64_t nr_lost;
	int first_error;   /* of writing, since create or clear */
	uint64_t nr_begun; /* volumes */

	struct px_log_cursor written, staged;
	struct px_log_volume *volumes; /* LOOP: all of them; else one, that is written to */

	uint64_t stage_position; /* of the first slot staged */
	uint32_t nr_staged, stage_size;
	struct px_txtb_entry *entries;
	struct px_log_slot *slots;
	uint64_t *heads; /* LOOP: bit i: a record begins at slot i of the log */

	uint64_t nr_heads; /* of a log that was resumed: that it had */
};

PX_INLINE struct px_log_volume *px_log_volume_of(const struct px_log *log, uint64_t position)
{
	return &log->volumes[log->loops ? px_log_volume_number(&log->header, position) : 0];
}

/* descriptor.c */

/* The log gets a private duplicate of fd, with a high number.  Return 0 or an error number. */
int px_log_take_descriptor(struct px_log *log, int fd);

/* stage.c */

/* A volume that nothing stands in. */
void px_log_reset_volume(struct px_log_volume *volume);

/* The volume ends here: what follows goes to the beginning of the next one. */
void px_log_next_volume(struct px_log *log);

/* The registry slot of this handle, or NULL. */
struct px_log_context *px_log_find_context(struct px_log_volume *volume, uint32_t handle);

/* The slot gets another handle, and is found by it. */
void px_log_enter_context(struct px_log_volume *volume, uint32_t slot, uint32_t handle);

/* Memory for what calls need, and what the log has of it already.  False: there is none. */
bool px_log_make_translator(struct px_log *log);

/* The fillers ahead of the first event of a volume, of which this is the time. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns);

/* Lay out the STOP that a full log owes, if it does. */
void px_log_stage_stop(struct px_log *log);

/* Forget where records begin between these positions; returns how many did. */
uint64_t px_log_take_heads(struct px_log *log, uint64_t from, uint64_t to);

/* write.c */

/* Make a volume in the file, where the volume of this position is. */
int px_log_begin_volume(struct px_log *log, uint64_t position);

/* The event types that were opened since the last time, for the next commit. */
int px_log_write_names(struct px_log *log);

/* What is loaded now, likewise. */
int px_log_write_modules(struct px_log *log);

/* What could be seen of calls, and how often it was, likewise. */
int px_log_write_wrappers(struct px_log *log, double tick_ns);

/* Fill in the next commit.  Then write it to the file, with this checkpoint; NULL: that of the commit before. */
void px_log_fill_commit(struct px_log *log, const struct px_log_state *state);
int px_log_write_commit(struct px_log *log, struct px_checkpoint *checkpoint);

/* This checkpoint becomes that of the log as it is in memory. */
void px_log_keep_checkpoint(struct px_log *log, struct px_checkpoint *checkpoint);

/* Let the viewer begin with the first entry of the log again: a clear was broken off. */
int px_log_show_first(struct px_log *log);

/* Bring the file of a log that was cleared to where it began; what fails is done by the next write. */
int px_log_empty_file(struct px_log *log);

/* log.c */

/* Allocate what a log with this header needs.  Return 0 or ENOMEM. */
int px_log_allocate(struct px_log *log);

#endif
