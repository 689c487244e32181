/* SPDX-License-Identifier: MIT */
/*
 * Anything that a stub of gdb's remote protocol can send: for libFuzzer, and, without it, a valid conversation, and
 * damaged copies of it.  The input is all that the stub sends; then it closes the connection.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/message.h"
#include "capture/gdb.h"
#include "capture/target_buffer.h"

#define INPUT_MAX 65536
#define LIMIT (1 << 20) /* a larger buffer is refused, as by --length */
#define NR_DAMAGED 3000

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* One line is printed for each fault, which nobody reads here. */
void message(const char *format, ...)
{
	(void)format;
}

void message_error(int error, const char *format, ...)
{
	(void)error;
	(void)format;
}

static void look(struct target_buffer *buffer)
{
	const unsigned char *first;
	uint32_t n = target_buffer_look(buffer, &first);
	volatile unsigned char last;
	const unsigned char *end = buffer->entries + (size_t)buffer->header.nr_slots * HEADER_ENTRY_BYTES;

	if (n > buffer->header.nr_slots || first < buffer->entries || first + (size_t)n * HEADER_ENTRY_BYTES > end)
		abort();
	for (size_t i = 0; i < (size_t)n * HEADER_ENTRY_BYTES; i++)
		last = first[i];
	(void)last;
}

/* Return the number of entries of the first look. */
static uint32_t talk(const uint8_t *input, size_t size, bool is_live)
{
	static struct gdb gdb;
	struct target_buffer buffer = {0};
	const unsigned char *first;
	uint64_t value;
	uint32_t n = 0;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0 ||
	    write(fd[1], input, size) != (ssize_t)size || shutdown(fd[1], SHUT_WR) != 0)
		abort();
	if (gdb_begin(&gdb, fd[0], 1000) && target_buffer_begin(&buffer, &gdb, 0x1000, LIMIT)) {
		if (is_live)
			gdb_continue_live(&gdb);
		n = target_buffer_look(&buffer, &first);
		look(&buffer);
		gdb_halt(&gdb);
		look(&buffer);
		gdb_auxv(&gdb, 9, 8, false, &value);
	}
	if (strnlen(gdb.fault, sizeof(gdb.fault)) == sizeof(gdb.fault) || gdb.length > GDB_PACKET_MAX)
		abort();
	target_buffer_free(&buffer);
	gdb_close(&gdb);
	close(fd[1]);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	if (size >= 1 && size <= INPUT_MAX)
		talk(input + 1, size - 1, (input[0] & 1) != 0);
	return 0;
}

#ifndef FUZZ_WITH_LIBFUZZER
static uint8_t conversation[INPUT_MAX];
static size_t length;

static void send_text(const char *text)
{
	unsigned char sum = 0;

	for (const char *c = text; *c; c++)
		sum = (unsigned char)(sum + (unsigned char)*c);
	length += (size_t)snprintf((char *)conversation + length, sizeof(conversation) - length, "$%s#%02x", text, sum);
}

static void send_memory(const unsigned char *bytes, size_t size)
{
	static char text[2 * 4096 + 1];

	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	send_text(text);
}

#define NR_SLOTS 8

/* A buffer of eight entries that is full, with its oldest entry at the third slot. */
static void make_conversation(void)
{
	static unsigned char buffer[HEADER_BYTES + 48 + NR_SLOTS * HEADER_ENTRY_BYTES];
	uint32_t words[9] = {0x54585442, 0xFFFFFFFF, 0x1000, 0x1030, 32u << 16, 0x1060, 0x1060,
			     0x1060 + NR_SLOTS * 32, 0x1060 + 2 * 32};
	unsigned char *entries = buffer + HEADER_BYTES + 48;

	memcpy(buffer, words, sizeof(words));
	for (unsigned char i = 0; i < NR_SLOTS; i++)
		entries[i * HEADER_ENTRY_BYTES] = (unsigned char)(i + 1);
	send_text("PacketSize=1000;QNonStop+;qXfer:auxv:read+");
	send_text("OK");
	send_text("T05thread:01;");
	for (int i = 0; i < 2; i++)
		send_memory(buffer, HEADER_BYTES);
	send_memory(buffer + HEADER_BYTES, 48);
	for (int i = 2; i < 4; i++)
		send_memory(entries + i * HEADER_ENTRY_BYTES, HEADER_ENTRY_BYTES);
	send_memory(entries + 2 * HEADER_ENTRY_BYTES, 6 * HEADER_ENTRY_BYTES);
	send_memory(entries, 2 * HEADER_ENTRY_BYTES);
	send_memory(buffer, HEADER_BYTES);
	send_memory(entries + HEADER_ENTRY_BYTES, HEADER_ENTRY_BYTES);
}

int main(int argc, char **argv)
{
	static uint8_t damaged[INPUT_MAX];
	uint32_t random = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;

	make_conversation();
	/* The oldest entry may be half overwritten. */
	if (talk(conversation, length, false) != NR_SLOTS - 1) {
		fprintf(stderr, "gdb: the valid conversation is not understood\n");
		return 1;
	}
	for (int i = 0; i < NR_DAMAGED; i++) {
		size_t size = length;

		memcpy(damaged + 1, conversation, length);
		for (int k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			damaged[(random >> 8) % (length + 1)] = (uint8_t)(random >> 24);
		}
		if (i % 3 == 0)
			size = (random >> 4) % length;
		LLVMFuzzerTestOneInput(damaged, 1 + size);
	}
	return 0;
}
#endif
