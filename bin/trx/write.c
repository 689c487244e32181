/* SPDX-License-Identifier: MIT */
/*
 * The events are read three times.  First, a scan of all events of a series of files finds the tick.  Then, for each
 * file, a second scan counts the events of the file and finds out if the file needs fillers.  This scan comes first,
 * because the header and the fillers come before the events.  Finally the events are written.
 */
#include "trx/write.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "trace/native.h"

#define BASE 0x00010000u
#define HEADER_BYTES 48
#define OBJECT_BYTES 16
#define EVENT_BYTES 32
#define TICK_MARK 0x5449434Bu
#define EVENTS_MAX 4194303
#define NR_FILLERS 3
/* An eighth of the range.  Few stamps then wrap, so TraceX finds the right direction of time. */
#define GAP_TICKS (INT64_C(1) << 29)
#define ALL_CPUS (-1)

struct writer {
	const struct trx_objects *trx_objects;
	struct sorter *sorter;
	const struct trx_options *order;
	char **made; /* names of complete files */
	size_t nr_made;
	uint32_t filler_context, filler_priority;
};

/* A series of files with all events, or with the events of one core. */
struct series {
	int cpu;
	uint64_t nr_events;
	double tick_ns;
	int64_t first_ns;
};

struct piece {
	struct sort_cursor begin;
	uint64_t nr_events;
	uint32_t nr_fillers;
	int64_t first_ns, last_ns;
};

/* Reading. */

static const struct spooled *next_of(struct sorter *sorter, struct sort_cursor *cursor, int cpu)
{
	const struct spooled *event;

	do
		event = sort_next(sorter, cursor);
	while (event && cpu != ALL_CPUS && event->id >> 24 != (uint32_t)cpu);
	return event;
}

/* Multiply the tick by 10 until the longest pause has few enough ticks. */
static double choose_tick(double tick_ns, int64_t gap_ns)
{
	while ((double)gap_ns / tick_ns > (double)GAP_TICKS)
		tick_ns *= 10;
	return tick_ns;
}

static void scan(const struct writer *writer, struct series *series)
{
	struct sort_cursor *cursor = must(calloc(1, sizeof(*cursor)));
	const struct spooled *event;
	int64_t last_ns = 0, gap_ns = 0;

	series->nr_events = 0;
	while ((event = next_of(writer->sorter, cursor, series->cpu))) {
		if (series->nr_events++ == 0)
			series->first_ns = last_ns = event->time_ns;
		if (event->time_ns - last_ns > gap_ns)
			gap_ns = event->time_ns - last_ns;
		last_ns = event->time_ns;
	}
	series->tick_ns = choose_tick(writer->order->tick_ns, gap_ns);
	free(cursor);
}

static uint32_t stamp_of(const struct series *series, const struct piece *piece, int64_t time_ns)
{
	double ticks = (double)(time_ns - piece->first_ns) / series->tick_ns;

	/* Doubles are exact only up to 2^53, so compute whole nanoseconds with integers. */
	if (series->tick_ns == 1)
		return (uint32_t)(piece->nr_fillers + (uint64_t)(time_ns - piece->first_ns));
	return (uint32_t)(piece->nr_fillers + (uint64_t)(ticks + 0.5));
}

/* Count the events up to limit.  Add fillers if TraceX would otherwise not find out that time rises. */
static void scan_piece(const struct writer *writer, const struct series *series,
		       struct piece *piece, uint64_t limit)
{
	struct sort_cursor *cursor = must(malloc(sizeof(*cursor)));
	const struct spooled *event;
	uint64_t nr_up = 0, nr_down = 0;
	uint32_t last = 0;

	*cursor = piece->begin;
	piece->nr_events = piece->nr_fillers = 0;
	while ((event = next_of(writer->sorter, cursor, series->cpu)) &&
	       (piece->nr_events < limit || event->flags & SPOOLED_MORE)) {
		uint32_t stamp;

		if (piece->nr_events == 0)
			piece->first_ns = event->time_ns;
		stamp = stamp_of(series, piece, event->time_ns);
		if (piece->nr_events >= 2) {
			nr_up += stamp > last;
			nr_down += stamp < last;
		}
		last = stamp;
		piece->last_ns = event->time_ns;
		piece->nr_events++;
	}
	if (nr_up <= nr_down)
		piece->nr_fillers = NR_FILLERS;
	free(cursor);
}

/* Writing. */

static void put_words(struct text *text, const uint32_t *word, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t little = htole32(word[i]);

		text_put(text, &little, sizeof(little));
	}
}

static uint64_t bits_of(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* The words that ThreadX reserves have the length of a tick; lib/txtb/txtb.h describes them. */
static void put_header(struct text *text, const struct writer *writer, uint64_t nr_slots, double tick_ns)
{
	uint32_t name_size = trx_objects_name_size(writer->trx_objects);
	uint32_t registry_end = BASE + HEADER_BYTES +
				(uint32_t)writer->trx_objects->nr_objects *
					(OBJECT_BYTES + name_size);
	uint64_t tick_bits = bits_of(tick_ns);
	const uint32_t header[] = {0x54585442, UINT32_MAX, BASE, BASE + HEADER_BYTES,
				   name_size << 16, registry_end, registry_end,
				   registry_end + (uint32_t)nr_slots * EVENT_BYTES, registry_end,
				   TICK_MARK, (uint32_t)tick_bits, (uint32_t)(tick_bits >> 32)};

	put_words(text, header, sizeof(header) / sizeof(header[0]));
}

static void put_objects(struct text *text, const struct trx_objects *trx_objects)
{
	uint32_t name_size = trx_objects_name_size(trx_objects);

	for (size_t i = 0; i < trx_objects->nr_objects; i++) {
		const struct registered *object = &trx_objects->object[i];
		bool has_priority = object->type == OBJECT_THREAD && object->priority >= 0;
		const unsigned char bytes[] = {
			object->is_released, (unsigned char)object->type,
			has_priority ? (unsigned char)(0x80 | (object->priority >> 8 & 3)) : 0,
			has_priority ? (unsigned char)object->priority : 0};
		const uint32_t words[] = {object->handle, object->parameter[0],
					  object->parameter[1]};
		char name[64] = "";

		strcpy(name, object->name);
		text_put(text, bytes, sizeof(bytes));
		put_words(text, words, 3);
		text_put(text, name, name_size);
	}
}

static void put_event(struct text *text, const struct spooled *event, uint32_t stamp)
{
	const uint32_t words[] = {event->context, event->priority, event->id, stamp};

	put_words(text, words, 4);
	put_words(text, event->info, 4);
}

static void put_fillers(struct text *text, const struct writer *writer, const struct piece *piece)
{
	for (uint32_t i = 0; i < piece->nr_fillers; i++) {
		const struct spooled filler = {.context = writer->filler_context,
					       .priority = writer->filler_priority,
					       .id = NATIVE_RUNNING};

		put_event(text, &filler, i);
	}
}

static void put_events(struct text *text, const struct writer *writer, const struct series *series,
		       struct piece *piece)
{
	const struct spooled *event;

	for (uint64_t i = 0; i < piece->nr_events; i++) {
		event = next_of(writer->sorter, &piece->begin, series->cpu);
		if (!event)
			return; /* a read failed; the sorter stores the error number */
		put_event(text, event, stamp_of(series, piece, event->time_ns));
		if (i % 65536 == 0)
			progress("writing", i, piece->nr_events);
	}
	progress_end();
}

/* The library uses the modification time of the file as the time of the last event, so set it. */
static void date_file(const struct writer *writer, const struct piece *piece, const char *name)
{
	int64_t last_ns = writer->order->epoch_ns + piece->last_ns;
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = last_ns / NS_PER_S, .tv_nsec = last_ns % NS_PER_S}};
	struct stat status;

	if (last_ns > 0 && piece->nr_events > 0 && strcmp(name, "-") != 0 &&
	    stat(name, &status) == 0 && S_ISREG(status.st_mode))
		utimensat(AT_FDCWD, name, times, 0);
}

static void report_file(const struct writer *writer, const struct series *series,
			const struct piece *piece, const char *name)
{
	const char *shown = strcmp(name, "-") == 0 ? "standard output" : name;
	int64_t offset_ns = piece->first_ns - series->first_ns;

	if (writer->order->splits && offset_ns > 0)
		message("%s: %llu events, from %lld.%09lld s on; for TraceX, %g ticks per "
			"microsecond",
			shown, (unsigned long long)piece->nr_events,
			(long long)(offset_ns / NS_PER_S), (long long)(offset_ns % NS_PER_S),
			1000 / series->tick_ns);
	else
		message("%s: %llu events; for TraceX, %g ticks per microsecond", shown,
			(unsigned long long)piece->nr_events, 1000 / series->tick_ns);
	if (piece->nr_events > TRX_SPLIT_EVENTS)
		message("%s: TraceX is slow with more than %d events; --split makes several files",
			shown, TRX_SPLIT_EVENTS);
}

/*
 * The names of several files are made from the output name.  Return true if the name of such a file is the name of an
 * input file.
 */
static bool is_input(const struct trx_options *order, const char *name)
{
	for (unsigned int i = 0; i < order->nr_inputs; i++)
		if (is_same_file(order->inputs[i], name)) {
			message("%s is an input file; the output needs another name", name);
			return true;
		}
	return false;
}

static bool write_file(struct writer *writer, const struct series *series, struct piece *piece,
		       const char *name)
{
	struct text *text;
	bool is_fine;

	if (is_input(writer->order, name))
		return false;
	text = must(malloc(sizeof(*text)));
	if (!text_open(text, name, writer->order->overwrites)) {
		free(text);
		return false;
	}
	put_header(text, writer, piece->nr_fillers + piece->nr_events, series->tick_ns);
	put_objects(text, writer->trx_objects);
	put_fillers(text, writer, piece);
	put_events(text, writer, series, piece);
	if (writer->sorter->error)
		message_error(writer->sorter->error, "%s", name);
	is_fine = text_close(text, !writer->sorter->error) && !writer->sorter->error;
	free(text);
	if (!is_fine)
		return false;
	date_file(writer, piece, name);
	report_file(writer, series, piece, name);
	return true;
}

/*
 * Return the name of one of several files: "trace.trx" becomes "trace-cpu0-1.trx".  If number is 0, leave out the
 * number.  The caller frees the name.
 */
static char *name_file(const struct writer *writer, int cpu, unsigned int number)
{
	const char *output = writer->order->output;
	size_t length = length_without_suffix(output);
	char core[16] = "", part[16] = "";
	char *name;

	if (cpu != ALL_CPUS)
		snprintf(core, sizeof(core), "-cpu%d", cpu);
	if (number > 0)
		snprintf(part, sizeof(part), "-%u", number);
	if (asprintf(&name, "%.*s%s%s%s", (int)length, output, core, part, output + length) < 0)
		name = NULL;
	return must(name);
}

static bool write_piece(struct writer *writer, const struct series *series, struct piece *piece,
			unsigned int number)
{
	char *name = name_file(writer, series->cpu, number);

	if (!write_file(writer, series, piece, name)) {
		free(name);
		return false;
	}
	writer->made = must(reallocarray(writer->made, writer->nr_made + 1, sizeof(*writer->made)));
	writer->made[writer->nr_made++] = name;
	return true;
}

static bool write_series(struct writer *writer, int cpu)
{
	struct series series = {.cpu = cpu};
	struct piece *piece = must(calloc(1, sizeof(*piece)));
	bool splits = writer->order->splits, is_fine = true;
	uint64_t done = 0;

	scan(writer, &series);
	if (!splits && series.nr_events > EVENTS_MAX - NR_FILLERS) {
		message("%llu events are too many for one trace buffer; --split makes several "
			"files",
			(unsigned long long)series.nr_events);
		free(piece);
		return false;
	}
	for (unsigned int number = splits; is_fine && (done < series.nr_events || done == 0);
	     number++) {
		scan_piece(writer, &series, piece,
			   splits ? TRX_SPLIT_EVENTS - NR_FILLERS : UINT64_MAX);
		is_fine = write_piece(writer, &series, piece, number);
		done += piece->nr_events;
		if (piece->nr_events == 0)
			break;
	}
	free(piece);
	return is_fine;
}

/* The fillers belong to the first thread.  They have its priority, so TraceX shows no other priority of this thread. */
static void choose_filler(struct writer *writer)
{
	const struct trx_objects *trx_objects = writer->trx_objects;
	const struct registered *object = trx_objects->object;

	while (object < trx_objects->object + trx_objects->nr_objects &&
	       object->type != OBJECT_THREAD)
		object++;
	if (object == trx_objects->object + trx_objects->nr_objects)
		return;
	writer->filler_context = object->handle;
	writer->filler_priority =
		HAS_THRESHOLD | (object->priority >= 0 ? (uint32_t)object->priority : 0) * 0x10001u;
}

bool trx_write_file(const struct trx_objects *trx_objects, struct sorter *sorter,
		    const bool *has_cpu, const struct trx_options *order)
{
	struct writer writer = {.trx_objects = trx_objects, .sorter = sorter, .order = order};
	bool is_fine = true;

	choose_filler(&writer);
	for (int cpu = 0; order->per_core && is_fine && cpu < TRX_CPUS; cpu++)
		is_fine = !has_cpu[cpu] || write_series(&writer, cpu);
	if (!order->per_core)
		is_fine = write_series(&writer, ALL_CPUS);
	for (size_t i = 0; i < writer.nr_made; i++) {
		if (!is_fine)
			unlink(writer.made[i]); /* leave no incomplete set of files */
		free(writer.made[i]);
	}
	free(writer.made);
	return is_fine;
}
