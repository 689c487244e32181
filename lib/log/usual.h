/* SPDX-License-Identifier: MIT */
/*
 * Stage many usual events of a log one after the other.  A usual event has one entry, and its frame has its thread and
 * its site already: a user event of a thread that has another event in this chapter, while no pause, round or volume
 * begins.  px_log_append() stages all other events.
 *
 *	px_usual_begin()	begins a run.  While there is a run, the caller calls no other function of the log.
 *	px_usual_add()		lays out an event, if it is usual and there is room
 *	px_usual_keep()		makes the event that was laid out last a part of the log.  Without this call, the next
 *				event takes its place: so a caller can copy an event out of a ring, and then find
 *				out whether a writer has overwritten it meanwhile.
 *	px_usual_end()		ends the run
 *
 * What a run stages, px_log_append() would stage, too.
 */
#ifndef PX_LOG_USUAL_H
#define PX_LOG_USUAL_H

#include "log/log.h"
#include "log/pack.h"

#define PX_USUAL_CACHE 8 /* number of threads, and of sites, that a run finds without a search */

/* An event with the members that TXTB and a frame have. */
struct px_usual_event {
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread;
	uint32_t pid;
	uint32_t id;
	uint32_t flags; /* of PX_LOG_RECORD_FLAGS */
	uint32_t context, priority;
	uint32_t cpu; /* at most 255 */
	uint32_t length;
	uint64_t first, second; /* the first 16 bytes of data, and zeros if there are fewer */
};

/* A thread of the frame. */
struct px_usual_thread {
	uint32_t handle; /* none: one that has another place */
	uint32_t pid;
	uint64_t thread;
	uint64_t *last; /* the position of the last entry of this thread */
};

struct px_usual {
	struct px_log *log;
	struct px_pack_run pack;
	struct px_txtb_entry *entries_end; /* end of the room for entries */
	uint64_t base_ns;
	uint64_t ahead;	   /* a stamp is the number of ticks since base_ns, plus this */
	uint64_t frame_ns; /* what a reader of the frame adds to the exact time of a stamp */
	struct px_usual_thread thread[PX_USUAL_CACHE]; /* index: handle */
	struct px_pack_site site[PX_USUAL_CACHE];      /* index: address; kind 0: none */
};

/* Where the next event goes.  The caller passes no address of it to others, so it is in registers. */
struct px_usual_place {
	struct px_txtb_entry *entry;
	unsigned char *to;
	uint64_t position;
	uint64_t real;	  /* ticks from base_ns to the last event */
	uint64_t last_ns; /* the time of the last event */
	uint64_t *last;	  /* see struct px_usual_thread */
};

/*
 * Begin a run.  Return false if the next event is not a usual one, whatever it is.  Then there is no run.
 * earliest_ns: no event of the run is older.
 */
bool px_usual_begin(struct px_log *log, uint64_t earliest_ns, struct px_usual *run, struct px_usual_place *at);

void px_usual_end(struct px_usual *run, struct px_usual_place at);

/*
 * Put the thread, or the site, into the cache.  Return false if the frame does not have it.  (No function gets the
 * address of an event: then the compiler keeps its members in registers.)
 */
bool px_usual_find_thread(struct px_usual *run, uint32_t handle, uint32_t pid, uint64_t thread);
bool px_usual_find_site(struct px_usual *run, uint64_t address, uint64_t kind);

PX_INLINE struct px_usual_thread *px_usual_thread_of(struct px_usual *run, uint32_t handle)
{
	return &run->thread[handle % PX_USUAL_CACHE];
}

PX_INLINE struct px_pack_site *px_usual_site_of(struct px_usual *run, uint64_t address)
{
	return &run->site[address % PX_USUAL_CACHE];
}

PX_INLINE bool px_usual_has_thread(struct px_usual *run, const struct px_usual_event *event)
{
	const struct px_usual_thread *thread = px_usual_thread_of(run, event->context);

	return px_likely(thread->handle == event->context && thread->pid == event->pid &&
			 thread->thread == event->thread) ||
	       px_usual_find_thread(run, event->context, event->pid, event->thread);
}

PX_INLINE bool px_usual_has_site(struct px_usual *run, uint64_t address, uint64_t kind)
{
	const struct px_pack_site *site = px_usual_site_of(run, address);

	return px_likely(site->kind == kind && site->address == address) || px_usual_find_site(run, address, kind);
}

/*
 * Lay out an event.  *next gets the place behind it.  Return the address for its data after the first 16 bytes; the
 * caller may write 7 bytes more.  Return NULL if the event is not a usual one.
 */
PX_INLINE unsigned char *px_usual_add(struct px_usual *run, const struct px_usual_place *at,
				      const struct px_usual_event *event, struct px_usual_place *next)
{
	bool is_long = event->length > PX_RECORD_FIRST_BYTES;
	size_t more = is_long ? event->length - PX_RECORD_FIRST_BYTES : 0;
	uint64_t since_ns = event->time_ns - run->base_ns;
	uint64_t real = since_ns / PX_LOG_TICK_NS, above = since_ns - real * PX_LOG_TICK_NS - run->frame_ns;
	uint64_t kind = px_pack_kind(event->id, event->flags, is_long ? 0 : event->length,
				     is_long ? PX_FRAME_LONG : 0);
	struct px_txtb_entry *entry = at->entry;
	unsigned char *to = at->to;

	/* If the event is older than the last stamp, the difference is very large. */
	if (px_unlikely(event->time_ns < at->last_ns || event->time_ns < run->base_ns ||
			real - at->real > PX_LOG_GAP_TICKS || above >= PX_FRAME_LATER ||
			entry == run->entries_end || to >= run->pack.limit ||
			event->length > (size_t)(run->pack.limit - to)))
		return NULL;
	if (!px_usual_has_thread(run, event) || !px_usual_has_site(run, event->address, kind))
		return NULL;
	entry->context = event->context;
	entry->priority = event->priority;
	entry->id = event->cpu << 24 | (PX_TXTB_USER_EVENT + event->id);
	entry->stamp = (uint32_t)(real + run->ahead);
	memcpy(entry->info, &event->first, sizeof(event->first));
	memcpy(entry->info + 2, &event->second, sizeof(event->second));
	to = px_pack_put_site(to, px_usual_site_of(run, event->address));
	*to++ = (unsigned char)above;
	if (more)
		to = px_varint_put(to, event->length);
	*next = (struct px_usual_place){.entry = entry + 1,
					.to = to + more,
					.position = at->position + 1,
					.real = real,
					.last_ns = event->time_ns,
					.last = px_usual_thread_of(run, event->context)->last};
	return to;
}

/* Keep the event that was laid out last, and continue behind it. */
PX_INLINE void px_usual_keep(struct px_usual_place *at, const struct px_usual_place *next)
{
	*next->last = at->position;
	*at = *next;
}

#endif
