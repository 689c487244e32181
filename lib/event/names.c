/* SPDX-License-Identifier: MIT */
#include "event/names.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "event/calls.h"

#define NR_ENTRIES (PX_EVENT_USER_END - PX_EVENT_USER_FIRST)

/* The word of an entry holds its state and the owner's tid. */
enum { FREE = 0, WRITING = 1, READY = 2, DEAD = 3, STATE_MASK = 3, TID_SHIFT = 2 };

#define YIELDS 16
#define NAP_NS 100000
#define CHECK_OWNER_AFTER_NS 1000000
#define GIVE_UP_NS 100000000

static const struct {
	unsigned int id;
	char name[PX_NAME_MAX + 1];
} predefined[] = {
	{PX_EVENT_ERROR, "posix_trace_error"},
	{PX_EVENT_START, "posix_trace_start"},
	{PX_EVENT_STOP, "posix_trace_stop"},
	{PX_EVENT_FILTER, "posix_trace_filter"},
	{PX_EVENT_OVERFLOW, "posix_trace_overflow"},
	{PX_EVENT_RESUME, "posix_trace_resume"},
	{PX_EVENT_FLUSH_START, "posix_trace_flush_start"},
	{PX_EVENT_FLUSH_STOP, "posix_trace_flush_stop"},
	{PX_EVENT_SWITCH_IN, "txtrace_switch_in"},
	{PX_EVENT_SWITCH_OUT, "txtrace_switch_out"},
	{PX_EVENT_SCHED_THREAD, "txtrace_sched_thread"},
	{PX_EVENT_SCHED_GAP, "txtrace_sched_gap"},
	{PX_EVENT_SCHED_START, "txtrace_sched_start"},
	{PX_EVENT_SCHED_STOP, "txtrace_sched_stop"},
	{PX_EVENT_CPU_TIME, "txtrace_cpu_time"},
	{PX_EVENT_UNNAMED, "posix_trace_unnamed_userevent"},
};

/* A name for which a function searches the table. */
struct key {
	const char *name;
	size_t size; /* length of the name, with the null byte */
	uint32_t hash;
};

/* The thread that opens a name, and how long it may still wait for owners that are alive. */
struct opener {
	uint32_t tid;
	px_procfs_asked *alive;
	uint64_t give_up_ns;
};

static unsigned int find_predefined(const struct key *key)
{
	for (size_t i = 0; i < PX_ARRAY_SIZE(predefined); i++)
		if (strcmp(predefined[i].name, key->name) == 0)
			return predefined[i].id;
	for (unsigned int i = 0; i < PX_CALLS; i++)
		if (strcmp(px_call_name((enum px_call)i), key->name) == 0)
			return px_call_event((enum px_call)i);
	return PX_EVENT_NONE;
}

static uint32_t hash_of(const char *text, size_t length)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

/* Fill in the key of a name.  Return false if the name is too long. */
static bool make_key(struct key *key, const char *name)
{
	key->name = name;
	key->size = strnlen(name, PX_NAME_MAX + 1) + 1;
	key->hash = hash_of(name, key->size - 1);
	return key->size <= PX_NAME_MAX + 1;
}

/*
 * Return true if a READY entry holds this name.  The comparison includes the null byte, so a text
 * without a null byte matches no name.
 */
static bool holds(const struct px_name_entry *entry, const struct key *key)
{
	return px_read_once(&entry->hash) == key->hash &&
	       memcmp(entry->text, key->name, key->size) == 0;
}

static unsigned int find_added(const struct px_names *names, const struct key *key)
{
	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		/* EDGE name acquire */
		uint32_t state = px_load_acquire(&names->entry[i].word) & STATE_MASK;

		if (state == FREE || state == WRITING)
			break;
		if (state == READY && holds(&names->entry[i], key))
			return PX_EVENT_USER_FIRST + i;
	}
	return PX_EVENT_NONE;
}

void px_names_find(const struct px_names *names, const char *name, unsigned int *id)
{
	unsigned int found = PX_EVENT_NONE;
	struct key key;

	if (make_key(&key, name)) {
		found = find_predefined(&key);
		if (found == PX_EVENT_NONE)
			found = find_added(names, &key);
	}
	*id = found;
}

static void yield_or_sleep(unsigned int round)
{
	static const struct timespec nap = {0, NAP_NS};

	if (round < YIELDS)
		sched_yield();
	else
		nanosleep(&nap, NULL); /* if a signal ends this sleep early, the loop sleeps again */
}

static bool gives_up(struct opener *opener, uint32_t owner, uint64_t waited_ns)
{
	/*
	 * This owner cannot proceed while this thread runs.  Either this thread runs a signal
	 * handler that interrupted the owner's px_names_open(), or the owner died and the kernel
	 * gave its tid to this thread.
	 */
	if (owner == opener->tid)
		return true;
	if (waited_ns >= CHECK_OWNER_AFTER_NS && !opener->alive(owner))
		return true;
	if (waited_ns < opener->give_up_ns)
		return false;
	opener->give_up_ns /= 2;
	return true;
}

/* Wait until the WRITING word of this entry changes, and return the new word. */
static PX_COLD uint32_t wait_for_owner(struct px_name_entry *entry, uint32_t word,
				       struct opener *opener)
{
	uint64_t start_ns = px_clock_monotonic_ns();
	unsigned int round = 0;
	int saved_errno = errno;
	uint32_t now;

	do {
		if (gives_up(opener, word >> TID_SHIFT, px_clock_monotonic_ns() - start_ns))
			(void)px_compare_exchange(&entry->word, word, DEAD);
		else
			yield_or_sleep(round++);
		now = px_load_acquire(&entry->word);
	} while (now == word);
	errno = saved_errno;
	return now;
}

/* Wait while the entry is WRITING, and return its state. */
static uint32_t settle(struct px_name_entry *entry, struct opener *opener)
{
	uint32_t word = px_load_acquire(&entry->word);

	if (px_unlikely((word & STATE_MASK) == WRITING))
		word = wait_for_owner(entry, word, opener);
	return word & STATE_MASK;
}

/*
 * Store the name in an entry that was FREE.  Return false if another thread claimed the entry first, or if another
 * thread gave up waiting for this thread.
 */
static bool try_add(struct px_name_entry *entry, const struct key *key, uint32_t tid)
{
	uint32_t writing = tid << TID_SHIFT | WRITING;

	PX_TESTPOINT("names.open.free");
	if (!px_compare_exchange(&entry->word, FREE, writing))
		return false;
	PX_TESTPOINT("names.open.writing");
	px_write_once(&entry->hash, key->hash);
	memcpy(entry->text, key->name, key->size);
	PX_TESTPOINT("names.open.stored");
	return px_compare_exchange(&entry->word, writing, READY); /* EDGE name release */
}

static bool find_or_add(struct px_name_entry *entry, const struct key *key, struct opener *opener)
{
	uint32_t state = settle(entry, opener);

	if (state == FREE) {
		if (try_add(entry, key, opener->tid))
			return true;
		state = settle(entry, opener);
	}
	/*
	 * Only a hostile table can have any other state here.  Treat such an entry like a DEAD one.
	 */
	return state == READY && holds(entry, key);
}

int px_names_open(struct px_names *names, const char *name, uint32_t tid, px_procfs_asked *alive,
		  unsigned int *id)
{
	struct opener opener = {tid, alive, GIVE_UP_NS};
	struct key key;
	unsigned int found;

	if (!make_key(&key, name))
		return ENAMETOOLONG;
	found = find_predefined(&key);
	for (unsigned int i = 0; found == PX_EVENT_NONE && i < NR_ENTRIES; i++)
		if (find_or_add(&names->entry[i], &key, &opener))
			found = PX_EVENT_USER_FIRST + i;
	if (found == PX_EVENT_NONE)
		return ENOSPC;
	*id = found;
	return 0;
}

int px_names_get(const struct px_names *names, unsigned int id, char text[PX_NAME_MAX + 1])
{
	const struct px_name_entry *entry;
	enum px_call call;
	size_t length;

	for (size_t i = 0; i < PX_ARRAY_SIZE(predefined); i++) {
		if (predefined[i].id == id) {
			strcpy(text, predefined[i].name);
			return 0;
		}
	}
	if (px_call_of_event(id, &call)) {
		strcpy(text, px_call_name(call));
		return 0;
	}
	if (id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END)
		return EINVAL;
	entry = &names->entry[id - PX_EVENT_USER_FIRST];
	if ((px_load_acquire(&entry->word) & STATE_MASK) != READY)
		return EINVAL;
	length = strnlen(entry->text, PX_NAME_MAX);
	memcpy(text, entry->text, length);
	text[length] = '\0';
	return 0;
}

/* Threads fill the table in the order of ids, so an entry without a name must not stay FREE before one with a name. */
bool px_names_adopt(struct px_names *names, const struct px_names *from, uint32_t tid, px_procfs_asked *alive)
{
	char text[PX_NAME_MAX + 1];
	unsigned int end = NR_ENTRIES, id;

	while (end > 0 && (px_load_acquire(&from->entry[end - 1].word) & STATE_MASK) != READY)
		end--;
	for (unsigned int i = 0; i < end; i++) {
		if (px_names_get(from, PX_EVENT_USER_FIRST + i, text) != 0)
			(void)px_compare_exchange(&names->entry[i].word, FREE, DEAD);
		else if (px_names_open(names, text, tid, alive, &id) != 0 || id != PX_EVENT_USER_FIRST + i)
			return false;
	}
	return true;
}

static bool is_whole(const struct px_name_entry *entry)
{
	size_t length = strnlen(entry->text, sizeof(entry->text));

	return (entry->word & STATE_MASK) == READY && length <= PX_NAME_MAX &&
	       entry->hash == hash_of(entry->text, length);
}

void px_names_settle_copy(struct px_names *copy)
{
	bool is_last = true;

	for (unsigned int i = NR_ENTRIES; i-- > 0;) {
		struct px_name_entry *entry = &copy->entry[i];

		if (is_whole(entry))
			is_last = false;
		else
			*entry = (struct px_name_entry){.word = is_last ? FREE : DEAD};
	}
}
