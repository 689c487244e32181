/* SPDX-License-Identifier: MIT */
/*
 * <trace_ext.h>: what posixtrace offers beyond POSIX.  All functions return 0 or an error number, and are
 * thread-safe.
 */
#ifndef POSIXTRACE_TRACE_EXT_H
#define POSIXTRACE_TRACE_EXT_H

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The number of rings of a stream.  0, the default: one for each CPU, in which its threads need no locked
 * instruction, and one for who cannot write there.  1: one ring for all, of exactly the stream's size.  Others:
 * as many, which CPUs share; but one more than there are CPUs is the default.  posix_trace_get_attr() tells how
 * many there are; when memory is short there may be fewer than asked for.  EINVAL: bad attr, NULL, more than 1024.
 */
int txtrace_attr_setrings(trace_attr_t *__attr, unsigned int __nr_rings);
int txtrace_attr_getrings(const trace_attr_t *__posix_trace_restrict __attr,
			  unsigned int *__posix_trace_restrict __nr_rings);

/* Events lost since the stream was created or cleared.  Reading it resets nothing. */
struct txtrace_loss {
	unsigned long long overwritten; /* by newer events, before they were read (LOOP) */
	unsigned long long dropped;	/* there was no room for them */
	unsigned long long abandoned;	/* their writer was killed, or stopped, while it wrote them */
	unsigned long long __reserved[5];
};

/*
 * overwritten is counted as the reader meets the gaps, so it is complete when all events are read.  A
 * pre-recorded stream has what was lost when it was recorded.  EINVAL: trid is no stream of this process, or
 * loss is NULL.
 */
int txtrace_get_loss(trace_id_t __trid, struct txtrace_loss *__loss);

/* A stream, as any process of the user sees it. */
struct txtrace_stream {
	pid_t controller;
	pid_t target;
	int status;	/* POSIX_TRACE_RUNNING or POSIX_TRACE_SUSPENDED */
	int full;	/* POSIX_TRACE_FULL or POSIX_TRACE_NOT_FULL */
	int inherited;	/* POSIX_TRACE_INHERITED or POSIX_TRACE_CLOSE_FOR_CHILD */
	int policy;	/* POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or POSIX_TRACE_FLUSH */
	int log;	/* 1: it has one */
	int forsaken;	/* 1: its controller is gone */
	int other_pids; /* 1: of another pid name space, where pids mean other processes */
	int __reserved_int;
	struct timespec created;
	unsigned long long nr_events;  /* recorded since then, system events too; nearly, while it runs */
	unsigned long long nr_dropped; /* for want of room; what was overwritten only the controller knows */
	char name[TRACE_NAME_MAX + 1]; /* of the trace: posix_trace_attr_setname() */
	unsigned long long __reserved[8];
};

/*
 * The streams in the registry of this user, of all controllers; also root's for processes of this user.  The first
 * size of them are stored in list; *nr is how many there are, TRACE_SYS_MAX at most.  Waits for nobody: one that
 * begins or ends meanwhile is there, or not.  EINVAL: NULL.  ENOMEM, EACCES, ...: there is no shared memory.  list
 * may be NULL when size is 0.
 */
int txtrace_list_streams(struct txtrace_stream *__posix_trace_restrict __list, unsigned int __size,
			 unsigned int *__posix_trace_restrict __nr);

/* The same of an active stream of this process, whoever its target belongs to.  EINVAL: it is none, or NULL. */
int txtrace_get_stream(trace_id_t __trid, struct txtrace_stream *__stream);

/*
 * A copy of one ring of an active stream as a TXTB image that TraceX opens: oldest event first, without the
 * events that are being written just now.  The ring is numbered from 0.  *length is the size of the image,
 * also where size is too small for it: then ENOSPC, and nothing is copied.  *tick_ns is the length of a
 * tick.  Nothing is consumed.  EINVAL: bad trid or ring, NULL.  buffer may be NULL when size is 0.
 * posix_trace_open() reads the image as a foreign file; give tick_ns to txtrace_set_tick().
 */
int txtrace_copy_ring(trace_id_t __trid, unsigned int __ring, void *__buffer, size_t __size,
		      size_t *__length, double *__tick_ns);

/*
 * What else is known of an event: pass the structure that a getnext function filled in.  The context is
 * the handle of a thread among the objects (0: the event is of no thread), or, in a trace buffer of
 * ThreadX, 0xFFFFFFFF in an interrupt and 0xF0F0F0F0 during initialization.  Priorities are 0 ... 1023,
 * smaller is more urgent; -1: not told.  In an interrupt, interrupted is the handle of the thread that it
 * interrupted; 0: none, or not told.
 */
unsigned int txtrace_event_cpu(const struct posix_trace_event_info *__event);
unsigned int txtrace_event_context(const struct posix_trace_event_info *__event);
int txtrace_event_priority(const struct posix_trace_event_info *__event);
unsigned int txtrace_event_interrupted(const struct posix_trace_event_info *__event);

/*
 * The text of a file tracex_custom.trxc, from which TraceX takes the names of this stream's user events: a
 * line for each event type that TraceX does not know by itself.  *length is the length of the text, also where
 * size is too small for it: then ENOSPC, and what is in buffer is of no use.  No terminating null.  Any stream,
 * active or pre-recorded.  EINVAL: bad trid, NULL.  buffer may be NULL when size is 0.
 */
int txtrace_get_trxc(trace_id_t __trid, char *__buffer, size_t __size, size_t *__length);

/*
 * Pre-recorded streams.  Where it does not say otherwise these fail with EINVAL for NULL and for other streams.
 */

/* What a handle stands for. */
struct txtrace_object {
	unsigned int handle;
	int type;		   /* as ThreadX numbers them: 1 thread, 5 mutex, ...; 15 event type */
	int priority;		   /* of a thread; -1: not told */
	int released;		   /* 1: it was deleted while the trace went on */
	pid_t pid;		   /* 0: not told */
	pid_t tid;		   /* likewise */
	unsigned int parameter[2]; /* by type; of a thread: stack, and its size */
	char name[64];		   /* ends in a null */
	unsigned long long address; /* of the object of a call: its address or descriptor; 0: not told */
	unsigned long long site;    /* from where it was first called; likewise */
	unsigned long long __reserved[2];
};

/*
 * The thread with this handle, of an active stream: of the newest 1024 that have recorded something.  ENOENT: it is
 * not known, or not any more.  EINVAL: trid is no active stream of this process, or object is NULL.
 */
int txtrace_get_thread(trace_id_t __trid, unsigned int __handle, struct txtrace_object *__object);

/*
 * The next object of the registry.  At the end returns 0 and sets *unavailable.  A log of several volumes
 * may have an object once in each.
 */
int txtrace_getnext_object(trace_id_t __trid, struct txtrace_object *__posix_trace_restrict __object,
			   int *__posix_trace_restrict __unavailable);
int txtrace_rewind_objects(trace_id_t __trid);

/*
 * Calls of a program that runs with libtxtrace-preload.so: each is an event of its own type, and in the image of a log
 * what ThreadX would have recorded.
 */
enum {
	TXTRACE_CALL_WHOLE = 0,	 /* it did not wait */
	TXTRACE_CALL_BEGINS = 1, /* it begins to wait */
	TXTRACE_CALL_ENDS = 2	 /* it has waited */
};

struct txtrace_call {
	unsigned int native;  /* ThreadX's id; 0: the image shows a user event */
	unsigned int word[4]; /* the information words of the image */
	int phase;
	unsigned int state;  /* in which the thread waits, as ThreadX numbers them; 0: the call never does */
	unsigned int object; /* handle; 0: none, or not told */
	unsigned int waker;  /* TXTRACE_CALL_ENDS: handle of the thread that ended the wait; 0: not known */
	unsigned int __reserved_int;
	unsigned long long __reserved[4];
};

/*
 * What the image of a log has for an event of it: pass the structure that a getnext function filled in.  ENOENT: it is
 * no call.  EINVAL: trid is no pre-recorded stream, or NULL.
 */
int txtrace_get_call(trace_id_t __trid, const struct posix_trace_event_info *__event,
		     struct txtrace_call *__call);

/*
 * In the traced program: what stands at this address, now or later, is called so in logs, until it is destroyed; 59
 * bytes of the name count.  Async-signal-safe, and does nothing while nobody traces.  EINVAL: NULL.
 */
int txtrace_name_object(const void *__object, const char *__name);

/*
 * In the controller of a stream with log: name() is asked for the name of each object of calls that is new in the log,
 * and puts it into text, of size bytes with its null; what it returns but 0 means that it has none.  The object has
 * handle, type, pid, address and site.  It is called by whoever flushes, also by a thread of the library, on a stack of
 * 1 MiB, and may use no function on trid.  NULL: nobody is asked any more.  EINVAL: trid is no active stream with log of
 * this process.
 */
int txtrace_set_namer(trace_id_t __trid,
		      int (*__name)(void *__argument, const struct txtrace_object *__object,
				    char *__text, size_t __size),
		      void *__argument);

/* A function that libtxtrace-preload.so stands in front of, in the traced program. */
enum {
	TXTRACE_WRAPPER_MISSING = 1, /* the C library has no such function */
	TXTRACE_WRAPPER_INSTALLED = 2,
	TXTRACE_WRAPPER_FOREIGN = 3 /* installed, in front of another object that does the same */
};

struct txtrace_wrapper {
	char symbol[40];
	char version[24]; /* of the symbol behind it; "": none */
	char call[64];	  /* name of the event type */
	int state;
	int __reserved_int;
	unsigned long long calls;
	unsigned long long samples;	/* calls of which it was measured what they cost beyond the function, */
	unsigned long long overhead_ns; /* all together */
	unsigned long long __reserved[4];
};

/*
 * The next of them, of an active stream or a log.  At the end, and where no such call was recorded, returns 0 and sets
 * *unavailable.  EINVAL: bad trid, NULL.
 */
int txtrace_getnext_wrapper(trace_id_t __trid,
			    struct txtrace_wrapper *__posix_trace_restrict __wrapper,
			    int *__posix_trace_restrict __unavailable);
int txtrace_rewind_wrappers(trace_id_t __trid);

/* The file as such. */
struct txtrace_file_info {
	int foreign;		  /* 1: a trace buffer that is no log: of ThreadX, or a copy of a ring */
	int byte_swapped;	  /* 1: in the other byte order than this machine's */
	int complete;		  /* 0: its writer died before it had ended the log */
	int text;		  /* 1: Intel HEX, S-records or hex digits */
	double tick_ns;		  /* of the image */
	unsigned int time_mask;	  /* likewise */
	unsigned int name_size;	  /* bytes of a name in the image's registry */
	unsigned int nr_objects;  /* registry slots of a volume */
	unsigned int nr_volumes;
	unsigned long long nr_slots;   /* for entries, of all volumes; 0: no bound */
	unsigned long long nr_entries; /* in use, also for more data, for fillers, and where a volume ended early */
	unsigned long long nr_shortened; /* gaps in time that TraceX shows too short; events have them right */
	unsigned long long shortened_ns; /* by so much, all together */
	int recovered;			 /* 1: its writer died, and it was completed by another process */
	int __reserved_int;
	unsigned long long __reserved[7];
};

/* May have to look at all events of a foreign file once. */
int txtrace_get_file_info(trace_id_t __trid, struct txtrace_file_info *__info);

/*
 * What the traced program had loaded, so that posix_prog_address can be given a name when it is gone.  Text, one
 * line for the program and for each shared object:
 *
 *	<base> <begin> <end> <build-id> <path>
 *
 * in hex digits, but for the path; "-" for no build-id; base is what was added to the addresses in that file.
 * *length is the length of the text, also where size is too small for it: then ENOSPC, and what is in buffer is
 * of no use.  No terminating null.  A trace buffer of ThreadX has none: 0.  buffer may be NULL when size is 0.
 */
int txtrace_get_modules(trace_id_t __trid, char *__buffer, size_t __size, size_t *__length);

/*
 * Logs whose controllers were killed, or ended without exit().  What the stream had recorded and not written yet is
 * still in shared memory, until the machine is started anew; so the log can be completed by any process of the same
 * user with the same TXTRACE_DIR.  posix_trace_open() does so for the log that it opens, and posix_trace_create() for
 * all; these are for whoever wants to know.
 */

/*
 * Complete the log behind file_desc, which may be open for reading only.  0 also if it is complete.  EINVAL: no log of
 * this library and machine.  EBUSY: its controller lives, or somebody else completes it just now.  ENOENT: nothing is
 * left to complete it from; it can be read as far as it was written.  Or why the file cannot be written; then it may
 * be tried again.
 */
int txtrace_recover(int __file_desc);

/*
 * Complete the logs of all dead controllers.  *nr_recovered is how many were completed, *nr_left how many could not be
 * just now.  A log that was removed, or moved since it was flushed last, is given up.  EINVAL: NULL.  ENOMEM, EACCES,
 * ...: there is no shared memory.
 */
int txtrace_recover_all(unsigned int *__posix_trace_restrict __nr_recovered,
			unsigned int *__posix_trace_restrict __nr_left);

/*
 * Likewise, and tell() learns what comes of each: its path as of the last flush, valid during the call, and 0 or why it
 * cannot be completed: ENOENT and EINVAL for ever, others just now.  EINVAL: tell is NULL.
 */
int txtrace_recover_each(void (*__tell)(const char *__path, int __error, void *__argument),
			 void *__argument);

/*
 * The length of a tick of a foreign file in nanoseconds, which such a file does not tell: 1000, if it is not
 * set.  EINVAL also: not a foreign file, not from 1e-9 to 1e15.
 */
int txtrace_set_tick(trace_id_t __trid, double __tick_ns);

#ifdef __cplusplus
}
#endif

#endif
