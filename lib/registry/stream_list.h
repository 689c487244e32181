/* SPDX-License-Identifier: MIT */
/*
 * List the streams, for any process of the user.  The data come from the registry, the first part of each segment, and
 * the control pages of its rings.  These functions map no memory, keep no file open and do not wait for other
 * processes.  The data are untrusted input and may change while they are read.
 */
#ifndef PX_REGISTRY_STREAM_LIST_H
#define PX_REGISTRY_STREAM_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "event/attr.h"
#include "registry/registry.h"
#include "ring/segment.h"

/* What other processes can see of a stream. */
struct px_stream_list_entry {
	char name[PX_TRACE_NAME_MAX + 1];
	uint32_t policy; /* enum px_full_policy, but untrusted: it may have any value */
	bool is_running, is_full;
	uint64_t nr_recorded; /* number of events since creation; it includes abandoned records */
	uint64_t nr_dropped;
};

/*
 * Describe the stream in this registry slot.  Return false if there is no stream, the stream is ending, or it has no
 * valid segment.  Not async-signal-safe.
 */
bool px_stream_list_read(uint32_t index, struct px_registry_slot *slot,
			 struct px_stream_list_entry *entry);

/* Describe a stream that this process has mapped. */
void px_stream_list_describe(const struct px_view *view, struct px_stream_list_entry *entry);

#endif
