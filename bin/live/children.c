/* SPDX-License-Identifier: MIT */
#include "live/children.h"
#include "../lib/base/layout.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "live/target.h"
#include "live/wrapper_stats.h"
#include "report/processes.h"

static const char *shown_name(const struct process *process)
{
	return process->untraced ?: process->command ?: process->name ?: "?";
}

/* The first process of a kind, and the number of all. */
struct sample {
	const struct process *first;
	size_t nr;
};

static void take(struct sample *sample, const struct process *process)
{
	if (sample->nr++ == 0)
		sample->first = process;
}

static void look_at(const struct process *process, struct sample *untraced, struct sample *silent,
		    struct sample *alive)
{
	struct target target;
	bool lives = !process->is_reaped && target_inspect(&target, process->pid);

	/* A process that goes on may have recorded nothing yet, such as one that has just executed a program. */
	if (lives && target.has_library)
		take(alive, process);
	else if (process->untraced)
		take(untraced, process);
	else if (!process->has_events)
		take(silent, process);
}

static const char *processes_word(size_t nr)
{
	return nr == 1 ? "process" : "processes";
}

static void report_untraced(const struct source *source, const struct sample *untraced)
{
	if (untraced->nr > 0)
		/* No event shows whether a child of vfork() has executed a program. */
		message("%s: %zu %s recorded no program, such as process %d, %.60s: it executed none, or one that is "
			"linked statically, is for another kind of machine or word size than the objects that are "
			"installed, or has another user or rights from its file. Or it is in another PID name space, "
			"has another /dev/shm, could not map the trace, or still ran when the recording ended",
			source->path, untraced->nr, processes_word(untraced->nr), (int)untraced->first->pid,
			shown_name(untraced->first));
}

/* A child of vfork() does not record its exec. */
static void report_silent(const struct source *source, const struct sample *silent)
{
	if (silent->nr > 0)
		message("%s: %zu %s recorded nothing, such as process %d: what %s did is not known", source->path,
			silent->nr, processes_word(silent->nr), (int)silent->first->pid,
			silent->nr == 1 ? "it" : "they");
}

/* A process that goes on may have recorded nothing yet, such as the child of daemon(). */
static void report_alive(const struct source *source, const struct sample *alive, bool others_go_on, bool has_waited)
{
	if (alive->nr > 0 && has_waited)
		message("%s: the recording ended with the last traced process, but %zu %s on, such as process %d, "
			"%.60s, which was not traced to its end: its parent may have ended before its program began",
			source->path, alive->nr, alive->nr == 1 ? "process goes" : "processes go",
			(int)alive->first->pid, shown_name(alive->first));
	else if (alive->nr > 0)
		message("%s: the recording ended with its command, but %zu recorded %s on, such as process %d, %.60s; "
			"--wait-all waits for %s",
			source->path, alive->nr, alive->nr == 1 ? "process goes" : "processes go",
			(int)alive->first->pid,
			shown_name(alive->first), alive->nr == 1 ? "it" : "them");
	else if (others_go_on)
		message("%s: the recording ended with its command, but a process that it traces goes on; --wait-all "
			"waits "
			"for it",
			source->path);
}

void children_report(struct source *source, bool others_go_on, bool has_waited)
{
	struct sample untraced = {0}, silent = {0}, alive = {0};
	struct processes processes;
	struct event event;

	if (!others_go_on && !wrapper_stats_has_processes(source))
		return;
	processes_init(&processes, source);
	source_rewind(source);
	while (source_next(source, &event))
		processes_event(&processes, &event);
	processes_end(&processes);
	for (size_t i = 0; i < processes.nr; i++)
		look_at(&processes.process[i], &untraced, &silent, &alive);
	report_untraced(source, &untraced);
	report_silent(source, &silent);
	report_alive(source, &alive, others_go_on, has_waited);
	processes_free(&processes);
}

/* Find the segment of the stream of this process, which controls only this one. */
static bool find_segment(char *path, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 256];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		const char *name = strrchr(line, '/'), *at = strchr(line, '/');
		unsigned int slot, generation;

		line[strcspn(line, "\n")] = '\0';
		if (name && sscanf(name, "/" PX_LAYOUT_PREFIX("stream") "%u.%u", &slot, &generation) == 2) {
			snprintf(path, size, "%s", at);
			found = true;
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

bool children_go_on(void)
{
	char segment[PATH_MAX];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool is_found = find_segment(segment, sizeof(segment)), go_on = false;

	while (proc && is_found && !go_on && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		go_on = pid > 0 && pid != getpid() && target_maps(pid, segment);
	}
	if (proc)
		closedir(proc);
	return go_on;
}
