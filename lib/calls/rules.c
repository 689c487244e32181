/* SPDX-License-Identifier: MIT */
#include "calls/rules.h"

/*
 * These rows replace the native event of a call if the type of its object is not the type in calls.def.  calls.def has
 * the events for a file and for a TCP socket.  If the object is a socket or a queue instead of a file, read, write and
 * close have other events, and seek and truncate have none.  If the object is a UDP socket instead of a TCP socket,
 * bind, create, receive and send have other events, and connect, accept, listen and disconnect have none.  The numbers
 * are from txtb-events.def.
 */
static const struct {
	uint8_t type;
	uint16_t from, to;
	uint8_t info[4];
} converted[] = {
#define INFO(a, b, c, d)                                                                           \
	{                                                                                          \
		PX_INFO_##a, PX_INFO_##b, PX_INFO_##c, PX_INFO_##d                                 \
	}
	{PX_TXTB_TCP_SOCKET, 248, 419, INFO(OBJECT, ZERO, RESULT, ZERO)},
	{PX_TXTB_TCP_SOCKET, 254, 421, INFO(OBJECT, ZERO, RESULT, ZERO)},
	{PX_TXTB_TCP_SOCKET, 243, 413, INFO(ZERO, OBJECT, ZERO, ZERO)},
	{PX_TXTB_TCP_SOCKET, 251, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_TCP_SOCKET, 252, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 248, 434, INFO(ZERO, OBJECT, ZERO, RESULT)},
	{PX_TXTB_UDP_SOCKET, 419, 434, INFO(ZERO, OBJECT, ZERO, RESULT)},
	{PX_TXTB_UDP_SOCKET, 254, 436, INFO(OBJECT, ZERO, RESULT, ZERO)},
	{PX_TXTB_UDP_SOCKET, 421, 436, INFO(OBJECT, ZERO, RESULT, ZERO)},
	{PX_TXTB_UDP_SOCKET, 243, 431, INFO(ZERO, OBJECT, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 400, 427, INFO(ZERO, OBJECT, VALUE, ZERO)},
	{PX_TXTB_UDP_SOCKET, 412, 430, INFO(ZERO, OBJECT, VALUE, ZERO)},
	{PX_TXTB_UDP_SOCKET, 401, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 407, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 408, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 414, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 251, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_UDP_SOCKET, 252, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_QUEUE, 248, 68, INFO(OBJECT, ZERO, ZERO, ZERO)},
	{PX_TXTB_QUEUE, 254, 69, INFO(OBJECT, ZERO, ZERO, ZERO)},
	{PX_TXTB_QUEUE, 243, 61, INFO(OBJECT, ZERO, ZERO, ZERO)},
	{PX_TXTB_QUEUE, 251, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
	{PX_TXTB_QUEUE, 252, 0, INFO(ZERO, ZERO, ZERO, ZERO)},
};

void px_rules_convert(struct px_call_read *call)
{
	for (size_t i = 0; call->object && i < PX_ARRAY_SIZE(converted); i++)
		if (converted[i].type == call->object->object.type &&
		    converted[i].from == call->facts->native) {
			call->native = converted[i].to;
			call->info = converted[i].info;
			return;
		}
}

/*
 * The cases are the ids of the events that create event flags, a mutex, a queue, a semaphore or a timer, in this order.
 */
bool px_rules_is_creation(uint32_t native)
{
	return native == 30 || native == 50 || native == 60 || native == 81 || native == 124;
}

/*
 * The cases are the ids of the events that end an object of these types, in the same order.  Then follow the events
 * that end a file, a TCP socket and a UDP socket.
 */
bool px_rules_is_end(uint32_t native)
{
	return native == 31 || native == 51 || native == 61 || native == 82 || native == 126 ||
	       native == 243 || native == 413 || native == 431;
}

bool px_rules_is_attempt(uint32_t native)
{
	switch (native) {
	case PX_NATIVE_EVENT_FLAGS_GET:
	case PX_NATIVE_MUTEX_GET:
	case PX_NATIVE_QUEUE_RECEIVE:
	case PX_NATIVE_SEMAPHORE_GET:
	case 104: /* join */
	case 109: /* yield */
	case 112: /* sleep */
	case 248: /* read */
	case 254: /* write */
	case 385: /* poll */
	case 401: /* connect */
	case 407: /* accept */
	case 419: /* receive */
	case 421: /* send */
	case 434: /* receive by UDP */
	case 436: /* send by UDP */
		return true;
	default:
		return false;
	}
}

unsigned int px_rules_object_word(enum px_call call, unsigned int native)
{
	const uint8_t *info = px_calls[call].info;
	unsigned int i = 0;

	if (native == PX_TXTB_RUNNING || native == PX_NATIVE_THREAD_CREATE)
		return 0;
	for (size_t k = 0; k < PX_ARRAY_SIZE(converted); k++)
		if (native != px_calls[call].native && converted[k].to == native)
			info = converted[k].info;
	while (i < 4 && info[i] != PX_INFO_OBJECT && info[i] != PX_INFO_POOL)
		i++;
	return i;
}
