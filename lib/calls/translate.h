/* SPDX-License-Identifier: MIT */
/*
 * Translate the calls of an unmodified program into the entries that ThreadX would have recorded in
 * an image.
 *
 * A record becomes one entry, its *own* entry, and others that exist only in the image (entries.h).
 * calls.def and rules.h define the event of a call.  Two parts keep state between calls: the object
 * of an address or a descriptor (resolve.h), and the releasers and waiters of objects (wakers.h).
 * A call passes through them in that order (call.h).
 *
 *	call				the native event
 *	call that starts to wait	the native event, SUSPEND of the thread
 *	end of a call that waited	RESUME in the context of the waker, RUNNING
 *	end of a thread			RESUME of the thread that joins it, SUSPEND
 *
 * The waker of a thread is the thread that released the object it waited for.  If the waker is
 * unknown, or is suspended by now, the idle thread takes its place.  A suspended thread may record
 * an event, because a signal handler runs in it or the end of its wait was lost.  Then it is
 * resumed before that event.  So the time of a wait is never counted as CPU time of the thread.
 *
 * The native event RUNNING uses no words.  In an own entry RUNNING, the words hold what
 * txtrace_get_call() returns for the end of a wait: the object, the state, and the waker, even if
 * the waker is suspended.
 *
 * The objects are defined in objects.h.  An address refers to one object until the object is
 * destroyed.  A descriptor refers to one object until the descriptor is closed.
 *
 * Records are untrusted input.  The caller ensures that only one thread at a time uses a translator.
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

/* Make a translator.  threads: the threads of the contexts.  Return NULL if there is no memory. */
struct px_translator *px_translator_make(const struct px_threads *threads);
void px_translator_free(struct px_translator *translator);

/* Translate a record with length bytes of data into entries. */
void px_translate(struct px_translator *translator, const struct px_record *record,
		  const void *data, size_t length, struct px_translation *translation);

/* Translate a record into a user event, even if it is a call. */
void px_translate_plainly(const struct px_record *record, const void *data, size_t length,
			  struct px_translation *translation);

/* Replace only the own entry by a user event. */
void px_translate_own_plainly(const struct px_record *record, const void *data, size_t length,
			      struct px_translation *translation);

/* Return true if the record is of a call and complete enough to be shown as a call. */
bool px_translate_is_call(const struct px_record *record, size_t length);

/* Return the object, or NULL if it is unknown or was forgotten. */
const struct px_call_object *px_translator_find(const struct px_translator *translator,
						uint32_t handle);

/*
 * Restore an object that is not destroyed, or a thread, from a log, in order to continue the log.
 */
void px_translator_restore(struct px_translator *translator, const struct px_object *object,
			   uint64_t address, uint64_t site);
struct px_call_objects *px_translator_objects(struct px_translator *translator);

#endif
