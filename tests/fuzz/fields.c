/* SPDX-License-Identifier: MIT */
/*
 * An arbitrary description, and arbitrary data that are read with it: for libFuzzer, and, without it, for files named
 * on the command line.  The first byte of an input chooses the kind of machine, a byte 0xff ends the description, and
 * the rest is the data.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/fields.h"
#include "fields/span.h"

#define INPUT_MAX 70000 /* more than the longest description and the longest data of its fields */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct seen {
	size_t nr, bytes;
	int depth;
	char path[64];
};

/* Access each part of a value. */
static void visit(void *argument, enum px_fields_step step, const char *name,
		  const struct px_field_value *value)
{
	struct seen *seen = argument;

	seen->nr++;
	seen->depth += step == PX_FIELDS_BEGIN_STRUCT || step == PX_FIELDS_BEGIN_ARRAY;
	seen->depth -= step == PX_FIELDS_END_STRUCT || step == PX_FIELDS_END_ARRAY;
	if (name && strlen(name) < sizeof(seen->path))
		strcpy(seen->path, name);
	for (size_t i = 0; value && i < value->length; i++)
		seen->bytes += (unsigned char)value->text[i];
	if (value && value->name)
		seen->bytes += strlen(value->name);
}

static void use(const struct px_fields *fields, const unsigned char *data, size_t size)
{
	struct px_field_place place;
	struct px_field_value value;
	struct seen seen = {0};

	if (!fields->top) {
		if (!fields->reference)
			abort();
		return;
	}
	if (fields->top->size > PX_FIELDS_SIZE_MAX || fields->top->nr_values > PX_FIELDS_VALUES_MAX)
		abort();
	(void)px_fields_walk(fields, data, size, visit, &seen);
	/* The data may add elements of an open array, but nothing else. */
	if (seen.depth != 0 || seen.nr > 4 * ((size_t)PX_FIELDS_VALUES_MAX + size) * PX_FIELDS_DEPTH)
		abort();
	if (px_fields_find(fields, seen.path, &place))
		(void)px_fields_get(fields, &place, data, size, &value);
	if (size > 0 && memchr(data, '\0', size) && px_fields_find(fields, (const char *)data, &place))
		(void)px_fields_get(fields, &place, data, size, &value);
}

/* What describes a span is read back as it was. */
static void use_span(const char *text, size_t length)
{
	char again[PX_SPAN_TEXT_MAX + 1];
	struct px_span span, same;
	size_t size;

	if (!px_span_parse(text, length, &span))
		return;
	size = px_span_write(span.begin, span.end, span.field[0] ? span.field : NULL, again);
	if (!px_span_parse(again, size, &same) || strcmp(span.begin, same.begin) != 0 ||
	    strcmp(span.end, same.end) != 0 || strcmp(span.field, same.field) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static const struct px_fields_model others[] = {
		{.of_long = 4, .of_pointer = 4, .of_long_double = 8, .align_max = 8, .is_big = true},
		{.of_long = 4, .of_pointer = 4, .of_long_double = 12, .align_max = 4, .is_big = false},
	};
	struct px_fields_model model = px_fields_native();
	struct px_fields_error error = {0, NULL};
	struct px_fields *fields = NULL;
	const uint8_t *end;
	size_t length;
	char *text;
	unsigned char *data;

	if (size == 0)
		return 0;
	if (input[0] & 3)
		model = others[input[0] & 1];
	end = memchr(input + 1, 0xff, size - 1);
	length = end ? (size_t)(end - input) - 1 : size - 1;
	size -= length + 1 + (end != NULL);
	/* Copies of exactly these sizes, so that a sanitizer finds an access beyond them. */
	text = malloc(length ? length : 1);
	data = malloc(size ? size : 1);
	if (!text || !data)
		abort();
	memcpy(text, input + 1, length);
	if (end)
		memcpy(data, end + 1, size);
	use_span(text, length);
	if (px_fields_parse(text, length, &model, &fields, &error) == 0) {
		use(fields, data, size);
		px_fields_free(fields);
	} else if (error.column == 0 || error.column > length + 1 || !error.what) {
		abort();
	}
	free(text);
	free(data);
	return 0;
}

#include "fuzz/main.h"

#if !defined __AFL_FUZZ_TESTCASE_LEN && !defined FUZZ_WITH_LIBFUZZER
static void use_input(uint8_t *input, size_t size)
{
	LLVMFuzzerTestOneInput(input, size);
}
#endif
