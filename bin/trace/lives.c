/* SPDX-License-Identifier: MIT */
#include "trace/lives.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "trace/calldata.h"
#include "trace/calltable.h"
#include "trace/sched.h"

static struct life *life_of(struct lives *lives, const struct event *event)
{
	uint64_t *known = map_get(&lives->of_context, event->context);

	if (*known == 0) {
		if (lives->nr == lives->room) {
			lives->room = lives->room ? 2 * lives->room : 64;
			lives->life = must(reallocarray(lives->life, lives->room, sizeof(*lives->life)));
		}
		lives->life[lives->nr++] =
			(struct life){.context = event->context, .first = event->number, .has_ended = true};
		*known = lives->nr;
	}
	return &lives->life[*known - 1];
}

void lives_note(struct lives *lives, const struct event *event)
{
	struct life *life = lives->last;
	uint64_t *first;

	/* The kernel records switches of a thread also after the end of its process. */
	if (event->context == 0 || event->pid <= 0 || sched_is_record(event->type))
		return;
	if (!life || life->context != event->context)
		life = lives->last = life_of(lives, event);
	life->cpu = event->cpu;
	if (!life->has_ended)
		return;
	first = map_get(&lives->of_process, (uint64_t)event->pid);
	life->has_ended = false;
	life->next = (size_t)*first;
	*first = (uint64_t)(life - lives->life) + 1;
}

/* If the event says that a child of its thread has ended, return the pid of the child, otherwise 0. */
static pid_t reaped(struct source *source, const struct event *event)
{
	struct call_field pid, status;

	if (!calldata_is(source, event) || !calldata_get(source, event, "child", &pid) ||
	    !calldata_get(source, event, "status", &status) ||
	    !(WIFEXITED((int)status.value) || WIFSIGNALED((int)status.value)))
		return 0;
	return pid.value > 0 ? (pid_t)pid.value : 0;
}

/* End the living threads of the process whose first event came before the event with this number, except one. */
static void end_process(struct lives *lives, struct source *source, const struct event *event, pid_t pid,
			unsigned int except, uint64_t number,
			void (*ended)(struct source *source, const struct event *event, const struct life *life))
{
	uint64_t *first = map_get(&lives->of_process, (uint64_t)pid);
	size_t at = (size_t)*first;

	*first = 0;
	while (at > 0) {
		struct life *life = &lives->life[at - 1];
		size_t next = life->next;

		if (life->context == except || life->first >= number) {
			life->next = (size_t)*first;
			*first = at;
		} else {
			life->has_ended = true;
			ended(source, event, life);
		}
		at = next;
	}
}

void lives_end(struct lives *lives, struct source *source, const struct event *event, bool before,
	       void (*ended)(struct source *source, const struct event *event, const struct life *life))
{
	static const struct call_row *start, *end, *exit_call, *exec, *wait;
	uint64_t exec_number;
	pid_t child;

	if (!start) {
		start = calltable_find("txtrace_process_start");
		end = calltable_find("txtrace_process_end");
		exit_call = calltable_find("_exit");
		exec = calltable_find("execve");
		wait = calltable_find("waitpid");
	}
	if (!event->is_call || !event->row || event->context == 0 || event->pid <= 0)
		return;
	if (before) {
		if (event->row != start)
			return;
		*map_get(&lives->is_over, (uint64_t)event->pid) = 0;
		/* The constructors of the new program may have recorded events already. */
		exec_number = map_find(&lives->exec_of, (uint64_t)event->pid);
		end_process(lives, source, event, event->pid, event->context, exec_number ?: UINT64_MAX, ended);
	} else if (event->row == end || event->row == exit_call) {
		*map_get(&lives->is_over, (uint64_t)event->pid) = 1;
		end_process(lives, source, event, event->pid, 0, UINT64_MAX, ended);
	} else if (event->row == wait && event->call.phase != TXTRACE_CALL_BEGINS) {
		child = reaped(source, event);
		if (child > 0)
			end_process(lives, source, event, child, 0, UINT64_MAX, ended);
	} else if (event->row == exec) {
		*map_get(&lives->exec_of, (uint64_t)event->pid) =
			event->call.phase == TXTRACE_CALL_ENDS ? 0 : event->number;
	} else if (lives->is_over.nr_places > 0 && map_find(&lives->is_over, (uint64_t)event->pid)) {
		/* Until the kernel has ended them, other threads may record events after the end of their process. */
		end_process(lives, source, event, event->pid, 0, UINT64_MAX, ended);
	}
}

void lives_free(struct lives *lives)
{
	map_free(&lives->of_context);
	map_free(&lives->of_process);
	map_free(&lives->is_over);
	map_free(&lives->exec_of);
	free(lives->life);
	*lives = (struct lives){0};
}
