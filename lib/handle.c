/* SPDX-License-Identifier: MIT */
#include "handle.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "clock.h"
#include "process.h"

#define PLACES 256
#define PLACE_BITS 8
#define EXIT_WAIT_NS 200000000 /* for all locks together */

_Static_assert(1 << PLACE_BITS == PLACES, "places are numbered in the low bits");
_Static_assert(PLACES > PX_STREAMS_MAX, "every stream that can exist has a place");

struct place {
	pthread_mutex_t mutex;
	pthread_cond_t nobody_left;
	unsigned long serial; /* of the last use; 1 is the first, so that 0 is no identifier */
	uint64_t owner;	      /* incarnation of the process; 0: never used */
	uint32_t nr_away;     /* threads that left and will return */
	bool is_open;
	struct px_stream *stream; /* NULL: free */
};

static struct place table[PLACES];

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

/* After fork, what another thread of the parent held is held by nobody. */
static void make_own(struct place *place, uint64_t owner)
{
	if (place->owner == owner)
		return;
	pthread_mutex_init(&place->mutex, NULL);
	pthread_cond_init(&place->nobody_left, NULL);
	place->is_open = false;
	place->stream = NULL;
	place->nr_away = 0;
	px_store_release(&place->owner, owner);
}

static void after_fork(void)
{
	pthread_mutex_init(&table_mutex, NULL);
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

int px_handle_open(struct px_stream *stream, unsigned long *id)
{
	uint64_t owner = px_process_incarnation();
	int error = ENOMEM;

	pthread_mutex_lock(&table_mutex);
	for (unsigned long i = 0; i < PLACES; i++) {
		struct place *place = &table[i];

		make_own(place, owner);
		if (place->stream)
			continue;
		pthread_mutex_lock(&place->mutex);
		place->stream = stream;
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

struct px_stream *px_handle_lock(unsigned long id)
{
	struct place *place = place_of(id);
	uint64_t owner = px_process_incarnation();

	if (px_load_acquire(&place->owner) != owner || owner == 0)
		return NULL;
	pthread_mutex_lock(&place->mutex);
	if (px_likely(is_valid(place, id)))
		return place->stream;
	pthread_mutex_unlock(&place->mutex);
	return NULL;
}

void px_handle_unlock(unsigned long id)
{
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
		pthread_cond_broadcast(&place->nobody_left);
	if (is_valid(place, id))
		return place->stream;
	pthread_mutex_unlock(&place->mutex);
	return NULL;
}

void px_handle_close(unsigned long id)
{
	place_of(id)->is_open = false;
}

void px_handle_release(unsigned long id, void (*free_stream)(struct px_stream *stream))
{
	struct place *place = place_of(id);

	while (place->nr_away > 0)
		pthread_cond_wait(&place->nobody_left, &place->mutex);
	pthread_mutex_unlock(&place->mutex);
	free_stream(place->stream); /* closed and left by all: nobody else can reach it */
	pthread_mutex_lock(&table_mutex);
	place->stream = NULL;
	pthread_mutex_unlock(&table_mutex);
}

void px_handle_close_all(void (*end_stream)(struct px_stream *stream))
{
	const struct timespec deadline = px_clock_timespec(px_clock_realtime_ns() + EXIT_WAIT_NS);
	uint64_t owner = px_process_incarnation();

	for (unsigned long i = 0; i < PLACES; i++) {
		struct place *place = &table[i];

		if (owner == 0 || px_load_acquire(&place->owner) != owner ||
		    pthread_mutex_timedlock(&place->mutex, &deadline) != 0)
			continue;
		if (place->is_open) {
			place->is_open = false;
			end_stream(place->stream);
		}
		pthread_mutex_unlock(&place->mutex);
	}
}
