/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/views.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/confined.h"
#include "base/kernel_time.h"
#include "base/membarrier.h"
#include "trace/inside.h"
#include "trace/process.h"

#define VIEWS_IN_CHUNK 64
#define KEPT_MAX 8
#define NAPS_MAX 50

struct view_entry {
	struct px_view view; /* first member, so a pointer to the view is also a pointer to the entry */
	struct view_entry *next;
	struct view_chunk *chunk;
	uint32_t is_retired;
};

struct view_chunk {
	uint64_t used; /* bit i: entry[i] is in use */
	struct view_chunk *next;
	struct view_entry entry[VIEWS_IN_CHUNK];
};

static struct view_chunk *view_chunks;
static uint32_t nr_kept;	   /* retired views that are not freed yet */
static struct view_entry *retired; /* any thread adds to this list */

/* The views for which px_views_reclaim() waits: only its thread uses this list. */
static struct view_entry *waiting;
static uint32_t is_waiting;    /* 1: the list of waiting views is not empty */
static uint32_t is_reclaiming; /* 1: a thread uses the list */

static struct px_view *take_view(struct view_chunk *chunk, unsigned int i)
{
	chunk->entry[i].chunk = chunk;
	px_write_once(&chunk->entry[i].is_retired, 0);
	return &chunk->entry[i].view;
}

struct px_view *px_views_allocate(void)
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
	chunk = mmap(NULL, sizeof(*chunk), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		return NULL;
	chunk->used = 1;
	do
		chunk->next = px_load_acquire(&view_chunks);
	while (!px_compare_exchange(&view_chunks, chunk->next, chunk));
	return take_view(chunk, 0);
}

void px_views_free(struct px_view *view)
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

void px_views_retire(struct px_view *view)
{
	struct view_entry *entry = (struct view_entry *)view;

	if (px_exchange(&entry->is_retired, 1) != 0)
		return;
	px_shm_retire(&view->mapping);
	px_fetch_add(&nr_kept, 1);
	add_to_retired(entry);
}

static void free_waiting(void)
{
	while (waiting) {
		struct view_entry *entry = waiting;

		waiting = entry->next;
		px_shm_unmap(&entry->view.mapping);
		px_views_free(&entry->view);
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
	if (may_free && !px_inside_has_given_up()) {
		px_inside_await();
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
void px_views_reclaim(void)
{
	sigset_t all, before;

	if ((!px_read_once(&retired) && px_read_once(&is_waiting) == 0) ||
	    px_inside_has_given_up() || px_read_once(&px_gate.self.has_fork_handlers) == 0)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (px_compare_exchange(&is_reclaiming, 0, 1)) {
		while (waiting || begin_to_wait()) {
			if (px_inside_is_awaited())
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
void px_views_settle(void)
{
	static uint32_t limit = KEPT_MAX;
	const struct px_kernel_time nap = {0, 1000000};

	for (int i = 0; !px_is_confined() && px_read_once(&nr_kept) > px_read_once(&limit) && i < NAPS_MAX;
	     i++) {
		px_kernel_sleep(&nap);
		px_views_reclaim();
	}
	if (px_read_once(&nr_kept) > px_read_once(&limit))
		px_write_once(&limit, 2 * px_read_once(&nr_kept));
	else if (px_read_once(&nr_kept) <= KEPT_MAX)
		px_write_once(&limit, KEPT_MAX);
}

/*
 * If another thread of the parent was reclaiming views during fork(), the child cannot know which of these views are
 * already free.  So the child never frees them.
 */
void px_views_after_fork(void)
{
	if (px_read_once(&is_reclaiming) == 0)
		put_back_waiting();
	waiting = NULL;
	px_write_once(&is_waiting, 0);
	px_write_once(&is_reclaiming, 0);
}
