/* SPDX-License-Identifier: MIT */
/*
 * Data of one kind of machine as data of another: what a description shows of them is the same on both.  Descriptions,
 * machines, data and their sizes are at random.
 */
#include "support/common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/convert.h"

/* i386, x86-64, ARM of 32 bits, PowerPC of 64 bits, s390x, and PowerPC of 32 bits. */
static const struct px_fields_model machines[] = {
	{.of_long = 4,
	 .of_pointer = 4,
	 .of_long_double = 12,
	 .long_double_digits = 64,
	 .align_max = 4},
	{.of_long = 8,
	 .of_pointer = 8,
	 .of_long_double = 16,
	 .long_double_digits = 64,
	 .align_max = 16},
	{.of_long = 4,
	 .of_pointer = 4,
	 .of_long_double = 8,
	 .long_double_digits = 53,
	 .align_max = 8},
	{.of_long = 8,
	 .of_pointer = 8,
	 .of_long_double = 16,
	 .long_double_digits = 106,
	 .align_max = 16},
	{.of_long = 8,
	 .of_pointer = 8,
	 .of_long_double = 16,
	 .long_double_digits = 113,
	 .align_max = 8,
	 .is_big = true},
	{.of_long = 4,
	 .of_pointer = 4,
	 .of_long_double = 16,
	 .long_double_digits = 106,
	 .align_max = 16,
	 .is_big = true},
};
#define MACHINES (sizeof(machines) / sizeof(machines[0]))
#define I386 (&machines[0])
#define X86_64 (&machines[1])
#define S390X (&machines[4])

static struct px_fields *parse(const char *text, const struct px_fields_model *model)
{
	struct px_fields_error error = {0, "no error"};
	struct px_fields *fields = NULL;

	ck_assert_msg(px_fields_parse(text, strlen(text), model, &fields, &error) == 0,
		      "%s: %zu: %s", text, error.column, error.what);
	return fields;
}

/* What is shown: only values, because an array of which no element is whole may be there, or not. */
struct shown {
	char text[32768];
	size_t used;
};

static void show(void *argument, enum px_fields_step step, const char *name,
		 const struct px_field_value *value)
{
	struct shown *shown = argument;
	char *at = shown->text + shown->used;
	const size_t room = sizeof(shown->text) - shown->used;
	int length;

	if (step != PX_FIELDS_VALUE)
		return;
	if (value->is_text)
		length = snprintf(at, room, "%s=\"%.*s\"%d ", name ?: "", (int)value->length,
				  value->text, value->is_cut);
	else if (value->kind == PX_FIELD_FLOAT)
		length = snprintf(at, room, "%s=%a ", name ?: "", value->real);
	else
		length = snprintf(at, room, "%s=%llu %s ", name ?: "",
				  (unsigned long long)value->number, value->name ?: "");
	ck_assert_int_lt(length, (int)room);
	shown->used += (size_t)length;
}

static void show_all(struct shown *shown, const struct px_fields *fields, const unsigned char *data,
		     size_t size)
{
	shown->used = 0;
	shown->text[0] = '\0';
	px_fields_walk(fields, data, size, show, shown);
}

/* Convert the data, which must show the same there.  Return how it was converted. */
static enum px_conversion same_there(const char *text, const struct px_fields_model *from_model,
				     const struct px_fields_model *to_model,
				     const unsigned char *data, size_t size)
{
	static struct shown here, there;
	struct px_fields *from = parse(text, from_model), *to = parse(text, to_model);
	const enum px_conversion conversion = px_fields_conversion(from, to);
	const size_t room = px_fields_convert_bound(size);
	unsigned char *converted = malloc(room);
	size_t bytes;

	ck_assert_ptr_nonnull(converted);
	if (conversion != PX_CONVERSION_IMPOSSIBLE) {
		bytes = px_fields_convert(from, to, data, size, converted, room);
		ck_assert_uint_le(bytes, room);
		if (conversion == PX_CONVERSION_NONE)
			ck_assert_int_eq(from->top->size, to->top->size);
		show_all(&here, from, data, size);
		show_all(&there, to, conversion == PX_CONVERSION_NONE ? data : converted,
			 conversion == PX_CONVERSION_NONE ? size : bytes);
		ck_assert_msg(strcmp(here.text, there.text) == 0,
			      "%s, %zu bytes of %u: \"%s\", then \"%s\"", text, size,
			      from->top->size, here.text, there.text);
		/* With less room, what there is of them is the same, and nothing is written beyond it. */
		converted[bytes / 2] = 0xAA;
		ck_assert_uint_le(px_fields_convert(from, to, data, size, converted, bytes / 2),
				  bytes / 2);
		ck_assert_int_eq(converted[bytes / 2], 0xAA);
	}
	free(converted);
	px_fields_free(from);
	px_fields_free(to);
	return conversion;
}

/* A description at random. */
struct draft {
	char text[2048];
	size_t used;
	uint64_t random;
	int nr_names;
	bool has_union, has_long_double, has_long;
};

static unsigned int below(struct draft *draft, unsigned int bound)
{
	return (unsigned int)(next_random(&draft->random) % bound);
}

static void add(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct draft *draft, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	draft->used += (size_t)vsnprintf(draft->text + draft->used,
					 sizeof(draft->text) - draft->used, format, list);
	va_end(list);
	ck_assert_uint_lt(draft->used, sizeof(draft->text));
}

static void add_dimensions(struct draft *draft)
{
	for (unsigned int nr = below(draft, 4) ? 0 : 1 + below(draft, 2); nr > 0; nr--)
		add(draft, "[%u]", 1 + below(draft, 3));
}

static void add_members(struct draft *draft, bool is_c, unsigned int depth);

static void add_member(struct draft *draft, bool is_c, unsigned int depth)
{
	static const char *const of_c[] = {"short",	"int",	   "long",  "unsigned long",
					   "long long", "double",  "float", "bool",
					   "char",	"uint8_t", "int *", "size_t"};
	static const char *const short_ones[] = {"u8",	"u16", "u32", "u64", "i8",  "i16",
						 "i32", "i64", "f32", "f64", "ptr", "char"};
	const unsigned int kind = below(draft, 16), i = below(draft, 12),
			   name = (unsigned int)draft->nr_names++;

	if (kind == 0 && depth > 0) {
		bool is_union = below(draft, 4) == 0;

		draft->has_union |= is_union;
		add(draft, "%s {", is_union ? "union" : "struct");
		add_members(draft, is_c, depth - 1);
		add(draft, "} n%u", name);
		add_dimensions(draft);
	} else if (kind == 1) {
		add(draft, "%s n%u:%u", is_c ? "unsigned int" : "u32", name, 1 + below(draft, 32));
	} else if (kind == 2) {
		add(draft, "%s n%u:%u", is_c ? "long long" : "i64", name, 1 + below(draft, 64));
	} else if (kind == 3) {
		add(draft, "enum {A%u, B%u = 200} n%u", name, name, name);
		add_dimensions(draft);
	} else if (kind == 4 && below(draft, 3) == 0) {
		draft->has_long_double = true;
		add(draft, "%s n%u", is_c ? "long double" : "long_double", name);
	} else {
		draft->has_long |= is_c ? i == 2 || i == 3 || i >= 10 : i == 10;
		add(draft, "%s n%u", is_c ? of_c[i] : short_ones[i], name);
		add_dimensions(draft);
	}
	add(draft, "; ");
}

static void add_members(struct draft *draft, bool is_c, unsigned int depth)
{
	for (unsigned int nr = 1 + below(draft, 5); nr > 0; nr--)
		add_member(draft, is_c, depth);
}

START_TEST(converted_data_show_the_same)
{
	struct draft draft = {.random = test_seed()};
	unsigned int nr[3] = {0};

	for (int round = 0; round < 4000; round++) {
		const struct px_fields_model *from = &machines[below(&draft, MACHINES)];
		const struct px_fields_model *to = &machines[below(&draft, MACHINES)];
		static unsigned char data[3000];
		enum px_conversion conversion;
		bool is_c = below(&draft, 2), may_fail;

		draft = (struct draft){.random = draft.random};
		add_members(&draft, is_c, 2);
		if (below(&draft, 4) == 0)
			add(&draft, "%s rest[]",
			    is_c ? (below(&draft, 2) ? "char" : "short") : "u32");
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (unsigned char)(below(&draft, 4) ? below(&draft, 256) : 0);
		conversion = same_there(draft.text, from, to, data,
					below(&draft, 2) ? sizeof(data) : below(&draft, 100));
		nr[conversion]++;
		may_fail = draft.has_union || draft.has_long_double ||
			   (draft.has_long && to->of_pointer < from->of_pointer);
		ck_assert_msg(conversion != PX_CONVERSION_IMPOSSIBLE || may_fail, "%s", draft.text);
		if (from == to)
			ck_assert_msg(conversion == PX_CONVERSION_NONE, "%s", draft.text);
	}
	ck_assert_uint_gt(nr[PX_CONVERSION_NONE], 400);
	ck_assert_uint_gt(nr[PX_CONVERSION_EXACT], 400);
	ck_assert_uint_gt(nr[PX_CONVERSION_IMPOSSIBLE], 100);
}
END_TEST

static void is_converted(const char *text, const struct px_fields_model *from,
			 const struct px_fields_model *to, enum px_conversion expected)
{
	static const unsigned char data[256] = {1, 2, 3};

	ck_assert_msg(same_there(text, from, to, data, sizeof(data)) == expected, "%s", text);
}

START_TEST(what_may_change_a_value_is_impossible)
{
	is_converted("long a", I386, X86_64, PX_CONVERSION_EXACT);
	is_converted("long a", X86_64, I386, PX_CONVERSION_IMPOSSIBLE);
	is_converted("long double a", I386, X86_64, PX_CONVERSION_EXACT);
	is_converted("long double a", X86_64, I386, PX_CONVERSION_EXACT);
	is_converted("long double a", S390X, X86_64, PX_CONVERSION_IMPOSSIBLE);
	is_converted("union { int a; char b[4]; } u", I386, X86_64, PX_CONVERSION_NONE);
	is_converted("union { int a; char b[4]; } u", S390X, X86_64, PX_CONVERSION_IMPOSSIBLE);
	is_converted("union { char a[2]; char b[4]; } u; int c", S390X, X86_64,
		     PX_CONVERSION_EXACT);
	is_converted("char a[4]", S390X, X86_64, PX_CONVERSION_NONE);
	is_converted("u8 a; i64 b", I386, X86_64, PX_CONVERSION_NONE);
}
END_TEST

START_TEST(numbers_keep_their_values)
{
	static const unsigned char from[] = {0xFF, 0xFF, 0xFF, 0xFE, 0x12, 0x34, 0xA5,
					     0,	   'o',	 'k',  0,    0,	   7,	 8};
	static const unsigned char to[] = {0xFE, 0xFF, 0xFF, 0xFF, 0x34, 0x12, 0x5A,
					   0,	 'o',  'k',  0,	   0,	 7,    8};
	struct px_fields *big = parse("int a; unsigned short b; uint8_t c:4, d:4; char name[5]",
				      S390X);
	struct px_fields *little = parse("int a; unsigned short b; uint8_t c:4, d:4; char name[5]",
					 X86_64);
	unsigned char converted[sizeof(from)];

	ck_assert_uint_eq(
		px_fields_convert(big, little, from, sizeof(from), converted, sizeof(converted)),
		sizeof(to));
	ck_assert_mem_eq(converted, to, sizeof(to));
	px_fields_free(big);
	px_fields_free(little);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("convert");
	TCase *tcase = tcase_create("convert");

	tcase_add_test(tcase, converted_data_show_the_same);
	tcase_add_test(tcase, what_may_change_a_value_is_impossible);
	tcase_add_test(tcase, numbers_keep_their_values);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
