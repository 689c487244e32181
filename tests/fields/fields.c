/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of data: the compiler lays out the same declarations that the parser gets as a text.  The parser refuses
 * wrong and hostile descriptions, and names the right column.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>

#include "fields/fields.h"
#include "fields/span.h"

/* Declare a structure, and define a string with its members. */
#define DESCRIBED(tag, ...)                                                                        \
	struct tag {                                                                               \
		__VA_ARGS__                                                                        \
	};                                                                                         \
	static const char tag##_text[] = #__VA_ARGS__

/* Of data with the lowest byte first, on any machine. */
static const struct px_fields_model little = {
	.of_long = 4, .of_pointer = 4, .of_long_double = 8, .align_max = 8};

static struct px_fields *parse_model(const char *text, const struct px_fields_model *model)
{
	struct px_fields_error error = {0, "no error"};
	struct px_fields *fields = NULL;
	int result = px_fields_parse(text, strlen(text), model, &fields, &error);

	ck_assert_msg(result == 0, "%s: %zu: %s", text, error.column, error.what);
	return fields;
}

static struct px_fields *parse(const char *text)
{
	const struct px_fields_model model = px_fields_native();

	return parse_model(text, &model);
}

static void refused(const char *text, size_t column)
{
	const struct px_fields_model model = px_fields_native();
	struct px_fields_error error = {0, NULL};
	struct px_fields *fields = NULL;
	int result = px_fields_parse(text, strlen(text), &model, &fields, &error);

	ck_assert_msg(result == EINVAL, "\"%.80s\": returned %d", text, result);
	ck_assert_msg(error.column == column, "\"%.80s\": column %zu, not %zu: %s", text, error.column,
		      column, error.what);
	ck_assert_ptr_null(fields);
}

/* Append the values as a text. */

struct shown {
	char text[4096];
	size_t used;
};

static void add(struct shown *shown, const char *text)
{
	size_t length = strlen(text);

	ck_assert_uint_lt(shown->used + length, sizeof(shown->text));
	memcpy(shown->text + shown->used, text, length + 1);
	shown->used += length;
}

static void show(void *argument, enum px_fields_step step, const char *name,
		 const struct px_field_value *value)
{
	struct shown *shown = argument;
	char text[1024];

	if (step == PX_FIELDS_END_STRUCT || step == PX_FIELDS_END_ARRAY) {
		add(shown, step == PX_FIELDS_END_STRUCT ? "} " : "] ");
		return;
	}
	if (name) {
		add(shown, name);
		add(shown, "=");
	}
	if (step != PX_FIELDS_VALUE) {
		add(shown, step == PX_FIELDS_BEGIN_STRUCT ? "{" : "[");
		return;
	}
	if (value->is_text)
		snprintf(text, sizeof(text), "\"%.*s\"%s ", (int)value->length, value->text,
			 value->is_cut ? "..." : "");
	else if (value->name)
		snprintf(text, sizeof(text), "%s ", value->name);
	else if (value->kind == PX_FIELD_FLOAT)
		snprintf(text, sizeof(text), "%g ", value->real);
	else if (value->is_signed)
		snprintf(text, sizeof(text), "%lld ", (long long)value->number);
	else
		snprintf(text, sizeof(text), "%llu ", (unsigned long long)value->number);
	add(shown, text);
}

static size_t shows(const struct px_fields *fields, const void *data, size_t size, const char *expected)
{
	static struct shown shown;
	size_t bytes;

	shown.used = 0;
	shown.text[0] = '\0';
	bytes = px_fields_walk(fields, data, size, show, &shown);
	ck_assert_str_eq(shown.text, expected);
	return bytes;
}

/* Return the offset in bytes of the field with this path. */
static size_t place_of(const struct px_fields *fields, const char *path)
{
	struct px_field_place place;

	ck_assert_msg(px_fields_find(fields, path, &place), "there is no %s", path);
	return (size_t)(place.bit / 8);
}

/* Layout. */

DESCRIBED(order, uint32_t id; double load; char name[24];);

START_TEST(fields_c_form_has_layout_of_compiler)
{
	const struct order order = {7, 0.25, "customer-1"};
	struct px_fields *fields = parse(order_text);

	ck_assert_uint_eq(fields->top->size, sizeof(struct order));
	ck_assert_uint_eq(place_of(fields, "load"), offsetof(struct order, load));
	ck_assert_uint_eq(place_of(fields, "name"), offsetof(struct order, name));
	shows(fields, &order, sizeof(order), "id=7 load=0.25 name=\"customer-1\" ");
	px_fields_free(fields);
}
END_TEST

START_TEST(fields_short_form_aligns_nothing)
{
	unsigned char data[35] = {7, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f};
	struct px_fields *fields = parse_model("u32 id; pad 4; f64 load; char name[19]", &little);

	memcpy(data + 16, "0123456789012345678", 19);
	ck_assert_uint_eq(fields->top->size, 35);
	shows(fields, data, sizeof(data), "id=7 load=0.5 name=\"0123456789012345678\" ");
	px_fields_free(fields);
	/* The wrong form is noticed late, and then counts for all fields. */
	fields = parse("bool a; enum { X, Y } b; u16 c");
	ck_assert_uint_eq(place_of(fields, "b"), 1);
	ck_assert_uint_eq(fields->top->size, 7);
	px_fields_free(fields);
}
END_TEST

DESCRIBED(numbers, char c; signed char sc; short s; unsigned short us; long l; unsigned char uc; int i;
	  unsigned u; long long ll; float f; size_t z; int8_t i8; uint64_t u64; bool b; void *p;
	  const char *const cp; unsigned long int ul; long double ld; ssize_t ss; char last;);

START_TEST(fields_each_type_of_c_has_size_and_place_of_compiler)
{
	struct px_fields *fields = parse(numbers_text);

	ck_assert_uint_eq(fields->top->size, sizeof(struct numbers));
#define SAME(member) ck_assert_uint_eq(place_of(fields, #member), offsetof(struct numbers, member))
	SAME(c); SAME(sc); SAME(s); SAME(us); SAME(l); SAME(uc); SAME(i); SAME(u); SAME(ll); SAME(f);
	SAME(z); SAME(i8); SAME(u64); SAME(b); SAME(p); SAME(cp); SAME(ul); SAME(ld); SAME(ss); SAME(last);
#undef SAME
	px_fields_free(fields);
}
END_TEST

DESCRIBED(shape, uint8_t kind; struct point { short x; int y; } at; struct point path[2][2];
	  union { uint32_t word; uint8_t byte[4]; } both; struct { char a; uint64_t b; };);

START_TEST(fields_structures_and_arrays_nest)
{
	struct shape shape;
	struct px_fields *fields = parse(shape_text);
	struct px_field_place place;

	memset(&shape, 0, sizeof(shape));
	shape.kind = 3;
	shape.at.x = -1;
	shape.at.y = 2;
	shape.path[1][0].y = 5;
	shape.both.word = 1;
	shape.a = 'z';
	shape.b = 9;
	ck_assert_uint_eq(fields->top->size, sizeof(shape));
	ck_assert_uint_eq(place_of(fields, "at.y"), offsetof(struct shape, at.y));
	ck_assert_uint_eq(place_of(fields, "path[1][0].y"), offsetof(struct shape, path[1][0].y));
	ck_assert_uint_eq(place_of(fields, "both.word"), offsetof(struct shape, both));
	ck_assert_uint_eq(place_of(fields, "b"), offsetof(struct shape, b));
	ck_assert(!px_fields_find(fields, "path", &place));
	ck_assert(!px_fields_find(fields, "path[2][0].y", &place));
	ck_assert(!px_fields_find(fields, "path[1].y", &place));
	ck_assert(!px_fields_find(fields, "at", &place));
	ck_assert(!px_fields_find(fields, "kind.x", &place));
	ck_assert(!px_fields_find(fields, "", &place));
	ck_assert(!px_fields_find(fields, "at..x", &place));
	px_fields_free(fields);
	fields = parse_model("struct point { short x; int y; }; struct point at[2]; uint8_t b[3];", &little);
	shows(fields, "\377\377\0\0\2\0\0\0\1\0\0\0\3\0\0\0\1\2\3", 20,
	      "at=[{x=-1 y=2 } {x=1 y=3 } ] b=[1 2 3 ] ");
	px_fields_free(fields);
}
END_TEST

DESCRIBED(bits, unsigned a : 3; int b : 5; unsigned c : 30; uint8_t d; unsigned short e : 9; unsigned : 0;
	  _Bool f : 1; uint64_t g : 40; unsigned long long h : 24; char i;);

START_TEST(fields_bit_fields_lie_as_the_compiler_puts_them)
{
	struct bits bits;
	struct px_fields *fields = parse(bits_text);
	uint64_t random = test_seed();
	char expected[256];

	ck_assert_uint_eq(fields->top->size, sizeof(bits));
	for (int i = 0; i < 1000; i++) {
		memset(&bits, 0, sizeof(bits));
		bits.a = next_random(&random) & 7;
		bits.b = (int)(next_random(&random) & 31) - 16;
		bits.c = next_random(&random) & 0x3fffffff;
		bits.d = (uint8_t)next_random(&random);
		bits.e = next_random(&random) & 511;
		bits.f = next_random(&random) & 1;
		bits.g = next_random(&random) & 0xffffffffff;
		bits.h = next_random(&random) & 0xffffff;
		bits.i = '0';
		snprintf(expected, sizeof(expected),
			 "a=%u b=%d c=%u d=%u e=%u f=%u g=%llu h=%llu i=48 ", bits.a, bits.b, bits.c,
			 bits.d, bits.e, bits.f, (unsigned long long)bits.g,
			 (unsigned long long)bits.h);
		shows(fields, &bits, sizeof(bits), expected);
	}
	px_fields_free(fields);
}
END_TEST

START_TEST(fields_enums_have_names)
{
	struct px_fields *fields = parse_model("enum state { IDLE, BUSY = 3, DONE, } state; enum : uint8_t "
					       "{ LOW = -0, TOP = 0xff } level; enum { NO = -1, YES } s;",
					       &little);
	struct px_field_place place;
	int64_t number;

	shows(fields, "\3\0\0\0\377\0\0\0\377\377\377\377", 12, "state=BUSY level=TOP s=NO ");
	shows(fields, "\2\0\0\0\1\0\0\0\376\377\377\377", 12, "state=2 level=1 s=-2 ");
	ck_assert(px_fields_find(fields, "state", &place));
	ck_assert(px_fields_enum_number(place.field->names, "DONE", &number) && number == 4);
	ck_assert(!px_fields_enum_number(place.field->names, "done", &number));
	px_fields_free(fields);
}
END_TEST

START_TEST(fields_rest_of_data_is_a_text_or_whole_elements)
{
	struct px_fields *fields = parse("u8 n; char note[]");
	struct px_field_place place;
	struct px_field_value value;

	ck_assert_uint_eq(shows(fields, "\1hello", 6, "n=1 note=\"hello\" "), 6);
	ck_assert_uint_eq(shows(fields, "\1hello", 7, "n=1 note=\"hello\" "), 7);
	shows(fields, "\1", 1, "n=1 note=\"\" ");
	shows(fields, "", 0, "");
	ck_assert(px_fields_find(fields, "note", &place));
	ck_assert(px_fields_get(fields, &place, (const unsigned char *)"\1ab", 3, &value));
	ck_assert(value.is_text && value.length == 2 && !value.is_cut);
	px_fields_free(fields);
	fields = parse_model("u8 n; u16 w[]", &little);
	shows(fields, "\1\2\0\3\0\4", 6, "n=1 w=[2 3 ] ");
	px_fields_free(fields);
}
END_TEST

START_TEST(fields_short_data_show_what_is_there)
{
	struct px_fields *fields = parse_model("u32 id; char name[8]; u16 a[4]; u32 last", &little);
	const unsigned char data[24] = "\1\0\0\0abcdefgh\1\0\2\0\3\0\4\0";
	struct px_field_place place;
	struct px_field_value value;

	ck_assert_uint_eq(shows(fields, data, 24, "id=1 name=\"abcdefgh\" a=[1 2 3 4 ] last=0 "), 24);
	shows(fields, data, 17, "id=1 name=\"abcdefgh\" a=[1 2 ] ");
	shows(fields, data, 7, "id=1 name=\"abc\"... ");
	shows(fields, data, 4, "id=1 ");
	ck_assert_uint_eq(shows(fields, data, 3, ""), 24);
	shows(fields, data, 0, "");
	ck_assert(px_fields_find(fields, "a[3]", &place));
	ck_assert(!px_fields_get(fields, &place, data, 19, &value));
	ck_assert(px_fields_get(fields, &place, data, 20, &value) && value.number == 4);
	px_fields_free(fields);
}
END_TEST

START_TEST(fields_other_byte_order_is_read)
{
	const struct px_fields_model big = {
		.of_long = 4, .of_pointer = 4, .of_long_double = 8, .align_max = 8, .is_big = true};
	const char text[] = "uint16_t a; long b; float f; uint32_t x : 4; uint32_t y : 12; int16_t c; void *p;";
	struct px_fields *fields = parse_model(text, &big);

	shows(fields, "\0\1\0\0\0\0\0\2\x3f\x80\0\0\x12\x34\377\376\0\0\1\0", 20,
	      "a=1 b=2 f=1 x=1 y=564 c=-2 p=256 ");
	px_fields_free(fields);
	fields = parse_model(text, &little);
	shows(fields, "\1\0\0\0\2\0\0\0\0\0\x80\x3f\x41\x23\376\377\0\1\0\0", 20,
	      "a=1 b=2 f=1 x=1 y=564 c=-2 p=256 ");
	px_fields_free(fields);
}
END_TEST

START_TEST(fields_definition_alone_and_reference_are_types)
{
	struct px_fields *fields = parse("struct order { uint32_t id; /* a number */ double load; }; // end");

	ck_assert_uint_eq(fields->top->size, sizeof(struct { uint32_t id; double load; }));
	px_fields_free(fields);
	fields = parse(" struct  order ;");
	ck_assert_ptr_null(fields->top);
	ck_assert_str_eq(fields->reference, "struct order");
	px_fields_free(fields);
	fields = parse("order_t");
	ck_assert_str_eq(fields->reference, "order_t");
	px_fields_free(fields);
	fields = parse("struct node *next; struct order *o; int last;");
	ck_assert_uint_eq(place_of(fields, "last"), 2 * sizeof(void *));
	px_fields_free(fields);
}
END_TEST

/* Mistakes. */

static const struct {
	const char *text;
	size_t column;
} mistakes[] = {
	{"", 1},
	{"u32", 4},
	{"u32 id", 0},
	{"u32 id; f65 load;", 9},
	{"u32 id double", 8},
	{"u32 id; uint32_t b;", 9},
	{"int id; u32 b;", 9},
	{"u32 id; u16 id;", 13},
	{"int a[0];", 7},
	{"int a[1099511627776];", 7},
	{"u8 a[1000]; u8 b[1024][1024][1024]", 30},
	{"char a[1048576]; u8 b", 21},
	{"u8 a[70000]; u8 b", 4},
	{"u32 a[99999999999999999999];", 7},
	{"u32 a[4;", 8},
	{"char a[]; u8 b", 6},
	{"struct { char a[]; } b; int c;", 15},
	{"char a[][4]; int c;", 9},
	{"struct a { struct a b; } c;", 12},
	{"struct a b; int c;", 1},
	{"what b; int c;", 1},
	{"void a; int b;", 1},
	{"unsigned float a;", 1},
	{"long long long a;", 1},
	{"struct { } a; int b;", 10},
	{"struct { int x; ", 17},
	{"int a : 33; int b;", 9},
	{"int a : 0;", 9},
	{"double d : 3;", 8},
	{"bool b : 2;", 10},
	{"enum e { A, A2 = 5000000000 } x;", 18},
	{"enum { } x;", 8},
	{"enum e x; int b;", 8},
	{"enum : float { A } x;", 8},
	{"enum : u8 { A = 256 } x;", 17},
	{"pad 4; int a;", 8},
	{"pad 99999999; u8 a", 5},
	{"int a; struct { int a; };", 8},
	{"int (*f)(int);", 5},
	{"int a; \"x\"", 8},
	{"int a; /* open", 0},
	{"int a[2][2][2][2][2];", 18},
	{"struct a { int x; }; struct a { int y; };", 29},
	{"union a { int x; }; struct a y;", 28},
	{"int *a : 3;", 6},
};

START_TEST(fields_mistake_is_found_at_its_column)
{
	if (mistakes[_i].column > 0)
		refused(mistakes[_i].text, mistakes[_i].column);
	else
		px_fields_free(parse(mistakes[_i].text));
}
END_TEST

static char *repeat(const char *text, int nr, const char *end)
{
	char *all = malloc(strlen(text) * (size_t)nr + strlen(end) + 1);

	ck_assert_ptr_nonnull(all);
	all[0] = '\0';
	for (int i = 0; i < nr; i++)
		strcat(all, text);
	strcat(all, end);
	return all;
}

START_TEST(fields_hostile_description_is_bounded)
{
	char *deep = repeat("struct { ", 400, "int x;");
	char *pairs = malloc(PX_FIELDS_TEXT_MAX + 1);
	char *many = repeat("u8 a;", 1024, "");
	char *line = repeat(" ", PX_FIELDS_TEXT_MAX, "u8 a");
	int used;

	refused(deep, 16 * 9 + 8);
	refused(line, PX_FIELDS_TEXT_MAX + 1);
	refused(many, PX_FIELDS_TEXT_MAX + 1);
	free(many);
	many = repeat("u8:1;", 818, "");
	px_fields_free(parse("u8 a"));
	refused(many, strlen(many) + 1);
	/* Each union holds the previous one twice: 2^n values in few bytes. */
	used = sprintf(pairs, "union u0 { u8 x; u8 y; };");
	for (int i = 1; i < 15; i++)
		used += sprintf(pairs + used, "union u%d { union u%d a; union u%d b; };", i, i - 1, i - 1);
	px_fields_free(parse(pairs));
	sprintf(pairs + used, "union u14 c[3];");
	refused(pairs, (size_t)used + 11);
	/* Nested levels that exist only through tags. */
	used = sprintf(pairs, "struct s0 { u8 x; };");
	for (int i = 1; i < 16; i++)
		used += sprintf(pairs + used, "struct s%d { struct s%d a; };", i, i - 1);
	px_fields_free(parse(pairs));
	sprintf(pairs + used, "struct s15 c;");
	refused(pairs, (size_t)used + 12);
	free(deep);
	free(pairs);
	free(many);
	free(line);
}
END_TEST

START_TEST(fields_any_text_and_any_data_end)
{
	static const char *const parts[] = {
		"u32 ", "int ", "char ", "a", "b", ";", ",", "[", "]", "{", "}", "struct ", "union ", "enum ",
		":", "3", "=", "*", "pad ", "[2]", "s ", "\0", "/*", "-", "long ", "0x", "[]", "\377"};
	const struct px_fields_model model = px_fields_native();
	uint64_t random = test_seed();
	static struct shown shown;
	int nr_good = 0;

	for (int i = 0; i < 20000; i++) {
		char text[512];
		size_t used = 0;
		struct px_fields_error error = {0, NULL};
		struct px_fields *fields = NULL;

		while (used < 100 && next_random(&random) % 20 != 0) {
			const char *part =
				parts[next_random(&random) % (sizeof(parts) / sizeof(parts[0]))];
			size_t length = *part ? strlen(part) : 1;

			memcpy(text + used, part, length);
			used += length;
		}
		if (px_fields_parse(text, used, &model, &fields, &error) == 0) {
			for (size_t size = 0; size < 40; size++) {
				shown.used = 0;
				px_fields_walk(fields, (const unsigned char *)text, size, show, &shown);
			}
			px_fields_free(fields);
			nr_good++;
		} else {
			ck_assert_uint_ge(error.column, 1);
			ck_assert_uint_le(error.column, used + 1);
			ck_assert_ptr_nonnull(error.what);
		}
	}
	ck_assert_int_gt(nr_good, 0);
}
END_TEST

static void note_path(void *argument, const char *path, const struct px_field_place *place)
{
	char *paths = argument;

	ck_assert_ptr_nonnull(place->field);
	ck_assert_uint_lt(strlen(paths) + strlen(path) + 2, 500);
	strcat(strcat(paths, path), " ");
}

START_TEST(list_has_each_value_once_and_ends_at_its_limit)
{
	static const char text[] =
		"u32 id; struct { i16 x; struct { u8 a; } in; } at[2]; char name[8]; union { u8 u; i8 i; };"
		"f32 grid[2][2]; u16 rest[]";
	const struct px_fields_model model = px_fields_native();
	struct px_fields_error error;
	struct px_fields *fields;
	char paths[500] = "";

	ck_assert_int_eq(px_fields_parse(text, strlen(text), &model, &fields, &error), 0);
	px_fields_list(fields, 100, note_path, paths);
	ck_assert_str_eq(paths, "id at[0].x at[0].in.a at[1].x at[1].in.a name u i "
				"grid[0][0] grid[0][1] grid[1][0] grid[1][1] ");
	paths[0] = '\0';
	px_fields_list(fields, 3, note_path, paths);
	ck_assert_str_eq(paths, "id at[0].x at[0].in.a ");
	px_fields_free(fields);
}
END_TEST

START_TEST(span_is_read_back)
{
	static const char *const names[] = {"a", "say \"go\"", "\\", "..", ": id", "\"..\"", "b\"\\"};
	const size_t nr = sizeof(names) / sizeof(names[0]);
	char text[PX_SPAN_TEXT_MAX + 1], longest[PX_SPAN_NAME_MAX + 1] = "", path[PX_SPAN_FIELD_MAX + 1] = "";
	struct px_span span;
	size_t length;

	for (size_t i = 0; i < nr * nr; i++) {
		length = px_span_write(names[i / nr], names[i % nr], i & 1 ? "at[12].x_1" : NULL, text);
		ck_assert_uint_eq(length, strlen(text));
		ck_assert(px_span_parse(text, length, &span));
		ck_assert_str_eq(span.begin, names[i / nr]);
		ck_assert_str_eq(span.end, names[i % nr]);
		ck_assert_str_eq(span.field, i & 1 ? "at[12].x_1" : "");
	}
	memset(longest, '"', PX_SPAN_NAME_MAX);
	memset(path, 'x', PX_SPAN_FIELD_MAX);
	length = px_span_write(longest, longest, path, text);
	ck_assert(px_span_parse(text, length, &span));
	ck_assert_str_eq(span.end, longest);
	ck_assert_str_eq(span.field, path);
	/* No part of a text is the whole one. */
	for (size_t i = 0; i < length - PX_SPAN_FIELD_MAX; i++)
		ck_assert(!px_span_parse(text, i, &span) || span.field[0] == '\0');
}
END_TEST

START_TEST(span_wrong_text_is_refused)
{
	static const char *const wrong[] = {"",
					    "span",
					    "span a..b",
					    "span \"\"..\"b\"",
					    "span \"a\"..\"b",
					    "span \"a\"..\"b\\\"",
					    "span \"a\" ..\"b\"",
					    "span \"a\"..\"b\" ",
					    "span \"a\"..\"b\":id",
					    "span \"a\"..\"b\": ",
					    "span \"a\"..\"b\": 1",
					    "span \"a\"..\"b\": a b",
					    "u32 id"};
	char name[200] = "span \"";
	struct px_span span;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!px_span_parse(wrong[i], strlen(wrong[i]), &span), "%s", wrong[i]);
	ck_assert(!px_span_parse("span \"a\0\"..\"b\"", 15, &span));
	memset(name + strlen(name), 'a', PX_SPAN_NAME_MAX + 1);
	strcat(name, "\"..\"b\"");
	ck_assert(!px_span_parse(name, strlen(name), &span));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fields");
	TCase *layout = tcase_create("layout"), *wrong = tcase_create("wrong");

	tcase_add_test(layout, fields_c_form_has_layout_of_compiler);
	tcase_add_test(layout, fields_short_form_aligns_nothing);
	tcase_add_test(layout, fields_each_type_of_c_has_size_and_place_of_compiler);
	tcase_add_test(layout, fields_structures_and_arrays_nest);
	tcase_add_test(layout, fields_bit_fields_lie_as_the_compiler_puts_them);
	tcase_add_test(layout, fields_enums_have_names);
	tcase_add_test(layout, fields_rest_of_data_is_a_text_or_whole_elements);
	tcase_add_test(layout, fields_short_data_show_what_is_there);
	tcase_add_test(layout, fields_other_byte_order_is_read);
	tcase_add_test(layout, fields_definition_alone_and_reference_are_types);
	suite_add_tcase(suite, layout);
	tcase_add_loop_test(wrong, fields_mistake_is_found_at_its_column, 0,
			    (int)(sizeof(mistakes) / sizeof(mistakes[0])));
	tcase_add_test(wrong, fields_hostile_description_is_bounded);
	tcase_add_test(wrong, fields_any_text_and_any_data_end);
	tcase_add_test(wrong, span_is_read_back);
	tcase_add_test(wrong, span_wrong_text_is_refused);
	tcase_add_test(wrong, list_has_each_value_once_and_ends_at_its_limit);
	suite_add_tcase(suite, wrong);
	return run_suite(suite);
}
