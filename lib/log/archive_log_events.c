/* SPDX-License-Identifier: MIT */
/* The events of a log, one after the other. */
#include "log/archive_log_private.h"

#include <string.h>

#include "calls/rules.h"
#include "event/data_order.h"
#include "log/order.h"
#include "txtb/native.h"

static void describe(const struct logreader *reader, const struct px_unpacked *packed,
		     const struct px_txtb_entry *entry, struct px_report *report)
{
	struct px_record *record = &report->record;

	record->counter = 0;
	record->address = packed->address;
	record->thread = packed->thread;
	record->pid = packed->pid;
	record->id = packed->id;
	record->flags = packed->flags & PX_LOG_RECORD_FLAGS;
	record->length = packed->length;
	record->extra = 0;
	record->nr_slots = 1;
	record->context = entry->context == PX_NO_THREAD ? 0 : entry->context;
	record->priority = entry->priority;
	record->cpu = (entry->id >> 24) + PX_HOST_CPUS * px_host_of_pid(packed->pid);
	report->time_ns = packed->time_ns;
	report->length = packed->length;
	report->place = reader->position + 1;
}

/*
 * Convert the data of a system event or of a call to the byte order of this machine.  The caller may have room for a
 * part of the last number only, so convert a copy of all.
 */
static void convert(const struct px_unpacked *packed, void *data, size_t copied)
{
	size_t size = packed->length < PX_DATA_ORDER_BYTES ? packed->length : PX_DATA_ORDER_BYTES;
	size_t first = size < PX_RECORD_FIRST_BYTES ? size : PX_RECORD_FIRST_BYTES;
	unsigned char all[PX_DATA_ORDER_BYTES];

	if (size > 0)
		memcpy(all, packed->first, first);
	if (size > first)
		memcpy(all + first, packed->more, size - first);
	px_data_change_order(packed->id, (packed->flags & PX_RECORD_CALL) != 0, all, size);
	if (copied > 0)
		memcpy(data, all, copied < size ? copied : size);
}

static void take(struct logreader *reader, uint64_t i, void *data, size_t capacity,
		 struct px_report *report)
{
	const struct px_unpacked *packed = &reader->window.packed[i];
	size_t first;

	describe(reader, packed, &reader->window.entries[i], report);
	reader->nr_read++;
	reader->last_ns = packed->time_ns;
	report->copied = report->length < capacity ? report->length : capacity;
	first = report->copied < PX_RECORD_FIRST_BYTES ? report->copied : PX_RECORD_FIRST_BYTES;
	if (first > 0)
		memcpy(data, packed->first, first);
	if (px_unlikely(report->copied > first))
		memcpy((char *)data + first, packed->more, report->copied - first);
	if (px_unlikely(reader->is_swapped))
		convert(packed, data, report->copied);
	reader->position++;
}

/* Call this when all is read: the events of the commit that were not read are missing. */
static void count_missing(struct logreader *reader)
{
	const struct px_log_commit *commit = &reader->file.commit;

	if (commit->sum && commit->nr_events - reader->nr_before >= reader->nr_read)
		reader->archive.info.nr_missing = reader->nr_missed + commit->nr_events -
						  reader->nr_before - reader->nr_read;
}

/*
 * The log has no entries from the position to `to`: go there.  In a whole log this is the unused end of a volume.  But
 * if the writer has overwritten entries that this reader has not read, or the file is damaged, events are missing here.
 * Report this gap as an overflow, unless it comes before the first event: then the trace begins later.
 */
static void skip_gap(struct logreader *reader, uint64_t to)
{
	bool is_lost = reader->position < reader->file.commit.first || reader->file.takes_damaged;

	reader->position = to;
	if (is_lost && reader->nr_read > 0 && reader->gap == GAP_NONE)
		reader->gap = GAP_OVERFLOW;
}

/*
 * The window begins with this entry, and events before it are missing, because a write failed.  A window may be loaded
 * several times.
 */
static void find_loss(struct logreader *reader)
{
	if (reader->archive.tells_losses && reader->window.follows_loss && reader->marked != reader->position + 1 &&
	    reader->nr_read > 0 && reader->gap == GAP_NONE)
		reader->gap = GAP_OVERFLOW;
	reader->marked = reader->position + 1;
}

/* The data tell that the log lacks all events here.  An OVERFLOW of the stream has no data. */
static void make_mark(struct logreader *reader, uint64_t next_ns, void *data, size_t capacity, struct px_report *report)
{
	static const int is_of_log = 1;
	bool is_begin = reader->gap == GAP_OVERFLOW;

	memset(report, 0, sizeof(*report));
	report->record.id = is_begin ? PX_EVENT_OVERFLOW : PX_EVENT_RESUME;
	report->record.pid = reader->file.header.target_pid;
	report->time_ns = is_begin ? reader->last_ns : next_ns;
	report->length = sizeof(is_of_log);
	report->copied = report->length < capacity ? report->length : capacity;
	if (report->copied > 0)
		memcpy(data, &is_of_log, report->copied);
	reader->gap = is_begin ? GAP_RESUME : GAP_NONE;
}

enum px_next px_archive_log_next(struct px_archive *archive, void *data, size_t capacity,
			     struct px_report *report)
{
	struct logreader *reader = px_archive_log_of(archive);

	while (px_archive_log_ensure(reader, reader->position)) {
		uint64_t i;

		if (px_unlikely(reader->position < reader->window.position))
			skip_gap(reader, reader->window.position);
		i = reader->position - reader->window.position;
		if (px_unlikely(i == 0))
			find_loss(reader);
		if (px_likely(reader->window.packed[i].is_event)) {
			if (px_unlikely(reader->gap != GAP_NONE)) {
				make_mark(reader, reader->window.packed[i].time_ns, data, capacity, report);
				return PX_NEXT_EVENT;
			}
			take(reader, i, data, capacity, report);
			return PX_NEXT_EVENT;
		}
		reader->position++;
	}
	reader->window.nr_entries = 0;
	if (reader->position < reader->file.commit.end)
		skip_gap(reader, reader->file.commit.end);
	count_missing(reader);
	return PX_NEXT_NONE;
}

/*
 * Get the call at this place, as it appears in the image.  If another thread ended the wait of this call (the waker), a
 * word that ThreadX does not use has the handle of that thread.  calls.def defines which word holds the object.
 */
bool px_archive_log_call(struct px_archive *archive, uint64_t place, struct px_archive_call *call)
{
	struct logreader *reader = px_archive_log_of(archive);
	uint64_t position = place - 1;
	const struct px_txtb_entry *entry;
	const struct px_unpacked *packed;
	unsigned int word;
	enum px_call which;

	if (position < reader->file.commit.first || position >= reader->file.commit.end ||
	    !px_archive_log_ensure(reader, position) || position < reader->window.position)
		return false;
	entry = &reader->window.entries[position - reader->window.position];
	packed = &reader->window.packed[position - reader->window.position];
	if (!packed->is_event || !(packed->flags & PX_RECORD_CALL) ||
	    !px_call_of_event(packed->id, &which))
		return false;
	memset(call, 0, sizeof(*call));
	call->flags = packed->flags & PX_LOG_RECORD_FLAGS;
	call->state = px_calls[which].state;
	if (!packed->is_native)
		return true;
	call->native = entry->id & 0xFFFF;
	if (call->native >= PX_TXTB_USER_EVENT)
		call->native = 0;
	memcpy(call->word, entry->info, sizeof(call->word));
	if (px_unlikely(reader->is_swapped))
		px_order_words(call->word, PX_NATIVE_WORDS);
	word = px_rules_object_word(which, call->native);
	if (word < PX_NATIVE_WORDS)
		call->object = call->word[word];
	if (call->object == PX_NO_THREAD)
		call->object = 0;
	if (call->native == PX_TXTB_RUNNING)
		call->waker = call->word[2];
	return true;
}

void px_archive_log_rewind(struct px_archive *archive)
{
	struct logreader *reader = px_archive_log_of(archive);

	reader->position = reader->file.commit.first;
	reader->nr_read = reader->marked = 0;
	reader->gap = GAP_NONE;
	archive->info.nr_missing = reader->nr_missed;
}

bool px_archive_log_go(struct px_archive *archive, uint32_t i, uint64_t *nr_before, uint64_t *about_ns)
{
	struct logreader *reader = px_archive_log_of(archive);
	uint64_t position;

	/* The number of the marks before the part is not known. */
	if (archive->tells_losses && reader->file.commit.flush_error)
		return false;
	if (!reader->source->kind->chapter ||
	    !reader->source->kind->chapter(reader->source, i, &position, nr_before, about_ns))
		return false;
	reader->window.nr_entries = 0;
	reader->position = position;
	reader->nr_read = *nr_before;
	reader->gap = GAP_NONE;
	return true;
}
