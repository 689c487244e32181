/* SPDX-License-Identifier: MIT */
/*
 * The processes of a log, as a tree: which process made which one, what it executed, and how it ended.  All this comes
 * from the recorded calls.  doc/reports.md has the rules.
 */
#ifndef TXTRACE_REPORT_PROCESSES_H
#define TXTRACE_REPORT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/map.h"
#include "trace/source.h"

#define NO_PROCESS ((size_t)-1)

struct process {
	pid_t pid;
	pid_t parent_pid; /* 0 means unknown */
	size_t parent;	  /* NO_PROCESS: the parent is unknown, or not in the trace */
	char *command;	  /* the command line of its program; NULL: it is unknown, or the process executed none */
	char *untraced;	  /* the path of the last program that it executed, if that program was not traced; or NULL */
	char *name;	  /* the name of its first thread, or NULL */
	int status;	  /* as from wait(), if has_status */
	bool has_status;
	bool has_events;
	bool is_forked;	 /* the trace has the call by which the parent made this process */
	/*
	 * It was vfork().  The parent records two events for it: the end of the call, and what the child has executed.
	 * This is the one that came, until the other one comes.
	 */
	const struct call_row *half;
	bool has_exited; /* the process has recorded its end */
	bool is_reaped;	 /* the parent has got the status, so from then on its pid can belong to another process */
};

struct processes {
	struct source *source;
	struct process *process; /* in the order in which the trace names them */
	size_t nr, room;
	struct map by_pid; /* values are 1 + index of the newest process with this pid */
	size_t last;	   /* the process of the last event */
	const struct call_row *start, *end, *vfork_exec, *_exit, *fork, *vfork, *spawn, *exec, *wait;
};

/* A struct processes of zeros is empty. */
void processes_init(struct processes *processes, struct source *source);
void processes_free(struct processes *processes);

/* Take the next event of the file.  Return the index of its process, or NO_PROCESS for an event without a process. */
size_t processes_event(struct processes *processes, const struct event *event);

/* Call this after the last event. */
void processes_end(struct processes *processes);

/*
 * Return the indexes of all processes: a process is in front of its children, and those are in the order of the trace.
 * depth[i] is the number of ancestors of the i-th one.  The caller frees both lists.
 */
size_t *processes_order(const struct processes *processes, unsigned int **depth);

#endif
