/* SPDX-License-Identifier: MIT */
#include "stream/handle.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "base/clock.h"
#include "stream/stream.h"
#include "trace/process.h"

#define PLACES 256
#define PLACE_BITS 8
#define EXIT_WAIT_NS 200000000 /* for all locks together */

_Static_assert(1 << PLACE_BITS == PLACES, "places are numbered in the low bits");
_Static_assert(PLACES > PX_STREAMS_MAX, "every stream that can exist has a place");

struct place {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* closed, nobody away any more, or px_handle_wake() */
	unsigned long serial;	/* of the last use; 1 is the first, so that 0 is no identifier */
	uint64_t owner;		/* incarnation of the process; 0: never used */
	uint32_t nr_away;	/* threads that left and will return */
	bool is_open;
	bool is_busy;		 /* locked, in the process that opened it */
	struct px_handle handle; /* both NULL: free */
};

static struct place table[PLACES];
static unsigned long nr_used; /* places; the others were never */

/* Protects who uses which place.  Taken before a place's own. */
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct place *place_of(unsigned long id)
{
	return &table[id & (PLACES - 1)];
}

static bool is_valid(const struct place *place, unsigned long id)
{
	return place->is_open && place->serial == id >> PLACE_BITS;
}

/*
 * After fork, what another thread of the parent held is held by nobody.  An archive that was in use then is
 * lost to the child, since its cursor is anywhere.
 */
static void make_own(struct place *place, uint64_t owner)
{
	if (place->owner == owner)
		return;
	pthread_mutex_init(&place->mutex, NULL);
	pthread_cond_init(&place->changed, NULL);
	place->handle.stream = NULL;
	if (!place->handle.archive || place->is_busy) {
		place->is_open = false;
		place->handle.archive = NULL;
	}
	place->is_busy = false;
	place->nr_away = 0;
	px_store_release(&place->owner, owner);
}

/* The memory of streams at once: the child may live long, and create none.  All else is when it is wanted. */
static void after_fork(void)
{
	pthread_mutex_init(&table_mutex, NULL);
	for (unsigned long i = 0; i < nr_used; i++)
		if (table[i].handle.stream)
			px_stream_drop(table[i].handle.stream);
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

/* An analyzer may have no registry; then all that is lost is that a child cannot be told apart. */
static uint64_t this_process(void)
{
	uint64_t incarnation = px_process_incarnation();

	return px_likely(incarnation != 0) ? incarnation : UINT64_MAX;
}

static bool is_free(const struct place *place)
{
	return !place->handle.stream && !place->handle.archive;
}

int px_handle_open(struct px_handle handle, unsigned long *id)
{
	uint64_t owner = this_process();
	int error = ENOMEM;

	pthread_mutex_lock(&table_mutex);
	for (unsigned long i = 0; i < PLACES; i++) {
		struct place *place = &table[i];

		make_own(place, owner);
		if (!is_free(place))
			continue;
		pthread_mutex_lock(&place->mutex);
		if (i >= nr_used)
			nr_used = i + 1;
		place->handle = handle;
		place->serial++;
		place->is_open = true;
		*id = place->serial << PLACE_BITS | i;
		pthread_mutex_unlock(&place->mutex);
		error = 0;
		break;
	}
	pthread_mutex_unlock(&table_mutex);
	return error;
}

/* In a child, an archive of the parent becomes its own. */
static bool is_own(struct place *place)
{
	uint64_t owner = this_process();

	if (px_likely(px_load_acquire(&place->owner) == owner))
		return true;
	if (px_load_acquire(&place->owner) == 0 || !place->handle.archive)
		return false;
	pthread_mutex_lock(&table_mutex);
	make_own(place, owner);
	pthread_mutex_unlock(&table_mutex);
	return true;
}

bool px_handle_lock_any(unsigned long id, struct px_handle *handle)
{
	struct place *place = place_of(id);

	if (!is_own(place))
		return false;
	pthread_mutex_lock(&place->mutex);
	if (px_likely(is_valid(place, id))) {
		place->is_busy = true;
		*handle = place->handle;
		return true;
	}
	pthread_mutex_unlock(&place->mutex);
	return false;
}

struct px_stream *px_handle_lock(unsigned long id)
{
	struct px_handle handle;

	if (!px_handle_lock_any(id, &handle))
		return NULL;
	if (px_unlikely(!handle.stream))
		px_handle_unlock(id);
	return handle.stream;
}

struct px_archive *px_handle_lock_archive(unsigned long id)
{
	struct px_handle handle;

	if (!px_handle_lock_any(id, &handle))
		return NULL;
	if (!handle.archive)
		px_handle_unlock(id);
	return handle.archive;
}

void px_handle_unlock(unsigned long id)
{
	place_of(id)->is_busy = false;
	pthread_mutex_unlock(&place_of(id)->mutex);
}

void px_handle_leave(unsigned long id)
{
	struct place *place = place_of(id);

	place->nr_away++;
	pthread_mutex_unlock(&place->mutex);
}

struct px_stream *px_handle_return(unsigned long id)
{
	struct place *place = place_of(id);

	pthread_mutex_lock(&place->mutex);
	if (--place->nr_away == 0)
		pthread_cond_broadcast(&place->changed);
	if (is_valid(place, id))
		return place->handle.stream;
	pthread_mutex_unlock(&place->mutex);
	return NULL;
}

bool px_handle_wait(unsigned long id)
{
	struct place *place = place_of(id);

	place->nr_away++;
	pthread_cond_wait(&place->changed, &place->mutex);
	if (--place->nr_away == 0)
		pthread_cond_broadcast(&place->changed);
	if (is_valid(place, id))
		return true;
	pthread_mutex_unlock(&place->mutex);
	return false;
}

void px_handle_wake(unsigned long id)
{
	pthread_cond_broadcast(&place_of(id)->changed);
}

void px_handle_close(unsigned long id)
{
	place_of(id)->is_open = false;
	px_handle_wake(id);
}

void px_handle_drain(unsigned long id)
{
	struct place *place = place_of(id);

	while (place->nr_away > 0)
		pthread_cond_wait(&place->changed, &place->mutex);
}

bool px_handle_drain_for(unsigned long id, uint64_t ns)
{
	const struct timespec deadline = px_clock_timespec(px_clock_realtime_ns() + ns);
	struct place *place = place_of(id);

	while (place->nr_away > 0)
		if (pthread_cond_timedwait(&place->changed, &place->mutex, &deadline) != 0)
			return false;
	return true;
}

void px_handle_release(unsigned long id)
{
	struct place *place = place_of(id);

	pthread_mutex_unlock(&place->mutex);
	pthread_mutex_lock(&table_mutex);
	place->handle = (struct px_handle){NULL, NULL};
	place->is_busy = false;
	pthread_mutex_unlock(&table_mutex);
}

void px_handle_close_all(void (*end_stream)(unsigned long id, struct px_stream *stream))
{
	const struct timespec deadline = px_clock_timespec(px_clock_realtime_ns() + EXIT_WAIT_NS);
	uint64_t owner = this_process();

	for (unsigned long i = 0; i < PLACES; i++) {
		struct place *place = &table[i];

		if (px_load_acquire(&place->owner) != owner || !place->handle.stream ||
		    pthread_mutex_timedlock(&place->mutex, &deadline) != 0)
			continue;
		if (place->is_open && place->handle.stream) {
			unsigned long id = place->serial << PLACE_BITS | i;

			px_handle_close(id);
			end_stream(id, place->handle.stream);
		}
		pthread_mutex_unlock(&place->mutex);
	}
}
