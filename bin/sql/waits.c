/* SPDX-License-Identifier: MIT */
/* The tables of waits, holds and states. */
#include <stdio.h>
#include <string.h>

#include "base/number_names.h"
#include "sql/table.h"
#include "trace/programs.h"
#include "trace/symbols.h"

static int begin(struct sql_cursor *cursor)
{
	return sql_file_model(cursor->file) ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void put_ns(struct sql_cell *cell, int64_t ns)
{
	sql_put_integer(cell, ns);
}

static void put_seconds(struct sql_cell *cell, int64_t ns)
{
	sql_put_real(cell, (double)ns / NS_PER_S);
}

static void put_thread(struct sql_cell *cell, const struct waiter *thread)
{
	sql_put_text(cell, thread ? thread->name : NULL);
}

static void put_context(struct sql_cell *cell, const struct waiter *thread)
{
	if (thread)
		sql_put_integer(cell, thread->context);
}

static void put_handle(struct sql_cell *cell, const struct awaited *object)
{
	if (object->handle)
		sql_put_integer(cell, object->handle);
}

/* As the commands waits and locks do: the function, or the address if no function is known. */
static void put_site(struct sql_file *file, struct sql_cell *cell, uint64_t address)
{
	struct symbols *symbols = source_symbols(file->source);
	const char *name = symbols && address ? symbols_code(symbols, address) : NULL;

	snprintf(cell->own, sizeof(cell->own), "0x%llx", (unsigned long long)code_address(address));
	if (address)
		sql_put_text(cell, name ? name : cell->own);
}

static void put_ending(struct sql_cell *cell, enum sql_ending ending, int error)
{
	const char *name = error != 0 ? error_number_name(error) : NULL;

	snprintf(cell->own, sizeof(cell->own), "error %d", error);
	if (ending == SQL_LASTS)
		sql_put_text(cell, "lasts");
	else if (ending == SQL_MISSING)
		sql_put_text(cell, "end missing");
	else
		sql_put_text(cell, error == 0 ? "ended" : name ? name : cell->own);
}

/* Waits. */

enum {
	WAIT_FILE,
	WAIT_NUMBER,
	WAIT_NS,
	WAIT_TIME,
	WAIT_DURATION_NS,
	WAIT_DURATION,
	WAIT_THREAD,
	WAIT_CONTEXT,
	WAIT_OBJECT,
	WAIT_HANDLE,
	WAIT_KIND,
	WAIT_CALL,
	WAIT_SITE,
	WAIT_HOLDER,
	WAIT_WOKEN_BY,
	WAIT_WOKEN_WITH,
	WAIT_ENDING
};

static const struct sql_column wait_columns[] = {
	[WAIT_FILE] = {"file", "INTEGER", ROLE_FILE, NULL},
	[WAIT_NUMBER] = {"number", "INTEGER", ROLE_NONE, NULL},
	[WAIT_NS] = {"ns", "INTEGER", ROLE_NONE, "ns"},
	[WAIT_TIME] = {"time", "REAL", ROLE_NONE, NULL},
	[WAIT_DURATION_NS] = {"duration_ns", "INTEGER", ROLE_NONE, "duration_ns"},
	[WAIT_DURATION] = {"duration", "REAL", ROLE_NONE, NULL},
	[WAIT_THREAD] = {"thread", "TEXT", ROLE_NONE, NULL},
	[WAIT_CONTEXT] = {"context", "INTEGER", ROLE_NONE, NULL},
	[WAIT_OBJECT] = {"object", "TEXT", ROLE_NONE, NULL},
	[WAIT_HANDLE] = {"handle", "INTEGER", ROLE_NONE, NULL},
	[WAIT_KIND] = {"kind", "TEXT", ROLE_NONE, NULL},
	[WAIT_CALL] = {"call", "TEXT", ROLE_NONE, NULL},
	[WAIT_SITE] = {"site", "TEXT", ROLE_NONE, NULL},
	[WAIT_HOLDER] = {"holder", "TEXT", ROLE_NONE, NULL},
	[WAIT_WOKEN_BY] = {"woken_by", "TEXT", ROLE_NONE, NULL},
	[WAIT_WOKEN_WITH] = {"woken_with", "TEXT", ROLE_NONE, NULL},
	[WAIT_ENDING] = {"ending", "TEXT", ROLE_NONE, NULL},
	{0},
};

static bool next_wait(struct sql_cursor *cursor)
{
	return cursor->row < cursor->file->nr_waits;
}

static void wait_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	const struct sql_wait *wait = &cursor->file->wait[cursor->row];
	bool is_known = wait->ending != SQL_MISSING;

	switch (column) {
	case WAIT_NUMBER:
		put_ns(cell, (int64_t)wait->number);
		break;
	case WAIT_NS:
		put_ns(cell, wait->begin_ns);
		break;
	case WAIT_TIME:
		sql_put_time(cell, cursor->file, wait->begin_ns);
		break;
	case WAIT_DURATION_NS:
		if (is_known)
			put_ns(cell, wait->length_ns);
		break;
	case WAIT_DURATION:
		if (is_known)
			put_seconds(cell, wait->length_ns);
		break;
	case WAIT_THREAD:
		put_thread(cell, wait->thread);
		break;
	case WAIT_CONTEXT:
		put_context(cell, wait->thread);
		break;
	case WAIT_OBJECT:
		sql_put_text(cell, wait->object->name);
		break;
	case WAIT_HANDLE:
		put_handle(cell, wait->object);
		break;
	case WAIT_KIND:
		sql_put_text(cell, wait->object->kind);
		break;
	case WAIT_CALL:
		sql_put_text(cell, wait->service);
		break;
	case WAIT_SITE:
		put_site(cursor->file, cell, wait->address);
		break;
	case WAIT_HOLDER:
		put_thread(cell, wait->holder);
		break;
	case WAIT_WOKEN_BY:
		put_thread(cell, wait->waker);
		break;
	case WAIT_WOKEN_WITH:
		sql_put_text(cell, wait->waker ? wait->waker_service : NULL);
		break;
	default:
		put_ending(cell, wait->ending, wait->result);
		break;
	}
}

const struct sql_table sql_waits = {
	.name = "waits",
	.summary = "one row for each wait, as txtrace waits lists them",
	.columns = wait_columns,
	.begin = begin,
	.next = next_wait,
	.value = wait_value,
};

/* Holds. */

enum {
	HOLD_FILE,
	HOLD_NS,
	HOLD_TIME,
	HOLD_UNTIL_NS,
	HOLD_DURATION_NS,
	HOLD_DURATION,
	HOLD_THREAD,
	HOLD_CONTEXT,
	HOLD_OBJECT,
	HOLD_HANDLE,
	HOLD_KIND,
	HOLD_SITE,
	HOLD_IS_LOCK,
	HOLD_IS_SHARED,
	HOLD_ENDING
};

static const struct sql_column hold_columns[] = {
	[HOLD_FILE] = {"file", "INTEGER", ROLE_FILE, NULL},
	[HOLD_NS] = {"ns", "INTEGER", ROLE_NONE, "ns"},
	[HOLD_TIME] = {"time", "REAL", ROLE_NONE, NULL},
	[HOLD_UNTIL_NS] = {"until_ns", "INTEGER", ROLE_NONE, NULL},
	[HOLD_DURATION_NS] = {"duration_ns", "INTEGER", ROLE_NONE, NULL},
	[HOLD_DURATION] = {"duration", "REAL", ROLE_NONE, NULL},
	[HOLD_THREAD] = {"thread", "TEXT", ROLE_NONE, NULL},
	[HOLD_CONTEXT] = {"context", "INTEGER", ROLE_NONE, NULL},
	[HOLD_OBJECT] = {"object", "TEXT", ROLE_NONE, "object"},
	[HOLD_HANDLE] = {"handle", "INTEGER", ROLE_NONE, NULL},
	[HOLD_KIND] = {"kind", "TEXT", ROLE_NONE, NULL},
	[HOLD_SITE] = {"site", "TEXT", ROLE_NONE, NULL},
	[HOLD_IS_LOCK] = {"is_lock", "INTEGER", ROLE_NONE, NULL},
	[HOLD_IS_SHARED] = {"is_shared", "INTEGER", ROLE_NONE, NULL},
	[HOLD_ENDING] = {"ending", "TEXT", ROLE_NONE, NULL},
	{0},
};

static bool next_hold(struct sql_cursor *cursor)
{
	return cursor->row < cursor->file->nr_holds;
}

static void hold_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	const struct sql_hold *hold = &cursor->file->hold[cursor->row];
	bool has_begin = hold->since_ns != LONG_AGO, has_end = hold->ending != SQL_MISSING;
	/* The times of a damaged file may fall. */
	int64_t length_ns = has_begin && hold->until_ns > hold->since_ns ? hold->until_ns - hold->since_ns : 0;

	switch (column) {
	case HOLD_NS:
		if (has_begin)
			put_ns(cell, hold->since_ns);
		break;
	case HOLD_TIME:
		if (has_begin)
			sql_put_time(cell, cursor->file, hold->since_ns);
		break;
	case HOLD_UNTIL_NS:
		if (has_end)
			put_ns(cell, hold->until_ns);
		break;
	case HOLD_DURATION_NS:
		if (has_begin && has_end)
			put_ns(cell, length_ns);
		break;
	case HOLD_DURATION:
		if (has_begin && has_end)
			put_seconds(cell, length_ns);
		break;
	case HOLD_THREAD:
		put_thread(cell, hold->thread);
		break;
	case HOLD_CONTEXT:
		put_context(cell, hold->thread);
		break;
	case HOLD_OBJECT:
		sql_put_text(cell, hold->object->name);
		break;
	case HOLD_HANDLE:
		put_handle(cell, hold->object);
		break;
	case HOLD_KIND:
		sql_put_text(cell, hold->object->kind);
		break;
	case HOLD_SITE:
		put_site(cursor->file, cell, hold->address);
		break;
	case HOLD_IS_LOCK:
		sql_put_integer(cell, hold->object->is_lock);
		break;
	case HOLD_IS_SHARED:
		sql_put_integer(cell, hold->is_shared);
		break;
	default:
		put_ending(cell, hold->ending, 0);
		break;
	}
}

const struct sql_table sql_holds = {
	.name = "holds",
	.summary = "one row for each time that a thread held an object",
	.columns = hold_columns,
	.begin = begin,
	.next = next_hold,
	.value = hold_value,
};

/* States. */

enum {
	STATE_FILE,
	STATE_NS,
	STATE_TIME,
	STATE_UNTIL_NS,
	STATE_DURATION_NS,
	STATE_DURATION,
	STATE_THREAD,
	STATE_CONTEXT,
	STATE_PID,
	STATE_TID,
	STATE_STATE,
	STATE_CPU
};

static const struct sql_column state_columns[] = {
	[STATE_FILE] = {"file", "INTEGER", ROLE_FILE, NULL},
	[STATE_NS] = {"ns", "INTEGER", ROLE_NONE, "ns"},
	[STATE_TIME] = {"time", "REAL", ROLE_NONE, NULL},
	[STATE_UNTIL_NS] = {"until_ns", "INTEGER", ROLE_NONE, NULL},
	[STATE_DURATION_NS] = {"duration_ns", "INTEGER", ROLE_NONE, NULL},
	[STATE_DURATION] = {"duration", "REAL", ROLE_NONE, NULL},
	[STATE_THREAD] = {"thread", "TEXT", ROLE_NONE, NULL},
	[STATE_CONTEXT] = {"context", "INTEGER", ROLE_NONE, NULL},
	[STATE_PID] = {"pid", "INTEGER", ROLE_NONE, NULL},
	[STATE_TID] = {"tid", "INTEGER", ROLE_NONE, "tid"},
	[STATE_STATE] = {"state", "TEXT", ROLE_NONE, NULL},
	[STATE_CPU] = {"cpu", "INTEGER", ROLE_NONE, NULL},
	{0},
};

static bool next_state(struct sql_cursor *cursor)
{
	return cursor->row < cursor->file->nr_states;
}

static void put_name(const struct sql_file *file, struct sql_cell *cell, const struct sql_state *state)
{
	const struct txtrace_object *object = state->context ? source_object(file->source, state->context) : NULL;

	snprintf(cell->own, sizeof(cell->own), "tid %lld", (long long)state->thread->tid);
	sql_put_text(cell, object ? object->name : state->thread->name[0] ? state->thread->name : cell->own);
}

static void state_value(struct sql_cursor *cursor, struct sql_cell *cell, int column)
{
	static const char *const names[] = {[THREAD_UNKNOWN] = "unknown",
					    [THREAD_RUNNING] = "running",
					    [THREAD_PREEMPTED] = "preempted",
					    [THREAD_WOKEN] = "woken",
					    [THREAD_BLOCKED] = "blocked"};
	const struct sql_state *state = &cursor->file->state[cursor->row];

	switch (column) {
	case STATE_NS:
		put_ns(cell, state->from_ns);
		break;
	case STATE_TIME:
		sql_put_time(cell, cursor->file, state->from_ns);
		break;
	case STATE_UNTIL_NS:
		put_ns(cell, state->until_ns);
		break;
	case STATE_DURATION_NS:
		put_ns(cell, state->until_ns - state->from_ns);
		break;
	case STATE_DURATION:
		put_seconds(cell, state->until_ns - state->from_ns);
		break;
	case STATE_THREAD:
		put_name(cursor->file, cell, state);
		break;
	case STATE_CONTEXT:
		if (state->context)
			sql_put_integer(cell, state->context);
		break;
	case STATE_PID:
		sql_put_integer(cell, state->thread->pid);
		break;
	case STATE_TID:
		sql_put_integer(cell, state->thread->tid);
		break;
	case STATE_STATE:
		sql_put_string(cell, names[state->state], strlen(names[state->state]));
		break;
	default:
		if (state->state == THREAD_RUNNING)
			sql_put_integer(cell, state->cpu);
		break;
	}
}

const struct sql_table sql_states = {
	.name = "states",
	.summary =
		"one row for each time that a thread was running, preempted, woken or blocked, from scheduling records",
	.columns = state_columns,
	.begin = begin,
	.next = next_state,
	.value = state_value,
};
