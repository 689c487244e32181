/* SPDX-License-Identifier: MIT */
/*
 * Rows in ClickHouse's format RowBinary, in a file: the values one behind the other, in little endian.  Before a value
 * that may be NULL comes a byte, 1 for NULL.
 *
 * The file is open only while a part is written to it, so any number of tables can be written at once.
 */
#ifndef TXTRACE_EXPORT_ROWBINARY_H
#define TXTRACE_EXPORT_ROWBINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rowbinary {
	char *path; /* NULL before the first row */
	unsigned char *bytes;
	size_t used, room;
	int error; /* of the first write that failed; later output is ignored */
};

/* Write the rows to a new file.  The caller gives the path away. */
void rowbinary_begin(struct rowbinary *rows, char *path);

void rowbinary_null(struct rowbinary *rows, bool is_null);
void rowbinary_u16(struct rowbinary *rows, uint16_t value);
void rowbinary_u64(struct rowbinary *rows, uint64_t value);
void rowbinary_real(struct rowbinary *rows, double value);
void rowbinary_string(struct rowbinary *rows, const void *bytes, size_t length);

/* Call this after each row. */
void rowbinary_end_row(struct rowbinary *rows);

/* Write the rest, and free the memory.  After an error, print a message and return false. */
bool rowbinary_end(struct rowbinary *rows);

#endif
