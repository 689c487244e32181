/* SPDX-License-Identifier: MIT */
#include "waits/thread_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "trace/sched.h"

#define SWITCH_NS 5000 /* the kernel switches from one thread to the next in this time */

/* Times. */

int64_t state_times_ready(const struct state_times *times)
{
	int64_t ns = times->ns[THREAD_PREEMPTED];

	units_add(&ns, times->ns[THREAD_WOKEN]);
	return ns;
}

int64_t state_times_sum(const struct state_times *times)
{
	int64_t ns = 0;

	for (int i = 0; i < THREAD_STATES; i++)
		units_add(&ns, times->ns[i]);
	return ns;
}

struct state_times state_times_between(const struct state_times *from, const struct state_times *until)
{
	struct state_times times = *until;

	for (int i = 0; i < THREAD_STATES; i++)
		units_add(&times.ns[i], -from->ns[i]);
	/* After `from`, a record showed that the thread had run since the records began. */
	if (times.ns[THREAD_UNKNOWN] < 0) {
		units_add(&times.ns[THREAD_RUNNING], times.ns[THREAD_UNKNOWN]);
		times.ns[THREAD_UNKNOWN] = 0;
	}
	return times;
}

struct state_times thread_states_until(const struct sched_thread *thread, int64_t at_ns)
{
	struct state_times times = thread->times;

	if (!thread->has_ended && at_ns > thread->since_ns)
		units_add(&times.ns[thread->state], at_ns - thread->since_ns);
	return times;
}

/* Logs and hosts. */

static unsigned int host_number(pid_t pid)
{
	unsigned int number = pid > 0 ? (unsigned int)pid / TXTRACE_HOST_PIDS : 0;

	return number < SCHED_HOSTS ? number : 0;
}

static const struct sched_scope *known_scope(const struct thread_states *states, pid_t pid)
{
	return (const struct sched_scope *)(uintptr_t)map_find(&states->scope_of, (uint64_t)pid);
}

static struct sched_scope *scope_of(struct thread_states *states, pid_t pid)
{
	return (struct sched_scope *)known_scope(states, pid) ?: &states->host[host_number(pid)];
}

/* The log of the scope has begun no later than at this time. */
static int64_t first_ns(const struct thread_states *states, const struct sched_scope *scope)
{
	const struct sched_scope *host = &states->host[scope->host];

	if (host->has_event && host->nr_logs <= 1)
		return host->first_ns;
	return scope->has_event ? scope->first_ns : states->first_ns;
}

/* The log of the scope has ended no earlier than at this time. */
static int64_t last_ns(const struct thread_states *states, const struct sched_scope *scope)
{
	const struct sched_scope *host = &states->host[scope->host];

	if (host->has_event && host->nr_logs <= 1)
		return host->last_ns;
	return scope->has_event ? scope->last_ns : states->now_ns;
}

bool thread_states_has_records(const struct thread_states *states, pid_t pid)
{
	return (known_scope(states, pid) ?: &states->host[host_number(pid)])->has_records;
}

void thread_states_add_log(struct thread_states *states, pid_t pid)
{
	struct sched_scope *scope;

	if (pid <= 0 || known_scope(states, pid))
		return;
	scope = must(calloc(1, sizeof(*scope)));
	scope->number = SCHED_HOSTS + states->nr_logs;
	scope->host = host_number(pid);
	states->log = must(reallocarray(states->log, states->nr_logs + 1, sizeof(struct sched_scope *)));
	states->log[states->nr_logs++] = scope;
	states->host[scope->host].nr_logs++;
	*map_get(&states->scope_of, (uint64_t)pid) = (uintptr_t)scope;
}

void thread_states_add_child(struct thread_states *states, pid_t pid, pid_t parent)
{
	const struct sched_scope *scope = known_scope(states, parent);

	if (scope && pid > 0 && host_number(pid) == scope->host && !known_scope(states, pid))
		*map_get(&states->scope_of, (uint64_t)pid) = (uintptr_t)scope;
}

bool thread_states_can_concern(const struct thread_states *states, pid_t of, pid_t about)
{
	const struct sched_scope *x = known_scope(states, of), *y = known_scope(states, about);

	return host_number(of) == host_number(about) && (!x || !y || x == y);
}

/* Threads. */

static uint64_t key_of(pid_t pid, pid_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

struct sched_thread *thread_states_get(struct thread_states *states, pid_t pid, pid_t tid)
{
	uint64_t *known = map_get(&states->thread_of, key_of(pid, tid));
	const struct sched_scope *scope = scope_of(states, pid);
	struct sched_thread *thread;

	if (*known)
		return (struct sched_thread *)(uintptr_t)*known;
	thread = must(calloc(1, sizeof(*thread)));
	thread->pid = pid;
	thread->tid = tid;
	thread->begin_ns = thread->since_ns = scope->is_valid ? scope->valid_ns : first_ns(states, scope);
	thread->is_first = scope->is_valid && scope->is_whole;
	thread->index = thread->first_index = states->nr_threads++;
	if (states->last)
		states->last->next = thread;
	else
		states->first = thread;
	states->last = thread;
	*known = (uintptr_t)thread;
	return thread;
}

static void report_period(const struct thread_states *states, const struct sched_thread *thread,
			  enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	if (states->listener.spent && until_ns > from_ns)
		states->listener.spent(states->listener.arg, thread, state, from_ns, until_ns);
}

/* The listener learns the newest time blocked, in which no wake-up is known. */
static void settle(const struct thread_states *states, struct sched_thread *thread)
{
	if (thread->has_slept)
		report_period(states, thread, THREAD_BLOCKED, thread->slept_from_ns, thread->slept_until_ns);
	thread->has_slept = false;
}

static void change(struct thread_states *states, struct sched_thread *thread, enum thread_state state, int64_t at_ns)
{
	int64_t from_ns = thread->since_ns;

	if (at_ns < from_ns) /* the times of a damaged file may fall */
		at_ns = from_ns;
	units_add(&thread->times.ns[thread->state], at_ns - from_ns);
	if (thread->state == THREAD_BLOCKED && thread->is_in_wait) {
		settle(states, thread);
		thread->has_slept = true;
		thread->slept_from_ns = from_ns;
		thread->slept_until_ns = at_ns;
	} else {
		report_period(states, thread, thread->state, from_ns, at_ns);
	}
	thread->state = state;
	thread->since_ns = at_ns;
}

static void end_thread(struct thread_states *states, struct sched_thread *thread, int64_t at_ns)
{
	thread->end_ns = at_ns > thread->since_ns ? at_ns : thread->since_ns;
	change(states, thread, THREAD_UNKNOWN, at_ns);
	settle(states, thread);
	thread->has_ended = true;
	*map_get(&states->thread_of, key_of(thread->pid, thread->tid)) = 0;
}

/* Records. */

static uint64_t *gap_of(struct thread_states *states, const struct sched_scope *scope, unsigned int cpu)
{
	return map_get(&states->in_gap, (uint64_t)scope->number << 32 | cpu);
}

static bool is_in_gap(const struct thread_states *states, const struct sched_scope *scope, unsigned int cpu)
{
	return map_find(&states->in_gap, (uint64_t)scope->number << 32 | cpu) != 0;
}

/* From now on it is not known what the threads of the scope do, except those that run on a CPU without a gap. */
static void forget(struct thread_states *states, const struct sched_scope *scope, bool is_all)
{
	for (struct sched_thread *at = states->first; at; at = at->next) {
		if (scope_of(states, at->pid) != scope)
			continue;
		at->is_first = false;
		if (at->has_ended ||
		    (!is_all && at->state == THREAD_RUNNING && at->has_cpu && !is_in_gap(states, scope, at->cpu)))
			continue;
		change(states, at, THREAD_UNKNOWN, states->now_ns);
	}
}

static void begin_gap(struct thread_states *states, struct sched_scope *scope, unsigned int cpu)
{
	uint64_t *in_gap = gap_of(states, scope, cpu);

	scope->nr_open_gaps += *in_gap == 0;
	*in_gap = 1;
	scope->is_whole = false;
	forget(states, scope, false);
}

static void end_gap(struct thread_states *states, struct sched_scope *scope, unsigned int cpu)
{
	uint64_t *in_gap = gap_of(states, scope, cpu);

	scope->nr_open_gaps -= *in_gap;
	*in_gap = 0;
}

static void start(struct thread_states *states, struct sched_scope *scope, int64_t at_ns)
{
	forget(states, scope, true);
	/* If there are several logs, threads of another one have no records that begin here. */
	if (scope->nr_logs > 1)
		return;
	scope->is_valid = scope->is_whole = true;
	scope->valid_ns = at_ns;
	/* A thread that is known from before may run without a record since now. */
	for (struct sched_thread *at = states->first; at; at = at->next)
		if (scope_of(states, at->pid) == scope)
			at->is_first = true;
}

static void stop(struct thread_states *states, struct sched_scope *scope)
{
	forget(states, scope, true);
	scope->is_valid = false;
}

/* Records are missing here, and nothing tells of which threads and CPUs. */
static void pass_hole(struct thread_states *states, struct sched_scope *scope)
{
	forget(states, scope, true);
	scope->is_whole = false;
}

/* A record that says something about all threads of the scope. */
static void apply_whole(struct thread_states *states, struct sched_scope *scope, const struct sched_record *record)
{
	switch (record->kind) {
	case SCHED_START:
		start(states, scope, states->now_ns);
		break;
	case SCHED_STOP:
		stop(states, scope);
		break;
	case SCHED_GAP_BEGINS:
		begin_gap(states, scope, record->cpu);
		break;
	default:
		end_gap(states, scope, record->cpu);
	}
}

static enum thread_state state_of(unsigned int state)
{
	switch (state) {
	case TXTRACE_RUNNING:
		return THREAD_RUNNING;
	case TXTRACE_READY:
		return THREAD_PREEMPTED;
	case TXTRACE_BLOCKED:
		return THREAD_BLOCKED;
	default:
		return THREAD_UNKNOWN;
	}
}

/* A thread takes this CPU.  Perhaps another thread has just been preempted there. */
static void note_taker(struct thread_states *states, const struct sched_thread *taker, unsigned int cpu)
{
	uint64_t *lost = map_get(&states->preempted_on, cpu);
	struct sched_thread *thread = (struct sched_thread *)(uintptr_t)*lost;

	if (thread && thread != taker && scope_of(states, thread->pid)->nr_open_gaps == 0 &&
	    states->now_ns - thread->since_ns <= SWITCH_NS)
		thread->taker = taker;
	*lost = 0;
}

static void switch_in(struct thread_states *states, struct sched_thread *thread, unsigned int cpu)
{
	const struct sched_scope *scope = scope_of(states, thread->pid);
	bool is_known = scope->nr_open_gaps == 0 || !is_in_gap(states, scope, cpu);

	note_taker(states, thread, cpu);
	thread->nr_switches++;
	thread->nr_migrations += thread->has_cpu && thread->cpu != cpu;
	change(states, thread, is_known ? THREAD_RUNNING : THREAD_UNKNOWN, states->now_ns);
	thread->has_cpu = true;
	thread->cpu = cpu;
}

static void switch_out(struct thread_states *states, struct sched_thread *thread, const struct sched_record *record)
{
	const struct sched_scope *scope = scope_of(states, thread->pid);
	bool is_known = scope->nr_open_gaps == 0;

	if (thread->is_first && thread->state == THREAD_UNKNOWN) {
		change(states, thread, THREAD_UNKNOWN, scope->valid_ns);
		thread->state = THREAD_RUNNING;
	}
	if (!thread->has_cpu)
		thread->cpu = record->cpu;
	thread->has_cpu = true;
	thread->nr_preempted += record->thread.state == TXTRACE_READY;
	thread->nr_blocked += record->thread.state == TXTRACE_BLOCKED;
	thread->has_exited = record->thread.state == TXTRACE_ENDED;
	if (thread->has_exited)
		end_thread(states, thread, states->now_ns);
	else
		change(states, thread, is_known ? state_of(record->thread.state) : THREAD_UNKNOWN, states->now_ns);
	thread->taker = NULL;
	*map_get(&states->preempted_on, record->cpu) = thread->state == THREAD_PREEMPTED ? (uintptr_t)thread : 0;
}

/* A thread that the records name first as ready has just been created.  Later records of this kind only name it. */
static void name_thread(struct thread_states *states, struct sched_thread *thread, const struct sched_record *record,
			bool is_new)
{
	enum thread_state state = state_of(record->thread.state);
	const struct sched_scope *scope = scope_of(states, thread->pid);

	if (record->thread.name[0])
		memcpy(thread->name, record->thread.name, sizeof(thread->name));
	if (is_new && record->thread.state == TXTRACE_READY) {
		thread->begin_ns = thread->since_ns = states->now_ns;
		thread->is_first = false;
	}
	if (record->thread.state == TXTRACE_READY)
		state = THREAD_WOKEN;
	if (thread->state != THREAD_UNKNOWN || state == THREAD_UNKNOWN || scope->nr_open_gaps > 0)
		return;
	/* After TXTRACE_SCHED_START, a running thread has run since then. */
	if (thread->is_first && state == THREAD_RUNNING) {
		change(states, thread, THREAD_UNKNOWN, scope->valid_ns);
		thread->state = THREAD_RUNNING;
	}
	change(states, thread, state, states->now_ns);
}

static bool had_context(const struct sched_thread *thread, unsigned int context)
{
	while (thread && thread->context != context)
		thread = thread->former;
	return thread != NULL;
}

struct sched_thread *thread_states_set_context(struct thread_states *states, struct sched_thread *thread,
					       unsigned int context)
{
	struct sched_thread *next;
	enum thread_state state = thread->state;

	if (thread->context == 0)
		thread->context = context;
	if (had_context(thread, context))
		return thread;
	end_thread(states, thread, states->now_ns);
	next = thread_states_get(states, thread->pid, thread->tid);
	memcpy(next->name, thread->name, sizeof(next->name));
	next->context = context;
	next->state = state;
	next->begin_ns = next->since_ns = thread->end_ns;
	next->cpu = thread->cpu;
	next->has_cpu = thread->has_cpu;
	next->taker = thread->taker;
	next->is_first = thread->is_first;
	next->first_index = thread->first_index;
	next->former = thread;
	return next;
}

static void apply_thread(struct thread_states *states, const struct event *event, const struct sched_record *record)
{
	bool is_new = map_find(&states->thread_of, key_of(record->thread.pid, record->thread.tid)) == 0;
	struct sched_thread *thread = thread_states_get(states, record->thread.pid, record->thread.tid);

	if (event->context != 0)
		thread = thread_states_set_context(states, thread, event->context);
	if (record->kind == SCHED_THREAD) {
		name_thread(states, thread, record, is_new);
		return;
	}
	if (record->kind == SCHED_IN)
		switch_in(states, thread, record->cpu);
	else
		switch_out(states, thread, record);
	thread->is_first = false;
}

static void note_event(struct sched_scope *scope, const struct event *event)
{
	if (!scope->has_event)
		scope->first_ns = scope->last_ns = event->time_ns;
	scope->has_event = true;
	if (event->time_ns > scope->last_ns)
		scope->last_ns = event->time_ns;
}

/*
 * Without a beginning, newer events of a LOOP log overwrote it.  Then the records are valid from the first event on.
 */
static void note_record(const struct thread_states *states, struct sched_scope *scope,
			const struct sched_record *record)
{
	if (!scope->has_records && record->kind != SCHED_START && scope->nr_logs <= 1) {
		scope->is_valid = scope->is_whole = true;
		scope->valid_ns = first_ns(states, scope);
	}
	scope->has_records = true;
}

bool thread_states_event(struct thread_states *states, const struct event *event)
{
	const struct sched_record record = sched_read(event);
	struct sched_scope *scope = scope_of(states, event->pid), *host = &states->host[host_number(event->pid)];

	if (!states->has_event)
		states->first_ns = event->time_ns;
	states->has_event = true;
	note_event(scope, event);
	note_event(host, event);
	if (event->time_ns > states->now_ns)
		states->now_ns = event->time_ns;
	if (source_is_hole(event)) {
		states->nr_gaps += states->has_records;
		pass_hole(states, scope);
		if (host != scope)
			pass_hole(states, host);
	}
	if (record.kind == SCHED_NONE || record.kind == SCHED_CPU_TIME)
		return record.kind == SCHED_CPU_TIME;
	note_record(states, scope, &record);
	note_record(states, host, &record);
	states->has_records = true;
	states->nr_gaps += record.kind == SCHED_GAP_BEGINS;
	if (record.kind == SCHED_THREAD || record.kind == SCHED_IN || record.kind == SCHED_OUT) {
		apply_thread(states, event, &record);
		return true;
	}
	apply_whole(states, scope, &record);
	if (host != scope)
		apply_whole(states, host, &record);
	return true;
}

void thread_states_end(struct thread_states *states)
{
	for (struct sched_thread *at = states->first; at; at = at->next)
		if (!at->has_ended)
			end_thread(states, at, last_ns(states, scope_of(states, at->pid)));
}

/* Waits. */

const struct sched_thread *thread_states_most_blocked(const struct thread_states *states)
{
	const struct sched_thread *most = NULL;

	for (const struct sched_thread *at = states->first; at; at = at->next)
		if (at->times.ns[THREAD_BLOCKED] > (most ? most->times.ns[THREAD_BLOCKED] : 0))
			most = at;
	return most;
}

void thread_states_wait_begins(struct sched_thread *thread)
{
	thread->is_in_wait = true;
}

void thread_states_woken(struct thread_states *states, struct sched_thread *thread, int64_t at_ns)
{
	int64_t ready_ns = thread->slept_until_ns - at_ns;

	if (!thread->has_slept || at_ns < thread->slept_from_ns || ready_ns < 0)
		return;
	thread->has_slept = false;
	thread->nr_woken++;
	units_add(&thread->times.ns[THREAD_BLOCKED], -ready_ns);
	units_add(&thread->times.ns[THREAD_WOKEN], ready_ns);
	report_period(states, thread, THREAD_BLOCKED, thread->slept_from_ns, at_ns);
	report_period(states, thread, THREAD_WOKEN, at_ns, thread->slept_until_ns);
}

void thread_states_wait_ends(struct thread_states *states, struct sched_thread *thread)
{
	settle(states, thread);
	thread->is_in_wait = false;
}

void thread_states_init(struct thread_states *states, const struct thread_states_listener *listener)
{
	*states = (struct thread_states){.listener = *listener, .now_ns = INT64_MIN};
	for (unsigned int i = 0; i < SCHED_HOSTS; i++)
		states->host[i].number = states->host[i].host = i;
}

void thread_states_free(struct thread_states *states)
{
	for (struct sched_thread *at = states->first, *next; at; at = next) {
		next = at->next;
		free(at);
	}
	map_free(&states->thread_of);
	for (unsigned int i = 0; i < states->nr_logs; i++)
		free(states->log[i]);
	free(states->log);
	map_free(&states->scope_of);
	map_free(&states->in_gap);
	map_free(&states->preempted_on);
}
