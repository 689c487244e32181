/* SPDX-License-Identifier: MIT */
/*
 * Translate the calls of an unmodified program into the entries that ThreadX would have recorded in
 * an image.
 *
 * The translator makes one entry from a record, its *own* entry.  It may add other entries, which exist only in the
 * image (entries.h).  rules.h finds the native event of a call in calls.def.  Two modules keep state between calls:
 * resolve.h knows the object of an address or a descriptor, and wakers.h knows the threads that release objects or wait
 * for them.  Each call passes through resolve.h, rules.h and wakers.h in this order (call.h).
 *
 *	call				the native event
 *	call that starts to wait	the native event, SUSPEND of the thread
 *	end of a call that waited	RESUME in the context of the waker, RUNNING
 *	end of a thread			RESUME of the thread that joins it, SUSPEND
 *
 * If a thread waits for an object, its waker is the thread that released the object.  If the waker is unknown, or is
 * itself suspended at that time, RESUME has the context of the idle thread.  A suspended thread may record an event: a
 * signal handler may run in it, or the record of the end of its wait may be lost.  Then the translator adds RESUME
 * before that event.  So the time of a wait never counts as CPU time of the thread.
 *
 * In ThreadX the event RUNNING uses no information words.  If RUNNING is a record's own entry, its words hold the data
 * that txtrace_get_call() returns for the end of a wait: the object, the state, and the waker, even if the waker is
 * suspended.
 *
 * The objects are defined in objects.h.  An address refers to one object until the object is
 * destroyed.  A descriptor refers to one object until the descriptor is closed.
 *
 * Records are untrusted input.  The caller ensures that only one thread at a time uses a
 * translator.
 */
#ifndef PX_CALLS_TRANSLATE_H
#define PX_CALLS_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/entries.h"
#include "calls/objects.h"
#include "event/threadmap.h"
#include "ring/record.h"

struct px_translator;

/*
 * Make a translator.  The translator finds the thread of each event in `threads`.  Return NULL if there is no memory.
 */
struct px_translator *px_translator_make(const struct px_threadmap *threads);
void px_translator_free(struct px_translator *translator);

/* Translate a record with length bytes of data into entries. */
void px_translate(struct px_translator *translator, const struct px_record *record,
		  const void *data, size_t length, struct px_translation *translation);

/* Translate a record into a user event, even if the record is a call. */
void px_translate_plainly(const struct px_record *record, const void *data, size_t length,
			  struct px_translation *translation);

/* Return true if the record is a call with enough data for px_translate(). */
bool px_translate_is_call(const struct px_record *record, size_t length);

/* Return the object with this handle, or NULL if it is unknown or was forgotten. */
const struct px_call_object *px_translator_find(const struct px_translator *translator,
						uint32_t handle);

/*
 * Restore a thread, or an object that was not destroyed, from a log.  The caller does this before
 * it continues the log.
 */
void px_translator_restore(struct px_translator *translator, const struct px_object *object,
			   uint64_t address, uint64_t site);
struct px_call_objects *px_translator_objects(struct px_translator *translator);

#endif
