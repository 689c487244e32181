/* SPDX-License-Identifier: MIT */
#include "export/rowbinary.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"

#define PART_BYTES (1u << 16)

void rowbinary_begin(struct rowbinary *rows, char *path)
{
	*rows = (struct rowbinary){.path = path};
}

static void put(struct rowbinary *rows, const void *bytes, size_t size)
{
	if (size > rows->room - rows->used) {
		rows->room = 2 * (rows->used + size);
		rows->bytes = must(realloc(rows->bytes, rows->room));
	}
	memcpy(rows->bytes + rows->used, bytes, size);
	rows->used += size;
}

static void put_byte(struct rowbinary *rows, unsigned char byte)
{
	put(rows, &byte, 1);
}

void rowbinary_null(struct rowbinary *rows, bool is_null)
{
	put_byte(rows, is_null);
}

void rowbinary_u16(struct rowbinary *rows, uint16_t value)
{
	value = htole16(value);
	put(rows, &value, sizeof(value));
}

void rowbinary_u64(struct rowbinary *rows, uint64_t value)
{
	value = htole64(value);
	put(rows, &value, sizeof(value));
}

void rowbinary_real(struct rowbinary *rows, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	rowbinary_u64(rows, bits);
}

/* The length comes first, seven bits in a byte, the lowest first. */
void rowbinary_string(struct rowbinary *rows, const void *bytes, size_t length)
{
	size_t rest = length;

	for (; rest >= 0x80; rest >>= 7)
		put_byte(rows, (unsigned char)(rest | 0x80));
	put_byte(rows, (unsigned char)rest);
	if (length > 0)
		put(rows, bytes, length);
}

static void flush(struct rowbinary *rows)
{
	int fd = rows->error == 0 ? open(rows->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

	if (rows->error == 0)
		rows->error = fd < 0 ? errno : write_all(fd, rows->bytes, rows->used);
	if (fd >= 0 && close(fd) != 0 && rows->error == 0)
		rows->error = errno;
	rows->used = 0;
}

void rowbinary_end_row(struct rowbinary *rows)
{
	if (rows->used >= PART_BYTES)
		flush(rows);
}

bool rowbinary_end(struct rowbinary *rows)
{
	bool is_fine;

	if (rows->used > 0)
		flush(rows);
	is_fine = rows->error == 0;
	if (!is_fine)
		message_error(rows->error, "%s", rows->path);
	free(rows->path);
	free(rows->bytes);
	*rows = (struct rowbinary){0};
	return is_fine;
}
