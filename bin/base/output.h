/* SPDX-License-Identifier: MIT */
/*
 * Output to standard output or to a file, without the cost of stdio for each event.
 *
 * A file gets its name when it is complete.  Until then it has no name, or a temporary name in the same directory if the
 * file system has no unnamed files.  So neither a failure nor a signal leaves an incomplete file under the name.
 * After an error, all further output is ignored, and text_close() reports the error.
 */
#ifndef TXTRACE_BASE_OUTPUT_H
#define TXTRACE_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NS_PER_S 1000000000LL

#define OUTPUT_BYTES 65536

struct text {
	int fd;
	int error;
	char *path; /* NULL: standard output */
	char *part; /* temporary name; NULL: none */
	bool is_unnamed;
	bool overwrites;
	uint64_t written;
	size_t used;
	char bytes[OUTPUT_BYTES];
};

/*
 * Open a file; path NULL or "-": standard output.  If the file exists, this fails unless overwrites is set.  False: this
 * printed a message.
 */
bool text_open(struct text *text, const char *path, bool overwrites);

/* keep false: the output is incomplete, so remove the file.  False: a write failed, and this printed a message. */
bool text_close(struct text *text, bool keep);

void text_flush(struct text *text);

/* Replace bytes that were written, at an offset of a file.  A pipe stays as it is. */
void text_patch(struct text *text, uint64_t offset, const void *bytes, size_t size);

/* Bytes put so far. */
static inline uint64_t text_offset(const struct text *text)
{
	return text->written + text->used;
}

void text_put_large(struct text *text, const void *bytes, size_t size);

static inline void text_put(struct text *text, const void *bytes, size_t size)
{
	if (size > OUTPUT_BYTES - text->used) {
		text_put_large(text, bytes, size);
		return;
	}
	memcpy(text->bytes + text->used, bytes, size);
	text->used += size;
}

static inline void text_char(struct text *text, char c)
{
	if (text->used == OUTPUT_BYTES)
		text_flush(text);
	text->bytes[text->used++] = c;
}

static inline void text_string(struct text *text, const char *string)
{
	text_put(text, string, strlen(string));
}

/* Numbers, padded on the left with fill to at least width characters. */
void text_unsigned(struct text *text, uint64_t number, int width, char fill);
void text_signed(struct text *text, int64_t number);
void text_hex(struct text *text, uint64_t number, int width);

/* Two hex digits for each byte. */
void text_bytes(struct text *text, const void *bytes, size_t size);

/* Seconds with nine decimals. */
void text_seconds(struct text *text, int64_t ns, int width);

/* A string that is safe for a terminal: other bytes become '?'.  It is padded with blanks to width. */
void text_plain(struct text *text, const char *string, size_t width);

/* A string quoted for JSON or CSV (RFC 4180).  Bytes that are not UTF-8 become U+FFFD in JSON. */
void text_json(struct text *text, const char *string);
void text_csv(struct text *text, const char *string);

/* A copy with '?' for bytes that are not UTF-8, cut to size. */
void text_utf8(char *copy, size_t size, const char *string);

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
