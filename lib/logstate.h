/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the log writer share: log.c (beginning and end), logstage.c (events laid out in memory)
 * and logwrite.c (what was laid out, into the file).  Nobody else looks at it.
 *
 * `staged` is how the log will be when everything laid out is written, `written` how it is in the file.  A
 * write makes the first the second, or, if it fails, the second the first.
 */
#ifndef PX_LOGSTATE_H
#define PX_LOGSTATE_H

#include "log.h"
#include "logfile.h"

#define PX_LOG_TYPES_FIRST (1 + PX_LOG_THREADS) /* registry slot */
#define PX_LOG_CONTEXT_CACHE 1024

/* A thread's registry slot in a volume. */
struct px_log_context {
	uint32_t handle; /* 0: free */
	bool is_dirty;	 /* the file does not have it yet, */
	bool is_stale;	 /* but another one in its place */
	uint64_t last;	 /* position of its last entry */
	struct px_object object;
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
	struct px_eventset listed;	      /* event types in the registry */
	uint16_t cache[PX_LOG_CONTEXT_CACHE]; /* by handle: slot + 1, or 0 */
	struct px_log_context context[1 + PX_LOG_THREADS];
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
	struct px_log_header header; /* of the next volume that is begun */
	struct px_log_layout layout;
	struct px_log_commit commit; /* as it is in the file */
	const struct px_objects *threads;
	uint64_t capacity; /* positions that can be there at one time; 0: no bound */
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
};

/* Where the volume of a position begins in the file, and which slot of it the position is. */
PX_INLINE uint64_t px_log_volume_number(const struct px_log *log, uint64_t position)
{
	uint64_t number = position / log->header.nr_entries;

	return log->loops ? number % log->header.nr_volumes : number;
}

PX_INLINE uint64_t px_log_volume_offset(const struct px_log *log, uint64_t position)
{
	return px_log_volume_number(log, position) * log->layout.size;
}

PX_INLINE uint32_t px_log_slot_in_volume(const struct px_log *log, uint64_t position)
{
	return (uint32_t)(position % log->header.nr_entries);
}

PX_INLINE struct px_log_volume *px_log_volume_of(const struct px_log *log, uint64_t position)
{
	return &log->volumes[log->loops ? px_log_volume_number(log, position) : 0];
}

/* logstage.c */

/* A volume that nothing stands in. */
void px_log_reset_volume(struct px_log_volume *volume);

/* The volume ends here: what follows goes to the beginning of the next one. */
void px_log_next_volume(struct px_log *log);

/* The fillers ahead of the first event of a volume, of which this is the time. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns);

/* Lay out the STOP that a full log owes, if it does. */
void px_log_stage_stop(struct px_log *log);

/* Forget where records begin between these positions; returns how many did. */
uint64_t px_log_take_heads(struct px_log *log, uint64_t from, uint64_t to);

/* logwrite.c */

/* Make a volume in the file, where the volume of this position is. */
int px_log_begin_volume(struct px_log *log, uint64_t position);

/* What is loaded now, for the next commit. */
int px_log_write_modules(struct px_log *log);

/* Everything that the next commit tells; then bring it into the file. */
void px_log_fill_commit(struct px_log *log, const struct px_log_state *state);
int px_log_write_commit(struct px_log *log);

/* Bring the file of a log that was cleared to where it began; what fails is done by the next write. */
int px_log_empty_file(struct px_log *log);

#endif
