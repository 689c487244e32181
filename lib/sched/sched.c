/* SPDX-License-Identifier: MIT */
#include "sched/sched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sched/perf.h"

#define SCANS_MAX 20
#define SETTLE_NS 1000000 /* a thread that is being created appears in /proc after this time at the latest */
#define BUCKETS_MIN 256
#define CPUS_CHECK_NS 1000000000
#define ROUND_NS 20000000 /* reads a buffer of 512 KiB in time, at 800,000 records per second */
#define ROUND_BYTES (512 << 10)
#define SHORTEST_ROUND_NS 1000000

struct thread {
	uint32_t tid; /* 0: the entry is free */
	uint32_t pid;
	uint32_t state; /* enum px_sched_state */
	uint32_t cpu;
	char name[PX_SCHED_NAME];
};

/* A record in the queue. */
struct queued {
	struct px_perf_record record;
	uint64_t serial; /* keeps the order of records with the same time */
	uint32_t initial; /* not 0: the thread has this state, as /proc says (enum px_sched_state) */
};

struct px_sched {
	struct px_perf *perf;
	uint32_t pid;
	bool inherits;
	bool is_on;	/* between start and stop */
	bool has_ended; /* a CPU without a buffer came online */
	uint64_t complete_ns, checked_ns;
	uint64_t serial;
	struct queued *queue;
	size_t nr_queued, first, nr_allocated;
	/* Events to return before the next record of the queue: SCHED_START or SCHED_STOP, then all threads. */
	bool starts, stops;
	uint32_t end;
	uint64_t change_ns;
	size_t next_told; /* index of the next thread to return; nr_buckets: none */
	/* Threads by tid, with open addressing. */
	struct thread *bucket;
	size_t nr_buckets, nr_threads;
};

/* Threads. */

static size_t home_of(const struct px_sched *sched, uint32_t tid)
{
	return (tid * UINT32_C(2654435761)) & (sched->nr_buckets - 1);
}

static struct thread *find(const struct px_sched *sched, uint32_t tid)
{
	for (size_t i = home_of(sched, tid);; i = (i + 1) & (sched->nr_buckets - 1)) {
		if (sched->bucket[i].tid == tid)
			return &sched->bucket[i];
		if (sched->bucket[i].tid == 0)
			return NULL;
	}
}

static struct thread *insert(struct px_sched *sched, const struct thread *thread)
{
	size_t i = home_of(sched, thread->tid);

	while (sched->bucket[i].tid != 0)
		i = (i + 1) & (sched->nr_buckets - 1);
	sched->bucket[i] = *thread;
	sched->nr_threads++;
	return &sched->bucket[i];
}

static bool grow(struct px_sched *sched)
{
	size_t nr = sched->nr_buckets ? 2 * sched->nr_buckets : BUCKETS_MIN, nr_old = sched->nr_buckets;
	struct thread *bucket = calloc(nr, sizeof(*bucket)), *old = sched->bucket;

	if (!bucket)
		return false;
	sched->bucket = bucket;
	sched->nr_buckets = nr;
	sched->nr_threads = 0;
	for (size_t i = 0; i < nr_old; i++)
		if (old[i].tid != 0)
			insert(sched, &old[i]);
	free(old);
	return true;
}

/* Find a thread, or add it.  Return NULL if there is no memory. */
static struct thread *thread_of(struct px_sched *sched, uint32_t pid, uint32_t tid)
{
	struct thread *known = find(sched, tid);

	if (known)
		return known;
	if (2 * (sched->nr_threads + 1) > sched->nr_buckets && !grow(sched))
		return NULL;
	return insert(sched, &(struct thread){.tid = tid, .pid = pid});
}

/* Remove a thread, and move those behind it that its place kept from their own. */
static void forget(struct px_sched *sched, struct thread *thread)
{
	size_t hole = (size_t)(thread - sched->bucket), mask = sched->nr_buckets - 1;

	for (size_t i = (hole + 1) & mask; sched->bucket[i].tid != 0; i = (i + 1) & mask) {
		if (((i - home_of(sched, sched->bucket[i].tid)) & mask) < ((i - hole) & mask))
			continue;
		sched->bucket[hole] = sched->bucket[i];
		hole = i;
	}
	sched->bucket[hole].tid = 0;
	sched->nr_threads--;
}

/* The queue. */

static bool make_room(struct px_sched *sched)
{
	size_t nr = sched->nr_allocated ? 2 * sched->nr_allocated : 4096;
	struct queued *more;

	if (sched->first + sched->nr_queued < sched->nr_allocated)
		return true;
	if (sched->first > 0) {
		memmove(sched->queue, sched->queue + sched->first, sched->nr_queued * sizeof(*sched->queue));
		sched->first = 0;
		if (sched->nr_queued <= sched->nr_allocated / 2)
			return true;
	}
	more = realloc(sched->queue, nr * sizeof(*more));
	if (!more)
		return false;
	sched->queue = more;
	sched->nr_allocated = nr;
	return true;
}

static void push(struct px_sched *sched, const struct queued *queued)
{
	if (!make_room(sched)) {
		/* What is missing from here on is not known, so scheduling ends. */
		sched->has_ended = true;
		return;
	}
	sched->queue[sched->first + sched->nr_queued] = *queued;
	sched->queue[sched->first + sched->nr_queued++].serial = sched->serial++;
}

static void take(void *argument, const struct px_perf_record *record)
{
	struct px_sched *sched = argument;

	/* A thread of another process is a child that inherited the events from an old kernel. */
	if (!sched->inherits && record->pid != sched->pid && record->kind < PX_PERF_GAP_BEGINS)
		return;
	push(sched, &(struct queued){.record = *record});
}

static int compare(const void *a, const void *b)
{
	const struct queued *first = a, *second = b;

	if (first->record.time_ns != second->record.time_ns)
		return first->record.time_ns < second->record.time_ns ? -1 : 1;
	return first->serial < second->serial ? -1 : 1;
}

static void sort(struct px_sched *sched)
{
	qsort(sched->queue + sched->first, sched->nr_queued, sizeof(*sched->queue), compare);
}

static void read_records(struct px_sched *sched)
{
	size_t nr_before = sched->nr_queued;

	px_perf_read(sched->perf, take, sched);
	if (sched->nr_queued > nr_before)
		sort(sched);
}

void px_sched_collect(struct px_sched *sched)
{
	uint64_t now = px_clock_monotonic_ns();

	if (sched->has_ended)
		return;
	read_records(sched);
	sched->complete_ns = now - PX_SCHED_DELAY_NS;
	if (now - sched->checked_ns < CPUS_CHECK_NS)
		return;
	sched->checked_ns = now;
	if (px_perf_misses_cpu(sched->perf)) {
		sched->has_ended = true;
		sched->end = PX_SCHED_CPUS;
	}
}

uint64_t px_sched_complete_ns(const struct px_sched *sched)
{
	return sched->has_ended ? UINT64_MAX : sched->complete_ns;
}

size_t px_sched_nr_queued(const struct px_sched *sched, uint64_t *oldest_ns)
{
	*oldest_ns = sched->nr_queued ? sched->queue[sched->first].record.time_ns : 0;
	return sched->nr_queued;
}

uint64_t px_sched_round_ns(const struct px_sched *sched)
{
	uint64_t round_ns = ROUND_NS * (px_perf_buffer_bytes(sched->perf) / 1024) / (ROUND_BYTES / 1024);

	return round_ns < SHORTEST_ROUND_NS ? SHORTEST_ROUND_NS : round_ns;
}

/* The threads that exist already. */

static bool read_task_file(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return length > 0;
}

/*
 * The state in /proc/<pid>/stat is "sleeping" a moment before a thread loses its CPU, and if it does not sleep after
 * all.  The kernel writes another word than "running" to `syscall` only if the thread had no CPU all the time.
 */
static uint32_t read_state(uint32_t pid, uint32_t tid)
{
	char text[256];

	if (!read_task_file(pid, tid, "syscall", text, sizeof(text)))
		return PX_SCHED_UNKNOWN;
	return strcmp(text, "running") == 0 ? PX_SCHED_RUNNABLE : PX_SCHED_BLOCKED;
}

/*
 * Note the state of a thread whose records are open already.  If the thread is switched while /proc is asked, its
 * records say more than this state.
 */
static void note_state(struct px_sched *sched, uint32_t tid)
{
	struct queued queued = {.record = {.kind = PX_PERF_NAME, .pid = sched->pid, .tid = tid}};

	read_task_file(sched->pid, tid, "comm", queued.record.name, sizeof(queued.record.name));
	queued.initial = read_state(sched->pid, tid);
	queued.record.time_ns = px_clock_monotonic_ns();
	if (queued.initial != PX_SCHED_UNKNOWN)
		push(sched, &queued);
}

/* Return true if the kernel has reported the creation of this thread after a time. */
static bool was_created_after(const struct px_sched *sched, uint32_t tid, uint64_t time_ns)
{
	for (size_t i = 0; i < sched->nr_queued; i++) {
		const struct px_perf_record *record = &sched->queue[sched->first + i].record;

		if (record->kind == PX_PERF_FORK && record->tid == tid && record->time_ns > time_ns)
			return true;
	}
	return false;
}

static int open_thread(struct px_sched *sched, uint32_t tid)
{
	int error = sched->perf ? px_perf_add(sched->perf, tid) :
				  px_perf_open(tid, sched->inherits, &sched->perf);

	if (error == ESRCH)
		return 0; /* it has ended */
	if (!error && !thread_of(sched, sched->pid, tid))
		error = ENOMEM;
	return error;
}

static uint32_t read_tid(const char *text)
{
	uint32_t tid = 0;

	while (*text >= '0' && *text <= '9')
		tid = tid * 10 + (uint32_t)(*text++ - '0');
	return tid;
}

/* Open the threads in the list of the process that are not open.  Set *nr_opened to their number. */
static int scan(struct px_sched *sched, uint64_t last_scan_ns, unsigned int *nr_opened)
{
	char path[32];
	struct dirent *entry;
	int error = 0;
	DIR *tasks;

	*nr_opened = 0;
	snprintf(path, sizeof(path), "/proc/%u/task", sched->pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? ESRCH : errno;
	while (!error && (entry = readdir(tasks)) != NULL) {
		uint32_t tid = read_tid(entry->d_name);

		if (tid == 0 || find(sched, tid))
			continue;
		/* Its parent had its events for long when it created this thread, which so inherited them. */
		if (last_scan_ns && was_created_after(sched, tid, last_scan_ns + SETTLE_NS))
			continue;
		error = open_thread(sched, tid);
		(*nr_opened)++;
	}
	closedir(tasks);
	return error;
}

/*
 * A thread may create another one while the list is read.  After a scan all threads of the list have events, and give
 * them to the threads that they create.  So scan again until a scan finds no other thread.
 */
static int open_all(struct px_sched *sched)
{
	const struct timespec settle = {0, SETTLE_NS};
	uint64_t scanned_ns = 0;
	unsigned int nr_opened = 1;

	for (int i = 0; nr_opened > 0 && i < SCANS_MAX; i++) {
		int error;

		if (i > 0) {
			nanosleep(&settle, NULL);
			read_records(sched);
		}
		error = scan(sched, scanned_ns, &nr_opened);
		if (error)
			return error;
		if (!sched->perf)
			return ESRCH;
		scanned_ns = px_clock_monotonic_ns();
	}
	return 0;
}

int px_sched_open(uint32_t pid, bool inherits, struct px_sched **sched)
{
	struct px_sched *made = calloc(1, sizeof(*made));
	int error = ENOMEM;

	if (!made)
		return ENOMEM;
	made->pid = pid;
	made->inherits = inherits;
	if (grow(made))
		error = open_all(made);
	if (error) {
		px_sched_close(made);
		return error;
	}
	px_perf_settle(made->perf);
	for (size_t i = 0; i < made->nr_buckets; i++)
		if (made->bucket[i].tid != 0)
			note_state(made, made->bucket[i].tid);
	if (made->nr_queued > 0)
		sort(made);
	made->next_told = made->nr_buckets;
	*sched = made;
	return 0;
}

void px_sched_close(struct px_sched *sched)
{
	if (!sched)
		return;
	px_perf_close(sched->perf);
	free(sched->queue);
	free(sched->bucket);
	free(sched);
}

/* Events. */

void px_sched_start(struct px_sched *sched, uint64_t time_ns)
{
	if (sched->is_on || sched->has_ended)
		return;
	sched->is_on = sched->starts = true;
	sched->change_ns = time_ns;
	sched->next_told = 0;
}

void px_sched_stop(struct px_sched *sched, uint64_t time_ns)
{
	if (!sched->is_on)
		return;
	sched->is_on = false;
	sched->stops = !sched->starts;
	sched->starts = false;
	sched->change_ns = time_ns;
	sched->next_told = sched->nr_buckets;
}

static void make_thread(struct px_sched_event *event, uint32_t id, uint64_t time_ns, const struct thread *thread,
			uint32_t state)
{
	*event = (struct px_sched_event){.time_ns = time_ns,
					 .id = id,
					 .cpu = thread->cpu,
					 .pid = thread->pid,
					 .tid = thread->tid,
					 .length = PX_SCHED_SWITCH_BYTES,
					 .data.thread = {.tid = thread->tid,
							 .pid = thread->pid,
							 .cpu = thread->cpu,
							 .state = state}};
	if (id != PX_EVENT_SCHED_THREAD)
		return;
	event->length = sizeof(event->data.thread);
	memcpy(event->data.thread.name, thread->name, sizeof(thread->name));
}

static void make_end(struct px_sched_event *event, uint64_t time_ns, uint32_t end)
{
	*event = (struct px_sched_event){
		.time_ns = time_ns, .id = PX_EVENT_SCHED_STOP, .length = sizeof(end), .data.end = end};
}

/* Return the events that come with a start or a stop. */
static bool next_of_change(struct px_sched *sched, struct px_sched_event *event)
{
	if (sched->stops) {
		sched->stops = false;
		make_end(event, sched->change_ns, PX_SCHED_STOPPED);
		return true;
	}
	if (sched->starts) {
		sched->starts = false;
		*event = (struct px_sched_event){.time_ns = sched->change_ns, .id = PX_EVENT_SCHED_START};
		return true;
	}
	while (sched->next_told < sched->nr_buckets) {
		const struct thread *thread = &sched->bucket[sched->next_told++];

		if (thread->tid == 0 || thread->state == PX_SCHED_UNKNOWN)
			continue;
		make_thread(event, PX_EVENT_SCHED_THREAD, sched->change_ns, thread, thread->state);
		return true;
	}
	return false;
}

/* The kernel lost records of this CPU: only what runs on other CPUs is known. */
static bool begin_gap(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	for (size_t i = 0; i < sched->nr_buckets; i++) {
		struct thread *thread = &sched->bucket[i];

		if (thread->state != PX_SCHED_RUNNING || thread->cpu == record->cpu)
			thread->state = PX_SCHED_UNKNOWN;
	}
	*event = (struct px_sched_event){.time_ns = record->time_ns,
					 .id = PX_EVENT_SCHED_GAP,
					 .cpu = record->cpu,
					 .length = sizeof(event->data.gap),
					 .data.gap = {.cpu = record->cpu}};
	return true;
}

static bool end_gap(const struct px_perf_record *record, struct px_sched_event *event)
{
	*event = (struct px_sched_event){
		.time_ns = record->time_ns,
		.id = PX_EVENT_SCHED_GAP,
		.cpu = record->cpu,
		.length = sizeof(event->data.gap),
		.data.gap = {.nr_lost = record->nr_lost, .cpu = record->cpu, .ends = 1}};
	return true;
}

static bool switch_in(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct thread *thread = thread_of(sched, record->pid, record->tid);

	if (!thread || thread->state == PX_SCHED_RUNNING)
		return false;
	thread->state = PX_SCHED_RUNNING;
	thread->cpu = record->cpu;
	make_thread(event, PX_EVENT_SWITCH_IN, record->time_ns, thread, PX_SCHED_RUNNING);
	return true;
}

static bool switch_out(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct thread *thread = thread_of(sched, record->pid, record->tid);

	if (!thread || thread->state == PX_SCHED_READY || thread->state == PX_SCHED_BLOCKED)
		return false;
	thread->state = record->is_ready ? PX_SCHED_READY : PX_SCHED_BLOCKED;
	thread->cpu = record->cpu;
	make_thread(event, PX_EVENT_SWITCH_OUT, record->time_ns, thread, thread->state);
	return true;
}

static bool create(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	const struct thread *known = find(sched, record->tid), *process = find(sched, record->pid);
	struct thread *thread;
	char name[PX_SCHED_NAME] = "";

	if (known)
		return false;
	if (process)
		memcpy(name, process->name, sizeof(name));
	thread = thread_of(sched, record->pid, record->tid);
	if (!thread)
		return false;
	thread->state = PX_SCHED_READY;
	memcpy(thread->name, name, sizeof(name));
	make_thread(event, PX_EVENT_SCHED_THREAD, record->time_ns, thread, PX_SCHED_READY);
	return true;
}

static bool end_thread(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct thread *thread = find(sched, record->tid);

	if (!thread)
		return false;
	make_thread(event, PX_EVENT_SWITCH_OUT, record->time_ns, thread, PX_SCHED_ENDED);
	forget(sched, thread);
	return true;
}

static bool rename_thread(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct thread *thread = thread_of(sched, record->pid, record->tid);

	if (!thread)
		return false;
	memcpy(thread->name, record->name, sizeof(thread->name));
	make_thread(event, PX_EVENT_SCHED_THREAD, record->time_ns, thread, thread->state);
	return true;
}

/*
 * If a thread other than the first calls exec, it takes the id of the first one, which has ended like all others.  The
 * kernel reports no end of its own old id.
 */
static bool execute(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	for (size_t i = 0; i < sched->nr_buckets; i++) {
		struct thread *thread = &sched->bucket[i];

		if (thread->tid == 0 || thread->pid != record->pid || thread->tid == record->tid)
			continue;
		make_thread(event, PX_EVENT_SWITCH_OUT, record->time_ns, thread, PX_SCHED_ENDED);
		forget(sched, thread);
		return true;
	}
	return false;
}

/* The thread with the id of the process runs: it has just got this id, or had it before. */
static bool follow_exec(struct px_sched *sched, const struct px_perf_record *record, struct px_sched_event *event)
{
	struct thread *thread = thread_of(sched, record->pid, record->tid);

	if (!thread)
		return false;
	thread->state = PX_SCHED_RUNNING;
	thread->cpu = record->cpu;
	return rename_thread(sched, record, event);
}

static bool set_initial(struct px_sched *sched, const struct queued *queued, struct px_sched_event *event)
{
	struct thread *thread = find(sched, queued->record.tid);

	if (!thread)
		return false;
	if (thread->name[0] == '\0')
		memcpy(thread->name, queued->record.name, sizeof(thread->name));
	if (thread->state == PX_SCHED_UNKNOWN)
		thread->state = queued->initial;
	make_thread(event, PX_EVENT_SCHED_THREAD, queued->record.time_ns, thread, thread->state);
	return true;
}

/* Update the threads with a record.  Return true if the record is an event for the log. */
static bool apply(struct px_sched *sched, const struct queued *queued, struct px_sched_event *event)
{
	const struct px_perf_record *record = &queued->record;

	if (queued->initial != PX_SCHED_UNKNOWN)
		return set_initial(sched, queued, event);
	switch (record->kind) {
	case PX_PERF_IN:
		return switch_in(sched, record, event);
	case PX_PERF_OUT:
		return switch_out(sched, record, event);
	case PX_PERF_FORK:
		return create(sched, record, event);
	case PX_PERF_EXIT:
		return end_thread(sched, record, event);
	case PX_PERF_GAP_BEGINS:
		return begin_gap(sched, record, event);
	case PX_PERF_GAP_ENDS:
		return end_gap(record, event);
	case PX_PERF_EXEC:
		return follow_exec(sched, record, event);
	default:
		return rename_thread(sched, record, event);
	}
}

bool px_sched_next(struct px_sched *sched, uint64_t time_ns, struct px_sched_event *event)
{
	while (true) {
		const struct queued *queued;
		bool is_event;

		if (next_of_change(sched, event))
			return true;
		if (sched->nr_queued == 0)
			break;
		queued = &sched->queue[sched->first];
		if (queued->record.time_ns > time_ns || queued->record.time_ns > px_sched_complete_ns(sched))
			return false;
		if (queued->record.kind == PX_PERF_EXEC && execute(sched, &queued->record, event)) {
			if (sched->is_on)
				return true;
			continue;
		}
		is_event = apply(sched, queued, event);
		sched->first++;
		sched->nr_queued--;
		if (is_event && sched->is_on)
			return true;
	}
	if (!sched->has_ended || !sched->is_on)
		return false;
	sched->is_on = false;
	make_end(event, time_ns, sched->end);
	return true;
}
