/* SPDX-License-Identifier: MIT */
/*
 * A line has a mark (":" or "S"), pairs of digits, and a line break.  Bare text has no marks, and
 * its line breaks have no meaning.  The meaning of a pair depends on its position in the line, and
 * on the length and the kind of the record:
 *
 *	Intel HEX	: length, address (2), kind, data (length), checksum
 *	S-record	S kind, length of the rest, address (2 to 4), data, checksum
 */
#include "txtb/hextext.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "txtb/file.h"

#define CHUNK 65536
#define ID_BYTES 4

enum kind { UNKNOWN, INTEL = ':', MOTOROLA = 'S', BARE = 'x' };

/* The use of the data of a line.  Until the converter knows the kind of the line, this is IGNORED. */
enum use { DATA, IGNORED, END };

struct converter {
	enum kind kind;
	/* The text has ended: with an end record, or with more bytes than any image has. */
	bool is_over;

	bool in_line;
	int type; /* digit after the S of an S-record; -1: the converter has not read it yet */
	enum use use;
	uint32_t nr_pairs; /* number of pairs of the line that were read so far */
	uint32_t nr_all;   /* number of pairs of the line, according to its length field */
	uint32_t nr_ahead; /* number of pairs before the data */
	/* Value of the first digit of a pair; -1: the next digit is the first of a pair. */
	int high;

	int fd;
	uint64_t nr_written;
	size_t nr_out;
	unsigned char text[CHUNK];
	unsigned char out[CHUNK / 2 + ID_BYTES];
};

static int value_of(unsigned char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

static bool is_break(unsigned char byte)
{
	return byte == '\n' || byte == '\r';
}

/* The kind of an Intel record is in the fourth pair, after the length and the address. */
static void take_intel_pair(struct converter *converter, unsigned char value)
{
	if (converter->nr_pairs == 0)
		converter->nr_all = value + 5u;
	if (converter->nr_pairs == 3)
		converter->use = value == 0 ? DATA : value == 1 ? END : IGNORED;
}

static int take_motorola_pair(struct converter *converter, unsigned char value)
{
	if (converter->nr_pairs > 0)
		return 0;
	converter->nr_all = value + 1u;
	return converter->use == DATA && converter->nr_all < converter->nr_ahead + 1 ? EINVAL : 0;
}

static int take_pair(struct converter *converter, unsigned char value)
{
	bool is_data = converter->kind == BARE;

	if (converter->kind == INTEL)
		take_intel_pair(converter, value);
	if (converter->kind == MOTOROLA && take_motorola_pair(converter, value))
		return EINVAL;
	if (!is_data) {
		if (converter->nr_pairs > 0 && converter->nr_pairs >= converter->nr_all)
			return EINVAL; /* the line has more pairs than its length field allows */
		/* The last pair is the checksum. */
		is_data = converter->use == DATA && converter->nr_pairs >= converter->nr_ahead &&
			  converter->nr_pairs + 1 < converter->nr_all;
		converter->nr_pairs++;
	}
	if (is_data)
		converter->out[converter->nr_out++] = value;
	return 0;
}

static int take_digit(struct converter *converter, unsigned char digit)
{
	int value = value_of(digit), high = converter->high;

	if (value < 0)
		return EINVAL;
	converter->high = high < 0 ? value : -1;
	return high < 0 ? 0 : take_pair(converter, (unsigned char)(high << 4 | value));
}

/* S0 is a title, S5 and S6 count records, S4 is not used. */
static int take_type(struct converter *converter, unsigned char digit)
{
	if (digit < '0' || digit > '9')
		return EINVAL;
	converter->type = digit - '0';
	converter->use = digit >= '7' ? END : digit >= '1' && digit <= '3' ? DATA : IGNORED;
	/* One pair for the length, the others for the address. */
	converter->nr_ahead = 1 + (uint32_t)converter->type + 1;
	return 0;
}

static int begin_line(struct converter *converter, unsigned char byte)
{
	if (byte != converter->kind)
		return EINVAL;
	converter->in_line = true;
	converter->type = -1;
	converter->use = IGNORED;
	converter->nr_pairs = 0;
	converter->nr_all = 0;
	converter->nr_ahead = 4;
	return 0;
}

static int end_line(struct converter *converter)
{
	if (!converter->in_line)
		return 0;
	if (converter->high >= 0 || converter->nr_pairs == 0 ||
	    converter->nr_pairs < converter->nr_all)
		return EINVAL;
	converter->in_line = false;
	converter->is_over = converter->use == END;
	return 0;
}

static int take_byte(struct converter *converter, unsigned char byte)
{
	if (converter->kind == UNKNOWN && !is_break(byte))
		converter->kind = byte == INTEL || byte == MOTOROLA ? (enum kind)byte : BARE;
	if (converter->kind == BARE)
		return is_break(byte) ? 0 : take_digit(converter, byte);
	if (is_break(byte))
		return end_line(converter);
	if (!converter->in_line)
		return begin_line(converter, byte);
	if (converter->kind == MOTOROLA && converter->type < 0)
		return take_type(converter, byte);
	return take_digit(converter, byte);
}

/* Check the last line, which may have no line break. */
static int end_text(struct converter *converter)
{
	if (converter->is_over)
		return 0;
	if (converter->high >= 0)
		return EINVAL;
	return end_line(converter);
}

static int write_out(struct converter *converter)
{
	size_t done = 0;

	while (done < converter->nr_out) {
		ssize_t n = write(converter->fd, converter->out + done, converter->nr_out - done);

		if (n < 0 && errno != EINTR)
			return ENOMEM;
		if (n > 0)
			done += (size_t)n;
	}
	converter->nr_written += converter->nr_out;
	converter->nr_out = 0;
	if (converter->nr_written >= PX_TXTB_FILE_SIZE_MAX)
		converter->is_over = true;
	return 0;
}

/*
 * Check the first bytes of the result, the id of a trace buffer, before the first write.  So this module converts only
 * one chunk of a long text that is not a trace buffer.  Set *is_known to false if the result does not have these bytes
 * yet.
 */
static int check_id(const struct converter *converter, bool is_end, bool *is_known)
{
	bool is_swapped;

	*is_known = converter->nr_written > 0 || converter->nr_out >= ID_BYTES;
	if (!*is_known)
		return is_end ? EINVAL : 0;
	if (converter->nr_written == 0 && !px_txtb_file_is_id(converter->out, &is_swapped))
		return EINVAL;
	return 0;
}

static int take_chunk(struct converter *converter, size_t n, bool is_end)
{
	bool is_known;
	int error = 0;

	for (size_t i = 0; i < n && !error && !converter->is_over; i++)
		error = take_byte(converter, converter->text[i]);
	if (!error && is_end)
		error = end_text(converter);
	if (!error)
		error = check_id(converter, is_end || converter->is_over, &is_known);
	return !error && is_known ? write_out(converter) : error;
}

/* Convert no more than text_size bytes, even if the file with the text grows. */
static int convert(struct converter *converter, int fd, uint64_t text_size)
{
	uint64_t offset = 0;
	bool is_end = false;
	int error = 0;

	while (!error && !is_end && !converter->is_over) {
		size_t wanted = text_size - offset < CHUNK ? (size_t)(text_size - offset) : CHUNK;
		size_t n = px_txtb_file_read(fd, converter->text, wanted, offset);

		offset += n;
		is_end = n < wanted || offset == text_size;
		error = take_chunk(converter, n, is_end);
	}
	return error;
}

/*
 * Check the file size limit first, because a write beyond this limit also makes the kernel send
 * SIGXFSZ.
 */
static int make_memory(uint64_t size, int *fd)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur)
		return ENOMEM;
	*fd = memfd_create("posixtrace-hextext", MFD_CLOEXEC);
	if (*fd < 0)
		return errno == ENOMEM ? ENOMEM : EMFILE;
	return 0;
}

int px_hextext_convert(int fd, uint64_t text_size, int *memory_fd, uint64_t *size)
{
	struct converter *converter = calloc(1, sizeof(*converter));
	int error;

	if (!converter)
		return ENOMEM;
	converter->high = -1;
	error = make_memory(text_size / 2, &converter->fd);
	if (error)
		goto free_converter;
	error = convert(converter, fd, text_size);
	if (error)
		goto close_memory;
	*memory_fd = converter->fd;
	*size = converter->nr_written;
	goto free_converter;

close_memory:
	close(converter->fd);
free_converter:
	free(converter);
	return error;
}
