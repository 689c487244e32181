/* SPDX-License-Identifier: MIT */
/*
 * A pre-recorded stream: a file that is read like a stream.
 *
 * There are two kinds.  For a log of this library, the reader uses the POSIX section after each image (archive_log.h).
 * Any other trace buffer of ThreadX has only the image (archive_txtb.h).  Each kind has its own structure, whose first
 * member is struct px_archive.
 *
 * The reader treats everything in a file as hostile input.  It reads large blocks with pread() from a private duplicate
 * of the descriptor.  So if another process truncates the file, the reader finds fewer events, and no signal occurs.
 * The reader needs the same amount of memory for files of all sizes.  A text file is the exception: the reader first
 * converts the whole text in memory.  px_archive_open() reads the events of two kinds of file only: of a text, and of a
 * trace buffer of ThreadX that is too short for its slots.  To compute the times of a trace buffer of ThreadX, the
 * reader must scan all its events.  It makes this scan when it first needs an event.
 *
 * The caller holds the lock of the identifier (handle.h).
 */
#ifndef PX_LOG_ARCHIVE_H
#define PX_LOG_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/attr.h"
#include "event/descriptions.h"
#include "event/names.h"
#include "fields/fields.h"
#include "log/clocks.h"
#include "log/origins.h"
#include "ring/report.h"
#include "ring/wrapper_stats.h"

/* An object in the object registry of the file. */
struct px_archive_object {
	uint32_t handle;
	uint32_t type;
	uint32_t priority; /* priority of a thread; UINT32_MAX: the file does not have it */
	uint32_t pid;	   /* pid of its process; 0: the file does not have it */
	uint32_t tid;
	bool is_released; /* the object does not exist any more */
	uint32_t parameter[2];
	uint64_t address; /* address or file descriptor of the object of a call; 0: unknown */
	uint64_t site;	  /* code address of the first call that used the object */
	/* Exact name if the file has it, otherwise the name in the image; ends in a null byte. */
	char name[PX_OBJECT_NAME_SIZE];
};

/* A call as it appears in the image. */
struct px_archive_call {
	uint32_t flags;	 /* values of enum px_record_flags */
	uint32_t native; /* number of the native event; 0: a user event */
	uint32_t word[4];
	uint32_t state;
	uint32_t object; /* handles of the object and of the waker; 0: none, or unknown */
	uint32_t waker;
};

/*
 * The status of the stream at its end.  The overrun flags are true if at least one overrun has happened since create or
 * clear (STATUS-8).
 */
struct px_archive_status {
	bool is_full;
	bool is_overrun;
	bool log_is_full;
	bool log_is_overrun;
	int flush_error;
};

/* Properties of the file. */
struct px_archive_info {
	bool is_foreign;
	bool is_merged;	   /* the log was made of others; each of its origins has its own modules */
	bool is_swapped;   /* the file has the byte order of another kind of machine */
	struct px_fields_model model; /* of the machine that wrote the file */
	char machine[24];	      /* name of its architecture; "": not known */
	bool is_complete;  /* false: the writer died before it completed the log */
	bool is_recovered; /* another process completed the log */
	bool was_text;	   /* the file was Intel HEX, S-record or hex text */
	double tick_ns;	   /* length of a tick of the image */
	uint32_t time_mask;
	uint32_t name_size;
	uint32_t nr_registry_slots;
	uint32_t nr_volumes;
	uint64_t nr_entry_slots; /* entry slots of all volumes; 0: the log has no limit */
	uint64_t nr_entries;	 /* number of entries in use, including fillers */
	uint64_t nr_unlisted;	 /* number of entries that name an object without an object slot */
	/* Number of time gaps that are shorter in the image than in reality. */
	uint64_t nr_shortened;
	uint64_t shortened_ns; /* total time that is missing in these gaps */
	bool is_running;	 /* the writer of the log lives */
	bool is_damaged;	 /* opened because of PX_ARCHIVE_DAMAGED */
	bool lost_section;	 /* the log is damaged, and only its image is left */
	uint32_t target_pid;	 /* pid of the target of the log's stream */
	uint64_t serial;	 /* serial of the log's commit */
	uint32_t format;	 /* PX_LOG_VERSION of its writer; 0: not a log */
	uint64_t size;		 /* bytes of the file */
	uint64_t whole_size;	 /* bytes of the file if no part is missing; 0: unknown */
	uint64_t nr_events;	 /* number of events, as counted by the writer; 0: unknown */
	uint64_t nr_missing; /* number of events that the reader skipped because it could not read them */
	uint64_t nr_lost;    /* number of events that the log lost, as counted by the writer */
};

struct px_archive;

struct px_archive_kind {
	/* Return PX_NEXT_EVENT or PX_NEXT_NONE.  The caller must not use the counter of the record. */
	enum px_next (*next)(struct px_archive *archive, void *data, size_t capacity,
			     struct px_report *report);
	void (*rewind)(struct px_archive *archive);
	/* Return event type number i, or PX_EVENT_NONE after the last type. */
	unsigned int (*type)(struct px_archive *archive, uint32_t i);
	/* Return 0, or EINVAL if the file has no such type. */
	int (*type_name)(struct px_archive *archive, unsigned int id, char name[PX_NAME_MAX + 1]);
	/* Copy the description of a type (event/descriptions.h).  Return its length; 0: there is none. */
	size_t (*description)(struct px_archive *archive, unsigned int id, char text[PX_FIELDS_TEXT_MAX]);
	/* Get the call at this px_report.place.  Return false if the event is not a call. */
	bool (*call)(struct px_archive *archive, uint64_t place, struct px_archive_call *call);
	/* Get the statistics of wrapper number i.  Return false after the last wrapper. */
	bool (*wrapper)(struct px_archive *archive, uint32_t i, struct px_wrapper_sum *sum);
	/* Get object slot number i.  An empty slot has type PX_TXTB_UNUSED.  Return false after the last slot. */
	bool (*object)(struct px_archive *archive, uint32_t i, struct px_archive_object *object);
	/* Copy at most size bytes of the target's list of modules (modules.h); return its full length. */
	size_t (*modules)(struct px_archive *archive, char *text, size_t size);
	/*
	 * Set the length of a tick.  Return 0, or EINVAL if ns is out of range, or if the file itself defines the
	 * length.
	 */
	int (*set_tick)(struct px_archive *archive, double ns);
	/*
	 * Take what was committed to a log since it was opened or since the last call, and set info->is_running.  NULL:
	 * the file is not a log.  Return 0, ENOMEM, or EINVAL if the file is another one now.
	 */
	int (*extend)(struct px_archive *archive);
	/*
	 * Go to the first event of part number i of the file.  Store the number of events before it, and about its
	 * time. Return false, and go nowhere, if there is no such part.  NULL: the parts of the file are not known.
	 */
	bool (*go)(struct px_archive *archive, uint32_t i, uint64_t *nr_before, uint64_t *about_ns);
	/* Fill in the members of archive->info and ->attr for which all events must be read. */
	void (*complete_info)(struct px_archive *archive);
	void (*free)(struct px_archive *archive); /* this function also closes the descriptor */
};

struct px_archive {
	const struct px_archive_kind *kind;
	struct px_attr attr;
	struct px_archive_status status;
	struct px_loss loss;
	struct px_archive_info info;
	/* Where a write of the log failed, report the gap as an overflow of the log.  The opener may set this. */
	bool tells_losses;
	struct px_log_clocks clocks;
	struct px_descriptions *described; /* by px_archive_describe(); NULL: none */
	struct px_origins origins; /* of a log: at least one; of a log that is not merged: one without modules */
	uint32_t next_type; /* number of the next item of each list */
	uint32_t next_object;
	uint32_t next_wrapper;
};

/* What px_archive_open() may open besides complete files. */
enum px_archive_flags {
	PX_ARCHIVE_RUNNING = 1, /* open a log that is being written: read its committed events */
	PX_ARCHIVE_DAMAGED = 2	/* open a log that was cut or damaged: read its undamaged parts */
};

/*
 * Open the file of fd.  The caller keeps fd.  Return 0, ENOMEM, EMFILE or EINVAL.  EINVAL means that the
 * file is not readable, not seekable, no trace, from another kind of machine, or, without a flag for it, still being
 * written or damaged.
 */
int px_archive_open(int fd, unsigned int flags, struct px_archive **archive);

/*
 * Replace the description of a type of a log, for readers of this archive.  Return 0, EINVAL if this is not a log or
 * has no such type of user events, EEXIST if the description was replaced by another one before, ENOMEM or ENOSPC.
 */
int px_archive_describe(struct px_archive *archive, unsigned int id, const char *text, size_t length);

/* Copy the description of a type: the one that replaces that of the file, if there is one.  Return its length, or 0. */
size_t px_archive_description(struct px_archive *archive, unsigned int id, char text[PX_FIELDS_TEXT_MAX]);

#endif
