/* SPDX-License-Identifier: MIT */
#include "waits/nested.h"

#include <string.h>

#include "base/memory.h"
#include "trace/native.h"

const struct wait *waits_outermost(const struct waiter *thread)
{
	const struct wait *wait = &thread->wait;

	while (wait->outer)
		wait = wait->outer;
	return wait;
}

/* A wait has moved in memory: change the lists of waits in which it is. */
static void move(const struct wait *from, struct wait *to)
{
	struct wait **at = &to->object->waiting;

	while (*at != from)
		at = &(*at)->next_waiting;
	*at = to;
	if (!to->did.is_watched)
		return;
	at = &to->holder->watchers;
	while (*at != from)
		at = &(*at)->next_watcher;
	*at = to;
}

struct wait *nested_put_aside(struct waiter *thread)
{
	struct wait *outer = must(malloc(sizeof(*outer)));

	thread->wait.is_doubtful = true;
	*outer = thread->wait;
	move(&thread->wait, outer);
	return outer;
}

void nested_take_back(struct waiter *thread)
{
	struct wait *outer = thread->wait.outer;

	if (!outer)
		return;
	thread->wait = *outer;
	thread->waits = true;
	move(outer, &thread->wait);
	free(outer);
}

const struct wait *nested_of_call(const struct waiter *thread, const char *service, const struct awaited *object)
{
	const struct wait *other = NULL;

	for (const struct wait *at = &thread->wait; at; at = at->outer) {
		if (strcmp(at->service, service) != 0)
			continue;
		if (!object || at->object == object)
			return at;
		if (!other)
			other = at;
	}
	return other;
}

const struct wait *nested_without_end(const struct waiter *thread, const struct awaited *object,
				      const struct service *service)
{
	const struct wait *same = NULL;
	unsigned int nr = 0;

	for (const struct wait *at = &thread->wait; at; at = at->outer, nr++)
		if (at->object == object && at->address == service->address && strcmp(at->service, service->name) == 0)
			same = at;
	return nr < NESTED_MAX ? same : waits_outermost(thread);
}

void nested_note_handler(struct waiter *thread, unsigned int native)
{
	if (!thread->waits)
		return;
	if (native == NATIVE_ISR_ENTER)
		thread->interrupted = thread->wait.number;
	else if (native == NATIVE_ISR_EXIT && thread->interrupted == thread->wait.number)
		thread->wait.is_doubtful = false;
}

void nested_free(struct waiter *thread)
{
	for (struct wait *at = thread->wait.outer, *next; at; at = next) {
		next = at->outer;
		free(at);
	}
}
