/* SPDX-License-Identifier: MIT */
#include "export/ctf_messages.h"

#include "base/memory.h"
#include "base/message.h"

#define PACKET_EVENTS 65536

/* Make sure that ctf->event has the next event.  Return false if there are no more events. */
static bool peek(struct ctf_messages *ctf)
{
	if (!ctf->has_event && !ctf->is_at_end) {
		ctf->has_event = selection_next(ctf->selection, ctf->source, &ctf->event);
		ctf->is_at_end = !ctf->has_event;
	}
	return ctf->has_event;
}

/*
 * Return the time of the next message.  The times of a stream must not fall.  An OVERFLOW may have an earlier time.
 * Then use the time of the last message.
 */
static uint64_t time_of(struct ctf_messages *ctf)
{
	uint64_t time_ns = ctf->event.time_ns > 0 ? (uint64_t)ctf->event.time_ns : 0;

	return ctf->has_event && time_ns > ctf->last_ns ? time_ns : ctf->last_ns;
}

static const bt_message *begin_packet(struct ctf_messages *ctf, bt_self_message_iterator *iterator,
				      enum ctf_step step)
{
	ctf->packet = must(bt_packet_create(ctf->events.stream));
	ctf->nr_in_packet = 0;
	ctf->step = step;
	return must(bt_message_packet_beginning_create_with_default_clock_snapshot(iterator, ctf->packet,
										   ctf->last_ns));
}

static const bt_message *end_packet(struct ctf_messages *ctf, bt_self_message_iterator *iterator,
				    enum ctf_step step)
{
	const bt_message *message = must(bt_message_packet_end_create_with_default_clock_snapshot(
		iterator, ctf->packet, ctf->last_ns));

	bt_packet_put_ref(ctf->packet);
	ctf->packet = NULL;
	ctf->step = step;
	return message;
}

/* Make the packet of a gap.  The format records losses only between the ends of two packets. */
static const bt_message *discard_events(struct ctf_messages *ctf, bt_self_message_iterator *iterator)
{
	bt_message *message;

	ctf->has_event = false; /* the packet of the gap replaces this OVERFLOW */
	peek(ctf);
	ctf->gap_end_ns = time_of(ctf);
	ctf->step = CTF_GAP_OPEN;
	message = must(bt_message_discarded_events_create_with_default_clock_snapshots(
		iterator, ctf->events.stream, ctf->last_ns, ctf->gap_end_ns));
	if (ctf->nr_in_gap > 0)
		bt_message_discarded_events_set_count(message, ctf->nr_in_gap);
	return message;
}

static bool is_at_gap(struct ctf_messages *ctf)
{
	return peek(ctf) && ctf->event.type == POSIX_TRACE_OVERFLOW;
}

static const bt_message *put_event(struct ctf_messages *ctf, bt_self_message_iterator *iterator)
{
	struct ctf_shape shape = ctf_events_shape(&ctf->events, &ctf->event);
	bt_message *message;
	bt_event *event;

	ctf->last_ns = time_of(ctf);
	message = must(bt_message_event_create_with_packet_and_default_clock_snapshot(
		iterator, ctf_events_class(&ctf->events, &ctf->event, &shape), ctf->packet, ctf->last_ns));
	event = bt_message_event_borrow_event(message);
	ctf_events_fill(&ctf->events, &ctf->event, &shape, event);
	ctf->has_event = false;
	ctf->nr_in_packet++;
	return message;
}

/* Return true if a span begins with the next event, or before. */
static bool is_at_span(struct ctf_messages *ctf)
{
	return ctf->next_span < ctf->spans.nr && peek(ctf) &&
	       ctf->spans.time[ctf->next_span].number <= ctf->event.number;
}

static const bt_message *put_span(struct ctf_messages *ctf, bt_self_message_iterator *iterator)
{
	const struct span_time *time = &ctf->spans.time[ctf->next_span++];
	struct event begins = ctf->event;
	const struct txtrace_object *object = source_object(ctf->source, time->context);
	bt_message *message;

	if (time->number != ctf->event.number) { /* a packet without events replaces the event that begins the span */
		begins = (struct event){.context = time->context, .pid = object ? object->pid : 0, .priority = -1,
					.thread = source_context_name(ctf->source, time->context)};
	}
	ctf->last_ns = time_of(ctf);
	message = must(bt_message_event_create_with_packet_and_default_clock_snapshot(
		iterator, ctf_events_span_class(&ctf->events), ctf->packet, ctf->last_ns));
	ctf_events_fill_span(&ctf->events, &begins, ctf->spans.spans.span[time->span].name, time,
			     bt_message_event_borrow_event(message));
	return message;
}

/* Return the next message, or NULL if this step has none. */
static const bt_message *next_message(struct ctf_messages *ctf, bt_self_message_iterator *iterator)
{
	switch (ctf->step) {
	case CTF_BEGIN:
		ctf->step = CTF_BETWEEN;
		return must(bt_message_stream_beginning_create(iterator, ctf->events.stream));
	case CTF_BETWEEN:
		ctf->step = peek(ctf) ? CTF_OPEN : ctf->ends_in_gap ? CTF_GAP : CTF_END;
		ctf->ends_in_gap &= ctf->step != CTF_GAP;
		return NULL;
	case CTF_GAP:
		return discard_events(ctf, iterator);
	case CTF_GAP_OPEN:
		return begin_packet(ctf, iterator, CTF_GAP_CLOSE);
	case CTF_GAP_CLOSE:
		ctf->last_ns = ctf->gap_end_ns;
		return end_packet(ctf, iterator, CTF_BETWEEN);
	case CTF_OPEN:
		ctf->last_ns = time_of(ctf);
		return begin_packet(ctf, iterator, CTF_EVENTS);
	case CTF_EVENTS:
		while (peek(ctf) && ctf->event.type == POSIX_TRACE_RESUME)
			ctf->has_event = false; /* skip RESUME: the packet already shows the end of the gap */
		if (is_at_gap(ctf))
			return end_packet(ctf, iterator, CTF_GAP);
		if (!ctf->has_event || ctf->nr_in_packet == PACKET_EVENTS)
			return end_packet(ctf, iterator, CTF_BETWEEN);
		return is_at_span(ctf) ? put_span(ctf, iterator) : put_event(ctf, iterator);
	case CTF_END:
		ctf->step = CTF_OVER;
		return must(bt_message_stream_end_create(iterator, ctf->events.stream));
	case CTF_OVER:
		break;
	}
	return NULL;
}

bt_message_iterator_class_next_method_status ctf_messages_next(struct ctf_messages *ctf,
								 bt_self_message_iterator *iterator,
								 bt_message_array_const messages, uint64_t capacity,
								 uint64_t *count)
{
	*count = 0;
	while (*count < capacity && ctf->step != CTF_OVER) {
		const bt_message *message = next_message(ctf, iterator);

		if (message)
			messages[(*count)++] = message;
	}
	return *count > 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
			    BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

/* Find out how many events the gaps of the file have, if that is known. */
static void count_lost(struct ctf_messages *ctf)
{
	const struct source *read = ctf->source;
	unsigned long long nr_lost = read->loss.overwritten + read->loss.dropped, nr_gaps = 0;
	struct source *source = nr_lost > 0 ? source_open(read->path, 0) : NULL;
	struct event event;

	if (!source)
		return;
	while (source_next(source, &event))
		nr_gaps += event.type == POSIX_TRACE_OVERFLOW;
	source_close(source);
	ctf->ends_in_gap = ctf->was_in_gap = nr_gaps == 0 && read->loss.dropped > 0;
	if (nr_gaps < 2)
		ctf->nr_in_gap = nr_lost;
	else
		message("%s: %llu events were lost in %llu gaps, and the log does not say how many in each; Babeltrace "
			"shows each gap as 1 event",
			read->path, nr_lost, nr_gaps);
}

void ctf_messages_prepare(struct ctf_messages *ctf, struct source *source, const struct selection *selection,
			  const struct spans *spans)
{
	*ctf = (struct ctf_messages){.source = source, .selection = selection};
	count_lost(ctf);
	span_list_read(&ctf->spans, source, selection, spans, false);
	source_rewind(source);
}

void ctf_messages_rewind(struct ctf_messages *ctf)
{
	bt_packet_put_ref(ctf->packet);
	ctf->packet = NULL;
	ctf->step = CTF_BEGIN;
	ctf->has_event = ctf->is_at_end = false;
	ctf->last_ns = ctf->gap_end_ns = ctf->nr_in_packet = 0;
	ctf->next_span = 0;
	ctf->ends_in_gap = ctf->was_in_gap;
	source_rewind(ctf->source);
}

void ctf_messages_put_refs(struct ctf_messages *ctf)
{
	bt_packet_put_ref(ctf->packet);
	ctf->packet = NULL;
	ctf_events_put_refs(&ctf->events);
}

void ctf_messages_free(struct ctf_messages *ctf)
{
	ctf_events_free(&ctf->events);
	span_list_free(&ctf->spans);
}
