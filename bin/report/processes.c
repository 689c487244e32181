/* SPDX-License-Identifier: MIT */
#include "report/processes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "trace/calldata.h"
#include "trace/sched.h"

void processes_init(struct processes *processes, struct source *source)
{
	*processes = (struct processes){
		.source = source,
		.last = NO_PROCESS,
		.start = calltable_find("txtrace_process_start"),
		.end = calltable_find("txtrace_process_end"),
		.vfork_exec = calltable_find("txtrace_vfork_exec"),
		._exit = calltable_find("_exit"),
		.fork = calltable_find("fork"),
		.vfork = calltable_find("vfork"),
		.spawn = calltable_find("posix_spawn"),
		.exec = calltable_find("execve"),
		.wait = calltable_find("waitpid"),
	};
}

void processes_free(struct processes *processes)
{
	for (size_t i = 0; i < processes->nr; i++) {
		free(processes->process[i].command);
		free(processes->process[i].untraced);
		free(processes->process[i].name);
	}
	free(processes->process);
	map_free(&processes->by_pid);
}

/* Add a process.  From now on, the pid belongs to it. */
static size_t add(struct processes *processes, pid_t pid)
{
	if (processes->nr == processes->room) {
		processes->room = processes->room ? 2 * processes->room : 16;
		processes->process = must(reallocarray(processes->process, processes->room,
						       sizeof(*processes->process)));
	}
	processes->process[processes->nr] = (struct process){.pid = pid, .parent = NO_PROCESS};
	*map_get(&processes->by_pid, (uint64_t)pid) = ++processes->nr;
	return processes->nr - 1;
}

static size_t find(const struct processes *processes, pid_t pid)
{
	return pid > 0 ? (size_t)map_find(&processes->by_pid, (uint64_t)pid) - 1 : NO_PROCESS;
}

static size_t get(struct processes *processes, pid_t pid)
{
	size_t i = find(processes, pid);

	return i == NO_PROCESS ? add(processes, pid) : i;
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = text && *text ? must(strdup(text)) : NULL;
}

static int64_t number_of(struct processes *processes, const struct event *event, const char *name)
{
	struct call_field field;

	return calldata_get(processes->source, event, name, &field) ? field.value : 0;
}

/* Store the text with this name, or NULL if the event has none. */
static void take_text(struct processes *processes, const struct event *event, const char *name,
		      char **to)
{
	struct call_field field;

	set_text(to, calldata_get(processes->source, event, name, &field) ? field.text : NULL);
}

/* The trace names the parent of a process. */
static void adopt(struct processes *processes, size_t parent, size_t child)
{
	struct process *process = &processes->process[child];

	if (child == parent || process->parent != NO_PROCESS)
		return;
	process->parent = parent;
	process->parent_pid = processes->process[parent].pid;
}

/*
 * The parent has made a child with this pid.  The child may have recorded its first events, or even its end, before the
 * parent recorded the call.
 */
static size_t make_child(struct processes *processes, size_t parent, pid_t pid)
{
	size_t child = find(processes, pid);

	if (child == NO_PROCESS || processes->process[child].is_reaped ||
	    processes->process[child].is_forked)
		child = add(processes, pid);
	processes->process[child].is_forked = true;
	adopt(processes, parent, child);
	return child;
}

static size_t begin(struct processes *processes, size_t i, const struct event *event)
{
	struct process *process = &processes->process[i];
	pid_t parent = (pid_t)number_of(processes, event, "parent");
	char *command = NULL;

	take_text(processes, event, "command", &command);
	if (process->has_exited || process->is_reaped) {
		i = add(processes, event->pid);
		process = &processes->process[i];
	}
	set_text(&process->untraced, NULL);
	if (command) {
		free(process->command);
		process->command = command;
	}
	if (process->parent_pid == 0)
		process->parent_pid = parent;
	if (find(processes, parent) != NO_PROCESS)
		adopt(processes, find(processes, parent), i);
	return i;
}

static void take_own_end(struct process *process, int status)
{
	process->has_exited = true;
	if (process->has_status)
		return;
	process->has_status = true;
	process->status = (status & 0xFF) << 8;
}

/* A debugger also waits for the threads of other processes. */
static bool is_thread_of_process(const struct processes *processes, pid_t tid)
{
	const struct txtrace_object *thread = source_thread(processes->source, tid);

	return thread && thread->pid != 0 && thread->pid != tid;
}

static void take_wait(struct processes *processes, size_t parent, const struct event *event)
{
	pid_t pid = (pid_t)number_of(processes, event, "child");
	int status = (int)number_of(processes, event, "status");
	struct process *process;
	size_t child;

	if (pid <= 0 || !(WIFEXITED(status) || WIFSIGNALED(status)) ||
	    (find(processes, pid) == NO_PROCESS && is_thread_of_process(processes, pid)))
		return;
	child = get(processes, pid);
	adopt(processes, parent, child);
	process = &processes->process[child];
	process->has_status = true;
	process->status = status;
	process->is_reaped = !(number_of(processes, event, "options") & WNOWAIT);
}

/*
 * Return the child for which the parent has recorded the other event of vfork(), or NO_PROCESS.  Any thread may record
 * it.
 */
static size_t find_vforked(const struct processes *processes, const struct event *event, pid_t pid)
{
	bool is_vfork = event->row == processes->vfork || event->row == processes->vfork_exec;
	size_t i = is_vfork ? find(processes, pid) : NO_PROCESS;
	const struct process *process = i != NO_PROCESS ? &processes->process[i] : NULL;

	return process && process->half && process->half != event->row && !process->is_reaped ? i : NO_PROCESS;
}

static void take_child(struct processes *processes, size_t parent, pid_t pid, const struct event *event)
{
	size_t i = find_vforked(processes, event, pid);
	bool is_vfork = event->row == processes->vfork || event->row == processes->vfork_exec;

	if (i == NO_PROCESS) {
		i = make_child(processes, parent, pid);
		processes->process[i].half = is_vfork ? event->row : NULL;
	} else {
		processes->process[i].half = NULL;
	}
	if (event->row != processes->fork && event->row != processes->vfork && !processes->process[i].command)
		take_text(processes, event, "path", &processes->process[i].untraced);
}

static void take_call(struct processes *processes, size_t i, const struct event *event)
{
	int64_t child = 0;
	bool ends = event->call.phase == TXTRACE_CALL_ENDS;

	if (event->row == processes->fork || (event->row == processes->vfork && ends))
		child = number_of(processes, event, "result");
	else if (event->row == processes->spawn && number_of(processes, event, "result") == 0)
		child = number_of(processes, event, "pid");
	else if (event->row == processes->vfork_exec)
		child = number_of(processes, event, "pid");
	else if (event->row == processes->exec && ends)
		set_text(&processes->process[i].untraced, NULL);
	else if (event->row == processes->exec)
		take_text(processes, event, "path", &processes->process[i].untraced);
	else if (event->row == processes->_exit || event->row == processes->end)
		take_own_end(&processes->process[i], (int)number_of(processes, event, "status"));
	else if (event->row == processes->wait)
		take_wait(processes, i, event);
	if (child > 0)
		take_child(processes, i, (pid_t)child, event);
}

static void take_name(struct process *process, struct source *source, const struct event *event)
{
	const struct txtrace_object *thread = source_object(source, event->context);

	process->has_events |= !sched_is_record(event->type); /* those are from the kernel */
	if (!process->name && thread && thread->tid == process->pid)
		set_text(&process->name, thread->name);
}

size_t processes_event(struct processes *processes, const struct event *event)
{
	size_t i = processes->last;

	if (!event_has_process(event->pid))
		return NO_PROCESS;
	if (i == NO_PROCESS || processes->process[i].pid != event->pid ||
	    processes->process[i].is_reaped)
		i = get(processes, event->pid);
	if (event->row && calldata_is(processes->source, event) && event->row == processes->start)
		i = begin(processes, i, event);
	else if (event->row && calldata_is(processes->source, event))
		take_call(processes, i, event);
	take_name(&processes->process[i], processes->source, event);
	return processes->last = i;
}

void processes_end(struct processes *processes)
{
	/* The first event of a parent can come after those of its child. */
	for (size_t i = 0; i < processes->nr; i++) {
		size_t parent = find(processes, processes->process[i].parent_pid);

		if (parent != NO_PROCESS)
			adopt(processes, parent, i);
	}
}

struct order {
	const struct processes *processes;
	size_t *first, *next; /* the first child of a process, and its next sibling */
	bool *is_listed;
	size_t *list;
	unsigned int *depth;
	size_t nr;
};

static size_t skip_listed(const struct order *order, size_t i)
{
	while (i != NO_PROCESS && order->is_listed[i])
		i = order->next[i];
	return i;
}

/* List a process and its descendants.  The tree may be deep, so use no recursion. */
static void list_tree(struct order *order, size_t root)
{
	unsigned int depth = 0;
	size_t i = root;

	while (i != NO_PROCESS) {
		size_t next;

		order->list[order->nr] = i;
		order->depth[order->nr++] = depth++;
		order->is_listed[i] = true;
		next = skip_listed(order, order->first[i]);
		for (; next == NO_PROCESS && i != root; i = order->processes->process[i].parent) {
			next = skip_listed(order, order->next[i]);
			depth--;
		}
		i = next;
	}
}

size_t *processes_order(const struct processes *processes, unsigned int **depth)
{
	size_t nr = processes->nr, room = nr + 1;
	struct order order = {.processes = processes};

	order.first = must(calloc(room, sizeof(*order.first)));
	order.next = must(calloc(room, sizeof(*order.next)));
	order.is_listed = must(calloc(room, sizeof(*order.is_listed)));
	order.list = must(calloc(room, sizeof(*order.list)));
	order.depth = must(calloc(room, sizeof(*order.depth)));
	for (size_t i = 0; i < nr; i++)
		order.first[i] = NO_PROCESS;
	for (size_t i = nr; i-- > 0;) {
		size_t parent = processes->process[i].parent;

		order.next[i] = parent == NO_PROCESS ? NO_PROCESS : order.first[parent];
		if (parent != NO_PROCESS)
			order.first[parent] = i;
	}
	for (size_t i = 0; i < nr; i++)
		if (processes->process[i].parent == NO_PROCESS)
			list_tree(&order, i);
	/* If pids were used again and the trace does not show it, a process can be its own ancestor. */
	for (size_t i = 0; i < nr; i++)
		if (!order.is_listed[i])
			list_tree(&order, i);
	free(order.first);
	free(order.next);
	free(order.is_listed);
	*depth = order.depth;
	return order.list;
}
