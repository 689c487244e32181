/* SPDX-License-Identifier: MIT */
/*
 * described FILE COUNT [SEED]: write a log with a type "type N" for each line N of the input, which is a description,
 * and COUNT events of each type, in turn.  With SEED, the data are pseudo-random bytes, of about as many as the type
 * takes: each third event has fewer, and each third more.  Without SEED, each byte depends on its place and the number
 * of the event, and no byte is missing or too much.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define TYPES_MAX 256
#define MORE 24 /* bytes beyond the size of the type, and of an array that takes the rest */
#define FLUSH_EVENTS 20000 /* so that no event is dropped */

static trace_event_id_t type[TYPES_MAX];
static size_t size[TYPES_MAX];
static unsigned int nr_types;
static trace_id_t trace;
static uint64_t state;

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "described: %s: %s\n", what, strerror(error));
	exit(1);
}

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void open_types(void)
{
	char line[4096], name[16];

	while (nr_types < TYPES_MAX && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(name, sizeof(name), "type %u", nr_types);
		must(posix_trace_eventid_open(name, &type[nr_types]), "eventid_open");
		must(txtrace_describe_type(type[nr_types], line), line);
		nr_types++;
	}
}

static void read_sizes(void)
{
	for (unsigned int i = 0; i < nr_types; i++) {
		struct txtrace_layout *layout;

		must(txtrace_get_layout(trace, type[i], &layout), "get_layout");
		size[i] = layout->size;
		txtrace_free_layout(layout);
	}
}

static void create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	trace_attr_t attr;

	must(fd < 0, path);
	must(posix_trace_attr_init(&attr), "init");
	must(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), "setlogfullpolicy");
	must(posix_trace_attr_setstreamsize(&attr, 16 << 20), "setstreamsize");
	must(posix_trace_create_withlog(0, &attr, fd, &trace), "create_withlog");
	must(posix_trace_start(trace), "start");
	close(fd);
}

static void record(unsigned int i, uint64_t number, int is_random)
{
	unsigned char data[4096 + MORE];
	size_t length = size[i] < 4096 ? size[i] : 4096;

	if (is_random && number % 3 == 1)
		length = next() % (length + 1);
	else if (is_random && number % 3 == 2)
		length += next() % MORE;
	for (size_t at = 0; at < length; at++)
		data[at] = is_random ? (unsigned char)next() : (unsigned char)(at * 7 + number);
	posix_trace_event(type[i], data, length);
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc < 3 || argc > 4)
		return 2;
	state = argc > 3 ? strtoull(argv[3], NULL, 10) * 2 + 1 : 1;
	open_types();
	create(argv[1]);
	read_sizes();
	for (uint64_t i = 0; i < nr; i++) {
		for (unsigned int at = 0; at < nr_types; at++)
			record(at, i, argc > 3);
		if (i * nr_types % FLUSH_EVENTS + nr_types >= FLUSH_EVENTS)
			must(posix_trace_flush(trace), "flush");
	}
	must(posix_trace_shutdown(trace), "shutdown");
	return 0;
}
