/* SPDX-License-Identifier: MIT */
/*
 * The calls of an unmodified program as ThreadX would have recorded them: what an image shows for each record.
 *
 * A record becomes one entry, its *own*, and some that are there for the image alone (entries.h).  What a call is,
 * calls.def and rules.h say; what has to be remembered from one to the next is in two parts: which object an
 * address or a descriptor is just now (resolve.h), and who gave it up last and which threads wait (wakers.h).
 * A call goes through them in that order (call.h).
 *
 *	call				the native event
 *	call that begins to wait	the native event, SUSPEND of the thread
 *	the same when it is over	RESUME in the context of who woke it, RUNNING
 *	end of a thread			RESUME of who joins it, SUSPEND
 *
 * Who woke a thread is the one that gave up the object that it waited for; where that is not known, or sleeps by now,
 * the idle thread does it.  A thread that is heard of while it sleeps (in a handler, or because the end of its wait was
 * lost) is woken ahead of that.  So what a thread sleeps is never charged to it.
 *
 * RUNNING has no words of its own.  Its own entry has in them what txtrace_get_call() tells of the end of a wait: the
 * object, the state, and who woke the thread, whether or not it sleeps.
 *
 * Objects are those of objects.h: an address is one until it is destroyed, a descriptor until it is closed.
 *
 * Whatever a record says is input.  One thread at a time; the caller sees to it.
 */
#ifndef PX_CALLS_TRANSLATE_H
#define PX_CALLS_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/entries.h"
#include "calls/objects.h"
#include "event/threads.h"
#include "ring/record.h"

struct px_translator;

/* threads: who contexts are.  NULL: no memory. */
struct px_translator *px_translator_make(const struct px_threads *threads);
void px_translator_free(struct px_translator *translator);

/* What is shown of this record, of which length bytes of data are there. */
void px_translate(struct px_translator *translator, const struct px_record *record,
		  const void *data, size_t length, struct px_translation *translation);

/* The same as a user event, whatever it is. */
void px_translate_plainly(const struct px_record *record, const void *data, size_t length,
			  struct px_translation *translation);

/* Its own entry alone. */
void px_translate_own_plainly(const struct px_record *record, const void *data, size_t length,
			      struct px_translation *translation);

/* True if the record is of a call, and whole enough to be shown as one. */
bool px_translate_is_call(const struct px_record *record, size_t length);

/* NULL: it is not known, or not any more. */
const struct px_call_object *px_translator_find(const struct px_translator *translator,
						uint32_t handle);

/* What a log knows of an object that is not destroyed, or of a thread: for who goes on with it. */
void px_translator_restore(struct px_translator *translator, const struct px_object *object,
			   uint64_t address, uint64_t site);
struct px_call_objects *px_translator_objects(struct px_translator *translator);

#endif
