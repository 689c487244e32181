/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the source files of the log writer share.  No other file includes this.  No file of this list calls
 * functions of a file above it (tests/tree/modules.sh checks this):
 *
 *	resume.c	continues the log of a dead writer
 *	log.c		begins and writes a log
 *	finish.c	ends a log, and cuts the unused parts of its file
 *	stage.c		stages events: lays out their entries in memory
 *	usual.c		the same for usual events, which have one entry each
 *	write.c		writes the staged entries to the file
 *	volume_file.c	the volume in the file, but for its entries and frames: header, object slots, zeros
 *	tail.c		writes what follows the last volume: modules, wrapper statistics, names
 *	commit.c	writes the commit and its checkpoint
 *	clocks.c	readings of the wall clock
 *	titles.c	the titles of processes
 *	contexts.c	the objects that entries name, and their object slots
 *	volume.c	the volume in memory
 *	cache.c		the page cache of the file
 *	descriptor.c	the file descriptor, and writing to it
 *
 * `staged` is the state that the log will have after the next write.  `written` is the state in the file.  After a
 * write that succeeds, the writer copies `staged` to `written`.  After a write that fails, it copies `written` to
 * `staged`.
 */
#ifndef PX_LOG_LOG_PRIVATE_H
#define PX_LOG_LOG_PRIVATE_H

#include "calls/translate.h"
#include "event/threadmap.h"
#include "log/format.h"
#include "log/log.h"
#include "log/pack.h"

#define PX_LOG_BUCKETS 8192
#define PX_LOG_CHAPTER_ENTRIES 8192 /* a chapter ends when it has about this many entries */
#define PX_LOG_CHAPTERS 32	    /* a volume is divided into at least this many chapters */
/* Maximum number of parts of a LOOP log, for each of its volumes. */
#define PX_LOG_PARTS_EACH 320

/* The object slot of a thread, or of the object of a call, in a volume. */
struct px_log_context {
	uint32_t handle; /* 0: the slot is free */
	bool is_dirty;	 /* the object is not in the file yet */
	bool is_stale;	 /* the file has another object in this slot */
	bool is_listed;	 /* the slot is in the list of changed slots */
	uint16_t next;	 /* slot + 1 of the next context in the same bucket; 0: none */
	uint32_t same;	 /* number among the threads with this name in the image; 0: the only one, or the first */
	/* Position of the last entry that has this context, or whose call names it. */
	uint64_t last;
	/* Number of the chapter that has the current definition of the object; 0: none. */
	uint64_t chapter;
	uint64_t title_ns; /* look at the title of the process from this time on, of CLOCK_MONOTONIC */
	struct px_log_object known;
};

/*
 * The state of the time stamps of a volume after its last entry.  The writer shortens very long time gaps
 * (PX_LOG_GAP_FILLERS).
 */
struct px_log_stamps {
	bool begun;
	uint64_t base_ns;
	uint64_t ticks; /* stamp of the last entry, extended to 64 bits */
	/* Exact number of ticks since base_ns; shortened gaps have their full length. */
	uint64_t real;
};

struct px_log_volume {
	struct px_log_stamps stamps;
	bool is_begun;	       /* the writer has begun the volume, so its contexts are valid */
	uint64_t frames_end;   /* the highest end of the frames in any round */
	uint32_t entries_end;  /* the highest end of the entries in any round; all later entries are empty */
	uint32_t nr_types;
	struct px_eventset listed;	 /* the event types that have an object slot */
	uint16_t bucket[PX_LOG_BUCKETS]; /* slot + 1 of the first context in the bucket; 0: none */
	struct px_log_hand {
		/* The search for a free slot continues here; 0: the first slot of its kind. */
		uint32_t next;
		/* The search found no slot, and finds none while `keep` is less than this. */
		uint64_t none_before;
		uint32_t end; /* the number of slots up to the last one that was ever used */
	} hand[2];		      /* [0]: slots of threads; [1]: slots of objects of calls */
	/* Index: object slot; the slots of event types are not used. */
	struct px_log_context *context;
	/* Index: object slot, counted from the first slot of event types. */
	unsigned int *type;
	uint32_t types_written;
	/* The object slots that the next write must write: those with is_dirty or is_stale. */
	uint16_t *changed;
	uint32_t nr_changed;
	/*
	 * Of a LOOP log: bit i is set if the viewer may begin with entry i (px_log_is_front()).  Of other logs: NULL.
	 */
	uint64_t *fronts;
};

/* One or several chapters of a LOOP log, which the log discards together. */
struct px_log_part {
	uint64_t position;
	uint64_t frame; /* offset of its first frame in the frames of its volume */
	uint64_t nr_events;
};

/* The state that px_log_append() changes, and that the writer restores after a failed write. */
struct px_log_cursor {
	uint64_t first, end; /* position of the oldest event, and position after the newest entry */
	uint64_t nr_events, nr_shortened, shortened_ns, nr_overwritten, nr_unlisted;
	uint64_t last_ns;	     /* time of the newest event */
	bool has_stop;		     /* the last STOP of a full log is staged */
	bool ends_stopped;	     /* STOP is staged, and neither START nor a user event came after it */
	struct px_log_stamps stamps; /* stamps of the current volume */
};

#define PX_LOG_CPUS 256 /* an entry has 8 bits for the number of the CPU */

struct px_log {
	int fd;
	int access; /* O_RDWR or O_WRONLY: the access mode of the descriptor */
	dev_t device;
	ino_t inode;
	uint32_t remote_pid;	     /* pid of the target; 0: this process */
	struct px_log_header header; /* header of the next volume to be written */
	struct px_log_layout layout;
	struct px_log_commit commit; /* the commit in the file */
	bool reads_clocks;	     /* this process made the log, and knows how its times are made */
	struct px_clock_sleep sleep;
	uint64_t next_error_ns;	     /* of the log: when to ask again how far the wall clock may be from UTC */
	const struct px_view *view;  /* view with the wrapper statistics; NULL: there are none */
	struct px_archive *from;     /* the log of which this one is a copy; or NULL */
	struct px_threadmap *threads;
	const struct px_typelist *types;
	const struct px_descriptions *descriptions;
	struct px_translator *translator; /* NULL before the first call */
	const struct px_namer *namer;
	/* Serial of the newest object of a call at the time when the translator was made. */
	uint32_t serial;
	/* `translation` is of an event that the log did not take; the caller appends it again. */
	bool has_translation;
	struct px_translation translation;
	uint32_t open; /* 1 + index of the staged entry that needs the next context; 0: none */
	/* The last written entry has no next context, so the image shows that the CPU is idle. */
	bool is_idle;
	/* The context that has the CPU in the image after the last event, and its priority; 0: not known. */
	uint32_t ran, ran_priority;
	/* The thread that has each CPU, as scheduling records say; 0: none is known. */
	struct px_log_on_cpu {
		uint32_t handle, priority;
	} on_cpu[PX_LOG_CPUS];
	/* 1 + index of the first staged entry that gives time to `ran` until the next context is known. */
	uint32_t switched;
	struct px_eventset described;	   /* types whose descriptions are in the file, or do not fit */
	uint32_t descriptions_done;	   /* entries that the table had at the last look */
	uint32_t nr_description_rows;
	struct px_eventset named; /* types whose names are in the file */
	uint32_t types_done;	  /* `named` contains all types of the list before this index */
	struct px_checkpoint_file *checkpoint_file; /* NULL: there is no checkpoint file */
	/* Number of entry slots of all volumes; 0: the log has no limit. */
	uint64_t capacity;
	bool loops;
	bool is_full;
	uint64_t hole;	   /* a volume ended early, at this position */
	uint64_t hole_frame; /* the frames of that volume end at this offset */
	bool has_hole;	   /* the writer must still write the hole to the file */
	uint64_t spoiled;  /* a failed write may have left entries up to this position */
	bool is_cleared;   /* the log in memory is empty, but the file is not empty yet */
	uint64_t to_clear; /* number of entries of the first volume to fill with zeros after the clear */
	bool wants_stop;   /* the log is full, and its last entry must be STOP */
	uint64_t nr_lost;
	bool lacks_others; /* others that nobody counted are missing, too */
	bool follows_loss; /* a write failed, and the frame that tells it is not written yet */
	int first_error;   /* first error of writing since create or clear */
	uint64_t nr_begun; /* number of volumes that the writer has begun */

	struct px_log_cursor written, staged;
	/* A LOOP log has all volumes here; other logs have only the current one. */
	struct px_log_volume *volumes;

	uint64_t stage_position; /* position of the first staged entry */
	uint32_t nr_staged, stage_size;
	/*
	 * For usual events: position of the first slot of the volume, and what a volume has for entries and this frame.
	 */
	uint64_t usual_first;
	uint32_t usual_slots;
	uint64_t usual_bytes;
	struct px_log_volume *usual_volume;   /* the volume of the frame */
	struct px_txtb_entry *entries;
	struct px_pack *pack; /* makes the frame of the staged entries */
	uint64_t frame;	      /* offset of that frame in the frames of the volume */
	uint64_t chapter;     /* number of the current chapter; the first has number 1 */
	/* Offset of the chapter's first frame in the frames of the volume. */
	uint64_t chapter_frame;
	/* Number of entries that the chapter has so far. */
	uint32_t chapter_entries;
	bool ends_chapter;			  /* the next frame must begin a chapter */
	bool ends_volume;			  /* the next event begins a volume */
	/* End of the frames of the volume that was written last, as an offset in it. */
	uint64_t frames_end;
	uint64_t nr_frames; /* number of frames that this writer has written since it began or cleared the log */
	/* Unused bytes of the images before the current volume; not used in a LOOP log. */
	uint64_t unused;

	uint64_t volume_at;	   /* offset of the current volume in the file; not used in a LOOP log */
	uint64_t commit_at;	   /* offset in the file of the commit */
	uint64_t next_at;	   /* offset in the file at which the next volume begins */
	/* Offset in the file of the number that links to the next volume. */
	uint64_t next_link;
	struct px_log_tail tail;

	uint64_t cached;     /* bytes written since the last advice about the page cache */
	uint64_t cache_step; /* number of bytes from that advice to the next */

	/* Of a LOOP log: a circular list of its parts, oldest first. */
	struct px_log_part *parts;
	uint32_t first_part, nr_parts, parts_max;
};

PX_INLINE struct px_log_volume *px_log_volume_of(const struct px_log *log, uint64_t position)
{
	return &log->volumes[log->loops ? px_log_volume_number(&log->header, position) : 0];
}

/* descriptor.c */

/* Make a private duplicate of fd, with a high number, and store it in log->fd.  Return 0 or an error number. */
int px_log_take_descriptor(struct px_log *log, int fd);

/* Write bytes to the file.  Return 0 or an error number. */
int px_log_write_all(struct px_log *log, const void *data, size_t size, uint64_t offset);

/*
 * Fill a part of the file with zeros.  Its disk space stays allocated, and a hole of a file in memory stays a hole.
 * Return 0 or an error number.
 */
int px_log_make_zeros(struct px_log *log, uint64_t offset, uint64_t size);

/* Open the file of the log again, for reading.  Return the descriptor, or -1 if that fails. */
int px_log_open_reader(struct px_log *log);

/*
 * Copy a part of the file.  Read it through the descriptor from_fd.  The parts must not overlap.  Return 0 or an error
 * number.
 */
int px_log_copy(struct px_log *log, int from_fd, uint64_t from, uint64_t to, uint64_t size);

/* volume.c */

/* Allocate the memory of nr volumes of this log.  Return NULL if there is none. */
struct px_log_volume *px_log_make_volumes(const struct px_log_header *header, uint32_t nr);
void px_log_free_volumes(struct px_log_volume *volumes);

/* Make the volume empty. */
void px_log_reset_volume(const struct px_log *log, struct px_log_volume *volume);

/* End the volume at the current position.  The next event goes to the beginning of the next volume. */
void px_log_next_volume(struct px_log *log);

/* For a log that does not loop: this volume ends with its last frame.  Compute where the next volume begins. */
void px_log_end_volume(struct px_log *log);

/* Return the object slot of this handle, or NULL. */
struct px_log_context *px_log_find_context(struct px_log_volume *volume, uint32_t handle);

/* Replace the handle of this object slot. */
void px_log_enter_context(const struct px_log *log, struct px_log_volume *volume, uint32_t slot, uint32_t handle);

/* Note that the next write must write this object slot, because is_dirty or is_stale becomes true. */
void px_log_list_change(struct px_log_volume *volume, struct px_log_context *context);

/*
 * Give a thread a name of its own in the image: a process that becomes the same program by exec is another thread, with
 * the same name and tid.  The viewer's menu shows only one of several threads with one name.
 */
void px_log_make_name_unique(struct px_log_volume *volume, struct px_log_context *context);

/* Return the object as the image shows it. */
struct px_object px_log_image_object(const struct px_log_context *context);

/*
 * Return true if the viewer may begin with this entry.  An entry RUNNING, RESUME or SUSPEND may be of the event before
 * or after it, and this event may be overwritten.
 */
bool px_log_is_front(const struct px_txtb_entry *entry);

/* Of a LOOP log: note for a number of entries, from this slot on, that the viewer may not begin with any of them. */
void px_log_forget_fronts(struct px_log_volume *volume, uint32_t slot, uint32_t count);

/* Of a LOOP log: note that this slot has this entry now. */
void px_log_note_front(struct px_log_volume *volume, uint32_t slot, const struct px_txtb_entry *entry);

/*
 * Of a LOOP log: return the first slot, from this one on, with which the viewer may begin.  Return 0 if there is none:
 * then the viewer begins with the first slot.
 */
uint32_t px_log_find_front(const struct px_log *log, const struct px_log_volume *volume, uint32_t slot);

/*
 * Return the offset in the file of the volume that has this position.  In a LOOP log it may be any volume, in other
 * logs only the current one.
 */
uint64_t px_log_volume_at(const struct px_log *log, uint64_t position);

PX_INLINE struct px_log_part *px_log_part(const struct px_log *log, uint32_t i)
{
	return &log->parts[(log->first_part + i) % log->parts_max];
}

/*
 * Record a new frame of a LOOP log.  *part describes it.  If the frame begins a chapter, add *part to the list of
 * parts.  If the frame continues a chapter, or the list is full, add the events of the frame to the newest part.  If
 * the list is empty, always add *part.
 */
void px_log_add_part(struct px_log *log, const struct px_log_part *part, bool begins);

/*
 * Remove the parts that the log must discard before it writes up to position `end`.  These parts have entries before
 * position end - capacity, or frames of the previous round before offset frame_end.  Return the number of their events.
 */
uint64_t px_log_drop_parts(struct px_log *log, uint64_t end, uint64_t frame_end);

/* contexts.c */

/* Fill in an object with the data that the tables of threads and calls have for its handle. */
void px_log_describe(const struct px_log *log, uint32_t handle, struct px_log_object *to);

/* Fill in the object of an object slot again.  The next write puts it into the file. */
void px_log_describe_context(const struct px_log *log, struct px_log_volume *volume,
			     struct px_log_context *context);

/*
 * Find or make the object slot of a handle, for an entry of the stage.  keep: a LOOP log may reuse the slot of an
 * object that no entry from this position on needs.  Return NULL if no slot is free.
 */
struct px_log_context *px_log_place_context(struct px_log *log, struct px_log_volume *volume,
					    uint32_t handle, uint64_t keep);

/* Define an object in the frame, if the chapter does not define it yet.  context: its slot; NULL: none. */
void px_log_define(struct px_log *log, struct px_log_context *context, uint32_t handle);

/* Make an object slot for an event type, if there is a free one. */
void px_log_list_type(struct px_log_volume *volume, uint32_t nr_types, unsigned int id);

/* commit.c */

/* Return true if the image shows an idle CPU after all staged entries are written. */
PX_INLINE bool px_log_is_idle_after_stage(const struct px_log *log)
{
	return log->open != 0 || (log->is_idle && log->nr_staged == 0);
}

/* Read the wall clock, for the next commit. */
void px_log_read_clocks(struct px_log *log, const struct px_log_state *state);

/* Fill in the next commit.  frame_size: size in bytes of the last frame before the commit. */
void px_log_fill_commit(struct px_log *log, const struct px_log_state *state, size_t frame_size);

/*
 * Write the next commit to the file.  First store its checkpoint.  If checkpoint is NULL, use the checkpoint of the
 * previous commit.
 */
int px_log_write_commit(struct px_log *log, struct px_checkpoint *checkpoint);

/* Add the state of the log in memory to this checkpoint, and make it `base` of the checkpoint file. */
void px_log_keep_checkpoint(struct px_log *log, struct px_checkpoint *checkpoint);

/* tail.c */

/* Write the names and descriptions of event types that are new since the last call, for the next commit. */
int px_log_write_names(struct px_log *log);

/* Write the list of modules loaded now, for the next commit. */
int px_log_write_modules(struct px_log *log);

/* Write the wrapper statistics, for the next commit. */
int px_log_write_wrappers(struct px_log *log, double tick_ns);

/* Copy the tail to these offsets of the file.  Read it through from_fd.  Return 0 or an error number. */
int px_log_copy_tail(struct px_log *log, int from_fd, const struct px_log_tail *to);

/* Move the tail to this offset of the file, for the next commit.  Return 0 or an error number. */
int px_log_move_tail(struct px_log *log, uint64_t to);

/* volume_file.c */

/*
 * Write the header of the image of the volume at this offset.  current: the slot of the entry with which the viewer
 * begins.
 */
int px_log_write_header(struct px_log *log, uint64_t offset, uint32_t current);

/* Write the object slots that have changed, and those of new event types, of the volume at this offset. */
int px_log_write_contexts(struct px_log *log, struct px_log_volume *volume, uint64_t offset);
int px_log_write_types(struct px_log *log, struct px_log_volume *volume, uint64_t offset);

/* Create, in the file, the volume that has this position. */
int px_log_begin_volume(struct px_log *log, uint64_t position);

/* write.c */

/* Write the staged entries, and commit them.  Return 0, or the error of the first write that failed. */
int px_log_write_stage(struct px_log *log, const struct px_log_state *state);

/* Undo an unfinished clear: make the entries visible to the viewer again. */
int px_log_show_first(struct px_log *log);

/* Empty the file of a cleared log.  If this fails, the next write tries again. */
int px_log_empty_file(struct px_log *log);

/* cache.c */

/* Call this when memory of the log is allocated. */
void px_log_begin_cache(struct px_log *log);

/* Call this after each write of a stage, with its size in bytes.  It may ask the kernel to free the page cache. */
void px_log_note_written(struct px_log *log, uint64_t size);

/* usual.c */

/* Stage an event if it is a usual one (usual.h).  Return false if it is not; px_log_append() then stages it. */
bool px_log_append_usual(struct px_log *log, const struct px_report *report, const void *data);

/* The next entry begins a frame.  reserved: number of slots at the end of the volume that no event may take. */
void px_log_begin_usual(struct px_log *log, uint32_t reserved);

/* on_cpu.c */

/*
 * Return true if the event does not show that its thread has used the CPU since the last event.  This is so for a
 * scheduling record, for an event of a flush or of no thread, and for START after the stream was stopped: the flush
 * thread starts a stream again that was full.
 */
bool px_log_is_beside(const struct px_log *log, const struct px_record *record);

/*
 * After an event for which px_log_is_beside() is true, a filler gave the time to the last context.  If the next event
 * is of another context, that context has used the CPU since then: give it the time.  *first is the first entry of that
 * event.
 */
void px_log_give_time(struct px_log *log, const struct px_entry *first);

/* Note which thread has the CPU after the event laid out last, and after a scheduling record. */
void px_log_note_running(struct px_log *log, const struct px_record *record,
			 const struct px_translation *translation);
void px_log_note_switch(struct px_log *log, const struct px_record *record);

/* stage.c */

/*
 * Make the translator of calls, and give it the objects that are already in the log.  Return false if there is no
 * memory.
 */
bool px_log_make_translator(struct px_log *log);

/* Stage the fillers before the first event of a volume.  time_ns is the time of that event. */
void px_log_begin_stamps(struct px_log *log, uint64_t time_ns);

/* Stage the last STOP of a full log, if it is missing. */
void px_log_stage_stop(struct px_log *log);

/* log.c */

/* Allocate the memory that a log with this header needs.  Return 0 or ENOMEM. */
int px_log_allocate(struct px_log *log, const struct px_threads *threads);

#endif
