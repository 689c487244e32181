/* SPDX-License-Identifier: MIT */
/*
 * The events of a trace as messages of Babeltrace 2, for a source component.  ctf_events.h makes the events.
 *
 * There is one stream, divided into packets.  A gap becomes a packet without events.  This packet records that events
 * were discarded.  A log knows only how many it lost in all, so only the packet of the only gap has the number.  Events
 * of which the log has no OVERFLOW have a gap before the first event, if a full log replaced its oldest events, or else
 * after the last one.  The events of spans are in the same stream, each directly before the event that begins the span.
 */
#ifndef TXTRACE_EXPORT_CTF_MESSAGES_H
#define TXTRACE_EXPORT_CTF_MESSAGES_H

#include <babeltrace2/babeltrace.h>

#include "export/ctf_events.h"
#include "export/span_list.h"
#include "trace/selection.h"

enum ctf_step {
	CTF_BEGIN,
	CTF_BETWEEN,
	CTF_GAP,
	CTF_GAP_OPEN,
	CTF_GAP_CLOSE,
	CTF_OPEN,
	CTF_EVENTS,
	CTF_END,
	CTF_OVER
};

struct ctf_messages {
	struct source *source;
	const struct selection *selection;
	struct ctf_events events; /* ctf_events_begin() */
	bt_packet *packet;

	enum ctf_step step;
	struct event event; /* the next event, if has_event */
	bool has_event, is_at_end;
	uint64_t last_ns; /* time of the last message */
	uint64_t gap_end_ns;
	uint64_t nr_in_packet;
	bool has_packet;    /* a packet was begun */
	struct span_list spans;
	size_t next_span;

	/* Numbers of lost events; 0: not known. */
	uint64_t nr_in_gap; /* in the only OVERFLOW */
	uint64_t nr_at_begin, nr_at_end;
	bool has_begin, has_end; /* events before the first one, or after the last one, are lost without an OVERFLOW */
	bool is_begin_told, is_end_told;
};

/*
 * Read the gaps and the spans of a source.  `spans` are those of the options.  After this, call ctf_events_begin() for
 * the member events, and then ctf_messages_next().
 */
void ctf_messages_prepare(struct ctf_messages *ctf, struct source *source, const struct selection *selection,
			  const struct spans *spans);

/* The method of an iterator: store the next messages. */
bt_message_iterator_class_next_method_status ctf_messages_next(struct ctf_messages *ctf,
							       bt_self_message_iterator *iterator,
							       bt_message_array_const messages, uint64_t capacity,
							       uint64_t *count);

/* Begin again with the first message. */
void ctf_messages_rewind(struct ctf_messages *ctf);

/* Release the objects of Babeltrace, but not after a failed graph: see ctf_events_put_refs(). */
void ctf_messages_put_refs(struct ctf_messages *ctf);
void ctf_messages_free(struct ctf_messages *ctf);

#endif
