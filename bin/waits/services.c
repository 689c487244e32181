/* SPDX-License-Identifier: MIT */
#include "waits/services.h"

#include <string.h>

#include "trace/calls.h"
#include "trace/native.h"
#include "trace/states.h"

#define NR_NATIVES 1024
#define NET_FIRST 300 /* NetX's events begin here */

/*
 * The contents of the words of ThreadX's events.  services_learn() compares the labels of the words once, because a
 * comparison for each event takes too long.
 */
static struct native {
	bool has_object;	   /* word 0 is the handle of an object */
	unsigned char socket_word; /* 1 + the number of the word with a socket, or 0 */
} natives[NR_NATIVES];

void services_learn(void)
{
	if (natives[NATIVE_MUTEX_GET].has_object)
		return;
	for (unsigned int native = 1; native < NR_NATIVES; native++) {
		natives[native].has_object = label_is_object(native_label(native, 0));
		for (unsigned char i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label && strstr(label, "socket_ptr"))
				natives[native].socket_word = 1 + i;
		}
	}
}

bool services_have_object(unsigned int native)
{
	return native < NR_NATIVES && natives[native].has_object;
}

void services_set(struct waiter *thread, const struct event *event, unsigned int native)
{
	const struct native *is = native < NR_NATIVES ? &natives[native] : &natives[0];

	thread->last = (struct service){native, event->name,
					is->has_object ? event_word(event, 0) : 0, event->code};
	if (is->has_object && native < NET_FIRST)
		thread->of_object = thread->last;
	if (is->socket_word > 0) {
		thread->of_socket = thread->last;
		thread->of_socket.object = event_word(event, is->socket_word - 1);
	}
}

struct service services_of_wait(const struct event *event, const struct waiter *thread, unsigned int state)
{
	const char *label = native_label(thread->of_object.native, 0);
	struct service none = thread->last;

	none.object = 0;
	if (event->of) {
		none.object = event->of->call.object;
		return none;
	}
	if (state == STATE_NET) {
		struct service service = thread->of_socket.object ? thread->of_socket : none;

		if (strncmp(service.name, "NX_TRACE_INTERNAL", strlen("NX_TRACE_INTERNAL")) == 0)
			service.name = ""; /* leave out the name, because the thread did not call this service */
		return service;
	}
	return states[state].label && label && strcmp(label, states[state].label) == 0 ?
		       thread->of_object :
		       none;
}
