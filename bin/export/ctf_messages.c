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

/* Return how many events could not be read, without those that were known to be missing when the file was opened. */
static uint64_t nr_found_missing(const struct ctf_messages *ctf)
{
	uint64_t nr_missing = source_missing(ctf->source), nr_known = ctf->source->file.nr_missing;

	return nr_missing > nr_known ? nr_missing - nr_known : 0;
}

static bool is_begin_due(const struct ctf_messages *ctf)
{
	return ctf->has_begin && !ctf->is_begin_told;
}

static bool is_end_due(struct ctf_messages *ctf)
{
	return !peek(ctf) && !ctf->is_end_told && (ctf->has_end || nr_found_missing(ctf) > 0);
}

static const bt_message *begin_packet(struct ctf_messages *ctf, bt_self_message_iterator *iterator,
				      enum ctf_step step)
{
	ctf->has_packet = true;
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

/* Return the number of events of the gap, or 0 if it is not known, and go behind it. */
static uint64_t take_gap(struct ctf_messages *ctf)
{
	if (is_begin_due(ctf)) {
		ctf->is_begin_told = true;
		return ctf->nr_at_begin;
	}
	if (is_end_due(ctf)) {
		ctf->is_end_told = true;
		return ctf->nr_at_end + nr_found_missing(ctf);
	}
	ctf->has_event = false; /* the packet of the gap replaces this OVERFLOW */
	peek(ctf);
	return ctf->nr_in_gap;
}

/*
 * Make the packet of a gap.  The format records losses only between the ends of two packets.  If there is no packet
 * yet, make an empty one.
 */
static const bt_message *discard_events(struct ctf_messages *ctf, bt_self_message_iterator *iterator)
{
	bt_message *message;
	uint64_t nr_lost;

	if (!ctf->has_packet) {
		peek(ctf);
		ctf->last_ns = ctf->gap_end_ns = time_of(ctf);
		return begin_packet(ctf, iterator, CTF_GAP_CLOSE);
	}
	nr_lost = take_gap(ctf);
	ctf->gap_end_ns = time_of(ctf);
	ctf->step = CTF_GAP_OPEN;
	message = must(bt_message_discarded_events_create_with_default_clock_snapshots(
		iterator, ctf->events.stream, ctf->last_ns, ctf->gap_end_ns));
	if (nr_lost > 0)
		bt_message_discarded_events_set_count(message, nr_lost);
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
		ctf->step = is_begin_due(ctf) || is_end_due(ctf) ? CTF_GAP : peek(ctf) ? CTF_OPEN : CTF_END;
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

/* Count the gaps of the stream, and those of the log, whose OVERFLOW has data. */
static void count_gaps(const struct source *read, uint64_t *nr_gaps, uint64_t *nr_of_log)
{
	struct source *source = source_open_quiet(read->path, 0);
	struct event event;

	*nr_gaps = *nr_of_log = 0;
	while (source && source_next(source, &event)) {
		*nr_gaps += event.type == POSIX_TRACE_OVERFLOW;
		*nr_of_log += event.type == POSIX_TRACE_OVERFLOW && event.size > 0;
	}
	if (source)
		source_close(source);
}

static bool lost_oldest(struct source *source)
{
	int policy = 0;

	posix_trace_attr_getlogfullpolicy(&source->attr, &policy);
	return policy == POSIX_TRACE_LOOP && source->status.posix_log_full_status == POSIX_TRACE_FULL;
}

/* Find out where events are missing, and how many, if that is known. */
static void place_losses(struct ctf_messages *ctf)
{
	struct source *source = ctf->source;
	bool is_overrun = source->status.posix_log_overrun_status == POSIX_TRACE_OVERRUN;
	uint64_t nr_by_stream = source->loss.overwritten + source->loss.dropped;
	uint64_t nr_by_log = (unsigned int)source->file.nr_log_lost, nr_missing = source->file.nr_missing;
	uint64_t nr_gaps, nr_of_log, nr_lost;

	if (source->file.foreign || (!is_overrun && nr_by_stream + nr_missing == 0))
		return;
	count_gaps(source, &nr_gaps, &nr_of_log);
	if (is_overrun && lost_oldest(source)) {
		ctf->has_begin = true;
		ctf->nr_at_begin = nr_by_log;
		is_overrun = false;
		nr_by_log = 0;
	}
	if (nr_of_log == 0 && (is_overrun || nr_missing > 0)) {
		ctf->has_end = true;
		ctf->nr_at_end = nr_by_log + nr_missing;
		nr_by_log = nr_missing = 0;
	}
	if (nr_gaps == 0 && source->loss.dropped > 0) { /* the stream was full when the recording ended */
		ctf->has_end = true;
		ctf->nr_at_end += nr_by_stream;
	}
	nr_lost = nr_by_stream + nr_by_log + nr_missing;
	if (nr_gaps < 2)
		ctf->nr_in_gap = nr_lost;
	else if (nr_lost > 0)
		message("%s: %llu events were lost in %llu gaps, and the log does not say how many in each; Babeltrace "
			"shows each gap as 1 event",
			source->path, (unsigned long long)nr_lost, (unsigned long long)nr_gaps);
}

void ctf_messages_prepare(struct ctf_messages *ctf, struct source *source, const struct selection *selection,
			  const struct spans *spans)
{
	*ctf = (struct ctf_messages){.source = source, .selection = selection};
	place_losses(ctf);
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
	ctf->has_packet = ctf->is_begin_told = ctf->is_end_told = false;
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
