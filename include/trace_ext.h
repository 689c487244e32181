/* SPDX-License-Identifier: MIT */
/*
 * <trace_ext.h>: the extensions of posixtrace to POSIX.
 *
 * All functions except txtrace_event_*() return 0 or an error number.  All are thread-safe.  Only
 * txtrace_name_object() is async-signal-safe.
 */
#ifndef _TRACE_EXT_H
#define _TRACE_EXT_H

#include <trace.h>
#include <txtrace_types.h> /* descriptions of event types */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The number of rings of a stream:
 *
 *	0	(default) one ring for each CPU, and one shared ring for threads that cannot write to the ring of their
 *	 	CPU.  Threads write to the ring of their CPU without locked instructions
 *	1	one shared ring of exactly the stream size
 *	n	n rings that the CPUs share; but the number of CPUs + 1 means the same as 0
 *
 * posix_trace_get_attr() returns the actual number, which is smaller if memory is short.
 * EINVAL: attr is not initialized, a pointer is NULL, or nr_rings is more than 1024.
 */
int txtrace_attr_setrings(trace_attr_t *__attr, unsigned int __nr_rings);
int txtrace_attr_getrings(const trace_attr_t *__posix_trace_restrict __attr,
			  unsigned int *__posix_trace_restrict __nr_rings);

/*
 * Why the CPUs have no rings of their own in the streams of this process, although the attribute is 0:
 *
 *	TXTRACE_RINGS_NO_COUNTER	the machine has no counter on which all its CPUs agree
 *	TXTRACE_RINGS_NO_SEQUENCES	the C library has registered no restartable sequences (rseq(2)): it or the
 *				kernel is too old, they are switched off, or another library uses them; or this library
 *				has none for this machine
 *	TXTRACE_RINGS_NO_BARRIER	the kernel refuses membarrier(2)
 *	TXTRACE_RINGS_NOT_RESTARTED	the kernel does not restart the sequence of a thread that loses its CPU
 *	TXTRACE_RINGS_NOT_TESTED	it was not possible to find out whether the kernel does so
 *
 * All rings are shared then.  txtrace_check_rings() stores the first obstacle in *obstacle, or 0 if there is none.  The
 * first call or the first stream of a process may try the sequences in a child process.  This takes the time of a
 * fork(), and up to 20 ms.  EINVAL: obstacle is NULL.
 */
enum txtrace_rings_obstacle {
	TXTRACE_RINGS_NO_COUNTER = 1,
	TXTRACE_RINGS_NO_SEQUENCES,
	TXTRACE_RINGS_NO_BARRIER,
	TXTRACE_RINGS_NOT_RESTARTED,
	TXTRACE_RINGS_NOT_TESTED
};

int txtrace_check_rings(int *__obstacle);

/*
 * Whether the rings of a stream grow:
 *
 *	0	(default) all memory of the rings is allocated when the stream is created
 *	1	each ring begins with a small part of its memory, and gets more when events need it, up to the stream
 *		size.  It never gives memory back
 *
 * posix_trace_create_withlog() returns ENOTSUP if the rings cannot grow: the stream-full-policy is not
 * POSIX_TRACE_FLUSH, max-data-size is large or the stream size is small, the target belongs to another user, or the
 * kernel is older than Linux 5.14.
 * EINVAL: attr is not initialized, a pointer is NULL, or grows is neither 0 nor 1.
 */
int txtrace_attr_setgrowth(trace_attr_t *__attr, int __grows);
int txtrace_attr_getgrowth(const trace_attr_t *__posix_trace_restrict __attr,
			   int *__posix_trace_restrict __grows);

/*
 * Whether a stream counts the calls of libtxtrace-preload.so that do not wait:
 *
 *	0	(default) each call is an event
 *	1	if a thread makes the same call with the same object again and again, and never waits, one event of the
 *		type txtrace_calls has the number of these calls
 *
 * Calls that wait, that wake up other threads, or that make or end an object are events in both cases.
 * EINVAL: attr is not initialized, a pointer is NULL, or aggregates is neither 0 nor 1.
 */
int txtrace_attr_setaggregation(trace_attr_t *__attr, int __aggregates);
int txtrace_attr_getaggregation(const trace_attr_t *__posix_trace_restrict __attr,
				int *__posix_trace_restrict __aggregates);

/*
 * Whether a stream with a log also records which threads have a CPU:
 *
 *	0	(default) it does not
 *	1	the kernel reports each switch of a traced thread to the controller, which writes it to the log
 *
 * The attributes that posix_trace_get_attr() returns have 1 only if the kernel permits it; for a log, 1 means that the
 * log has scheduling records.
 * EINVAL: attr is not initialized, a pointer is NULL, or sched is neither 0 nor 1.
 *
 * txtrace_get_sched_error() stores in *error why an active stream does not have the records that its attributes ask
 * for: EACCES or EPERM (/proc/sys/kernel/perf_event_paranoid, or missing rights), ENOSYS or ENOTSUP (the kernel has no
 * such records), EMFILE (each thread needs a descriptor for each CPU; the first thread only while the stream is
 * created), ENOMEM (RLIMIT_MEMLOCK), or another error of perf_event_open(2).  It stores 0 if the stream has them, or
 * does not ask for them.  txtrace_check_sched() tries it for a process, and leaves nothing open; 0: this process.
 * EINVAL: trid is not an active stream of this process, pid is negative, or error is NULL.
 */
int txtrace_attr_setsched(trace_attr_t *__attr, int __sched);
int txtrace_attr_getsched(const trace_attr_t *__posix_trace_restrict __attr,
			  int *__posix_trace_restrict __sched);

int txtrace_get_sched_error(trace_id_t __trid, int *__error);
int txtrace_check_sched(pid_t __pid, int *__error);

/*
 * Mechanisms of the kernel that the library uses if it can.  Where the kernel refuses one (an old kernel, a container,
 * a system call filter), the library takes another way, which costs more or does less:
 *
 *	RSEQ		rings that belong to CPUs, written by restartable sequences; otherwise all rings are shared
 *	MEMBARRIER	a barrier on all CPUs; otherwise all rings are shared, a reader wakes up each 50 ms, and a
 *			stop or a change of a filter takes 1 ms
 *	COUNTER		the counter of the processor for times; otherwise CLOCK_MONOTONIC, and all rings are shared
 *	FUTEX_WAITV	a wait for events that a signal handler with SA_RESTART does not end; otherwise it ends it,
 *			if the wait has a time limit
 *	SYSV		System V memory, with the names of event types; otherwise a process can trace itself and its
 *			children, but no other process
 *	PROC		/proc, with the states of threads and the rights of processes; otherwise a process can trace
 *			itself, but no other process, and a reader waits longer for a writer that was killed
 *	VM_READ		memory of stacks that may go away; otherwise walks over such stacks end there
 *	SCHED		scheduling records: as from txtrace_check_sched()
 */
enum txtrace_mechanism_kind {
	TXTRACE_MECHANISM_RSEQ,
	TXTRACE_MECHANISM_MEMBARRIER,
	TXTRACE_MECHANISM_COUNTER,
	TXTRACE_MECHANISM_FUTEX_WAITV,
	TXTRACE_MECHANISM_SYSV,
	TXTRACE_MECHANISM_PROC,
	TXTRACE_MECHANISM_VM_READ,
	TXTRACE_MECHANISM_SCHED,
	TXTRACE_MECHANISMS /* how many there are */
};

struct txtrace_mechanism {
	int error;	/* why the library does without it: an error number; 0: it uses it */
	int __reserved_int;
	double cost_ns; /* how long one use took now, or, after an error, the other way; 0: not measured (RSEQ) */
	unsigned long long __reserved[6];
};

/*
 * Try a mechanism in this process, as the library uses it, some times, and measure it.  ENOTSUP in `error` means that
 * the kernel may have it, but the C library or this library does not use it on this machine.  For RSEQ,
 * ENOTRECOVERABLE and EAGAIN are TXTRACE_RINGS_NOT_RESTARTED and TXTRACE_RINGS_NOT_TESTED of txtrace_check_rings().
 * EINVAL: kind is none of these, or mechanism is NULL.  ENOMEM, EACCES, ...: there is no shared memory.
 */
int txtrace_check_mechanism(enum txtrace_mechanism_kind __kind, struct txtrace_mechanism *__mechanism);

/*
 * Scheduling records: event types of the trace system, which occur only in logs.  Their times are on the scale of all
 * events, and in order with them.  posix_pid is the process of the thread, and txtrace_event_context() is the handle of
 * the thread, or 0 if the thread had not recorded an event yet.  So find the thread by pid and tid in the data.
 *
 *	TXTRACE_SCHED_START	scheduling is recorded from here on.  No data
 *	TXTRACE_SCHED_STOP	scheduling is no longer recorded.  Data: an int, enum txtrace_sched_end
 *	TXTRACE_SCHED_THREAD	a thread, and its state from here on.  Data: struct txtrace_sched with the name.  After
 *				TXTRACE_SCHED_START there is one for each thread whose state is known, later one for
 *				each new thread (with its state TXTRACE_READY, before it runs), and one when a thread
 *				changes its name or executes another program
 *	TXTRACE_SWITCH_IN	the thread gets a CPU.  Data: the first TXTRACE_SCHED_SWITCH_BYTES of
 *				struct txtrace_sched; state is TXTRACE_RUNNING
 *	TXTRACE_SWITCH_OUT	the thread loses its CPU.  The same data; state is TXTRACE_READY (it was preempted, or
 *				yielded), TXTRACE_BLOCKED, or TXTRACE_ENDED
 *	TXTRACE_SCHED_GAP	data: struct txtrace_sched_gap.  The kernel lost records of this CPU between the event
 *				with phase TXTRACE_GAP_BEGINS and the one with TXTRACE_GAP_ENDS.  Only scheduling has a
 *				gap, no other event is missing
 *
 * So a log says this about a thread at a time: Before its first record, its state is not known, except that a thread
 * whose first record after TXTRACE_SCHED_START is a TXTRACE_SWITCH_OUT ran since then.  Its state is that of its newest
 * record, until its next one.  At TXTRACE_GAP_BEGINS, the states of all threads are not known any more, except those
 * that run on other CPUs.  Until TXTRACE_GAP_ENDS, a TXTRACE_SWITCH_IN on another CPU is known until the thread loses
 * that CPU.  After TXTRACE_SCHED_STOP, and after the end of a log without it, nothing is known.  A LOOP log may have
 * overwritten TXTRACE_SCHED_START: then the records are valid from the first event on.
 */
#define TXTRACE_SWITCH_IN 9u
#define TXTRACE_SWITCH_OUT 10u
#define TXTRACE_SCHED_THREAD 11u
#define TXTRACE_SCHED_GAP 12u
#define TXTRACE_SCHED_START 13u
#define TXTRACE_SCHED_STOP 14u

/*
 * Where the kernel refuses scheduling records, a log has these events instead: what the kernel has counted for a thread
 * of the target since the thread began, when the stream starts and stops, and from time to time between.  Data: struct
 * txtrace_cpu_time.
 */
#define TXTRACE_CPU_TIME 15u

struct txtrace_cpu_time {
	pid_t tid;
	pid_t pid;
	unsigned long long ran_ns;   /* on a CPU; of a thread that runs, the last few milliseconds may be missing */
	unsigned long long ready_ns; /* ready, but without a CPU */
	char name[16];
};

enum txtrace_sched_state {
	TXTRACE_UNKNOWN = 0,
	TXTRACE_RUNNING = 1,  /* on the CPU `cpu` */
	TXTRACE_READY = 2,    /* it could run, and has no CPU */
	TXTRACE_BLOCKED = 3,  /* it waits, or is stopped */
	TXTRACE_ENDED = 4,
	TXTRACE_RUNNABLE = 5  /* TXTRACE_RUNNING or TXTRACE_READY; only in TXTRACE_SCHED_THREAD */
};

struct txtrace_sched {
	pid_t tid;
	pid_t pid;
	unsigned int cpu; /* the CPU that the thread gets or loses; otherwise 0 */
	unsigned int state; /* enum txtrace_sched_state */
	char name[16]; /* of the thread, with a terminating null; only in TXTRACE_SCHED_THREAD */
};

#define TXTRACE_SCHED_SWITCH_BYTES 16

enum { TXTRACE_GAP_BEGINS = 0, TXTRACE_GAP_ENDS = 1 };

struct txtrace_sched_gap {
	unsigned long long nr_lost; /* records; with TXTRACE_GAP_BEGINS 0 */
	unsigned int cpu;
	unsigned int phase;
};

enum txtrace_sched_end {
	TXTRACE_SCHED_STOPPED = 0,    /* the stream was stopped, or ended */
	TXTRACE_SCHED_CONTROLLER = 1, /* the controller died; another process completed the log */
	TXTRACE_SCHED_CPUS = 2	      /* a CPU came online on which the kernel reports no switches */
};

/*
 * The stacks of calls that the preloaded object records.  After a call that waited at least bound_us microseconds (0 to
 * 32000), the stream gets an event txtrace_stack with the return addresses of its caller, and of the callers of that,
 * up to 32.  TXTRACE_STACKS_ALL: after each call.  TXTRACE_STACKS_NONE (default): no stacks.  A stream with stacks has
 * a max-data-size of at least 272.
 * EINVAL: attr is not initialized, a pointer is NULL, or bound_us is none of these.
 */
#define TXTRACE_STACKS_NONE (-1)
#define TXTRACE_STACKS_ALL (-2)
int txtrace_attr_setstacks(trace_attr_t *__attr, int __bound_us);
int txtrace_attr_getstacks(const trace_attr_t *__posix_trace_restrict __attr,
			   int *__posix_trace_restrict __bound_us);

/* The numbers of events lost since the stream was created or cleared. */
struct txtrace_loss {
	unsigned long long overwritten; /* newer events overwrote them before they were read (LOOP) */
	unsigned long long dropped;	/* the stream had no room for them */
	unsigned long long abandoned;	/* their writer was killed while it wrote them */
	unsigned long long __reserved[5];
};

/*
 * Get the losses of a stream, and do not reset them.  The reader counts overwritten events when it reaches the gaps, so
 * `overwritten` is complete only when all events are read.  A pre-recorded stream has the losses of its recording.
 * EINVAL: trid is not a stream of this process, or loss is NULL.
 */
int txtrace_get_loss(trace_id_t __trid, struct txtrace_loss *__loss);

/* Data about a stream that every process of the user can get. */
struct txtrace_stream {
	pid_t controller;
	pid_t target;
	int status;	/* POSIX_TRACE_RUNNING or POSIX_TRACE_SUSPENDED */
	int full;	/* POSIX_TRACE_FULL or POSIX_TRACE_NOT_FULL */
	int inherited;	/* POSIX_TRACE_INHERITED or POSIX_TRACE_CLOSE_FOR_CHILD */
	int policy;	/* POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or POSIX_TRACE_FLUSH */
	int log;	/* 1: the stream has a log */
	int orphaned;	/* 1: its controller has ended */
	int other_pids; /* 1: the pids belong to another PID name space */
	int __reserved_int;
	struct timespec created;
	unsigned long long nr_events;  /* since creation, with system events; approximate while the stream runs */
	unsigned long long nr_dropped; /* events for which there was no room */
	char name[TRACE_NAME_MAX + 1]; /* name of the trace: posix_trace_attr_setname() */
	unsigned long long id;	       /* a number for txtrace_snapshot_stream(); no other stream of this user has it */
	/* The first process that should be traced, but could not map the stream, so that its events are missing. */
	pid_t absent;	   /* 0: none is known */
	int absent_error;  /* why: an error number */
	int absent_others; /* 1: there are others */
	int __reserved_int_2;
	unsigned long long __reserved[5];
};

/*
 * List the streams in the registry of this user: all streams of controllers of this user, and the streams of root that
 * trace processes of this user.  Store at most size streams in list.  Store in *nr the number of all these streams,
 * which is at most TRACE_SYS_MAX.  list may be NULL if size is 0.  This function does not wait; a stream that begins or
 * ends during the call may be listed or not.  EINVAL: a pointer is NULL.  ENOMEM, EACCES, ...: there is no shared
 * memory.
 */
int txtrace_list_streams(struct txtrace_stream *__posix_trace_restrict __list, unsigned int __size,
			 unsigned int *__posix_trace_restrict __nr);

/*
 * Get the same data about one active stream of this process.  Its target may belong to any user.  EINVAL: trid is not
 * an active stream of this process, or stream is NULL.
 */
int txtrace_get_stream(trace_id_t __trid, struct txtrace_stream *__stream);

/*
 * Write what the rings and the log of an active stream hold into a new, complete log.  The stream goes on, and keeps
 * its events: neither its writers nor its reader nor its flush thread wait for this call.  The snapshot has the events
 * that were recorded before the call began.  If the stream has no log, the snapshot has the events in the rings that no
 * getnext function has returned.  file_desc is open for writing, and the file is empty.
 *
 * txtrace_snapshot_stream() takes a stream of any process of this user, or a stream of root that traces a process of
 * this user, as txtrace_list_streams() returns it.  If such a stream of root has a log, only root can take it.
 *
 * ENOENT: the stream has ended, or its log is gone.  EACCES: the log cannot be read.  EBUSY: the log changed too fast.
 * EINVAL: trid is not an active stream of this process, stream is NULL or not from txtrace_list_streams(), or the file
 * is not a regular one.  EBADF: file_desc is not open for writing.  ENOMEM, ENOSPC, ...: as from
 * posix_trace_create_withlog().
 */
int txtrace_snapshot(trace_id_t __trid, int __file_desc);
int txtrace_snapshot_stream(const struct txtrace_stream *__stream, int __file_desc);

/*
 * Copy one ring of an active stream, as a TXTB image that TraceX can open.  Rings are numbered from 0.  The oldest
 * event comes first.  The copy leaves out events that are being written during the call.  The events also stay in the
 * stream.  Store the size of the image in bytes in *length, and the length of a tick in nanoseconds in *tick_ns.
 * buffer may be NULL if size is 0.  posix_trace_open() reads the image as a foreign trace file, and finds the length of
 * a tick in it.  ENOSPC: size is less than *length; nothing is copied.  ENOMEM: there is no memory for the copy.
 * EINVAL: trid or ring is not valid, or a pointer is NULL.
 */
int txtrace_copy_ring(trace_id_t __trid, unsigned int __ring, void *__buffer, size_t __size,
		      size_t *__length, double *__tick_ns);

/*
 * More properties of an event.  Pass the structure that a getnext function has filled in.
 *
 *	cpu		the CPU on which the event was recorded
 *	context		the handle of the thread; 0: no thread.  In a trace buffer of ThreadX also 0xFFFFFFFF (in an
 *			interrupt) and 0xF0F0F0F0 (during initialization)
 *	priority	the priority of the thread, 0 ... 1023; a smaller number is more urgent; -1: not known
 *	interrupted	for an event in an interrupt, the handle of the interrupted thread; 0: none, or not known
 */
unsigned int txtrace_event_cpu(const struct posix_trace_event_info *__event);
unsigned int txtrace_event_context(const struct posix_trace_event_info *__event);
int txtrace_event_priority(const struct posix_trace_event_info *__event);
unsigned int txtrace_event_interrupted(const struct posix_trace_event_info *__event);

/*
 * posix_prog_address and posix_thread_id of an event.  On a machine of 32 bits, those members have no room for the
 * numbers of a log from a machine of 64 bits, and hold their low halves.
 */
unsigned long long txtrace_event_address(const struct posix_trace_event_info *__event);
unsigned long long txtrace_event_thread(const struct posix_trace_event_info *__event);

/*
 * An event that txtrace_getnext_events() has read.  Its members are those of struct posix_trace_event_info, what the
 * functions above return, and those of struct txtrace_call below.
 */
struct txtrace_event {
	unsigned long long time_ns; /* posix_timestamp in nanoseconds */
	unsigned long long address; /* as txtrace_event_address() */
	unsigned long long thread;  /* as txtrace_event_thread() */
	size_t offset;		    /* where its data begin in the buffer */
	size_t length;		    /* bytes of data */
	trace_event_id_t type;
	pid_t pid;
	int truncation;
	unsigned int cpu;
	unsigned int context;
	int priority;
	unsigned int interrupted;
	int phase;	     /* TXTRACE_CALL_WHOLE, ...; -1: the event is no call of a log */
	unsigned int native; /* of a call of a log: as in struct txtrace_call; otherwise 0 */
	unsigned int state;
	unsigned int object;
	unsigned int waker;
	unsigned long long __reserved[2];
};

/*
 * Read the next events, at most nr_events, and their data one after the other into data, each at a multiple of 8 bytes.
 * Store in *nr_read how many there are; 0: posix_trace_trygetnext_event() would have returned no event.  The function
 * also ends when the buffer has less room than the max-data-size of the stream, or 1024 bytes if that is less.  So with
 * a buffer of at least both, and an event more, no data are cut; a first event that has no room is cut, as
 * posix_trace_getnext_event() cuts it.  This function does not wait, and is no cancellation point.
 * EINVAL: trid is not a stream that can be read, a pointer is NULL, or nr_events is 0.
 */
int txtrace_getnext_events(trace_id_t __trid, struct txtrace_event *__posix_trace_restrict __events,
			   size_t __nr_events, void *__posix_trace_restrict __data, size_t __size,
			   size_t *__posix_trace_restrict __nr_read);

/*
 * Get the text of a file tracex_custom.trxc, from which TraceX reads the names of this stream's user events.  The text
 * has a line for each event type that TraceX does not know, and no terminating null.  trid may be any stream, active or
 * pre-recorded.  Store the length of the text in bytes in *length.  buffer may be NULL if size is 0.  ENOSPC: size is
 * less than *length; the contents of buffer are undefined.  EINVAL: trid is not a stream of this process, or a pointer
 * is NULL.
 */
int txtrace_get_trxc(trace_id_t __trid, char *__buffer, size_t __size, size_t *__length);

/*
 * Pre-recorded streams.  Unless a comment says otherwise, these functions fail with EINVAL if a pointer is NULL or
 * trid is not a pre-recorded stream of this process.
 */

/*
 * Open a file like posix_trace_open(), and also
 *
 *	TXTRACE_OPEN_RUNNING	a log whose writer lives: take the events that are committed at the moment of the call.
 *				The reader does not disturb the writer.  A LOOP log may overwrite events before they are
 *	read
 *	TXTRACE_OPEN_DAMAGED	a log that was cut or damaged: take the events that are whole
 *
 * nr_missing of struct txtrace_file_info counts the events that could not be read; it is valid when all are read.  In a
 * log that only TXTRACE_OPEN_DAMAGED opens, or that is being written, the library also reports them between two events
 * as POSIX_TRACE_OVERFLOW, with the time of the event before, and POSIX_TRACE_RESUME, with that of the next.  It does
 * the same in each log where events are missing between two others because a write of the log failed.  These two
 * events have the data int 1: the log lacks all events there, of all threads.  An overflow of the stream has no data.
 *
 * flags is 0 or a sum of these.  EINVAL: as from posix_trace_open(), or flags is not valid.  ENOTSUP: flags is not 0,
 * and a newer version of this library wrote the log (txtrace_get_format()).
 */
enum { TXTRACE_OPEN_RUNNING = 1, TXTRACE_OPEN_DAMAGED = 2 };

int txtrace_open(int __file_desc, int __flags, trace_id_t *__trid);

/*
 * Update the log to its newest commit.  posix_trace_getnext_event() then also returns the events that were committed
 * since txtrace_open() or the last call of this function.  Store 1 in *running if the writer of the log lives and has
 * not completed it, otherwise 0.  After 0, all events of the writer are there when they are read.  If the writer was
 * killed, call txtrace_recover(), and then this function once more.  EINVAL: trid is not a log of this process, the
 * file has another log now, or running is NULL.
 */
int txtrace_refresh(trace_id_t __trid, int *__running);

/*
 * Go to a place of a pre-recorded stream near a time: all events before this place are earlier than *time.  Events
 * after it may be earlier, too: at most about 8000 in a complete log.  In a log that is damaged or was being written,
 * in a log of an old format, and in a trace buffer of ThreadX, the place is the first event.  Store in *nr_before the
 * number of events before the place.  posix_trace_getnext_event() then returns the event after it.  EINVAL: trid is not
 * a pre-recorded stream of this process, a pointer is NULL, or time->tv_nsec is not in the range 0 to 999999999.
 */
int txtrace_seek(trace_id_t __trid, const struct timespec *__posix_trace_restrict __time,
		 unsigned long long *__posix_trace_restrict __nr_before);

/*
 * Write all events of a log into a new, complete log.  With this, a log that was opened with TXTRACE_OPEN_RUNNING or
 * TXTRACE_OPEN_DAMAGED becomes a whole one.  file_desc is open for writing, and the file is empty.  The call reads
 * trid to its end.  EINVAL: trid is not a log of this process, or the file is not a regular one.  ENOTSUP: the log is
 * of a machine with another byte order or other sizes (txtrace_get_machine()), of which the data stay.  EBADF, ENOMEM,
 * ENOSPC, ...: as from posix_trace_create_withlog().
 */
int txtrace_copy_log(trace_id_t __trid, int __file_desc);

/*
 * Get the version of the format of a log, and the newest version that this library reads.  EINVAL: the file is not a
 * log, or a pointer is NULL.
 */
int txtrace_get_format(int __file_desc, unsigned int *__posix_trace_restrict __format,
		       unsigned int *__posix_trace_restrict __newest);

/*
 * Find the bytes of a log that say which events it has.  The writer of a log changes them last.  So a program that
 * copies a log while it is written copies these first and everything else afterwards; then the copy has at least these
 * events.  While the offset changes, the copy is of no use.  EINVAL: the file is not a log, or a pointer is NULL.
 */
int txtrace_get_commit(int __file_desc, off_t *__posix_trace_restrict __offset,
		       size_t *__posix_trace_restrict __size);

/* The object to which a handle refers. */
struct txtrace_object {
	unsigned int handle;
	int type;		   /* ThreadX's number of the type: 1 thread, 5 mutex, ...; 15 event type */
	int priority;		   /* priority of a thread; -1: not known */
	int released;		   /* 1: the object was deleted before the end of the trace */
	pid_t pid;		   /* 0: not known */
	pid_t tid;		   /* 0: not known */
	unsigned int parameter[2]; /* meaning depends on type; for a thread: address and size of its stack */
	char name[64];		   /* with a terminating null */
	unsigned long long address; /* address or descriptor of an object of calls; 0: not known */
	unsigned long long site;    /* address of the first call that used an object of calls; 0: not known */
	unsigned int thread;	    /* handle of the thread that made this call; 0: not known */
	unsigned int __reserved_int;
	unsigned long long __reserved[1];
};

/*
 * Get the thread with this handle from an active stream.  The stream keeps the newest 4096 threads that have recorded
 * an event.  ENOENT: the stream has never had this thread, or no longer keeps it.  EINVAL: trid is not an active stream
 * of this process, or object is NULL.
 */
int txtrace_get_thread(trace_id_t __trid, unsigned int __handle, struct txtrace_object *__object);

/*
 * Get the next object of the registry.  At the end of the list, return 0 and set *unavailable to nonzero.  A log of
 * several volumes can contain an object once in each volume.
 */
int txtrace_getnext_object(trace_id_t __trid, struct txtrace_object *__posix_trace_restrict __object,
			   int *__posix_trace_restrict __unavailable);
int txtrace_rewind_objects(trace_id_t __trid);

/*
 * Calls of a program that runs with libtxtrace-preload.so.  Each function has its own event type.  In the image of a
 * log, its calls appear as the events that ThreadX would have recorded.
 */
enum {
	TXTRACE_CALL_WHOLE = 0,	 /* a call that did not wait */
	TXTRACE_CALL_BEGINS = 1, /* the thread begins to wait */
	TXTRACE_CALL_ENDS = 2	 /* the end of a call that waited */
};

struct txtrace_call {
	unsigned int native;  /* ThreadX's event id; 0: the image shows a user event */
	unsigned int word[4]; /* the information words in the image */
	int phase;
	unsigned int state;  /* ThreadX's state of a thread that waits in the call; 0: the call never waits */
	unsigned int object; /* handle of the object; 0: none, or not known */
	unsigned int waker;  /* handle of the thread that ended a wait; 0: not known */
	unsigned int __reserved_int;
	unsigned long long __reserved[4];
};

/*
 * Find out how the image of a log shows an event.  Pass the structure that a getnext function has filled in from this
 * log.  ENOENT: the event is not a call.  EINVAL: trid is not a pre-recorded stream of this process, or a pointer is
 * NULL.
 */
int txtrace_get_call(trace_id_t __trid, const struct posix_trace_event_info *__event,
		     struct txtrace_call *__call);

/*
 * The traced program calls this to give the object at this address a name in logs.  The object may be created later.
 * The name is valid until the object is destroyed.  Only the first 59 bytes of the name are used.  While the process is
 * not traced, the call does nothing.  Async-signal-safe.  EINVAL: a pointer is NULL.
 */
int txtrace_name_object(const void *__object, const char *__name);

/*
 * The controller of a stream with a log calls this to give names to objects that the traced program has not named. From
 * now on, when a call in the log refers to such an object for the first time, the library calls name().  name() stores
 * the name, with a null byte at its end, in at most size bytes at text, and returns 0.  Any other return value means
 * that the object has no name.  Only the members handle, type, pid, address, site and thread of *object are set.  The
 * thread that flushes the stream calls name().  This may be a thread of the library with a stack of 1 MiB.  name() must
 * not use trid.  If the argument name is NULL, the library stops calling a function.  EINVAL: trid is not an active
 * stream of this process with a log.
 */
int txtrace_set_namer(trace_id_t __trid,
		      int (*__name)(void *__argument, const struct txtrace_object *__object,
				    char *__text, size_t __size),
		      void *__argument);

/* A function that libtxtrace-preload.so wraps in the traced program. */
enum {
	TXTRACE_WRAPPER_MISSING = 1, /* the C library has no such function */
	TXTRACE_WRAPPER_INSTALLED = 2,
	TXTRACE_WRAPPER_FOREIGN = 3 /* installed, and calls another object that wraps the same function */
};

struct txtrace_wrapper {
	char symbol[40];
	char version[24]; /* version of the wrapped symbol; "": none */
	char call[64];	  /* name of the event type */
	int state;
	int __reserved_int;
	unsigned long long calls;
	unsigned long long samples;	/* calls for which the overhead of the wrapper was measured */
	unsigned long long overhead_ns; /* the sum of these overheads */
	unsigned long long __reserved[4];
};

/*
 * Get the next wrapper of an active stream or of a log.  At the end, return 0 and set *unavailable to nonzero.  Also do
 * this if no call of a wrapper was recorded.  EINVAL: trid is not a stream of this process, or a pointer is NULL.
 */
int txtrace_getnext_wrapper(trace_id_t __trid,
			    struct txtrace_wrapper *__posix_trace_restrict __wrapper,
			    int *__posix_trace_restrict __unavailable);
int txtrace_rewind_wrappers(trace_id_t __trid);

/* Facts about the file. */
struct txtrace_file_info {
	int foreign;		  /* 1: the file is not a log, but a trace buffer of ThreadX or a copy of a ring */
	int byte_swapped;	  /* 1: the file has not the byte order of this machine */
	int complete;		  /* 0: its writer died before it had completed the log */
	int text;		  /* 1: the file was Intel HEX, S-records or hex digits */
	double tick_ns; /* length of a tick of the image */
	unsigned int time_mask;	  /* time stamps of the image are modulo time_mask + 1 */
	unsigned int name_size;	  /* bytes of a name in the image's registry */
	unsigned int nr_objects;  /* entries in the registry of a volume, used or free */
	unsigned int nr_volumes;
	unsigned long long nr_slots;   /* slots for entries, in all volumes; 0: no limit */
	unsigned long long nr_entries; /* entries in use, also those for more data, fillers and early ends of volumes */
	unsigned long long nr_shortened; /* pauses that TraceX shows too short; the times of the events are exact */
	unsigned long long shortened_ns; /* total time that is missing in these pauses */
	int recovered;			 /* 1: its writer died, and another process completed it */
	int running;			 /* 1: its writer lives (TXTRACE_OPEN_RUNNING) */
	unsigned long long size;	 /* bytes of the file */
	unsigned long long whole_size; /* bytes that the file must have; 0: not known.  If size is less, it was cut */
	unsigned long long nr_events;  /* in the log, as its writer counted them; 0: not known */
	unsigned long long nr_missing; /* events of these that could not be read; valid when all events are read */
	int only_image; /* 1: a log whose POSIX section is lost; the events are those that TraceX would show */
	unsigned int format; /* version of the format of a log; 0: the file is not a log */
	int damaged;	     /* 1: only TXTRACE_OPEN_DAMAGED has opened it */
	/*
	 * Events that came to the log but are not in it: newer ones replaced them, a write failed, or the log was full;
	 * INT_MAX: that many or more.  While it is full, a log that takes no more events does not count them all.
	 */
	int nr_log_lost;
	unsigned long long nr_unlisted; /* times that TraceX shows a thread or an object without its name */
};

/* For a foreign trace file, this call may have to read all events once. */
int txtrace_get_file_info(trace_id_t __trid, struct txtrace_file_info *__info);

/*
 * The machine whose programs wrote the events of a file.  The data of user events are as these programs had them in
 * memory.  All else, and the data of system events and of calls, is in the form of this machine, as if the log were its
 * own.
 */
struct txtrace_machine {
	char name[24];	 /* as uname() told: "x86_64", "s390x"; "": not known */
	int is_big;	 /* 1: the highest byte of a number comes first */
	unsigned int of_long; /* bytes of a `long`, of an address and of a `long double` */
	unsigned int of_pointer;
	unsigned int of_long_double;
	unsigned int long_double_digits; /* LDBL_MANT_DIG, which tells the format of a `long double`; 0: not known */
	unsigned int align_max;		 /* the largest alignment of a member of a structure */
	int __reserved[8];
};

/* For a trace buffer of ThreadX, it is the usual machine of 32 bits, with the byte order of the file. */
int txtrace_get_machine(trace_id_t __trid, struct txtrace_machine *__machine);

/*
 * Get the modules that were loaded in the program that wrote the log, so that you can find the symbol for
 * posix_prog_address later.  The text has no terminating null.  It has one line for the program and for each shared
 * object:
 *
 *	<base> <begin> <end> <build-id> <path>
 *
 * All but the path are hexadecimal digits.  base is the difference between the addresses in memory and in the file.
 * The build-id is "-" if the module has none.  Store the length of the text in bytes in *length; it is 0 for a trace
 * buffer of ThreadX.  buffer may be NULL if size is 0.  ENOSPC: size is less than *length; the contents of buffer are
 * undefined.
 */
int txtrace_get_modules(trace_id_t __trid, char *__buffer, size_t __size, size_t *__length);

/*
 * Get the modules of a process in the same format: of a running process, or of one that has ended while a stream traced
 * it, as long as this stream exists.  The stream belongs to a process of the same user with the same TXTRACE_DIR.
 * Store as many whole lines as fit, and their length in *length.  ESRCH: the modules of this process are not known.
 */
int txtrace_get_process_modules(pid_t __pid, char *__buffer, size_t __size, size_t *__length);

/*
 * A process may execute several programs, one after the other.  Get the modules of the one to which the thread with
 * this handle belonged, or of the last one if the handle is 0, as that program stored them.  For this, a stream of
 * another process of the same user must have traced it, and must still exist.  Store the first handle of this program
 * in *first: its threads have handles from *first on, and the threads of the programs before it have smaller ones.  If
 * size is 0, store only that; then buffer may be NULL.  ESRCH: the modules of this program are not known.
 */
int txtrace_get_program_modules(pid_t __pid, unsigned int __handle, char *__buffer, size_t __size,
				size_t *__length, unsigned int *__first);

/*
 * Logs of controllers that were killed, or ended without exit().  Until the machine is restarted, the events that such
 * a controller had not written to its log yet are still in shared memory.  Any process of the same user with the same
 * TXTRACE_DIR can complete the log from there.  posix_trace_open() does so for the log that it opens, and
 * posix_trace_create() for all such logs.  The functions below do so, and also report the result.
 */

/*
 * Complete the log that file_desc refers to.  The descriptor may be open for reading only.  Return 0 also if the log is
 * already complete.  EINVAL: the file is not a log of this library and of this type of machine.  EBUSY: the controller
 * is alive, or another process is completing the log.  ENOENT: the log cannot be completed, because its events are no
 * longer in shared memory; you can read it up to the last flush.  After other errors, such as EMFILE, ENOMEM, or an
 * error of writing to the file, you can try again.
 */
int txtrace_recover(int __file_desc);

/*
 * Complete the logs of all dead controllers.  Store the number of completed logs in *nr_recovered, and the number of
 * logs that cannot be completed at present in *nr_left.  The function gives up a log that was removed, or moved to
 * another directory, after its last flush.  EINVAL: a pointer is NULL.  ENOMEM, EACCES, ...: there is no shared memory.
 */
int txtrace_recover_all(unsigned int *__posix_trace_restrict __nr_recovered,
			unsigned int *__posix_trace_restrict __nr_left);

/*
 * Complete the same logs, and call report() for each log, except for a log that another process is completing.  path is
 * the path of the log at its last flush; it is valid only during the call.  error is 0 or an error number.  ENOENT and
 * EINVAL: the log can never be completed; after other errors you can try again.  Return EINVAL if report is NULL.
 */
int txtrace_recover_each(void (*__tell)(const char *__path, int __error, void *__argument),
			 void *__argument);

/*
 * Write the log of `from` once more to `to`, without its unused space.  The events and what TraceX shows stay the same;
 * a log of posixtrace 0.1 gets the present format.  from is open for reading.  to is another, empty, regular file, open
 * for writing; after an error its contents are undefined.  If the controller of the log has died, complete the log
 * first, as txtrace_recover() does.  EBADF: a descriptor is not open in this way.  EINVAL: `from` is not a log of this
 * library and of this type of machine, or is damaged, or `to` is not an empty regular file.  EBUSY: the log is being
 * written.  Other errors: EIO, ENOMEM, ENOSPC, ...
 */
int txtrace_pack(int __from, int __to);

/*
 * Merged logs.  A merged log holds the events of several logs, its origins, which may come from several machines
 * (hosts). Each host has a number, because two hosts have processes and CPUs with the same numbers.  In a merged log,
 * pids, tids and CPUs of all functions and of all data that the library recorded are those of their host, plus the
 * number of the host times TXTRACE_HOST_PIDS or TXTRACE_HOST_CPUS:
 *
 *	pid 10001234	the process 1234 of host 1
 *	CPU 20003	CPU 3 of host 2
 *
 * All other logs have one host, with the number 0.
 */
#define TXTRACE_HOST_PIDS 10000000
#define TXTRACE_HOST_CPUS 10000

struct txtrace_origin {
	unsigned int host; /* number of the host */
	pid_t pid; /* the first process of the log: the modules are those of this process; 0 if it is not known */
	int merged;	/* 1: trid is a merged log */
	int __reserved_int;
	/* What was added to the times of this log: shift_ns, and drift * 10^-12 of the time since its first event. */
	long long shift_ns;
	long long drift;
	long long uncertainty_ns; /* the true times are not farther away; -1: not known */
	char name[64];		  /* of the file */
	char host_name[64];
	char boot_id[40];
	char uuid[40]; /* of the log, in hexadecimal digits */
	unsigned long long __reserved[4];
};

/*
 * Get origin number i of a log, from 0 on.  A log that is not merged has one: itself.  ENOENT: there are not so many.
 * EINVAL: trid is not a pre-recorded stream of this process, or origin is NULL.
 *
 * txtrace_get_origin_modules() gets the modules of an origin, as txtrace_get_modules() gets those of a log.  A merged
 * log has no modules of its own.
 */
int txtrace_get_origin(trace_id_t __trid, unsigned int __i, struct txtrace_origin *__origin);
int txtrace_get_origin_modules(trace_id_t __trid, unsigned int __i, char *__buffer, size_t __size, size_t *__length);

/*
 * The wall clock (CLOCK_REALTIME) of the machine while a log was recorded.  The times of events do not jump when the
 * wall clock is set.  So the writer reads it when it creates the log, each time that it writes to it, and at the end.
 * A run is the time from one setting of the wall clock to the next.
 */
struct txtrace_clock_error {
	unsigned long long time_ns; /* on the scale of the events */
	long long error_ns; /* the wall clock was at most this far from UTC, as the kernel told; -1: not known */
};

struct txtrace_clock_run {
	unsigned long long nr_readings; /* of all runs */
	unsigned int nr_runs;		/* that there were; a log keeps the first one and the last two */
	unsigned int __reserved_int;
	unsigned long long from_ns, until_ns; /* the first and the last reading, on the scale of the events */
	long long low_ns, high_ns; /* the wall clock minus the scale of the events was between these */
	struct txtrace_clock_error error[3]; /* of the first reading with one, of the smallest one, of the last one */
	unsigned long long __reserved[4];
};

/*
 * Get run number i of those that the log keeps, from 0 on.  ENOENT: there are not so many; a merged log, and a log of
 * an earlier version, have none.  EINVAL: trid is not a pre-recorded stream of this process, or run is NULL.
 */
int txtrace_get_clock(trace_id_t __trid, unsigned int __i, struct txtrace_clock_run *__run);

/*
 * Make a merged log of logs that are open.  txtrace_merge_begin() makes it; file_desc is open for writing, and the file
 * is empty.  The logs may be closed afterwards.  txtrace_merge_event() appends an event of the log with this number in
 * the list.  Its members are those that txtrace_getnext_events() returns, except for offset, which is ignored, and
 * time_ns, which is the time in the merged log; data has event->length bytes.  The caller appends the events of all
 * logs in the order of their new times.  txtrace_merge_origin() notes for one of the logs the name of its file, and
 * what was added to its times; other members of *origin are ignored.  txtrace_merge_missing() notes for one of the logs
 * how many of its events could not be read: nr_missing of struct txtrace_file_info, when all of its events are read.
 * Then the merged log has the status POSIX_TRACE_OVERRUN of a log that lacks events.  txtrace_merge_end() completes the
 * merged log and frees the merge, also after an error.  These functions are thread-safe for different merges.
 *
 * Two logs are of the same host if boot id, name of the host and pid namespace are the same.  On one host, threads with
 * the same pid and tid are one thread, unless their processes have no module at the same address.
 *
 * EINVAL: a pointer is NULL, one of the logs is not a log, or there is no log with this number.  E2BIG: more than 214
 * hosts, or more event types or descriptions than a log can have.  EBADF, ENOMEM, ENOSPC, ...: as from
 * posix_trace_create_withlog().
 */
struct txtrace_merge;

int txtrace_merge_begin(int __file_desc, const trace_id_t *__logs, unsigned int __nr_logs,
			struct txtrace_merge **__merge);
int txtrace_merge_event(struct txtrace_merge *__merge, unsigned int __log, const struct txtrace_event *__event,
			const void *__data);
int txtrace_merge_origin(struct txtrace_merge *__merge, unsigned int __log, const struct txtrace_origin *__origin);
int txtrace_merge_missing(struct txtrace_merge *__merge, unsigned int __log, unsigned long long __nr_missing);
int txtrace_merge_end(struct txtrace_merge *__merge);

/*
 * Set the length of a tick of a foreign trace file, in nanoseconds.  The default is the length in the file.  Only files
 * of this library and of txtrace contain it; for other files the default is 1000.  EINVAL also means that trid is not a
 * foreign trace file, or that tick_ns is not between 1e-9 and 1e15.
 */
int txtrace_set_tick(trace_id_t __trid, double __tick_ns);

#ifdef __cplusplus
}
#endif

#endif
