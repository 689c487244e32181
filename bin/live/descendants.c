/* SPDX-License-Identifier: MIT */
#include "live/descendants.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"

#define LOOK_NS 10000000      /* time between two looks */
#define LOOK_PART 50	      /* a look takes at most this part of the time */
#define LAST_STEP_NS 500000000 /* the last look at a descendant is about a second after the first one */
#define NS_PER_MS 1000000

static bool is_known(const struct descendants *descendants, pid_t pid)
{
	for (size_t i = 0; i < descendants->nr; i++)
		if (descendants->list[i].pid == pid)
			return true;
	return false;
}

static void add(struct descendants *descendants, pid_t pid)
{
	if (pid <= 0 || is_known(descendants, pid))
		return;
	if (descendants->nr == descendants->room) {
		descendants->room = descendants->room ? 2 * descendants->room : 8;
		descendants->list = must(reallocarray(descendants->list, descendants->room,
						      sizeof(*descendants->list)));
	}
	descendants->list[descendants->nr++] = (struct descendant){.pid = pid, .step_ns = LOOK_NS};
}

/* Add the children that this thread has made.  Some kernels do not list them. */
static void add_children_of(struct descendants *descendants, pid_t pid, const char *thread)
{
	char path[NAME_MAX + 48];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, thread);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fscanf(file, "%d", &child) == 1)
		add(descendants, (pid_t)child);
	fclose(file);
}

static void add_children(struct descendants *descendants, pid_t pid)
{
	struct dirent *thread;
	char path[48];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			add_children_of(descendants, pid, thread->d_name);
	if (threads)
		closedir(threads);
}

static void read_modules(struct descendants *descendants, struct descendant *descendant, int64_t now_ns)
{
	if (descendant->step_ns > LAST_STEP_NS || now_ns < descendant->read_ns)
		return;
	namer_inspect(descendants->namer, descendant->pid);
	descendant->read_ns = now_ns + descendant->step_ns;
	descendant->step_ns *= 2;
}

int descendants_look(struct descendants *descendants)
{
	int64_t now_ns = clock_now_ns(), took_ns;
	bool is_read = true;

	if (now_ns < descendants->look_ns)
		return (int)((descendants->look_ns - now_ns) / NS_PER_MS) + 1;
	if (descendants->nr == 0)
		add(descendants, descendants->root);
	/* The list grows in this loop: the children of a child are also looked at. */
	for (size_t i = 0; i < descendants->nr;) {
		if (kill(descendants->list[i].pid, 0) != 0) {
			descendants->list[i] = descendants->list[--descendants->nr];
			continue;
		}
		read_modules(descendants, &descendants->list[i], now_ns);
		is_read &= descendants->list[i].step_ns > LAST_STEP_NS;
		if (descendants->has_children)
			add_children(descendants, descendants->list[i].pid);
		i++;
	}
	if (!descendants->has_children && is_read)
		return -1;
	took_ns = clock_now_ns() - now_ns;
	descendants->look_ns = now_ns + (took_ns * LOOK_PART > LOOK_NS ? took_ns * LOOK_PART : LOOK_NS);
	return (int)((descendants->look_ns - now_ns) / NS_PER_MS);
}

void descendants_free(struct descendants *descendants)
{
	free(descendants->list);
}
