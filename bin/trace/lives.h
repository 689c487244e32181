/* SPDX-License-Identifier: MIT */
/*
 * Which threads of a log live.  The end of a process ends all its threads, but only one of them records it, or none.  A
 * process ends with _exit() or exit(), or a parent that waits for it learns that it has ended.  An exec ends all
 * threads of the former program.
 */
#ifndef TXTRACE_TRACE_LIVES_H
#define TXTRACE_TRACE_LIVES_H

#include "base/map.h"
#include "trace/source.h"

struct life {
	unsigned int context, cpu; /* cpu is the CPU of the last event */
	uint64_t first;		   /* the number of the first event */
	size_t next;		   /* 1 + the index of the next living thread of the process, or 0 */
	bool has_ended;
};

struct lives {
	struct map of_context;	  /* 1 + the index of the life of this thread */
	struct map of_process;	  /* for a pid: 1 + the index of a living thread, or 0 */
	struct map is_over;	  /* for a pid: 1 if the process has recorded its end */
	struct map exec_of;	  /* for a pid: the number of the event of its last exec, or 0 */
	struct life *life;
	size_t nr, room;
	struct life *last; /* the thread of the last event */
};

/* The thread of the event lives. */
void lives_note(struct lives *lives, const struct event *event);

/*
 * An event shows that threads have ended.  Call `ended` for each of them.  before is true for threads that ended before
 * the event: those of a program that executed another one.
 */
void lives_end(struct lives *lives, struct source *source, const struct event *event, bool before,
	       void (*ended)(struct source *source, const struct event *event, const struct life *life));

void lives_free(struct lives *lives);

#endif
