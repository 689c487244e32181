/* SPDX-License-Identifier: MIT */
/*
 * spans LOG: record events that begin and end spans, and describe the spans.  Three spans of the name "price" are open
 * at a time, and they end in another order.  "lap" goes from one event to the next.  The last span of "price" does not
 * end, and one has not begun.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

#define NR_PRICES 300 /* a multiple of 3 */

struct begin {
	uint32_t id;
	double load;
};

struct end {
	uint8_t result;
	uint32_t id;
};

static void must(int error, const char *what)
{
	if (error == 0)
		return;
	fprintf(stderr, "spans: %s: %s\n", what, strerror(error));
	exit(1);
}

static void put_end(trace_event_id_t type, uint32_t id)
{
	const struct end end = {0, id};

	posix_trace_event(type, &end, sizeof(end));
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	trace_event_id_t begins, ends, tick;
	trace_attr_t attr;
	trace_id_t trid;

	if (fd < 0) {
		fprintf(stderr, "usage: spans LOG\n");
		return 2;
	}
	must(posix_trace_attr_init(&attr), "attributes");
	must(posix_trace_eventid_open("price begins", &begins), "price begins");
	must(posix_trace_eventid_open("price ends", &ends), "price ends");
	must(posix_trace_eventid_open("tick", &tick), "tick");
	must(txtrace_describe_type(begins, "uint32_t id; double load;"), "description");
	must(txtrace_describe_type(ends, "uint8_t result; uint32_t id;"), "description");
	must(txtrace_describe_span("price", begins, ends, "id"), "span price");
	must(posix_trace_create_withlog(0, &attr, fd, &trid), "stream");
	must(posix_trace_start(trid), "start");
	must(txtrace_describe_span("lap", tick, tick, NULL), "span lap");
	put_end(ends, NR_PRICES + 1);
	for (uint32_t i = 0; i <= NR_PRICES; i++) {
		const struct begin begin = {i, i / 3.0};

		posix_trace_event(begins, &begin, sizeof(begin));
		if (i % 3 != 2)
			continue;
		put_end(ends, i - 1);
		put_end(ends, i);
		put_end(ends, i - 2);
		posix_trace_event(tick, NULL, 0);
	}
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
