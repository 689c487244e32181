/* SPDX-License-Identifier: MIT */
/*
 * The trace buffer in the memory of the caller: header, registry, entries.
 *
 * A thread writes an entry while it holds the lock, with the time stamp that it takes then.  So entries are whole, and
 * stamps of the default source never fall.  The words are stored one by one with atomic stores, because another thread
 * may copy the buffer meanwhile; `current` in the header is the last one.
 */
#ifndef PX_THREADX_BUFFER_H
#define PX_THREADX_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include <tx_trace_posix.h>

#include "base/atomic.h"
#include "lock.h"
#include "objects.h"

struct px_tx_trace {
	TX_TRACE_BUFFER_ENTRY *current; /* the next entry; NULL: the trace is off */
	uint32_t enabled;		/* groups */
	TX_TRACE_HEADER *header;
	TX_TRACE_BUFFER_ENTRY *start, *end;
	uint32_t start_address; /* in the header, of the first entry */
	ULONG (*time_source)(VOID);
	bool is_smp;
	uint64_t last_ticks;
	uint32_t nr_lost;
	VOID (*notify)(VOID *buffer);
};

extern struct px_tx_trace px_tx_trace __attribute__((aligned(PX_CACHE_LINE), visibility("hidden")));

PX_INLINE bool px_tx_is_on(void)
{
	return px_read_once(&px_tx_trace.current) != NULL;
}

PX_INLINE bool px_tx_is_enabled(uint32_t group)
{
	return (px_read_once(&px_tx_trace.enabled) & group) != 0;
}

/*
 * Begin a trace in this memory, with the objects that exist and two RUNNING events.  The arguments are valid.  Return
 * TX_SUCCESS, or TX_NOT_DONE if memory is short.  The caller holds the lock.
 */
UINT px_tx_buffer_begin(void *memory, uint32_t size, uint32_t nr_slots, const struct tx_trace_posix_port *port);

/* End the trace.  The memory stays as it is.  The caller holds the lock. */
void px_tx_buffer_end(void);

/*
 * Record the event if the trace is on: now, or when the thread leaves the lock if a signal handler calls this inside.
 * Store the entry, or NULL, and its stamp.
 */
void px_tx_buffer_insert(struct px_tx_thread *self, const struct px_tx_event *event, TX_TRACE_BUFFER_ENTRY **entry,
			 uint32_t *stamp);

/* Leave the lock, but first do what signal handlers have left for this thread. */
void px_tx_buffer_leave(struct px_tx_thread *self, uint32_t before);

#endif
