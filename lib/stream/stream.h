/* SPDX-License-Identifier: MIT */
/*
 * A stream in its controller: the segment, the registry slot, the reader, and the state machine (see "States" in
 * posixtrace(7)).
 *
 *	STOPPED --start--> RUNNING --stop--> STOPPED
 *	RUNNING --no room--> AUTO_FULL (by the writer; restart armed)		bounded streams only
 *	AUTO_FULL --half of every ring free, armed--> RUNNING			by the reader
 *	AUTO_FULL --stop--> AUTO_FULL, disarmed;  --start--> armed, or RUNNING if there is room again
 *	AUTO_FULL --clear--> STOPPED
 *	any --shutdown--> ENDED
 *
 * "Full" is not a state: px_stream_status() finds out from the rings whether a stream is full.  auto_stop.h has the
 * states of the automatic STOP.
 *
 * The lock of the identifier (handle.h) protects a stream.  The caller of a function here holds that lock.  Exceptions:
 * px_stream_create(), px_stream_free(), and calls for a stream that has no identifier.  Threads that record events do
 * not take the lock.
 */
#ifndef PX_STREAM_STREAM_H
#define PX_STREAM_STREAM_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/attr.h"
#include "log/checkpoint.h"
#include "log/log.h"
#include "registry/shared_names.h"
#include "ring/wakeup.h"
#include "sched/cpu_times.h"
#include "sched/sched.h"
#include "stream/reader.h"

/*
 * The address from which the application called a control function.  START, STOP, FILTER and FLUSH_* record it (INFO-4,
 * INFO-9).
 */
struct px_caller {
	void *address;
};

/* Members that only a stream with log uses. */
struct px_logging {
	struct px_log *log;
	struct px_checkpoint_file *checkpoint_file; /* exists as long as there is a log */
	struct px_checkpoint *checkpoint;	    /* memory for px_stream_log_state() */
	/* data of the event that is on its way from the reader to the log */
	void *data;
	bool is_flushing;	    /* one thread owns the log, and may use it without the lock */
	bool is_suspended;	    /* the log is full, so nothing is recorded (LOGP-6) */
	bool log_is_full;	    /* the log was full after the last write */
	uint64_t nr_lost;
	uint64_t nr_lost_reported; /* the part of nr_lost that was already reported as overrun */
	int flush_error;	   /* the first error since the last report */
	uint64_t heads;		   /* px_view_heads() after the last flush: the next flush takes later events */
	uint64_t waiting_ns;	   /* CLOCK_MONOTONIC when the flush thread first saw a later event; 0: none */
	pthread_t flusher;
	bool has_flusher;
	bool ends_flusher; /* px_flush_pause_thread() waits for its end */
	sigset_t mask; /* signal mask of the thread that created the flush thread */
	struct px_sched *sched; /* scheduling records; NULL: none */
	struct px_cpu_times *cpu_times; /* times of threads, where there are no scheduling records; NULL: none */
	int sched_error;	/* why they were asked for, and cannot be had; 0: they can, or were not */
	struct px_sched_event sched_event; /* on its way to the log, if has_sched_event */
	bool has_sched_event;
	struct px_namer namer; /* chooses names for the objects of calls */
};

struct px_stream {
	struct px_view view;
	struct px_attr attr; /* the attributes in use */
	struct px_reader reader;
	uint32_t index;		      /* index of the slot in the registry of `owner` */
	uid_t owner;		      /* user to whom the registry belongs */
	struct px_registry_slot slot; /* copy made by px_stream_create(); the slot itself may have changed since */
	struct px_process_id target;
	bool is_self;		     /* the target is this process */
	struct px_shared_names_ref shared_names; /* the shared name table of the target */
	uint32_t next_type;			 /* the next event type to return: its index in the list */
	uint32_t next_wrapper;			 /* the next wrapper to return: its index in the list */
	uint64_t dropped_base;	     /* events dropped before the last clear */
	uint64_t given_up_base;	     /* events given up before the last clear */
	uint64_t dropped_reported;   /* dropped events that were reported as overrun */
	uint64_t last_ns;	     /* the latest time of a reported event */
	bool was_overrun;	     /* an overrun happened since create or clear (STATUS-8) */
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
 * Create a stream for the process pid (0: the caller), with a log in the file of log_fd (-1: without log).  attr
 * NULL means the defaults.  Return 0, ESRCH or EPERM (px_target_find()), EAGAIN (PX_STREAMS_MAX exist), EINVAL, ENOMEM,
 * or an error of px_registry_of_open(), px_process_init() or, with log, px_log_create().  A failed call leaves no
 * stream.
 */
int px_stream_create(pid_t pid, const struct px_attr *attr, int log_fd, struct px_stream **stream);

/*
 * End a stream: trace points stop recording, and sleeping readers wake up.  Remove the registry slot, the checkpoint
 * file and the name of the segment.  If the process ends during a flush, the log is not complete.  Then the checkpoint
 * file and the segment stay, so that another process can complete the log.
 */
void px_stream_end(struct px_stream *stream);

/* Free the memory of an ended stream.  The caller ensures that no thread sleeps in a read from the stream. */
void px_stream_free(struct px_stream *stream);

/*
 * In a child made by fork: retire the shared memory of the parent's stream, and close the descriptor of its log.  A
 * signal handler may have called fork() while its thread was in a call on the stream.  That call then continues in the
 * child, and does no harm there.  A second call of this function does no harm either.
 */
void px_stream_drop(struct px_stream *stream);

void px_stream_start(struct px_stream *stream, const struct px_caller *caller);
void px_stream_stop(struct px_stream *stream, const struct px_caller *caller);

/* Clear the stream, and the log in memory.  Only px_flush_clear() also empties the file of the log. */
void px_stream_clear(struct px_stream *stream);

/*
 * Record the event id (FLUSH_START or FLUSH_STOP) if the stream runs or will restart automatically (FLOP-5).  If the
 * event is recorded, store its counter in *counter and return true.
 */
bool px_stream_mark_flush(struct px_stream *stream, uint32_t id, const struct px_caller *caller,
			  uint64_t *counter);

/*
 * Call this when all events of the stream are read.  If the stream has stopped, will not restart automatically, and has
 * dropped events since, fill in *report with the OVERFLOW of these events, and return true once.  If the stream starts
 * again, RESUME comes before START as usual (UFULL-8).
 */
bool px_stream_last_gap(struct px_stream *stream, struct px_report *report);

/* Record ERROR, because an automatic flush failed (SYSEV-8). */
void px_stream_mark_error(struct px_stream *stream, int error);

/*
 * Call this when the log is full: the stream then stops recording (LOGP-6).  Return true if the log must get a last
 * STOP, because the filter does not contain STOP.
 */
bool px_stream_suspend(struct px_stream *stream);

void px_stream_get_filter(const struct px_stream *stream, struct px_eventset *set);
void px_stream_set_filter(struct px_stream *stream, const struct px_eventset *set,
			  const struct px_caller *caller);

/* Fill in a consistent status.  Report each overrun only once (STATUS-1, STATUS-2). */
void px_stream_status(struct px_stream *stream, struct px_status *status);

/* Return in *loss the events lost since the creation or the last clear. */
void px_stream_loss(struct px_stream *stream, struct px_loss *loss);

/* Return the nanoseconds per tick of the counter, computed from the clock anchors taken so far. */
double px_stream_tick_ns(const struct px_stream *stream);

/*
 * Fill in the state that the log stores with its next commit.  state->checkpoint points to memory of the stream.
 * in_hand is true if the last event that px_stream_next() returned is not in the buffer of the log yet.
 */
void px_stream_log_state(struct px_stream *stream, bool in_hand, struct px_log_state *state);

/*
 * Free the slots before the positions of the checkpoint.  Call this when the commit of the checkpoint is in the log.
 * Call this, too, if the write of that commit has failed, because then the events are lost.  This may restart a full
 * stream.  is_empty: true if px_stream_next() has returned PX_NEXT_NONE.
 */
void px_stream_release(struct px_stream *stream, const struct px_checkpoint *checkpoint,
		       bool is_empty);

/*
 * The controller of this stream is dead.  Return true if another log can take all its events.  Three conditions must be
 * true: no event was lost, the type of each event has the same number in every program, and all events are in allocated
 * memory.
 */
bool px_stream_is_transferable(struct px_stream *stream);

/*
 * The first function copies the threads and types of a stream to another stream of this process.  The second function
 * adds the counts of calls of the first stream to those of the other stream.
 */
void px_stream_copy_tables(struct px_stream *to, const struct px_stream *from);
void px_stream_add_calls(struct px_stream *to, const struct px_stream *from);

/*
 * Make a stream from the segment of a dead controller, to complete its log from the checkpoint `base`.  The caller
 * keeps the checkpoint file.  Set `all` if the contents are not trusted: then this function allocates the memory that
 * partial rings lack (growth.h).  Return 0, EINVAL (segment and checkpoint file do not belong together, or are
 * damaged), ENOMEM, or an error of attaching the segment.
 */
int px_stream_resume(struct px_checkpoint_file *checkpoint_file, bool all,
		     struct px_stream **stream);

/*
 * Stop the stream, and store in the checkpoint file whether a STOP is due (auto_stop.h).  If this recovery is killed, a
 * later recovery uses the stored decision.
 */
void px_stream_stop_dead(struct px_stream *stream);

/*
 * If a STOP is due, fill in *report with it and return true.  Return false if no STOP is due, if it is already in the
 * log or was already returned, or if the log is full.
 */
bool px_stream_last_stop(struct px_stream *stream, struct px_report *report);

/* End a resumed stream, but leave its files.  Call px_stream_free() next. */
void px_stream_end_dead(struct px_stream *stream);

/*
 * Return the next event.  If the stream has no log, this function also frees the slots of the event, which may restart
 * a full stream.
 */
enum px_next px_stream_next(struct px_stream *stream, void *data, size_t capacity,
			    struct px_report *report);

/*
 * Do the same as px_stream_next(), but do not wait for writers: set aside the reservations that they have not finished.
 * Return PX_NEXT_NONE only if there is no other event.
 */
enum px_next px_stream_next_at_once(struct px_stream *stream, void *data, size_t capacity,
				    struct px_report *report);

/* Return the flag on which the readers of this stream sleep. */
uint32_t *px_stream_waiting(const struct px_stream *stream);

/*
 * Raise the flag, so that a writer wakes up the caller when the condition `what` becomes true.  After this, call
 * px_stream_next() again before you sleep: the condition may have become true before the flag was raised.
 */
void px_stream_prepare_wait(const struct px_stream *stream, enum px_waiting what);

/*
 * Return event type *i of the list, or PX_EVENT_NONE after its end (TYPELIST-4).  The list has the predefined types,
 * and then the others in the order in which they were opened.  If entries are empty, this function moves *i over them.
 */
unsigned int px_stream_type(const struct px_stream *stream, uint32_t *i);

/*
 * Add to the list the types that the traced processes have opened.  The types of a process are known only if it has an
 * entry in the shared name table.
 */
void px_stream_list_types(const struct px_stream *stream);

/*
 * Open an event type for the target and all processes that inherited the stream (TRIDOPEN-1).  Return 0, ENOMEM or
 * ENAMETOOLONG.
 */
int px_stream_open_type(struct px_stream *stream, const char *name, unsigned int *id);

/* Get the name of an event type.  Return 0 or EINVAL. */
int px_stream_type_name(const struct px_stream *stream, unsigned int id,
			char name[PX_NAME_MAX + 1]);

/*
 * Describe a type of this stream, in this stream only (event/descriptions.h).  Return 0, EINVAL if the stream has no
 * such type of user events, EEXIST or ENOSPC.
 */
int px_stream_describe_type(struct px_stream *stream, unsigned int id, const char *text, size_t length);

/* Copy the description of a type.  Return its length; 0: there is none. */
size_t px_stream_description(const struct px_stream *stream, unsigned int id,
			     char text[PX_FIELDS_TEXT_MAX]);

/* Return the next event type of the list in *id.  Return false at the end. */
bool px_stream_next_type(struct px_stream *stream, unsigned int *id);

void px_stream_rewind_types(struct px_stream *stream);

#endif
