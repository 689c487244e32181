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
#include "export/packets.h"
#include "export/perfetto_hosts.h"
#include "export/timeline.h"
#include "export/wire.h"
#include "export/perfetto.pb-c.h"
#include "trace/calldata.h"
#include "trace/origins.h"
#include "trace/programs.h"
#include "trace/stack.h"

#define SEQUENCE 1

enum { STATE_CLEARED = 1, STATE_NEEDED = 2 }; /* bits of sequence_flags */

#define FRAME_BYTES 1024 /* room for the name of a function or file in a stack; a longer one is truncated */

/* The trace of a host.  A log that is not merged has one. */
struct perfetto {
	struct export *export;
	struct packets packets;
	struct intern names, labels, values;
	struct wire event, callstack;
	bool has_native; /* the log has all that Perfetto's own events of thread states need */
	struct map native; /* key: the number of a thread; value: its CPU << 8 | its last state of Perfetto */
	unsigned char *packed;
	size_t packed_room;
};

struct hosts {
	struct timeline *timeline;
	bool has_clock;
	unsigned int nr;
	struct perfetto *perfetto; /* of each host */
};

/* Return the trace of the host of a process. */
static struct perfetto *perfetto_of(const struct hosts *hosts, int pid)
{
	unsigned int host = pid > 0 ? (unsigned int)pid / TXTRACE_HOST_PIDS : 0;

	return &hosts->perfetto[host < hosts->nr ? host : 0];
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
	packets_put(&perfetto->packets, perfetto->packed, size);
	packets_end_packet(&perfetto->packets);
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

/* The name of a thread ends with its tid.  On its own machine, it is the tid without the number of the host. */
static void put_own_name(char *name, size_t size, const char *of, int tid)
{
	char suffix[16];
	size_t length;

	text_utf8(name, size, of);
	length = strlen(name);
	snprintf(suffix, sizeof(suffix), " %d", tid);
	if (tid >= TXTRACE_HOST_PIDS && length > strlen(suffix) &&
	    strcmp(name + length - strlen(suffix), suffix) == 0)
		sprintf(name + length - strlen(suffix), " %d", tid % TXTRACE_HOST_PIDS);
}

static void put_track(void *arg, const struct track *track)
{
	struct perfetto *perfetto = perfetto_of(arg, track->pid);
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	char name[TRACK_NAME_BYTES];

	put_own_name(name, sizeof(name), track->name, track->tid ? track->tid : track->pid);
	packet.track_descriptor = &descriptor;
	descriptor.has_uuid = true;
	descriptor.uuid = track->id;
	descriptor.has_parent_uuid = track->parent != NULL;
	descriptor.parent_uuid = track->parent ? track->parent->id : 0;
	if (track->kind == TRACK_PROCESS) {
		descriptor.process = &process;
		process.has_pid = true;
		process.pid = track->pid % TXTRACE_HOST_PIDS;
		process.process_name = name;
	} else if (track->kind == TRACK_THREAD) {
		descriptor.thread = &thread;
		thread.has_pid = thread.has_tid = true;
		thread.pid = track->pid % TXTRACE_HOST_PIDS;
		thread.tid = track->tid % TXTRACE_HOST_PIDS;
		thread.thread_name = name;
	} else {
		descriptor.name = name;
	}
	if (track->kind == TRACK_COUNTER) {
		descriptor.counter = &counter;
		counter.has_unit = true;
		counter.unit = PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
	}
	put_packet(perfetto, &packet);
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

		snprintf(address, sizeof(address), "0x%" PRIx64, code_address(stack.frame[i]));
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

	for (int i = 0; i < nr_annotations; i++) {
		/* The machine of the trace tells which host it is. */
		if (annotations[i].kind == ANNOTATION_NUMBER && annotations[i].label_size == strlen("cpu") &&
		    memcmp(annotations[i].label, "cpu", strlen("cpu")) == 0 &&
		    (uint64_t)annotations[i].number == mark->event->cpu)
			annotations[i].number %= TXTRACE_HOST_CPUS;
		wire_annotation(perfetto, &annotations[i]);
	}
	if (mark->holder)
		wire_annotation(perfetto, &(struct annotation){.kind = ANNOTATION_NAME,
							       .label = "holder",
							       .label_size = strlen("holder"),
							       .text = mark->holder});
	if (mark->period && mark->period->state == THREAD_RUNNING)
		wire_annotation(perfetto, &(struct annotation){.kind = ANNOTATION_NUMBER,
							       .label = "cpu",
							       .label_size = strlen("cpu"),
							       .number = mark->period->cpu % TXTRACE_HOST_CPUS});
}

/* Write the TracePacket that contains the event. */
static void put_event_packet(struct perfetto *perfetto, int64_t time_ns)
{
	struct packets *packets = &perfetto->packets;
	const struct wire *wire = &perfetto->event;
	unsigned char inner[8 * VARINT_BYTES], outer[2 * VARINT_BYTES], tail[2 * VARINT_BYTES];
	size_t inner_size = put_number(inner, 8, (uint64_t)time_ns);
	size_t tail_size = put_number(tail, 13, STATE_NEEDED);

	inner_size += put_number(inner + inner_size, 10, SEQUENCE);
	inner_size += put_length(inner + inner_size, 11, wire->used);
	packets_put(packets, outer, put_length(outer, 1, inner_size + wire->used + tail_size));
	packets_put(packets, inner, inner_size);
	packets_put(packets, wire->bytes, wire->used);
	packets_put(packets, tail, tail_size);
	packets_end_packet(packets);
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
	event.cpu = (int32_t)(cpu % TXTRACE_HOST_CPUS);
	event.tid = (int32_t)(thread->tid % TXTRACE_HOST_PIDS);
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
	uint64_t *last = map_get(&perfetto->native, thread->first_index);
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
	struct perfetto *perfetto = perfetto_of(arg, mark->track->pid);
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

static void free_all(struct hosts *hosts)
{
	for (unsigned int i = 0; i < hosts->nr; i++) {
		struct perfetto *perfetto = &hosts->perfetto[i];

		packets_free(&perfetto->packets);
		intern_free(&perfetto->names);
		intern_free(&perfetto->labels);
		intern_free(&perfetto->values);
		map_free(&perfetto->native);
		free(perfetto->event.bytes);
		free(perfetto->callstack.bytes);
		free(perfetto->packed);
	}
	free(hosts->perfetto);
	free(hosts);
}

/* Several hosts have temporary files, which become an archive. */
static bool begin(struct export *export)
{
	struct hosts *hosts = must(calloc(1, sizeof(*hosts)));
	unsigned int nr = source_nr_hosts(export->source);

	if (export->compresses && !packets_can_compress()) {
		message("this txtrace cannot compress packets: it was built without zlib");
		free(hosts);
		return false;
	}
	hosts->perfetto = must(calloc(nr, sizeof(*hosts->perfetto)));
	for (; hosts->nr < nr; hosts->nr++) {
		struct perfetto *perfetto = &hosts->perfetto[hosts->nr];

		perfetto->export = export;
		if (!packets_begin(&perfetto->packets, nr > 1 ? NULL : &export->text, export->compresses)) {
			free_all(hosts);
			return false;
		}
	}
	hosts->timeline = timeline_begin(export->source, export->selection, export->spans, put_track, put_mark, hosts);
	export->state = hosts;
	for (unsigned int i = 0; i < nr; i++)
		begin_state(&hosts->perfetto[i], false);
	return true;
}

static void put_event(struct export *export, const struct event *event)
{
	struct hosts *hosts = export->state;

	for (unsigned int i = 0; i < hosts->nr && !hosts->has_clock && !export->source->file.foreign; i++)
		put_clock(&hosts->perfetto[i], event->time_ns);
	hosts->has_clock = true;
	timeline_event(hosts->timeline, event);
}

static bool write_archive(struct export *export, const struct hosts *hosts)
{
	struct packets **packets = must(calloc(hosts->nr, sizeof(struct packets *)));
	bool is_fine;

	for (unsigned int i = 0; i < hosts->nr; i++)
		packets[i] = &hosts->perfetto[i].packets;
	is_fine = perfetto_hosts_write(&export->text, export->source, packets, hosts->nr);
	free(packets);
	return is_fine;
}

static bool end(struct export *export, bool is_complete)
{
	struct hosts *hosts = export->state;
	const struct source *source = export->source;
	/* The states come from another pass over the file. */
	bool has_native = source->sched_gaps == 0 && !source->sched_has_restarted && !source->sched_has_ended;
	bool is_fine = true;

	for (unsigned int i = 0; i < hosts->nr; i++)
		hosts->perfetto[i].has_native = has_native;
	timeline_end(hosts->timeline, is_complete);
	for (unsigned int i = 0; i < hosts->nr; i++)
		packets_flush(&hosts->perfetto[i].packets);
	if (hosts->nr > 1 && is_complete)
		is_fine = write_archive(export, hosts);
	free_all(hosts);
	return is_fine;
}

static const int options[] = {OPTION_SPAN, OPTION_COMPRESS, 0};

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
