/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/files.h"
#include "base/message.h"
#include "base/unnamed.h"

static bool open_file(struct text *text)
{
	struct stat status;

	if (stat(text->path, &status) == 0 && S_ISDIR(status.st_mode)) {
		message("%s is a directory", text->path);
		return false;
	}
	if (!text->overwrites && lstat(text->path, &status) == 0) {
		message("%s exists; --force overwrites it", text->path);
		return false;
	}
	/* If the path is a device or a pipe, write to it directly. */
	if (stat(text->path, &status) == 0 && !S_ISREG(status.st_mode)) {
		text->fd = open(text->path, O_WRONLY | O_CLOEXEC);
	} else if ((text->fd = unnamed_open(text->path, O_WRONLY)) >= 0) {
		text->is_unnamed = true;
	} else if (asprintf(&text->part, "%s.XXXXXX", text->path) >= 0) {
		text->fd = mkostemp(text->part, O_CLOEXEC);
		if (text->fd >= 0) {
			mode_t mask = umask(0);

			umask(mask);
			fchmod(text->fd, 0666 & ~mask);
		}
	}
	if (text->fd < 0)
		message_error(errno, "%s", text->path);
	return text->fd >= 0;
}

static bool has_pager;

void text_expect_pager(void)
{
	has_pager = true;
}

bool text_open(struct text *text, const char *path, bool overwrites)
{
	text->fd = STDOUT_FILENO;
	text->is_terminal = false;
	text->error = 0;
	text->path = text->part = NULL;
	text->is_unnamed = false;
	text->overwrites = overwrites;
	text->written = 0;
	text->used = 0;
	if (!path || strcmp(path, "-") == 0) {
		text->is_terminal = has_pager || isatty(STDOUT_FILENO);
		return true;
	}
	text->fd = -1;
	text->path = overwrites ? target_of(path) : strdup(path);
	if (text->path && open_file(text)) {
		text->is_terminal = isatty(text->fd);
		return true;
	}
	free(text->path);
	free(text->part);
	return false;
}

static void write_out(struct text *text, const char *bytes, size_t size)
{
	if (!text->error)
		text->error = write_all(text->fd, bytes, size);
	if (!text->error)
		text->written += size;
}

void text_flush(struct text *text)
{
	write_out(text, text->bytes, text->used);
	text->used = 0;
}

void text_put_large(struct text *text, const void *bytes, size_t size)
{
	text_flush(text);
	if (size > OUTPUT_BYTES) {
		write_out(text, bytes, size);
		return;
	}
	memcpy(text->bytes, bytes, size);
	text->used = size;
}

void text_patch(struct text *text, uint64_t offset, const void *bytes, size_t size)
{
	text_flush(text);
	if (!text->error && pwrite(text->fd, bytes, size, (off_t)offset) != (ssize_t)size)
		text->error = errno != ESPIPE ? errno : 0;
}

/* link() never overwrites a file.  If the file system does not support links, rename the file as with --force. */
static int give_name(const struct text *text)
{
	if (!text->overwrites && link(text->part, text->path) == 0)
		return unlink(text->part);
	if (!text->overwrites && errno == EEXIST)
		return -1;
	return rename(text->part, text->path);
}

bool text_close(struct text *text, bool keep)
{
	text_flush(text);
	if (text->is_unnamed && keep && !text->error)
		text->error = unnamed_give_name(text->fd, text->path, text->overwrites);
	if (text->path && close(text->fd) != 0 && !text->error)
		text->error = errno;
	if (text->part && keep && !text->error && give_name(text) != 0)
		text->error = errno;
	if (text->part && (!keep || text->error))
		unlink(text->part);
	if (keep && text->error && text->error != EPIPE) /* a closed pipe (EPIPE) is not an error */
		message_error(text->error, "%s", text->path ? text->path : "standard output");
	free(text->path);
	free(text->part);
	text->path = text->part = NULL;
	return !text->error || text->error == EPIPE;
}

void text_unsigned(struct text *text, uint64_t number, int width, char fill)
{
	char digits[24];
	int i = sizeof(digits);

	do
		digits[--i] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	for (width -= (int)sizeof(digits) - i; width > 0; width--)
		text_char(text, fill);
	text_put(text, digits + i, sizeof(digits) - (size_t)i);
}

void text_signed(struct text *text, int64_t number)
{
	if (number < 0)
		text_char(text, '-');
	text_unsigned(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 0, ' ');
}

void text_hex(struct text *text, uint64_t number, int width)
{
	char digits[16];
	int i = sizeof(digits);

	do
		digits[--i] = "0123456789abcdef"[number & 15];
	while ((number >>= 4) > 0);
	for (width -= (int)sizeof(digits) - i; width > 0; width--)
		text_char(text, '0');
	text_put(text, digits + i, sizeof(digits) - (size_t)i);
}

void text_words(struct text *text, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += 4) {
		if (i > 0)
			text_char(text, ' ');
		text_bytes(text, (const unsigned char *)bytes + i, size - i < 4 ? size - i : 4);
	}
}

void text_bytes(struct text *text, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *at = bytes;

	while (size > 0) {
		size_t part = size < OUTPUT_BYTES / 2 ? size : OUTPUT_BYTES / 2;
		char *to;

		if (2 * part > OUTPUT_BYTES - text->used)
			text_flush(text);
		to = text->bytes + text->used;
		for (size_t i = 0; i < part; i++) {
			*to++ = digits[at[i] >> 4];
			*to++ = digits[at[i] & 15];
		}
		text->used += 2 * part;
		at += part;
		size -= part;
	}
}

void text_seconds(struct text *text, int64_t ns, int width)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	if (ns < 0) {
		text_char(text, '-');
		width--;
	}
	text_unsigned(text, size / 1000000000, width - 10, ' ');
	text_char(text, '.');
	text_unsigned(text, size % 1000000000, 9, '0');
}

/* Return the length of the UTF-8 sequence here, or 0 if it is invalid. */
static size_t sequence(const unsigned char *at)
{
	size_t length = at[0] < 0x80		       ? 1 :
			at[0] >= 0xC2 && at[0] <= 0xDF ? 2 :
			at[0] >= 0xE0 && at[0] <= 0xEF ? 3 :
			at[0] >= 0xF0 && at[0] <= 0xF4 ? 4 :
							 0;

	for (size_t i = 1; i < length; i++)
		if ((at[i] & 0xC0) != 0x80)
			return 0;
	if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
	    (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
		return 0;
	return length;
}

/* Return the number of bytes from here on that need no escape in JSON.  All these bytes are ASCII. */
static size_t plain_length(const unsigned char *at)
{
	size_t length = 0;

	while (at[length] >= 0x20 && at[length] < 0x7F && at[length] != '"' && at[length] != '\\' &&
	       at[length] != '<')
		length++;
	return length;
}

void text_json(struct text *text, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;

	text_char(text, '"');
	for (;;) {
		size_t length = plain_length(at);

		text_put(text, at, length);
		at += length;
		if (!*at)
			break;
		length = sequence(at);
		if (length == 0)
			text_string(text, "\\ufffd");
		else if (*at == '"' || *at == '\\')
			text_printf(text, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7F || *at == '<') /* "</script" would end the script of a page */
			text_printf(text, "\\u%04x", *at);
		else if (at[0] == 0xC2 && at[1] < 0xA0)
			text_printf(text, "\\u%04x", at[1]); /* U+0080 to U+009F are also control characters */
		else
			text_put(text, at, length);
		at += length > 0 ? length : 1;
	}
	text_char(text, '"');
}

void text_utf8(char *copy, size_t size, const char *string)
{
	size_t used = 0;

	while (*string) {
		size_t length, taken;

		if ((unsigned char)*string < 0x80) { /* nearly all bytes are ASCII */
			if (used + 1 >= size)
				break;
			copy[used++] = *string++;
			continue;
		}
		length = sequence((const unsigned char *)string);
		taken = length > 0 ? length : 1;
		if (used + taken >= size)
			break;
		memcpy(copy + used, length > 0 ? string : "?", taken);
		used += taken;
		string += taken;
	}
	copy[used] = '\0';
}

/* Return the length of this character if it is safe to print.  Return 0 if the character may control the terminal. */
static size_t harmless(const unsigned char *at)
{
	bool is_control = at[0] < ' ' || at[0] == 0x7F || (at[0] == 0xC2 && at[1] < 0xA0);

	return is_control ? 0 : sequence(at);
}

static bool is_utf8;

void text_use_locale(void)
{
	is_utf8 = setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static wchar_t decode(const unsigned char *at, size_t length)
{
	wchar_t code = length == 2 ? at[0] & 0x1F : length == 3 ? at[0] & 0x0F : at[0] & 0x07;

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (at[i] & 0x3F);
	return code;
}

/*
 * Return the bytes of the character here, and its columns.  Return 0 if the character must not be printed.  Characters
 * without a column are left out too: some of them reverse the text.
 */
static size_t printable(const unsigned char *at, size_t *columns)
{
	size_t length = harmless(at);
	int width;

	*columns = 1;
	if (length <= 1)
		return length;
	width = is_utf8 ? wcwidth(decode(at, length)) : 0;
	*columns = width > 0 ? (size_t)width : 1;
	return width > 0 ? length : 0;
}

/* Return the bytes of the character here, printable or not. */
static size_t skip(const unsigned char *at)
{
	size_t length = is_utf8 ? sequence(at) : 1;

	return length > 0 ? length : 1;
}

/* Return the number of printable ASCII characters at the beginning.  Most strings have no others. */
static size_t ascii_length(const char *string)
{
	size_t length = 0;

	while (string[length] >= ' ' && string[length] <= '~')
		length++;
	return length;
}

size_t text_width(const char *string)
{
	size_t width = ascii_length(string), columns;

	for (const unsigned char *at = (const unsigned char *)string + width; *at; at += skip(at)) {
		printable(at, &columns);
		width += columns;
	}
	return width;
}

void text_plain(struct text *text, const char *string, size_t width)
{
	size_t used = ascii_length(string), columns;

	text_put(text, string, used);
	for (const unsigned char *at = (const unsigned char *)string + used; *at; at += skip(at)) {
		size_t length = printable(at, &columns);

		text_put(text, length > 0 ? (const char *)at : "?", length > 0 ? length : 1);
		used += columns;
	}
	while (used < width) {
		static const char blanks[32] = "                                ";
		size_t part = width - used < sizeof(blanks) ? width - used : sizeof(blanks);

		text_put(text, blanks, part);
		used += part;
	}
}

void text_make_harmless(char *line)
{
	size_t length;

	for (; *line; line += length > 0 ? length : 1) {
		length = harmless((unsigned char *)line);
		if (length == 0)
			*line = '?';
	}
}

static size_t put_csv_char(struct text *text, const char *at)
{
	size_t length = text->is_terminal && *at != '\n' ? harmless((const unsigned char *)at) : 1;

	if (*at == '"')
		text_char(text, '"');
	if (length == 0)
		text_char(text, '?');
	else
		text_put(text, at, length);
	return length > 0 ? length : 1;
}

void text_csv(struct text *text, const char *string)
{
	bool is_quoted = strpbrk(string, "\",\r\n") != NULL;

	if (!is_quoted && !text->is_terminal) {
		text_string(text, string);
		return;
	}
	if (is_quoted)
		text_char(text, '"');
	while (*string)
		string += put_csv_char(text, string);
	if (is_quoted)
		text_char(text, '"');
}

void text_printf(struct text *text, const char *format, ...)
{
	char line[1024];
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	if (length > 0)
		text_put(text, line,
			 (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}
