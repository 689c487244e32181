/* SPDX-License-Identifier: MIT */
#include "stream/handle.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/confined.h"
#include "ring/wakeup.h"
#include "stream/stream.h"
#include "trace/process.h"

#if __SIZEOF_LONG__ == 8
#define ENTRY_BITS 20
#else
#define ENTRY_BITS 12
#endif
#define CHUNK_BITS 8
#define ENTRIES_IN_CHUNK (1UL << CHUNK_BITS)
#define CHUNKS (1UL << (ENTRY_BITS - CHUNK_BITS))
#define EXIT_PAUSE_NS UINT64_C(1000000000)
#define EXIT_WAIT_NS 200000000 /* longest wait for all locks together */

_Static_assert(ENTRIES_IN_CHUNK > PX_STREAMS_MAX, "there is an entry for every stream");

struct entry {
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* the identifier was closed, nr_away is 0, or px_handle_wake() was called */
	unsigned long serial;	/* counts the uses of this entry from 1, so no identifier is 0 */
	uint64_t owner;		/* number of the process that opened it (this_process()); 0: never used */
	uint32_t nr_away;	/* threads between px_handle_leave() and px_handle_return() */
	bool is_open;
	bool has_exited;	 /* px_handle_close_all() has closed it */
	bool is_busy;		 /* the entry is locked, in the process that opened it */
	struct px_handle handle; /* both NULL: free */
};

/* The table grows by chunks, which are never freed: a thread may use an old identifier at any time. */
static struct entry first_chunk[ENTRIES_IN_CHUNK];
static struct entry *chunks[CHUNKS] = {first_chunk};
static unsigned long nr_used; /* entries that are or were in use */

static pthread_t exiting_thread; /* valid if has_exited is set in an entry */

/* This mutex protects the decision which entries are in use.  A thread takes it before the mutex of an entry. */
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Return the entry with this index, or NULL if its chunk does not exist. */
static struct entry *entry_at(unsigned long index)
{
	struct entry *chunk = px_load_acquire(&chunks[index >> CHUNK_BITS]);

	return chunk ? &chunk[index & (ENTRIES_IN_CHUNK - 1)] : NULL;
}

/* If the number is not a valid identifier, the entry may be one that was never used. */
static struct entry *entry_of(unsigned long id)
{
	static struct entry unused;
	struct entry *entry = entry_at(id & ((1UL << ENTRY_BITS) - 1));

	return px_likely(entry) ? entry : &unused;
}

static bool is_valid(const struct entry *entry, unsigned long id)
{
	return entry->is_open && entry->serial == id >> ENTRY_BITS;
}

/*
 * In a child made by fork, prepare an entry of the parent for use.  Other threads of the parent may have held the
 * locks, and these threads do not exist in the child.  So initialize the locks again.  An archive that was in use is
 * not valid in the child, because its cursor may be in an inconsistent state.
 */
static void inherit_entry(struct entry *entry, uint64_t owner)
{
	if (entry->owner == owner)
		return;
	pthread_mutex_init(&entry->mutex, NULL);
	pthread_cond_init(&entry->changed, NULL);
	entry->handle.stream = NULL;
	if (!entry->handle.archive || entry->is_busy) {
		entry->is_open = false;
		entry->handle.archive = NULL;
	}
	entry->is_busy = false;
	entry->has_exited = false;
	entry->nr_away = 0;
	px_store_release(&entry->owner, owner);
}

/*
 * Release the memory of the parent's streams now, because the child may run for a long time.  inherit_entry() does the
 * rest when the child uses an entry.
 */
static void after_fork(void)
{
	pthread_mutex_init(&table_mutex, NULL);
	for (unsigned long i = 0; i < nr_used && !px_is_confined(); i++)
		if (entry_at(i)->handle.stream)
			px_stream_drop(entry_at(i)->handle.stream);
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

/*
 * Return the number of this process, which differs from that of its parent.  Without a registry, which an analyzer does
 * not need, a child made by fork gets the same number as its parent.
 */
static uint64_t this_process(void)
{
	uint64_t incarnation = px_process_incarnation();

	return px_likely(incarnation != 0) ? incarnation : UINT64_MAX;
}

static bool is_free(const struct entry *entry)
{
	return !entry->handle.stream && !entry->handle.archive;
}

/*
 * Do the same as entry_at(), but make the chunk if it does not exist.  Return NULL if there is no memory, or if the
 * index is too large.
 */
static struct entry *make_entry(unsigned long index)
{
	unsigned long number = index >> CHUNK_BITS;

	if (number == CHUNKS)
		return NULL;
	if (!chunks[number])
		px_store_release(&chunks[number], calloc(ENTRIES_IN_CHUNK, sizeof(struct entry)));
	return entry_at(index);
}

int px_handle_open(struct px_handle handle, unsigned long *id)
{
	uint64_t owner = this_process();
	int error = ENOMEM;
	struct entry *entry;

	pthread_mutex_lock(&table_mutex);
	for (unsigned long i = 0; (entry = make_entry(i)); i++) {
		inherit_entry(entry, owner);
		if (!is_free(entry))
			continue;
		pthread_mutex_lock(&entry->mutex);
		if (i >= nr_used)
			px_store_release(&nr_used, i + 1);
		entry->handle = handle;
		/* px_handle_has_exited() reads both without a lock, also for a stream that had this entry before. */
		px_write_once(&entry->serial, entry->serial + 1);
		px_write_once(&entry->has_exited, false);
		entry->is_open = true;
		*id = entry->serial << ENTRY_BITS | i;
		pthread_mutex_unlock(&entry->mutex);
		error = 0;
		break;
	}
	pthread_mutex_unlock(&table_mutex);
	return error;
}

static PX_COLD bool adopt(struct entry *entry, uint64_t owner)
{
	if (px_load_acquire(&entry->owner) == 0 || !entry->handle.archive)
		return false;
	pthread_mutex_lock(&table_mutex);
	inherit_entry(entry, owner);
	pthread_mutex_unlock(&table_mutex);
	return true;
}

/*
 * Return true if the entry belongs to this process.  If the entry has an archive of the parent, this call makes it an
 * entry of the child.
 */
PX_INLINE bool is_own(struct entry *entry)
{
	uint64_t owner = this_process();

	return px_likely(px_load_acquire(&entry->owner) == owner) || adopt(entry, owner);
}

bool px_handle_lock_any(unsigned long id, struct px_handle *handle)
{
	struct entry *entry = entry_of(id);

	if (!is_own(entry))
		return false;
	pthread_mutex_lock(&entry->mutex);
	if (px_likely(is_valid(entry, id))) {
		entry->is_busy = true;
		*handle = entry->handle;
		return true;
	}
	pthread_mutex_unlock(&entry->mutex);
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
	struct entry *entry = entry_of(id);

	entry->is_busy = false;
	pthread_mutex_unlock(&entry->mutex);
}

void px_handle_leave(unsigned long id)
{
	struct entry *entry = entry_of(id);

	entry->nr_away++;
	pthread_mutex_unlock(&entry->mutex);
}

struct px_stream *px_handle_return(unsigned long id)
{
	struct entry *entry = entry_of(id);

	pthread_mutex_lock(&entry->mutex);
	if (--entry->nr_away == 0)
		pthread_cond_broadcast(&entry->changed);
	if (is_valid(entry, id))
		return entry->handle.stream;
	pthread_mutex_unlock(&entry->mutex);
	return NULL;
}

bool px_handle_wait(unsigned long id)
{
	struct entry *entry = entry_of(id);

	entry->nr_away++;
	pthread_cond_wait(&entry->changed, &entry->mutex);
	if (--entry->nr_away == 0)
		pthread_cond_broadcast(&entry->changed);
	if (is_valid(entry, id))
		return true;
	pthread_mutex_unlock(&entry->mutex);
	return false;
}

void px_handle_wake(unsigned long id)
{
	pthread_cond_broadcast(&entry_of(id)->changed);
}

void px_handle_close(unsigned long id)
{
	entry_of(id)->is_open = false;
	px_handle_wake(id);
}

void px_handle_drain(unsigned long id)
{
	struct entry *entry = entry_of(id);

	while (entry->nr_away > 0)
		pthread_cond_wait(&entry->changed, &entry->mutex);
}

bool px_handle_drain_for(unsigned long id, uint64_t ns)
{
	const struct timespec deadline = px_clock_timespec(px_clock_program_realtime_ns() + ns);
	struct entry *entry = entry_of(id);

	while (entry->nr_away > 0)
		if (pthread_cond_timedwait(&entry->changed, &entry->mutex, &deadline) != 0)
			return false;
	return true;
}

void px_handle_release(unsigned long id)
{
	struct entry *entry = entry_of(id);

	pthread_mutex_unlock(&entry->mutex);
	pthread_mutex_lock(&table_mutex);
	entry->handle = (struct px_handle){NULL, NULL};
	entry->is_busy = false;
	pthread_mutex_unlock(&table_mutex);
}

bool px_handle_has_exited(unsigned long id)
{
	struct entry *entry = entry_of(id);

	return px_load_acquire(&entry->has_exited) && is_own(entry) &&
	       px_read_once(&entry->serial) == id >> ENTRY_BITS && !pthread_equal(exiting_thread, pthread_self());
}

void px_handle_stay_at_exit(unsigned long id)
{
	while (px_handle_has_exited(id))
		px_wakeup_pause(EXIT_PAUSE_NS);
}

void px_handle_close_all(void (*end_stream)(unsigned long id, struct px_stream *stream))
{
	const struct timespec deadline = px_clock_timespec(px_clock_realtime_ns() + EXIT_WAIT_NS);
	uint64_t owner = this_process();

	exiting_thread = pthread_self();
	for (unsigned long i = 0; i < px_load_acquire(&nr_used); i++) {
		struct entry *entry = entry_at(i);

		if (px_load_acquire(&entry->owner) != owner || !entry->handle.stream ||
		    pthread_mutex_timedlock(&entry->mutex, &deadline) != 0)
			continue;
		if (entry->is_open && entry->handle.stream) {
			unsigned long id = entry->serial << ENTRY_BITS | i;

			px_store_release(&entry->has_exited, true);
			px_handle_close(id);
			end_stream(id, entry->handle.stream);
		}
		pthread_mutex_unlock(&entry->mutex);
	}
}
