/* SPDX-License-Identifier: MIT */
#include "trx/running_threads.h"

#include <stdlib.h>

#include "base/memory.h"

struct running_thread *running_thread(struct running_threads *threads, uint32_t handle)
{
	uint64_t *known = map_get(&threads->by_handle, handle);

	if (*known == 0) {
		if (threads->nr_threads == threads->room) {
			threads->room = threads->room ? 2 * threads->room : 64;
			threads->thread = must(reallocarray(threads->thread, threads->room,
							    sizeof(*threads->thread)));
		}
		threads->thread[threads->nr_threads++] = (struct running_thread){
			.handle = handle, .priority = HAS_THRESHOLD, .cpu = NO_CPU};
		*known = threads->nr_threads;
	}
	return &threads->thread[*known - 1];
}

bool running_has_cpu(const struct running_threads *threads, uint32_t handle)
{
	uint64_t known = map_find(&threads->by_handle, handle);

	return known && threads->thread[known - 1].cpu != NO_CPU;
}

void running_leave_cpu(struct running_threads *threads, struct running_thread *thread)
{
	if (thread->cpu != NO_CPU)
		threads->cpu[thread->cpu].thread = 0;
	thread->cpu = NO_CPU;
}

void running_enter_cpu(struct running_threads *threads, struct running_thread *thread,
		       unsigned int cpu)
{
	uint32_t other = threads->cpu[cpu].thread;

	if (other && other != thread->handle)
		running_thread(threads, other)->cpu = NO_CPU;
	running_leave_cpu(threads, thread);
	threads->cpu[cpu].thread = thread->handle;
	thread->cpu = (int)cpu;
}

uint32_t running_newest(const struct running_threads *threads)
{
	const struct running_cpu *newest = NULL;

	for (unsigned int i = 0; i < threads->nr_cpus; i++)
		if (threads->cpu[i].thread &&
		    (!newest || threads->cpu[i].last_ns > newest->last_ns))
			newest = &threads->cpu[i];
	return newest ? newest->thread : threads->idle;
}

void running_threads_free(struct running_threads *threads)
{
	map_free(&threads->by_handle);
	free(threads->thread);
}
