/* SPDX-License-Identifier: MIT */
/* The part of the model that knows which thread holds which object. */
#ifndef TXTRACE_WAITS_HOLDS_H
#define TXTRACE_WAITS_HOLDS_H

#include "waits/waits.h"

/*
 * A thread takes an object.  If another thread still holds this lock, the event of its unlock is missing: the event was
 * lost, or a process that is not traced unlocked it.
 */
void holds_take(struct waits *waits, struct waiter *thread, struct awaited *object,
		const struct event *event, bool is_shared, bool has_waited);

/* A hold ends: add up what its thread did.  If the beginning of the hold is not known, there are no times. */
void holds_end_period(const struct waits *waits, struct hold *hold, int64_t at_ns);

/* The object has no holder any more, but no event shows when its holders gave it back. */
void holds_drop_all(struct waits *waits, struct awaited *object);

/*
 * A thread takes a mutex that no thread held.  If the model shows that this thread holds it, the event of the unlock is
 * missing: that hold has ended, but no event shows when.
 */
void holds_drop_stale(struct waits *waits, const struct waiter *thread, const struct awaited *object);

/* The trace has a gap: from now on, the holders of the object are doubtful. */
void holds_forget(struct waits *waits, struct awaited *object);

/* The effects of calls. */
void holds_get_mutex(struct waits *waits, const struct event *event, struct waiter *thread,
		     struct awaited *object);
void holds_put_mutex(struct waits *waits, const struct event *event, struct waiter *thread,
		     struct awaited *object);
void holds_get_semaphore(struct waits *waits, const struct event *event, struct waiter *thread,
			 struct awaited *object);
void holds_put_semaphore(struct waits *waits, const struct event *event, struct waiter *thread,
			 struct awaited *object);

/*
 * An event of the thread that is not about an object that only events of other threads show it to hold: from now on,
 * that hold is doubtful.  If another thread has named the owner again since the last event, the thread had the object
 * at that event.  If the next event of the thread is that it takes the object, the other thread has seen a new hold.
 */
void holds_note_event(const struct waits *waits, struct waiter *thread, const struct event *event);

void holds_set_signal(struct awaited *object, const struct event *event, struct waiter *thread);

/* Return true if the call succeeded, so that its thread now holds the object. */
bool holds_was_got(const struct event *event);

/* Return true if the call takes an object that several threads can hold at the same time. */
bool holds_is_shared(const struct event *event);

/* Free the holds of an object, without calling the listener. */
void holds_free(struct awaited *object);

#endif
