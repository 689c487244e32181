/* SPDX-License-Identifier: MIT */
#include "sched/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/procfs.h"
#include "event/sched.h"

#define SCANS_MAX 20
#define SETTLE_NS 1000000 /* a thread that is being created appears in /proc after this time at the latest */

/*
 * The state in /proc/<pid>/stat is "sleeping" a moment before a thread loses its CPU, and if it does not sleep after
 * all.  The kernel writes another word than "running" to `syscall` only if the thread had no CPU all the time.
 */
static uint32_t read_state(uint32_t pid, uint32_t tid)
{
	char text[256];

	if (!px_procfs_task_line(pid, tid, "syscall", text, sizeof(text)))
		return PX_SCHED_UNKNOWN;
	return strcmp(text, "running") == 0 ? PX_SCHED_RUNNABLE : PX_SCHED_BLOCKED;
}

/*
 * Note the state of a thread whose records are open already.  If the thread is switched while /proc is asked, its
 * records say more than this state.
 */
static void note_state(const struct px_scan *scan, uint32_t tid)
{
	struct px_queued queued = {.record = {.kind = PX_PERF_NAME, .pid = scan->pid, .tid = tid}};

	px_procfs_task_line(scan->pid, tid, "comm", queued.record.name, sizeof(queued.record.name));
	queued.initial = read_state(scan->pid, tid);
	queued.record.time_ns = px_clock_monotonic_ns();
	if (queued.initial != PX_SCHED_UNKNOWN)
		px_sched_queue_push(scan->queue, &queued);
}

/* Return true if the kernel has reported the creation of this thread after a time. */
static bool was_created_after(const struct px_scan *scan, uint32_t tid, uint64_t time_ns)
{
	for (size_t i = 0; i < scan->queue->nr; i++) {
		const struct px_perf_record *record = &scan->queue->queued[scan->queue->first + i].record;

		if (record->kind == PX_PERF_FORK && record->tid == tid && record->time_ns > time_ns)
			return true;
	}
	return false;
}

static int open_thread(const struct px_scan *scan, struct px_perf **perf, uint32_t tid)
{
	int error = *perf ? px_perf_add(*perf, tid) : px_perf_open(tid, scan->inherits, perf);

	if (error == ESRCH)
		return 0; /* it has ended */
	if (!error && !px_tasks_add(scan->tasks, scan->pid, tid))
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
static int open_new(const struct px_scan *scan, struct px_perf **perf, uint64_t last_scan_ns, unsigned int *nr_opened)
{
	char path[32];
	struct dirent *entry;
	int error = 0;
	DIR *tasks;

	*nr_opened = 0;
	snprintf(path, sizeof(path), "/proc/%u/task", scan->pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? ESRCH : errno;
	while (!error && (entry = readdir(tasks)) != NULL) {
		uint32_t tid = read_tid(entry->d_name);

		if (tid == 0 || px_tasks_find(scan->tasks, tid))
			continue;
		/* Its parent had its events for long when it created this thread, which so inherited them. */
		if (last_scan_ns && was_created_after(scan, tid, last_scan_ns + SETTLE_NS))
			continue;
		error = open_thread(scan, perf, tid);
		(*nr_opened)++;
	}
	closedir(tasks);
	return error;
}

/*
 * A thread may create another one while the list is read.  After a scan all threads of the list have events, and give
 * them to the threads that they create.  So scan again until a scan finds no other thread.
 */
static int open_all(const struct px_scan *scan, struct px_perf **perf)
{
	const struct timespec settle = {0, SETTLE_NS};
	uint64_t scanned_ns = 0;
	unsigned int nr_opened = 1;

	for (int i = 0; nr_opened > 0 && i < SCANS_MAX; i++) {
		int error;

		if (i > 0) {
			nanosleep(&settle, NULL);
			px_sched_queue_read(scan->queue, *perf);
		}
		error = open_new(scan, perf, scanned_ns, &nr_opened);
		if (error)
			return error;
		if (!*perf)
			return ESRCH;
		scanned_ns = px_clock_monotonic_ns();
	}
	return 0;
}

int px_sched_scan(const struct px_scan *scan, struct px_perf **perf)
{
	int error = open_all(scan, perf);

	if (error)
		return error;
	px_perf_settle(*perf);
	for (size_t i = 0; i < scan->tasks->nr_buckets; i++)
		if (scan->tasks->bucket[i].tid != 0)
			note_state(scan, scan->tasks->bucket[i].tid);
	if (scan->queue->nr > 0)
		px_sched_queue_sort(scan->queue);
	return 0;
}
