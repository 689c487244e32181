/* SPDX-License-Identifier: MIT */
/*
 * A reader of TXTB trace buffers that finds what the viewer (TraceX) shows.  It was written from the description of the
 * viewer's algorithm, and uses no code of lib/: so the library and the checker agree only if both are right.  It
 * accepts any bytes.  If the viewer refuses a file, the checker refuses it for the same reason.  Otherwise it returns
 * the registry, the threads and the events, in the viewer's order and on its time axis.  It reports a warning if the
 * viewer accepts something but shows it wrong.
 */
#ifndef PX_TESTS_SUPPORT_TXTB_CHECKER_H
#define PX_TESTS_SUPPORT_TXTB_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum txtb_verdict {
	TXTB_ACCEPTED = 0,
	TXTB_NO_ID,	   /* too short for an id */
	TXTB_BAD_ID,	   /* not TXTB in either byte order */
	TXTB_BAD_HEADER,   /* incomplete, or names of more than 63 bytes */
	TXTB_BAD_REGISTRY, /* its end is not after its beginning */
	TXTB_CUT_REGISTRY, /* incomplete */
	TXTB_BAD_BUFFER,   /* its end is not after its beginning, or its length is 128 MiB or more */
	TXTB_CUT_BUFFER,   /* the file ends before all slots are read, and before an unused one */
	TXTB_NO_MEMORY	   /* an error of the checker, not of the viewer */
};

enum txtb_warning {
	TXTB_SLACK_IN_REGISTRY = 1 << 0, /* bytes after the last complete object shift the events */
	TXTB_HANDLE_TWICE = 1 << 1,	 /* two objects with one handle */
	TXTB_HANDLE_RESERVED = 1 << 2,	 /* a thread that the viewer regards as idle, INIT or INT */
	TXTB_CONTEXT_UNNAMED = 1 << 3,	 /* events of a thread that is not in the registry */
	TXTB_CONTEXT_NO_THREAD = 1 << 4, /* the first match is no thread, so each event makes a new thread */
	TXTB_NAME_LOST = 1 << 5,	 /* first byte not printable: "Non-ASCII Name" */
	TXTB_NAME_AWKWARD = 1 << 6,    /* parentheses, an underscore, or bytes that are not ASCII */
	TXTB_NAME_TWICE = 1 << 7,      /* another object with the same name hides it in a menu */
	TXTB_MASK_ODD = 1 << 8,	       /* time mask is not 2^n - 1 */
	TXTB_TIME_FALLS = 1 << 9,      /* the vote says that stamps do not rise */
	TXTB_TIME_STEPS_BACK = 1 << 10 /* a step against this direction, which the viewer regards as a wrap */
};

#define TXTB_NAME_BYTES 64
#define TXTB_INTERRUPT 0xFFFFFFFFu
#define TXTB_INITIALIZE 0xF0F0F0F0u
#define TXTB_NO_THREAD UINT32_MAX

struct txtb_object {
	uint8_t available;
	uint8_t type; /* 1: a thread; unused entries (0) are left out */
	uint32_t handle;
	uint32_t parameter1;
	uint32_t parameter2;
	uint32_t priority; /* UINT32_MAX: not known */
	char name[TXTB_NAME_BYTES];
	uint64_t nr_events; /* of a thread */
};

struct txtb_event {
	uint32_t context;
	uint32_t priority;  /* of a thread: 0 ... 1023; otherwise the raw word */
	uint32_t threshold; /* UINT32_MAX: not known */
	uint32_t id;	    /* 16 bits */
	uint32_t raw_id;
	uint32_t stamp; /* with the mask */
	uint32_t info[4];
	uint64_t ticks;	 /* since the first event */
	uint32_t slot;	 /* where it stands in the image */
	uint32_t object; /* its thread, an index into objects; TXTB_NO_THREAD in INIT and INT */
};

struct txtb_trace {
	bool big_endian;
	uint32_t time_mask;
	uint32_t name_size;
	uint32_t nr_registry_slots;
	uint32_t nr_event_slots;
	uint64_t nr_bytes;	 /* number of used bytes of the file */
	uint32_t nr_up, nr_down; /* the vote on the direction of time */
	uint32_t nr_steps_back;
	uint32_t warnings; /* enum txtb_warning */
	uint32_t nr_objects;
	struct txtb_object
		*objects; /* as registered; after them, threads that the viewer adds */
	uint32_t nr_registered;
	uint32_t nr_events;
	struct txtb_event *events;
};

/* Read the image.  The caller must free the trace, whatever the verdict is. */
enum txtb_verdict txtb_check(const void *bytes, size_t size, struct txtb_trace *trace);
void txtb_free(struct txtb_trace *trace);

const char *txtb_verdict_name(enum txtb_verdict verdict);

/* Return the first object with this handle, of any type, as the viewer finds it; NULL if there is none. */
const struct txtb_object *txtb_find(const struct txtb_trace *trace, uint32_t handle);

#endif
