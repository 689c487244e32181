/* SPDX-License-Identifier: MIT */
/*
 * A file from anywhere, searched for trace buffers: for libFuzzer, for AFL++, and, with neither, for files named on the
 * command line.  If the first byte of an input is odd, the rest comes through a pipe, else it is a file.
 *
 * What the scanner reports must agree with the bytes that it passes on.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/message.h"
#include "extract/walk.h"
#include "input/unpack.h"

#define INPUT_MAX 65536 /* as much as a pipe holds */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct count {
	uint64_t size;
};

/* The search prints one line for each fault, which nobody reads here. */
void message(const char *format, ...)
{
	(void)format;
}

void message_error(int error, const char *format, ...)
{
	(void)error;
	(void)format;
}

static void *begin(void *argument, const struct found *found)
{
	struct count *count = calloc(1, sizeof(*count));

	(void)argument;
	if (!count || found->header.size < HEADER_BYTES + HEADER_ENTRY_BYTES)
		abort();
	return count;
}

static void take_bytes(void *item, const unsigned char *bytes, size_t size)
{
	struct count *count = item;
	volatile unsigned char last = size > 0 ? bytes[size - 1] : 0;

	(void)last;
	count->size += size;
}

static void end(void *argument, void *item, const struct found *found)
{
	const struct header *header = &found->header;
	const struct count *count = item;

	(void)argument;
	if (count->size != found->size || found->size > header->size || found->nr_read > header->nr_slots ||
	    found->nr_used > found->nr_read || found->nr_odd > found->nr_used ||
	    found->nr_named > header->nr_objects ||
	    (found->size == header->size && found->nr_read != header->nr_slots))
		abort();
	free(item);
}

static void reject(void *argument, const struct found *found, const char *reason)
{
	(void)argument;
	(void)found;
	if (!reason)
		abort();
}

static const struct scan_calls calls = {begin, take_bytes, end, reject};

/* Make a file or a pipe with these bytes.  Return its descriptor. */
static int make_file(const uint8_t *input, size_t size, bool is_pipe)
{
	int fd[2] = {memfd_create("fuzz", MFD_CLOEXEC), -1};

	if (fd[0] < 0)
		abort();
	fd[1] = fd[0];
	if (is_pipe) {
		close(fd[0]);
		if (pipe2(fd, O_CLOEXEC) != 0)
			abort();
	}
	if (write(fd[1], input, size) != (ssize_t)size)
		abort();
	if (is_pipe)
		close(fd[1]);
	return fd[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct stream stream;
	struct walk walk = {.file = &stream, .path = "input", .ratio = 10};
	char path[64];
	int fd;

	if (size < 1 || size > INPUT_MAX)
		return 0;
	fd = make_file(input + 1, size - 1, input[0] & 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!stream_open(&stream, path))
		abort();
	walk.scan = scan_new(&calls, NULL);
	walk_stream(&walk, &stream);
	scan_free(walk.scan);
	stream_close(&stream);
	close(fd);
	return 0;
}

#include "fuzz/main.h"

#if !defined __AFL_FUZZ_TESTCASE_LEN && !defined FUZZ_WITH_LIBFUZZER
static void use_input(uint8_t *input, size_t size)
{
	for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
		input[0] = (uint8_t)is_pipe;
		LLVMFuzzerTestOneInput(input, size);
	}
}
#endif
