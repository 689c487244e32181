/* SPDX-License-Identifier: MIT */
#include "check/raw.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "input/spool.h"

/* Text. */

#define LINE_BYTES 600 /* must be longer than an Intel record with 255 bytes */

struct converter {
	struct raw_file *file;
	FILE *text;
	size_t room;
	unsigned long line;
	uint64_t next_address;
	uint32_t upper; /* the upper part of the address in Intel HEX */
	bool has_address;
};

static bool put_byte(struct raw_file *file, size_t *room, unsigned char byte)
{
	if (file->size == *room) {
		unsigned char *bytes = realloc(file->bytes, *room ? *room * 2 : 65536);

		if (!bytes)
			return false;
		*room = *room ? *room * 2 : 65536;
		file->bytes = bytes;
	}
	file->bytes[file->size++] = byte;
	return true;
}

static int value_of(int digit)
{
	return isdigit(digit) ? digit - '0' : isxdigit(digit) ? tolower(digit) - 'a' + 10 : -1;
}

/* Convert a line of pairs of hex digits. Return the number of pairs, or 0 if the line has other characters. */
static size_t read_pairs(const char *line, unsigned char *pair)
{
	size_t n = 0;

	for (; line[0] && line[0] != '\r' && line[0] != '\n'; line += 2) {
		int high = value_of((unsigned char)line[0]);
		int low = high < 0 ? -1 : value_of((unsigned char)line[1]);

		if (low < 0)
			return 0;
		pair[n++] = (unsigned char)(high << 4 | low);
	}
	return n;
}

static bool put_data(struct converter *converter, uint64_t address, const unsigned char *data,
		     size_t size)
{
	if (converter->has_address && address != converter->next_address &&
	    !converter->file->jump_line)
		converter->file->jump_line = converter->line;
	converter->has_address = true;
	converter->next_address = address + size;
	for (size_t i = 0; i < size; i++)
		if (!put_byte(converter->file, &converter->room, data[i]))
			return false;
	return true;
}

static void check_sum(struct converter *converter, const unsigned char *pair, size_t n,
		      unsigned int expected)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pair[i];
	if ((sum & 0xFF) != expected && !converter->file->damaged_line)
		converter->file->damaged_line = converter->line;
}

/*
 * Convert a line of Intel HEX: length, address (2), kind, data, checksum. Return 1 if more records may follow, and 0
 * for the last record. Return -1 if the line is not a record of Intel HEX.
 */
static int take_intel(struct converter *converter, const char *line)
{
	unsigned char pair[LINE_BYTES];
	size_t n = read_pairs(line + 1, pair);

	if (n < 5 || n != (size_t)pair[0] + 5)
		return -1;
	check_sum(converter, pair, n, 0);
	if (pair[3] == 1)
		return 0;
	if ((pair[3] == 2 || pair[3] == 4) && pair[0] == 2)
		converter->upper = (uint32_t)(pair[4] << 8 | pair[5]) << (pair[3] == 2 ? 4 : 16);
	if (pair[3] == 0 &&
	    !put_data(converter, (uint64_t)converter->upper + (uint64_t)(pair[1] << 8 | pair[2]),
		      pair + 4, pair[0]))
		return -1;
	return 1;
}

/* Convert a line that is an S-record: kind, length of the rest, address (2 to 4), data, checksum. */
static int take_motorola(struct converter *converter, const char *line)
{
	int kind = line[1] ? value_of((unsigned char)line[1]) : -1;
	unsigned char pair[LINE_BYTES];
	size_t n = kind < 0 ? 0 : read_pairs(line + 2, pair);
	uint64_t address = 0;

	if (n < 3 || n != (size_t)pair[0] + 1 || kind > 9)
		return -1;
	check_sum(converter, pair, n, 0xFF);
	if (kind < 1 || kind > 3)
		return kind < 7;
	if (n < (size_t)kind + 3)
		return -1;
	for (int i = 1; i <= kind + 1; i++)
		address = address << 8 | pair[i];
	return put_data(converter, address, pair + kind + 2, n - (size_t)kind - 3) ? 1 : -1;
}

static bool take_lines(struct converter *converter)
{
	char line[LINE_BYTES + 2];
	int result = 1;

	while (result > 0 && fgets(line, sizeof(line), converter->text)) {
		converter->line++;
		if (line[0] == '\r' || line[0] == '\n')
			continue;
		result = line[0] == ':' ? take_intel(converter, line) :
			 line[0] == 'S' ? take_motorola(converter, line) :
					  -1;
	}
	return result >= 0;
}

static bool take_digits(struct converter *converter)
{
	int high = -1, c;

	while ((c = getc(converter->text)) != EOF) {
		int value = value_of(c);

		if (c == '\n' || c == '\r')
			continue;
		if (value < 0)
			return false;
		if (high >= 0 && !put_byte(converter->file, &converter->room,
					   (unsigned char)(high << 4 | value)))
			return false;
		high = high < 0 ? value : -1;
	}
	return high < 0;
}

/* Convert the file as text.  Return false if the text is neither hex digits nor Intel HEX nor S-records. */
static bool take_text(struct raw_file *file)
{
	int fd = dup(file->fd);
	struct converter converter = {.file = file, .text = fd < 0 ? NULL : fdopen(fd, "r")};
	int first;
	bool is_fine;

	if (!converter.text)
		return false;
	rewind(converter.text);
	file->is_text = true;
	file->size = 0;
	do
		first = getc(converter.text);
	while (first == '\r' || first == '\n');
	rewind(converter.text);
	is_fine = first == ':' || first == 'S' ? take_lines(&converter) : take_digits(&converter);
	fclose(converter.text);
	return is_fine;
}

/* Bytes. */

size_t raw_read(const struct raw_file *file, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;

	if (offset >= file->size)
		return 0;
	if (size > file->size - offset)
		size = (size_t)(file->size - offset);
	if (file->bytes) {
		memcpy(to, file->bytes + offset, size);
		return size;
	}
	while (done < size) {
		ssize_t n = pread(file->fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static bool take_id(struct raw_file *file)
{
	unsigned char id[4];

	if (raw_read(file, 0, id, sizeof(id)) < sizeof(id))
		return false;
	file->big_endian = memcmp(id, "TXTB", 4) == 0;
	return file->big_endian || memcmp(id, "BTXT", 4) == 0;
}

bool raw_open(struct raw_file *file, const char *path)
{
	struct stat status;

	memset(file, 0, sizeof(*file));
	file->fd = spool_open(path);
	if (file->fd < 0 || fstat(file->fd, &status) != 0) {
		message_error(errno, "%s", path);
		raw_close(file);
		return false;
	}
	file->size = (uint64_t)status.st_size;
	if (S_ISDIR(status.st_mode))
		message("%s is a directory", path);
	else if (!S_ISREG(status.st_mode))
		message("%s is not a file that can be read at any offset",
			path);
	else if (status.st_size == 0)
		message(MESSAGE_EMPTY, path);
	else if (take_id(file) || (take_text(file) && take_id(file)))
		return true;
	else
		message("%s: not a trace: TraceX finds neither TXTB at its beginning, nor hex "
			"digits, Intel HEX or S-records with TXTB",
			path);
	raw_close(file);
	return false;
}

void raw_close(struct raw_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->bytes);
	file->fd = -1;
	file->bytes = NULL;
}

/* Parts. */

static uint32_t half(const struct raw_file *file, const unsigned char *at)
{
	return file->big_endian ? (uint32_t)(at[0] << 8 | at[1]) : (uint32_t)(at[1] << 8 | at[0]);
}

static uint32_t word(const struct raw_file *file, const unsigned char *at)
{
	return file->big_endian ? half(file, at) << 16 | half(file, at + 2) :
				  half(file, at + 2) << 16 | half(file, at);
}

bool raw_header(const struct raw_file *file, uint64_t offset, struct raw_header *header)
{
	unsigned char bytes[RAW_HEADER_BYTES];

	if (raw_read(file, offset, bytes, sizeof(bytes)) < sizeof(bytes))
		return false;
	header->time_mask = word(file, bytes + 4);
	header->base = word(file, bytes + 8);
	header->registry_start = word(file, bytes + 12);
	header->name_size = half(file, bytes + 18);
	header->registry_end = word(file, bytes + 20);
	header->buffer_start = word(file, bytes + 24);
	header->buffer_end = word(file, bytes + 28);
	header->current = word(file, bytes + 32);
	return true;
}

bool raw_object(const struct raw_file *file, uint64_t offset, uint32_t name_size,
		struct raw_object *object)
{
	unsigned char bytes[RAW_OBJECT_BYTES + RAW_NAME_MAX];
	size_t size = RAW_OBJECT_BYTES + name_size;

	if (size > sizeof(bytes) || raw_read(file, offset, bytes, size) < size)
		return false;
	object->available = bytes[0];
	object->type = bytes[1];
	object->priority_high = bytes[2];
	object->priority_low = bytes[3];
	object->handle = word(file, bytes + 4);
	object->parameter[0] = word(file, bytes + 8);
	object->parameter[1] = word(file, bytes + 12);
	object->is_full = name_size > 0 && !memchr(bytes + RAW_OBJECT_BYTES, 0, name_size);
	memset(object->name, 0, sizeof(object->name));
	memcpy(object->name, bytes + RAW_OBJECT_BYTES, name_size);
	return true;
}

bool raw_event(const struct raw_file *file, struct raw_window *window, uint64_t offset,
	       struct raw_event *event)
{
	const unsigned char *at;

	if (window->offset == UINT64_MAX || offset < window->offset ||
	    offset - window->offset + RAW_EVENT_BYTES > window->size) {
		window->offset = offset;
		window->size = raw_read(file, offset, window->bytes, sizeof(window->bytes));
		if (window->size < RAW_EVENT_BYTES)
			return false;
	}
	at = window->bytes + (offset - window->offset);
	event->context = word(file, at);
	event->priority = word(file, at + 4);
	event->id = word(file, at + 8);
	event->stamp = word(file, at + 12);
	for (int i = 0; i < 4; i++)
		event->info[i] = word(file, at + 16 + 4 * i);
	return true;
}
