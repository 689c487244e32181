/* SPDX-License-Identifier: MIT */
#include "log/merge_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/threads.h"
#include "fields/convert.h"
#include "fields/span.h"

/* Numbers. */

uint32_t px_merge_pid(const struct px_merge_log *log, uint32_t pid)
{
	uint32_t host = px_host_of_pid(pid);

	if (pid == 0 || pid >= UINT32_C(0x80000000) || host >= PX_HOSTS_MAX)
		return pid;
	return log->host_of[host] * PX_HOST_PIDS + pid % PX_HOST_PIDS;
}

uint32_t px_merge_cpu(const struct px_merge_log *log, uint32_t pid, uint32_t cpu)
{
	uint32_t host = px_host_of_pid(pid);

	return (host < PX_HOSTS_MAX ? log->host_of[host] * PX_HOST_CPUS : 0) + cpu % PX_HOST_CPUS;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = ((const struct px_merge_handle *)a)->from,
		 y = ((const struct px_merge_handle *)b)->from;

	return (x > y) - (x < y);
}

/* A thread that the log does not list has no name, but a number that no other thread has. */
static uint32_t add_unlisted(struct px_merge *merge, struct px_merge_log *log, uint32_t handle)
{
	struct px_merge_handle *larger = realloc(log->handle, ((size_t)log->nr_handles + 1) * sizeof(*larger));
	uint32_t to = px_txtb_handle(PX_TXTB_THREAD, merge->next_handle), at = log->nr_handles;

	if (larger)
		log->handle = larger;
	if (!larger || !px_is_thread(to))
		return 0;
	for (; at > 0 && log->handle[at - 1].from > handle; at--)
		log->handle[at] = log->handle[at - 1];
	log->handle[at] = (struct px_merge_handle){handle, to};
	log->nr_handles++;
	merge->next_handle++;
	return to;
}

uint32_t px_merge_handle(struct px_merge *merge, struct px_merge_log *log, uint32_t handle)
{
	const struct px_merge_handle key = {.from = handle}, *found;

	if (!px_is_thread(handle))
		return handle;
	if (log->last < log->nr_handles && log->handle[log->last].from == handle)
		return log->handle[log->last].to;
	found = log->nr_handles > 0 ?
			bsearch(&key, log->handle, log->nr_handles, sizeof(key), compare) :
			NULL;
	if (!found)
		return add_unlisted(merge, log, handle);
	log->last = (uint32_t)(found - log->handle);
	return found->to;
}

/* Event types. */

static struct px_merge_type *find_type(const struct px_merge *merge, const char *name)
{
	for (uint32_t i = 0; i < merge->nr_types; i++)
		if (strcmp(merge->type[i].name, name) == 0)
			return &merge->type[i];
	return NULL;
}

static bool has_text(const struct px_merge_type *type, const char *text, size_t length)
{
	return type->length == length && (length == 0 || memcmp(type->text, text, length) == 0);
}

/* Make a name that no other type has: "order" becomes "order (2)". */
static bool is_taken(const struct px_merge *merge, char name[PX_NAME_MAX + 1], const char *text,
		     size_t length)
{
	char original[PX_NAME_MAX + 1];
	struct px_merge_type *type;

	memcpy(original, name, sizeof(original));
	for (unsigned int i = 2; (type = find_type(merge, name)) && !has_text(type, text, length);
	     i++)
		snprintf(name, PX_NAME_MAX + 1, "%.*s (%u)", PX_NAME_MAX - 8, original, i);
	return type != NULL;
}

static int add_type(struct px_merge *merge, struct px_merge_log *log, unsigned int id,
		    char name[PX_NAME_MAX + 1], const char *text, size_t length)
{
	struct px_merge_type *type, *larger;

	if (!is_taken(merge, name, text, length)) {
		if (merge->nr_types == PX_EVENT_USER_END - PX_EVENT_USER_FIRST)
			return E2BIG;
		larger = realloc(merge->type, (merge->nr_types + 1) * sizeof(*larger));
		if (!larger)
			return ENOMEM;
		merge->type = larger;
		type = &merge->type[merge->nr_types];
		memset(type, 0, sizeof(*type));
		memcpy(type->name, name, sizeof(type->name));
		type->length = length;
		type->text = length > 0 ? malloc(length) : NULL;
		if (length > 0 && !type->text)
			return ENOMEM;
		if (length > 0)
			memcpy(type->text, text, length);
		merge->nr_types++;
	}
	log->type_of[id] = (uint16_t)(PX_EVENT_USER_FIRST + (find_type(merge, name) - merge->type));
	return 0;
}

/*
 * The log is of a machine of another kind.  Find how the data of a type become those of this machine.  If they cannot,
 * change the description.  Data without a description are bytes already, but numbers in them may be read here.
 */
static int add_layout(struct px_merge_log *log, unsigned int id, const struct px_fields_model *model, char *text,
		      size_t *length)
{
	const struct px_fields_model native = px_fields_native();
	struct px_fields_error where;
	struct px_merge_layout layout = {0};
	enum px_conversion conversion = PX_CONVERSION_IMPOSSIBLE;
	struct px_span span;
	int error = 0;

	if (px_span_parse(text, *length, &span) || (*length == 0 && model->is_big == native.is_big))
		return 0;
	if (*length > 0)
		error = px_fields_parse(text, *length, model, &layout.from, &where);
	if (!error && layout.from)
		error = px_fields_parse(text, *length, &native, &layout.to, &where);
	if (!error && layout.to)
		conversion = px_fields_conversion(layout.from, layout.to);
	if (conversion == PX_CONVERSION_EXACT) {
		log->layout[id - PX_EVENT_USER_FIRST] = layout;
		return 0;
	}
	px_fields_free(layout.from);
	px_fields_free(layout.to);
	if (conversion == PX_CONVERSION_IMPOSSIBLE && error != ENOMEM) {
		*length = sizeof(PX_MERGE_BYTES) - 1;
		memcpy(text, PX_MERGE_BYTES, *length);
	}
	return error == ENOMEM ? ENOMEM : 0;
}

/* A merged log can have "order (2)" because it has another type "order".  Then its name was "order". */
static void restore_name(struct px_archive *from, unsigned int id, char name[PX_NAME_MAX + 1])
{
	const char *number = strrchr(name, '(');
	size_t nr_digits = number ? strspn(number + 1, "0123456789") : 0;
	char other[PX_NAME_MAX + 1];
	unsigned int known;
	size_t length;

	if (!from->info.is_merged || nr_digits == 0 || strcmp(number + 1 + nr_digits, ")") != 0 || number < name + 2 ||
	    number[-1] != ' ')
		return;
	length = (size_t)(number - 1 - name);
	for (uint32_t i = 0; (known = from->kind->type(from, i)) != PX_EVENT_NONE; i++) {
		if (known == id || known < PX_EVENT_USER_FIRST || known >= PX_EVENT_USER_END ||
		    from->kind->type_name(from, known, other) != 0 || strncmp(other, name, length) != 0 ||
		    other[length] != '\0')
			continue;
		memset(name + length, 0, PX_NAME_MAX + 1 - length);
		return;
	}
}

static void add_call(struct px_merge *merge, unsigned int id)
{
	for (uint32_t i = 0; i < merge->nr_calls; i++)
		if (merge->call[i] == id)
			return;
	merge->call[merge->nr_calls++] = (uint16_t)id;
}

int px_merge_add_types(struct px_merge *merge, struct px_merge_log *log, struct px_archive *from)
{
	char text[PX_FIELDS_TEXT_MAX];
	char name[PX_NAME_MAX + 1];
	unsigned int id;
	size_t length;
	int error = 0;

	if (!px_fields_is_native(&from->info.model))
		log->layout = calloc(PX_EVENT_USER_END - PX_EVENT_USER_FIRST, sizeof(*log->layout));
	if (!px_fields_is_native(&from->info.model) && !log->layout)
		return ENOMEM;
	for (unsigned int i = 0; i < PX_EVENT_IDS; i++)
		if (i < PX_EVENT_USER_FIRST || i >= PX_EVENT_CALL_FIRST)
			log->type_of[i] = (uint16_t)i;
	for (uint32_t i = 0; !error && (id = from->kind->type(from, i)) != PX_EVENT_NONE; i++) {
		if (id >= PX_EVENT_CALL_FIRST && id < PX_EVENT_IDS)
			add_call(merge, id);
		if (id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END || log->type_of[id] != 0)
			continue;
		memset(name, 0, sizeof(name));
		if (from->kind->type_name(from, id, name) != 0)
			continue;
		restore_name(from, id, name);
		length = px_archive_description(from, id, text);
		if (log->layout)
			error = add_layout(log, id, &from->info.model, text, &length);
		if (!error)
			error = add_type(merge, log, id, name, text, length);
	}
	return error;
}

/* Threads and objects. */

/* A name of a thread ends with its tid. */
static void rename_thread(struct px_archive_object *object, uint32_t tid)
{
	char suffix[16], renamed[PX_OBJECT_NAME_SIZE + 16];
	size_t length = strnlen(object->name, sizeof(object->name) - 1);
	int size = snprintf(suffix, sizeof(suffix), " %u", tid);

	if (tid == object->tid || length < (size_t)size ||
	    strcmp(object->name + length - size, suffix) != 0)
		return;
	size = snprintf(renamed, sizeof(renamed), "%.*s %u", (int)(length - (size_t)size),
			object->name, object->tid);
	if ((size_t)size < sizeof(object->name))
		memcpy(object->name, renamed, (size_t)size + 1);
}

static bool has_space(struct px_merge *merge)
{
	struct px_archive_object *larger;

	if (merge->nr_objects < merge->objects_size)
		return true;
	merge->objects_size = merge->objects_size ? 2 * merge->objects_size : 256;
	larger = realloc(merge->object, merge->objects_size * sizeof(*larger));
	if (larger)
		merge->object = larger;
	return larger != NULL;
}

/* Threads of the logs before, sorted by pid, tid and number. */
struct known {
	uint32_t pid, tid, handle;
	bool is_taken;
};

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->handle > y->handle) - (x->handle < y->handle);
}

/* Return the threads of the logs before, or NULL if there is no memory. */
static struct known *list_known(const struct px_merge *merge, size_t *nr)
{
	struct known *known = malloc((merge->nr_objects + 1) * sizeof(*known));

	*nr = 0;
	for (size_t i = 0; known && i < merge->nr_objects; i++) {
		const struct px_archive_object *object = &merge->object[i];

		if (object->type == PX_TXTB_THREAD && object->pid != 0 && object->tid != 0)
			known[(*nr)++] = (struct known){object->pid, object->tid, object->handle,
							false};
	}
	if (*nr > 0)
		qsort(known, *nr, sizeof(*known), compare_known);
	return known;
}

/* The k-th thread of this log with a pid and tid is the k-th one of the logs before.  Return 0 if there is none. */
static uint32_t take_known(struct known *known, size_t nr, const struct px_archive_object *thread)
{
	const struct known key = {.pid = thread->pid, .tid = thread->tid};
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_known(&known[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < nr && known[low].pid == key.pid && known[low].tid == key.tid; low++)
		if (!known[low].is_taken) {
			known[low].is_taken = true;
			return known[low].handle;
		}
	return 0;
}

/* The caller has made room for the handle. */
static int add_thread(struct px_merge *merge, struct px_merge_log *log,
		      const struct px_archive_object *object, struct known *known, size_t nr)
{
	struct px_archive_object *to;
	uint32_t handle;

	if (!px_is_thread(object->handle))
		return 0;
	if (!has_space(merge))
		return ENOMEM;
	to = &merge->object[merge->nr_objects];
	*to = *object;
	to->pid = px_merge_pid(log, object->pid);
	to->tid = px_merge_pid(log, object->tid);
	rename_thread(to, object->tid);
	handle = to->pid != 0 && to->pid == log->other_process ? 0 : take_known(known, nr, to);
	if (handle == 0) {
		handle = px_txtb_handle(PX_TXTB_THREAD, merge->next_handle);
		if (!px_is_thread(handle))
			return E2BIG;
		merge->next_handle++;
		to->handle = handle;
		merge->nr_objects++;
	}
	log->handle[log->nr_handles++] = (struct px_merge_handle){object->handle, handle};
	return 0;
}

static int add_object(struct px_merge *merge, const struct px_merge_log *log,
		      const struct px_archive_object *object)
{
	struct px_archive_object *to;

	if (!has_space(merge))
		return ENOMEM;
	to = &merge->object[merge->nr_objects++];
	*to = *object;
	to->pid = px_merge_pid(log, object->pid);
	to->tid = px_merge_pid(log, object->tid);
	return 0;
}

static int compare_objects(const void *a, const void *b)
{
	uint32_t x = ((const struct px_archive_object *)a)->handle,
		 y = ((const struct px_archive_object *)b)->handle;

	return (x > y) - (x < y);
}

/*
 * Threads get their numbers in the order in which they began, which is that of their handles.  A log of several volumes
 * has a thread once in each.
 */
static int add_threads(struct px_merge *merge, struct px_merge_log *log,
		       struct px_archive_object *thread, size_t nr)
{
	size_t nr_known;
	struct known *known = list_known(merge, &nr_known);
	int error = 0;

	log->handle = malloc((nr + 1) * sizeof(*log->handle));
	if (!known || !log->handle)
		error = ENOMEM;
	else if (nr > 0)
		qsort(thread, nr, sizeof(*thread), compare_objects);
	for (size_t i = 0; !error && i < nr; i++)
		if (i == 0 || thread[i].handle != thread[i - 1].handle)
			error = add_thread(merge, log, &thread[i], known, nr_known);
	free(known);
	return error;
}

int px_merge_add_objects(struct px_merge *merge, struct px_merge_log *log, struct px_archive *from)
{
	struct px_archive_object *thread = NULL, *larger, object;
	size_t nr = 0, room = 0;
	int error = 0;

	for (uint32_t i = 0; !error && from->kind->object(from, i, &object); i++) {
		if (object.type != PX_TXTB_THREAD || nr < room)
			larger = thread;
		else
			larger = realloc(thread, (room = room ? 2 * room : 64) * sizeof(*larger));
		if (object.type == PX_TXTB_THREAD && !larger)
			error = ENOMEM;
		else if (object.type == PX_TXTB_THREAD)
			(thread = larger)[nr++] = object;
	}
	if (!error)
		error = add_threads(merge, log, thread, nr);
	free(thread);
	for (uint32_t i = 0; !error && from->kind->object(from, i, &object); i++)
		if (object.type != PX_TXTB_UNUSED && object.type != PX_TXTB_EVENT_TYPE &&
		    object.type != PX_TXTB_THREAD)
			error = add_object(merge, log, &object);
	return error;
}

/* Wrapper statistics. */

static bool is_same_wrapper(const struct px_wrapper_sum *a, const struct px_wrapper_sum *b)
{
	return a->call == b->call && strcmp(a->symbol, b->symbol) == 0 &&
	       strcmp(a->version, b->version) == 0;
}

int px_merge_add_wrappers(struct px_merge *merge, struct px_archive *from)
{
	struct px_wrapper_sum sum, *larger;
	uint32_t at;

	for (uint32_t i = 0; from->kind->wrapper(from, i, &sum); i++) {
		for (at = 0; at < merge->nr_wrappers && !is_same_wrapper(&merge->wrapper[at], &sum);
		     at++)
			;
		if (at < merge->nr_wrappers) {
			merge->wrapper[at].calls += sum.calls;
			merge->wrapper[at].samples += sum.samples;
			merge->wrapper[at].overhead_ns += sum.overhead_ns;
			continue;
		}
		if (merge->nr_wrappers == PX_WRAPPERS_MAX)
			return 0;
		larger = realloc(merge->wrapper, (merge->nr_wrappers + 1) * sizeof(*larger));
		if (!larger)
			return ENOMEM;
		merge->wrapper = larger;
		merge->wrapper[merge->nr_wrappers++] = sum;
	}
	return 0;
}
