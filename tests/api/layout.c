/* SPDX-License-Identifier: MIT */
/* The layout of event types: it says what the descriptions say, in streams and logs. */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "event/calls.h"
#include "fields/fields.h"

static struct txtrace_layout *layout_of(trace_id_t trid, trace_event_id_t type)
{
	struct txtrace_layout *layout = NULL;

	ok(txtrace_get_layout(trid, type, &layout));
	ck_assert_ptr_nonnull(layout);
	return layout;
}

/* Expect this field; names and members are checked by the caller. */
static const struct txtrace_field *expect(const struct txtrace_layout *layout, unsigned int i, const char *name,
					  int kind, unsigned int depth, unsigned int bit, unsigned int size)
{
	const struct txtrace_field *field = &layout->field[i];

	ck_assert_uint_lt(i, layout->nr_fields);
	ck_assert_str_eq(field->name, name);
	ck_assert_int_eq(field->kind, kind);
	ck_assert_uint_eq(field->depth, depth);
	ck_assert_uint_eq(field->bit, bit);
	ck_assert_uint_eq(field->size, size);
	return field;
}

struct order {
	uint8_t first;
	double load;
	struct {
		int16_t x, y;
	} at[2];
	enum { LOW = -1, HIGH = 7 } level;
	unsigned int low : 3, high : 5;
	char name[3][5];
	union {
		uint32_t whole;
		float real;
	};
	void *place;
	_Bool is_fine;
};

#define ORDER                                                                                      \
	"uint8_t first; double load; struct { int16_t x, y; } at[2]; enum { LOW = -1, HIGH = 7 } level; "  \
	"unsigned int low : 3, high : 5; char name[3][5]; union { uint32_t whole; float real; }; void *place; "     \
	"bool is_fine;"

static void expect_order(trace_id_t trid, trace_event_id_t type)
{
	struct txtrace_layout *layout = layout_of(trid, type);
	const struct txtrace_field *field;

	ck_assert_uint_eq(layout->nr_fields, 13);
	ck_assert_uint_eq(layout->size, sizeof(struct order));
	ck_assert_int_eq(layout->is_rest, 0);
	ck_assert_int_eq(layout->is_big, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	expect(layout, 0, "first", TXTRACE_FIELD_UNSIGNED, 0, 0, 1);
	expect(layout, 1, "load", TXTRACE_FIELD_FLOAT, 0, 8 * offsetof(struct order, load), 8);
	field = expect(layout, 2, "at", TXTRACE_FIELD_STRUCT, 0, 8 * offsetof(struct order, at), 4);
	ck_assert_uint_eq(field->nr_members, 2);
	ck_assert_uint_eq(field->nr_dims, 1);
	ck_assert_uint_eq(field->dim[0], 2);
	expect(layout, 3, "x", TXTRACE_FIELD_SIGNED, 1, 0, 2);
	expect(layout, 4, "y", TXTRACE_FIELD_SIGNED, 1, 16, 2);
	field = expect(layout, 5, "level", TXTRACE_FIELD_ENUM, 0, 8 * offsetof(struct order, level), 4);
	ck_assert_uint_eq(field->nr_names, 2);
	ck_assert_int_eq(field->is_signed, 1);
	ck_assert_str_eq(field->names[0].name, "LOW");
	ck_assert_int_eq(field->names[0].value, -1);
	ck_assert_str_eq(field->names[1].name, "HIGH");
	ck_assert_int_eq(field->names[1].value, 7);
	ck_assert_uint_eq(layout->field[6].bits, 3);
	ck_assert_uint_eq(layout->field[7].bits, 5);
	ck_assert_uint_eq(layout->field[7].bit, layout->field[6].bit + 3);
	field = expect(layout, 8, "name", TXTRACE_FIELD_CHAR, 0, 8 * offsetof(struct order, name), 1);
	ck_assert_uint_eq(field->nr_dims, 2);
	ck_assert_uint_eq(field->dim[0], 3);
	ck_assert_uint_eq(field->dim[1], 5);
	expect(layout, 9, "whole", TXTRACE_FIELD_UNSIGNED, 0, 8 * offsetof(struct order, whole), 4);
	expect(layout, 10, "real", TXTRACE_FIELD_FLOAT, 0, 8 * offsetof(struct order, whole), 4);
	expect(layout, 11, "place", TXTRACE_FIELD_POINTER, 0, 8 * offsetof(struct order, place), sizeof(void *));
	expect(layout, 12, "is_fine", TXTRACE_FIELD_BOOL, 0, 8 * offsetof(struct order, is_fine), 1);
	txtrace_free_layout(layout);
}

START_TEST(layout_of_a_structure_is_that_of_the_compiler)
{
	trace_event_id_t type = px_test_open_type("order");
	const struct px_test_stream wanted = {0};
	struct txtrace_layout *kept;
	int fd = px_test_file();
	trace_id_t trid;

	ok(txtrace_describe_type(type, ORDER));
	trid = px_test_create_log(&wanted, fd);
	expect_order(trid, type);
	kept = layout_of(trid, type);
	ok(posix_trace_shutdown(trid));
	ck_assert_str_eq(kept->field[12].name, "is_fine");
	txtrace_free_layout(kept);
	trid = px_test_open(fd);
	expect_order(trid, type);
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(layout_of_the_rest_of_the_data_has_no_number_of_elements)
{
	trace_event_id_t type = px_test_open_type("rest");
	const struct px_test_stream wanted = {0};
	trace_id_t trid = px_test_create(&wanted);
	struct txtrace_layout *layout;

	ok(txtrace_describe_type(type, "u16 number; pad 2; struct { u8 a; char b[3]; } part[]"));
	layout = layout_of(trid, type);
	ck_assert_int_eq(layout->is_rest, 1);
	ck_assert_uint_eq(layout->size, 4);
	ck_assert_uint_eq(layout->field[1].nr_dims, 1);
	ck_assert_uint_eq(layout->field[1].dim[0], 0);
	ck_assert_uint_eq(layout->field[1].bit, 32);
	ck_assert_uint_eq(layout->field[3].dim[0], 3);
	txtrace_free_layout(layout);
	ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(layout_of_calls_and_system_events_is_known)
{
	const struct px_test_stream wanted = {0};
	trace_id_t trid = px_test_create(&wanted);
	struct txtrace_layout *layout = NULL;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < PX_CALLS; i++) {
		int error = txtrace_get_layout(trid, px_call_event((enum px_call)i), &layout);

		/* Some calls have no fields.  None has fewer bytes than calls have. */
		ck_assert(error == 0 || error == ENOENT);
		if (error)
			continue;
		ck_assert_uint_ge(layout->size, 16);
		txtrace_free_layout(layout);
		nr++;
	}
	ck_assert_uint_gt(nr, PX_CALLS / 2);
	layout = layout_of(trid, px_call_event(PX_CALL_pthread_mutex_lock));
	expect(layout, 0, "mutex", TXTRACE_FIELD_POINTER, 0, 0, 8);
	expect(layout, layout->nr_fields - 1, "result", TXTRACE_FIELD_SIGNED, 0, 112, 2);
	txtrace_free_layout(layout);
	layout = layout_of(trid, POSIX_TRACE_STOP);
	expect(layout, 0, "auto", TXTRACE_FIELD_SIGNED, 0, 0, sizeof(int));
	txtrace_free_layout(layout);
	layout = layout_of(trid, TXTRACE_SCHED_THREAD);
	expect(layout, 3, "state", TXTRACE_FIELD_ENUM, 0, 8 * offsetof(struct txtrace_sched, state), 4);
	ck_assert_uint_eq(layout->size, sizeof(struct txtrace_sched));
	ck_assert_str_eq(layout->field[3].names[TXTRACE_RUNNABLE].name, "runnable");
	ck_assert_str_eq(layout->field[3].names[TXTRACE_BLOCKED].name, "blocked");
	txtrace_free_layout(layout);
	layout = layout_of(trid, TXTRACE_SCHED_GAP);
	ck_assert_uint_eq(layout->size, sizeof(struct txtrace_sched_gap));
	txtrace_free_layout(layout);
	layout = layout_of(trid, TXTRACE_CPU_TIME);
	ck_assert_uint_eq(layout->size, sizeof(struct txtrace_cpu_time));
	expect(layout, 2, "ran_ns", TXTRACE_FIELD_UNSIGNED, 0, 8 * offsetof(struct txtrace_cpu_time, ran_ns), 8);
	txtrace_free_layout(layout);
	ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(layout_of_what_has_no_fields_is_enoent)
{
	trace_event_id_t type = px_test_open_type("plain"), named = px_test_open_type("named");
	trace_event_id_t span = px_test_open_type("span");
	trace_id_t bad[PX_TEST_BAD_TRIDS], trid;
	const struct px_test_stream wanted = {0};
	struct txtrace_layout *layout = NULL;

	ok(txtrace_describe_type(named, "struct order"));
	ok(txtrace_describe_span("span", type, type, NULL));
	trid = px_test_create(&wanted);
	fails(txtrace_get_layout(trid, type, &layout), ENOENT);
	fails(txtrace_get_layout(trid, named, &layout), ENOENT);
	fails(txtrace_get_layout(trid, span, &layout), ENOENT);
	fails(txtrace_get_layout(trid, POSIX_TRACE_START, &layout), ENOENT);
	fails(txtrace_get_layout(trid, type + 1000, &layout), EINVAL);
	fails(txtrace_get_layout(trid, named, NULL), EINVAL);
	px_test_bad_trids(bad);
	for (int i = 0; i < PX_TEST_BAD_TRIDS; i++)
		fails(txtrace_get_layout(bad[i], type, &layout), EINVAL);
	ck_assert_ptr_null(layout);
	txtrace_free_layout(NULL);
	ok(posix_trace_shutdown(trid));
}
END_TEST

START_TEST(layout_of_many_fields_with_one_enum_shares_its_names)
{
	trace_event_id_t type = px_test_open_type("many");
	const struct px_test_stream wanted = {0};
	trace_id_t trid = px_test_create(&wanted);
	struct txtrace_layout *layout;
	char text[PX_FIELDS_TEXT_MAX + 1], field[16];
	size_t length = 0;
	unsigned int nr = 0;

	length += (size_t)sprintf(text, "enum e { ");
	for (int i = 0; i < 300; i++)
		length += (size_t)sprintf(text + length, "n%d,", i);
	length += (size_t)sprintf(text + length, "}; enum e f");
	while (length + (size_t)sprintf(field, ",f%u", nr) < PX_FIELDS_TEXT_MAX && nr < 500) {
		length += (size_t)sprintf(text + length, "%s", field);
		nr++;
	}
	ok(txtrace_describe_type(type, text));
	layout = layout_of(trid, type);
	ck_assert_uint_eq(layout->nr_fields, nr + 1);
	ck_assert_uint_eq(layout->field[0].nr_names, 300);
	ck_assert_str_eq(layout->field[nr].names[299].name, "n299");
	ck_assert_ptr_eq(layout->field[0].names, layout->field[nr].names);
	txtrace_free_layout(layout);
	ok(posix_trace_shutdown(trid));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("layout");
	TCase *tcase = tcase_create("layout");

	tcase_add_test(tcase, layout_of_a_structure_is_that_of_the_compiler);
	tcase_add_test(tcase, layout_of_the_rest_of_the_data_has_no_number_of_elements);
	tcase_add_test(tcase, layout_of_calls_and_system_events_is_known);
	tcase_add_test(tcase, layout_of_what_has_no_fields_is_enoent);
	tcase_add_test(tcase, layout_of_many_fields_with_one_enum_shares_its_names);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
