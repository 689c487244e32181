/* SPDX-License-Identifier: MIT */
/*
 * A file from anywhere, opened and used in every way: for libFuzzer, for AFL++, and, with neither, for files
 * named on the command line, which is how a finding is looked at and how findings stay tests.
 *
 * An input begins with a byte that says what the rest is:
 *
 *	even	the file as it is
 *	odd	a log of this library without the zeros between its areas, which are most of it: TXTB header,
 *		log header, commit, then for each area its length (two bytes) and its bytes.  Lengths beyond
 *		the end are cut.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "log/format.h"

#define EVENTS_MAX 100000 /* a file of many events is not more interesting than one of these */
#define TRXC_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* A part of the input goes to its place in the file. */
struct unfolding {
	int fd;
	const uint8_t *input;
	size_t left;
};

static size_t put(struct unfolding *unfolding, size_t size, uint64_t offset)
{
	if (size > unfolding->left)
		size = unfolding->left;
	if (size > 0 && pwrite(unfolding->fd, unfolding->input, size, (off_t)offset) < 0)
		abort();
	unfolding->input += size;
	unfolding->left -= size;
	return size;
}

static void put_area(struct unfolding *unfolding, uint64_t offset)
{
	size_t size;

	if (unfolding->left < 2)
		return;
	size = unfolding->input[0] | (size_t)unfolding->input[1] << 8;
	unfolding->input += 2;
	unfolding->left -= 2;
	put(unfolding, size, offset);
}

/* The image says how large it is; areas follow from that. */
static void unfold(int fd, const uint8_t *input, size_t size)
{
	struct unfolding unfolding = {fd, input, size};
	struct px_txtb_header header = {.id = 0};
	struct px_log_layout layout;
	uint32_t nr_objects, nr_entries;

	memcpy(&header, input, size < sizeof(header) ? size : sizeof(header));
	nr_entries = (header.buffer_end - header.buffer_start) / sizeof(struct px_txtb_entry);
	nr_objects = (header.registry_end - header.registry_start) / sizeof(struct px_txtb_object);
	layout = px_log_layout(nr_objects % 400, nr_entries % 5000, 1 << 16);
	put(&unfolding, sizeof(header), 0);
	put(&unfolding, sizeof(struct px_log_header), layout.header);
	put(&unfolding, sizeof(struct px_log_commit), layout.commit);
	put_area(&unfolding, sizeof(header));
	put_area(&unfolding, layout.entries);
	put_area(&unfolding, layout.frames);
	put_area(&unfolding, layout.size);
	if (ftruncate(fd, (off_t)layout.size) != 0)
		abort();
}

static void read_events(trace_id_t trid, size_t capacity, long limit)
{
	static unsigned char data[4096];
	struct posix_trace_event_info info;
	struct txtrace_call call;
	size_t length;
	int unavailable = 0;

	for (long i = 0; i < limit && !unavailable; i++) {
		if (posix_trace_getnext_event(trid, &info, data, capacity, &length, &unavailable) !=
		    0)
			abort();
		if (!unavailable && txtrace_get_call(trid, &info, &call) != 0 &&
		    txtrace_get_call(trid, &info, &call) != ENOENT)
			abort();
		if (!unavailable && (length > capacity || info.posix_timestamp.tv_nsec < 0 ||
				     info.posix_timestamp.tv_nsec >= 1000000000))
			abort();
	}
}

static void read_types(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable = 0;

	for (;;) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) != 0)
			abort();
		if (unavailable)
			break;
		if (posix_trace_eventid_get_name(trid, id, name) != 0 ||
		    strnlen(name, sizeof(name)) == sizeof(name))
			abort();
	}
	posix_trace_eventtypelist_rewind(trid);
}

static void read_objects(trace_id_t trid)
{
	struct txtrace_object object;
	int unavailable = 0;

	for (int i = 0; i < EVENTS_MAX && !unavailable; i++)
		if (txtrace_getnext_object(trid, &object, &unavailable) != 0 ||
		    (!unavailable &&
		     strnlen(object.name, sizeof(object.name)) == sizeof(object.name)))
			abort();
}

static void read_wrappers(trace_id_t trid)
{
	struct txtrace_wrapper wrapper;
	int unavailable = 0;

	for (int i = 0; i < EVENTS_MAX && !unavailable; i++)
		if (txtrace_getnext_wrapper(trid, &wrapper, &unavailable) != 0 ||
		    (!unavailable &&
		     strnlen(wrapper.symbol, sizeof(wrapper.symbol)) == sizeof(wrapper.symbol)))
			abort();
}

static void use(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct txtrace_file_info info;
	char trxc[TRXC_BYTES], text[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t length;

	if (posix_trace_get_attr(trid, &attr) != 0 || posix_trace_get_status(trid, &status) != 0)
		abort();
	if (posix_trace_attr_getname(&attr, text) != 0 ||
	    posix_trace_attr_getgenversion(&attr, text) != 0)
		abort();
	read_events(trid, 4096, EVENTS_MAX);
	posix_trace_rewind(trid);
	read_events(trid, 5, 100);
	txtrace_set_tick(trid, 12.5);
	read_events(trid, 0, 100);
	read_types(trid);
	read_objects(trid);
	txtrace_get_trxc(trid, trxc, sizeof(trxc), &length);
	txtrace_get_modules(trid, trxc, sizeof(trxc), &length);
	txtrace_get_file_info(trid, &info);
	read_wrappers(trid);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	trace_id_t trid;
	int fd;

	if (size < 1)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		abort();
	if (input[0] & 1)
		unfold(fd, input + 1, size - 1);
	else if (write(fd, input + 1, size - 1) < 0)
		abort();
	if (posix_trace_open(fd, &trid) == 0) {
		use(trid);
		posix_trace_close(trid);
	}
	close(fd);
	return 0;
}

#if defined __AFL_FUZZ_TESTCASE_LEN
#include <limits.h>

__AFL_FUZZ_INIT();

int main(void)
{
	unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;

	while (__AFL_LOOP(UINT_MAX))
		LLVMFuzzerTestOneInput(input, (size_t)__AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
#elif !defined FUZZ_WITH_LIBFUZZER
static void use_file(const char *path)
{
	static unsigned char input[1 << 20];
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		exit(1);
	}
	LLVMFuzzerTestOneInput(input, fread(input, 1, sizeof(input), file));
	fclose(file);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		use_file(argv[i]);
	printf("%d inputs, none of which did any harm\n", argc - 1);
	return 0;
}
#endif
