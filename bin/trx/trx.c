/* SPDX-License-Identifier: MIT */
#include "trx/trx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/native.h"
#include "trace/sched.h"
#include "trace/states.h"
#include "trx/running.h"
#include "trx/write.h"

#define ID_DATA NATIVE_USER /* an event with this id has more data of the previous event */
#define IDS 65536
#define WORDS_BYTES 16
#define SYSTEM_TYPES 16 /* user types begin with POSIX_TRACE_UNNAMED_USEREVENT */

bool trx_begin(struct trx *trx, const char *output)
{
	memset(trx, 0, sizeof(*trx));
	trx->next_id = NATIVE_USER + 1;
	return sort_open(&trx->sorter, output);
}

unsigned int trx_add_source(struct trx *trx, const struct source *source, const char *label)
{
	trx->label[trx->nr_inputs] = label;
	trx->path[trx->nr_inputs] = source->path;
	trx_objects_add_source(&trx->trx_objects, trx->nr_inputs, source);
	return trx->nr_inputs++;
}

void trx_free(struct trx *trx)
{
	trx_objects_free(&trx->trx_objects);
	sort_close(&trx->sorter);
	map_free(&trx->type_of);
	map_free(&trx->id_of);
	map_free(&trx->name_of);
}

/* Event types. */

/* Return true if this is the name that TraceX shows for a user event without a name. */
static bool is_own_name(const char *name, uint32_t id)
{
	char own[40];

	snprintf(own, sizeof(own), "TX_TRACE_USER_EVENT_%u", id);
	return strcmp(name, own) == 0;
}

/* Types with the same name get the same id.  If another type already has the wanted id, choose a free id. */
static uint32_t choose_id(struct trx *trx, uint32_t wanted, const char *name)
{
	uint64_t hash = map_hash(name);
	uint64_t *known = map_get(&trx->id_of, hash);

	if (*known)
		return (uint32_t)*known;
	while (map_find(&trx->name_of, wanted) && trx->next_id < IDS)
		wanted = trx->next_id++;
	*map_get(&trx->name_of, wanted) = hash;
	*known = wanted;
	return wanted;
}

static uint32_t id_of(struct trx *trx, unsigned int input, const struct event *event)
{
	bool is_foreign = event->type >= FOREIGN_TYPES;
	uint32_t native = event_native(event);
	uint32_t wanted = is_foreign ? event->type - FOREIGN_TYPES : NATIVE_USER + event->type;
	uint64_t *known;

	if (native != 0)
		wanted = native;
	if (wanted <= ID_DATA)
		return wanted; /* an id of ThreadX is the same in all traces */
	known = map_get(&trx->type_of, (uint64_t)input << 32 | event->type);
	if (*known)
		return (uint32_t)*known;
	*known = choose_id(trx, wanted & 0xFFFF, event->name);
	if (!is_own_name(event->name, (uint32_t)*known)) {
		uint32_t handle = (uint32_t)OBJECT_EVENT_TYPE << 24 |
				  ((uint32_t)*known - NATIVE_USER);

		if (!map_find(&trx->trx_objects.by_handle, handle))
			trx_objects_add(&trx->trx_objects, input, handle, OBJECT_EVENT_TYPE,
					event->name);
	}
	return (uint32_t)*known;
}

/* Events. */

/*
 * A word with this label names an object.  If the object must be registered, return its type, otherwise 0. TraceX shows
 * wrong results if a mutex, an owner or a next thread is not registered.
 */
static int type_by_label(const char *label)
{
	if (strcmp(label, "mutex_ptr") == 0)
		return OBJECT_MUTEX;
	return strcmp(label, "next_thread_ptr") == 0 || strcmp(label, "owning_thread_ptr") == 0 ?
		       OBJECT_THREAD :
		       0;
}

static uint32_t word_of(struct trx *trx, unsigned int input, const char *label, uint32_t word)
{
	uint32_t handle;
	char name[32];

	if (!label || !label_is_object(label) || word == 0 || word >= CONTEXT_INITIALIZE)
		return word;
	handle = trx_objects_find(&trx->trx_objects, input, word);
	if (handle)
		return handle;
	if (type_by_label(label) == OBJECT_THREAD)
		return trx_objects_context(&trx->trx_objects, input, word);
	if (type_by_label(label) != OBJECT_MUTEX)
		return word;
	snprintf(name, sizeof(name), "unknown mutex %x", word);
	handle = trx_objects_add(&trx->trx_objects, input, word, OBJECT_MUTEX, name);
	*map_get(&trx->trx_objects.by_input,
		 (uint64_t)input << 32 | word) = map_find(&trx->trx_objects.by_handle, handle);
	return handle;
}

/*
 * Return the priority of an event of a log.  A synthesized RESUME has no priority of its own, so take the priority of
 * its thread.  Events of no thread of the program must not look less urgent than a thread, or TraceX would call
 * priority inversions non-deterministic: they have the priority 0.
 */
static uint32_t priority_of(const struct trx *trx, const struct event *event, uint32_t context)
{
	uint64_t place = map_find(&trx->trx_objects.by_handle, context);
	int priority = event->priority;

	if (priority < 0 && event->context != 0 && place > 0)
		priority = trx->trx_objects.object[place - 1].priority;
	return priority >= 0 ? (uint32_t)priority : 0;
}

static void fill_context(struct trx *trx, unsigned int input, const struct event *event,
			 struct spooled *to)
{
	bool is_special = event->context == CONTEXT_INTERRUPT ||
			  event->context == CONTEXT_INITIALIZE;

	to->context = is_special ? event->context :
				   trx_objects_context(&trx->trx_objects, input, event->context);
	if (is_special)
		to->priority = event->interrupted ? trx_objects_context(&trx->trx_objects, input,
									event->interrupted) :
						    0;
	else if (event->type >= FOREIGN_TYPES &&
		 !event->is_made) /* a synthesized event has no preemption-threshold */
		to->priority = event->priority >= 0 ? (uint32_t)event->priority : 0;
	else
		to->priority = HAS_THRESHOLD | priority_of(trx, event, to->context) * 0x10001u;
}

static uint32_t sched_flags_of(const struct event *event)
{
	const struct sched_record record = sched_read(event);

	switch (record.kind) {
	case SCHED_NONE:
		return sched_is_record(event->type) ? SPOOLED_SCHED : 0;
	case SCHED_STOP:
		return SPOOLED_SCHED | SPOOLED_LAST;
	case SCHED_THREAD:
		return SPOOLED_SCHED | (record.thread.state == TXTRACE_RUNNING ? SPOOLED_IN : 0);
	case SCHED_IN:
		return SPOOLED_SCHED | SPOOLED_IN;
	case SCHED_OUT:
		if (record.thread.state == TXTRACE_READY)
			return SPOOLED_SCHED | SPOOLED_SLICE;
		return SPOOLED_SCHED | SPOOLED_OUT | (record.thread.state == TXTRACE_ENDED ? SPOOLED_END : 0);
	case SCHED_GAP_BEGINS:
		return SPOOLED_SCHED | SPOOLED_LOST;
	default:
		return SPOOLED_SCHED;
	}
}

/* Return what trx/running.c needs to know about the event. */
static uint32_t flags_of(const struct event *event)
{
	uint32_t flags = 0;

	if (event->type >= FOREIGN_TYPES && !event->is_made)
		return 0;
	flags |= SPOOLED_LOG | sched_flags_of(event);
	if (event->context == 0)
		flags |= SPOOLED_NO_THREAD;
	if (event->type == POSIX_TRACE_STOP || event->type == POSIX_TRACE_OVERFLOW)
		flags |= SPOOLED_GAP;
	if (event_native(event) == NATIVE_THREAD_SUSPEND &&
	    (!event->is_made || event_word(event, 1) == STATE_ENDED))
		flags |= SPOOLED_END | (event->is_made ? SPOOLED_DIES : 0);
	return flags;
}

/* The end of a call that waited has the words of the image of the log: the object, the state and the waker. */
static void fill_end(const struct trx *trx, unsigned int input, const struct event *event,
		     struct spooled *to)
{
	to->info[0] = trx_objects_find(&trx->trx_objects, input, event->call.object);
	to->info[1] = event->call.state;
	to->info[2] = trx_objects_find(&trx->trx_objects, input, event->call.waker);
}

void trx_put(struct trx *trx, unsigned int input, const struct event *event, int64_t time_ns)
{
	unsigned int native = event_native(event), cpu = event->cpu % TXTRACE_HOST_CPUS;
	struct spooled to = {.time_ns = time_ns, .flags = flags_of(event)};
	size_t left = event->size;

	cpu = cpu < TRX_CPUS ? cpu : TRX_CPUS - 1;
	trx->has_cpu[cpu] = true;
	fill_context(trx, input, event, &to);
	to.id = cpu << 24 | id_of(trx, input, event);
	if (!native)
		memcpy(to.info, event->data, left < WORDS_BYTES ? left : WORDS_BYTES);
	for (int i = 0; native && i < 4; i++)
		to.info[i] = word_of(trx, input, native_label(native, i), event_word(event, i));
	if (event->is_over)
		fill_end(trx, input, event, &to);
	sort_put(&trx->sorter, &to);
	if (event->type < SYSTEM_TYPES || (event->is_call && native) || to.flags & SPOOLED_SCHED)
		return;
	for (size_t at = WORDS_BYTES; at < event->size; at += WORDS_BYTES) {
		left = event->size - at;
		memset(to.info, 0, sizeof(to.info));
		memcpy(to.info, event->data + at, left < WORDS_BYTES ? left : WORDS_BYTES);
		to.id = cpu << 24 | ID_DATA;
		to.flags |= SPOOLED_MORE;
		sort_put(&trx->sorter, &to);
	}
}

/* Replace the events with the output of running_add().  After a failure, print a message and return false. */
static bool add_running(struct trx *trx, const struct trx_options *order)
{
	struct sorter *with = must(malloc(sizeof(*with)));
	bool is_fine = sort_open(with, order->output);

	if (is_fine) {
		running_add(&trx->sorter, with, &trx->trx_objects, order->per_core);
		with->error = with->error ?: trx->sorter.error;
		is_fine = sort_end(with);
		sort_close(&trx->sorter);
		trx->sorter = *with;
	}
	free(with);
	return is_fine;
}

bool trx_write(struct trx *trx, const struct trx_options *order)
{
	struct trx_options full = *order;

	full.inputs = trx->path;
	full.nr_inputs = trx->nr_inputs;
	if (!sort_end(&trx->sorter) || !add_running(trx, order))
		return false;
	trx_objects_finish(&trx->trx_objects, trx->label);
	if (trx->trx_objects.nr_cut > 0)
		message("%zu names are too long for TraceX and were truncated to %d characters",
			trx->trx_objects.nr_cut, TRX_OBJECTS_NAME_MAX);
	return trx_write_file(&trx->trx_objects, &trx->sorter, trx->has_cpu, &full);
}
