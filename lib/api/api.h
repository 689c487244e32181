/* SPDX-License-Identifier: MIT */
/*
 * Common declarations for the files of the public functions.  An object of a public type, such as trace_attr_t,
 * contains an object of the library's own type, such as struct px_attr.  The assertions here check that sizes, limits
 * and numbers match.
 */
#ifndef PX_API_API_H
#define PX_API_API_H

#include <errno.h>
#include <trace_ext.h>

#include "base/compiler.h"
#include "event/attr.h"
#include "event/eventset.h"
#include "event/names.h"
#include "registry/registry.h"
#include "ring/report.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "trace/types.h"

_Static_assert(sizeof(struct px_attr) <= sizeof(trace_attr_t), "trace_attr_t is too small");
_Static_assert(_Alignof(struct px_attr) <= _Alignof(trace_attr_t), "alignment of trace_attr_t");
_Static_assert(sizeof(struct px_eventset) == sizeof(trace_event_set_t),
	       "size of trace_event_set_t");
_Static_assert(_Alignof(struct px_eventset) <= _Alignof(trace_event_set_t),
	       "alignment of trace_event_set_t");

_Static_assert(PX_NAME_MAX == TRACE_EVENT_NAME_MAX, "TRACE_EVENT_NAME_MAX");
_Static_assert(PX_TRACE_NAME_MAX == TRACE_NAME_MAX, "TRACE_NAME_MAX");
_Static_assert(PX_STREAMS_MAX == TRACE_SYS_MAX, "TRACE_SYS_MAX");
_Static_assert(PX_TYPES_MAX == TRACE_USER_EVENT_MAX, "TRACE_USER_EVENT_MAX");
_Static_assert(PX_EVENT_IDS - PX_EVENT_UNNAMED >= TRACE_USER_EVENT_MAX, "there are as many ids");

_Static_assert(PX_POLICY_LOOP == POSIX_TRACE_LOOP, "LOOP");
_Static_assert(PX_POLICY_UNTIL_FULL == POSIX_TRACE_UNTIL_FULL, "UNTIL_FULL");
_Static_assert(PX_POLICY_FLUSH == POSIX_TRACE_FLUSH, "FLUSH");
_Static_assert(PX_POLICY_APPEND == POSIX_TRACE_APPEND, "APPEND");

_Static_assert(PX_EVENT_ERROR == POSIX_TRACE_ERROR, "ERROR");
_Static_assert(PX_EVENT_START == POSIX_TRACE_START, "START");
_Static_assert(PX_EVENT_STOP == POSIX_TRACE_STOP, "STOP");
_Static_assert(PX_EVENT_FILTER == POSIX_TRACE_FILTER, "FILTER");
_Static_assert(PX_EVENT_OVERFLOW == POSIX_TRACE_OVERFLOW, "OVERFLOW");
_Static_assert(PX_EVENT_RESUME == POSIX_TRACE_RESUME, "RESUME");
_Static_assert(PX_EVENT_FLUSH_START == POSIX_TRACE_FLUSH_START, "FLUSH_START");
_Static_assert(PX_EVENT_FLUSH_STOP == POSIX_TRACE_FLUSH_STOP, "FLUSH_STOP");
_Static_assert(PX_EVENT_SWITCH_IN == TXTRACE_SWITCH_IN, "SWITCH_IN");
_Static_assert(PX_EVENT_SWITCH_OUT == TXTRACE_SWITCH_OUT, "SWITCH_OUT");
_Static_assert(PX_EVENT_SCHED_THREAD == TXTRACE_SCHED_THREAD, "SCHED_THREAD");
_Static_assert(PX_EVENT_SCHED_GAP == TXTRACE_SCHED_GAP, "SCHED_GAP");
_Static_assert(PX_EVENT_SCHED_START == TXTRACE_SCHED_START, "SCHED_START");
_Static_assert(PX_EVENT_SCHED_STOP == TXTRACE_SCHED_STOP, "SCHED_STOP");
_Static_assert(PX_EVENT_UNNAMED == POSIX_TRACE_UNNAMED_USEREVENT, "UNNAMED_USEREVENT");

/*
 * Indexes into the reserved array of struct posix_trace_event_info.  These elements hold the data that the functions of
 * <trace_ext.h> return.
 */
enum {
	PX_INFO_CONTEXT,
	PX_INFO_PRIORITY,
	PX_INFO_CPU,
	PX_INFO_PLACE_LOW,
	PX_INFO_PLACE_HIGH,
	PX_INFO_ADDRESS_HIGH, /* what the standard's members have no room for on a machine of 32 bits */
	PX_INFO_THREAD_HIGH
};

/* Return posix_truncation_status. */
static inline int px_truncation(const struct px_report *report)
{
	if (report->copied < report->length)
		return POSIX_TRACE_TRUNCATED_READ; /* GETNEXT-5: this takes precedence over TRUNCATED_RECORD */
	return report->record.flags & PX_RECORD_TRUNCATED ? POSIX_TRACE_TRUNCATED_RECORD :
							    POSIX_TRACE_NOT_TRUNCATED;
}

/* Return TXTRACE_CALL_... for the flags of a record of a call. */
static inline int px_call_phase(uint32_t flags)
{
	if (flags & PX_RECORD_BEGINS)
		return TXTRACE_CALL_BEGINS;
	return flags & PX_RECORD_ENDS ? TXTRACE_CALL_ENDS : TXTRACE_CALL_WHOLE;
}

/* The following functions only convert the type of a pointer.  NULL stays NULL. */
static inline struct px_attr *px_attr_of(trace_attr_t *attr)
{
	return (struct px_attr *)attr;
}

static inline const struct px_attr *px_attr_to_read(const trace_attr_t *attr)
{
	return (const struct px_attr *)attr;
}

static inline struct px_eventset *px_eventset_of(trace_event_set_t *set)
{
	return (struct px_eventset *)set;
}

static inline const struct px_eventset *px_eventset_to_read(const trace_event_set_t *set)
{
	return (const struct px_eventset *)set;
}

#endif
