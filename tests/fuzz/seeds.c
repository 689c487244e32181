/* SPDX-License-Identifier: MIT */
/*
 * seeds DIRECTORY: the first inputs for open.c, written by the library itself: logs that loop, that are full, wrapped
 * or empty; a trace buffer as it is, cut, with the other byte order, and as text.
 */
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
#include "trace/callpoint.h"

#define HEX_LINE 16

static const char *directory;

static void check(const char *what, int error)
{
	if (!error)
		return;
	fprintf(stderr, "seeds: %s: %s\n", what, strerror(error));
	exit(1);
}

static FILE *create_seed(const char *name, int kind)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	fputc(kind, file);
	return file;
}

static void finish(FILE *file)
{
	if (fclose(file) != 0) {
		perror("seeds");
		exit(1);
	}
}

/* Logs. */

static void copy(FILE *file, int fd, uint64_t offset, size_t size)
{
	char *bytes = calloc(1, size + 1);

	if (!bytes || pread(fd, bytes, size, (off_t)offset) < 0)
		check("pread", 5);
	fwrite(bytes, 1, size, file);
	free(bytes);
}

static void copy_area(FILE *file, int fd, uint64_t offset, size_t size)
{
	fputc((int)(size & 0xFF), file);
	fputc((int)(size >> 8), file);
	copy(file, fd, offset, size);
}

/* A volume without the zeros between the areas.  The tail becomes an area that begins with its wrappers. */
static void fold_volume(FILE *file, int fd, uint32_t volume, bool has_next)
{
	struct px_log_layout layout;
	struct px_log_header header;
	struct px_log_commit commit;
	uint64_t used;

	if (!px_log_find(fd, &header, &layout) ||
	    !px_log_read_commit(fd, &header, &layout, &commit))
		check("commit", 5);
	used = commit.end < layout.nr_entries ? commit.end : layout.nr_entries;
	header.volume = volume;
	if (has_next)
		commit.end += header.nr_entries;
	copy(file, fd, 0, sizeof(struct px_txtb_header));
	fwrite(&header, sizeof(header), 1, file);
	fwrite(&commit, sizeof(commit), 1, file);
	copy_area(file, fd, sizeof(struct px_txtb_header),
		  layout.entries - sizeof(struct px_txtb_header));
	copy_area(file, fd, layout.entries, used * sizeof(struct px_txtb_entry));
	copy_area(file, fd, layout.frames, commit.wrappers_at - layout.frames);
	copy_area(file, fd, commit.wrappers_at,
		  commit.modules_at + commit.modules_bytes - commit.wrappers_at);
}

/* One input for each kind of log that open.c can make from it. */
static void fold(const char *name, int fd)
{
	static const int kinds[] = {1, 3, 7, 11, 15};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char text[100];
		FILE *file;

		snprintf(text, sizeof(text), "%s-%d", name, kinds[i]);
		file = create_seed(text, kinds[i]);
		if (kinds[i] & 8)
			copy(file, fd, 0, 256);
		fold_volume(file, fd, 0, (kinds[i] & 4) != 0);
		if (kinds[i] & 4)
			fold_volume(file, fd, 1, false);
		finish(file);
	}
}

static void record(unsigned int nr_events, size_t data_bytes)
{
	unsigned char data[1000];
	trace_event_id_t id[2];

	check("open", posix_trace_eventid_open("seed", &id[0]));
	check("open", posix_trace_eventid_open("a name (with) all_kinds, of characters", &id[1]));
	memset(data, 0x5A, sizeof(data));
	for (unsigned int i = 0; i < nr_events; i++) {
		memcpy(data, &i, sizeof(i));
		posix_trace_event(id[i % 2], data, data_bytes);
	}
}

static const struct px_wrapper_row rows[] = {
	{PX_WRAPPER_INSTALLED, PX_CALL_pthread_mutex_lock, "pthread_mutex_lock", "GLIBC_2.2.5"},
	{PX_WRAPPER_INSTALLED, PX_CALL_open, "open", "GLIBC_2.2.5"},
	{PX_WRAPPER_MISSING, PX_CALL_open, "openat2", ""},
};

static const struct px_wrapper_row *get_rows(uint32_t *nr_rows)
{
	*nr_rows = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

/* A thread waits for each of the three locks in turn.  Between the waits, it opens files in one directory. */
static void record_calls(unsigned int nr_calls)
{
	static const uint32_t flags[] = {0, PX_RECORD_BEGINS, PX_RECORD_ENDS};
	unsigned char data[60] = {3};

	px_callpoint_rows = get_rows;
	for (unsigned int i = 0; i < nr_calls; i++) {
		int length = snprintf((char *)data + 16, sizeof(data) - 16, "/var/lib/file-%u", i);

		px_callpoint(0, PX_CALL_AT(PX_CALL_pthread_mutex_lock, flags[i % 3]),
			     0x1000 + i / 3 % 3, 0, NULL);
		if (i % 5 == 0)
			px_callpoint_long(1, PX_CALL_AT(PX_CALL_open, 0), data, 16 + (size_t)length, NULL);
	}
}

/* data_bytes: CALLS means recorded calls. */
#define CALLS SIZE_MAX
static void write_log(const char *name, int policy, unsigned int nr_events, size_t data_bytes)
{
	trace_attr_t attr;
	trace_id_t trid;
	int fd = memfd_create(name, MFD_CLOEXEC);

	check("init", posix_trace_attr_init(&attr));
	posix_trace_attr_setlogfullpolicy(&attr, policy);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	posix_trace_attr_setlogsize(&attr, 0);
	posix_trace_attr_setmaxdatasize(&attr, 300);
	check("create", posix_trace_create_withlog(0, &attr, fd, &trid));
	posix_trace_start(trid);
	for (int i = 0; i < 2; i++) {
		if (data_bytes == CALLS)
			record_calls(nr_events);
		else
			record(nr_events, data_bytes);
		if (i == 0)
			check("flush", posix_trace_flush(trid));
	}
	check("shutdown", posix_trace_shutdown(trid));
	fold(name, fd);
	close(fd);
}

/* Trace buffers. */

static void write_raw(const char *name, const unsigned char *image, size_t size)
{
	FILE *file = create_seed(name, 0);

	fwrite(image, 1, size, file);
	finish(file);
}

static void write_text(const char *name, const char *begin, const unsigned char *image, size_t size)
{
	FILE *file = create_seed(name, 0);

	for (size_t i = 0; i < size; i += HEX_LINE) {
		size_t length = size - i < HEX_LINE ? size - i : HEX_LINE;

		if (*begin == ':')
			fprintf(file, ":%02zX%04zX00", length, i & 0xFFFF);
		else if (*begin == 'S')
			fprintf(file, "S1%02zX%04zX", length + 3, i & 0xFFFF);
		for (size_t k = 0; k < length; k++)
			fprintf(file, "%02X", image[i + k]);
		fprintf(file, "%s\n", *begin ? "00" : "");
	}
	fprintf(file, "%s\n", *begin == ':' ? ":00000001FF" : *begin == 'S' ? "S9030000FC" : "");
	finish(file);
}

static void swap_words(unsigned char *bytes, size_t offset, size_t size)
{
	for (size_t i = offset; i + 4 <= offset + size; i += 4) {
		unsigned char word[4] = {bytes[i + 3], bytes[i + 2], bytes[i + 1], bytes[i]};

		memcpy(bytes + i, word, 4);
	}
}

/* Change the byte order; names and the bytes of objects stay. */
static void swap_image(unsigned char *image, size_t size)
{
	const struct px_txtb_header *header = (const struct px_txtb_header *)image;
	uint32_t nr_objects = (header->registry_end - header->registry_start) /
			      (uint32_t)sizeof(struct px_txtb_object);
	size_t entries = px_txtb_entries_offset(nr_objects);
	unsigned char name_size = image[18];

	for (uint32_t i = 0; i < nr_objects; i++)
		swap_words(image, px_txtb_entries_offset(i) + 4, 12);
	swap_words(image, entries, size - entries);
	swap_words(image, 0, 48);
	image[16] = image[17] = image[18] = 0;
	image[19] = name_size;
}

static void write_images(void)
{
	static unsigned char image[65536];
	trace_attr_t attr;
	trace_id_t trid;
	size_t size;
	double tick_ns;

	check("init", posix_trace_attr_init(&attr));
	check("rings", txtrace_attr_setrings(&attr, 1));
	check("create", posix_trace_create(0, &attr, &trid));
	posix_trace_start(trid);
	record(12, 20);
	check("copy", txtrace_copy_ring(trid, 0, image, sizeof(image), &size, &tick_ns));
	posix_trace_shutdown(trid);
	write_raw("image", image, size);
	write_raw("image-cut", image, size - 100);
	write_text("image-ihex", ":", image, size);
	write_text("image-srec", "S", image, size);
	write_text("image-hex", "", image, size);
	swap_image(image, size);
	write_raw("image-swapped", image, size);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: seeds DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	write_log("log-empty", POSIX_TRACE_LOOP, 0, 0);
	write_log("log-small", POSIX_TRACE_LOOP, 3, 10);
	write_log("log-wrapped", POSIX_TRACE_LOOP, 300, 4);
	write_log("log-wrapped-data", POSIX_TRACE_LOOP, 100, 290);
	write_log("log-until-full", POSIX_TRACE_UNTIL_FULL, 200, 30);
	write_log("log-append", POSIX_TRACE_APPEND, 40, 12);
	write_log("log-calls", POSIX_TRACE_LOOP, 20, CALLS);
	write_log("log-calls-wrapped", POSIX_TRACE_LOOP, 300, CALLS);
	write_images();
	return 0;
}
