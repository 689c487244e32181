/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/inside.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/membarrier.h"
#include "base/procfs.h"
#include "trace/process.h"

#define ENTRIES_AT_FIRST 16
#define ENTRIES_IN_CHUNK 64
#define VIEWS_IN_CHUNK 64
#define STACK_REACH ((uintptr_t)65536) /* two addresses at most this far apart count as on one stack */
#define POLLS 200
#define KEPT_MAX 8
#define NAPS_MAX 50

static uint32_t has_given_up;

/* Entries. */

struct entry_chunk {
	struct px_inside entry[ENTRIES_IN_CHUNK];
	struct entry_chunk *next;
};

static struct px_inside first_entries[ENTRIES_AT_FIRST];
static struct entry_chunk *entry_chunks;
static uint32_t last_serial;

/* Call the function for each entry until it returns true.  Return that entry, or NULL. */
static struct px_inside *find_entry(bool (*function)(struct px_inside *entry, uint64_t argument),
				    uint64_t argument)
{
	for (int i = 0; i < ENTRIES_AT_FIRST; i++)
		if (function(&first_entries[i], argument))
			return &first_entries[i];
	for (struct entry_chunk *chunk = px_load_acquire(&entry_chunks); chunk; chunk = chunk->next)
		for (int i = 0; i < ENTRIES_IN_CHUNK; i++)
			if (function(&chunk->entry[i], argument))
				return &chunk->entry[i];
	return NULL;
}

static bool is_gone(uint64_t owner)
{
	return (uint32_t)owner != 0 && !px_procfs_has((uint32_t)owner);
}

static bool take_if_free(struct px_inside *entry, uint64_t owner)
{
	if (px_read_once(&entry->owner) != 0 ||
	    !px_compare_exchange(&entry->owner, UINT64_C(0), owner))
		return false;
	px_write_once(&entry->open, (uintptr_t)0); /* the former owner may have ended inside a trace point */
	return true;
}

/*
 * Free the entry if its thread has ended.  An entry with the tid of the calling thread belongs to an earlier thread,
 * unless a signal handler has just made the entry.
 */
static bool free_if_gone(struct px_inside *entry, uint64_t own)
{
	uint64_t owner = px_load_acquire(&entry->owner);

	if ((uint32_t)owner != 0 && entry != px_read_once(&px_thread.inside) &&
	    ((uint32_t)owner == (uint32_t)own || is_gone(owner)))
		px_compare_exchange(&entry->owner, owner, UINT64_C(0));
	return false;
}

static void *get_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static struct px_inside *add_chunk(uint64_t owner)
{
	struct entry_chunk *chunk = get_memory(sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->entry[0].owner = owner;
	do
		chunk->next = px_load_acquire(&entry_chunks);
	while (!px_compare_exchange(&entry_chunks, chunk->next, chunk));
	return &chunk->entry[0];
}

static uint64_t name_owner(uint32_t tid)
{
	uint32_t serial = px_fetch_add(&last_serial, 1) + 1;

	return (uint64_t)(serial != 0 ? serial : 1) << 32 | tid;
}

/* A child of vfork() takes the entry for the parent's thread, whose tid it does not know: so the tid is 0. */
static struct px_inside *take_entry(void)
{
	bool is_own = (uint32_t)syscall(SYS_getpid) == px_read_once(&px_gate.self.pid);
	uint64_t owner = name_owner(is_own ? (uint32_t)syscall(SYS_gettid) : 0);
	struct px_inside *entry;

	entry = find_entry(take_if_free, owner);
	if (!entry) {
		find_entry(free_if_gone, owner);
		entry = find_entry(take_if_free, owner);
	}
	return entry ? entry : add_chunk(owner);
}

/*
 * For a signal stack with SS_AUTODISARM, the kernel does not report that the thread is on it.  Then STACK_REACH must
 * tell the two stacks apart, which nearly always works.
 */
static bool is_on_signal_stack(void)
{
	int saved_errno = errno;
	stack_t stack;
	bool is_on = px_is_confined() || syscall(SYS_sigaltstack, NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK);

	errno = saved_errno;
	return is_on;
}

uintptr_t *px_inside_find_word(uintptr_t stack)
{
	static uintptr_t nowhere; /* nothing is freed any more, so no thread reads the word */
	struct px_inside *entry = px_thread.inside;
	uintptr_t open;

	if (!entry) {
		int saved_errno = errno;

		entry = px_is_confined() ? NULL : take_entry();
		errno = saved_errno;
		if (!entry) {
			px_inside_give_up();
			return &nowhere;
		}
		if (px_thread.inside) { /* a signal handler was faster */
			px_store_release(&entry->owner, UINT64_C(0));
			entry = px_thread.inside;
		}
		px_thread.inside = entry;
	}
	open = px_read_once(&entry->open);
	if (open == 0 || (stack >= open && stack - open < STACK_REACH && !is_on_signal_stack()))
		return &entry->open;
	return &entry->nested;
}

void px_inside_give_up(void)
{
	px_exchange(&has_given_up, 1);
}

/* Views. */

struct view_entry {
	struct px_view view; /* first: a pointer to it is one to the entry */
	struct view_entry *next;
	struct view_chunk *chunk;
	uint32_t is_retired;
};

struct view_chunk {
	uint64_t used; /* bit i: entry[i] */
	struct view_chunk *next;
	struct view_entry entry[VIEWS_IN_CHUNK];
};

static struct view_chunk *view_chunks;
static uint32_t nr_kept;	   /* retired views that are not freed yet */
static struct view_entry *retired; /* any thread adds to this list */

/* The views for which px_inside_reclaim() waits: only its thread uses this list. */
static struct view_entry *waiting;
static uint32_t is_waiting;    /* 1: the list of waiting views is not empty */
static uint32_t is_reclaiming; /* 1: a thread uses the list */

static struct px_view *take_view(struct view_chunk *chunk, unsigned int i)
{
	chunk->entry[i].chunk = chunk;
	px_write_once(&chunk->entry[i].is_retired, 0);
	return &chunk->entry[i].view;
}

struct px_view *px_inside_allocate(void)
{
	struct view_chunk *chunk;

	for (chunk = px_load_acquire(&view_chunks); chunk; chunk = chunk->next) {
		uint64_t used;

		while (~(used = px_read_once(&chunk->used)) != 0) {
			unsigned int i = (unsigned int)__builtin_ctzll(~used);

			if (!(px_fetch_or(&chunk->used, UINT64_C(1) << i) >> i & 1))
				return take_view(chunk, i);
		}
	}
	chunk = get_memory(sizeof(*chunk));
	if (!chunk)
		return NULL;
	chunk->used = 1;
	do
		chunk->next = px_load_acquire(&view_chunks);
	while (!px_compare_exchange(&view_chunks, chunk->next, chunk));
	return take_view(chunk, 0);
}

void px_inside_free(struct px_view *view)
{
	struct view_entry *entry = (struct view_entry *)view;

	px_fetch_and(&entry->chunk->used, ~(UINT64_C(1) << (entry - entry->chunk->entry)));
}

static void add_to_retired(struct view_entry *entry)
{
	do
		entry->next = px_load_acquire(&retired);
	while (!px_compare_exchange(&retired, entry->next, entry));
}

void px_inside_retire(struct px_view *view)
{
	struct view_entry *entry = (struct view_entry *)view;

	if (px_exchange(&entry->is_retired, 1) != 0)
		return;
	px_shm_retire(&view->mapping);
	px_fetch_add(&nr_kept, 1);
	add_to_retired(entry);
}

static bool await(struct px_inside *entry, uint64_t unused)
{
	uintptr_t open = px_read_once(&entry->owner) != 0 ? px_load_acquire(&entry->open) : 0;

	(void)unused;
	entry->awaited = open;
	return false;
}

/*
 * A thread that records events in a loop is nearly always inside a trace point.  Its word always has the same value,
 * because the calls come from the same stack frame.  So poll for a while, to see the word with another value.
 */
static bool is_awaited(struct px_inside *entry, uint64_t unused)
{
	uint64_t owner = px_read_once(&entry->owner);

	(void)unused;
	for (int i = 0; entry->awaited != 0 && i < POLLS; i++)
		if (px_load_acquire(&entry->open) != entry->awaited)
			entry->awaited = 0;
	if (entry->awaited != 0 && (owner == 0 || is_gone(owner)))
		entry->awaited = 0;
	return entry->awaited != 0;
}

static void free_waiting(void)
{
	while (waiting) {
		struct view_entry *entry = waiting;

		waiting = entry->next;
		px_shm_unmap(&entry->view.mapping);
		px_inside_free(&entry->view);
		px_fetch_add(&nr_kept, UINT32_MAX);
	}
}

static void put_back_waiting(void)
{
	while (waiting) {
		struct view_entry *entry = waiting;

		waiting = entry->next;
		add_to_retired(entry);
	}
}

/* Return false if there is nothing to wait for. */
static bool begin_to_wait(void)
{
	bool may_free;

	waiting = px_exchange(&retired, NULL);
	if (!waiting)
		return false;
	may_free = px_membarrier_all(); /* EDGE inside acquire */
	if (may_free && px_read_once(&has_given_up) == 0) {
		find_entry(await, 0);
		PX_TESTPOINT("inside.awaited");
		return true;
	}
	put_back_waiting();
	return false;
}

/*
 * Block signals: if a signal handler left this function by siglongjmp(), is_reclaiming would stay 1 for ever.  If
 * another thread reclaims at this moment, it may miss a view that was just retired.  The next call frees that view.
 */
void px_inside_reclaim(void)
{
	sigset_t all, before;

	if ((!px_read_once(&retired) && px_read_once(&is_waiting) == 0) ||
	    px_read_once(&has_given_up) != 0 || px_read_once(&px_gate.self.has_fork_handlers) == 0)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (px_compare_exchange(&is_reclaiming, 0, 1)) {
		while (waiting || begin_to_wait()) {
			if (find_entry(is_awaited, 0))
				break;
			free_waiting();
		}
		px_write_once(&is_waiting, waiting != NULL);
		px_store_release(&is_reclaiming, 0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/*
 * If a thread does not leave its trace point in time, wait again only when the number of views that are not freed has
 * doubled.
 */
void px_inside_settle(void)
{
	static uint32_t limit = KEPT_MAX;
	const struct timespec nap = {0, 1000000};

	for (int i = 0; !px_is_confined() && px_read_once(&nr_kept) > px_read_once(&limit) && i < NAPS_MAX;
	     i++) {
		syscall(SYS_nanosleep, &nap, NULL);
		px_inside_reclaim();
	}
	if (px_read_once(&nr_kept) > px_read_once(&limit))
		px_write_once(&limit, 2 * px_read_once(&nr_kept));
	else if (px_read_once(&nr_kept) <= KEPT_MAX)
		px_write_once(&limit, KEPT_MAX);
}

static bool keep_only_own(struct px_inside *entry, uint64_t owner)
{
	bool is_own = entry == px_thread.inside;

	px_write_once(&entry->owner, is_own ? owner : 0);
	if (!is_own)
		px_write_once(&entry->open, (uintptr_t)0);
	entry->awaited = 0;
	return false;
}

/*
 * The child has one thread.  If another thread of the parent was reclaiming views during fork(), the child cannot know
 * which of these views are already free.  So the child never frees them.
 */
void px_inside_after_fork(void)
{
	find_entry(keep_only_own, name_owner((uint32_t)syscall(SYS_gettid)));
	if (px_read_once(&is_reclaiming) == 0)
		put_back_waiting();
	waiting = NULL;
	px_write_once(&is_waiting, 0);
	px_write_once(&is_reclaiming, 0);
	px_write_once(&px_gate.self.has_fork_handlers, 1);
}
