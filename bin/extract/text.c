/* SPDX-License-Identifier: MIT */
#include "extract/text.h"

#include <string.h>

#define LINE_BYTES 600 /* a record of 255 bytes needs 524 characters */
#define PAIRS (LINE_BYTES / 2)

struct record {
	enum { RECORD_NONE, RECORD_OTHER, RECORD_DATA, RECORD_UPPER } kind;
	bool is_damaged;
	uint64_t address; /* RECORD_UPPER: what the addresses of the next records begin with */
	size_t size;
	unsigned char data[PAIRS];
};

struct reader {
	struct scan *scan;
	struct text_faults *faults;
	uint64_t upper, next;
	bool is_running;
	size_t nr_space;
};

static int value_of(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 0x20;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Convert pairs of digits.  Return their number, or 0 if there are other characters. */
static size_t read_pairs(const char *line, size_t length, unsigned char *pair)
{
	if (length % 2 != 0 || length / 2 > PAIRS)
		return 0;
	for (size_t i = 0; i < length; i += 2) {
		int high = value_of(line[i]), low = value_of(line[i + 1]);

		if (high < 0 || low < 0)
			return 0;
		pair[i / 2] = (unsigned char)(high << 4 | low);
	}
	return length / 2;
}

static uint64_t big(const unsigned char *at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

static unsigned int sum_of(const unsigned char *pair, size_t n)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pair[i];
	return sum & 0xFF;
}

static void take_data(struct record *record, uint64_t address, const unsigned char *data, size_t size)
{
	record->kind = RECORD_DATA;
	record->address = address;
	record->size = size;
	memcpy(record->data, data, size);
}

/* length, address (2), kind, data, checksum */
static void read_intel(struct record *record, const unsigned char *pair, size_t n)
{
	if (n < 5 || n != (size_t)pair[0] + 5)
		return;
	record->kind = RECORD_OTHER;
	record->is_damaged = sum_of(pair, n) != 0;
	if (pair[3] == 0)
		take_data(record, big(pair + 1, 2), pair + 4, pair[0]);
	if ((pair[3] == 2 || pair[3] == 4) && pair[0] == 2) {
		record->kind = RECORD_UPPER;
		record->address = big(pair + 4, 2) << (pair[3] == 2 ? 4 : 16);
	}
}

/* length of the rest, address (2 to 4), data, checksum */
static void read_motorola(struct record *record, int kind, const unsigned char *pair, size_t n)
{
	size_t address = (size_t)kind + 1;

	if (n < 3 || n != (size_t)pair[0] + 1 || kind < 0 || kind > 9)
		return;
	record->kind = RECORD_OTHER;
	record->is_damaged = sum_of(pair, n) != 0xFF;
	if (kind >= 1 && kind <= 3 && n >= address + 2)
		take_data(record, big(pair + 1, address), pair + 1 + address, n - address - 2);
}

static void read_record(struct record *record, const char *line, size_t length)
{
	unsigned char pair[PAIRS];

	record->kind = RECORD_NONE;
	record->is_damaged = false;
	while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (length > 1 && line[0] == ':')
		read_intel(record, pair, read_pairs(line + 1, length - 1, pair));
	else if (length > 2 && line[0] == 'S')
		read_motorola(record, value_of(line[1]), pair, read_pairs(line + 2, length - 2, pair));
	else if (length == 0)
		record->kind = RECORD_OTHER;
}

bool text_is(const unsigned char *bytes, size_t size)
{
	const unsigned char *end = memchr(bytes, '\n', size);
	struct record record;

	if (size == 0 || !end || (bytes[0] != ':' && bytes[0] != 'S'))
		return false;
	read_record(&record, (const char *)bytes, (size_t)(end - bytes));
	return record.kind != RECORD_NONE;
}

static void flush(struct reader *reader)
{
	if (reader->nr_space > 0)
		scan_filled(reader->scan, reader->nr_space);
	reader->nr_space = 0;
}

static void take_record(struct reader *reader, const struct record *record)
{
	uint64_t address = reader->upper + record->address;

	if (record->kind == RECORD_NONE)
		reader->faults->nr_lines++;
	if (record->is_damaged)
		reader->faults->nr_damaged++;
	if (record->kind == RECORD_UPPER)
		reader->upper = record->address;
	if (record->kind != RECORD_DATA || record->size == 0)
		return;
	if (!reader->is_running || address != reader->next) {
		struct found place = {.has_address = true, .address = address};

		flush(reader);
		if (reader->is_running)
			scan_end(reader->scan);
		scan_begin(reader->scan, &place, UINT64_MAX);
		reader->is_running = true;
	}
	if (reader->nr_space + record->size > SCAN_CHUNK)
		flush(reader);
	memcpy(scan_space(reader->scan) + reader->nr_space, record->data, record->size);
	reader->nr_space += record->size;
	reader->next = address + record->size;
}

void text_scan(struct stream *stream, struct scan *scan, struct text_faults *faults)
{
	struct reader reader = {.scan = scan, .faults = faults};
	struct record record;
	char bytes[16384], line[LINE_BYTES];
	size_t length = 0, n;
	bool is_long = false;

	memset(faults, 0, sizeof(*faults));
	while ((n = stream_read(stream, bytes, sizeof(bytes))) > 0)
		for (size_t i = 0; i < n; i++) {
			if (bytes[i] != '\n') {
				is_long |= length == LINE_BYTES;
				if (!is_long)
					line[length++] = bytes[i];
				continue;
			}
			read_record(&record, line, is_long ? 0 : length);
			if (is_long)
				record.kind = RECORD_NONE;
			take_record(&reader, &record);
			length = 0;
			is_long = false;
		}
	if (length > 0) {
		read_record(&record, line, is_long ? 0 : length);
		if (is_long)
			record.kind = RECORD_NONE;
		take_record(&reader, &record);
	}
	flush(&reader);
	if (reader.is_running)
		scan_end(scan);
}
