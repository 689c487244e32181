/* SPDX-License-Identifier: MIT */
/*
 * orders LOG: describe event types, record events of these types into a log, and print an account of them: one JSON
 * object for each event, as the tool must show its data.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define NR_ORDERS 200

/* The declarations, and the same text as a string. */
#define ORDER                                                                                      \
	unsigned int id;                                                                           \
	double load;                                                                               \
	float part;                                                                                \
	enum state { IDLE, BUSY = 3, DONE } state;                                                 \
	struct at {                                                                                \
		short x;                                                                           \
		long y;                                                                            \
	} at[2];                                                                                   \
	unsigned short low : 5, high : 11;                                                         \
	signed char change;                                                                        \
	_Bool urgent;                                                                              \
	char kind;                                                                                 \
	char name[24];                                                                             \
	unsigned long long key;                                                                    \
	void *where;
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

struct order {
	ORDER
};

static void must(int error, const char *what)
{
	if (error == 0)
		return;
	fprintf(stderr, "orders: %s: %s\n", what, strerror(error));
	exit(1);
}

static struct order make_order(unsigned int i)
{
	struct order order;

	memset(&order, 0, sizeof(order));
	order.id = i;
	order.load = i / 3.0;
	order.part = (float)i / 7;
	order.state = i % 5 == 4 ? BUSY : (enum state)(i % 5);
	order.at[0].x = (short)-(int)i;
	order.at[1].y = (long)(i * 1000000007ul);
	order.low = i & 31;
	order.high = (i * 37) & 2047;
	order.change = (signed char)(i - 100);
	order.urgent = i % 3 == 0;
	order.kind = (char)('a' + i % 26);
	snprintf(order.name, sizeof(order.name), i % 4 ? "customer-%u" : "say \"%u\"", i);
	order.key = ~0ULL - i;
	order.where = (void *)(uintptr_t)(0x1000 + i);
	return order;
}

static void account_order(const struct order *order)
{
	const char *const states[] = {"\"IDLE\"", "1", "2", "\"BUSY\"", "\"DONE\""};
	char name[64];
	size_t used = 0;

	for (const char *i = order->name; *i; i++) {
		if (*i == '"')
			name[used++] = '\\';
		name[used++] = *i;
	}
	name[used] = '\0';
	printf("{\"id\": %u, \"load\": %.17g, \"part\": %.17g, \"state\": %s, \"at\": [{\"x\": %d, \"y\": %ld}, "
	       "{\"x\": %d, \"y\": %ld}], \"low\": %u, \"high\": %u, \"change\": %d, \"urgent\": %s, "
	       "\"kind\": \"%c\", \"name\": \"%s\", \"key\": %llu, \"where\": \"0x%llx\"}\n",
	       order->id, order->load, (double)order->part, states[order->state], order->at[0].x, order->at[0].y,
	       order->at[1].x, order->at[1].y, order->low, order->high, order->change,
	       order->urgent ? "true" : "false", order->kind, name, order->key,
	       (unsigned long long)(uintptr_t)order->where);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	trace_event_id_t order_type, note, plain;
	trace_attr_t attr;
	trace_id_t trid;
	char text[80];

	if (fd < 0) {
		fprintf(stderr, "usage: orders LOG\n");
		return 2;
	}
	must(posix_trace_attr_init(&attr), "attributes");
	must(posix_trace_eventid_open("order", &order_type), "order");
	must(posix_trace_eventid_open("note", &note), "note");
	must(posix_trace_eventid_open("plain", &plain), "plain");
	must(txtrace_describe_type(order_type, TEXT(ORDER)), "description of order");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "stream");
	must(posix_trace_start(trid), "start");
	for (unsigned int i = 0; i < NR_ORDERS; i++) {
		struct order order = make_order(i);

		posix_trace_event(order_type, &order, sizeof(order));
		account_order(&order);
	}
	must(txtrace_describe_type(note, "u8 level; u16 code; char text[]"), "description of note");
	memcpy(text, "\7\1\2hello", 8);
	posix_trace_event(note, text, 8);
	printf("{\"level\": 7, \"code\": 513, \"text\": \"hello\"}\n");
	posix_trace_event(note, text, 2);
	printf("{\"level\": 7, \"missing_bytes\": 1}\n");
	posix_trace_event(plain, "\1\2\3\4\5\6\7\10\11", 9);
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
