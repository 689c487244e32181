/* SPDX-License-Identifier: MIT */
#include "sched/cpu_times.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/procfs.h"

#define COST_SHARE 50 /* reading takes at most this part of the time */

struct sample {
	uint64_t time_ns;
	struct px_sched_count count;
};

struct px_cpu_times {
	uint32_t pid;
	bool is_on;
	uint64_t next_ns; /* not before */
	struct sample *sample;
	size_t nr_samples, first, nr_allocated;
};

static bool read_count(uint32_t pid, uint32_t tid, struct px_sched_count *count)
{
	unsigned long long ran_ns, ready_ns;
	char text[128];

	if (!px_procfs_task_line(pid, tid, "schedstat", text, sizeof(text)) ||
	    sscanf(text, "%llu %llu", &ran_ns, &ready_ns) != 2)
		return false;
	*count = (struct px_sched_count){.tid = tid, .pid = pid, .ran_ns = ran_ns, .ready_ns = ready_ns};
	px_procfs_task_line(pid, tid, "comm", count->name, sizeof(count->name));
	return true;
}

static struct sample *new_sample(struct px_cpu_times *counted)
{
	if (counted->nr_samples == counted->nr_allocated) {
		size_t nr = counted->nr_allocated ? 2 * counted->nr_allocated : 64;
		struct sample *more = realloc(counted->sample, nr * sizeof(*more));

		if (!more)
			return NULL;
		counted->sample = more;
		counted->nr_allocated = nr;
	}
	return &counted->sample[counted->nr_samples];
}

/* Return 0 for "." and "..". */
static uint32_t number_of(const char *name)
{
	uint32_t number = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		number = number * 10 + (uint32_t)(*name - '0');
	return number;
}

/* Without memory, threads are missing: they have no count then. */
static void read_all(struct px_cpu_times *counted, uint64_t time_ns)
{
	uint64_t begin_ns = px_clock_monotonic_ns(), cost_ns;
	char path[32];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", counted->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) != NULL) {
		uint32_t tid = number_of(entry->d_name);
		struct sample *sample = new_sample(counted);

		if (tid == 0 || !sample || !read_count(counted->pid, tid, &sample->count))
			continue;
		sample->time_ns = time_ns;
		counted->nr_samples++;
	}
	if (tasks)
		closedir(tasks);
	cost_ns = px_clock_monotonic_ns() - begin_ns;
	counted->next_ns = begin_ns + (COST_SHARE * cost_ns > PX_CPU_TIMES_ROUND_NS ? COST_SHARE * cost_ns :
											 PX_CPU_TIMES_ROUND_NS);
}

int px_cpu_times_open(uint32_t pid, struct px_cpu_times **counted)
{
	struct px_sched_count count;
	struct px_cpu_times *made;

	if (!read_count(pid, pid, &count) || count.ran_ns == 0)
		return ENOTSUP;
	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	made->pid = pid;
	*counted = made;
	return 0;
}

void px_cpu_times_close(struct px_cpu_times *counted)
{
	if (!counted)
		return;
	free(counted->sample);
	free(counted);
}

void px_cpu_times_collect(struct px_cpu_times *counted)
{
	uint64_t now = px_clock_monotonic_ns();

	if (counted->is_on && counted->nr_samples == 0 && now >= counted->next_ns)
		read_all(counted, now);
}

void px_cpu_times_start(struct px_cpu_times *counted)
{
	if (!counted->is_on)
		read_all(counted, px_clock_monotonic_ns());
	counted->is_on = true;
}

void px_cpu_times_stop(struct px_cpu_times *counted, uint64_t time_ns)
{
	if (counted->is_on)
		read_all(counted, time_ns);
	counted->is_on = false;
}

bool px_cpu_times_next(struct px_cpu_times *counted, uint64_t time_ns, struct px_sched_event *event)
{
	const struct sample *sample = &counted->sample[counted->first];

	if (counted->first == counted->nr_samples || sample->time_ns > time_ns)
		return false;
	*event = (struct px_sched_event){.time_ns = sample->time_ns,
					 .id = PX_EVENT_CPU_TIME,
					 .pid = sample->count.pid,
					 .tid = sample->count.tid,
					 .length = sizeof(sample->count),
					 .data.count = sample->count};
	if (++counted->first == counted->nr_samples)
		counted->first = counted->nr_samples = 0;
	return true;
}
