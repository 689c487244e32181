/* SPDX-License-Identifier: MIT */
/*
 * machine LOG: write a log with data whose layout depends on the machine, and print what the data are: a CSV table with
 * a row for each event "reading", as txtrace prints it with the columns of machines.sh.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#define NR_EVENTS 6

enum colour { RED, GREEN = 300, BLUE = -2 };

struct reading {
	char letter;
	long number;
	void *place;
	unsigned short little;
	unsigned int flags : 3, level : 13;
	int balance : 9;
	double load;
	float share;
	long double exact;
	enum colour colour;
	char after_enum;
	uint64_t large;
	int32_t row[2][2];
	struct {
		int16_t x;
		long long y;
	} at;
	size_t size;
	_Bool is_last;
	char name[7];
};

static const char description[] =
	"enum colour { RED, GREEN = 300, BLUE = -2 }; char letter; long number; void *place; unsigned short little;"
	" unsigned int flags : 3, level : 13; int balance : 9; double load; float share; long double exact;"
	" enum colour colour; char after_enum; uint64_t large; int32_t row[2][2]; struct { int16_t x; long long y; }"
	" at; size_t size; _Bool is_last; char name[7];";

static void must(int error, const char *what)
{
	if (error == 0)
		return;
	fprintf(stderr, "machine: %s: %s\n", what, strerror(error));
	exit(1);
}

static struct reading make(int i)
{
	static const enum colour colours[] = {RED, GREEN, BLUE};
	struct reading made;

	memset(&made, 0, sizeof(made));
	made.letter = (char)('a' + i);
	made.number = i == 0 ? LONG_MIN : i == 1 ? LONG_MAX : -7L * i;
	made.place = (void *)(uintptr_t)(0x1020304 + i);
	made.little = (unsigned short)(0xFF00 + i);
	made.flags = (unsigned int)i & 7;
	made.level = (4096u + (unsigned int)i) & 0x1FFF;
	made.balance = i - 4;
	made.load = i / 8.0 - 0.25;
	made.share = (float)i * -1.5f;
	made.exact = (long double)i * i - 0.5L;
	made.colour = colours[i % 3];
	made.after_enum = (char)('z' - i);
	made.large = UINT64_C(0x0102030405060708) * (unsigned int)(i + 1);
	made.row[0][1] = INT32_MIN + i;
	made.row[1][0] = 1000 * i;
	made.at.x = (int16_t)(-300 - i);
	made.at.y = LLONG_MIN + i;
	made.size = SIZE_MAX - (size_t)i;
	made.is_last = i == NR_EVENTS - 1;
	snprintf(made.name, sizeof(made.name), "n%d", i * 11111);
	return made;
}

static const char *colour_name(enum colour colour)
{
	return colour == RED ? "RED" : colour == GREEN ? "GREEN" : "BLUE";
}

static void print(const struct reading *made)
{
	printf("reading,%c,%ld,0x%llx,%u,%u,%u,%d,%g,%g,%g,%s,%c,%llu,%d,%d,%d,%lld,%zu,%s,%s\n", made->letter,
	       made->number, (unsigned long long)(uintptr_t)made->place, made->little, made->flags, made->level,
	       made->balance, made->load, (double)made->share, (double)made->exact, colour_name(made->colour),
	       made->after_enum, (unsigned long long)made->large, made->row[0][1], made->row[1][0], made->at.x,
	       made->at.y, made->size, made->is_last ? "true" : "false", made->name);
}

/* Numbers without a description, which filters and spans find by their offset. */
static void record_plain(trace_event_id_t begins, trace_event_id_t ends, int i)
{
	const struct {
		uint16_t kind;
		uint16_t level;
		uint32_t id;
	} plain = {0x0102, (uint16_t)i, 70000u + (uint32_t)i};

	posix_trace_event(begins, &plain, sizeof(plain));
	posix_trace_event(ends, &plain, sizeof(plain));
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	trace_event_id_t reading, begins, ends, packet;
	trace_event_set_t set;
	trace_attr_t attr;
	trace_id_t trid;

	if (fd < 0) {
		fprintf(stderr, "usage: machine LOG\n");
		return 2;
	}
	must(posix_trace_attr_init(&attr), "attributes");
	must(posix_trace_attr_setname(&attr, "machine"), "name");
	must(txtrace_attr_setrings(&attr, 1), "rings");
	must(posix_trace_eventid_open("reading", &reading), "reading");
	must(posix_trace_eventid_open("plain begins", &begins), "plain begins");
	must(posix_trace_eventid_open("plain ends", &ends), "plain ends");
	must(posix_trace_eventid_open("packet", &packet), "packet");
	must(txtrace_describe_type(reading, description), "description");
	must(txtrace_describe_type(packet, "u16 kind; i64 many; ptr where; f64 load; char text[]"), "description");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "stream");
	must(posix_trace_start(trid), "start");
	must(posix_trace_eventset_empty(&set), "set");
	must(posix_trace_eventset_add(packet, &set), "set");
	must(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), "filter");
	must(posix_trace_eventset_empty(&set), "set");
	must(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), "filter");
	for (int i = 0; i < NR_EVENTS; i++) {
		const struct reading made = make(i);

		posix_trace_event(reading, &made, sizeof(made));
		print(&made);
		record_plain(begins, ends, i);
	}
	posix_trace_event(packet, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21\22\23\24\25\26 a text", 31);
	must(posix_trace_stop(trid), "stop");
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
