/* SPDX-License-Identifier: MIT */
/* Which events tell of a connection between two logs, and from which time, for events that this program makes. */
#include "report/sockets.h"

#include "support/common.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>

#include "base/message.h"
#include "trace/calltable.h"
#include "trace/sched.h"

#define CONTEXT 7

enum side { CLIENT, SERVER };

/* An address of IPv4 (number) or IPv6 (a text of 16 bytes). */
struct address {
	uint32_t number;
	const char *bytes;
	uint16_t port;
};

static const struct address client = {0x0a000002, NULL, 40000}, server = {0x0a000001, NULL, 7000};

static struct sockets sockets[2];
static struct sockets_end ends[SOCKETS_ENDS_MAX];
static int64_t now_ns;
static unsigned char data[16 + 2 * sizeof(struct sockaddr_in6)];

/* For bin/base/memory.c, which then ends the process. */
void message(const char *format, ...)
{
	(void)format;
}

static void setup(void)
{
	memset(sockets, 0, sizeof(sockets));
	now_ns = 1000;
}

static void teardown(void)
{
	sockets_free(&sockets[CLIENT]);
	sockets_free(&sockets[SERVER]);
}

static size_t put_address(size_t at, const struct address *address)
{
	struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};

	if (address->bytes) {
		memcpy(&in6.sin6_addr, address->bytes, sizeof(in6.sin6_addr));
		memcpy(data + at, &in6, sizeof(in6));
		return sizeof(in6);
	}
	in4.sin_addr.s_addr = htonl(address->number);
	memcpy(data + at, &in4, sizeof(in4));
	return sizeof(in4);
}

/* A call of one thread, 10 ns after its event before this one.  peer, own: NULL if they are not recorded. */
static struct event call_of(const char *name, int32_t fd, int64_t result, const struct address *peer,
			    const struct address *own)
{
	const uint32_t value = 0;
	struct event event = {.time_ns = now_ns += 10,
			      .context = CONTEXT,
			      .pid = 100,
			      .is_call = true,
			      .size = LAYOUT_BYTES,
			      .data = data};

	event.row = calltable_find(name);
	ck_assert_ptr_nonnull(event.row);
	memcpy(data, &fd, sizeof(fd));
	memcpy(data + 4, &value, sizeof(value));
	memcpy(data + 8, &result, sizeof(result));
	if (peer)
		event.size += put_address(event.size, peer);
	if (own)
		event.size += put_address(event.size, own);
	return event;
}

static unsigned int take(enum side side, struct event event)
{
	return sockets_event(&sockets[side], &event, ends);
}

static unsigned int take_call(enum side side, const char *name, int32_t fd, int64_t result)
{
	return take(side, call_of(name, fd, result, NULL, NULL));
}

/* The client connects with descriptor 3, and the server accepts the connection as descriptor 5. */
static unsigned int connects(const struct address *peer, const struct address *own)
{
	take_call(CLIENT, "close", 99, -EBADF); /* the thread's event before */
	return take(CLIENT, call_of("connect", 3, 0, peer, own));
}

static unsigned int accepts(const struct address *peer, const struct address *own)
{
	return take(SERVER, call_of("accept", 4, 5, peer, own));
}

START_TEST(both_ends_of_a_connection_have_one_key)
{
	uint64_t key;

	ck_assert_uint_eq(connects(&server, &client), 1);
	key = ends[0].key;
	ck_assert_int_eq(ends[0].message, SOCKETS_CONNECT);
	ck_assert(ends[0].is_sent);
	ck_assert_int_eq(ends[0].time_ns, now_ns - 10); /* when it began at the earliest */
	ck_assert_uint_eq(accepts(&client, &server), 2);
	ck_assert_int_eq(ends[0].message, SOCKETS_CONNECT);
	ck_assert(!ends[0].is_sent);
	ck_assert_int_eq(ends[1].message, SOCKETS_ANSWER);
	ck_assert(ends[1].is_sent);
	ck_assert_int_eq(ends[1].time_ns, now_ns);
	ck_assert(ends[0].key == key && ends[1].key == key);
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), 1);
	ck_assert_int_eq(ends[0].message, SOCKETS_ANSWER);
	ck_assert(!ends[0].is_sent && ends[0].key == key);
	ck_assert_int_eq(ends[0].time_ns, now_ns);
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), 0); /* only the first one tells */
}
END_TEST

/* A server for both versions of IP knows clients of IPv4 by such addresses. */
START_TEST(an_address_of_ipv4_in_ipv6_is_the_same)
{
	static const char mapped_client[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 0, 2};
	static const char mapped_server[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 0, 1};
	uint64_t key;

	ck_assert_uint_eq(connects(&server, &client), 1);
	key = ends[0].key;
	ck_assert_uint_eq(accepts(&(struct address){0, mapped_client, 40000},
				  &(struct address){0, mapped_server, 7000}),
			  2);
	ck_assert(ends[0].key == key);
}
END_TEST

static const struct address others[] = {
	{0x0a000003, NULL, 40000},
	{0x0a000002, NULL, 40001},
	{0x0a000001, NULL, 40000}, /* both ends are on one machine */
	{0, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", 40000},
};

START_TEST(another_address_or_port_is_another_connection)
{
	uint64_t key;

	ck_assert_uint_eq(connects(&server, &client), 1);
	key = ends[0].key;
	if (others[_i].bytes)
		ck_assert_uint_eq(accepts(&others[_i], &others[_i]), 2);
	else
		ck_assert_uint_eq(accepts(&others[_i], &server), 2);
	ck_assert(ends[0].key != key);
	ck_assert_uint_eq(accepts(&server, &client), 2); /* the other way round */
	ck_assert(ends[0].key != key);
}
END_TEST

static const struct address of_several[] = {
	{0x7f000001, NULL, 1},
	{0x7f0a0b0c, NULL, 1},
	{0, NULL, 1},
	{0xa9fe0001, NULL, 1}, /* 169.254.0.1 */
	{0, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1},
	{0, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1},
	{0, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1},
	{0, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 1},
};

START_TEST(addresses_that_several_machines_have_tell_nothing)
{
	ck_assert_uint_eq(connects(&of_several[_i], &of_several[_i]), 0);
	ck_assert_uint_eq(accepts(&of_several[_i], &of_several[_i]), 0);
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), 0);
}
END_TEST

START_TEST(calls_that_failed_or_lack_an_address_tell_nothing)
{
	struct event event;

	take_call(CLIENT, "close", 99, -EBADF);
	ck_assert_uint_eq(take(CLIENT, call_of("connect", 3, -ECONNREFUSED, &server, &client)), 0);
	ck_assert_uint_eq(take(CLIENT, call_of("connect", 3, -EINPROGRESS, &server, &client)), 1);
	ck_assert_uint_eq(connects(&server, NULL), 0);
	ck_assert_uint_eq(connects(NULL, NULL), 0);
	ck_assert_uint_eq(take(SERVER, call_of("accept", 4, -EAGAIN, &client, &server)), 0);
	ck_assert_uint_eq(accepts(&client, NULL), 0);
	for (size_t size = 0; size < LAYOUT_BYTES + 2 * sizeof(struct sockaddr_in); size++) {
		event = call_of("accept", 4, 5, &client, &server);
		event.size = size;
		ck_assert_uint_eq(take(SERVER, event), 0);
	}
	data[LAYOUT_BYTES + sizeof(struct sockaddr_in)]++; /* the two ends have different families */
	event.size++;
	ck_assert_uint_eq(take(SERVER, event), 0);
}
END_TEST

static const struct {
	const char *name;
	int32_t fd;
	uint32_t value;
	int64_t result;
	bool forgets;
} changes[] = {
	{"close", 3, 0, 0, true},
	{"dup", 9, 0, 3, true},
	{"socket", 3, 0, 3, true},
	{"open", 3, 0, 3, true},
	{"fopen", 3, 0, 0, true},
	{"fclose", 3, 0, 0, true},
	{"popen", 3, 0, 0, true},
	{"mq_open", 3, 0, 3, true},
	{"mq_close", 3, 0, 0, true},
	{"epoll_create", 3, 0, 3, true},
	{"accept", 4, 0, 3, true},
	{"pipe", 3, 4, 0, true},
	{"pipe", 4, 3, 0, true},
	{"fcntl", 9, F_DUPFD, 3, true},
	{"fcntl", 9, F_DUPFD_CLOEXEC, 3, true},
	{"fcntl", 3, F_SETFL, 0, false},
	{"fcntl", 9, F_GETFL, 3, false},
	{"execve", -1, 0, 0, true},
	{"close", 8, 0, 0, false},
	{"dup", 9, 0, -EBADF, false},
	{"send", 3, 0, 4, false},
	{"poll", 3, 0, 3, false},
	{"recv", 8, 0, 4, false},
	{"recv", 3, 0, 0, false},
	{"recv", 3, 0, -EAGAIN, false},
};

START_TEST(a_descriptor_that_becomes_another_one_tells_nothing)
{
	struct event event;

	ck_assert_uint_eq(connects(&server, &client), 1);
	event = call_of(changes[_i].name, changes[_i].fd, changes[_i].result, NULL, NULL);
	memcpy(data + 4, &changes[_i].value, sizeof(changes[_i].value));
	take(CLIENT, event);
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), changes[_i].forgets ? 0 : 1);
}
END_TEST

START_TEST(both_ends_of_a_pair_are_other_descriptors)
{
	const int32_t second = 3;
	struct event event;

	ck_assert_uint_eq(connects(&server, &client), 1);
	event = call_of("socketpair", 4, 0, NULL, NULL);
	memcpy(data + LAYOUT_BYTES, &second, sizeof(second));
	event.size += sizeof(second);
	take(CLIENT, event);
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), 0);
}
END_TEST

START_TEST(a_descriptor_of_another_process_is_another_one)
{
	struct event event;

	ck_assert_uint_eq(connects(&server, &client), 1);
	event = call_of("recv", 3, 4, NULL, NULL);
	event.pid++;
	ck_assert_uint_eq(take(CLIENT, event), 0);
	ck_assert_uint_eq(take_call(CLIENT, "read", 3, 4), 1);
}
END_TEST

START_TEST(a_process_that_executes_a_program_keeps_the_descriptors_of_others)
{
	struct event event;

	ck_assert_uint_eq(connects(&server, &client), 1);
	event = call_of("execve", -1, 0, NULL, NULL);
	event.pid++;
	event.call.phase = TXTRACE_CALL_BEGINS;
	take(CLIENT, event);
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), 1);
}
END_TEST

/* A handler that runs during the call records events that are later than its beginning. */
START_TEST(a_connect_that_waits_began_at_its_first_event)
{
	struct event event = call_of("connect", 3, 0, &server, NULL);
	int64_t began_ns = now_ns;

	event.call.phase = TXTRACE_CALL_BEGINS;
	ck_assert_uint_eq(take(CLIENT, event), 0);
	take_call(CLIENT, "close", 99, -EBADF);
	event = call_of("connect", 3, 0, &server, &client);
	event.call.phase = TXTRACE_CALL_ENDS;
	ck_assert_uint_eq(take(CLIENT, event), 1);
	ck_assert_int_eq(ends[0].time_ns, began_ns);
}
END_TEST

/* The kernel records switches during a call, and some events stand for others. */
START_TEST(only_what_the_thread_recorded_tells_when_a_call_began)
{
	struct event event;
	int64_t before_ns;

	take_call(CLIENT, "close", 99, -EBADF);
	before_ns = now_ns;
	event = call_of("close", 99, -EBADF, NULL, NULL);
	event.is_made = true;
	take(CLIENT, event);
	event = call_of("close", 99, -EBADF, NULL, NULL);
	event.is_call = false;
	event.type = TXTRACE_SWITCH_IN;
	take(CLIENT, event);
	event = call_of("close", 99, -EBADF, NULL, NULL);
	event.context++;
	take(CLIENT, event);
	ck_assert_uint_eq(take(CLIENT, call_of("connect", 3, 0, &server, &client)), 1);
	ck_assert_int_eq(ends[0].time_ns, before_ns);
}
END_TEST

START_TEST(a_connect_whose_beginning_is_not_known_tells_nothing)
{
	struct event event = call_of("connect", 3, 0, &server, &client);

	if (_i == 1)
		event.call.phase = TXTRACE_CALL_ENDS;
	ck_assert_uint_eq(take(CLIENT, event), 0);
}
END_TEST

START_TEST(events_that_are_lost_may_have_changed_a_descriptor)
{
	ck_assert_uint_eq(connects(&server, &client), 1);
	take(CLIENT, (struct event){.time_ns = now_ns, .type = POSIX_TRACE_OVERFLOW});
	ck_assert_uint_eq(take_call(CLIENT, "recv", 3, 4), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tool/sockets");
	TCase *tcase = tcase_create("sockets");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, both_ends_of_a_connection_have_one_key);
	tcase_add_test(tcase, an_address_of_ipv4_in_ipv6_is_the_same);
	tcase_add_loop_test(tcase, another_address_or_port_is_another_connection, 0,
			    (int)(sizeof(others) / sizeof(others[0])));
	tcase_add_loop_test(tcase, addresses_that_several_machines_have_tell_nothing, 0,
			    (int)(sizeof(of_several) / sizeof(of_several[0])));
	tcase_add_test(tcase, calls_that_failed_or_lack_an_address_tell_nothing);
	tcase_add_loop_test(tcase, a_descriptor_that_becomes_another_one_tells_nothing, 0,
			    (int)(sizeof(changes) / sizeof(changes[0])));
	tcase_add_test(tcase, both_ends_of_a_pair_are_other_descriptors);
	tcase_add_test(tcase, a_descriptor_of_another_process_is_another_one);
	tcase_add_test(tcase, a_process_that_executes_a_program_keeps_the_descriptors_of_others);
	tcase_add_test(tcase, a_connect_that_waits_began_at_its_first_event);
	tcase_add_test(tcase, only_what_the_thread_recorded_tells_when_a_call_began);
	tcase_add_loop_test(tcase, a_connect_whose_beginning_is_not_known_tells_nothing, 0, 2);
	tcase_add_test(tcase, events_that_are_lost_may_have_changed_a_descriptor);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
