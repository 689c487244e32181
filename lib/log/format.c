/* SPDX-License-Identifier: MIT */
#include "log/format.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "calls/entries.h"
#include "txtb/file.h"

static uint64_t page_up(uint64_t offset)
{
	return (offset + PX_LOG_PAGE - 1) & ~(uint64_t)(PX_LOG_PAGE - 1);
}

struct px_log_layout px_log_layout(uint32_t nr_entries)
{
	struct px_log_layout layout;

	layout.entries = px_txtb_entries_offset(PX_LOG_OBJECTS);
	layout.header = page_up(px_txtb_image_size(PX_LOG_OBJECTS, nr_entries));
	layout.commit = layout.header + PX_LOG_PAGE;
	layout.names = layout.commit + PX_LOG_PAGE;
	layout.modules = layout.names + page_up(PX_EVENT_IDS * sizeof(struct px_log_name));
	layout.wrappers = layout.modules + PX_LOG_MODULES_BYTES;
	layout.objects = layout.wrappers + page_up(PX_WRAPPERS_MAX * sizeof(struct px_wrapper_sum));
	layout.slots = layout.objects + page_up(PX_LOG_OBJECTS * sizeof(struct px_log_object));
	layout.size = page_up(layout.slots + (uint64_t)nr_entries * sizeof(struct px_log_slot));
	return layout;
}

uint32_t px_log_event_slots(uint64_t max_data)
{
	return PX_ENTRIES_MAX +
	       px_record_slots((size_t)(max_data > PX_SYSTEM_EVENT_BYTES ? max_data :
									   PX_SYSTEM_EVENT_BYTES));
}

/*
 * Return the least number of entries with which a log works.  There must be room for more than one record of the
 * largest size, because the writer stages one record while it overwrites another.  This number has room for four such
 * records, each with the fillers of a time gap.
 */
static uint64_t least_entries(uint64_t max_data)
{
	return PX_LOG_START_FILLERS + 4 * (px_log_event_slots(max_data) + PX_LOG_GAP_FILLERS + 1);
}

void px_log_geometry(uint64_t log_size, uint64_t max_data, bool append, uint32_t *nr_entries,
		     uint32_t *nr_volumes)
{
	uint64_t all = log_size / PX_SLOT_BYTES;
	uint64_t volumes;

	if (append) {
		*nr_entries = PX_LOG_VOLUME_ENTRIES_MAX;
		*nr_volumes = 0;
		return;
	}
	if (all < least_entries(max_data))
		all = least_entries(max_data);
	volumes = (all + PX_LOG_VOLUME_ENTRIES_MAX - 1) / PX_LOG_VOLUME_ENTRIES_MAX;
	if (volumes > PX_LOG_VOLUMES_MAX)
		volumes = PX_LOG_VOLUMES_MAX;
	all /= volumes;
	*nr_entries = (uint32_t)(all < PX_LOG_VOLUME_ENTRIES_MAX ? all : PX_LOG_VOLUME_ENTRIES_MAX);
	*nr_volumes = (uint32_t)volumes;
}

uint32_t px_log_append_entries(uint64_t file_limit, uint64_t max_data)
{
	uint64_t least_size = px_log_layout((uint32_t)least_entries(max_data)).size;
	uint64_t size = file_limit / 8, entries;

	if (size >= px_log_layout(PX_LOG_VOLUME_ENTRIES_MAX).size)
		return PX_LOG_VOLUME_ENTRIES_MAX;
	if (size < 4 * least_size)
		size = file_limit < 4 * least_size ? file_limit : 4 * least_size;
	if (size < least_size)
		return (uint32_t)least_entries(max_data);
	entries = least_entries(max_data) +
		  (size - least_size) / (sizeof(struct px_txtb_entry) + sizeof(struct px_log_slot));
	while (px_log_layout((uint32_t)entries).size > size && entries > least_entries(max_data))
		entries--; /* the areas end at page boundaries */
	return (uint32_t)entries;
}

/*
 * Get the number of entries from the header of the image.  This number determines the offset of the section.  Return
 * false if the file is not an image of a log.
 */
static bool find_section(int fd, uint32_t *nr_entries)
{
	struct px_txtb_header image;
	uint32_t size;

	if (px_txtb_file_read(fd, &image, sizeof(image), 0) != sizeof(image) ||
	    image.id != PX_TXTB_ID || image.name_size != PX_TXTB_NAME_SIZE ||
	    image.registry_end - image.registry_start !=
		    PX_LOG_OBJECTS * sizeof(struct px_txtb_object))
		return false;
	size = image.buffer_end - image.buffer_start;
	*nr_entries = size / (uint32_t)sizeof(struct px_txtb_entry);
	return *nr_entries > 0 && *nr_entries <= PX_LOG_VOLUME_ENTRIES_MAX;
}

bool px_log_find(int fd, struct px_log_header *header, struct px_log_layout *layout)
{
	uint32_t nr_entries;

	if (!find_section(fd, &nr_entries))
		return false;
	*layout = px_log_layout(nr_entries);
	if (px_txtb_file_read(fd, header, sizeof(*header), layout->header) != sizeof(*header) ||
	    header->magic != PX_LOG_MAGIC)
		return false;
	if (header->nr_entries != nr_entries)
		header->version = 0; /* image and section disagree: the log is damaged */
	return true;
}

bool px_log_header_is_ours(const struct px_log_header *header)
{
	struct px_log_machine machine = px_log_machine();

	return header->version == PX_LOG_VERSION && header->volume == 0 &&
	       memcmp(&header->machine, &machine, sizeof(machine)) == 0 && header->nr_entries > 0 &&
	       header->nr_entries <= PX_LOG_VOLUME_ENTRIES_MAX &&
	       header->nr_volumes <= PX_LOG_VOLUMES_MAX &&
	       (header->nr_volumes == 0) == (header->policy == PX_POLICY_APPEND) &&
	       px_attr_is_valid(&header->attr);
}

bool px_log_read_commit(int fd, const struct px_log_header *header,
			const struct px_log_layout *layout, struct px_log_commit *commit)
{
	uint64_t capacity = (uint64_t)header->nr_entries * header->nr_volumes;
	bool loops = header->policy == PX_POLICY_LOOP;

	return px_txtb_file_read(fd, commit, sizeof(*commit), layout->commit) == sizeof(*commit) &&
	       commit->first <= commit->end && commit->end < UINT64_MAX >> 8 &&
	       (capacity == 0 || commit->end - commit->first <= capacity) &&
	       (loops || capacity == 0 || commit->end <= capacity) &&
	       commit->nr_names <= PX_EVENT_IDS - PX_EVENT_USER_FIRST &&
	       commit->nr_wrappers <= PX_WRAPPERS_MAX;
}

struct px_log_machine px_log_machine(void)
{
	struct px_log_machine machine;
	struct utsname name;

	memset(&machine, 0, sizeof(machine));
	machine.byte_order = 0x0102;
	machine.of_long = sizeof(long);
	machine.of_pointer = sizeof(void *);
	machine.of_thread = sizeof(pthread_t);
	machine.of_time = sizeof(time_t);
	machine.of_attr = sizeof(struct px_attr);
	if (uname(&name) == 0)
		memcpy(machine.name, name.machine, strnlen(name.machine, sizeof(machine.name) - 1));
	return machine;
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
