/* SPDX-License-Identifier: MIT */
/*
 * A trace file or an active stream, with the names of its event types and objects.  The tool reads the trace with
 * <trace.h> and <trace_ext.h>.
 */
#ifndef TXTRACE_TRACE_SOURCE_H
#define TXTRACE_TRACE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <trace.h>
#include <trace_ext.h>

#include "../lib/fields/fields.h"
#include "base/map.h"
#include "base/output.h"
#include "trace/calltable.h"
#include "trace/native.h"
#include "trace/type_lines.h"

#define FOREIGN_TYPES 65536 /* the first event id of ThreadX trace buffers */
#define SOURCE_TYPES (FOREIGN_TYPES + 65536) /* all event ids are less than this */
#define CONTEXT_INTERRUPT 0xFFFFFFFFu
#define CONTEXT_INITIALIZE 0xF0F0F0F0u

struct event {
	uint64_t number; /* number of the event in the file, from 0 */
	int64_t time_ns; /* CLOCK_REALTIME, or in a ThreadX buffer, the time since the first event */
	trace_event_id_t type;
	const char *name;
	unsigned int context;
	const char *thread; /* the name of the context */
	int priority;	    /* -1 means unknown */
	unsigned int
		interrupted; /* in an interrupt, the context of the interrupted thread; otherwise 0 */
	unsigned int cpu;
	pid_t pid;
	uint64_t address; /* address of the trace point */
	uint64_t code; /* the address with its program (programs.h); 0: the log does not list its modules */
	uint64_t pthread;
	bool is_truncated;
	size_t size; /* bytes of data */
	const unsigned char *data;

	/* True if the event is a call that the preloaded object recorded in a log (calls.h). */
	bool is_call;
	bool is_made;		/* calls_next() has made this event from an event of the file */
	bool is_over;		/* the event ends a call that waited; reports count the call at its first event */
	const struct event *of; /* if is_made, the event of the file */
	struct txtrace_call call;
	const char *waker;	    /* name of the thread that ended the wait */
	const struct call_row *row; /* the call with the same name as the event type, or NULL */
};

/* Return true if this is a process.  In a merged log, events of no process have the pid 0 of their host. */
static inline bool event_has_process(pid_t pid)
{
	return pid > 0 && pid % TXTRACE_HOST_PIDS != 0;
}

struct source {
	const char *path;
	uint64_t serial; /* no other source of this process has it; never 0 */
	trace_id_t trace;
	struct txtrace_file_info file;
	struct txtrace_machine machine;
	struct px_fields_model model; /* of the machine that recorded the data of user events */
	struct txtrace_loss loss;
	struct posix_trace_status_info status;
	trace_attr_t attr;
	int64_t first_ns; /* time of the first event, valid after the first event was read */
	int64_t base_ns;  /* the source subtracts this from all times, because a ThreadX buffer has no date */
	uint64_t nr_read;
	uint64_t nr_selected; /* number of events that the selection of the command took, in all passes */
	bool is_empty_reported;
	int64_t last_ns; /* time of the event that was read last */
	bool is_live; /* true for an active stream, from source_attach() */
	/* Lost scheduling records, gaps, and gaps without an end, in the events that were read. */
	unsigned long long sched_lost, sched_gaps, sched_open;
	struct map sched_begun;	  /* key: a host; value: 1 if its scheduling records have begun */
	bool sched_has_restarted; /* they began twice on a host */
	bool sched_has_ended;	  /* they ended, but the recording went on */
	bool is_sched_reported;
	bool is_reported; /* no message about missing events is necessary any more */
	bool is_followed; /* source_open_followed() */
	bool is_cut;	  /* a trace buffer whose file was cut, with the entries that it still has */
	const char *task; /* a word such as "reading" for the progress line, or NULL for no progress line */

	struct expansion { /* calls_next() made these events from the last event that it read */
		struct event read, *event;
		int nr, next, room;
		struct lives *lives;
	} * expansion; /* NULL if there are no such events */

	struct programs {
		struct map state_of; /* for a pid */
		struct map first_of; /* for a pid: 1 + its index in first[] */
		struct map program_of; /* in a merged log, for a pid: 1 + the number of its program */
		struct map second_of; /* for a pid: the main thread of the second program that it runs; 0: none */
		/* A process whose modules the log lists, and its main thread in its last program. */
		struct first_process {
			unsigned int number; /* of the origin */
			unsigned int newest;
		} * first;
		size_t nr;
		bool is_merged;
		pid_t last; /* the process of the last event, and what is known of it */
		uint64_t last_first, last_program, last_second;
		bool last_is_other;
	} programs;

	struct source_origins { /* origins.h */
		bool is_loaded;
		struct txtrace_origin *origin;
		size_t nr;
		const char **name; /* of each host */
		unsigned int nr_hosts;
	} origins;

	struct map by_handle; /* values are pointers to objects; if is_live, each object has its own allocation */
	size_t nr_objects;
	struct txtrace_object *objects; /* the objects in the order of the file; NULL if is_live */
	struct source_type {
		char *name; /* NULL until the name is known */
		const struct call_row *row;
		struct source_fields *fields; /* payload.c; NULL until they are needed */
		bool is_held;
		uint32_t next_held;
	} * type;
	/* The types of type[] that have something to free, as a chain that ends with SOURCE_TYPES.  The table has 4 MB,
	 * and most of its pages are never touched. */
	uint32_t first_held;
	struct map by_address,
		by_tid; /* values are 1 + index in objects[]; both maps are filled at the first use */
	/*
	 * Tids that several threads had, one after the other: the value is 1 + the index of the thread that has it at
	 * the last event, or 1 + nr_objects if this is not known.
	 */
	struct map reused_tids;
	unsigned char *data;
	size_t data_size;
	struct symbols *symbols; /* source_symbols() */
	struct type_lines type_lines; /* from the file beside the trace */
};

/* A type of type[] that gets a name or fields. */
struct source_type *source_hold_type(struct source *source, trace_event_id_t type);

/*
 * Open a file.  tick_ns is the tick of a ThreadX trace buffer.  If tick_ns is 0, use the tick in the file, or 1000 if
 * the file has none.  If this fails, print a message and return NULL.  The caller closes the source with
 * source_close().
 */
struct source *source_open(const char *path, double tick_ns);
/* Do the same as source_open(), but ignore tick_ns if the file is not a ThreadX trace buffer. */
struct source *source_open_mixed(const char *path, double tick_ns);
/* Do the same as source_open(), but print no message about the state of the file, or about what it lacks. */
struct source *source_open_quiet(const char *path, double tick_ns);

/*
 * Open a log that another process may be writing.  source_refresh() then reads the later events.  The caller reports
 * missing events.
 */
struct source *source_open_followed(const char *path);

/*
 * Make the events readable that were written to the log since it was opened or refreshed.  source->file has the new
 * facts.  *is_running: false if no more will be written.  Return 0 or an error number.
 */
int source_refresh(struct source *source, int *is_running);

/*
 * If the file is a log that is being written, write its present events into a file in memory.  Return its descriptor,
 * or -1 if it is no such log.
 */
int source_copy_running(const char *path);

/* If the output file is the trace itself, print a message and return true. */
bool source_would_be_lost(const char *path, const char *output);

void source_close(struct source *source);

/*
 * Return a source for an active stream that this process controls.  source_close() shuts the stream down.  Read it with
 * source_wait().  The source learns about a thread from the first event of the thread.  The members file, loss and
 * status stay empty.
 */
struct source *source_attach(trace_id_t trace);

/* Read the next event of an active stream.  Return false if there is none within wait_ms milliseconds. */
bool source_wait(struct source *source, struct event *event, int wait_ms);

/*
 * Read the next event.  Its texts and data are valid until the following call.  Return false after the last event.  If
 * task is set, also show the progress.  The progress line ends with the last event, or when the source is closed or
 * rewound.
 */
bool source_next(struct source *source, struct event *event);
void source_rewind(struct source *source);

/*
 * Skip events that are earlier than a time: the next event is the first that is not, or one shortly before it.  Call
 * this after the first event was read.  The member `code` of the later events is not valid, because it depends on the
 * skipped ones.  Return false, and skip nothing, if the file has no parts to skip, or if several threads had the same
 * tid: then only the earlier events show which thread has it.
 */
bool source_go(struct source *source, int64_t time_ns);

/*
 * Counts of unnamed events.  Such an event has no thread or object, because the tables of the log had no room for more
 * threads and objects.
 */
struct source_unnamed {
	uint64_t nr_events; /* number of events without a thread */
	uint64_t first;	    /* number of the first event without a thread */
	uint64_t nr_calls;  /* number of calls without their object */
	uint64_t first_call;
};

/*
 * Count the unnamed events.  If the tables were never full, the function reads only the objects.  Otherwise it reads
 * all events.  Call it before the first source_next(), or rewind the source afterwards.
 */
struct source_unnamed source_count_unnamed(struct source *source);

/* Report the unnamed events.  Return false if there are no such events. */
bool source_report_unnamed(struct source *source);

/* If the file is damaged, report how many of its events are whole.  If it is being written, report that. */
void source_report_state(struct source *source);

/* Return how many events could not be read.  Call this when all events are read. */
uint64_t source_missing(const struct source *source);

/* Report the events that could not be read.  Call this when all events are read. */
void source_report_missing(struct source *source);

/* Note a gap, the beginning or the end of scheduling records, from an event that tells it. */
void source_note_sched(struct source *source, const struct event *event);

/* Say once how many scheduling records the kernel lost.  source_next() calls this function after the last event. */
void source_report_sched(struct source *source);

/* Return why the log lacks its last events, as a sentence part for people; NULL: it lacks none, or is no log. */
const char *source_incomplete(const struct source *source);

#define SOURCE_LOSS_BYTES 320
/*
 * Write which events came to the log and are not in it, and why, as a sentence part for people.  Return false if there
 * are none.
 */
bool source_log_loss(struct source *source, char *text, size_t size);

/* Return true if the file may lack more events than source_nr_lost() tells, because nobody counted them. */
bool source_loss_is_least(struct source *source);

/* Return the number of lost events, of the stream and of the log, as far as they were counted. */
uint64_t source_nr_lost(const struct source *source);

/*
 * Return true if the log lacks all events of all threads from this event to the next one, also scheduling records.  If
 * the stream lost events, these are not among them.
 */
static inline bool source_is_hole(const struct event *event)
{
	return event->type == POSIX_TRACE_OVERFLOW && event->size > 0;
}

/* Report lost and unnamed events.  Call this before any output, so that users know that the trace is incomplete. */
void source_report_losses(struct source *source);

/* Return the object with this handle, or NULL. */
const struct txtrace_object *source_object(const struct source *source, unsigned int handle);

/*
 * Return the name of an object type, such as "mutex".  A log uses the type of a TCP socket for stream sockets of every
 * family, and that of a UDP socket for all others.
 */
const char *source_object_type(const struct source *source, int type);

/* Return the object of a process that calls used with this address or descriptor, or NULL. */
const struct txtrace_object *source_object_at(struct source *source, pid_t pid, uint64_t address);
/* Return the thread with this tid, or NULL. */
const struct txtrace_object *source_thread(struct source *source, pid_t tid);

/* Return the symbols of the modules that a log lists, or NULL for a live stream or a ThreadX trace buffer. */
struct symbols *source_symbols(struct source *source);

/* Return the name of an event type. */
const char *source_type_name(struct source *source, trace_event_id_t type);

/* If calls_next() adds events of this type, return the name of the type.  Return NULL for any other type. */
const char *source_synthesized_name(trace_event_id_t type);

/*
 * Return the name of a context: the name of a thread, "interrupt", or the like.  The name is valid for three more
 * calls.
 */
const char *source_context_name(const struct source *source, unsigned int context);

/* Return ThreadX's id of the event, or of the call in a log.  Return 0 for a user event. */
unsigned int event_native(const struct event *event);

/*
 * Return information word i, 0 to 3, from the first 16 bytes of the data.  For a call, return the word that ThreadX
 * would have recorded.
 */
uint32_t event_word(const struct event *event, int i);

/* Return the name of a full policy, such as "loop".  The options of record have the same names. */
const char *policy_name(int policy);

#endif
