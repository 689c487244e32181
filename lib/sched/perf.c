/* SPDX-License-Identifier: MIT */
#include "sched/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"

#define BUFFER_BYTES_MAX (1 << 20)
#define BUFFER_BYTES_MIN (1 << 14)
#define LARGEST_RECORD 128 /* more than any record needs; with less room, the kernel may have dropped one */
#define CPUS_TEXT 4096

/* The buffer of one CPU. */
struct buffer {
	uint32_t cpu;
	int fd; /* of the first thread; -1: closed, as the mapping keeps the event */
	struct perf_event_mmap_page *page;
	uint64_t last_ns; /* time of the last record */
	uint64_t nr_lost; /* not reported yet */
	bool in_gap;
};

/* A descriptor that has no mapping keeps its event. */
struct kept {
	int fd;
	uint64_t id;
};

struct px_perf {
	struct perf_event_attr attr;
	char cpus[CPUS_TEXT]; /* the list of CPUs that are online, as the kernel writes it */
	uint32_t nr_buffers;
	struct buffer *buffer;
	size_t size; /* bytes of a buffer, without the control page */
	struct kept *kept;
	size_t nr_kept, nr_allocated;
};

/* CPUs. */

/* A container may have no /sys.  The lines "cpu0 ...", "cpu1 ..." are of the CPUs that are online, too. */
static bool read_cpus_of_proc(char text[CPUS_TEXT])
{
	FILE *file = fopen("/proc/stat", "re");
	size_t length = 0;
	unsigned int cpu;
	char line[512] = "";

	while (file && length < CPUS_TEXT - 16 && fgets(line, sizeof(line), file))
		if (line[strlen("cpu")] != ' ' && sscanf(line, "cpu%u", &cpu) == 1) /* "cpu  ..." is the sum */
			length += (size_t)snprintf(text + length, CPUS_TEXT - length, "%u,", cpu);
	if (file)
		fclose(file);
	return length > 0;
}

static bool read_cpus(char text[CPUS_TEXT])
{
	int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, CPUS_TEXT - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 || read_cpus_of_proc(text);
}

static uint32_t read_number(const char **text)
{
	uint32_t number = 0;

	while (**text >= '0' && **text <= '9')
		number = number * 10 + (uint32_t)(*(*text)++ - '0');
	return number;
}

/* Call add() for each CPU of a list such as "0-3,8". */
static bool for_each_cpu(const char *text, bool (*add)(struct px_perf *perf, uint32_t cpu),
			 struct px_perf *perf)
{
	while (*text >= '0' && *text <= '9') {
		uint32_t first = read_number(&text), last = first;

		if (*text == '-') {
			text++;
			last = read_number(&text);
		}
		for (uint32_t cpu = first; cpu <= last; cpu++)
			if (!add(perf, cpu))
				return false;
		text += *text == ',';
	}
	return true;
}

static bool add_cpu(struct px_perf *perf, uint32_t cpu)
{
	struct buffer *more = realloc(perf->buffer, (perf->nr_buffers + 1) * sizeof(*more));

	if (!more)
		return false;
	perf->buffer = more;
	more[perf->nr_buffers++] = (struct buffer){.cpu = cpu, .fd = -1};
	return true;
}

static bool has_cpu(struct px_perf *perf, uint32_t cpu)
{
	for (uint32_t i = 0; i < perf->nr_buffers; i++)
		if (perf->buffer[i].cpu == cpu)
			return true;
	return false;
}

bool px_perf_misses_cpu(const struct px_perf *perf)
{
	char cpus[CPUS_TEXT];

	return read_cpus(cpus) && strcmp(cpus, perf->cpus) != 0 &&
	       !for_each_cpu(cpus, has_cpu, (struct px_perf *)(uintptr_t)perf);
}

/* Events. */

/* Before Linux 4.17 a record does not say whether the thread was preempted or blocked. */
static bool records_preemption(void)
{
	struct utsname name;
	unsigned int major = 0, minor = 0;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 4 || (major == 4 && minor >= 17));
}

/*
 * The member inherit_thread, which headers before Linux 5.13 do not have: bit 35 of the word after read_format, counted
 * from the first one in memory.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define INHERIT_THREAD ((__u64)1 << 35)
#else
#define INHERIT_THREAD ((__u64)1 << (63 - 35))
#endif

static __u64 *flags_of(struct perf_event_attr *attr)
{
	return (__u64 *)((char *)attr + offsetof(struct perf_event_attr, read_format) + sizeof(attr->read_format));
}

static struct perf_event_attr make_attr(bool inherits)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME; /* the buffer shows the CPU; each field costs time */
	attr.inherit = 1;
	if (!inherits)
		*flags_of(&attr) |= INHERIT_THREAD;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.context_switch = 1;
	attr.task = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1; /* nobody waits for the buffer: the kernel need not wake anyone at each record */
	attr.wakeup_watermark = UINT32_MAX;
	return attr;
}

static int open_event(struct px_perf *perf, uint32_t tid, uint32_t cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, &perf->attr, (pid_t)tid, (int)cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	/* Before Linux 5.13, children inherit the events, too.  The caller leaves out their records. */
	if (fd < 0 && errno == EINVAL && (*flags_of(&perf->attr) & INHERIT_THREAD)) {
		*flags_of(&perf->attr) &= ~INHERIT_THREAD;
		fd = (int)syscall(SYS_perf_event_open, &perf->attr, (pid_t)tid, (int)cpu, -1,
				  PERF_FLAG_FD_CLOEXEC);
	}
	return fd;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Map buffers of this size for all CPUs.  The error EPERM means that RLIMIT_MEMLOCK permits less. */
static int map_all(struct px_perf *perf, size_t size)
{
	for (uint32_t i = 0; i < perf->nr_buffers; i++) {
		void *page = mmap(NULL, page_bytes() + size, PROT_READ | PROT_WRITE, MAP_SHARED,
				  perf->buffer[i].fd, 0);

		if (page == MAP_FAILED) {
			int error = errno;

			while (i-- > 0) {
				munmap(perf->buffer[i].page, page_bytes() + size);
				perf->buffer[i].page = NULL;
			}
			return error;
		}
		perf->buffer[i].page = page;
	}
	perf->size = size;
	return 0;
}

static int open_first(struct px_perf *perf, uint32_t tid)
{
	size_t size = BUFFER_BYTES_MAX;
	int error;

	for (uint32_t i = 0; i < perf->nr_buffers; i++) {
		perf->buffer[i].fd = open_event(perf, tid, perf->buffer[i].cpu);
		if (perf->buffer[i].fd < 0)
			return errno == ENODEV || errno == EOPNOTSUPP ? ENOTSUP : errno;
	}
	do {
		error = map_all(perf, size);
		size /= 2;
	} while (error && size >= BUFFER_BYTES_MIN);
	return error == EPERM ? ENOMEM : error;
}

int px_perf_open(uint32_t tid, bool inherits, struct px_perf **perf)
{
	struct px_perf *made;
	int error = 0;

	if (!records_preemption())
		return ENOTSUP;
	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	made->attr = make_attr(inherits);
	if (!read_cpus(made->cpus))
		error = ENOENT;
	else if (!for_each_cpu(made->cpus, add_cpu, made))
		error = ENOMEM;
	if (!error)
		error = open_first(made, tid);
	if (error) {
		px_perf_close(made);
		return error;
	}
	*perf = made;
	return 0;
}

/* Note a descriptor that must stay open, because its event has no mapping. */
static int keep(struct px_perf *perf, int fd)
{
	struct kept kept = {.fd = fd};

	if (perf->nr_kept == perf->nr_allocated) {
		size_t nr = perf->nr_allocated ? 2 * perf->nr_allocated : 64;
		struct kept *more = realloc(perf->kept, nr * sizeof(*more));

		if (!more)
			return ENOMEM;
		perf->kept = more;
		perf->nr_allocated = nr;
	}
	if (syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &kept.id) != 0)
		return errno;
	perf->kept[perf->nr_kept++] = kept;
	return 0;
}

int px_perf_add(struct px_perf *perf, uint32_t tid)
{
	for (uint32_t i = 0; i < perf->nr_buffers; i++) {
		int error, fd = open_event(perf, tid, perf->buffer[i].cpu);

		if (fd < 0)
			return errno;
		error = syscall(SYS_ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, perf->buffer[i].fd) == 0 ? keep(perf, fd) :
											errno;
		if (error) {
			close(fd);
			return error;
		}
	}
	return 0;
}

void px_perf_settle(struct px_perf *perf)
{
	for (uint32_t i = 0; i < perf->nr_buffers; i++) {
		if (perf->buffer[i].fd >= 0)
			close(perf->buffer[i].fd);
		perf->buffer[i].fd = -1;
	}
}

void px_perf_close(struct px_perf *perf)
{
	if (!perf)
		return;
	px_perf_settle(perf);
	for (size_t i = 0; i < perf->nr_kept; i++) {
		uint64_t id = 0;

		if (syscall(SYS_ioctl, perf->kept[i].fd, PERF_EVENT_IOC_ID, &id) == 0 && id == perf->kept[i].id)
			close(perf->kept[i].fd);
	}
	for (uint32_t i = 0; i < perf->nr_buffers; i++)
		if (perf->buffer[i].page)
			munmap(perf->buffer[i].page, page_bytes() + perf->size);
	free(perf->kept);
	free(perf->buffer);
	free(perf);
}

size_t px_perf_buffer_bytes(const struct px_perf *perf)
{
	return perf->size;
}

/* Records. */

/* With sample_id_all, the kernel adds this structure to the end of each record. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
};

union record {
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
	} task;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char text[16];
	} comm;
	struct {
		struct perf_event_header header;
		uint64_t id, nr_lost;
	} lost;
	unsigned char bytes[LARGEST_RECORD];
};

static void copy_out(const struct px_perf *perf, const struct buffer *buffer, uint64_t at, void *to,
		     size_t length)
{
	const unsigned char *bytes = (const unsigned char *)buffer->page + page_bytes();
	size_t offset = (size_t)(at & (perf->size - 1));
	size_t first = length < perf->size - offset ? length : perf->size - offset;

	memcpy(to, bytes + offset, first);
	memcpy((unsigned char *)to + first, bytes, length - first);
}

/* Convert a record.  Return false if it says nothing about threads. */
static bool convert(const union record *from, const struct buffer *buffer, struct px_perf_record *to)
{
	struct sample_id id;

	memcpy(&id, from->bytes + from->header.size - sizeof(id), sizeof(id));
	*to = (struct px_perf_record){
		.time_ns = id.time_ns, .pid = id.pid, .tid = id.tid, .cpu = buffer->cpu};
	switch (from->header.type) {
	case PERF_RECORD_SWITCH:
		to->kind = from->header.misc & PERF_RECORD_MISC_SWITCH_OUT ? PX_PERF_OUT : PX_PERF_IN;
		to->is_ready = (from->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		to->kind = from->header.type == PERF_RECORD_FORK ? PX_PERF_FORK : PX_PERF_EXIT;
		to->pid = from->task.pid;
		to->tid = from->task.tid;
		return true;
	case PERF_RECORD_COMM:
		to->kind = from->header.misc & PERF_RECORD_MISC_COMM_EXEC ? PX_PERF_EXEC : PX_PERF_NAME;
		to->pid = from->comm.pid;
		to->tid = from->comm.tid;
		snprintf(to->name, sizeof(to->name), "%.15s", from->comm.text);
		return true;
	default:
		return false;
	}
}

struct reading {
	struct px_perf *perf;
	struct buffer *buffer;
	void (*take)(void *argument, const struct px_perf_record *record);
	void *argument;
};

static void mark_gap(const struct reading *reading, enum px_perf_kind kind, uint64_t time_ns)
{
	struct buffer *buffer = reading->buffer;
	struct px_perf_record gap = {.time_ns = time_ns, .kind = kind, .cpu = buffer->cpu};

	if (kind == PX_PERF_GAP_ENDS) {
		gap.nr_lost = buffer->nr_lost;
		buffer->nr_lost = 0;
	}
	buffer->in_gap = kind == PX_PERF_GAP_BEGINS;
	reading->take(reading->argument, &gap);
}

static void take_record(const struct reading *reading, const union record *from)
{
	struct buffer *buffer = reading->buffer;
	struct px_perf_record record;

	if (from->header.type == PERF_RECORD_LOST) {
		if (!buffer->in_gap)
			mark_gap(reading, PX_PERF_GAP_BEGINS, buffer->last_ns);
		buffer->nr_lost += from->lost.nr_lost;
		return;
	}
	if (!convert(from, buffer, &record))
		return;
	if (buffer->in_gap)
		mark_gap(reading, PX_PERF_GAP_ENDS, record.time_ns);
	buffer->last_ns = record.time_ns;
	reading->take(reading->argument, &record);
}

/*
 * If the buffer was so full that the kernel may have dropped a record, a gap begins behind its last record.  The next
 * record ends the gap, and shows whether something is missing.
 */
static void read_buffer(const struct reading *reading)
{
	struct buffer *buffer = reading->buffer;
	uint64_t tail = buffer->page->data_tail;
	uint64_t head = px_load_acquire(&buffer->page->data_head);
	bool is_full = head - tail > reading->perf->size - LARGEST_RECORD;

	while (tail != head) {
		union record record;
		size_t length;

		copy_out(reading->perf, buffer, tail, &record.header, sizeof(record.header));
		length = record.header.size;
		if (length < sizeof(record.header) || length > head - tail)
			break; /* the kernel does not write such a record */
		memset(&record, 0, sizeof(record));
		copy_out(reading->perf, buffer, tail, &record,
			 length < sizeof(record) ? length : sizeof(record));
		if (length >= sizeof(struct perf_event_header) + sizeof(struct sample_id) &&
		    length <= sizeof(record))
			take_record(reading, &record);
		tail += length;
	}
	/* The records are copied before the kernel sees that their room is free. */
	px_store_release(&buffer->page->data_tail, head);
	if (is_full && !buffer->in_gap)
		mark_gap(reading, PX_PERF_GAP_BEGINS, buffer->last_ns);
}

void px_perf_read(struct px_perf *perf, void (*take)(void *argument, const struct px_perf_record *record),
		  void *argument)
{
	for (uint32_t i = 0; i < perf->nr_buffers; i++) {
		const struct reading reading = {perf, &perf->buffer[i], take, argument};

		read_buffer(&reading);
	}
}
