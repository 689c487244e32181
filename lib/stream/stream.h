/* SPDX-License-Identifier: MIT */
/*
 * A stream as its controller has it: segment, registry slot, reader, and the state machine of a
 * stream (posixtrace(7), States).
 *
 *	STOPPED --start--> RUNNING --stop--> STOPPED
 *	RUNNING --no room--> AUTO_FULL (by the writer; restart armed)		bounded streams only
 *	AUTO_FULL --half of every ring free, armed--> RUNNING			by the reader
 *	AUTO_FULL --stop--> AUTO_FULL, disarmed;  --start--> armed, or RUNNING if there is room again
 *	AUTO_FULL --clear--> STOPPED
 *	any --shutdown--> ENDED
 *
 * "Full" is computed from the rings at the moment it is asked for.
 *
 * The handle's lock (handle.h) protects a stream: functions here are called with it held, but for
 * create, free, and the end of a stream that has no identifier yet.  Writers are not concerned by
 * it.
 */
#ifndef PX_STREAM_STREAM_H
#define PX_STREAM_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/attr.h"
#include "log/checkpoint.h"
#include "log/log.h"
#include "registry/shared_names.h"
#include "ring/wakeup.h"
#include "stream/reader.h"

/* Who made a control call, for START, STOP, FILTER and FLUSH_* (INFO-4, INFO-9). */
struct px_caller {
	void *address;
};

/* What a stream with log has besides; all zero without. */
struct px_logging {
	struct px_log *log;
	struct px_checkpoint_file *checkpoint_file; /* as long as there is a log */
	struct px_checkpoint *checkpoint;	    /* memory for px_stream_log_state() */
	void *data;		    /* of an event on its way */
	bool is_flushing;	    /* one thread has the log, and may use it without the lock */
	bool is_suspended;	    /* the log is full, so nothing is recorded (LOGP-6) */
	bool log_is_full;	    /* as of the last look at the log, like the next */
	uint64_t nr_lost;
	uint64_t nr_lost_told; /* as overrun */
	int flush_error;       /* the first since it was told */
	uint64_t heads;	       /* px_view_heads() as far as they are flushed, or of a flush */
	uint64_t waiting_ns;   /* CLOCK_MONOTONIC when more was first seen; 0: nothing is */
	pthread_t flusher;
	bool has_flusher;
	struct px_namer namer; /* of the objects of calls */
};

struct px_stream {
	struct px_view view;
	struct px_attr attr; /* as really used */
	struct px_reader reader;
	uint32_t index;		      /* in the registry ... */
	uid_t owner;		      /* ... of this user: */
	struct px_registry_slot slot; /* what was written there, which may not be there any more */
	struct px_process_id target;
	bool is_self;		     /* the target is this process */
	struct px_shared_names_ref shared_names; /* the target's names */
	uint32_t next_type;	     /* of the event type list: an id */
	uint32_t next_wrapper;	     /* of the list of wrappers */
	uint64_t dropped_base;	     /* drops before the last clear */
	uint64_t given_up_base;	     /* likewise */
	uint64_t dropped_told;	     /* as overrun */
	uint64_t dropped_started;    /* at the last start */
	uint64_t start_counter;	     /* of the last START */
	bool was_overrun;	     /* since create or clear (STATUS-8) */
	struct px_logging logging;
};

struct px_status {
	bool is_running;
	bool is_full;
	bool is_overrun;
	bool is_flushing;
	bool log_is_full;
	bool log_is_overrun;
	int flush_error;
};

/*
 * Make a stream for the process pid, with a log in the file behind log_fd, or without: -1.  pid 0 is the
 * caller.  attr NULL: the defaults.  ESRCH, EPERM (px_target_find()), EAGAIN (PX_STREAMS_MAX exist), what
 * px_registry_of_open() says, EINVAL, ENOMEM, or why there is no shared memory (px_process_init()); with log
 * what px_log_create() says.  On failure no stream is left behind.
 */
int px_stream_create(pid_t pid, const struct px_attr *attr, int log_fd, struct px_stream **stream);

/*
 * End it: trace points and sleeping readers are told; registry slot, bequest and segment's name go.  But where there
 * still is a log, since a flush goes on and the process ends, bequest and segment stay, for who completes it.
 */
void px_stream_end(struct px_stream *stream);

/* Free what is left of an ended stream.  No reader may sleep on it any more. */
void px_stream_free(struct px_stream *stream);

/*
 * In a child made by fork: give back what it has of the shared memory of its parent's stream, and the descriptor of its
 * log.  Who was interrupted in the middle of a call, and goes on in the child, harms nobody; nor does a second time.
 */
void px_stream_drop(struct px_stream *stream);

void px_stream_start(struct px_stream *stream, const struct px_caller *caller);
void px_stream_stop(struct px_stream *stream, const struct px_caller *caller);

/* The log's file is emptied by px_flush_clear(). */
void px_stream_clear(struct px_stream *stream);

/*
 * Record FLUSH_START or FLUSH_STOP, if the stream runs or will go on by itself (FLOP-5).  False if it did
 * not; else *counter is the event's.
 */
bool px_stream_mark_flush(struct px_stream *stream, uint32_t id, const struct px_caller *caller,
			  uint64_t *counter);

/* An automatic flush failed (SYSEV-8). */
void px_stream_mark_error(struct px_stream *stream, int error);

/* The log is full: record nothing any more (LOGP-6).  True if the filter lets STOP pass. */
bool px_stream_suspend(struct px_stream *stream);

void px_stream_get_filter(const struct px_stream *stream, struct px_eventset *set);
void px_stream_set_filter(struct px_stream *stream, const struct px_eventset *set,
			  const struct px_caller *caller);

/* A consistent snapshot; the overrun is told once (STATUS-1, STATUS-2). */
void px_stream_status(struct px_stream *stream, struct px_status *status);

/* Events lost since create or clear. */
void px_stream_loss(struct px_stream *stream, struct px_loss *loss);

/* The length of a tick of its counter, as far as the anchors tell. */
double px_stream_tick_ns(const struct px_stream *stream);

/*
 * What a log keeps of it, with the next commit; also its checkpoint, in memory of the stream.  in_hand: the last
 * event that px_stream_next() gave is not laid out yet.
 */
void px_stream_log_state(struct px_stream *stream, bool in_hand, struct px_log_state *state);

/*
 * The checkpoint is in the log, or what was to go with it is lost: frees the space of what stands before it, which
 * may start a full stream again.  is_empty: px_stream_next() had nothing more.
 */
void px_stream_release(struct px_stream *stream, const struct px_checkpoint *checkpoint,
		       bool is_empty);

/*
 * A stream whose controller is dead, for its log: at the checkpoint `base`.  The bequest stays the caller's.  EINVAL:
 * segment and bequest do not go together, or are damaged.
 */
int px_stream_resume(struct px_checkpoint_file *checkpoint_file, struct px_stream **stream);

/*
 * Let nobody write to it any more, and settle whether a STOP is due, in bequest->file->stop_counter, so that whoever
 * does this next finds it settled.
 */
void px_stream_stop_dead(struct px_stream *stream);

/* The STOP that is due, once: false if it is in the log, or none is due. */
bool px_stream_last_stop(struct px_stream *stream, struct px_report *report);

/* The end of a stream that was resumed, but for its files; then px_stream_free(). */
void px_stream_end_dead(struct px_stream *stream);

/* The next event; frees its space, unless there is a log, which may start a full stream again. */
enum px_next px_stream_next(struct px_stream *stream, void *data, size_t capacity,
			    struct px_report *report);

/* The flag on which readers of this stream sleep. */
uint32_t *px_stream_waiting(const struct px_stream *stream);

/* About to sleep there: if px_stream_next() has nothing after this, somebody will wake us. */
void px_stream_prepare_wait(const struct px_stream *stream, enum px_waiting what);

/*
 * The event type number *i of the list, or PX_EVENT_NONE behind its end (TYPELIST-4): the predefined ones, then
 * the others in the order in which they were opened.  Passes over places of the list that hold none.
 */
unsigned int px_stream_type(const struct px_stream *stream, uint32_t *i);

/* Add to its list what the processes that it traces have opened, as far as that is to be found. */
void px_stream_list_types(const struct px_stream *stream);

/* Open an event type for all that are traced (TRIDOPEN-1): 0, ENOMEM or ENAMETOOLONG. */
int px_stream_open_type(struct px_stream *stream, const char *name, unsigned int *id);

/* The name of one of them, or EINVAL. */
int px_stream_type_name(const struct px_stream *stream, unsigned int id,
			char name[PX_NAME_MAX + 1]);

/* The next event type of the list.  False at its end. */
bool px_stream_next_type(struct px_stream *stream, unsigned int *id);

void px_stream_rewind_types(struct px_stream *stream);

#endif
