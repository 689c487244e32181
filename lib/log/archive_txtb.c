/* SPDX-License-Identifier: MIT */
/*
 * Before the reader reads the first event or type, it scans all entries once (scan.h).  Then it reads the events from
 * the oldest entry on.  After rewind() it does this again, without a scan.
 */
#include "log/archive_txtb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wide.h"
#include "txtb/file.h"
#include "txtb/hextext.h"
#include "txtb/native.h"
#include "txtb/scan.h"

#define WINDOW 4096   /* number of entries read at once */
#define CPU_SHIFT 24  /* in a file of the SMP kernel, the core number is above the bits of the id */
#define DATA_BYTES 16 /* bytes of data of an event: its information words */
#define NR_USER_IDS (PX_TXTB_USER_EVENT_LAST + 1 - PX_TXTB_USER_EVENT)
#define TICK_NS_MIN 1e-9
#define TICK_NS_MAX 1e15
#define NS_PER_S 1000000000u

/* The reading position.  Before the scan all members are 0: no entry is left to read. */
struct position {
	uint32_t nr_left; /* number of entries after the window */
	uint32_t slot;	  /* slot of the first entry after the window */
	/* Index of the next entry in the window, and number of entries in the window. */
	uint32_t i, n;
	uint32_t stamp;	  /* stamp of the last event */
	uint64_t ticks;
};

struct px_archive_txtb {
	struct px_archive archive;
	struct px_txtb_file file;
	uint64_t end_ns; /* time of the file's last modification */

	/*
	 * ns = ticks * scale >> shift.  scale and shift together are exactly the double that the caller gave to
	 * set_tick().
	 */
	uint64_t scale;
	unsigned int shift;

	bool is_scanned;
	struct px_txtb_scan scan;
	struct position at;

	/* 1 + slot of the object that names the user event; 0: no object names it. */
	uint32_t slot_of_name[NR_USER_IDS];
	struct px_txtb_entry window[WINDOW];
};

static struct px_archive_txtb *foreign_of(struct px_archive *archive)
{
	return (struct px_archive_txtb *)archive;
}

/* Time. */

static uint64_t time_of(const struct px_archive_txtb *foreign, uint64_t ticks)
{
	/* The file may have changed since the scan, so ticks may be greater than scan.ticks. */
	uint64_t before = foreign->scan.ticks > ticks ? foreign->scan.ticks - ticks : 0;
	uint64_t ns = px_multiply_shift_most(before, foreign->scale, foreign->shift);

	/* CLOCK_REALTIME times before 1970 would be negative: return 0 instead. */
	return ns < foreign->end_ns ? foreign->end_ns - ns : 0;
}

/* Return the resolution of the clock, but at least 1 ns: a clock with resolution 0 would stand still. */
static struct px_attr_time resolution_of(double tick_ns)
{
	return px_attr_time_of(tick_ns < 1 ? 1 : (uint64_t)tick_ns);
}

static void note_times(struct px_archive_txtb *foreign)
{
	foreign->archive.attr.clock_resolution = resolution_of(foreign->archive.info.tick_ns);
	if (foreign->is_scanned)
		foreign->archive.attr.create_time = px_attr_time_of(time_of(foreign, 0));
}

/*
 * Convert the double into an integer, the scale, and a shift, without a loss of bits.  The bounds in set_tick() keep
 * the shift between 0 and 127.
 */
static void set_scale(struct px_archive_txtb *foreign, double ns)
{
	unsigned int shift = 0;

	while (ns < 0x1p62) {
		ns *= 2;
		shift++;
	}
	foreign->scale = (uint64_t)ns;
	foreign->shift = shift;
}

static int set_tick(struct px_archive *archive, double ns)
{
	struct px_archive_txtb *foreign = foreign_of(archive);

	if (!(ns >= TICK_NS_MIN && ns <= TICK_NS_MAX)) /* this also refuses NaN */
		return EINVAL;
	set_scale(foreign, ns);
	archive->info.tick_ns = ns;
	note_times(foreign);
	return 0;
}

/* The scan. */

static void rewind_to_oldest(struct px_archive *archive)
{
	struct px_archive_txtb *foreign = foreign_of(archive);

	foreign->at = (struct position){.nr_left = foreign->scan.nr_entries,
					.slot = foreign->scan.oldest,
					.stamp = foreign->scan.oldest_stamp};
	archive->info.nr_missing = 0;
}

static void make_scan(struct px_archive_txtb *foreign)
{
	if (foreign->is_scanned)
		return;
	px_txtb_scan_make(&foreign->scan, &foreign->file, WINDOW, foreign->window);
	foreign->is_scanned = true;
	foreign->archive.info.nr_entries = foreign->scan.nr_entries;
	note_times(foreign);
	rewind_to_oldest(&foreign->archive);
}

static void complete_info(struct px_archive *archive)
{
	make_scan(foreign_of(archive));
}

/* Events. */

/*
 * Load the next entries.  A window does not extend beyond the last slot of the file, because the next entry is in the
 * first slot.
 */
static PX_NOINLINE bool load_window(struct px_archive_txtb *foreign)
{
	struct position *at = &foreign->at;
	uint32_t n = foreign->scan.nr_entries - at->slot;

	if (n > at->nr_left)
		n = at->nr_left;
	if (n > WINDOW)
		n = WINDOW;
	at->i = 0;
	at->n = n ? px_txtb_file_entries(&foreign->file, at->slot, n, foreign->window) : 0;
	if (at->n == n) {
		at->nr_left -= n;
	} else { /* the file was truncated: end here */
		foreign->archive.info.nr_missing = at->nr_left - at->n;
		at->nr_left = 0;
	}
	at->slot += n;
	if (at->slot == foreign->scan.nr_entries)
		at->slot = 0;
	return at->n > 0;
}

/* Return the ticks from the first event to the next event, which has this stamp. */
PX_INLINE uint64_t advance(struct px_archive_txtb *foreign, uint32_t stamp)
{
	struct position *at = &foreign->at;
	uint32_t from = foreign->scan.rises ? at->stamp : stamp;
	uint32_t to = foreign->scan.rises ? stamp : at->stamp;

	at->ticks += (uint64_t)to - from;
	if (to < from)
		at->ticks += (uint64_t)foreign->file.time_mask + 1;
	at->stamp = stamp;
	return at->ticks;
}

static enum px_next next(struct px_archive *archive, void *data, size_t capacity,
			 struct px_report *report)
{
	struct px_archive_txtb *foreign = foreign_of(archive);
	const struct px_txtb_entry *entry;

	if (px_unlikely(foreign->at.i == foreign->at.n)) {
		make_scan(foreign);
		if (!load_window(foreign))
			return PX_NEXT_NONE;
	}
	entry = &foreign->window[foreign->at.i++];
	report->record = (struct px_record){
		.counter = advance(foreign, entry->stamp & foreign->file.time_mask),
		.thread = entry->context,
		.id = PX_FOREIGN_TYPES + entry->id % PX_TXTB_SCAN_IDS,
		.length = DATA_BYTES,
		.nr_slots = 1,
		.context = entry->context,
		.priority = entry->priority,
		.cpu = entry->id >> CPU_SHIFT,
	};
	report->time_ns = time_of(foreign, report->record.counter);
	report->length = DATA_BYTES;
	report->copied = capacity < DATA_BYTES ? capacity : DATA_BYTES;
	if (report->copied > 0)
		memcpy(data, entry->info, report->copied);
	return PX_NEXT_EVENT;
}

/* Types. */

static bool occurs(struct px_archive_txtb *foreign, uint32_t id)
{
	make_scan(foreign);
	return px_txtb_scan_has(&foreign->scan, id);
}

static unsigned int type(struct px_archive *archive, uint32_t i)
{
	struct px_archive_txtb *foreign = foreign_of(archive);
	uint32_t id;

	if (i < PX_EVENT_SYSTEM_LAST)
		return PX_EVENT_ERROR + i;
	i -= PX_EVENT_SYSTEM_LAST;
	if (i == 0)
		return PX_EVENT_UNNAMED;
	make_scan(foreign);
	id = px_txtb_scan_id(&foreign->scan, i - 1);
	return id < PX_TXTB_SCAN_IDS ? PX_FOREIGN_TYPES + id : PX_EVENT_NONE;
}

/* Get the name in the file.  Return false if there is none, or if the name is empty or cannot be read. */
static bool name_in_file(struct px_archive_txtb *foreign, uint32_t id, char name[PX_NAME_MAX + 1])
{
	struct px_txtb_file_object object;
	uint32_t slot = foreign->slot_of_name[id - PX_TXTB_USER_EVENT];

	if (slot == 0 || !px_txtb_file_object(&foreign->file, slot - 1, &object))
		return false;
	snprintf(name, PX_NAME_MAX + 1, "%.*s", PX_NAME_MAX, object.name);
	return name[0] != '\0';
}

static int type_name(struct px_archive *archive, unsigned int type_id, char name[PX_NAME_MAX + 1])
{
	struct px_archive_txtb *foreign = foreign_of(archive);
	uint32_t id = type_id - PX_FOREIGN_TYPES; /* wraps to a large number if type_id is smaller */

	if (type_id <= PX_EVENT_UNNAMED)
		return px_names_get(NULL, type_id, name);
	if (id >= PX_TXTB_SCAN_IDS || !occurs(foreign, id))
		return EINVAL;
	if (px_native_name(id))
		snprintf(name, PX_NAME_MAX + 1, "%.*s", PX_NAME_MAX, px_native_name(id));
	else if (id < PX_TXTB_USER_EVENT)
		snprintf(name, PX_NAME_MAX + 1, "TX_TRACE_%u", id);
	else if (!name_in_file(foreign, id, name))
		snprintf(name, PX_NAME_MAX + 1, "TX_TRACE_USER_EVENT_%u", id);
	return 0;
}

static size_t description(struct px_archive *archive, unsigned int id, char text[PX_FIELDS_TEXT_MAX])
{
	(void)archive, (void)id, (void)text;
	return 0;
}

/* Objects. */

static bool object(struct px_archive *archive, uint32_t i, struct px_archive_object *to)
{
	struct px_txtb_file_object found;

	if (!px_txtb_file_object(&foreign_of(archive)->file, i, &found))
		return false;
	*to = (struct px_archive_object){
		.handle = found.handle,
		.type = found.type,
		.priority = found.priority,
		.is_released = found.is_released,
		.parameter = {found.parameter[0], found.parameter[1]},
	};
	_Static_assert(sizeof(to->name) >= sizeof(found.name), "any name of a file");
	memcpy(to->name, found.name, sizeof(found.name));
	return true;
}

/*
 * Find the objects that name user events.  If several objects have the same handle, the first one counts.  Return false
 * if the file cannot be read.
 */
static bool find_names(struct px_archive_txtb *foreign)
{
	struct px_txtb_file_object found;

	for (uint32_t slot = 0; slot < foreign->file.nr_objects; slot++) {
		uint32_t serial;

		if (!px_txtb_file_object(&foreign->file, slot, &found))
			return false;
		serial = found.handle - px_txtb_handle(PX_TXTB_EVENT_TYPE, 0);
		if (found.type == PX_TXTB_EVENT_TYPE && serial < NR_USER_IDS &&
		    foreign->slot_of_name[serial] == 0)
			foreign->slot_of_name[serial] = slot + 1;
	}
	return true;
}

/* The format has no list of modules. */
static size_t modules(struct px_archive *archive, char *text, size_t size)
{
	(void)archive, (void)text, (void)size;
	return 0;
}

/* Opening. */

static void free_foreign(struct px_archive *archive)
{
	struct px_archive_txtb *foreign = foreign_of(archive);

	close(foreign->file.fd);
	free(foreign);
}

static const struct px_archive_kind kind = {
	.next = next,
	.rewind = rewind_to_oldest,
	.type = type,
	.type_name = type_name,
	.description = description,
	.object = object,
	.modules = modules,
	.set_tick = set_tick,
	.complete_info = complete_info,
	.free = free_foreign,
};

/* The copy must not get the number of a standard descriptor that the process has closed. */
static int duplicate(int fd, int *copy)
{
	*copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (*copy >= 0)
		return 0;
	return errno == EBADF ? EINVAL : EMFILE;
}

/* If the file is a text, replace the descriptor with a descriptor of the converted bytes. */
static int take_text(int *fd, uint64_t *size, bool *was_text)
{
	unsigned char id[4];
	bool is_swapped;
	int memory_fd, copy;
	int error;

	if (px_txtb_file_read(*fd, id, sizeof(id), 0) < sizeof(id))
		return EINVAL;
	*was_text = !px_txtb_file_is_id(id, &is_swapped);
	if (!*was_text)
		return 0;
	error = px_hextext_convert(*fd, *size, &memory_fd, size);
	if (error)
		return error;
	error = duplicate(memory_fd, &copy);
	close(memory_fd);
	if (error)
		return error;
	close(*fd);
	*fd = copy;
	return 0;
}

static uint64_t ns_of(const struct timespec *time)
{
	return time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static void describe(struct px_archive_txtb *foreign, bool was_text)
{
	const struct px_txtb_file *file = &foreign->file;
	struct px_attr *attr = &foreign->archive.attr;

	foreign->archive.kind = &kind;
	foreign->archive.info = (struct px_archive_info){
		.is_foreign = true,
		.is_swapped = file->is_swapped,
		/* as for the usual 32-bit processor of ThreadX */
		.model = {.of_long = 4,
			  .of_pointer = 4,
			  .of_long_double = 8,
			  .long_double_digits = 53,
			  .align_max = 8,
			  .is_big = px_fields_native().is_big != file->is_swapped},
		.is_complete = true,
		.was_text = was_text,
		.time_mask = file->time_mask,
		.name_size = file->name_size,
		.nr_registry_slots = file->nr_objects,
		.nr_volumes = 1,
		.nr_entry_slots = file->nr_entries,
	};
	px_attr_init(attr);
	memset(attr->version, 0, sizeof(attr->version));
	strcpy(attr->version, "ThreadX TXTB"); /* GENVER-3; the release is unknown */
	attr->stream_policy = PX_POLICY_LOOP;
	attr->max_data_size = DATA_BYTES;
	attr->stream_size = (uint64_t)file->nr_entries * sizeof(struct px_txtb_entry);
	attr->log_size = file->entries_offset + attr->stream_size;
	attr->nr_rings = 1;
	if (set_tick(&foreign->archive, file->tick_ns) != 0)
		set_tick(&foreign->archive, PX_FOREIGN_TICK_NS);
}

/*
 * Return true if no entry is missing at the end of the file.  A file that ends before its last slot is whole if it has
 * an unused slot, because the events end there.  Scan the entries to find an unused slot.
 */
static bool is_whole(struct px_archive_txtb *foreign)
{
	if (foreign->file.nr_whole == foreign->file.nr_entries)
		return true;
	make_scan(foreign);
	return foreign->scan.is_ended;
}

/* The archive takes over fd and closes it.  After an error, the caller must close fd. */
static int make_foreign(int fd, uint64_t size, uint64_t end_ns, bool was_text, bool takes_damaged,
			struct px_archive **archive)
{
	struct px_archive_txtb *foreign = calloc(1, sizeof(*foreign));
	int error;

	if (!foreign)
		return ENOMEM;
	foreign->end_ns = end_ns;
	error = px_txtb_file_open(&foreign->file, fd, size);
	if (error)
		goto free_foreign;
	describe(foreign, was_text);
	error = EINVAL;
	if (!find_names(foreign) || !(is_whole(foreign) || takes_damaged))
		goto free_foreign;
	foreign->archive.info.size = size;
	foreign->archive.info.whole_size = foreign->archive.attr.log_size;
	*archive = &foreign->archive;
	return 0;

free_foreign:
	free(foreign);
	return error;
}

static int open_duplicate(int fd, bool takes_damaged, struct px_archive **archive)
{
	struct stat status;
	bool was_text;
	uint64_t size;
	int copy;
	int error = duplicate(fd, &copy);

	if (error)
		return error;
	error = EINVAL;
	if (fstat(copy, &status) != 0 || !S_ISREG(status.st_mode))
		goto close_copy;
	size = (uint64_t)status.st_size;
	error = take_text(&copy, &size, &was_text);
	if (error)
		goto close_copy;
	error = make_foreign(copy, size, ns_of(&status.st_mtim), was_text, takes_damaged, archive);
	if (error)
		goto close_copy;
	return 0;

close_copy:
	close(copy);
	return error;
}

int px_archive_txtb_open(int fd, bool takes_damaged, struct px_archive **archive)
{
	int saved_errno = errno;
	int error = open_duplicate(fd, takes_damaged, archive);

	errno = saved_errno;
	return error;
}
