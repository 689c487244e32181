/* SPDX-License-Identifier: MIT */
#include "waits/locks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/durations.h"
#include "base/memory.h"
#include "trace/programs.h"
#include "trace/symbols.h"
#include "waits/convoys.h"
#include "waits/lockorder.h"
#include "waits/periods.h"

#define UNKNOWN_SITE 1 /* no code has this address */

/* All requests for a lock, or those from one call site. */
struct lock {
	const struct awaited *object;
	uint64_t site; /* 0: all call sites */
	uint64_t nr_taken;
	uint64_t nr_contended; /* requests that had to wait, also those that never got the lock */
	uint64_t nr_refused;   /* requests that waited and did not get the lock in this trace */
	struct durations durations;
	struct hold longest;
	struct hold unlucky;   /* the hold that was without a CPU for the longest time */
	int64_t unlucky_ns;    /* this time; 0 if there is no such hold, or if no scheduling records show it */
	int64_t unlucky_until_ns;
	struct convoys convoys;
	struct lock *next;
};

struct locks {
	struct waits waits;
	struct map lock_of;
	struct lock *first;
	size_t nr_locks;
	struct lockorder order;
	struct symbols *symbols; /* NULL if the file is a ThreadX buffer */
	const struct locks_options *options;
};

bool locks_parse_sort(const char *word, enum locks_sort *order)
{
	static const char *const words[] = {"held", "taken", "contended", "max", "waiters", "name"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			*order = (enum locks_sort)i;
			return true;
		}
	}
	message("--sort takes held, taken, contended, max, waiters or name, not %s", word);
	return false;
}

/* Collecting. */

static struct lock *lock_of(struct locks *locks, const struct awaited *object, uint64_t site)
{
	uint64_t *known = map_get(&locks->lock_of, (uint64_t)object->index << 48 ^ site);
	struct lock *lock;

	if (*known)
		return (struct lock *)(uintptr_t)*known;
	lock = must(calloc(1, sizeof(*lock)));
	lock->object = object;
	lock->site = site;
	lock->next = locks->first;
	locks->first = lock;
	locks->nr_locks++;
	*known = (uintptr_t)lock;
	return lock;
}

/* Return the row of this call site, or NULL if there are no such rows. */
static struct lock *site_of(struct locks *locks, const struct awaited *object, uint64_t address)
{
	return locks->options->by_site ? lock_of(locks, object, address ? address : UNKNOWN_SITE) : NULL;
}

static bool is_counted(const struct wait *wait)
{
	return wait->object->kind && wait->counts;
}

static void take_begin(void *arg, const struct wait *wait)
{
	struct lock *site;

	if (!is_counted(wait))
		return;
	convoys_change_waiters(&lock_of(arg, wait->object, 0)->convoys, wait->begin_ns, 1);
	site = site_of(arg, wait->object, wait->address);
	if (site)
		convoys_change_waiters(&site->convoys, wait->begin_ns, 1);
}

static void end_wait(struct lock *lock, int64_t at_ns, bool is_refused)
{
	lock->nr_contended += is_refused;
	lock->nr_refused += is_refused;
	if (lock->convoys.nr_waiters > 0)
		convoys_change_waiters(&lock->convoys, at_ns, -1);
}

static void end_waits(struct locks *locks, const struct wait *wait, int64_t at_ns, bool is_refused)
{
	struct lock *site = is_counted(wait) ? site_of(locks, wait->object, wait->address) : NULL;

	if (is_counted(wait))
		end_wait(lock_of(locks, wait->object, 0), at_ns, is_refused);
	if (site)
		end_wait(site, at_ns, is_refused);
}

static void take_end(void *arg, const struct wait *wait)
{
	end_waits(arg, wait, wait->end_ns,
		  !wait->has_ended || (wait->result != 0 && wait->result != EOWNERDEAD));
}

/* The trace does not show whether the thread got the lock. */
static void take_broken(void *arg, const struct wait *wait, int64_t at_ns)
{
	end_waits(arg, wait, at_ns, true);
}

/* A convoy ends where the trace no longer shows all turns. */
static void take_gap(void *arg, int64_t at_ns)
{
	struct locks *locks = arg;

	for (struct lock *lock = locks->first; lock; lock = lock->next)
		convoys_end(&lock->convoys, at_ns);
}

static void take_taken(void *arg, const struct hold *hold, bool has_waited)
{
	struct lock *lock = lock_of(arg, hold->object, 0);
	struct lock *site = site_of(arg, hold->object, hold->address);

	lock->nr_taken += hold->counts;
	lock->nr_contended += hold->counts && has_waited;
	if (site) {
		site->nr_taken += hold->counts;
		site->nr_contended += hold->counts && has_waited;
	}
}

static void take_counted(void *arg, const struct awaited *object, uint64_t nr, uint64_t address)
{
	struct lock *site = site_of(arg, object, address);

	lock_of(arg, object, 0)->nr_taken += nr;
	if (site)
		site->nr_taken += nr;
}

static void add_hold(struct lock *lock, const struct hold *hold, int64_t length)
{
	bool is_longest = lock->durations.n == 0 || length > (int64_t)lock->durations.largest;

	durations_add(&lock->durations, length);
	if (is_longest)
		lock->longest = *hold;
}

static void note_unlucky(struct lock *lock, const struct hold *hold, int64_t at_ns)
{
	int64_t ns = state_times_ready(&hold->spent.times);

	if (ns <= lock->unlucky_ns)
		return;
	lock->unlucky = *hold;
	lock->unlucky_ns = ns;
	lock->unlucky_until_ns = at_ns;
}

/*
 * A gap of the trace ends what is known of holds, so a hold that lasts until the end of the trace began after the last
 * gap.  But where a file is damaged, the event of its unlock may be missing.  A hold that only other threads have shown
 * is doubtful, too, unless one of them still waits for it.
 */
static void judge_edges(struct locks *locks, const struct hold *hold)
{
	const struct source *source = locks->waits.source;
	bool is_sure = !hold->is_doubtful || hold->object->waiting;

	if (!locks->waits.has_ended || (is_sure && !source->file.damaged && source_missing(source) == 0))
		lockorder_confirm(&locks->order, hold);
	else
		lockorder_refute(&locks->order, hold, is_sure);
}

static void take_kept(void *arg, const struct hold *hold)
{
	struct locks *locks = arg;

	lockorder_confirm(&locks->order, hold);
}

static void take_dropped(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct locks *locks = arg;

	(void)at_ns;
	lockorder_refute(&locks->order, hold, false);
}

static void take_given(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct lock *lock = lock_of(arg, hold->object, 0);
	struct lock *site = site_of(arg, hold->object, hold->address);
	int64_t length;

	judge_edges(arg, hold);
	if (!hold->counts)
		return;
	length = at_ns > hold->since_ns ? at_ns - hold->since_ns :
					  0; /* times of a damaged file may fall */
	add_hold(lock, hold, length);
	note_unlucky(lock, hold, at_ns);
	if (site)
		add_hold(site, hold, length);
	convoys_add_turn(&lock->convoys, hold->since_ns, length, at_ns);
}

static void take_wanted(void *arg, const struct waiter *thread, const struct awaited *object,
			int64_t at_ns, uint64_t address)
{
	struct locks *locks = arg;

	if (locks->waits.counts)
		lockorder_add(&locks->order, thread, object, at_ns, address);
}

/* Printing. */

static int64_t value_of(const struct lock *lock, enum locks_sort order)
{
	switch (order) {
	case LOCKS_HELD:
		return lock->durations.sum;
	case LOCKS_TAKEN:
		return (int64_t)lock->nr_taken;
	case LOCKS_CONTENDED:
		return (int64_t)lock->nr_contended;
	case LOCKS_MAX:
		return (int64_t)lock->durations.largest;
	case LOCKS_WAITERS:
		return lock->convoys.most_waiters;
	default:
		return 0;
	}
}

static enum locks_sort sorted_by; /* qsort() passes no further argument to its callback */

static int compare_locks(const void *a, const void *b)
{
	const struct lock *left = *(struct lock *const *)a, *right = *(struct lock *const *)b;
	int64_t one = value_of(left, sorted_by), other = value_of(right, sorted_by);

	if (one != other)
		return one > other ? -1 : 1;
	if (left->object != right->object)
		return strcmp(left->object->name, right->object->name);
	return (left->site > right->site) - (left->site < right->site);
}

/*
 * Print a code address as a function with an offset, or in hex digits if the function is not known.  Address 0 is
 * unknown.
 */
static void put_address(const struct locks *locks, struct table *table, uint64_t address)
{
	const char *name = locks->symbols ? symbols_code(locks->symbols, address) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)code_address(address));
	if (address != 0)
		table_string(table, name ? name : text);
	else
		table_unknown(table);
}

static void put_lock(const struct locks *locks, struct table *table, struct lock *lock)
{
	table_string(table, lock->object->name);
	if (locks->options->by_site)
		put_address(locks, table, lock->site == UNKNOWN_SITE ? 0 : lock->site);
	table_string(table, lock->object->kind);
	table_number(table, lock->nr_taken);
	table_number(table, lock->nr_contended);
	table_percent(table, (double)lock->nr_contended, (double)(lock->nr_taken + lock->nr_refused));
	if (lock->object->nr_counted > 0 || (lock->durations.n == 0 && lock->nr_taken > 0)) {
		for (int i = 0; i < 4; i++)
			table_unknown(table);
	} else {
		table_duration(table, lock->durations.sum);
		table_duration(table, (int64_t)durations_percentile(&lock->durations, 50));
		table_duration(table, (int64_t)durations_percentile(&lock->durations, 99));
		table_duration(table, (int64_t)lock->durations.largest);
	}
	if (lock->durations.n > 0 && lock->object->nr_counted == 0)
		table_string(table, lock->longest.thread->name);
	else
		table_unknown(table);
	if (!locks->options->by_site)
		put_address(locks, table, lock->object->nr_counted > 0 ? 0 : lock->longest.address);
	table_number(table, lock->convoys.most_waiters);
}

/*
 * Return the locks in sorted order.  Call this at the end of the trace, because earlier events do not show which
 * objects are locks.
 */
static struct lock **sort_locks(const struct locks *locks, enum locks_sort order, size_t *nr)
{
	struct lock **list = must(calloc(locks->nr_locks + 1, sizeof(*list)));

	*nr = 0;
	for (struct lock *lock = locks->first; lock; lock = lock->next)
		if (lock->object->is_lock && (lock->nr_taken > 0 || lock->convoys.most_waiters > 0))
			list[(*nr)++] = lock;
	sorted_by = order;
	qsort(list, *nr, sizeof(*list), compare_locks);
	return list;
}

static void print_locks(const struct locks *locks, struct lock *const *list, size_t nr,
			struct table *table)
{
	static const char *const minor[] = {"type",    "taken_at",	 "percent", "p50_s", "p99_s",
					    "waiters", "longest_holder", "max_s",   NULL};
	static const struct column of_locks[] = {
		{"Lock", "lock", false},	      {"Type", "type", false},
		{"Taken", "taken", true},	      {"Contended", "contended", true},
		{"Percent", "percent", true},      {"Held", "held_s", true},
		{"p50", "p50_s", true},	      {"p99", "p99_s", true},
		{"max", "max_s", true},	      {"Longest Holder", "longest_holder", false},
		{"Taken At", "taken_at", false},   {"Waiters", "waiters", true},
		{0}};
	static const struct column of_sites[] = {
		{"Lock", "lock", false},	 {"Call Site", "site", false},
		{"Type", "type", false},	 {"Taken", "taken", true},
		{"Contended", "contended", true}, {"Percent", "percent", true},
		{"Held", "held_s", true},	 {"p50", "p50_s", true},
		{"p99", "p99_s", true},	 {"max", "max_s", true},
		{"Longest Holder", "longest_holder", false}, {"Waiters", "waiters", true},
		{0}};

	table->minor = minor;
	if (locks->options->by_site)
		table_begin(table, "Locks by Call Site", "locks_by_site", of_sites, 2);
	else
		table_begin(table, "Locks", "locks", of_locks, 1);
	for (size_t i = 0; i < nr; i++)
		if (locks->options->by_site == (list[i]->site != 0))
			put_lock(locks, table, list[i]);
	table_end(table);
	if (locks->waits.nr_counted > 0)
		table_note(table,
			   "  %" PRIu64
			   " calls were counted and not recorded: how long their locks were held, and by which "
			   "threads, is not known",
			   locks->waits.nr_counted);
}

static void put_time(struct table *table, const struct locks *locks, int64_t time_ns)
{
	if (time_ns == LONG_AGO)
		table_unknown(table);
	else
		table_time(table, time_ns, locks->waits.source->first_ns);
}

static void put_cycle(const struct locks *locks, struct table *table, size_t number)
{
	const struct lock_cycle *cycle = &locks->order.cycle[number];
	char title[160];

	if (cycle->gate)
		snprintf(title, sizeof(title), "%zu: no danger, gate lock %s", number + 1,
			 cycle->gate->name);
	else
		snprintf(title, sizeof(title), "%zu: potential deadlock", number + 1);
	for (unsigned int i = 0; i < cycle->nr_edges; i++) {
		const struct lock_edge *edge = cycle->edge[i];

		table_string(table, title);
		table_string(table, edge->thread->name);
		table_string(table, edge->held->name);
		put_time(table, locks, edge->held_ns);
		put_address(locks, table, edge->held_at);
		table_string(table, edge->wanted->name);
		put_time(table, locks, edge->wanted_ns);
		put_address(locks, table, edge->wanted_at);
		table_number(table, edge->nr);
	}
}

static void print_order(struct locks *locks, struct table *table)
{
	static const char *const minor[] = {"wanted_at", "held_at", "since_s", "when_s", "times", NULL};
	static const struct column columns[] = {
		{"Cycle", "cycle", false},	   {"Thread", "thread", false},
		{"Held", "held", false},	   {"Since/s", "since_s", true},
		{"Taken At", "held_at", false}, {"Wanted", "wanted", false},
		{"When/s", "when_s", true},	   {"Wanted At", "wanted_at", false},
		{"Times", "times", true},	   {0}};

	lockorder_search(&locks->order, &locks->waits);
	table->minor = minor;
	table_begin(table, "Lock Order", "lock_order", columns, 2);
	for (size_t i = 0; i < locks->order.nr_cycles; i++)
		put_cycle(locks, table, i);
	table_end(table);
	if (locks->order.is_cut)
		table_note(table, "  and there may be more cycles; --filter chooses");
}

static void print_convoys(const struct locks *locks, struct lock *const *list, size_t nr,
			  struct table *table)
{
	static const char *const minor[] = {"longest_hold_s", "waiters", "mean_hold_s", NULL};
	static const struct column columns[] = {
		{"Lock", "lock", false},
		{"Convoys", "convoys", true},
		{"Longest From/s", "from_s", true},
		{"Length", "length_s", true},
		{"Waiters", "waiters", true},
		{"Turns", "turns", true},
		{"Mean Hold", "mean_hold_s", true},
		{"Longest Hold", "longest_hold_s", true},
		{0}};

	table->minor = minor;
	table_begin(table, "Lock Convoys", "lock_convoys", columns, 1);
	for (size_t i = 0; i < nr; i++) {
		const struct queue *convoy = &list[i]->convoys.longest;

		if (list[i]->convoys.nr == 0 || list[i]->site != 0)
			continue;
		table_string(table, list[i]->object->name);
		table_number(table, list[i]->convoys.nr);
		put_time(table, locks, convoy->begin_ns);
		table_duration(table, convoy->end_ns - convoy->begin_ns);
		table_number(table, convoy->most_waiters);
		table_number(table, convoy->nr_turns);
		table_duration(table, convoy->held_ns / (int64_t)convoy->nr_turns);
		table_duration(table, convoy->longest_ns);
	}
	table_end(table);
}

/* For each lock, the hold whose thread was ready to run, but had no CPU, for the longest time. */
static void print_unlucky(const struct locks *locks, struct lock *const *list, size_t nr, struct table *table)
{
	static const char *const minor[] = {"taken_at", "from_s", NULL};
	static const struct column columns[] = {{"Lock", "lock", false},	{"Holder", "holder", false},
						{"Held", "held_s", true},	{"Without CPU", "without_cpu_s", true},
						{"Ran", "ran_s", true},	{"Blocked", "blocked_s", true},
						{"Preempted By", "preempted_by", false},
						{"From/s", "from_s", true},	{"Taken At", "taken_at", false},
						{0}};

	table->minor = minor;
	table_begin(table, "Holders without a CPU", "holders_without_cpu", columns, 1);
	for (size_t i = 0; i < nr; i++) {
		const struct lock *lock = list[i];
		char taker[PERIODS_NAME];

		if (lock->unlucky_ns == 0 || lock->site != 0)
			continue;
		table_string(table, lock->object->name);
		table_string(table, lock->unlucky.thread->name);
		table_duration(table, lock->unlucky_until_ns - lock->unlucky.since_ns);
		table_duration(table, lock->unlucky_ns);
		table_duration(table, lock->unlucky.spent.times.ns[THREAD_RUNNING]);
		table_duration(table, lock->unlucky.spent.times.ns[THREAD_BLOCKED]);
		if (lock->unlucky.taker)
			table_string(table, periods_thread_name(&locks->waits, lock->unlucky.taker, taker));
		else
			table_unknown(table);
		put_time(table, locks, lock->unlucky.since_ns);
		put_address(locks, table, lock->unlucky.address);
	}
	table_end(table);
}

static void free_locks(struct locks *locks)
{
	for (struct lock *lock = locks->first, *next; lock; lock = next) {
		next = lock->next;
		durations_free(&lock->durations);
		free(lock);
	}
	map_free(&locks->lock_of);
	lockorder_free(&locks->order);
	waits_free(&locks->waits);
	symbols_free(locks->symbols);
}

void locks_print(struct source *source, const struct selection *selection,
		 const struct locks_options *options, struct table *table)
{
	struct locks *locks = must(calloc(1, sizeof(*locks)));
	const struct waits_listener listener = {.arg = locks,
						.began = take_begin,
						.ended = take_end,
						.broken = take_broken,
						.gap = take_gap,
						.counted = take_counted,
						.wanted = take_wanted,
						.taken = take_taken,
						.given = take_given,
						.dropped = take_dropped,
						.kept = take_kept};
	struct lock **list;
	size_t nr;

	locks->options = options;
	if (!source->file.foreign)
		locks->symbols = symbols_of_log(source->trace);
	waits_read(&locks->waits, source, selection, &listener);
	waits_report_no_calls(&locks->waits);
	for (struct lock *lock = locks->first; lock; lock = lock->next)
		convoys_end(&lock->convoys, locks->waits.end_ns);
	list = sort_locks(locks, options->order, &nr);
	print_locks(locks, list, nr, table);
	print_order(locks, table);
	print_convoys(locks, list, nr, table);
	if (locks->waits.states.has_records)
		print_unlucky(locks, list, nr, table);
	free(list);
	free_locks(locks);
	free(locks);
}
