/* SPDX-License-Identifier: MIT */
#include "log/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "event/names.h"
#include "log/order.h"
#include "log/varint.h"

#define WORDS 4
#define FIRST_BYTES (WORDS * sizeof(uint32_t))
#define OBJECTS_FIRST 256

struct site {
	uint64_t address;
	uint32_t id, flags, length;
	uint32_t shape;
	uint32_t word[WORDS];
};

struct kept_data {
	uint32_t size;
	unsigned char bytes[PX_FRAME_KEPT_BYTES];
};

struct px_unpack {
	uint32_t nr_sites, nr_objects, objects_size;
	uint64_t last_address;
	/* Long data of the last call of the frame, after the first 16 bytes. */
	const unsigned char *last_more;
	size_t last_more_size;
	unsigned char *sharing; /* the data of the frame that share bytes; NULL before the first of them */
	size_t sharing_size;
	bool shares;	/* the frame has PX_FRAME_SHARES */
	bool is_swapped; /* the writer had the other byte order */
	bool is_broken; /* a frame of the chapter was damaged, so its tables are not complete */
	struct px_log_object *object;
	/* Hash table of handles: index of the object + 1; a power of two, at least twice the number of objects. */
	uint32_t *bucket;
	uint32_t nr_kept;
	struct kept_data *kept; /* PX_FRAME_KEPT_MAX elements; NULL before the first of them */
	struct site site[PX_FRAME_SITES_MAX + 1]; /* the last element is for sites without index */
};

struct px_unpack *px_unpack_make(bool is_swapped)
{
	struct px_unpack *unpack = calloc(1, sizeof(*unpack));

	if (unpack)
		unpack->is_swapped = is_swapped;
	return unpack;
}

void px_unpack_free(struct px_unpack *unpack)
{
	if (!unpack)
		return;
	free(unpack->object);
	free(unpack->bucket);
	free(unpack->sharing);
	free(unpack->kept);
	free(unpack);
}

/* Objects. */

static uint32_t bucket_of(const struct px_unpack *unpack, uint32_t handle)
{
	uint32_t mask = 2 * unpack->objects_size - 1;
	uint32_t i = (handle * 0x9E3779B1u >> 8) & mask;

	while (unpack->bucket[i] &&
	       unpack->object[unpack->bucket[i] - 1].object.handle != handle)
		i = (i + 1) & mask;
	return i;
}

const struct px_log_object *px_unpack_object(const struct px_unpack *unpack, uint32_t handle)
{
	uint32_t i = unpack->objects_size ? unpack->bucket[bucket_of(unpack, handle)] : 0;

	return i ? &unpack->object[i - 1] : NULL;
}

/* Make room for another object.  Return false if there is no memory, or if the chapter has too many objects. */
static bool grow(struct px_unpack *unpack)
{
	uint32_t size = unpack->objects_size ? 2 * unpack->objects_size : OBJECTS_FIRST;
	struct px_log_object *object;
	uint32_t *bucket;

	if (unpack->nr_objects < unpack->objects_size)
		return true;
	if (size > PX_FRAME_OBJECTS_MAX)
		return false;
	object = realloc(unpack->object, size * sizeof(*object));
	if (!object)
		return false;
	unpack->object = object;
	bucket = calloc(2 * (size_t)size, sizeof(*bucket));
	if (!bucket)
		return false;
	free(unpack->bucket);
	unpack->bucket = bucket;
	unpack->objects_size = size;
	for (uint32_t i = 0; i < unpack->nr_objects; i++)
		bucket[bucket_of(unpack, object[i].object.handle)] = i + 1;
	return true;
}

static void enter(struct px_unpack *unpack, const struct px_log_object *object)
{
	uint32_t *bucket;

	if (!grow(unpack))
		return;
	bucket = &unpack->bucket[bucket_of(unpack, object->object.handle)];
	if (*bucket == 0)
		*bucket = ++unpack->nr_objects;
	unpack->object[*bucket - 1] = *object;
}

/* Get the name of an object, of which the first bytes are there already. */
static void get_name(struct px_input *in, struct px_object *object, uint32_t shared)
{
	uint32_t size = sizeof(object->name), length = px_input_word(in);
	const void *bytes;

	in->is_bad |= shared >= size || length >= size - shared;
	bytes = in->is_bad ? NULL : px_input_bytes(in, length);
	if (!bytes)
		return;
	memcpy(object->name + shared, bytes, length);
	memset(object->name + shared + length, 0, size - shared - length);
}

/* Get an object of a frame without PX_FRAME_DELTAS. */
static void get_plain_object(struct px_input *in, struct px_log_object *object)
{
	object->object.handle = px_input_word(in);
	object->object.type = px_input_word(in);
	object->object.priority = px_input_word(in);
	object->object.pid = px_input_word(in);
	object->object.tid = px_input_word(in);
	object->object.thread = px_input_number(in);
	object->address = px_input_number(in);
	object->site = px_input_number(in);
	get_name(in, &object->object, 0);
}

/* *object is the object before this one. */
static void get_object(struct px_input *in, struct px_log_object *object)
{
	unsigned int bits;

	object->object.handle += (uint32_t)px_frame_unzigzag(px_input_number(in));
	bits = px_input_byte(in);
	if (bits & PX_FRAME_TYPE)
		object->object.type = px_input_word(in);
	if (bits & PX_FRAME_PRIORITY)
		object->object.priority = px_input_word(in);
	if (bits & PX_FRAME_PID)
		object->object.pid = px_input_word(in);
	if (bits & PX_FRAME_TID)
		object->object.tid = px_input_word(in);
	if (bits & PX_FRAME_PTHREAD)
		object->object.thread = px_input_number(in);
	object->address += (uint64_t)px_frame_unzigzag(px_input_number(in));
	if (bits & PX_FRAME_CALLER)
		object->site += (uint64_t)px_frame_unzigzag(px_input_number(in));
	get_name(in, &object->object, px_input_word(in));
}

bool px_unpack_next_object(const struct px_log_frame *frame, const void *body, size_t *offset,
			   struct px_log_object *object)
{
	const unsigned char *bytes = body;
	struct px_input in = {.at = bytes + *offset, .end = bytes + frame->objects};
	bool is_difference = (frame->flags & PX_FRAME_DELTAS) != 0;

	if (in.at == in.end)
		return false;
	if (*offset == 0 || !is_difference)
		memset(object, 0, sizeof(*object));
	if (is_difference)
		get_object(&in, object);
	else
		get_plain_object(&in, object);
	if (in.is_bad || object->object.handle == 0)
		return false;
	*offset = (size_t)(in.at - bytes);
	return true;
}

/* Records. */

bool px_unpack_is_frame(const struct px_log_frame *frame, uint64_t position, uint64_t nr_entries,
			uint64_t max)
{
	return frame->magic == PX_FRAME_MAGIC && frame->position == position &&
	       frame->nr_entries > 0 && frame->nr_entries <= nr_entries &&
	       frame->nr_entries <= PX_FRAME_ENTRIES_MAX && frame->nr_events <= frame->nr_entries &&
	       (uint64_t)frame->objects + frame->records <= max;
}

static struct site *define_site(struct px_unpack *unpack, struct px_input *in, uint64_t op)
{
	struct site *site = &unpack->site[PX_FRAME_SITES_MAX];

	if (op == PX_FRAME_NEW_SITE) {
		if (unpack->nr_sites == PX_FRAME_SITES_MAX)
			return NULL;
		site = &unpack->site[unpack->nr_sites++];
	}
	memset(site, 0, sizeof(*site));
	site->shape = px_input_byte(in);
	site->flags = px_input_word(in);
	site->id = px_input_word(in);
	if (!(site->shape & PX_FRAME_LONG))
		site->length = px_input_word(in);
	unpack->last_address += (uint64_t)px_frame_unzigzag(px_input_number(in));
	site->address = unpack->last_address;
	in->is_bad |= site->length > FIRST_BYTES || site->id >= PX_EVENT_IDS ||
		      ((site->shape & (PX_FRAME_NATIVE | PX_FRAME_LONG)) == PX_FRAME_NATIVE &&
		       site->length < FIRST_BYTES);
	return site;
}

static struct site *get_site(struct px_unpack *unpack, struct px_input *in, uint64_t op)
{
	if (op == PX_FRAME_NEW_SITE || op == PX_FRAME_ONE_SITE)
		return define_site(unpack, in, op);
	return op - PX_FRAME_SITE_FIRST < unpack->nr_sites ?
		       &unpack->site[op - PX_FRAME_SITE_FIRST] :
		       NULL;
}

PX_INLINE void get_words(struct px_input *in, struct site *site)
{
	unsigned int bits = px_input_byte(in);

	for (unsigned int i = 0; i < WORDS; i++) {
		unsigned int size = bits >> 2 * i & 3;

		for (unsigned int k = 0; k < (size == 3 ? 4 : size); k++)
			site->word[i] ^= (uint32_t)px_input_byte(in) << 8 * k;
	}
}

PX_INLINE void get_thread(const struct px_unpack *unpack, struct px_input *in,
			  const struct site *site, uint32_t context, struct px_unpacked *to)
{
	const struct px_log_object *object;

	if (site->shape & PX_FRAME_OTHER_THREAD) {
		to->pid = px_input_word(in);
		to->thread = px_input_number(in);
		return;
	}
	object = px_unpack_object(unpack, context);
	to->pid = object ? object->object.pid : 0;
	to->thread = object ? object->object.thread : 0;
}

/* Put the data together from what they share with those before them, and from their other bytes. */
static const void *join(struct px_unpack *unpack, struct px_input *in, size_t shared, size_t size)
{
	unsigned char *joined;
	const void *others;

	if (!unpack->sharing)
		unpack->sharing = malloc(PX_FRAME_SHARING_MAX);
	if (!unpack->sharing || shared > PX_FRAME_SHARED_MAX || shared > unpack->last_more_size ||
	    shared > size || size > PX_FRAME_SHARING_MAX - unpack->sharing_size) {
		in->is_bad = true;
		return NULL;
	}
	others = px_input_bytes(in, size - shared);
	if (!others)
		return NULL;
	joined = unpack->sharing + unpack->sharing_size;
	memcpy(joined, unpack->last_more, shared);
	memcpy(joined + shared, others, size - shared);
	unpack->sharing_size += size;
	return joined;
}

static const void *get_path(struct px_unpack *unpack, struct px_input *in, size_t size)
{
	size_t shared = px_input_byte(in);
	const void *more = shared > 0 ? join(unpack, in, shared, size) : px_input_bytes(in, size);

	unpack->last_more = more;
	unpack->last_more_size = more ? size : 0;
	return more;
}

/* Read data that other events may have, too. */
static const void *get_kept(struct px_unpack *unpack, struct px_input *in, uint32_t size)
{
	uint64_t number = px_input_number(in);
	const void *bytes = NULL;

	if (!unpack->kept)
		unpack->kept = calloc(PX_FRAME_KEPT_MAX, sizeof(*unpack->kept));
	in->is_bad |= !unpack->kept || size > PX_FRAME_KEPT_BYTES;
	if (in->is_bad)
		return NULL;
	if (number < PX_FRAME_KEPT_FIRST) {
		bytes = px_input_bytes(in, size);
		if (number == PX_FRAME_KEEP)
			in->is_bad |= unpack->nr_kept == PX_FRAME_KEPT_MAX;
		if (number == PX_FRAME_KEEP && !in->is_bad) {
			unpack->kept[unpack->nr_kept].size = size;
			memcpy(unpack->kept[unpack->nr_kept++].bytes, bytes, size);
		}
		return bytes;
	}
	number -= PX_FRAME_KEPT_FIRST;
	in->is_bad |= number >= unpack->nr_kept || unpack->kept[number].size != size;
	return in->is_bad ? NULL : unpack->kept[number].bytes;
}

PX_INLINE void get_data(struct px_unpack *unpack, struct px_input *in, struct site *site,
			const struct px_txtb_entry *entry, struct px_unpacked *to)
{
	to->length = site->length;
	if (site->shape & PX_FRAME_LONG) {
		to->length = px_input_word(in);
		in->is_bad |= to->length <= FIRST_BYTES;
	}
	to->first = entry->info;
	to->is_native = (site->shape & PX_FRAME_NATIVE) != 0;
	if (to->is_native) {
		get_words(in, site);
		memcpy(to->word, site->word, sizeof(to->word));
		if (px_unlikely(unpack->is_swapped)) /* all data have the order of the writer */
			px_order_words(to->word, WORDS);
		to->first = to->word;
	}
	if (!(site->shape & PX_FRAME_LONG) || in->is_bad)
		return;
	if (px_unlikely(site->shape & PX_FRAME_KEPT))
		to->more = get_kept(unpack, in, to->length - (uint32_t)FIRST_BYTES);
	else
		to->more = to->is_native && unpack->shares ? get_path(unpack, in, to->length - FIRST_BYTES) :
							     px_input_bytes(in, to->length - FIRST_BYTES);
}

void px_unpack_skip(struct px_unpack *unpack)
{
	unpack->is_broken = true;
}

uint32_t px_unpack_frame(struct px_unpack *unpack, const struct px_log_frame *frame, const void *body,
			 const struct px_txtb_entry *entries, uint32_t tick_ns,
			 struct px_unpacked *to)
{
	const unsigned char *bytes = body;
	struct px_input in = {.at = bytes + frame->objects,
			   .end = bytes + frame->objects + frame->records};
	struct px_log_object object;
	uint64_t time_ns = frame->time_ns;
	size_t offset = 0;
	uint32_t i;

	if (frame->flags & PX_FRAME_CHAPTER)
		unpack->is_broken = false;
	if (unpack->is_broken || frame->sum != px_frame_sum_of(frame, body, unpack->is_swapped)) {
		unpack->is_broken = true;
		return 0;
	}
	if (frame->flags & PX_FRAME_CHAPTER) {
		unpack->nr_sites = unpack->nr_objects = unpack->nr_kept = 0;
		unpack->last_address = 0;
		if (unpack->bucket)
			memset(unpack->bucket, 0,
			       2 * unpack->objects_size * sizeof(*unpack->bucket));
	}
	while (px_unpack_next_object(frame, body, &offset, &object))
		enter(unpack, &object);
	unpack->shares = (frame->flags & PX_FRAME_SHARES) != 0;
	unpack->last_more_size = unpack->sharing_size = 0;
	for (i = 0; i < frame->nr_entries; i++) {
		uint64_t op = px_input_number(&in);
		struct site *site;
		uint8_t above;

		if (i > 0)
			time_ns += (uint64_t)(entries[i].stamp - entries[i - 1].stamp) * tick_ns;
		memset(&to[i], 0, sizeof(to[i]));
		if (op == PX_FRAME_SHOWN) {
			if (in.is_bad)
				break;
			continue;
		}
		site = get_site(unpack, &in, op);
		if (!site || in.is_bad)
			break;
		above = px_input_byte(&in);
		if (px_unlikely(above == PX_FRAME_LATER)) {
			time_ns += (uint64_t)px_frame_unzigzag(px_input_number(&in));
			above = 0;
		}
		to[i].is_event = true;
		to[i].time_ns = time_ns + above;
		to[i].address = site->address;
		to[i].id = site->id;
		to[i].flags = site->flags;
		get_thread(unpack, &in, site, entries[i].context, &to[i]);
		get_data(unpack, &in, site, &entries[i], &to[i]);
		if (in.is_bad)
			break;
	}
	unpack->is_broken = i < frame->nr_entries;
	return i;
}
