/* SPDX-License-Identifier: MIT */
#include "waits/state_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/message.h"
#include "waits/state_periods.h"

struct row {
	int64_t from_ns, until_ns;
	size_t thread;
	enum thread_state state;
	unsigned int context, cpu, object; /* object is a number of `objects`, or 0 */
};

/* A copy, because the model of the threads ends before the rows are printed. */
struct thread {
	pid_t pid, tid;
	char name[16];
};

struct state_list {
	struct source *source;
	struct row *row;
	size_t nr_rows, room;
	struct thread *thread;
	size_t nr_threads;
	struct intern objects;
};

/* The name may change with each period. */
static void note_thread(struct state_list *list, const struct sched_thread *thread)
{
	struct thread *copy;

	if (thread->index >= list->nr_threads) {
		size_t nr = 2 * thread->index + 64;

		list->thread = must(reallocarray(list->thread, nr, sizeof(*list->thread)));
		memset(list->thread + list->nr_threads, 0, (nr - list->nr_threads) * sizeof(*list->thread));
		list->nr_threads = nr;
	}
	copy = &list->thread[thread->index];
	copy->pid = thread->pid;
	copy->tid = thread->tid;
	memcpy(copy->name, thread->name, sizeof(copy->name));
}

static void take_period(void *arg, const struct state_period *period)
{
	struct state_list *list = arg;
	struct row row = {.from_ns = period->from_ns,
			  .until_ns = period->until_ns,
			  .thread = period->thread->index,
			  .state = period->state,
			  .context = period->context,
			  .cpu = period->cpu};
	char object[256];
	bool is_new;

	note_thread(list, period->thread);
	if (period->object) {
		waits_describe(period->object, object, sizeof(object));
		row.object = (unsigned int)intern_number(&list->objects, object, strlen(object) + 1, &is_new);
	}
	if (list->nr_rows == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->row = must(reallocarray(list->row, list->room, sizeof(*list->row)));
	}
	list->row[list->nr_rows++] = row;
}

static int by_start(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->from_ns != right->from_ns)
		return left->from_ns < right->from_ns ? -1 : 1;
	return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static void put_row(const struct state_list *list, struct table *table, const struct row *row)
{
	const struct thread *thread = &list->thread[row->thread];
	char text[32];

	snprintf(text, sizeof(text), "tid %lld", (long long)thread->tid);
	table_time(table, row->from_ns, list->source->first_ns);
	table_duration(table, row->until_ns - row->from_ns);
	table_string(table, row->context ? source_context_name(list->source, row->context) :
			    thread->name[0] ? thread->name :
					      text);
	table_number(table, (uint64_t)thread->pid);
	table_number(table, (uint64_t)thread->tid);
	table_string(table, state_period_name(row->state));
	if (row->state == THREAD_PREEMPTED || row->state == THREAD_WOKEN)
		table_string(table, row->state == THREAD_WOKEN ? "woken" : "preempted");
	else
		table_unknown(table);
	if (row->state == THREAD_RUNNING)
		table_number(table, row->cpu);
	else
		table_unknown(table);
	if (row->object)
		table_string(table, intern_text(&list->objects, row->object));
	else
		table_unknown(table);
}

void state_list_print(struct source *source, const struct selection *selection, struct table *table)
{
	static const struct column columns[] = {{"Start", "start_s", true}, {"Duration", "duration_s", true},
						{"Thread", "thread", false}, {"PID", "pid", true},
						{"TID", "tid", true},	     {"State", "state", false},
						{"Since", "since", false},   {"CPU", "cpu", true},
						{"For", "for", false},	     {0}};
	static const char *const minor[] = {"pid", "since", NULL};
	struct state_list list = {.source = source};

	if (!state_periods_read(source, selection, take_period, &list))
		message("%s has no scheduling records; txtrace record stores them where the kernel permits it",
			source->path);
	if (list.nr_rows > 0)
		qsort(list.row, list.nr_rows, sizeof(*list.row), by_start);
	table->minor = minor;
	table->has_records = true;
	table_begin(table, "States", "states", columns, 1);
	for (size_t i = 0; i < list.nr_rows; i++)
		put_row(&list, table, &list.row[i]);
	table_end(table);
	free(list.row);
	free(list.thread);
	intern_free(&list.objects);
}
