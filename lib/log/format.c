/* SPDX-License-Identifier: MIT */
#include "log/format.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "calls/entries.h"
#include "log/order.h"
#include "txtb/file.h"

#define BYTE_ORDER_OURS 0x0102
#define FIND_ATTEMPTS 3
#define COMMIT_ATTEMPTS 1000 /* a write of a commit takes less time than one attempt */

uint64_t px_log_wrappers_size(const struct px_log_header *header, const struct px_log_commit *commit)
{
	/* Version 2 does not have this member of the header. */
	return header->version == PX_LOG_VERSION && header->wrappers_bytes ?
		       header->wrappers_bytes :
		       commit->nr_wrappers * sizeof(struct px_wrapper_sum);
}

uint64_t px_log_length(const struct px_log_header *header, const struct px_log_commit *commit)
{
	uint64_t length = commit->names_at + commit->nr_names * sizeof(struct px_log_name);
	uint64_t wrappers = commit->wrappers_at + px_log_wrappers_size(header, commit);
	uint64_t modules = commit->modules_at + commit->modules_bytes;

	length = wrappers > length ? wrappers : length;
	return modules > length ? modules : length;
}

struct px_log_layout px_log_layout(uint32_t nr_objects, uint32_t nr_entries, uint64_t volume_max)
{
	struct px_log_layout layout;

	layout.base = 0;
	layout.nr_objects = nr_objects;
	layout.name_size = PX_TXTB_NAME_SIZE;
	layout.nr_entries = nr_entries;
	layout.is_tight = false;
	layout.entries = px_txtb_entries_offset(nr_objects);
	layout.header = px_log_page_up(px_txtb_image_size(nr_objects, nr_entries));
	layout.commit = layout.header + PX_LOG_PAGE;
	layout.frames = layout.commit + PX_LOG_PAGE;
	layout.size = px_log_page_up(layout.frames + volume_max);
	return layout;
}

struct px_log_layout px_log_layout_tight(uint32_t nr_objects, uint32_t name_size,
					 uint32_t nr_entries, uint64_t volume_max)
{
	struct px_log_layout layout = {.nr_objects = nr_objects,
				       .name_size = name_size,
				       .nr_entries = nr_entries,
				       .is_tight = true};

	layout.entries = px_txtb_object_offset(nr_objects, name_size);
	layout.header = layout.entries + (uint64_t)nr_entries * sizeof(struct px_txtb_entry);
	layout.commit = layout.header + PX_LOG_TIGHT_HEADER;
	layout.frames = layout.commit + PX_LOG_TIGHT_COMMIT;
	layout.size = px_log_page_up(layout.frames + volume_max);
	return layout;
}

uint32_t px_log_read_objects(int fd, uint64_t at, uint32_t name_size, bool is_swapped, uint32_t first, uint32_t count,
			     struct px_txtb_object *objects)
{
	size_t size = px_txtb_object_size(name_size);
	unsigned char *bytes = (unsigned char *)objects;
	uint32_t got = (uint32_t)(px_txtb_file_read(fd, bytes, count * size,
						    at + px_txtb_object_offset(first, name_size)) /
				  size);

	for (uint32_t i = got; i > 0; i--) {
		memmove(&objects[i - 1], bytes + (i - 1) * size, size);
		memset(objects[i - 1].name + name_size, 0, PX_TXTB_NAME_SIZE - name_size);
		if (is_swapped)
			px_order_object(&objects[i - 1]);
	}
	return got;
}

struct px_log_tail px_log_tail(void)
{
	struct px_log_tail tail;

	tail.modules = 0;
	tail.wrappers = PX_LOG_MODULES_BYTES;
	tail.names = tail.wrappers + px_log_page_up(PX_WRAPPERS_MAX * sizeof(struct px_wrapper_sum));
	tail.size = tail.names + px_log_page_up(PX_EVENT_IDS * sizeof(struct px_log_name));
	return tail;
}

struct px_log_tail px_log_tail_at(const struct px_log_header *header, const struct px_log_commit *commit,
				  uint64_t at)
{
	struct px_log_tail tail;

	tail.wrappers = at;
	tail.names = tail.wrappers + px_log_wrappers_size(header, commit);
	tail.modules = tail.names + commit->nr_names * sizeof(struct px_log_name);
	tail.size = tail.modules + commit->modules_bytes - at;
	return tail;
}

void px_log_set_tail(struct px_log_commit *commit, const struct px_log_tail *tail)
{
	commit->modules_at = tail->modules;
	commit->wrappers_at = tail->wrappers;
	commit->names_at = tail->names;
}

uint32_t px_log_least_entries(void)
{
	return PX_LOG_START_FILLERS + 4 * (PX_ENTRIES_MAX + 1 + PX_LOG_GAP_FILLERS + 1);
}

/* These numbers place the entries so that no entry crosses a page boundary. */
static void choose_slots(struct px_log_header *header, bool is_small)
{
	header->nr_thread_slots = is_small ? 768 : 4096;
	header->nr_call_slots = is_small ? 127 : 1023;
	header->nr_type_slots = is_small ? 131 : 251;
}

/* Version 2 has fewer object slots than any other, and a slot of 48 bytes, not a frame, beside each entry. */
void px_log_renew_header(struct px_log_header *header)
{
	header->version = PX_LOG_VERSION;
	choose_slots(header, true);
	header->wrappers_bytes = 0;
	header->volume_max = PX_LOG_VOLUME_MAX;
	header->next_volume = 0;
	header->is_tight = 0;
	header->layouts = px_log_layouts();
}

static uint64_t least_volume(uint64_t max_data)
{
	return PX_LOG_LEAST + 4 * max_data + px_log_least_entries() * sizeof(struct px_txtb_entry);
}

static void choose_entries(struct px_log_header *header)
{
	uint64_t entries = header->volume_max / PX_LOG_EVENT_BYTES;

	header->nr_entries = (uint32_t)(entries < PX_LOG_VOLUME_ENTRIES_MAX ?
						entries :
						PX_LOG_VOLUME_ENTRIES_MAX);
}

static void choose_append(struct px_log_header *header, uint64_t max_data, uint64_t file_limit)
{
	uint64_t size = file_limit / 8, fixed;

	header->nr_volumes = 0;
	header->volume_max = PX_LOG_VOLUME_MAX;
	if (size < 2 * PX_LOG_VOLUME_MAX) {
		choose_slots(header, size < UINT64_C(1) << 22);
		fixed = px_log_layout(px_log_nr_objects(header), 0, 0).size;
		if (size < 2 * (fixed + least_volume(max_data)))
			size = 2 * (fixed + least_volume(max_data));
		/* The areas for entries and for frames may both have the full size. */
		header->volume_max = (size - fixed) / 2;
	}
	choose_entries(header);
}

static void choose_bounded(struct px_log_header *header, uint64_t log_size, uint64_t max_data)
{
	uint64_t volumes = log_size / PX_SLOT_BYTES / PX_LOG_VOLUME_ENTRIES_MAX + 1;

	if (volumes > PX_LOG_VOLUMES_MAX)
		volumes = PX_LOG_VOLUMES_MAX;
	choose_slots(header, volumes > 16);
	header->volume_max = log_size / volumes;
	if (header->volume_max > PX_LOG_VOLUME_ENTRIES_MAX * PX_SLOT_BYTES)
		header->volume_max = PX_LOG_VOLUME_ENTRIES_MAX * PX_SLOT_BYTES;
	if (header->volume_max < least_volume(max_data))
		header->volume_max = least_volume(max_data);
	header->nr_volumes = (uint32_t)volumes;
	choose_entries(header);
}

void px_log_geometry(struct px_log_header *header, uint64_t log_size, uint64_t max_data,
		     uint64_t file_limit)
{
	uint64_t size;

	choose_slots(header, false);
	if (header->policy == PX_POLICY_APPEND) {
		choose_append(header, max_data, file_limit);
		return;
	}
	do {
		choose_bounded(header, log_size, max_data);
		size = px_log_layout(px_log_nr_objects(header), header->nr_entries, header->volume_max).size;
		log_size -= log_size / 8;
	} while (header->nr_volumes * size + px_log_tail().size > file_limit &&
		 header->volume_max > least_volume(max_data));
}

/*
 * Get the size of names and the numbers of object slots and entries from the header of the image: they determine the
 * offset of the section.  Return false if there is no image of a log.
 */
static bool find_section(int fd, uint64_t at, struct px_log_layout *layout)
{
	struct px_txtb_header image;
	uint32_t size, object_size;

	if (px_txtb_file_read(fd, &image, sizeof(image), at) != sizeof(image))
		return false;
	if (image.id == __builtin_bswap32(PX_TXTB_ID))
		px_order_image(&image);
	if (image.id != PX_TXTB_ID || image.name_size == 0 || image.name_size % 4 != 0 ||
	    image.name_size > PX_TXTB_NAME_SIZE)
		return false;
	object_size = (uint32_t)px_txtb_object_size(image.name_size);
	size = image.registry_end - image.registry_start;
	layout->name_size = image.name_size;
	layout->nr_objects = size / object_size;
	if (layout->nr_objects == 0 || size % object_size != 0 || layout->nr_objects > 65536)
		return false;
	size = image.buffer_end - image.buffer_start;
	layout->nr_entries = size / (uint32_t)sizeof(struct px_txtb_entry);
	return layout->nr_entries > 0 && layout->nr_entries <= PX_LOG_VOLUME_ENTRIES_MAX;
}

static bool read_header(int fd, uint64_t offset, struct px_log_header *header)
{
	bool is_swapped;

	if (px_txtb_file_read(fd, header, sizeof(*header), offset) != sizeof(*header))
		return false;
	is_swapped = header->magic == __builtin_bswap64(PX_LOG_MAGIC);
	if (is_swapped)
		px_order_header(header);
	if (header->magic != PX_LOG_MAGIC)
		return false;
	if (is_swapped != px_log_is_swapped(header))
		header->version = 0; /* it is damaged */
	if (header->machine.of_long < sizeof(uint64_t))
		px_order_settle_times(&header->attr);
	return true;
}

/* If image and section disagree, this is a damaged log. */
static bool agree(const struct px_log_header *header, uint32_t nr_objects, uint32_t nr_entries)
{
	return header->version != PX_LOG_VERSION ||
	       (nr_entries <= header->nr_entries && nr_objects <= px_log_nr_objects(header));
}

bool px_log_find_volume(int fd, uint64_t at, struct px_log_header *header,
			struct px_log_layout *layout)
{
	struct px_log_layout of, tight, wide;

	if (!find_section(fd, at, &of))
		return false;
	tight = px_log_layout_tight(of.nr_objects, of.name_size, of.nr_entries, 0);
	wide = px_log_layout(of.nr_objects, of.nr_entries, 0);
	/* The two headers may be at the same offset, so the header says which one it is. */
	if (read_header(fd, at + tight.header, header) && header->version >= PX_LOG_VERSION &&
	    header->is_tight)
		*layout = px_log_layout_tight(of.nr_objects, of.name_size, of.nr_entries,
					      header->volume_max);
	else if (of.name_size == PX_TXTB_NAME_SIZE && read_header(fd, at + wide.header, header))
		*layout = px_log_layout(of.nr_objects, of.nr_entries, header->volume_max);
	else
		return false;
	if (!agree(header, of.nr_objects, of.nr_entries))
		header->version = 0;
	return true;
}

bool px_log_find_footer(int fd, struct px_log_footer *footer)
{
	struct stat status;
	uint64_t size;

	if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(*footer))
		return false;
	size = (uint64_t)status.st_size - sizeof(*footer);
	if (px_txtb_file_read(fd, footer, sizeof(*footer), size) != sizeof(*footer))
		return false;
	if (footer->magic == __builtin_bswap64(PX_LOG_FOOTER_MAGIC))
		px_order_footer(footer);
	return footer->magic == PX_LOG_FOOTER_MAGIC && footer->base < size &&
	       footer->size == size - footer->base;
}

bool px_log_find(int fd, struct px_log_header *header, struct px_log_layout *layout)
{
	struct px_log_footer footer;

	/* The log may move between two reads, so try again.  A move takes a short time. */
	for (int i = 0; i < FIND_ATTEMPTS; i++) {
		bool is_moving = px_log_find_footer(fd, &footer);

		PX_TESTPOINT("log.find.footer");
		if (is_moving && px_log_find_volume(fd, footer.base, header, layout) &&
		    memcmp(header->uuid, footer.uuid, sizeof(footer.uuid)) == 0) {
			layout->base = footer.base;
			return true;
		}
		if (px_log_find_volume(fd, 0, header, layout) && !px_log_find_footer(fd, &footer))
			return true;
	}
	return false;
}

static bool is_size_of_word(unsigned int size)
{
	return size == 4 || size == 8;
}

bool px_log_header_is_readable(const struct px_log_header *header)
{
	const struct px_log_machine *machine = &header->machine;

	return header->version == PX_LOG_VERSION && header->volume == 0 &&
	       (machine->byte_order == BYTE_ORDER_OURS || px_log_is_swapped(header)) &&
	       is_size_of_word(machine->of_long) && is_size_of_word(machine->of_pointer) &&
	       machine->of_attr == sizeof(header->attr) && header->nr_entries > 0 &&
	       header->nr_entries <= PX_LOG_VOLUME_ENTRIES_MAX &&
	       header->nr_volumes <= PX_LOG_VOLUMES_MAX &&
	       (header->nr_volumes == 0) == (header->policy == PX_POLICY_APPEND) &&
	       header->nr_thread_slots <= 4096 && header->nr_call_slots <= 4096 &&
	       header->nr_type_slots <= 4096 && header->volume_max <= UINT64_C(1) << 40 &&
	       header->tick_ns > 0 && px_attr_is_valid(&header->attr);
}

bool px_log_header_is_ours(const struct px_log_header *header)
{
	struct px_log_machine machine = px_log_machine();

	return px_log_header_is_readable(header) && memcmp(&header->machine, &machine, sizeof(machine)) == 0;
}

bool px_log_header_is_newer(const struct px_log_header *header)
{
	return header->version > PX_LOG_VERSION;
}

/* Commits. */

#define COMMIT_BYTES offsetof(struct px_log_commit, clocks) /* that each version has */

static uint32_t sum_of(const struct px_log_commit *commit, bool is_swapped)
{
	struct px_log_commit copy = *commit;
	uint32_t sum;

	copy.sum = 0;
	if (is_swapped)
		px_order_commit(&copy);
	sum = px_frame_sum(0, &copy, COMMIT_BYTES, is_swapped);
	return sum ? sum : 1;
}

void px_log_seal_commit(struct px_log_commit *commit)
{
	px_log_clocks_seal(&commit->clocks);
	commit->sum = sum_of(commit, false);
}

static bool read_commit(int fd, const struct px_log_header *header, const struct px_log_layout *layout,
			struct px_log_commit *commit)
{
	memset(&commit->clocks, 0, sizeof(commit->clocks));
	if (px_txtb_file_read(fd, commit, sizeof(*commit), layout->base + layout->commit) < COMMIT_BYTES)
		return false;
	if (px_log_is_swapped(header))
		px_order_commit(commit);
	return true;
}

/* Return true if positions and counts are possible.  Make the offsets those of the file. */
static bool take_commit(const struct px_log_header *header, const struct px_log_layout *layout,
			struct px_log_commit *commit)
{
	uint64_t capacity = (uint64_t)header->nr_entries * header->nr_volumes;
	bool loops = header->policy == PX_POLICY_LOOP;

	commit->modules_at += layout->base;
	commit->wrappers_at += layout->base;
	commit->names_at += layout->base;
	return commit->first <= commit->end && commit->end < UINT64_MAX >> 8 &&
	       (capacity == 0 || commit->end - commit->first <= capacity) &&
	       (loops || capacity == 0 || commit->end <= capacity) &&
	       commit->nr_names <= PX_LOG_NAMES_MAX &&
	       commit->nr_wrappers <= PX_WRAPPERS_MAX &&
	       commit->first_frame <= header->volume_max && commit->end_frame <= header->volume_max;
}

bool px_log_read_commit(int fd, const struct px_log_header *header,
			const struct px_log_layout *layout, struct px_log_commit *commit)
{
	return read_commit(fd, header, layout, commit) && take_commit(header, layout, commit);
}

/* A commit without a sum is whole if two attempts in a row read the same. */
bool px_log_read_whole_commit(int fd, const struct px_log_header *header,
			      const struct px_log_layout *layout, struct px_log_commit *commit)
{
	struct px_log_commit before = {.serial = 0};

	for (int i = 0; i < COMMIT_ATTEMPTS; i++) {
		if (!read_commit(fd, header, layout, commit))
			return false;
		if (commit->sum ? commit->sum == sum_of(commit, px_log_is_swapped(header)) :
				  i > 0 && memcmp(commit, &before, sizeof(before)) == 0)
			return take_commit(header, layout, commit);
		before = *commit;
	}
	return false;
}

struct px_log_machine px_log_machine(void)
{
	struct px_log_machine machine;
	struct utsname name;

	memset(&machine, 0, sizeof(machine));
	machine.byte_order = BYTE_ORDER_OURS;
	machine.of_long = sizeof(long);
	machine.of_pointer = sizeof(void *);
	machine.of_thread = sizeof(pthread_t);
	machine.of_time = sizeof((struct px_attr_time){0}.s);
	machine.of_attr = sizeof(struct px_attr);
	if (uname(&name) == 0)
		memcpy(machine.name, name.machine, strnlen(name.machine, sizeof(machine.name) - 1));
	return machine;
}

struct px_log_layouts px_log_layouts(void)
{
	struct px_fields_model model = px_fields_native();

	return (struct px_log_layouts){.of_long_double = model.of_long_double,
				       .long_double_digits = model.long_double_digits,
				       .align_max = model.align_max};
}

/* What an older log does not say follows from the architecture, but for the format of a long double. */
static struct px_log_layouts usual_layouts(const struct px_log_machine *machine)
{
	bool is_x86 = strcmp(machine->name, "x86_64") == 0 ||
		      (machine->name[0] == 'i' && strcmp(machine->name + 2, "86") == 0);

	if (machine->of_pointer == 8)
		return (struct px_log_layouts){
			.of_long_double = 16, .long_double_digits = is_x86 ? 64 : 0, .align_max = 16};
	if (is_x86)
		return (struct px_log_layouts){.of_long_double = 12, .long_double_digits = 64, .align_max = 4};
	return (struct px_log_layouts){.of_long_double = 8, .long_double_digits = 53, .align_max = 8};
}

/* Return true if there is such a machine: the readers of data rely on it. */
static bool is_layout(const struct px_log_layouts *layouts)
{
	const unsigned int size = layouts->of_long_double, align = layouts->align_max;
	bool is_format = layouts->long_double_digits == 53 ? size == 8 :
			 layouts->long_double_digits == 64 ? size == 12 || size == 16 :
							     size == 16;

	return is_format && align > 0 && align <= 16 && (align & (align - 1)) == 0;
}

struct px_fields_model px_log_model(const struct px_log_header *header)
{
	bool is_known = header->version == PX_LOG_VERSION && is_layout(&header->layouts);
	struct px_log_layouts layouts = is_known ? header->layouts : usual_layouts(&header->machine);

	return (struct px_fields_model){.of_long = header->machine.of_long,
					.of_pointer = header->machine.of_pointer,
					.of_long_double = layouts.of_long_double,
					.long_double_digits = layouts.long_double_digits,
					.align_max = layouts.align_max,
					.is_big = px_fields_native().is_big != px_log_is_swapped(header)};
}

void px_log_boot_id(char boot_id[40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(boot_id, 0, 40);
	if (fd < 0)
		return;
	if (read(fd, boot_id, 36) != 36)
		boot_id[0] = '\0';
	close(fd);
}

void px_log_image_header(struct px_txtb_header *header, uint32_t nr_objects, uint32_t name_size,
			 uint32_t nr_entries)
{
	px_txtb_header_init(header, nr_objects, name_size, nr_entries);
	px_txtb_set_tick(header, PX_LOG_TICK_NS);
}

#define PID_SPACE_PLACE 37 /* in the boot id */

uint32_t px_log_pid_space(const struct px_log_header *header)
{
	const unsigned char *bytes = (const unsigned char *)&header->boot_id[PID_SPACE_PLACE];

	if (memchr(header->boot_id, '\0', PID_SPACE_PLACE) != &header->boot_id[PID_SPACE_PLACE - 1])
		return 0;
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
}

void px_log_set_pid_space(struct px_log_header *header)
{
	char link[64];
	ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
	unsigned long number;

	link[length > 0 ? length : 0] = '\0';
	if (sscanf(link, "pid:[%lu]", &number) != 1 || strlen(header->boot_id) != PID_SPACE_PLACE - 1)
		return;
	number |= (number & 0xFFFFFF) == 0;
	for (int i = 0; i < 3; i++)
		header->boot_id[PID_SPACE_PLACE + i] = (char)(number >> 8 * i & 0xFF);
}
