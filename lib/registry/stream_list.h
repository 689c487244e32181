/* SPDX-License-Identifier: MIT */
/*
 * Which streams there are, for any process of the user: from the registry, and from the first part of each segment
 * and of each of its rings.  Nothing is mapped or kept open, and nobody is waited for.  What is read is input, and
 * may change while it is read.
 */
#ifndef PX_REGISTRY_STREAM_LIST_H
#define PX_REGISTRY_STREAM_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "event/attr.h"
#include "registry/registry.h"
#include "ring/segment.h"

/* A stream as it is from outside. */
struct px_stream_list_entry {
	char name[PX_TRACE_NAME_MAX + 1];
	uint32_t policy; /* enum px_full_policy, or whatever stands there */
	bool is_running, is_full;
	uint64_t
		nr_recorded; /* since it was made; reserved in its rings, so with what was abandoned */
	uint64_t nr_dropped;
};

/*
 * The stream in this registry slot.  False: there is none, or it ends just now, or what stands there is no segment.
 * Not async-signal-safe.
 */
bool px_stream_list_read(uint32_t index, struct px_registry_slot *slot,
			 struct px_stream_list_entry *entry);

/* A stream that this process has mapped. */
void px_stream_list_describe(const struct px_view *view, struct px_stream_list_entry *entry);

#endif
