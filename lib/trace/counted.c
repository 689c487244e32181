/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/counted.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "calls/rules.h"
#include "trace/callpoint.h"
#include "trace/check_state.h"
#include "trace/process.h"
#include "trace/thread.h"

#define HELD 16 /* locks that one thread has by recorded calls */
#define WAYS 8	/* the entries with calls of one object are side by side */

struct entry {
	uint64_t object;
	void *address; /* of the first call since the last event of the entry */
	uint64_t first, last; /* counters */
	uint32_t nr_calls;
	uint32_t nr_recorded;
	uint16_t call; /* enum px_call, and NESTED */
	int16_t result;
};

#define NESTED 0x8000

struct held {
	uint64_t object; /* 0: free */
	uint32_t depth;
};

struct table {
	uint32_t tid; /* 0: free */
	uint32_t pid;
	uint32_t generation; /* of the stream */
	enum px_clock_source source;
	uint64_t base, base_ns; /* counter and time when the table was taken */
	uint64_t period;	/* in ticks of the counter */
	uint64_t since;		/* when the period began */
	bool is_in_use;		/* an entry has calls that are not in an event yet */
	uint32_t nr_held;
	uint32_t nr_unlisted; /* the same for locks that `held` has no room for: meanwhile, record everything */
	struct held held[HELD];
	struct entry entry[PX_COUNTED_ENTRIES];
};

static struct table tables[PX_COUNTED_THREADS];
static uint32_t nr_used; /* all tables from this one on were never used */
static uint32_t is_over;
static uint32_t owner_pid; /* the process that has the tables */

static struct table *own_table(void)
{
	return px_thread.counts ? &tables[px_thread.counts - 1] : NULL;
}

/* Tables of a thread. */

/* A child by fork() has copies of its parent's tables, and only one thread. */
static void forget_parent(uint32_t pid)
{
	uint32_t before = px_read_once(&owner_pid);

	if (before == pid || !px_compare_exchange(&owner_pid, before, pid) || before == 0)
		return;
	for (size_t i = 0; i < PX_COUNTED_THREADS; i++)
		px_write_once(&tables[i].tid, 0U);
}

static PX_COLD struct table *take_table(void)
{
	uint32_t pid = px_read_once(&px_gate.self.pid), tid = px_thread.tid;
	uint32_t used;

	px_thread.counts = 0;
	if (px_thread.is_shared || tid == 0)
		return NULL;
	forget_parent(pid);
	for (size_t i = 0; i < PX_COUNTED_THREADS; i++) {
		if (px_read_once(&tables[i].tid) != 0 || !px_compare_exchange(&tables[i].tid, 0U, tid))
			continue;
		px_thread.counts = (uint32_t)i + 1;
		tables[i].pid = pid;
		tables[i].generation = 0;
		/* If two threads do this at once, the higher number stays. */
		while ((used = px_read_once(&nr_used)) <= i && !px_compare_exchange(&nr_used, used, (uint32_t)i + 1))
			;
		return &tables[i];
	}
	return NULL;
}

/* The table begins anew with another stream.  What was not recorded yet belongs to a stream that has ended. */
static PX_COLD void begin_table(struct table *table, const struct px_view *view)
{
	memset(table->entry, 0, sizeof(table->entry));
	memset(table->held, 0, sizeof(table->held));
	table->nr_held = table->nr_unlisted = 0;
	table->is_in_use = false;
	table->source = (enum px_clock_source)view->rings.source;
	table->base = px_clock_read(table->source);
	table->base_ns = px_clock_monotonic_ns();
	table->period = table->source == PX_CLOCK_MONOTONIC ?
				PX_COUNTED_PERIOD_NS :
				(uint64_t)(PX_COUNTED_PERIOD_NS / 100) << view->rings.shift;
	table->generation = view->generation;
}

PX_INLINE struct table *table_for(const struct px_view *view)
{
	struct table *table = own_table();

	if (px_unlikely(!table || px_read_once(&table->tid) != px_thread.tid ||
			table->pid != px_read_once(&px_gate.self.pid)))
		table = take_table();
	if (px_unlikely(table && table->generation != view->generation))
		begin_table(table, view);
	return table;
}

/* Locks that the thread has by recorded calls. */

static struct held *find_held(struct table *table, uint64_t object)
{
	for (size_t i = 0; i < HELD; i++)
		if (table->held[i].object == object)
			return &table->held[i];
	return NULL;
}

static void hold(struct table *table, uint64_t object)
{
	struct held *held = find_held(table, object);

	if (!held) {
		held = find_held(table, 0);
		if (!held) {
			table->nr_unlisted++;
			return;
		}
		*held = (struct held){.object = object};
		table->nr_held++;
	}
	held->depth++;
}

/* Return true if the thread took the object in a recorded call.  Count a call that takes it or gives it back. */
static bool is_held(struct table *table, uint64_t object, bool takes, bool gives)
{
	struct held *held = table->nr_held > 0 ? find_held(table, object) : NULL;

	if (!held) {
		if (table->nr_unlisted == 0)
			return false;
		table->nr_unlisted += takes;
		table->nr_unlisted -= gives;
		return true;
	}
	held->depth += takes;
	held->depth -= gives;
	if (held->depth == 0) {
		held->object = 0;
		table->nr_held--;
	}
	return true;
}

/* Whether a thread may wait for a lock that is given back.  If that is not known, it counts as true. */

#ifdef __GLIBC__
#define MUTEX_KERNEL_KEEPS 0x30 /* bits of the kind: robust, or inherits priorities */
#define MUTEX_KERNEL_WAITERS 0x80000000U
#define RWLOCK_FUTEX_USED 2U
#define RWLOCK_READERS_WAIT 4U

static bool mutex_is_awaited(const pthread_mutex_t *mutex)
{
	uint32_t word = (uint32_t)px_read_once(&mutex->__data.__lock);

	return px_read_once(&mutex->__data.__kind) & MUTEX_KERNEL_KEEPS ? (word & MUTEX_KERNEL_WAITERS) != 0 :
									    word > 1;
}

static bool rwlock_is_awaited(const pthread_rwlock_t *lock)
{
	return ((px_read_once(&lock->__data.__wrphase_futex) | px_read_once(&lock->__data.__writers_futex)) &
		RWLOCK_FUTEX_USED) != 0 ||
	       (px_read_once(&lock->__data.__readers) & RWLOCK_READERS_WAIT) != 0;
}

static bool is_awaited(enum px_call call, uint64_t object)
{
	const void *lock = (const void *)(uintptr_t)object;

	switch (call) {
	case PX_CALL_pthread_mutex_unlock:
	case PX_CALL_mtx_unlock:
		return mutex_is_awaited(lock);
	case PX_CALL_pthread_rwlock_unlock:
		return rwlock_is_awaited(lock);
	default:
		return false; /* a thread that waits for a spin lock does not sleep */
	}
}
#else
static bool is_awaited(enum px_call call, uint64_t object)
{
	(void)object;
	return call != PX_CALL_pthread_spin_unlock;
}
#endif

/* Counting. */

static bool is_event(struct table *table, enum px_call call, const union px_call_data *data)
{
	enum px_counted effect = (enum px_counted)px_calls_counted[call];
	uint64_t object = data->of_object.object;
	bool is_taken = data->of_object.result == 0 &&
			(effect == PX_COUNTED_TAKES || effect == PX_COUNTED_SPINS);

	if (effect == PX_COUNTED_NEITHER)
		return px_calls[call].layout == PX_LAYOUT_OBJECT && data->of_object.result != 0;
	if (effect == PX_COUNTED_RUNS)
		return data->of_object.value != 0 || data->of_object.result != 0;
	if (is_held(table, object, is_taken, effect == PX_COUNTED_GIVES && data->of_object.result == 0))
		return true;
	if (effect == PX_COUNTED_SPINS && data->of_object.value != 0) {
		hold(table, object);
		return true;
	}
	if (data->of_object.result != 0)
		return data->of_object.result != EBUSY;
	return effect == PX_COUNTED_GIVES && is_awaited(call, object);
}

/* A recorded call has an effect on what the thread holds. */
static void follow_recorded(struct table *table, enum px_call call, bool ends, const union px_call_data *data)
{
	int result = data->of_object.result;
	bool is_inner = call == PX_CALL_txtrace_mutex_lock;
	bool is_lock = px_calls_counted[call] == PX_COUNTED_TAKES;

	if ((is_inner || (ends && is_lock)) && (result == 0 || result == EOWNERDEAD))
		hold(table, data->of_object.object);
	else if (call == PX_CALL_txtrace_mutex_unlock && result == 0)
		is_held(table, data->of_object.object, false, true);
}

PX_INLINE bool is_entry_of(const struct entry *entry, uint64_t object, uint32_t call, int result)
{
	return entry->object == object && entry->call == (uint16_t)call && entry->result == (int16_t)result &&
	       entry->nr_calls != 0;
}

static uint32_t first_way(uint64_t object)
{
	return (uint32_t)(object >> 3 ^ object >> 7 ^ object >> 12) % (PX_COUNTED_ENTRIES / WAYS) * WAYS;
}

/* Return the entry, or NULL if the table has no room. */
static struct entry *entry_for(struct table *table, uint64_t object, uint32_t call, int result)
{
	uint32_t at = first_way(object);

	for (uint32_t i = 0; i < WAYS; i++)
		if (is_entry_of(&table->entry[at + i], object, call, result))
			return &table->entry[at + i];
	for (uint32_t i = 0; i < WAYS; i++) {
		struct entry *entry = &table->entry[at + i];

		if (entry->nr_calls != px_read_once(&entry->nr_recorded))
			continue;
		entry->nr_calls = entry->nr_recorded = 0;
		entry->object = object;
		entry->call = (uint16_t)call;
		entry->result = (int16_t)result;
		return entry;
	}
	return NULL;
}

static void count(struct table *table, struct entry *entry, uint64_t now, void *address)
{
	if (entry->nr_calls == px_read_once(&entry->nr_recorded)) {
		entry->first = now;
		entry->address = address;
	}
	entry->last = now;
	if (!table->is_in_use) {
		table->is_in_use = true;
		table->since = now;
	}
	px_store_release(&entry->nr_calls, entry->nr_calls + 1);
}

static bool is_wanted(const struct px_view *view, enum px_call call)
{
	uint64_t state = px_load_acquire(&view->segment->state);

	return px_check_state(view->segment, state, px_call_event(call)) &&
	       !px_state_filters(view->segment, state, px_call_event(PX_CALL_txtrace_calls));
}

/* If the table has no room, the call will be recorded. */
static struct entry *find_entry(struct table *table, enum px_call call, const union px_call_data *data)
{
	bool has_object = px_calls[call].layout == PX_LAYOUT_OBJECT;
	bool is_lock = px_calls_counted[call] == PX_COUNTED_TAKES || px_calls_counted[call] == PX_COUNTED_SPINS;
	bool is_nested = px_calls[call].native == PX_NATIVE_MUTEX_GET && is_lock && data->of_object.result == 0 &&
			 data->of_object.count > 0;
	struct entry *entry = entry_for(table, has_object ? data->of_object.object : 0,
					(uint32_t)call | (is_nested ? NESTED : 0),
					has_object ? data->of_object.result : 0);

	if (!entry && is_lock && data->of_object.result == 0)
		hold(table, data->of_object.object);
	return entry;
}

/* Return true if the call makes or ends a lock.  Its address then means another object. */
static bool changes_object(enum px_call call)
{
	return px_calls[call].layout == PX_LAYOUT_OBJECT &&
	       (px_rules_is_creation(px_calls[call].native) || px_rules_is_end(px_calls[call].native));
}

unsigned int px_counted_call(const struct px_view *view, uint32_t call_at, uint64_t first, uint64_t second,
			     void *address)
{
	enum px_call call = (enum px_call)(call_at & 0xFFFF);
	const union px_call_data data = {.words = {first, second}};
	uint32_t flags = call_at >> 16;
	unsigned int due = 0;
	struct entry *entry = NULL;
	struct table *table;
	uint64_t now;

	if (px_calls_counted[call] == PX_COUNTED_NOT && call != PX_CALL_txtrace_mutex_lock &&
	    call != PX_CALL_txtrace_mutex_unlock && !(flags & PX_RECORD_BEGINS))
		return changes_object(call) ? PX_COUNTED_IS_CHANGING : 0;
	if (px_unlikely(px_read_once(&is_over)))
		return 0;
	table = table_for(view);
	if (px_unlikely(!table))
		return 0;
	now = px_clock_glance(table->source);
	if (table->is_in_use && (int64_t)(now - table->since) > (int64_t)table->period)
		due = PX_COUNTED_IS_DUE;
	if (flags != 0 || px_calls_counted[call] == PX_COUNTED_NOT)
		follow_recorded(table, call, (flags & PX_RECORD_ENDS) != 0, &data);
	else if (!is_event(table, call, &data) && is_wanted(view, call))
		entry = find_entry(table, call, &data);
	if (!entry)
		return due;
	count(table, entry, now, address);
	return due | PX_COUNTED_IS_DONE;
}

/* Record the counts. */

static uint64_t ago_ns(const struct table *table, uint64_t counter, uint64_t now, uint64_t now_ns)
{
	uint64_t ticks = now > counter ? now - counter : 0;

	if (table->source == PX_CLOCK_MONOTONIC || now <= table->base)
		return ticks;
	return (uint64_t)((double)ticks * (double)(now_ns - table->base_ns) / (double)(now - table->base));
}

/* Record the calls of an entry that are not in an event yet. */
static void record_calls(const struct table *table, struct entry *entry, uint64_t now, uint64_t now_ns)
{
	struct px_call_counted data = {.head.of_object = {.object = entry->object,
							  .count = entry->call & (NESTED - 1),
							  .result = entry->result},
				       .first_ns = ago_ns(table, entry->first, now, now_ns),
				       .last_ns = ago_ns(table, entry->last, now, now_ns),
				       .tid = table->tid,
				       .is_nested = (entry->call & NESTED) != 0};
	uint32_t nr_calls = px_load_acquire(&entry->nr_calls), nr_recorded = px_read_once(&entry->nr_recorded);
	void *address = entry->address;

	if (nr_calls == nr_recorded || !px_compare_exchange(&entry->nr_recorded, nr_recorded, nr_calls))
		return; /* another thread records them */
	data.head.of_object.value = nr_calls - nr_recorded;
	px_callpoint_long(PX_NO_WRAPPER_CALLS, PX_CALL_AT(PX_CALL_txtrace_calls, 0), &data, sizeof(data), address);
}

static bool is_due(const struct table *table, const struct entry *entry, uint64_t now)
{
	return entry->nr_calls - entry->nr_recorded >= PX_COUNTED_FEW ||
	       now - entry->first > PX_COUNTED_PERIODS * table->period;
}

/* Record the entries that are due, or all of them.  Return true if nothing is left. */
static bool record_table(struct table *table, bool is_all)
{
	uint64_t now = px_clock_read(table->source), now_ns = px_clock_monotonic_ns();
	bool is_empty = true;

	for (size_t i = 0; i < PX_COUNTED_ENTRIES; i++) {
		struct entry *entry = &table->entry[i];

		if (px_read_once(&entry->nr_calls) == px_read_once(&entry->nr_recorded))
			continue;
		if (is_all || is_due(table, entry, now))
			record_calls(table, entry, now, now_ns);
		else
			is_empty = false;
	}
	return is_empty;
}

static bool is_own(const struct table *table)
{
	return table && px_read_once(&table->tid) == px_thread.tid && table->pid == px_read_once(&px_gate.self.pid) &&
	       table->generation != 0;
}

void px_counted_record(void)
{
	struct table *table = own_table();

	if (!is_own(table))
		return;
	table->is_in_use = !record_table(table, false);
	table->since = px_clock_glance(table->source);
}

void px_counted_record_object(uint64_t object)
{
	uint32_t pid = px_read_once(&px_gate.self.pid), at = first_way(object);

	for (size_t i = 0; i < px_read_once(&nr_used) && px_read_once(&owner_pid) == pid; i++) {
		struct table *table = &tables[i];

		if (px_load_acquire(&table->tid) == 0 || table->generation == 0)
			continue;
		for (uint32_t k = at; k < at + WAYS; k++)
			if (table->entry[k].object == object &&
			    px_read_once(&table->entry[k].nr_calls) != px_read_once(&table->entry[k].nr_recorded))
				record_calls(table, &table->entry[k], px_clock_read(table->source),
				     px_clock_monotonic_ns());
	}
}

void px_counted_end_thread(void)
{
	struct table *table = own_table();

	if (!is_own(table))
		return;
	record_table(table, true);
	px_thread.counts = 0;
	px_store_release(&table->tid, 0U);
}

void px_counted_end_process(void)
{
	uint32_t pid = px_read_once(&px_gate.self.pid);

	px_write_once(&is_over, 1U);
	for (size_t i = 0; i < px_read_once(&nr_used) && px_read_once(&owner_pid) == pid; i++)
		if (px_load_acquire(&tables[i].tid) != 0 && tables[i].generation != 0)
			record_table(&tables[i], true);
}

void px_counted_resume(void)
{
	px_write_once(&is_over, 0U);
}
