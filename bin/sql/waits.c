/* SPDX-License-Identifier: MIT */
/* The tables of waits, holds and states. */
#include <stdio.h>
#include <string.h>

#include "sql/table.h"
#include "trace/symbols.h"

static int begin(struct sql_cursor *cursor)
{
	return sql_file_model(cursor->file) ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void put_ns(sqlite3_context *result, int64_t ns)
{
	sqlite3_result_int64(result, ns);
}

static void put_seconds(sqlite3_context *result, int64_t ns)
{
	sqlite3_result_double(result, (double)ns / NS_PER_S);
}

static void put_thread(sqlite3_context *result, const struct waiter *thread)
{
	sql_result_text(result, thread ? thread->name : NULL);
}

static void put_context(sqlite3_context *result, const struct waiter *thread)
{
	if (thread)
		sqlite3_result_int64(result, thread->context);
}

static void put_handle(sqlite3_context *result, const struct awaited *object)
{
	if (object->handle)
		sqlite3_result_int64(result, object->handle);
}

/* As the commands waits and locks do: the function, or the address if no function is known. */
static void put_site(struct sql_file *file, sqlite3_context *result, uintptr_t address)
{
	struct symbols *symbols = source_symbols(file->source);
	const char *name = symbols && address ? symbols_code(symbols, address) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	if (address)
		sql_result_text(result, name ? name : text);
}

static void put_ending(sqlite3_context *result, enum sql_ending ending, int error)
{
	const char *name = error != 0 ? strerrorname_np(error) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "error %d", error);
	if (ending == SQL_LASTS)
		sql_result_text(result, "lasts");
	else if (ending == SQL_MISSING)
		sql_result_text(result, "end missing");
	else
		sql_result_text(result, error == 0 ? "ended" : name ? name : text);
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

static void wait_value(struct sql_cursor *cursor, sqlite3_context *result, int column)
{
	const struct sql_wait *wait = &cursor->file->wait[cursor->row];
	bool is_known = wait->ending != SQL_MISSING;

	switch (column) {
	case WAIT_NUMBER:
		put_ns(result, (int64_t)wait->number);
		break;
	case WAIT_NS:
		put_ns(result, wait->begin_ns);
		break;
	case WAIT_TIME:
		sql_result_time(result, cursor->file, wait->begin_ns);
		break;
	case WAIT_DURATION_NS:
		if (is_known)
			put_ns(result, wait->length_ns);
		break;
	case WAIT_DURATION:
		if (is_known)
			put_seconds(result, wait->length_ns);
		break;
	case WAIT_THREAD:
		put_thread(result, wait->thread);
		break;
	case WAIT_CONTEXT:
		put_context(result, wait->thread);
		break;
	case WAIT_OBJECT:
		sql_result_text(result, wait->object->name);
		break;
	case WAIT_HANDLE:
		put_handle(result, wait->object);
		break;
	case WAIT_KIND:
		sql_result_text(result, wait->object->kind);
		break;
	case WAIT_CALL:
		sql_result_text(result, wait->service);
		break;
	case WAIT_SITE:
		put_site(cursor->file, result, wait->address);
		break;
	case WAIT_HOLDER:
		put_thread(result, wait->holder);
		break;
	case WAIT_WOKEN_BY:
		put_thread(result, wait->waker);
		break;
	case WAIT_WOKEN_WITH:
		sql_result_text(result, wait->waker ? wait->waker_service : NULL);
		break;
	default:
		put_ending(result, wait->ending, wait->result);
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

static void hold_value(struct sql_cursor *cursor, sqlite3_context *result, int column)
{
	const struct sql_hold *hold = &cursor->file->hold[cursor->row];
	bool has_begin = hold->since_ns != LONG_AGO, has_end = hold->ending != SQL_MISSING;
	/* The times of a damaged file may fall. */
	int64_t length_ns = has_begin && hold->until_ns > hold->since_ns ? hold->until_ns - hold->since_ns : 0;

	switch (column) {
	case HOLD_NS:
		if (has_begin)
			put_ns(result, hold->since_ns);
		break;
	case HOLD_TIME:
		if (has_begin)
			sql_result_time(result, cursor->file, hold->since_ns);
		break;
	case HOLD_UNTIL_NS:
		if (has_end)
			put_ns(result, hold->until_ns);
		break;
	case HOLD_DURATION_NS:
		if (has_begin && has_end)
			put_ns(result, length_ns);
		break;
	case HOLD_DURATION:
		if (has_begin && has_end)
			put_seconds(result, length_ns);
		break;
	case HOLD_THREAD:
		put_thread(result, hold->thread);
		break;
	case HOLD_CONTEXT:
		put_context(result, hold->thread);
		break;
	case HOLD_OBJECT:
		sql_result_text(result, hold->object->name);
		break;
	case HOLD_HANDLE:
		put_handle(result, hold->object);
		break;
	case HOLD_KIND:
		sql_result_text(result, hold->object->kind);
		break;
	case HOLD_SITE:
		put_site(cursor->file, result, hold->address);
		break;
	case HOLD_IS_LOCK:
		sqlite3_result_int(result, hold->object->is_lock);
		break;
	case HOLD_IS_SHARED:
		sqlite3_result_int(result, hold->is_shared);
		break;
	default:
		put_ending(result, hold->ending, 0);
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

static void put_name(const struct sql_file *file, sqlite3_context *result, const struct sql_state *state)
{
	const struct txtrace_object *object = state->context ? source_object(file->source, state->context) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "tid %lld", (long long)state->thread->tid);
	sql_result_text(result, object ? object->name : state->thread->name[0] ? state->thread->name : text);
}

static void state_value(struct sql_cursor *cursor, sqlite3_context *result, int column)
{
	static const char *const names[] = {[THREAD_UNKNOWN] = "unknown",
					    [THREAD_RUNNING] = "running",
					    [THREAD_PREEMPTED] = "preempted",
					    [THREAD_WOKEN] = "woken",
					    [THREAD_BLOCKED] = "blocked"};
	const struct sql_state *state = &cursor->file->state[cursor->row];

	switch (column) {
	case STATE_NS:
		put_ns(result, state->from_ns);
		break;
	case STATE_TIME:
		sql_result_time(result, cursor->file, state->from_ns);
		break;
	case STATE_UNTIL_NS:
		put_ns(result, state->until_ns);
		break;
	case STATE_DURATION_NS:
		put_ns(result, state->until_ns - state->from_ns);
		break;
	case STATE_DURATION:
		put_seconds(result, state->until_ns - state->from_ns);
		break;
	case STATE_THREAD:
		put_name(cursor->file, result, state);
		break;
	case STATE_CONTEXT:
		if (state->context)
			sqlite3_result_int64(result, state->context);
		break;
	case STATE_PID:
		sqlite3_result_int64(result, state->thread->pid);
		break;
	case STATE_TID:
		sqlite3_result_int64(result, state->thread->tid);
		break;
	case STATE_STATE:
		sqlite3_result_text(result, names[state->state], -1, SQLITE_STATIC);
		break;
	default:
		if (state->state == THREAD_RUNNING)
			sqlite3_result_int64(result, state->cpu);
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
