/* SPDX-License-Identifier: MIT */
/*
 * Level 5 only: what the pages of the standard share.  The public types are ours under another
 * name; what must agree for that is asserted here.
 */
#ifndef PX_PAGES_H
#define PX_PAGES_H

#include <assert.h>
#include <errno.h>
#include <trace.h>

#include "attr.h"
#include "compiler.h"
#include "eventset.h"
#include "handle.h"
#include "names.h"
#include "stream.h"

static_assert(sizeof(struct px_attr) <= sizeof(trace_attr_t), "trace_attr_t is too small");
static_assert(_Alignof(struct px_attr) <= _Alignof(trace_attr_t), "alignment of trace_attr_t");
static_assert(sizeof(struct px_eventset) == sizeof(trace_event_set_t), "size of trace_event_set_t");
static_assert(_Alignof(struct px_eventset) <= _Alignof(trace_event_set_t),
	      "alignment of trace_event_set_t");

static_assert(PX_NAME_MAX == TRACE_EVENT_NAME_MAX, "TRACE_EVENT_NAME_MAX");
static_assert(PX_TRACE_NAME_MAX == TRACE_NAME_MAX, "TRACE_NAME_MAX");
static_assert(PX_EVENT_IDS - PX_EVENT_UNNAMED >= TRACE_USER_EVENT_MAX, "TRACE_USER_EVENT_MAX");

static_assert(PX_POLICY_LOOP == POSIX_TRACE_LOOP, "LOOP");
static_assert(PX_POLICY_UNTIL_FULL == POSIX_TRACE_UNTIL_FULL, "UNTIL_FULL");
static_assert(PX_POLICY_FLUSH == POSIX_TRACE_FLUSH, "FLUSH");
static_assert(PX_POLICY_APPEND == POSIX_TRACE_APPEND, "APPEND");

static_assert(PX_EVENT_ERROR == POSIX_TRACE_ERROR, "ERROR");
static_assert(PX_EVENT_START == POSIX_TRACE_START, "START");
static_assert(PX_EVENT_STOP == POSIX_TRACE_STOP, "STOP");
static_assert(PX_EVENT_FILTER == POSIX_TRACE_FILTER, "FILTER");
static_assert(PX_EVENT_OVERFLOW == POSIX_TRACE_OVERFLOW, "OVERFLOW");
static_assert(PX_EVENT_RESUME == POSIX_TRACE_RESUME, "RESUME");
static_assert(PX_EVENT_FLUSH_START == POSIX_TRACE_FLUSH_START, "FLUSH_START");
static_assert(PX_EVENT_FLUSH_STOP == POSIX_TRACE_FLUSH_STOP, "FLUSH_STOP");
static_assert(PX_EVENT_UNNAMED == POSIX_TRACE_UNNAMED_USEREVENT, "UNNAMED_USEREVENT");

/* NULL stays NULL, here and below. */
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
