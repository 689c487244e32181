/* SPDX-License-Identifier: MIT */
#include "report/sockets.h"

#include <errno.h>
#include <fcntl.h>
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

/* What a call tells of connections. */
enum role {
	TELLS_NOTHING,
	CONNECTS,
	ACCEPTS,
	RECEIVES,
	CHANGES_FIRST,	/* gives another meaning to the descriptor in its first field or in its result */
	CHANGES_BOTH,	/* the same, and also to the one that follows */
	CHANGES_RESULT, /* only to its result, if it is a command of fcntl that duplicates */
	EXECUTES
};

static void find_roles(struct sockets *sockets)
{
	static const struct {
		const char *name;
		enum role role;
	} roles[] = {
		{"connect", CONNECTS},	     {"accept", ACCEPTS},	  {"recv", RECEIVES},
		{"recvfrom", RECEIVES},	     {"recvmsg", RECEIVES},	  {"recvmmsg", RECEIVES},
		{"read", RECEIVES},	     {"readv", RECEIVES},	  {"close", CHANGES_FIRST},
		{"socket", CHANGES_FIRST},   {"open", CHANGES_FIRST},	  {"dup", CHANGES_FIRST},
		{"fopen", CHANGES_FIRST},    {"fclose", CHANGES_FIRST},	  {"popen", CHANGES_FIRST},
		{"mq_open", CHANGES_FIRST},  {"mq_close", CHANGES_FIRST}, {"epoll_create", CHANGES_FIRST},
		{"socketpair", CHANGES_BOTH}, {"pipe", CHANGES_BOTH},	  {"fcntl", CHANGES_RESULT},
		{"execve", EXECUTES},
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		*map_get(&sockets->role_of_row, (uintptr_t)calltable_find(roles[i].name)) = roles[i].role;
}

static void forget(struct sockets *sockets, const struct event *event, int64_t fd)
{
	if (fd >= 0 && map_find(&sockets->waiting, descriptor_key(event, fd)))
		*map_get(&sockets->waiting, descriptor_key(event, fd)) = 0;
}

/* A program that the process executes may have lost any descriptor: the program before it may have marked it. */
static void forget_process(struct sockets *sockets, pid_t pid)
{
	struct map *waiting = &sockets->waiting;

	for (size_t i = 0; i < waiting->nr_places; i++)
		if (waiting->place[i].is_taken && (waiting->place[i].key - 1) >> 32 == (uint32_t)pid)
			waiting->place[i].value = 0;
}

/* A pipe has its second end in the second field, and a pair of sockets has it behind the fields of each call. */
static int64_t second_end(const struct event *event, const struct call_data *call)
{
	uint32_t other = call->value;

	if (event->size >= LAYOUT_BYTES + sizeof(other))
		memcpy(&other, event->data + LAYOUT_BYTES, sizeof(other));
	return other;
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

	forget(sockets, event, call->result);
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
	forget(sockets, event, call->fd);
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

static unsigned int take_call(struct sockets *sockets, const struct event *event, int64_t before_ns, enum role role,
			      struct sockets_end ends[SOCKETS_ENDS_MAX])
{
	struct call_data call;

	memcpy(&call, event->data, sizeof(call));
	switch (role) {
	case CONNECTS:
		return take_connect(sockets, event, &call, before_ns, ends);
	case ACCEPTS:
		return take_accept(sockets, event, &call, ends);
	case RECEIVES:
		return take_receive(sockets, event, &call, ends);
	case CHANGES_BOTH:
		forget(sockets, event, second_end(event, &call));
		__attribute__((fallthrough));
	case CHANGES_FIRST:
		forget(sockets, event, call.fd);
		forget(sockets, event, call.result);
		return 0;
	case CHANGES_RESULT:
		if (call.value == F_DUPFD || call.value == F_DUPFD_CLOEXEC)
			forget(sockets, event, call.result);
		return 0;
	default:
		return 0;
	}
}

unsigned int sockets_event(struct sockets *sockets, const struct event *event,
			   struct sockets_end ends[SOCKETS_ENDS_MAX])
{
	int64_t before_ns = exchange_last(sockets, event);
	enum role role = TELLS_NOTHING;

	if (sockets->role_of_row.nr_taken == 0)
		find_roles(sockets);
	if (event->is_call && event->row)
		role = (enum role)map_find(&sockets->role_of_row, (uintptr_t)event->row);
	if (role == EXECUTES)
		forget_process(sockets, event->pid);
	/* After a loss, a descriptor may be another one. */
	if (event->type == POSIX_TRACE_OVERFLOW) {
		map_free(&sockets->waiting);
		map_free(&sockets->connecting);
	}
	if (role == TELLS_NOTHING || event->size < sizeof(struct call_data))
		return 0;
	if (event->call.phase != TXTRACE_CALL_BEGINS)
		return take_call(sockets, event, before_ns, role, ends);
	if (role == CONNECTS && event->context)
		*map_get(&sockets->connecting, event->context) = (uint64_t)event->time_ns;
	return 0;
}

void sockets_free(struct sockets *sockets)
{
	map_free(&sockets->last_of_thread);
	map_free(&sockets->connecting);
	map_free(&sockets->waiting);
	map_free(&sockets->role_of_row);
}
