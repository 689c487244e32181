/* SPDX-License-Identifier: MIT */
/*
 * A program with the types that tests of --type look for in its debugging information: goods [LOG]
 *
 * With a log, it traces itself.  Its events do not describe themselves, except "named", which names its type.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

enum state { IDLE, BUSY = 3, LOST = -2 };

typedef struct {
	int16_t x;
	int64_t y;
} point;

struct goods {
	uint32_t id;
	double load;
	enum state state;
	point at[2];
	unsigned int low : 5, high : 11;
	signed int lean : 3;
	bool urgent;
	char kind;
	const char name[24];
	struct {
		union {
			uint32_t word;
			uint8_t byte[4];
		};
		float part;
	};
	volatile void *where;
	int (*call)(void);
	unsigned short grid[2][3];
	long double exact;
	struct goods *next;
	struct hidden *secret;
};

typedef struct goods goods_t;

/* The rest of the data belongs to the last member. */
struct letter {
	uint16_t from;
	char text[];
};

/* Larger than the data of its event. */
struct large {
	uint32_t id;
	uint32_t more[100];
};

struct huge {
	char all[1 << 21];
};

struct hidden; /* defined nowhere */

struct odd {
#ifdef __SIZEOF_INT128__
	__int128 number;
#else
	long double number;
#endif
	_Complex float complex;
	struct { } nothing;
	int tail[0];
};

static struct goods goods = {
	.id = 7, .load = 0.375, .state = BUSY, .at = {{-1, -2}, {3, 4}}, .low = 21, .high = 2000, .lean = -3,
	.urgent = true, .kind = 'k', .name = "customer-7", .word = 0x04030201, .part = 0.1f,
	.where = (void *)0x1234, .grid = {{1, 2, 3}, {4, 5, 6}}, .exact = 1.25,
};
static struct large large = {.id = 9};
static struct odd odd = {.number = 1, .complex = 0.5f};
struct huge *huge;
goods_t *pointer = &goods;

static void record(const char *name, const void *data, size_t size)
{
	trace_event_id_t type;

	if (posix_trace_eventid_open(name, &type) == 0)
		posix_trace_event(type, data, size);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	struct {
		struct letter letter;
		char text[8];
	} sent = {.letter = {.from = 5}, .text = "hello"};
	trace_event_id_t named;
	trace_id_t trace;

	if (argc > 1 &&
	    (fd < 0 || posix_trace_create_withlog(0, NULL, fd, &trace) != 0 || posix_trace_start(trace) != 0))
		return 1;
	record("goods", &goods, sizeof(goods));
	record("cut", &goods, 20);
	record("letter", &sent, sizeof(uint16_t) + 5);
	record("large", &large, 8);
	record("odd", &odd, sizeof(odd));
	if (posix_trace_eventid_open("named", &named) != 0 || TXTRACE_TYPE(named, struct goods) != 0)
		return 1;
	posix_trace_event(named, &goods, sizeof(goods));
	return argc > 1 && posix_trace_shutdown(trace) != 0;
}
