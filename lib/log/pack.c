/* SPDX-License-Identifier: MIT */
#include "log/pack.h"

#include <stdlib.h>

#define SITE_BUCKETS 8192 /* a power of two, and twice PX_FRAME_SITES_MAX */
#define HANDLE_BUCKETS 16384
#define HANDLES_MAX 8192
#define FRAME_DATA_MAX 262144 /* room in bytes for the records of events without long data */
#define OBJECT_MAX 160	      /* maximum bytes of a definition */
#define EVENT_OBJECTS 32      /* the entries of one event need at most this many definitions */
#define WORDS 4

struct site {
	uint64_t address;
	uint64_t kind; /* event type, flags, length and shape, see px_pack_kind() */
	uint32_t word[WORDS]; /* first 16 bytes of data of the site's last event */
};

/* Data after the first 16 bytes that a later event may have, too. */
struct kept_data {
	uint32_t size;
	unsigned char bytes[PX_FRAME_KEPT_BYTES];
};

#define KEPT_BUCKETS 2048 /* a power of two, and twice PX_FRAME_KEPT_MAX */

struct px_pack {
	struct px_log_frame head;
	uint64_t origin_ns;   /* image_ns of the first entry */
	uint64_t later_ns;    /* added to the times of all further events of the frame */
	uint64_t last_address; /* address of the site defined last */
	struct px_log_object last_thread; /* the thread that the frame defined last; zeros: none */
	/* The first and the last object of the frame that is no thread. */
	struct px_log_object first_other, last_other;
	/* Long data of the last call of the frame: the first bytes after the first 16. */
	unsigned char last_more[PX_FRAME_SHARED_MAX];
	size_t last_more_size; /* 0: none */
	size_t sharing; /* number of bytes of all data of the frame that share bytes */
	uint32_t nr_sites, nr_handles;
	uint32_t last_site; /* 1 + index of the site of the last event, with which find_site() begins; 0: none */
	unsigned char *bytes;	/* header, objects, unused bytes, records */
	unsigned char *records; /* in `bytes` */
	/*
	 * Definitions of objects that are no threads: OBJECT_MAX bytes for the first one, then the others.  Each is
	 * stored as its differences from the object before it, so threads and others stand together.
	 */
	unsigned char *others;
	size_t objects_max, records_max;
	size_t threads_size, others_size, records_size;
	struct site site[PX_FRAME_SITES_MAX + 1]; /* the last element is for sites without index */
	uint16_t bucket[SITE_BUCKETS];		  /* index in `site` + 1; 0: empty */
	uint32_t handle[HANDLE_BUCKETS];
	uint32_t nr_kept;
	uint16_t kept_bucket[KEPT_BUCKETS]; /* index in `kept` + 1; 0: empty */
	struct kept_data kept[PX_FRAME_KEPT_MAX];
};

struct px_pack *px_pack_make(uint32_t nr_entries, size_t max_data)
{
	struct px_pack *pack = calloc(1, sizeof(*pack));

	if (!pack)
		return NULL;
	pack->objects_max = (size_t)OBJECT_MAX * (EVENT_OBJECTS + nr_entries);
	pack->records_max = FRAME_DATA_MAX + PX_PACK_EVENT_MAX + max_data + nr_entries;
	pack->bytes = malloc(sizeof(pack->head) + pack->objects_max + pack->records_max);
	pack->others = malloc(pack->objects_max);
	if (!pack->bytes || !pack->others) {
		px_pack_free(pack);
		return NULL;
	}
	pack->records = pack->bytes + sizeof(pack->head) + pack->objects_max;
	return pack;
}

void px_pack_free(struct px_pack *pack)
{
	if (!pack)
		return;
	free(pack->bytes);
	free(pack->others);
	free(pack);
}

static void begin_chapter(struct px_pack *pack)
{
	/* The pages of an unused table need no memory: most short programs fill only one frame. */
	if (pack->nr_sites != 0)
		memset(pack->bucket, 0, sizeof(pack->bucket));
	if (pack->nr_handles != 0)
		memset(pack->handle, 0, sizeof(pack->handle));
	if (pack->nr_kept != 0)
		memset(pack->kept_bucket, 0, sizeof(pack->kept_bucket));
	pack->nr_sites = pack->nr_handles = pack->last_site = pack->nr_kept = 0;
	pack->last_address = 0;
}

void px_pack_begin(struct px_pack *pack, uint64_t position, bool chapter)
{
	pack->head = (struct px_log_frame){.magic = PX_FRAME_MAGIC,
				       .position = position,
				       .flags = PX_FRAME_LANES | PX_FRAME_DELTAS | PX_FRAME_SHARES |
						(chapter ? PX_FRAME_CHAPTER : 0)};
	pack->threads_size = pack->others_size = pack->records_size = 0;
	pack->later_ns = 0;
	pack->last_more_size = pack->sharing = 0;
	memset(&pack->last_thread, 0, sizeof(pack->last_thread));
	if (chapter)
		begin_chapter(pack);
}

void px_pack_follow_loss(struct px_pack *pack)
{
	pack->head.flags |= PX_FRAME_AFTER_LOSS;
}

/* Return the maximum size of all definitions of the frame. */
static size_t objects_size(const struct px_pack *pack)
{
	return pack->threads_size + pack->others_size;
}

bool px_pack_has_room(const struct px_pack *pack, size_t length)
{
	return (pack->head.nr_entries == 0 && objects_size(pack) == 0) ||
	       (objects_size(pack) + (size_t)OBJECT_MAX * EVENT_OBJECTS <= pack->objects_max &&
		pack->records_size + PX_PACK_EVENT_MAX + length <= FRAME_DATA_MAX);
}

size_t px_pack_bound(const struct px_pack *pack, size_t length)
{
	return sizeof(struct px_log_frame) + (size_t)OBJECT_MAX * EVENT_OBJECTS + 2 * PX_PACK_EVENT_MAX + length +
	       (pack ? objects_size(pack) + pack->records_size : 0);
}

bool px_pack_wants_chapter(const struct px_pack *pack)
{
	return pack->nr_handles >= HANDLES_MAX || pack->nr_sites == PX_FRAME_SITES_MAX;
}

/* Objects. */

static uint32_t handle_bucket(const struct px_pack *pack, uint32_t handle)
{
	uint32_t i = (handle * 0x9E3779B1u) >> 18;

	while (pack->handle[i] && pack->handle[i] != handle)
		i = (i + 1) % HANDLE_BUCKETS;
	return i;
}

bool px_pack_has_object(const struct px_pack *pack, uint32_t handle)
{
	return pack->handle[handle_bucket(pack, handle)] == handle;
}

static unsigned char *put_difference(unsigned char *to, uint64_t before, uint64_t now)
{
	return px_varint_put(to, px_frame_zigzag((int64_t)(now - before)));
}

static unsigned char *put_differences(unsigned char *to, const struct px_log_object *before,
				      const struct px_log_object *object)
{
	const struct px_object *last = &before->object, *now = &object->object;
	unsigned int bits = (now->type != last->type ? PX_FRAME_TYPE : 0u) |
			    (now->priority != last->priority ? PX_FRAME_PRIORITY : 0u) |
			    (now->pid != last->pid ? PX_FRAME_PID : 0u) |
			    (now->tid != last->tid ? PX_FRAME_TID : 0u) |
			    (now->thread != last->thread ? PX_FRAME_PTHREAD : 0u) |
			    (object->site != before->site ? PX_FRAME_CALLER : 0u);

	to = put_difference(to, last->handle, now->handle);
	*to++ = (unsigned char)bits;
	if (bits & PX_FRAME_TYPE)
		to = px_varint_put(to, now->type);
	if (bits & PX_FRAME_PRIORITY)
		to = px_varint_put(to, now->priority);
	if (bits & PX_FRAME_PID)
		to = px_varint_put(to, now->pid);
	if (bits & PX_FRAME_TID)
		to = px_varint_put(to, now->tid);
	if (bits & PX_FRAME_PTHREAD)
		to = px_varint_put(to, now->thread);
	to = put_difference(to, before->address, object->address);
	if (bits & PX_FRAME_CALLER)
		to = put_difference(to, before->site, object->site);
	return to;
}

static unsigned char *put_name(unsigned char *to, const char *before, const char *name)
{
	size_t length = strnlen(name, sizeof(((struct px_object *)0)->name) - 1), shared = 0;

	while (shared < length && before[shared] == name[shared])
		shared++;
	to = px_varint_put(to, shared);
	to = px_varint_put(to, length - shared);
	memcpy(to, name + shared, length - shared);
	return to + length - shared;
}

/* Store an object as its differences from `before`.  Return the end of it. */
static unsigned char *put_object(unsigned char *to, const struct px_log_object *before,
				 const struct px_log_object *object)
{
	to = put_differences(to, before, object);
	return put_name(to, before->object.name, object->object.name);
}

static void put_thread(struct px_pack *pack, const struct px_log_object *object)
{
	unsigned char *from = pack->bytes + sizeof(pack->head) + pack->threads_size;

	pack->threads_size += (size_t)(put_object(from, &pack->last_thread, object) - from);
	pack->last_thread = *object;
}

/* px_pack_end() stores the first one, behind the last thread. */
static void put_other(struct px_pack *pack, const struct px_log_object *object)
{
	unsigned char *from = pack->others + pack->others_size;

	if (pack->others_size == 0) {
		pack->first_other = *object;
		pack->others_size = OBJECT_MAX;
	} else {
		pack->others_size += (size_t)(put_object(from, &pack->last_other, object) - from);
	}
	pack->last_other = *object;
}

void px_pack_object(struct px_pack *pack, const struct px_log_object *object)
{
	const struct px_object *known = &object->object;
	uint32_t i = handle_bucket(pack, known->handle);

	if (objects_size(pack) + OBJECT_MAX > pack->objects_max)
		return;
	/* If the table is full, it does not get the object, and each frame defines the object again. */
	if (!pack->handle[i] && pack->nr_handles < HANDLES_MAX) {
		pack->handle[i] = known->handle;
		pack->nr_handles++;
	}
	if (known->handle >> 24 == PX_TXTB_THREAD)
		put_thread(pack, object);
	else
		put_other(pack, object);
}

/* Records. */

PX_INLINE void note_entry(struct px_pack *pack, struct px_pack_stamp stamp)
{
	if (pack->head.nr_entries++ == 0) {
		pack->origin_ns = stamp.image_ns;
		pack->head.time_ns = stamp.time_ns;
	}
}

void px_pack_viewer_entry(struct px_pack *pack, struct px_pack_stamp stamp)
{
	note_entry(pack, stamp);
	pack->records[pack->records_size++] = PX_FRAME_SHOWN;
}

PX_INLINE bool is_site(const struct site *site, uint64_t address, uint64_t kind)
{
	return site->address == address && site->kind == kind;
}

/* Find the site of an event.  Return its bucket; the bucket is empty if the chapter has no such site yet. */
static uint32_t find_site(const struct px_pack *pack, uint64_t address, uint64_t kind)
{
	uint64_t hash = (address ^ kind << 8 ^ kind >> 32) * UINT64_C(0x9E3779B97F4A7C15);
	uint32_t i = (uint32_t)(hash >> 51);

	while (pack->bucket[i] && !is_site(&pack->site[pack->bucket[i] - 1], address, kind))
		i = (i + 1) % SITE_BUCKETS;
	return i;
}

static unsigned char *put_site(struct px_pack *pack, unsigned char *to, const struct site *site)
{
	unsigned char shape = site->kind & 0xFF;

	*to++ = shape;
	to = px_varint_put(to, site->kind >> 16 & 0xFFFF);
	to = px_varint_put(to, px_pack_id_of_kind(site->kind));
	if (!(shape & PX_FRAME_LONG))
		to = px_varint_put(to, site->kind >> 8 & 0xFF);
	to = px_varint_put(to, px_frame_zigzag((int64_t)(site->address - pack->last_address)));
	pack->last_address = site->address;
	return to;
}

/* Write the index of the site into the record, or the definition of a new site.  Return the site. */
PX_INLINE struct site *put_site_of(struct px_pack *pack, unsigned char **to, uint64_t address,
				   uint64_t kind)
{
	struct site *site = &pack->site[PX_FRAME_SITES_MAX];
	uint32_t known = pack->last_site;
	uint16_t *bucket = NULL;

	if (!known || !is_site(&pack->site[known - 1], address, kind)) {
		bucket = &pack->bucket[find_site(pack, address, kind)];
		known = *bucket;
	}
	if (px_likely(known)) {
		pack->last_site = known;
		*to = px_varint_put(*to, PX_FRAME_SITE_FIRST + known - 1);
		return &pack->site[known - 1];
	}
	if (pack->nr_sites < PX_FRAME_SITES_MAX) {
		site = &pack->site[pack->nr_sites++];
		*bucket = (uint16_t)pack->nr_sites;
		*(*to)++ = PX_FRAME_NEW_SITE;
	} else {
		*(*to)++ = PX_FRAME_ONE_SITE;
	}
	*site = (struct site){.address = address, .kind = kind};
	*to = put_site(pack, *to, site);
	return site;
}

PX_INLINE unsigned char *put_time(struct px_pack *pack, unsigned char *to, uint64_t time_ns,
				  uint64_t image_ns)
{
	int64_t above = (int64_t)(time_ns - pack->head.time_ns - (image_ns - pack->origin_ns) -
				  pack->later_ns);

	if (px_likely(above >= 0 && above < PX_FRAME_LATER)) {
		*to++ = (unsigned char)above;
		return to;
	}
	pack->later_ns += (uint64_t)above;
	*to++ = PX_FRAME_LATER;
	return px_varint_put(to, px_frame_zigzag(above));
}

PX_INLINE unsigned char *put_words(struct site *site, unsigned char *to, const void *data)
{
	unsigned char *control = to++;
	uint32_t word[WORDS];
	unsigned int bits = 0;

	memcpy(word, data, sizeof(word));
	for (unsigned int i = 0; i < WORDS; i++) {
		uint32_t change = word[i] ^ site->word[i];
		unsigned int size = change == 0 ? 0 : change < 0x100 ? 1 : change < 0x10000 ? 2 : 3;

		site->word[i] = word[i];
		bits |= size << 2 * i;
		for (unsigned int k = 0; k < (size == 3 ? 4 : size); k++)
			*to++ = (unsigned char)(change >> 8 * k);
	}
	*control = (unsigned char)bits;
	return to;
}

/* Many calls in a row have paths in the same directory. */
static unsigned char *put_path(struct px_pack *pack, unsigned char *to, const unsigned char *path,
			       size_t size)
{
	size_t shared = 0, most = size < pack->last_more_size ? size : pack->last_more_size;

	if (pack->sharing + size <= PX_FRAME_SHARING_MAX)
		while (shared < most && path[shared] == pack->last_more[shared])
			shared++;
	if (shared > 0)
		pack->sharing += size;
	pack->last_more_size = size < sizeof(pack->last_more) ? size : sizeof(pack->last_more);
	memcpy(pack->last_more, path, pack->last_more_size);
	*to++ = (unsigned char)shared;
	memcpy(to, path + shared, size - shared);
	return to + size - shared;
}

/* Return the bucket of these data; it is empty if the chapter does not have them. */
static uint16_t *find_kept(struct px_pack *pack, const unsigned char *data, size_t size)
{
	uint32_t i = px_frame_sum(0, data, size, false) % KEPT_BUCKETS;

	for (; pack->kept_bucket[i]; i = (i + 1) % KEPT_BUCKETS) {
		const struct kept_data *kept = &pack->kept[pack->kept_bucket[i] - 1];

		if (kept->size == size && memcmp(kept->bytes, data, size) == 0)
			break;
	}
	return &pack->kept_bucket[i];
}

/* Write data that other events may have, too.  They are at most PX_FRAME_KEPT_BYTES. */
static unsigned char *put_kept(struct px_pack *pack, unsigned char *to, const unsigned char *data, size_t size)
{
	uint16_t *bucket = find_kept(pack, data, size);

	if (*bucket)
		return px_varint_put(to, PX_FRAME_KEPT_FIRST + *bucket - 1u);
	if (pack->nr_kept < PX_FRAME_KEPT_MAX) {
		struct kept_data *kept = &pack->kept[pack->nr_kept++];

		kept->size = (uint32_t)size;
		memcpy(kept->bytes, data, size);
		*bucket = (uint16_t)pack->nr_kept;
		*to++ = PX_FRAME_KEEP;
	} else {
		*to++ = PX_FRAME_KEEP_NOT;
	}
	memcpy(to, data, size);
	return to + size;
}

void px_pack_event(struct px_pack *pack, struct px_pack_stamp stamp,
		   const struct px_pack_event *event)
{
	bool is_long = event->length > WORDS * sizeof(uint32_t);
	size_t more = is_long ? event->length - WORDS * sizeof(uint32_t) : 0;
	bool is_kept = event->is_kept && is_long && more <= PX_FRAME_KEPT_BYTES;
	uint32_t shape = (event->is_native ? PX_FRAME_NATIVE : 0u) |
			 (event->is_other ? PX_FRAME_OTHER_THREAD : 0u) | (is_long ? PX_FRAME_LONG : 0u) |
			 (is_kept ? PX_FRAME_KEPT : 0u);
	unsigned char *to = pack->records + pack->records_size;
	struct site *site = put_site_of(pack, &to, event->address,
					px_pack_kind(event->id, event->flags, is_long ? 0 : event->length, shape));
	const unsigned char *data = event->data;

	note_entry(pack, stamp);
	to = put_time(pack, to, event->time_ns, stamp.image_ns);
	if (event->is_other) {
		to = px_varint_put(to, event->pid);
		to = px_varint_put(to, event->thread);
	}
	if (more)
		to = px_varint_put(to, event->length);
	if (event->is_native)
		to = put_words(site, to, data);
	if (px_unlikely(is_kept)) {
		to = put_kept(pack, to, data + sizeof(site->word), more);
	} else if (more && event->is_native) {
		to = put_path(pack, to, data + sizeof(site->word), more);
	} else if (more) {
		memcpy(to, data + sizeof(site->word), more);
		to += more;
	}
	pack->records_size = (size_t)(to - pack->records);
	pack->head.nr_events++;
}

bool px_pack_begin_run(const struct px_pack *pack, uint64_t size, struct px_pack_run *run)
{
	size_t fixed = px_pack_bound(pack, 0) - pack->records_size, most = FRAME_DATA_MAX - PX_PACK_EVENT_MAX;

	if (objects_size(pack) + (size_t)OBJECT_MAX * EVENT_OBJECTS > pack->objects_max || size < fixed)
		return false;
	*run = (struct px_pack_run){.to = pack->records + pack->records_size,
				    .limit = pack->records + (size - fixed < most ? size - fixed : most),
				    .base_ns = pack->head.time_ns - pack->origin_ns + pack->later_ns};
	return run->to < run->limit;
}

void px_pack_end_run(struct px_pack *pack, const struct px_pack_run *run, uint32_t nr_events)
{
	pack->records_size = (size_t)(run->to - pack->records);
	pack->head.nr_entries += nr_events;
	pack->head.nr_events += nr_events;
}

bool px_pack_find_site(const struct px_pack *pack, uint64_t address, uint64_t kind, struct px_pack_site *found)
{
	uint32_t known = pack->bucket[find_site(pack, address, kind)];
	unsigned char number[10] = {0};

	if (!known)
		return false;
	found->address = address;
	found->kind = kind;
	found->size = (uint32_t)(px_varint_put(number, PX_FRAME_SITE_FIRST + known - 1) - number);
	memcpy(found->number, number, sizeof(found->number));
	return true;
}

/* Move the objects, not the records, because nearly all frames have few or no objects. */
/* Store the first object that is no thread in front of the others.  Return the size of all of them. */
static size_t end_others(struct px_pack *pack)
{
	unsigned char first[OBJECT_MAX];
	size_t size;

	if (pack->others_size == 0)
		return 0;
	size = (size_t)(put_object(first, &pack->last_thread, &pack->first_other) - first);
	memcpy(pack->others + OBJECT_MAX - size, first, size);
	return pack->others_size - OBJECT_MAX + size;
}

const void *px_pack_end(struct px_pack *pack, size_t *size)
{
	size_t others = end_others(pack);
	unsigned char *body = pack->records - pack->threads_size - others;
	unsigned char *frame = body - sizeof(pack->head);

	pack->head.objects = (uint32_t)(pack->threads_size + others);
	pack->head.records = (uint32_t)pack->records_size;
	memmove(body, pack->bytes + sizeof(pack->head), pack->threads_size);
	if (others > 0)
		memcpy(body + pack->threads_size, pack->others + pack->others_size - others, others);
	pack->head.sum = px_frame_sum_of(&pack->head, body, false);
	memcpy(frame, &pack->head, sizeof(pack->head));
	*size = sizeof(pack->head) + pack->head.objects + pack->records_size;
	return frame;
}
