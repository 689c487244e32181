/* SPDX-License-Identifier: MIT */
/*
 * Output to standard output or to a file.  It costs less for each event than stdio.
 *
 * A file gets its final name when it is complete.  Until then the file has no name. If the file system does not support
 * files without names, the file has a temporary name in the same directory.  So neither a failure nor a signal leaves
 * an incomplete file under the final name.  After an error, all further output is ignored, and text_close() reports the
 * error.
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
	char *path; /* NULL means standard output */
	char *part; /* the temporary name, or NULL if there is none */
	bool is_unnamed;
	bool overwrites;
	bool is_terminal;
	uint64_t written;
	size_t used;
	char bytes[OUTPUT_BYTES];
};

/*
 * Open a file.  If path is NULL or "-", use standard output. If overwrites is false and the file exists, the function
 * fails.  After a failure, print a message and return false.
 */
bool text_open(struct text *text, const char *path, bool overwrites);

/* Tell this module that standard output goes to a pager.  Standard output then counts as a terminal. */
void text_expect_pager(void);

/*
 * If keep is false, the output is incomplete, and the function removes the file.  If a write failed, print a message
 * and return false.
 */
bool text_close(struct text *text, bool keep);

void text_flush(struct text *text);

/* Overwrite bytes of the file at an offset.  If the output is a pipe, do nothing. */
void text_patch(struct text *text, uint64_t offset, const void *bytes, size_t size);

/* Return the number of bytes written so far. */
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

/* Put a number, padded on the left with fill to at least width characters. */
void text_unsigned(struct text *text, uint64_t number, int width, char fill);
/* Put a number with its sign if it is negative. */
void text_signed(struct text *text, int64_t number);
/* Put a number in hex digits, padded on the left with zeros to at least width digits. */
void text_hex(struct text *text, uint64_t number, int width);

/* Put two hex digits for each byte. */
void text_bytes(struct text *text, const void *bytes, size_t size);
/* Do the same, with a blank after each four bytes. */
void text_words(struct text *text, const void *bytes, size_t size);

/* Put a time in seconds with nine decimals, padded on the left with blanks to at least width characters. */
void text_seconds(struct text *text, int64_t ns, int width);

/* Use the character set of the user.  Without this call, or if it is not UTF-8, text_plain() prints only ASCII. */
void text_use_locale(void);

/*
 * Put a string that is safe for a terminal: replace each character that the user's character set does not have, and
 * each control character, with '?'.  Pad the string with blanks to width.
 */
void text_plain(struct text *text, const char *string, size_t width);

/* Return the number of columns that text_plain() needs for a string. */
size_t text_width(const char *string);

/* Put a string, quoted for JSON.  Bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *string);
/*
 * Put a string, quoted for CSV (RFC 4180) if necessary.  On a terminal, control characters and bytes that are not UTF-8
 * become '?', because the terminal would interpret them.  In other outputs all bytes stay as they are.
 */
void text_csv(struct text *text, const char *string);

/* Make a line safe for a terminal: replace line ends and the characters that text_csv() replaces with '?'. */
void text_make_harmless(char *line);

/* Copy a string, and replace bytes that are not UTF-8 with '?'. If the copy needs more than size bytes, truncate it. */
void text_utf8(char *copy, size_t size, const char *string);

void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
