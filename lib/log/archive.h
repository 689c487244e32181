/* SPDX-License-Identifier: MIT */
/*
 * A pre-recorded stream: a file that is read like a stream.
 *
 * Two kinds of files come as one thing: logs of this library, through the POSIX section behind
 * their images (archive_log.h), and any other trace buffer of ThreadX, through the image alone
 * (archive_txtb.h).  A kind puts struct px_archive first in a structure of its own.
 *
 * Everything in a file is hostile input.  Reading uses large preads on a private duplicate of the
 * descriptor, so a file that is cut meanwhile is an end and not a signal, and memory is the same
 * for any size, except that a text is first converted, in memory.  Opening costs as much as the
 * registry, not as the events, except where a file cannot be read otherwise (text, and the time
 * scale of a foreign file, which is found out at the first look at an event).
 *
 * The caller locks (handle.h).
 */
#ifndef PX_LOG_ARCHIVE_H
#define PX_LOG_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/attr.h"
#include "event/names.h"
#include "ring/report.h"
#include "ring/wrapper_stats.h"

/* An object of the registry, as the file has it. */
struct px_archive_object {
	uint32_t handle;
	uint32_t type;
	uint32_t priority; /* of a thread; UINT32_MAX: not told */
	uint32_t pid;	   /* 0: not told */
	uint32_t tid;
	bool is_released; /* the slot may be used again */
	uint32_t parameter[2];
	uint64_t address; /* of the object of a call, or its descriptor; 0: not told */
	uint64_t site;	  /* from where it was first called */
	char name[PX_OBJECT_NAME_SIZE]; /* the exact name where the file has it; ends in a null */
};

/* What the image has for a call. */
struct px_archive_call {
	uint32_t flags;	 /* enum px_record_flags */
	uint32_t native; /* 0: it is shown as a user event */
	uint32_t word[4];
	uint32_t state;
	uint32_t object; /* handles; 0: none, or not told */
	uint32_t waker;
};

/* How the stream was when it was completed; sticky overruns (STATUS-8). */
struct px_archive_status {
	bool is_full;
	bool is_overrun;
	bool log_is_full;
	bool log_is_overrun;
	int flush_error;
};

/* What is known of the file as such. */
struct px_archive_info {
	bool is_foreign;
	bool is_swapped;   /* in the other byte order */
	bool is_complete;  /* false: its writer died before it ended the log, */
	bool is_recovered; /* true: and somebody else has ended it */
	bool was_text;	   /* Intel HEX, S-record, hex */
	double tick_ns;	   /* of the image */
	uint32_t time_mask;
	uint32_t name_size;
	uint32_t nr_registry_slots;
	uint32_t nr_volumes;
	uint64_t nr_entry_slots; /* of all volumes; 0: no bound */
	uint64_t nr_entries;	 /* in use, fillers included */
	uint64_t nr_shortened;	 /* gaps in time that the image shows too short */
	uint64_t shortened_ns;	 /* together */
};

struct px_archive;

struct px_archive_kind {
	/* PX_NEXT_EVENT or PX_NEXT_NONE; the record's counter is not used. */
	enum px_next (*next)(struct px_archive *archive, void *data, size_t capacity,
			     struct px_report *report);
	void (*rewind)(struct px_archive *archive);
	/* Event type number i; PX_EVENT_NONE behind the last. */
	unsigned int (*type)(struct px_archive *archive, uint32_t i);
	/* 0, or EINVAL: no such type in this file. */
	int (*type_name)(struct px_archive *archive, unsigned int id, char name[PX_NAME_MAX + 1]);
	/* The call that was reported from this place; false: it was none. */
	bool (*call)(struct px_archive *archive, uint64_t place, struct px_archive_call *call);
	/* Wrapper number i; false behind the last. */
	bool (*wrapper)(struct px_archive *archive, uint32_t i, struct px_wrapper_sum *sum);
	/* Registry slot number i; type PX_TXTB_UNUSED: nothing is in it.  False behind the last. */
	bool (*object)(struct px_archive *archive, uint32_t i, struct px_archive_object *object);
	/* What the writer had loaded (modules.h), as far as size goes; returns the length of all of it. */
	size_t (*modules)(struct px_archive *archive, char *text, size_t size);
	/* Set the length of a tick; EINVAL where the file says it itself. */
	int (*set_tick)(struct px_archive *archive, double ns);
	/* Facts that take a look at all events to know are in archive->info and ->attr afterwards. */
	void (*complete_info)(struct px_archive *archive);
	void (*free)(struct px_archive *archive); /* closes the descriptor too */
};

struct px_archive {
	const struct px_archive_kind *kind;
	struct px_attr attr;
	struct px_archive_status status;
	struct px_loss loss;
	struct px_archive_info info;
	uint32_t next_type; /* cursors of the lists */
	uint32_t next_object;
	uint32_t next_wrapper;
};

/*
 * Open the file behind fd, which stays the caller's.  EINVAL: not readable, not seekable, not a
 * trace, of another kind of machine, or a log that is still written.  ENOMEM, EMFILE.
 */
int px_archive_open(int fd, struct px_archive **archive);

#endif
