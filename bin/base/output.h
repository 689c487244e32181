/* SPDX-License-Identifier: MIT */
/*
 * Output: bytes to standard output or into a file, without stdio's cost for each event.
 *
 * A file gets its name when it is complete, and a failure leaves nothing, nor does a signal: until then it has no name,
 * or another one beside it where the file system has no files without.
 * An error is kept: text_close() tells it, and what is put after it goes nowhere.
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
	char *part; /* its name until it is complete; NULL: it has none */
	bool is_unnamed;
	bool overwrites;
	uint64_t written;
	size_t used;
	char bytes[OUTPUT_BYTES];
};

/* path NULL or "-": standard output.  False: that was said.  Refuses a file that exists, unless told to. */
bool text_open(struct text *text, const char *path, bool overwrites);

/* keep false: the work was not done, so no file is left.  False: it could not be written, and that was said. */
bool text_close(struct text *text, bool wait_history);

void text_flush(struct text *text);

/* Write over what was written, at an offset of a file; nothing happens to a pipe. */
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

/* Numbers; width: at least so many characters, filled with the given one on the left. */
void text_unsigned(struct text *text, uint64_t number, int width, char fill);
void text_signed(struct text *text, int64_t number);
void text_hex(struct text *text, uint64_t number, int width);

/* Two hex digits for each byte. */
void text_bytes(struct text *text, const void *bytes, size_t size);

/* Seconds with nine digits behind the point. */
void text_seconds(struct text *text, int64_t ns, int width);

/* What a terminal may see: other bytes become '?'.  width: filled up with blanks; 0: as it is. */
void text_plain(struct text *text, const char *string, size_t width);

/* In quotes, as JSON and CSV (RFC 4180) want them.  What is no UTF-8 becomes U+FFFD in JSON. */
void text_json(struct text *text, const char *string);
void text_csv(struct text *text, const char *string);

/* A copy in which all is UTF-8: other bytes are '?'.  Cut to fit. */
void text_utf8(char *copy, size_t size, const char *string);

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
