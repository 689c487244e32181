/* SPDX-License-Identifier: MIT */
/*
 * tables LOG EVENT...: record described events whose tables are not easy to make: numbers that SQLite does not have,
 * fields that are named as columns, and types whose names differ little.  EVENT: "request", "calendar", or another
 * name, of which one event with the field n is recorded, whose value is the position of the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>

static trace_id_t trid;

static void must(int error, const char *what)
{
	if (error == 0)
		return;
	fprintf(stderr, "tables: %s: %s\n", what, strerror(error));
	exit(1);
}

/* Numbers below and from 2^63 on, and a load that is no number. */
static void record_requests(trace_event_id_t type)
{
	static const uint64_t ids[] = {5,
				       INT64_MAX,
				       (uint64_t)INT64_MAX + 1,
				       UINT64_C(9300000000000000000),
				       UINT64_C(9999999999999999999),
				       UINT64_C(10000000000000000000),
				       UINT64_MAX - 1,
				       UINT64_MAX};

	for (unsigned int i = 0; i < 10 + sizeof(ids) / sizeof(ids[0]); i++) {
		struct {
			uint64_t id;
			double load;
		} request = {i < 10 ? UINT64_C(0x9e3779b97f4a7c00) + 7 * i : ids[i - 10], i % 3 ? i / 4.0 : NAN};

		posix_trace_event(type, &request, sizeof(request));
	}
}

static void record_dates(trace_event_id_t type)
{
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t date[10];

		for (uint32_t k = 0; k < 10; k++)
			date[k] = 10 * k + i;
		posix_trace_event(type, date, sizeof(date));
	}
}

static void record(const char *event, unsigned int position)
{
	static const char requests[] = "uint64_t id; double load;";
	static const char dates[] = "u32 day; u32 Day; u32 file; u32 number; u32 ns; u32 time; u32 cpu; u32 thread; "
				    "u32 context; u32 host";
	const char *fields = strcmp(event, "request") == 0  ? requests :
			     strcmp(event, "calendar") == 0 ? dates :
							      "u32 n";
	trace_event_id_t type;
	uint32_t n = position;

	must(posix_trace_eventid_open(event, &type), event);
	must(txtrace_describe_type(type, fields), event);
	if (strcmp(event, "request") == 0)
		record_requests(type);
	else if (strcmp(event, "calendar") == 0)
		record_dates(type);
	else
		posix_trace_event(type, &n, sizeof(n));
}

int main(int argc, char **argv)
{
	int fd = argc < 3 ? -1 : open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0) {
		fprintf(stderr, "usage: tables LOG EVENT...\n");
		return 2;
	}
	must(posix_trace_create_withlog(0, NULL, fd, &trid), "stream");
	must(posix_trace_start(trid), "start");
	for (int i = 2; i < argc; i++)
		record(argv[i], (unsigned int)i - 1);
	must(posix_trace_shutdown(trid), "shutdown");
	return 0;
}
