/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace of Perfetto with the code that protobuf-c makes, and checks what the trace processor of Perfetto relies
 * on:
 *
 *	packets		each is, byte for byte, what protobuf-c packs of it; no field is unknown
 *	texts		a number means one text, which was interned since the state was cleared
 *	tracks		each is described once, before its events; its parent is described before
 *	states		each has a thread and a CPU; no thread runs twice, or has a state after its death
 *	slices		each end has a begin, none is left open, and times of a track never fall
 *	flows		what passes or ends was begun
 *
 * Then prints what it has read, a line each; times in nanoseconds:
 *
 *	process PID NAME; thread PID TID NAME; track NAME; counter NAME; clock ID NS; lost
 *	begin|end|instant|counter NS TRACK NAME|VALUE LABEL=VALUE...
 *	state NS TID STATE CPU NAME
 *
 * Exit: 0, or 1 and a line on stderr.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto.pb-c.h"

#define TEXTS_MAX 65536
#define TRACKS_MAX 65536
#define FLOWS_MAX 65536
#define TIDS_MAX (1 << 22) /* the kernel has no more */

static struct text_table {
	const char *kind;
	char *text[TEXTS_MAX];
	bool is_told[TEXTS_MAX]; /* since the state was cleared */
} names = {.kind = "name"}, labels = {.kind = "label"}, values = {.kind = "value"};

static struct {
	bool is_told, is_counter;
	char *name;
	uint64_t last_ns;
	unsigned int depth;
} tracks[TRACKS_MAX];

static bool has_flow[FLOWS_MAX];
static bool is_state_valid;
static unsigned long nr_packets;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list list;

	fprintf(stderr, "perfetto_check: packet %lu: ", nr_packets);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

static void check_unknown(const ProtobufCMessage *message)
{
	if (message->n_unknown_fields > 0)
		fail("a %s has an unknown field", message->descriptor->name);
}

/* Texts. */

static void tell_text(struct text_table *table, uint64_t number, const char *text, size_t size)
{
	if (number == 0 || number >= TEXTS_MAX)
		fail("%s %" PRIu64 " is out of range", table->kind, number);
	if (table->text[number] && strncmp(table->text[number], text, size) != 0)
		fail("%s %" PRIu64 " means two texts", table->kind, number);
	if (table->is_told[number])
		fail("%s %" PRIu64 " is described twice", table->kind, number);
	if (!table->text[number])
		table->text[number] = strndup(text, size);
	table->is_told[number] = true;
}

static const char *text_of(const struct text_table *table, uint64_t number)
{
	if (number == 0 || number >= TEXTS_MAX || !table->is_told[number])
		fail("%s %" PRIu64 " was not described", table->kind, number);
	return table->text[number];
}

static void read_texts(const Perfetto__InternedData *data)
{
	for (size_t i = 0; i < data->n_event_names; i++)
		tell_text(&names, data->event_names[i]->iid, data->event_names[i]->name,
			  strlen(data->event_names[i]->name));
	for (size_t i = 0; i < data->n_debug_annotation_names; i++)
		tell_text(&labels, data->debug_annotation_names[i]->iid,
			  data->debug_annotation_names[i]->name,
			  strlen(data->debug_annotation_names[i]->name));
	for (size_t i = 0; i < data->n_debug_annotation_string_values; i++) {
		const Perfetto__InternedString *value = data->debug_annotation_string_values[i];

		tell_text(&values, value->iid, (const char *)value->str.data, value->str.len);
	}
}

/* Tracks. */

static void read_track(const Perfetto__TrackDescriptor *track)
{
	const char *name = track->process ? track->process->process_name :
			   track->thread  ? track->thread->thread_name :
					    track->name;

	if (track->uuid == 0 || track->uuid >= TRACKS_MAX || tracks[track->uuid].is_told)
		fail("track %" PRIu64 " is described twice, or out of range", track->uuid);
	if (!name)
		fail("track %" PRIu64 " has no name", track->uuid);
	check_unknown(&track->base);
	if (!track->process &&
	    (track->parent_uuid >= TRACKS_MAX || !tracks[track->parent_uuid].is_told))
		fail("the parent of track %" PRIu64 " was not described", track->uuid);
	tracks[track->uuid].is_told = true;
	tracks[track->uuid].is_counter = track->counter != NULL;
	tracks[track->uuid].name = strdup(name);
	if (track->process)
		printf("process %d %s\n", track->process->pid, name);
	else if (track->thread)
		printf("thread %d %d %s\n", track->thread->pid, track->thread->tid, name);
	else
		printf("%s %s\n", track->counter ? "counter" : "track", name);
}

/* Events. */

static void print_note(const Perfetto__DebugAnnotation *note)
{
	check_unknown(&note->base);
	printf(" %s=", text_of(&labels, note->name_iid));
	if (note->has_bool_value + note->has_uint_value + note->has_int_value +
		    (note->string_value != NULL) + note->has_pointer_value +
		    note->has_string_value_iid !=
	    1)
		fail("an annotation has not one value");
	if (note->has_bool_value)
		printf("%s", note->bool_value ? "true" : "false");
	else if (note->has_uint_value)
		printf("%" PRIu64, note->uint_value);
	else if (note->has_int_value)
		printf("%" PRId64, note->int_value);
	else if (note->has_pointer_value)
		printf("0x%" PRIx64, note->pointer_value);
	else if (note->string_value)
		printf("%s", note->string_value);
	else
		printf("%s", text_of(&values, note->string_value_iid));
}

static void check_flows(const Perfetto__TrackEvent *event)
{
	for (size_t i = 0; i < event->n_flow_ids; i++) {
		if (event->flow_ids[i] == 0 || event->flow_ids[i] >= FLOWS_MAX)
			fail("a flow is out of range");
		has_flow[event->flow_ids[i]] = true;
		printf(" flow=%" PRIu64, event->flow_ids[i]);
	}
	for (size_t i = 0; i < event->n_terminating_flow_ids; i++) {
		uint64_t flow = event->terminating_flow_ids[i];

		if (flow >= FLOWS_MAX || !has_flow[flow])
			fail("flow %" PRIu64 " ends and never began", flow);
		has_flow[flow] = false;
		printf(" flow_ends=%" PRIu64, flow);
	}
}

static void check_order(const Perfetto__TrackEvent *event, uint64_t time_ns)
{
	uint64_t uuid = event->track_uuid;

	if (uuid >= TRACKS_MAX || !tracks[uuid].is_told)
		fail("track %" PRIu64 " was not described", uuid);
	if (time_ns < tracks[uuid].last_ns)
		fail("time falls on track %s", tracks[uuid].name);
	tracks[uuid].last_ns = time_ns;
	if (tracks[uuid].is_counter != (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER))
		fail("a value is on no counter, or a slice on one");
	if (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
		tracks[uuid].depth++;
	if (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END && tracks[uuid].depth-- == 0)
		fail("a slice ends on track %s that never began", tracks[uuid].name);
}

static void print_callstack(const Perfetto__InlineCallstack *callstack)
{
	if (callstack->n_frames == 0)
		fail("a stack has no frames");
	for (size_t i = 0; i < callstack->n_frames; i++) {
		const Perfetto__InlineCallstack__Frame *frame = callstack->frames[i];

		if (!frame->function_name || (frame->source_file != NULL) != (frame->has_line_number != 0))
			fail("frame %zu has no name, or only half of its place", i);
		printf("%s%s", i == 0 ? " callstack=" : ";", frame->function_name);
		if (frame->source_file)
			printf("@%s:%" PRIu32, frame->source_file, frame->line_number);
	}
}

static void read_event(const Perfetto__TrackEvent *event, uint64_t time_ns)
{
	static const char *const types[] = {"?", "begin", "end", "instant", "counter"};

	if (event->type < 1 || event->type > 4)
		fail("an event has no type");
	check_unknown(&event->base);
	check_order(event, time_ns);
	printf("%s %" PRIu64 " [%s] ", types[event->type], time_ns, tracks[event->track_uuid].name);
	if (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER)
		printf("%" PRId64, event->counter_value);
	else if (event->has_name_iid)
		printf("%s", text_of(&names, event->name_iid));
	for (size_t i = 0; i < event->n_debug_annotations; i++)
		print_note(event->debug_annotations[i]);
	check_flows(event);
	if (event->callstack)
		print_callstack(event->callstack);
	putchar('\n');
}

static void read_state(const Perfetto__GenericKernelTaskStateEvent *event, uint64_t time_ns)
{
	static const char *const words[] = {NULL, NULL, "runnable", "running", "sleeps", NULL, NULL, "dead",
					    "destroyed"};
	static signed char last[TIDS_MAX];

	check_unknown(&event->base);
	if (!event->has_tid || event->tid < 0 || event->tid >= TIDS_MAX || !event->has_cpu || event->state < 2 ||
	    event->state > 8 || !words[event->state])
		fail("a state lacks its thread or its CPU, or is none");
	if ((int)event->state == last[event->tid] && event->state == 3)
		fail("thread %d runs twice", event->tid);
	if ((event->state == 8) != (last[event->tid] == 7))
		fail("thread %d is destroyed and was not dead, or has a state after its death", event->tid);
	last[event->tid] = (signed char)event->state;
	printf("state %" PRIu64 " %d %s %d %s\n", time_ns, event->tid, words[event->state], event->cpu,
	       event->comm ? event->comm : "");
}

/* Packets. */

static void begin_state(const Perfetto__TracePacket *packet)
{
	if (nr_packets == 1 && !packet->first_packet_on_sequence)
		fail("the first packet does not say that it is");
	if (packet->previous_packet_dropped) {
		printf("lost\n");
		is_state_valid = false;
	}
	if (!(packet->sequence_flags & 1))
		return;
	is_state_valid = true;
	memset(names.is_told, 0, sizeof(names.is_told));
	memset(labels.is_told, 0, sizeof(labels.is_told));
	memset(values.is_told, 0, sizeof(values.is_told));
	if (packet->trace_packet_defaults)
		printf("default clock %" PRIu32 "\n",
		       packet->trace_packet_defaults->timestamp_clock_id);
}

static void read_packet(const Perfetto__TracePacket *packet)
{
	check_unknown(&packet->base);
	if (packet->trusted_packet_sequence_id == 0)
		fail("there is no sequence");
	begin_state(packet);
	if ((packet->sequence_flags & 2) && !is_state_valid)
		fail("a reader would skip it: its state is lost");
	if ((packet->interned_data || packet->track_event) && !(packet->sequence_flags & 2))
		fail("it needs the state and does not say so");
	if (packet->interned_data)
		read_texts(packet->interned_data);
	if (packet->clock_snapshot)
		printf("clock %" PRIu32 " %" PRIu64 " primary %d\n",
		       packet->clock_snapshot->clocks[0]->clock_id,
		       packet->clock_snapshot->clocks[0]->timestamp,
		       (int)packet->clock_snapshot->primary_trace_clock);
	if (packet->track_descriptor)
		read_track(packet->track_descriptor);
	if (packet->generic_kernel_task_state_event && !(packet->has_timestamp && packet->sequence_flags & 2))
		fail("a state has no time, or would have that of another clock");
	if (packet->generic_kernel_task_state_event)
		read_state(packet->generic_kernel_task_state_event, packet->timestamp);
	if (packet->track_event && !packet->has_timestamp)
		fail("an event has no time");
	if (packet->track_event)
		read_event(packet->track_event, packet->timestamp);
}

/* What one byte more or less, or another order of fields, would change. */
static void check_bytes(const Perfetto__TracePacket *packet, const uint8_t *bytes, size_t size)
{
	uint8_t *packed = malloc(size + 1);

	if (perfetto__trace_packet__get_packed_size(packet) != size)
		fail("it is not as long as protobuf-c would make it");
	perfetto__trace_packet__pack(packet, packed);
	if (memcmp(packed, bytes, size) != 0)
		fail("protobuf-c would pack it otherwise");
	free(packed);
}

/* Read the size of the next packet in the file; return false if there is none. */
static bool read_size(FILE *file, size_t *size)
{
	int byte = getc(file);

	if (byte == EOF)
		return false;
	if (byte != (1 << 3 | 2))
		fail("the file has something else than packets");
	*size = 0;
	for (int shift = 0; shift < 35; shift += 7) {
		byte = getc(file);
		if (byte == EOF)
			fail("the file ends within a packet");
		*size |= (size_t)(byte & 0x7F) << shift;
		if (!(byte & 0x80))
			return true;
	}
	fail("a packet is too long");
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	size_t size;

	if (!file) {
		fprintf(stderr, "usage: perfetto_check FILE\n");
		return 1;
	}
	while (read_size(file, &size)) {
		uint8_t *bytes = malloc(size + 1);
		Perfetto__TracePacket *packet;

		nr_packets++;
		if (fread(bytes, 1, size, file) != size)
			fail("the file ends within a packet");
		packet = perfetto__trace_packet__unpack(NULL, size, bytes);
		if (!packet)
			fail("it cannot be decoded");
		check_bytes(packet, bytes, size);
		read_packet(packet);
		perfetto__trace_packet__free_unpacked(packet, NULL);
		free(bytes);
	}
	for (size_t i = 0; i < TRACKS_MAX; i++)
		if (tracks[i].depth > 0)
			fail("a slice of track %s is left open", tracks[i].name);
	fclose(file);
	return 0;
}
