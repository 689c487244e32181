/* SPDX-License-Identifier: MIT */
/*
 * export --to perfetto: write a trace for ui.perfetto.dev and its trace processor.
 *
 * All packets belong to one sequence. protobuf-c encodes the rare packets: tracks, texts, the clock. Most packets of a
 * file are events. So the code below encodes events directly, without a protobuf-c message for each event. It writes
 * the same bytes as protobuf-c: the fields are in the order of their numbers, and no number is longer than necessary.
 *
 * A log with scheduling records has two accounts of them.  The tracks with slices name what a thread was blocked on,
 * and show where its state is not known.  The other account is in Perfetto's own events of thread states, from which
 * its tracks of threads and CPUs and its queries come.  These events cannot say that a state is not known any more.  So
 * they are left out if the kernel lost records, or if the records stopped in between.
 *
 * Times of a log are CLOCK_REALTIME, and a clock snapshot makes this clock the clock of the trace. Times of a ThreadX
 * buffer begin at 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/message.h"
#include "cli/options.h"
#include "export/annotations.h"
#include "export/export.h"
#include "export/timeline.h"
#include "export/perfetto.pb-c.h"
#include "trace/calldata.h"
#include "trace/stack.h"

#define SEQUENCE 1

enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* bits of sequence_flags */

#define VARINT_BYTES 10
#define FRAME_BYTES 1024 /* room for the name of a function or file in a stack; a longer one is truncated */

/* The bytes of the event that the code encodes now. */
struct wire {
	unsigned char *bytes;
	size_t used, room;
};

struct perfetto {
	struct export *export;
	struct timeline *timeline;
	struct intern names, labels, values;
	struct wire event, callstack;
	bool has_clock;
	bool has_native; /* the log has all that Perfetto's own events of thread states need */
	struct map native; /* key: the number of a thread; value: its CPU << 8 | its last state of Perfetto */
	unsigned char *packed;
	size_t packed_room;
};

/* Encoding. */

static size_t put_varint(unsigned char *at, uint64_t number)
{
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		at[size++] = (unsigned char)(number | 0x80);
	at[size++] = (unsigned char)number;
	return size;
}

static size_t put_number(unsigned char *at, unsigned int field, uint64_t number)
{
	size_t size = put_varint(at, field << 3);

	return size + put_varint(at + size, number);
}

static size_t put_real(unsigned char *at, unsigned int field, double real)
{
	size_t size = put_varint(at, field << 3 | 1);
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	for (unsigned int i = 0; i < sizeof(bits); i++)
		at[size++] = (unsigned char)(bits >> 8 * i);
	return size;
}

static size_t put_length(unsigned char *at, unsigned int field, size_t length)
{
	size_t size = put_varint(at, field << 3 | 2);

	return size + put_varint(at + size, length);
}

/* Make room for `size` more bytes, and return their address. */
static unsigned char *wire_room(struct wire *wire, size_t size)
{
	if (size > wire->room - wire->used) {
		wire->room = 2 * (wire->used + size);
		wire->bytes = must(realloc(wire->bytes, wire->room));
	}
	return wire->bytes + wire->used;
}

static void wire_number(struct wire *wire, unsigned int field, uint64_t number)
{
	wire->used += put_number(wire_room(wire, 2 * VARINT_BYTES), field, number);
}

static void wire_fixed(struct wire *wire, unsigned int field, uint64_t number)
{
	unsigned char *at = wire_room(wire, 2 * VARINT_BYTES);
	size_t size = put_varint(at, field << 3 | 1);

	for (int i = 0; i < 8; i++)
		at[size++] = (unsigned char)(number >> 8 * i);
	wire->used += size;
}

/* Rare packets. */

static void put_packet(struct perfetto *perfetto, Perfetto__TracePacket *packet)
{
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;
	size_t size;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	trace.n_packet = 1;
	trace.packet = &packet;
	size = perfetto__trace__get_packed_size(&trace);
	if (size > perfetto->packed_room) {
		free(perfetto->packed);
		perfetto->packed_room = 2 * size;
		perfetto->packed = must(malloc(perfetto->packed_room));
	}
	perfetto__trace__pack(&trace, perfetto->packed);
	text_put(&perfetto->export->text, perfetto->packed, size);
}

/* After a loss, readers forget all texts and defaults, so write these again. */
static void begin_state(struct perfetto *perfetto, bool after_loss)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;

	packet.has_sequence_flags = true;
	packet.sequence_flags = STATE_CLEARED;
	packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = !after_loss;
	packet.has_previous_packet_dropped = packet.previous_packet_dropped = after_loss;
	if (!perfetto->export->source->file.foreign) {
		defaults.has_timestamp_clock_id = true;
		defaults.timestamp_clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
		packet.trace_packet_defaults = &defaults;
	}
	put_packet(perfetto, &packet);
	intern_forget(&perfetto->names);
	intern_forget(&perfetto->labels);
	intern_forget(&perfetto->values);
}

static void put_clock(struct perfetto *perfetto, int64_t time_ns)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clock = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Perfetto__ClockSnapshot__Clock *clocks = &clock;

	clock.has_clock_id = clock.has_timestamp = true;
	clock.clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
	clock.timestamp = (uint64_t)time_ns;
	snapshot.n_clocks = 1;
	snapshot.clocks = &clocks;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
	packet.clock_snapshot = &snapshot;
	put_packet(perfetto, &packet);
}

static void put_track(void *arg, const struct track *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	char name[TRACK_NAME_BYTES];

	text_utf8(name, sizeof(name), track->name);
	packet.track_descriptor = &descriptor;
	descriptor.has_uuid = true;
	descriptor.uuid = track->id;
	descriptor.has_parent_uuid = track->parent != NULL;
	descriptor.parent_uuid = track->parent ? track->parent->id : 0;
	if (track->kind == TRACK_PROCESS) {
		descriptor.process = &process;
		process.has_pid = true;
		process.pid = track->pid;
		process.process_name = name;
	} else if (track->kind == TRACK_THREAD) {
		descriptor.thread = &thread;
		thread.has_pid = thread.has_tid = true;
		thread.pid = track->pid;
		thread.tid = track->tid;
		thread.thread_name = name;
	} else {
		descriptor.name = name;
	}
	if (track->kind == TRACK_COUNTER) {
		descriptor.counter = &counter;
		counter.has_unit = true;
		counter.unit = PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
	}
	put_packet(arg, &packet);
}

/* Texts. */

static void put_texts(struct perfetto *perfetto, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	packet.has_sequence_flags = true;
	packet.sequence_flags = STATE_NEEDED;
	put_packet(perfetto, &packet);
}

static uint64_t name_number(struct perfetto *perfetto, const char *text, bool is_fixed)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName name = PERFETTO__EVENT_NAME__INIT, *names = &name;
	char clean[4 * TRACK_NAME_BYTES];
	bool is_new;

	name.iid = is_fixed ? intern_number_fixed(&perfetto->names, text, strlen(text), &is_new) :
			      intern_number(&perfetto->names, text, strlen(text), &is_new);
	if (!is_new)
		return name.iid;
	text_utf8(clean, sizeof(clean), text);
	name.has_iid = true;
	name.name = clean;
	data.n_event_names = 1;
	data.event_names = &names;
	put_texts(perfetto, &data);
	return name.iid;
}

static uint64_t label_number(struct perfetto *perfetto, const char *text, size_t size)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__DebugAnnotationName label = PERFETTO__DEBUG_ANNOTATION_NAME__INIT,
				      *labels = &label;
	char clean[TRACK_NAME_BYTES];
	bool is_new;

	label.iid = intern_number_fixed(&perfetto->labels, text, size, &is_new);
	if (!is_new)
		return label.iid;
	snprintf(clean, sizeof(clean), "%.*s", (int)size, text);
	label.has_iid = true;
	label.name = clean;
	data.n_debug_annotation_names = 1;
	data.debug_annotation_names = &labels;
	put_texts(perfetto, &data);
	return label.iid;
}

static uint64_t value_number(struct perfetto *perfetto, const char *text)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString value = PERFETTO__INTERNED_STRING__INIT, *values = &value;
	char clean[CALL_FIELD_BYTES];
	bool is_new;

	value.iid = intern_number(&perfetto->values, text, strlen(text), &is_new);
	if (!is_new)
		return value.iid;
	text_utf8(clean, sizeof(clean), text);
	value.has_iid = value.has_str = true;
	value.str.data = (uint8_t *)clean;
	value.str.len = strlen(clean);
	data.n_debug_annotation_string_values = 1;
	data.debug_annotation_string_values = &values;
	put_texts(perfetto, &data);
	return value.iid;
}

/* Events. */

static void put_digits(unsigned char *at, const struct annotation *annotation)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < annotation->text_size; i++) {
		unsigned char byte = (unsigned char)annotation->text[i];

		at[2 * i] = (unsigned char)digits[byte >> 4];
		at[2 * i + 1] = (unsigned char)digits[byte & 15];
	}
}

/* Add a DebugAnnotation to the TrackEvent. */
static void wire_annotation(struct perfetto *perfetto, const struct annotation *annotation)
{
	struct wire *wire = &perfetto->event;
	unsigned char head[4 * VARINT_BYTES], *at;
	size_t used = put_number(head, 1, label_number(perfetto, annotation->label, annotation->label_size));
	size_t text_size = annotation->kind == ANNOTATION_HEX  ? 2 * annotation->text_size :
			   annotation->kind == ANNOTATION_TEXT ? annotation->text_size :
								 0;

	if (annotation->kind == ANNOTATION_TRUE || annotation->kind == ANNOTATION_FALSE)
		used += put_number(head + used, 2, annotation->kind == ANNOTATION_TRUE);
	else if (annotation->kind == ANNOTATION_REAL)
		used += put_real(head + used, 5, annotation->real);
	else if (annotation->kind == ANNOTATION_NUMBER)
		used += put_number(head + used, 3, annotation->number);
	else if (annotation->kind == ANNOTATION_SIGNED)
		used += put_number(head + used, 4, (uint64_t)annotation->number_signed);
	else if (annotation->kind == ANNOTATION_ADDRESS)
		used += put_number(head + used, 7, annotation->number);
	else if (annotation->kind == ANNOTATION_NAME)
		used += put_number(head + used, 17, value_number(perfetto, annotation->text));
	else
		used += put_length(head + used, 6, text_size);
	at = wire_room(wire, 2 * VARINT_BYTES + used + text_size);
	at += put_length(at, 4, used + text_size);
	memcpy(at, head, used);
	if (annotation->kind == ANNOTATION_HEX)
		put_digits(at + used, annotation);
	else
		memcpy(at + used, annotation->text ? annotation->text : "", text_size);
	wire->used = (size_t)(at - wire->bytes) + used + text_size;
}

static void wire_text(struct wire *wire, unsigned int field, const char *text)
{
	size_t size = strlen(text);
	unsigned char *at = wire_room(wire, 2 * VARINT_BYTES + size);
	size_t head = put_length(at, field, size);

	memcpy(at + head, text, size);
	wire->used += head + size;
}

/* Write a message that was encoded before. */
static void wire_message(struct wire *wire, unsigned int field, const struct wire *message)
{
	unsigned char *at = wire_room(wire, 2 * VARINT_BYTES + message->used);
	size_t head = put_length(at, field, message->used);

	memcpy(at + head, message->bytes, message->used);
	wire->used += head + message->used;
}

/* Add a Frame to the InlineCallstack. */
static void wire_frame(struct perfetto *perfetto, const char *function, const char *file, int line)
{
	char clean[FRAME_BYTES];
	struct wire frame = {0};

	text_utf8(clean, sizeof(clean), function);
	wire_text(&frame, 1, clean);
	if (file) {
		text_utf8(clean, sizeof(clean), file);
		wire_text(&frame, 2, clean);
		wire_number(&frame, 3, (uint64_t)line);
	}
	wire_message(&perfetto->callstack, 1, &frame);
	free(frame.bytes);
}

/* If the event is a stack, add it to the TrackEvent. */
static void wire_stack(struct perfetto *perfetto, const struct event *event)
{
	struct symbols *symbols;
	struct stack stack;

	if (!stack_read(event, &stack))
		return;
	symbols = source_symbols(perfetto->export->source);
	perfetto->callstack.used = 0;
	if (stack_cut(stack.end))
		wire_frame(perfetto, "[cut]", NULL, 0);
	for (unsigned int i = stack.nr; i-- > 0;) {
		unsigned int nr = 0;
		const struct symbols_frame *frame =
			symbols && !stack.is_unlisted ? symbols_frames(symbols, stack.frame[i], &nr) : NULL;
		char address[24];

		snprintf(address, sizeof(address), "0x%" PRIx64, stack.frame[i]);
		if (nr == 0)
			wire_frame(perfetto, address, NULL, 0);
		for (unsigned int k = nr; k-- > 0;)
			wire_frame(perfetto, frame[k].function, frame[k].file, frame[k].line);
	}
	wire_message(&perfetto->event, 55, &perfetto->callstack);
}

static void wire_annotations(struct perfetto *perfetto, const struct mark *mark)
{
	struct annotation annotations[ANNOTATIONS_MAX];
	int nr_annotations = mark->event ? annotations_of(perfetto->export->source, mark->event,
							  annotations) :
					   0;

	for (int i = 0; i < nr_annotations; i++)
		wire_annotation(perfetto, &annotations[i]);
	if (mark->holder)
		wire_annotation(perfetto, &(struct annotation){.kind = ANNOTATION_NAME,
							       .label = "holder",
							       .label_size = strlen("holder"),
							       .text = mark->holder});
	if (mark->period && mark->period->state == THREAD_RUNNING)
		wire_annotation(perfetto, &(struct annotation){.kind = ANNOTATION_NUMBER,
							       .label = "cpu",
							       .label_size = strlen("cpu"),
							       .number = mark->period->cpu});
}

/* Write the TracePacket that contains the event. */
static void put_event_packet(struct perfetto *perfetto, int64_t time_ns)
{
	struct text *text = &perfetto->export->text;
	const struct wire *wire = &perfetto->event;
	unsigned char inner[8 * VARINT_BYTES], outer[2 * VARINT_BYTES], tail[2 * VARINT_BYTES];
	size_t inner_size = put_number(inner, 8, (uint64_t)time_ns);
	size_t tail_size = put_number(tail, 13, STATE_NEEDED);

	inner_size += put_number(inner + inner_size, 10, SEQUENCE);
	inner_size += put_length(inner + inner_size, 11, wire->used);
	text_put(text, outer, put_length(outer, 1, inner_size + wire->used + tail_size));
	text_put(text, inner, inner_size);
	text_put(text, wire->bytes, wire->used);
	text_put(text, tail, tail_size);
}

/* Thread states. */

static void put_native(struct perfetto *perfetto, const struct sched_thread *thread, int64_t time_ns, unsigned int cpu,
		       Perfetto__GenericKernelTaskStateEvent__TaskStateEnum state)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__GenericKernelTaskStateEvent event = PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__INIT;
	char name[TRACK_NAME_BYTES];

	text_utf8(name, sizeof(name), thread->name);
	event.has_cpu = event.has_tid = event.has_state = true;
	event.cpu = (int32_t)cpu;
	event.tid = (int32_t)thread->tid;
	event.comm = *name ? name : NULL;
	event.state = state;
	packet.has_timestamp = packet.has_sequence_flags = true;
	packet.timestamp = (uint64_t)time_ns;
	packet.sequence_flags = STATE_NEEDED;
	packet.generic_kernel_task_state_event = &event;
	put_packet(perfetto, &packet);
}

/* Readers refuse a second event RUNNING for the same run. */
static void put_state(struct perfetto *perfetto, const struct state_period *period)
{
	static const Perfetto__GenericKernelTaskStateEvent__TaskStateEnum states[THREAD_STATES] = {
		[THREAD_RUNNING] = PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_RUNNING,
		[THREAD_PREEMPTED] = PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_RUNNABLE,
		[THREAD_WOKEN] = PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_RUNNABLE,
		[THREAD_BLOCKED] =
			PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_INTERRUPTIBLE_SLEEP};
	const struct sched_thread *thread = period->thread;
	uint64_t *last = map_get(&perfetto->native, thread->index);
	/* Readers look for the run that an event ends on its CPU. */
	unsigned int cpu = period->state == THREAD_RUNNING ? period->cpu : (unsigned int)(*last >> 8);
	uint64_t now = (uint64_t)cpu << 8 | states[period->state];

	if (!perfetto->has_native)
		return;
	if (*last != now)
		put_native(perfetto, thread, period->from_ns, cpu, states[period->state]);
	*last = now;
	if (!thread->has_exited || period->until_ns != thread->end_ns)
		return;
	put_native(perfetto, thread, period->until_ns, cpu,
		   PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_DEAD);
	put_native(perfetto, thread, period->until_ns, cpu,
		   PERFETTO__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_DESTROYED);
}

static void put_mark(void *arg, const struct mark *mark)
{
	static const unsigned char types[] = {
		[MARK_BEGIN] = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
		[MARK_END] = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END,
		[MARK_INSTANT] = PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
		[MARK_COUNTER] = PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER};
	struct perfetto *perfetto = arg;
	struct wire *wire = &perfetto->event;

	if (mark->after_loss)
		begin_state(perfetto, true);
	wire->used = 0;
	wire_annotations(perfetto, mark);
	wire_number(wire, 9, types[mark->kind]);
	if (mark->kind == MARK_BEGIN || mark->kind == MARK_INSTANT)
		wire_number(wire, 10,
			    name_number(perfetto, mark->name,
					mark->event && mark->name == mark->event->name));
	wire_number(wire, 11, mark->track->id);
	if (mark->kind == MARK_COUNTER)
		wire_number(wire, 30, (uint64_t)mark->value);
	if (mark->flow != 0)
		wire_fixed(wire, mark->flow_ends ? 48 : 47, mark->flow);
	if (mark->kind == MARK_INSTANT && mark->event)
		wire_stack(perfetto, mark->event);
	put_event_packet(perfetto, mark->time_ns);
	if (mark->period)
		put_state(perfetto, mark->period);
}

static bool begin(struct export *export)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto) {
		message("there is not enough memory");
		return false;
	}
	perfetto->export = export;
	perfetto->timeline = timeline_begin(export->source, export->selection, export->spans, put_track, put_mark,
					    perfetto);
	export->state = perfetto;
	begin_state(perfetto, false);
	return true;
}

static void put_event(struct export *export, const struct event *event)
{
	struct perfetto *perfetto = export->state;

	if (!perfetto->has_clock && !export->source->file.foreign)
		put_clock(perfetto, event->time_ns);
	perfetto->has_clock = true;
	timeline_event(perfetto->timeline, event);
}

static bool end(struct export *export, bool is_complete)
{
	struct perfetto *perfetto = export->state;
	const struct source *source = export->source;

	/* The states come from another pass over the file. */
	perfetto->has_native = source->sched_gaps == 0 && source->sched_starts <= 1 && !source->sched_has_ended;
	timeline_end(perfetto->timeline, is_complete);
	intern_free(&perfetto->names);
	intern_free(&perfetto->labels);
	intern_free(&perfetto->values);
	map_free(&perfetto->native);
	free(perfetto->event.bytes);
	free(perfetto->callstack.bytes);
	free(perfetto->packed);
	free(perfetto);
	return true;
}

static const int options[] = {OPTION_SPAN, 0};

const struct exporter exporter_perfetto = {
	.name = "perfetto",
	.suffix = ".perfetto-trace",
	.summary = "for ui.perfetto.dev",
	.is_binary = true,
	.shows_waits = true,
	.options = options,
	.begin = begin,
	.event = put_event,
	.end = end,
};
