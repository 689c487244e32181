/* SPDX-License-Identifier: MIT */
/* Which objects, threads and names the numbers in events stand for: the part of a source that only source.c uses. */
#ifndef TXTRACE_TRACE_SOURCE_NAMES_H
#define TXTRACE_TRACE_SOURCE_NAMES_H

#include "trace/source.h"

/*
 * Fill by_tid and by_address at the first use.  If several objects had the same tid or address at different times, use
 * the newest object.
 */
void source_index(struct source *source);
void source_forget_index(struct source *source);

/*
 * Return the thread of a scheduling record.  The log may have learned the thread after it stored the record: then later
 * events show it.  If several threads had its tid, the log may name the one that had it last.  So it is the
 * thread that recorded an event with this tid before, or the next thread if that one has ended.
 */
unsigned int source_find_context(struct source *source, const struct event *event);

/* Note which thread has a tid that other threads have, too. */
void source_note_tid(struct source *source, const struct event *event);

#endif
