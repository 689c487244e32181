/* SPDX-License-Identifier: MIT */
#include "report/sockets.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "trace/calltable.h"
#include "trace/sched.h"

/* The beginning of the data of a call on a descriptor (calls.def: FD). */
struct call_data {
	int32_t fd;
	uint32_t value;
	int64_t result;
};

_Static_assert(sizeof(struct call_data) == LAYOUT_BYTES, "no padding");

/* An address, as if all were of IPv6. */
struct end {
	struct in6_addr address;
	uint32_t port; /* in network byte order; so wide that the structure has no padding */
};

_Static_assert(sizeof(struct end) == sizeof(struct in6_addr) + sizeof(uint32_t), "no padding");

static bool take_address(const unsigned char *data, sa_family_t family, struct end *end)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	*end = (struct end){0};
	if (family == AF_INET6) {
		memcpy(&v6, data, sizeof(v6));
		end->address = v6.sin6_addr;
		end->port = v6.sin6_port;
		return v6.sin6_family == family;
	}
	memcpy(&v4, data, sizeof(v4));
	end->address.s6_addr[10] = end->address.s6_addr[11] = 0xff;
	memcpy(&end->address.s6_addr[12], &v4.sin_addr, sizeof(v4.sin_addr));
	end->port = v4.sin_port;
	return v4.sin_family == family;
}

/* Return true if two machines do not have this address at once. */
static bool is_of_one_machine(const struct end *end)
{
	const struct in6_addr *address = &end->address;

	if (IN6_IS_ADDR_V4MAPPED(address))
		return address->s6_addr[12] != IN_LOOPBACKNET && address->s6_addr[12] != 0 &&
		       !(address->s6_addr[12] == 169 && address->s6_addr[13] == 254);
	return !IN6_IS_ADDR_LOOPBACK(address) && !IN6_IS_ADDR_LINKLOCAL(address) && !IN6_IS_ADDR_UNSPECIFIED(address);
}

/* Return the key of a connection, or 0 if the event lacks an address.  connects: this end called connect. */
static uint64_t key_of(const struct event *event, bool connects)
{
	const unsigned char *at = event->data + LAYOUT_BYTES;
	size_t size = event->size - LAYOUT_BYTES, whole;
	struct end peer, own;
	sa_family_t family;
	uint64_t key;

	if (size < sizeof(family))
		return 0;
	memcpy(&family, at, sizeof(family));
	whole = family == AF_INET ? sizeof(struct sockaddr_in) : family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;
	if (whole == 0 || size < 2 * whole || !take_address(at, family, &peer) ||
	    !take_address(at + whole, family, &own) || !is_of_one_machine(&peer) || !is_of_one_machine(&own))
		return 0;
	key = map_hash_bytes(&(struct end[]){connects ? own : peer, connects ? peer : own}, 2 * sizeof(own));
	return key ? key : 1;
}

static uint64_t descriptor_key(const struct event *event, int64_t fd)
{
	return ((uint64_t)(uint32_t)event->pid << 32 | (uint32_t)fd) + 1;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* before_ns: of an event before this one, which is later than the beginning if the call waited. */
static unsigned int take_connect(struct sockets *sockets, const struct event *event, const struct call_data *call,
				 int64_t before_ns, struct sockets_end *end)
{
	uint64_t key = call->result == 0 || call->result == -EINPROGRESS ? key_of(event, true) : 0;

	if (event->call.phase == TXTRACE_CALL_ENDS && event->context) {
		uint64_t *began = map_get(&sockets->connecting, event->context);

		before_ns = (int64_t)*began;
		*began = 0;
	}
	*map_get(&sockets->waiting, descriptor_key(event, call->fd)) = key;
	if (key == 0 || before_ns == 0)
		return 0;
	*end = (struct sockets_end){SOCKETS_CONNECT, true, key, before_ns};
	return 1;
}

static unsigned int take_accept(struct sockets *sockets, const struct event *event, const struct call_data *call,
				struct sockets_end *ends)
{
	uint64_t key = call->result >= 0 ? key_of(event, false) : 0;

	if (call->result >= 0)
		*map_get(&sockets->waiting, descriptor_key(event, call->result)) = 0;
	if (key == 0)
		return 0;
	ends[0] = (struct sockets_end){SOCKETS_CONNECT, false, key, event->time_ns};
	ends[1] = (struct sockets_end){SOCKETS_ANSWER, true, key, event->time_ns};
	return 2;
}

static unsigned int take_receive(struct sockets *sockets, const struct event *event, const struct call_data *call,
				 struct sockets_end *end)
{
	uint64_t key = map_find(&sockets->waiting, descriptor_key(event, call->fd));

	if (key == 0 || call->result <= 0)
		return 0;
	*map_get(&sockets->waiting, descriptor_key(event, call->fd)) = 0;
	*end = (struct sockets_end){SOCKETS_ANSWER, false, key, event->time_ns};
	return 1;
}

/*
 * The time of the event of this thread before this one, or 0.  Only what the thread recorded itself counts: the kernel
 * records switches during a call.
 */
static int64_t exchange_last(struct sockets *sockets, const struct event *event)
{
	bool is_own = event->context && !event->is_made && !sched_is_record(event->type);
	uint64_t *last = is_own ? map_get(&sockets->last_of_thread, event->context) : NULL;
	int64_t before_ns = last ? (int64_t)*last : 0;

	if (last)
		*last = (uint64_t)event->time_ns;
	return before_ns;
}

unsigned int sockets_event(struct sockets *sockets, const struct event *event,
			   struct sockets_end ends[SOCKETS_ENDS_MAX])
{
	/* What may give a descriptor another meaning has it as its first field or as its result. */
	static const char *const receives[] = {"recv", "recvfrom", "recvmsg", "recvmmsg", "read", "readv", NULL};
	static const char *const changes[] = {"close", "socket", "socketpair", "open", "openat", "creat", "dup", "dup2",
					      "dup3", "pipe", NULL};
	int64_t before_ns = exchange_last(sockets, event);
	struct call_data call;

	/* After a loss, a descriptor may be another one. */
	if (event->type == POSIX_TRACE_OVERFLOW) {
		map_free(&sockets->waiting);
		map_free(&sockets->connecting);
	}
	if (!event->is_call || !event->row || event->row->layout != LAYOUT_FD || event->size < sizeof(call))
		return 0;
	if (event->call.phase == TXTRACE_CALL_BEGINS) {
		if (strcmp(event->row->name, "connect") == 0 && event->context)
			*map_get(&sockets->connecting, event->context) = (uint64_t)event->time_ns;
		return 0;
	}
	memcpy(&call, event->data, sizeof(call));
	if (strcmp(event->row->name, "connect") == 0)
		return take_connect(sockets, event, &call, before_ns, ends);
	if (strcmp(event->row->name, "accept") == 0)
		return take_accept(sockets, event, &call, ends);
	if (is_one_of(event->row->name, receives))
		return take_receive(sockets, event, &call, ends);
	if (!is_one_of(event->row->name, changes))
		return 0;
	if (map_find(&sockets->waiting, descriptor_key(event, call.fd)))
		*map_get(&sockets->waiting, descriptor_key(event, call.fd)) = 0;
	if (call.result >= 0 && map_find(&sockets->waiting, descriptor_key(event, call.result)))
		*map_get(&sockets->waiting, descriptor_key(event, call.result)) = 0;
	return 0;
}

void sockets_free(struct sockets *sockets)
{
	map_free(&sockets->last_of_thread);
	map_free(&sockets->connecting);
	map_free(&sockets->waiting);
}
