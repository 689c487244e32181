/* SPDX-License-Identifier: MIT */
#include "logfile.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

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
	layout.objects = layout.modules + PX_LOG_MODULES_BYTES;
	layout.slots = layout.objects + page_up(PX_LOG_OBJECTS * sizeof(struct px_log_object));
	layout.size = page_up(layout.slots + (uint64_t)nr_entries * sizeof(struct px_log_slot));
	return layout;
}

uint32_t px_log_event_slots(uint64_t max_data)
{
	return px_record_slots(
		(size_t)(max_data > PX_SYSTEM_EVENT_BYTES ? max_data : PX_SYSTEM_EVENT_BYTES));
}

/* The largest record with its gap, four times: a writer stages one while another is overwritten. */
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
