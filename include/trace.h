/* SPDX-License-Identifier: MIT */
/*
 * <trace.h>: the tracing interface of IEEE Std 1003.1-2008 (options TRC, TEF, TRI, TRL).
 *
 * This header contains only what POSIX defines; extensions are in <trace_ext.h>.  All functions except
 * posix_trace_event() and posix_trace_eventid_equal() return 0 or an error number.  None changes errno.  All functions
 * are thread-safe.  Only posix_trace_event() is async-signal-safe.
 *
 * glibc's <unistd.h> defines _POSIX_TRACE and the other option macros as -1 (not supported).  This header
 * redefines them, so include it before you test them.
 */
#ifndef _TRACE_H
#define _TRACE_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if defined __GLIBC__
#include <bits/pthreadtypes.h> /* pthread_t; <sys/types.h> hides it in strict ISO C */
#else
#include <pthread.h>
#endif
/* The library has times of 64 bits, on every machine.  pkg-config tells the options that programs need. */
#if defined __TIMESIZE && defined __GLIBC_PREREQ && !defined _TXTRACE_TIME_OF_ITS_OWN
#if __TIMESIZE == 32 && __GLIBC_PREREQ(2, 34) && !defined __USE_TIME_BITS64
#error <trace.h> needs the options -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
#endif
#endif

#undef _POSIX_TRACE
#undef _POSIX_TRACE_EVENT_FILTER
#undef _POSIX_TRACE_INHERIT
#undef _POSIX_TRACE_LOG
#define _POSIX_TRACE 200809L
#define _POSIX_TRACE_EVENT_FILTER 200809L
#define _POSIX_TRACE_INHERIT 200809L
#define _POSIX_TRACE_LOG 200809L

/* Limits.  Lengths do not include the terminating null, except TRACE_NAME_MAX. */
#ifndef _POSIX_TRACE_EVENT_NAME_MAX
#define _POSIX_TRACE_EVENT_NAME_MAX 30
#endif
#ifndef _POSIX_TRACE_NAME_MAX
#define _POSIX_TRACE_NAME_MAX 8
#endif
#ifndef _POSIX_TRACE_SYS_MAX
#define _POSIX_TRACE_SYS_MAX 8
#endif
#ifndef _POSIX_TRACE_USER_EVENT_MAX
#define _POSIX_TRACE_USER_EVENT_MAX 32
#endif
#ifndef TRACE_EVENT_NAME_MAX
#define TRACE_EVENT_NAME_MAX 59 /* the registry of a trace buffer has 60 bytes for a name */
#endif
#ifndef TRACE_NAME_MAX
#define TRACE_NAME_MAX 63
#endif
#ifndef TRACE_SYS_MAX
#define TRACE_SYS_MAX 64
#endif
#ifndef TRACE_USER_EVENT_MAX
#define TRACE_USER_EVENT_MAX 1024 /* the predefined unnamed user event is one of them */
#endif

#ifdef __cplusplus
extern "C" {
#define __posix_trace_restrict
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
#define __posix_trace_restrict restrict
#else
#define __posix_trace_restrict __restrict
#endif

/* Types. */

/* An attributes object contains no pointers, and owns no memory that must be freed. */
typedef struct {
	unsigned long long __opaque[64];
} trace_attr_t;

typedef unsigned int trace_event_id_t;

/* A set has one bit for each possible event type id.  It contains no pointers, and can be copied by assignment. */
typedef struct {
	unsigned long long __bits[64];
} trace_event_set_t;

typedef unsigned long trace_id_t;

struct posix_trace_event_info {
	trace_event_id_t posix_event_id;
	pid_t posix_pid;
	void *posix_prog_address;
	pthread_t posix_thread_id;
	struct timespec posix_timestamp;
	int posix_truncation_status;
	int __reserved[7];
};

struct posix_trace_status_info {
	int posix_stream_status;
	int posix_stream_full_status;
	int posix_stream_overrun_status;
	int posix_stream_flush_status;
	int posix_stream_flush_error;
	int posix_log_overrun_status;
	int posix_log_full_status;
	int __reserved[9];
};

/* posix_stream_status */
#define POSIX_TRACE_SUSPENDED 0
#define POSIX_TRACE_RUNNING 1

/* posix_stream_full_status, posix_log_full_status */
#define POSIX_TRACE_NOT_FULL 0
#define POSIX_TRACE_FULL 1

/* posix_stream_overrun_status, posix_log_overrun_status */
#define POSIX_TRACE_NO_OVERRUN 0
#define POSIX_TRACE_OVERRUN 1

/* posix_stream_flush_status */
#define POSIX_TRACE_NOT_FLUSHING 0
#define POSIX_TRACE_FLUSHING 1

/* posix_truncation_status */
#define POSIX_TRACE_NOT_TRUNCATED 0
#define POSIX_TRACE_TRUNCATED_RECORD 1
#define POSIX_TRACE_TRUNCATED_READ 2

/* Inheritance. */
#define POSIX_TRACE_CLOSE_FOR_CHILD 0
#define POSIX_TRACE_INHERITED 1

/* Full policies.  LOOP and UNTIL_FULL are for streams and logs, FLUSH is for streams, APPEND is for logs. */
#define POSIX_TRACE_LOOP 1
#define POSIX_TRACE_UNTIL_FULL 2
#define POSIX_TRACE_FLUSH 3
#define POSIX_TRACE_APPEND 4

/* Event types; 0 is never an event type. */
#define POSIX_TRACE_ERROR 1u
#define POSIX_TRACE_START 2u
#define POSIX_TRACE_STOP 3u
#define POSIX_TRACE_FILTER 4u
#define POSIX_TRACE_OVERFLOW 5u
#define POSIX_TRACE_RESUME 6u
#define POSIX_TRACE_FLUSH_START 7u
#define POSIX_TRACE_FLUSH_STOP 8u
#define POSIX_TRACE_UNNAMED_USEREVENT 16u
#define POSIX_TRACE_UNNAMED_USER_EVENT POSIX_TRACE_UNNAMED_USEREVENT

/* posix_trace_eventset_fill() */
#define POSIX_TRACE_WOPID_EVENTS 1
#define POSIX_TRACE_SYSTEM_EVENTS 2
#define POSIX_TRACE_ALL_EVENTS 3

/* posix_trace_set_filter() */
#define POSIX_TRACE_SET_EVENTSET 1
#define POSIX_TRACE_ADD_EVENTSET 2
#define POSIX_TRACE_SUB_EVENTSET 3

/* Attributes. */
int posix_trace_attr_init(trace_attr_t *__attr);
int posix_trace_attr_destroy(trace_attr_t *__attr);
int posix_trace_attr_getclockres(const trace_attr_t *__attr, struct timespec *__resolution);
int posix_trace_attr_getcreatetime(const trace_attr_t *__attr, struct timespec *__createtime);
int posix_trace_attr_getgenversion(const trace_attr_t *__attr, char *__genversion);
int posix_trace_attr_getname(const trace_attr_t *__attr, char *__tracename);
int posix_trace_attr_setname(trace_attr_t *__attr, const char *__tracename);
int posix_trace_attr_getinherited(const trace_attr_t *__posix_trace_restrict __attr,
				  int *__posix_trace_restrict __inheritancepolicy);
int posix_trace_attr_setinherited(trace_attr_t *__attr, int __inheritancepolicy);
int posix_trace_attr_getstreamfullpolicy(const trace_attr_t *__posix_trace_restrict __attr,
					 int *__posix_trace_restrict __streampolicy);
int posix_trace_attr_setstreamfullpolicy(trace_attr_t *__attr, int __streampolicy);
int posix_trace_attr_getlogfullpolicy(const trace_attr_t *__posix_trace_restrict __attr,
				      int *__posix_trace_restrict __logpolicy);
int posix_trace_attr_setlogfullpolicy(trace_attr_t *__attr, int __logpolicy);
int posix_trace_attr_getlogsize(const trace_attr_t *__posix_trace_restrict __attr,
				size_t *__posix_trace_restrict __logsize);
int posix_trace_attr_setlogsize(trace_attr_t *__attr, size_t __logsize);
int posix_trace_attr_getmaxdatasize(const trace_attr_t *__posix_trace_restrict __attr,
				    size_t *__posix_trace_restrict __maxdatasize);
int posix_trace_attr_setmaxdatasize(trace_attr_t *__attr, size_t __maxdatasize);
int posix_trace_attr_getmaxsystemeventsize(const trace_attr_t *__posix_trace_restrict __attr,
					   size_t *__posix_trace_restrict __eventsize);
int posix_trace_attr_getmaxusereventsize(const trace_attr_t *__posix_trace_restrict __attr,
					 size_t __data_len,
					 size_t *__posix_trace_restrict __eventsize);
int posix_trace_attr_getstreamsize(const trace_attr_t *__posix_trace_restrict __attr,
				   size_t *__posix_trace_restrict __streamsize);
int posix_trace_attr_setstreamsize(trace_attr_t *__attr, size_t __streamsize);

/* Control of a stream. */
int posix_trace_create(pid_t __pid, const trace_attr_t *__posix_trace_restrict __attr,
		       trace_id_t *__posix_trace_restrict __trid);
int posix_trace_create_withlog(pid_t __pid, const trace_attr_t *__posix_trace_restrict __attr,
			       int __file_desc, trace_id_t *__posix_trace_restrict __trid);
int posix_trace_flush(trace_id_t __trid);
int posix_trace_shutdown(trace_id_t __trid);
int posix_trace_clear(trace_id_t __trid);
int posix_trace_start(trace_id_t __trid);
int posix_trace_stop(trace_id_t __trid);
int posix_trace_get_attr(trace_id_t __trid, trace_attr_t *__attr);
int posix_trace_get_status(trace_id_t __trid, struct posix_trace_status_info *__statusinfo);
int posix_trace_get_filter(trace_id_t __trid, trace_event_set_t *__set);
int posix_trace_set_filter(trace_id_t __trid, const trace_event_set_t *__set, int __how);

/* Trace points and event types. */
void posix_trace_event(trace_event_id_t __event_id, const void *__posix_trace_restrict __data_ptr,
		       size_t __data_len);
int posix_trace_eventid_open(const char *__posix_trace_restrict __event_name,
			     trace_event_id_t *__posix_trace_restrict __event_id);
int posix_trace_trid_eventid_open(trace_id_t __trid,
				  const char *__posix_trace_restrict __event_name,
				  trace_event_id_t *__posix_trace_restrict __event);
int posix_trace_eventid_equal(trace_id_t __trid, trace_event_id_t __event1,
			      trace_event_id_t __event2);
int posix_trace_eventid_get_name(trace_id_t __trid, trace_event_id_t __event, char *__event_name);
int posix_trace_eventtypelist_getnext_id(trace_id_t __trid,
					 trace_event_id_t *__posix_trace_restrict __event,
					 int *__posix_trace_restrict __unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t __trid);

/* Event sets. */
int posix_trace_eventset_add(trace_event_id_t __event_id, trace_event_set_t *__set);
int posix_trace_eventset_del(trace_event_id_t __event_id, trace_event_set_t *__set);
int posix_trace_eventset_empty(trace_event_set_t *__set);
int posix_trace_eventset_fill(trace_event_set_t *__set, int __what);
int posix_trace_eventset_ismember(trace_event_id_t __event_id,
				  const trace_event_set_t *__posix_trace_restrict __set,
				  int *__posix_trace_restrict __ismember);

/* Retrieval. */
int posix_trace_getnext_event(trace_id_t __trid,
			      struct posix_trace_event_info *__posix_trace_restrict __event,
			      void *__posix_trace_restrict __data, size_t __num_bytes,
			      size_t *__posix_trace_restrict __data_len,
			      int *__posix_trace_restrict __unavailable);
int posix_trace_timedgetnext_event(trace_id_t __trid,
				   struct posix_trace_event_info *__posix_trace_restrict __event,
				   void *__posix_trace_restrict __data, size_t __num_bytes,
				   size_t *__posix_trace_restrict __data_len,
				   int *__posix_trace_restrict __unavailable,
				   const struct timespec *__posix_trace_restrict __abstime);
int posix_trace_trygetnext_event(trace_id_t __trid,
				 struct posix_trace_event_info *__posix_trace_restrict __event,
				 void *__posix_trace_restrict __data, size_t __num_bytes,
				 size_t *__posix_trace_restrict __data_len,
				 int *__posix_trace_restrict __unavailable);

/* Pre-recorded streams. */
int posix_trace_open(int __file_desc, trace_id_t *__trid);
int posix_trace_rewind(trace_id_t __trid);
int posix_trace_close(trace_id_t __trid);

/*
 * This trace point costs less than a call while the process is not traced.  It calls the function only if two words
 * differ, and they differ as soon as this process may be traced.  The function checks again, so the words need not be
 * exact.  To call the function directly, use #undef posix_trace_event, or (posix_trace_event)(...).
 */
#if defined __GNUC__
extern const unsigned int *__posix_trace_gate;

static __inline__ __attribute__((__always_inline__, __unused__)) void
__posix_trace_point(trace_event_id_t __event_id, const void *__data_ptr, size_t __data_len)
{
	if (__builtin_expect(__atomic_load_n(__posix_trace_gate, __ATOMIC_RELAXED) !=
				     __atomic_load_n(__posix_trace_gate + 1, __ATOMIC_RELAXED),
			     0))
		posix_trace_event(__event_id, __data_ptr, __data_len);
}
#define posix_trace_event(...) __posix_trace_point(__VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
