/* SPDX-License-Identifier: MIT */
#include "log/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE 256
/* A thread that was added so many threads ago may have left the table. */
#define CACHE_AGE (PX_THREADS_MAX / 2)

/* The main thread of a program that a process executed. */
struct px_main_thread {
	uint32_t pid, handle;
};

struct px_log_copy {
	struct px_log *log;
	struct px_archive *from;
	struct px_attr attr;
	struct px_threads threads;
	struct px_typelist types;
	struct px_descriptions descriptions;
	struct px_namer namer;
	const struct px_namer *next_namer;
	int error;
	void *data;
	size_t data_size;

	/* The objects of the other log, by their handles, and those of calls, by their addresses. */
	struct px_archive_object *object, *call;
	size_t nr_objects, nr_calls, objects_size;
	struct px_main_thread *main; /* in the order of their processes, and of their handles */
	size_t nr_mains;

	struct {
		uint32_t handle;
		uint64_t serial; /* serial of the next thread at the time when this thread was found in the table */
	} cache[CACHE];
};

/* Objects. */

static int compare_handles(const void *a, const void *b)
{
	uint32_t x = ((const struct px_archive_object *)a)->handle;
	uint32_t y = ((const struct px_archive_object *)b)->handle;

	return (x > y) - (x < y);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct px_archive_object *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid > y->pid ? 1 : -1;
	return (x->type > y->type) - (x->type < y->type);
}

static int compare_calls(const void *a, const void *b)
{
	const struct px_archive_object *x = a, *y = b;
	int order = compare_addresses(a, b);

	if (order == 0 && x->site != y->site)
		order = x->site > y->site ? 1 : -1;
	return order ? order : strcmp(x->name, y->name);
}

/* Return the length of a name without the number that an object has if another one had this name before. */
static size_t length_without_number(const char *name)
{
	const char *number = strrchr(name, '#');

	return number && number > name && number[-1] == ' ' && number[1] != '\0' &&
			       number[1 + strspn(number + 1, "0123456789")] == '\0' ?
		       (size_t)(number - 1 - name) :
		       strlen(name);
}

static bool has_same_name(const struct px_archive_object *a, const struct px_archive_object *b)
{
	size_t length = length_without_number(a->name);

	return length == length_without_number(b->name) && memcmp(a->name, b->name, length) == 0;
}

/* A program may make an object at one address again and again: keep one of them. */
static void drop_equal(struct px_log_copy *copy)
{
	size_t nr = 0;

	for (size_t i = 0; i < copy->nr_calls; i++)
		if (nr == 0 || compare_addresses(&copy->call[nr - 1], &copy->call[i]) != 0 ||
		    copy->call[nr - 1].site != copy->call[i].site ||
		    !has_same_name(&copy->call[nr - 1], &copy->call[i]))
			copy->call[nr++] = copy->call[i];
	copy->nr_calls = nr;
}

static bool add_object(struct px_log_copy *copy, const struct px_archive_object *object)
{
	struct px_archive_object *larger;

	if (copy->nr_objects == copy->objects_size) {
		copy->objects_size = copy->objects_size ? 2 * copy->objects_size : 256;
		larger = realloc(copy->object, copy->objects_size * sizeof(*larger));
		if (!larger)
			return false;
		copy->object = larger;
	}
	copy->object[copy->nr_objects++] = *object;
	return true;
}

static int compare_mains(const void *a, const void *b)
{
	const struct px_main_thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid > y->pid ? 1 : -1;
	return (x->handle > y->handle) - (x->handle < y->handle);
}

static bool load_mains(struct px_log_copy *copy)
{
	copy->main = malloc((copy->nr_objects + 1) * sizeof(*copy->main));
	if (!copy->main)
		return false;
	for (size_t i = 0; i < copy->nr_objects; i++) {
		const struct px_archive_object *object = &copy->object[i];

		if (object->type == PX_TXTB_THREAD && object->pid != 0 && object->tid == object->pid)
			copy->main[copy->nr_mains++] = (struct px_main_thread){object->pid, object->handle};
	}
	if (copy->nr_mains > 0)
		qsort(copy->main, copy->nr_mains, sizeof(*copy->main), compare_mains);
	return true;
}

/* Load threads and objects of calls.  Return false if there is no memory. */
static bool load_objects(struct px_log_copy *copy)
{
	struct px_archive_object object;
	size_t nr = 0;

	for (uint32_t i = 0; copy->from->kind->object(copy->from, i, &object); i++)
		if (object.type != PX_TXTB_UNUSED && object.type != PX_TXTB_EVENT_TYPE &&
		    !add_object(copy, &object))
			return false;
	copy->call = malloc((copy->nr_objects + 1) * sizeof(*copy->call));
	if (!copy->call)
		return false;
	for (size_t i = 0; i < copy->nr_objects; i++)
		if (copy->object[i].address != 0)
			copy->call[nr++] = copy->object[i];
	copy->nr_calls = nr;
	if (copy->nr_objects > 0)
		qsort(copy->object, copy->nr_objects, sizeof(*copy->object), compare_handles);
	if (nr > 0)
		qsort(copy->call, nr, sizeof(*copy->call), compare_calls);
	drop_equal(copy);
	return load_mains(copy);
}

/* Return false if there is no room. */
static bool add_description(struct px_log_copy *copy, unsigned int id, const char *text, size_t length)
{
	return length == 0 || px_descriptions_add(&copy->descriptions, id, text, length) != ENOSPC;
}

/* Return E2BIG if the descriptions of several logs have no room in one.  Those of a single log have. */
static int load_types(struct px_log_copy *copy)
{
	char text[PX_FIELDS_TEXT_MAX];
	char name[PX_NAME_MAX + 1];
	unsigned int id;

	for (uint32_t i = 0; (id = copy->from->kind->type(copy->from, i)) != PX_EVENT_NONE; i++)
		if (id >= PX_EVENT_USER_FIRST && id < PX_EVENT_IDS &&
		    copy->from->kind->type_name(copy->from, id, name) == 0) {
			px_typelist_add(&copy->types, id, name);
			if (!add_description(copy, id, text, px_archive_description(copy->from, id, text)))
				return E2BIG;
		}
	return 0;
}

/*
 * Return one of these objects if they all have one name.  site: look only at those with this first call; 0: at all.
 * Otherwise return NULL.
 */
static const struct px_archive_object *find_only_name(const struct px_archive_object *object, size_t nr, uint64_t site)
{
	const struct px_archive_object *found = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (site != 0 && object[i].site != site)
			continue;
		if (found && !has_same_name(found, &object[i]))
			return NULL;
		found = found ? found : &object[i];
	}
	return found;
}

/* Find the objects of the other log that were at the address of this one, one after the other.  Return their number. */
static size_t find_calls(const struct px_log_copy *copy, const struct px_call_object *object,
			 const struct px_archive_object **first)
{
	const struct px_archive_object key = {.address = object->address,
					      .pid = object->object.pid,
					      .type = object->object.type};
	const struct px_archive_object *end = copy->call + copy->nr_calls, *found, *last;

	found = copy->nr_calls > 0 ?
			bsearch(&key, copy->call, copy->nr_calls, sizeof(key), compare_addresses) :
			NULL;
	if (!found)
		return 0;
	for (last = found; last + 1 < end && compare_addresses(last + 1, &key) == 0; last++)
		;
	while (found > copy->call && compare_addresses(found - 1, &key) == 0)
		found--;
	*first = found;
	return (size_t)(last + 1 - found);
}

/*
 * Find the object of the other log.  Several objects may have had this address, also in several programs that one
 * process executed.  Then the first call says which one it is.  Return NULL if this is not known.
 */
static const struct px_archive_object *find_call_object(const struct px_log_copy *copy,
							 const struct px_call_object *object)
{
	const struct px_archive_object *first = NULL, *named;
	size_t nr = find_calls(copy, object, &first);

	named = find_only_name(first, nr, object->site);
	return named ? named : find_only_name(first, nr, 0);
}

/* What ends and begins again in a copy, because its program is not known for sure, is one object in the other log. */
static bool is_only_one(const struct px_namer *namer, const struct px_call_object *object)
{
	const struct px_archive_object *first;

	return find_calls(namer->argument, object, &first) == 1;
}

/*
 * An object of calls has the name that it had in the other log.  Objects that are one after the other at one address
 * differ by their numbers only.  So the copy counts them again, in the same order.
 */
static int name_object(const struct px_namer *namer, const struct px_call_object *object, char *text,
		       size_t size)
{
	const struct px_log_copy *copy = namer->argument;
	const struct px_archive_object *found = find_call_object(copy, object);
	size_t length;

	if (size == 0)
		return -1;
	if (!found || found->name[0] == '\0')
		return copy->next_namer ? copy->next_namer->call(copy->next_namer, object, text, size) :
					  -1;
	length = length_without_number(found->name);
	if (length > size - 1)
		length = size - 1;
	memcpy(text, found->name, length);
	text[length] = '\0';
	return 0;
}

/*
 * A log does not say to which program a thread belongs.  Each program has a main thread, and nearly always that has the
 * first handle of its program.  Return the handle of the main thread of the program, or 0 if there is none.
 */
static uint32_t program_of(const struct px_log_copy *copy, uint32_t pid, uint32_t handle)
{
	size_t begin = 0, end = copy->nr_mains;

	/* The first main thread behind this handle; the one before it is that of the program. */
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		const struct px_main_thread *main = &copy->main[middle];

		if (main->pid < pid || (main->pid == pid && main->handle <= handle))
			begin = middle + 1;
		else
			end = middle;
	}
	if (begin > 0 && copy->main[begin - 1].pid == pid)
		return copy->main[begin - 1].handle;
	return begin < copy->nr_mains && copy->main[begin].pid == pid ? copy->main[begin].handle : 0;
}

/* The log finds threads in a table, which holds only the newest ones: ensure that this thread is in the table. */
static void ensure_thread(struct px_log_copy *copy, const struct px_record *record)
{
	uint32_t handle = record->context, i = handle % CACHE;
	const struct px_archive_object key = {.handle = handle};
	const struct px_archive_object *found;
	struct px_object object;

	if (handle == 0 || (copy->cache[i].handle == handle &&
			    copy->threads.next - copy->cache[i].serial < CACHE_AGE))
		return;
	if (!px_threads_find(&copy->threads, handle, &object)) {
		found = copy->nr_objects > 0 ? bsearch(&key, copy->object, copy->nr_objects,
						       sizeof(key), compare_handles) :
					       NULL;
		if (!found || found->type != PX_TXTB_THREAD)
			return;
		object = (struct px_object){.handle = handle,
					    .type = PX_TXTB_THREAD,
					    .priority = found->priority,
					    .pid = found->pid ? found->pid : record->pid,
					    .tid = found->tid,
					    .thread = record->thread};
		object.program = program_of(copy, object.pid, handle);
		memcpy(object.name, found->name, sizeof(object.name));
		object.name[sizeof(object.name) - 1] = '\0';
		px_threads_add(&copy->threads, &object);
		copy->cache[i].serial = copy->threads.next;
	} else {
		copy->cache[i].serial = copy->threads.next - CACHE_AGE / 2;
	}
	copy->cache[i].handle = handle;
}

/* Threads may register meanwhile. */
static void copy_tables(struct px_log_copy *copy, const struct px_segment *segment)
{
	uint64_t next = px_read_once(&segment->threads.next);
	char text[PX_FIELDS_TEXT_MAX];
	char name[PX_NAME_MAX + 1];
	struct px_object object;
	unsigned int id;

	for (uint64_t i = next > PX_THREADS_MAX ? next - PX_THREADS_MAX : 0; i < next; i++)
		if (px_threads_get(&segment->threads, i, &object))
			px_threads_add(&copy->threads, &object);
	for (uint32_t i = 0; px_typelist_get(&segment->types, i, &id, name); i++)
		if (id != PX_EVENT_NONE) {
			px_typelist_add(&copy->types, id, name);
			add_description(copy, id, text,
					px_descriptions_get(&segment->descriptions, id, text));
		}
}

/* The copy. */

static void free_copy(struct px_log_copy *copy)
{
	free(copy->object);
	free(copy->call);
	free(copy->main);
	free(copy->data);
	free(copy);
}

static int prepare(struct px_log_copy *copy, const struct px_log_copy_setup *setup)
{
	copy->from = setup->from;
	copy->next_namer = setup->namer;
	copy->attr = *setup->attr;
	copy->namer = (struct px_namer){.call = name_object, .is_only_one = is_only_one, .argument = copy};
	copy->data_size = copy->attr.max_data_size > PX_SYSTEM_EVENT_BYTES ?
				  (size_t)copy->attr.max_data_size :
				  PX_SYSTEM_EVENT_BYTES;
	copy->data = malloc(copy->data_size);
	if (!copy->data || (copy->from && !load_objects(copy)))
		return ENOMEM;
	if (setup->view)
		copy_tables(copy, setup->view->segment);
	return copy->from ? load_types(copy) : 0;
}

int px_log_copy_begin(const struct px_log_copy_setup *setup, struct px_log_copy **copy)
{
	struct px_log_copy *made = calloc(1, sizeof(*made));
	struct px_log_setup log = {.fd = setup->fd,
				   .writer = setup->writer,
				   .target_pid = setup->target_pid,
				   .view = setup->view,
				   .from = setup->from,
				   .has_origins = setup->has_origins,
				   .takes_all = true};
	const struct px_log_state state = {.tick_ns = 1};
	int error;

	if (!made)
		return ENOMEM;
	error = prepare(made, setup);
	log.attr = &made->attr;
	log.threads = &made->threads;
	log.types = &made->types;
	log.descriptions = &made->descriptions;
	if (!error)
		error = px_log_create(&log, &state, &made->log);
	if (error) {
		free_copy(made);
		return error;
	}
	if (made->from || made->next_namer)
		px_log_set_namer(made->log, &made->namer);
	*copy = made;
	return 0;
}

void px_log_copy_append(struct px_log_copy *copy, const struct px_report *report, const void *data)
{
	const struct px_log_state state = {.tick_ns = 1};
	enum px_log_room room;

	if (copy->error)
		return;
	ensure_thread(copy, &report->record);
	do {
		room = px_log_append(copy->log, report, data);
		if (room == PX_LOG_WRITE_FIRST)
			copy->error = px_log_write(copy->log, &state);
	} while (room == PX_LOG_WRITE_FIRST && !copy->error);
}

void px_log_copy_events(struct px_log_copy *copy)
{
	struct px_archive *from = copy->from;
	struct px_report report;

	from->kind->rewind(from);
	while (!copy->error &&
	       from->kind->next(from, copy->data, copy->data_size, &report) == PX_NEXT_EVENT)
		px_log_copy_append(copy, &report, copy->data);
}

int px_log_copy_error(const struct px_log_copy *copy)
{
	return copy->error;
}

int px_log_copy_end(struct px_log_copy *copy, const struct px_log_copy_result *result)
{
	const struct px_log_state state = {.loss = result->loss,
					   .is_full = result->is_full,
					   .is_overrun = result->is_overrun,
					   .tick_ns = result->tick_ns};
	int error;

	px_log_take_losses(copy->log, result->nr_log_lost, result->lacks_others, result->flush_error);
	error = px_log_complete(copy->log, &state, PX_LOG_COMPLETE);
	if (copy->error)
		error = copy->error;
	free_copy(copy);
	return error;
}
