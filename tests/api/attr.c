/* SPDX-License-Identifier: MIT */
/*
 * posix_trace_attr_*(): the defaults, and which values the functions accept. tests/api/create.c tests what a stream
 * does with its attributes.
 */
#include "support/common.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>

#include "event/attr.h"

#define UNTOUCHED 4711

static trace_attr_t attr;

static void begin(void)
{
	memset(&attr, 0xa5, sizeof(attr));
	ok(posix_trace_attr_init(&attr));
}

static int get_int(int (*get)(const trace_attr_t *restrict, int *restrict))
{
	int value = UNTOUCHED;

	ok(get(&attr, &value));
	return value;
}

static size_t get_size(int (*get)(const trace_attr_t *restrict, size_t *restrict))
{
	size_t value = UNTOUCHED;

	ok(get(&attr, &value));
	return value;
}

static size_t user_event_size(size_t data_len)
{
	size_t value = UNTOUCHED;

	ok(posix_trace_attr_getmaxusereventsize(&attr, data_len, &value));
	return value;
}

static void expect_name(const char *expected)
{
	char name[TRACE_NAME_MAX];

	ok(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, expected);
}

static void expect_defaults(void)
{
	expect_name("");
	ck_assert_int_eq(get_int(posix_trace_attr_getinherited), POSIX_TRACE_CLOSE_FOR_CHILD);
	ck_assert_int_eq(get_int(posix_trace_attr_getstreamfullpolicy), POSIX_TRACE_LOOP);
	ck_assert_uint_eq(get_size(posix_trace_attr_getmaxdatasize), 256);
	ck_assert_uint_eq(get_size(posix_trace_attr_getstreamsize), 65536);
}

static void change_everything(void)
{
	ok(posix_trace_attr_setname(&attr, "changed"));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	ok(posix_trace_attr_setmaxdatasize(&attr, 1));
	ok(posix_trace_attr_setstreamsize(&attr, 1));
}

/* INIT-1 INIT-3 GETINH-1 GETSFP-3 GETNAME-2 GETMDS-1 GETSS-1 */
START_TEST(attr_init_any_memory_gives_defaults)
{
	expect_defaults();
	memset(&attr, 0, sizeof(attr));
	ok(posix_trace_attr_init(&attr));
	expect_defaults();
}
END_TEST

/* INIT-2 GENVER-1 GENVER-2 */
START_TEST(attr_init_version_names_the_library)
{
	char version[TRACE_NAME_MAX];

	memset(version, '#', sizeof(version));
	ok(posix_trace_attr_getgenversion(&attr, version));
	ck_assert_ptr_nonnull(memchr(version, '\0', sizeof(version)));
	ck_assert_int_eq(strncmp(version, "posixtrace ", 11), 0);
	ck_assert_uint_gt(strlen(version), 11);
}
END_TEST

/* INIT-2 CLKRES-1 CLKRES-2 */
START_TEST(attr_init_clock_resolution_is_that_of_the_clock)
{
	struct timespec resolution = {-1, -1}, expected;

	ck_assert_int_eq(clock_getres(CLOCK_MONOTONIC, &expected), 0);
	ok(posix_trace_attr_getclockres(&attr, &resolution));
	ck_assert_int_eq(resolution.tv_sec, expected.tv_sec);
	ck_assert_int_eq(resolution.tv_nsec, expected.tv_nsec);
	ck_assert(resolution.tv_sec > 0 || resolution.tv_nsec > 0);
}
END_TEST

/* CRTIME-2 */
START_TEST(attr_getcreatetime_without_stream_is_zero)
{
	struct timespec time = {-1, -1};

	ok(posix_trace_attr_getcreatetime(&attr, &time));
	ck_assert_int_eq(time.tv_sec, 0);
	ck_assert_int_eq(time.tv_nsec, 0);
}
END_TEST

static struct timespec creation_time(trace_id_t stream)
{
	struct timespec time = {-1, -1};

	ok(posix_trace_get_attr(stream, &attr));
	ok(posix_trace_attr_getcreatetime(&attr, &time));
	ok(posix_trace_attr_destroy(&attr));
	return time;
}

/* CRTIME-1 CRTIME-2 CRTIME-4 DESTROY-4 */
START_TEST(attr_getcreatetime_of_cleared_stream_is_that_of_its_creation)
{
	trace_id_t stream = px_test_create(&(struct px_test_stream){.nr_rings = 1});
	struct timespec created = creation_time(stream), cleared;

	ck_assert_int_gt(created.tv_sec, 0);
	sleep_ms(5);
	ok(posix_trace_clear(stream));
	cleared = creation_time(stream);
	ck_assert_uint_eq(px_test_ns(cleared), px_test_ns(created));
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* INIT-4 DESTROY-1 */
START_TEST(attr_init_destroyed_object_gives_defaults)
{
	change_everything();
	ok(posix_trace_attr_destroy(&attr));
	ok(posix_trace_attr_init(&attr));
	expect_defaults();
}
END_TEST

/* INIT-6 */
START_TEST(attr_init_object_in_use_gives_defaults)
{
	change_everything();
	ok(posix_trace_attr_init(&attr));
	expect_defaults();
}
END_TEST

/* INIT-7 */
START_TEST(attr_init_null_is_einval)
{
	fails(posix_trace_attr_init(NULL), EINVAL);
}
END_TEST

/* INIT-5: the functions allocate no memory, so they cannot run out of it. */
START_TEST(attr_init_many_objects_never_fails)
{
	for (unsigned int i = 0; i < 100000; i++) {
		trace_attr_t other;

		if (posix_trace_attr_init(&other))
			ck_abort_msg("object %u", i);
	}
}
END_TEST

/* INIT-8: an unset policy behaves like LOOP, but has another value. */
START_TEST(attr_init_stream_policy_is_stored_as_unset)
{
	struct px_attr inner;

	memcpy(&inner, &attr, sizeof(inner));
	ck_assert_uint_eq(inner.stream_policy, PX_POLICY_DEFAULT);
	ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	memcpy(&inner, &attr, sizeof(inner));
	ck_assert_uint_eq(inner.stream_policy, PX_POLICY_LOOP);
}
END_TEST

/* The attributes of logs after initialisation. */
START_TEST(attr_init_log_attributes_have_defaults)
{
	struct px_attr inner;

	memcpy(&inner, &attr, sizeof(inner));
	ck_assert_uint_eq(inner.log_size, 1 << 20);
	ck_assert_uint_eq(inner.log_policy, PX_POLICY_LOOP);
	ck_assert_uint_eq(inner.nr_rings, 0);
}
END_TEST

/* Each function refuses the invalid object, and leaves its output unchanged (GEN-11). */
static void expect_refused(trace_attr_t *bad)
{
	struct timespec time = {UNTOUCHED, UNTOUCHED};
	char text[TRACE_NAME_MAX] = "untouched";
	int number = UNTOUCHED;
	size_t size = UNTOUCHED;

	fails(posix_trace_attr_getclockres(bad, &time), EINVAL);
	fails(posix_trace_attr_getcreatetime(bad, &time), EINVAL);
	fails(posix_trace_attr_getgenversion(bad, text), EINVAL);
	fails(posix_trace_attr_getname(bad, text), EINVAL);
	fails(posix_trace_attr_setname(bad, "name"), EINVAL);
	fails(posix_trace_attr_getinherited(bad, &number), EINVAL);
	fails(posix_trace_attr_setinherited(bad, POSIX_TRACE_INHERITED), EINVAL);
	fails(posix_trace_attr_getstreamfullpolicy(bad, &number), EINVAL);
	fails(posix_trace_attr_setstreamfullpolicy(bad, POSIX_TRACE_LOOP), EINVAL);
	fails(posix_trace_attr_getmaxdatasize(bad, &size), EINVAL);
	fails(posix_trace_attr_setmaxdatasize(bad, 1), EINVAL);
	fails(posix_trace_attr_getmaxsystemeventsize(bad, &size), EINVAL);
	fails(posix_trace_attr_getmaxusereventsize(bad, 1, &size), EINVAL);
	fails(posix_trace_attr_getstreamsize(bad, &size), EINVAL);
	fails(posix_trace_attr_setstreamsize(bad, 1), EINVAL);
	fails(posix_trace_attr_destroy(bad), EINVAL);

	ck_assert_int_eq(time.tv_sec, UNTOUCHED);
	ck_assert_int_eq(time.tv_nsec, UNTOUCHED);
	ck_assert_str_eq(text, "untouched");
	ck_assert_int_eq(number, UNTOUCHED);
	ck_assert_uint_eq(size, UNTOUCHED);
}

/*
 * DESTROY-2 CLKRES-3 CRTIME-3 GENVER-4 GETNAME-4 SETNAME-4 GETINH-2 SETINH-3 GETSFP-4 SETSFP-3
 * GETMDS-2 SETMDS-3 MAXSYS-4 MAXUSR-4 GETSS-3 SETSS-2 GEN-10 GEN-11 AMB-27
 */
START_TEST(attr_any_function_null_object_is_einval)
{
	expect_refused(NULL);
}
END_TEST

/* DESTROY-2 GEN-10 GEN-11 */
START_TEST(attr_any_function_object_never_initialised_is_einval)
{
	static const unsigned char fillings[] = {0x00, 0xff, 0xa5};
	trace_attr_t never, before;

	for (size_t i = 0; i < sizeof(fillings); i++) {
		memset(&never, fillings[i], sizeof(never));
		before = never;
		expect_refused(&never);
		ck_assert_int_eq(memcmp(&never, &before, sizeof(never)), 0);
	}
}
END_TEST

/* DESTROY-1 DESTROY-2 DESTROY-3 */
START_TEST(attr_any_function_destroyed_object_is_einval)
{
	ok(posix_trace_attr_destroy(&attr));
	expect_refused(&attr);
}
END_TEST

/*
 * CLKRES-3 CRTIME-3 GENVER-4 GETNAME-4 SETNAME-4 GETINH-2 GETSFP-4 GETMDS-2 MAXSYS-4 MAXUSR-4
 * GETSS-3 GEN-10 AMB-27
 */
START_TEST(attr_any_function_null_argument_is_einval)
{
	trace_attr_t before = attr;

	fails(posix_trace_attr_getclockres(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getcreatetime(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getgenversion(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getname(&attr, NULL), EINVAL);
	fails(posix_trace_attr_setname(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getinherited(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getstreamfullpolicy(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getmaxdatasize(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getmaxsystemeventsize(&attr, NULL), EINVAL);
	fails(posix_trace_attr_getmaxusereventsize(&attr, 1, NULL), EINVAL);
	fails(posix_trace_attr_getstreamsize(&attr, NULL), EINVAL);
	ck_assert_int_eq(memcmp(&attr, &before, sizeof(attr)), 0);
}
END_TEST

/* Lengths of trace names; the stored name is cut to the maximum. */
static const struct {
	size_t given, kept;
} lengths[] = {
	{0, 0},
	{1, 1},
	{_POSIX_TRACE_NAME_MAX, _POSIX_TRACE_NAME_MAX},
	{TRACE_NAME_MAX - 2, TRACE_NAME_MAX - 2},
	{TRACE_NAME_MAX - 1, TRACE_NAME_MAX - 1},
	{TRACE_NAME_MAX, TRACE_NAME_MAX - 1},
	{TRACE_NAME_MAX + 1, TRACE_NAME_MAX - 1},
	{1000, TRACE_NAME_MAX - 1},
};

/* GETNAME-1 GETNAME-3 SETNAME-1 SETNAME-2 SETNAME-3 AMB-10 */
START_TEST(attr_setname_any_length_fits_with_its_null)
{
	char given[1001], expected[1001], got[TRACE_NAME_MAX + 1];

	for (size_t i = 0; i < lengths[_i].given; i++)
		given[i] = (char)('a' + i % 26);
	given[lengths[_i].given] = '\0';
	strcpy(expected, given);
	expected[lengths[_i].kept] = '\0';
	memset(got, '#', sizeof(got));

	ok(posix_trace_attr_setname(&attr, given));
	ok(posix_trace_attr_getname(&attr, got));
	ck_assert_str_eq(got, expected);
	ck_assert_int_eq(got[TRACE_NAME_MAX], '#');
}
END_TEST

/* SETNAME-1 */
START_TEST(attr_setname_buffer_reused_by_caller_keeps_name)
{
	char name[] = "mine";

	ok(posix_trace_attr_setname(&attr, name));
	memset(name, 'x', sizeof(name));
	expect_name("mine");
}
END_TEST

/* SETNAME-1 GETNAME-1 */
START_TEST(attr_setname_shorter_name_replaces_longer)
{
	ok(posix_trace_attr_setname(&attr, "a rather long name"));
	ok(posix_trace_attr_setname(&attr, "\xc3\xa4"));
	expect_name("\xc3\xa4");
	ok(posix_trace_attr_setname(&attr, ""));
	expect_name("");
}
END_TEST

/* GETNAME-3 GENVER-2: this also holds for an object whose memory was overwritten after its magic word. */
START_TEST(attr_getname_text_without_null_is_cut)
{
	char got[TRACE_NAME_MAX + 1];
	struct px_attr inner;

	memcpy(&inner, &attr, sizeof(inner));
	memset(inner.name, 'n', sizeof(inner.name));
	memset(inner.version, 'v', sizeof(inner.version));
	memcpy(&attr, &inner, sizeof(inner));

	memset(got, '#', sizeof(got));
	ok(posix_trace_attr_getname(&attr, got));
	ck_assert_uint_eq(strlen(got), TRACE_NAME_MAX - 1);
	ck_assert_int_eq(got[TRACE_NAME_MAX], '#');
	memset(got, '#', sizeof(got));
	ok(posix_trace_attr_getgenversion(&attr, got));
	ck_assert_uint_eq(strlen(got), TRACE_NAME_MAX - 1);
	ck_assert_int_eq(got[TRACE_NAME_MAX], '#');
}
END_TEST

/* GETINH-1 SETINH-1 SETINH-2 */
START_TEST(attr_setinherited_both_values_are_kept)
{
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ck_assert_int_eq(get_int(posix_trace_attr_getinherited), POSIX_TRACE_INHERITED);
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_CLOSE_FOR_CHILD));
	ck_assert_int_eq(get_int(posix_trace_attr_getinherited), POSIX_TRACE_CLOSE_FOR_CHILD);
}
END_TEST

/* SETINH-3 GEN-10 */
START_TEST(attr_setinherited_other_value_is_einval)
{
	static const int others[] = {-1, 2, 3, INT_MAX, INT_MIN};

	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		fails(posix_trace_attr_setinherited(&attr, others[i]), EINVAL);
	ck_assert_int_eq(get_int(posix_trace_attr_getinherited), POSIX_TRACE_INHERITED);
}
END_TEST

/*
 * GETSFP-1 SETSFP-1 SETSFP-4: setstreamfullpolicy() accepts FLUSH, too; posix_trace_create() refuses it without a log.
 */
START_TEST(attr_setstreamfullpolicy_three_policies_are_kept)
{
	static const int policies[] = {POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP};

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		ok(posix_trace_attr_setstreamfullpolicy(&attr, policies[i]));
		ck_assert_int_eq(get_int(posix_trace_attr_getstreamfullpolicy), policies[i]);
	}
}
END_TEST

/* SETSFP-3 GEN-10 */
START_TEST(attr_setstreamfullpolicy_other_value_is_einval)
{
	static const int others[] = {POSIX_TRACE_APPEND, PX_POLICY_DEFAULT, -1, 5,
				     INT_MAX, INT_MIN};

	ok(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		fails(posix_trace_attr_setstreamfullpolicy(&attr, others[i]), EINVAL);
	ck_assert_int_eq(get_int(posix_trace_attr_getstreamfullpolicy), POSIX_TRACE_UNTIL_FULL);
}
END_TEST

/* GETMDS-1 SETMDS-1 SETMDS-2 ATTR-3 AMB-25 */
START_TEST(attr_setmaxdatasize_value_is_kept_as_it_is)
{
	static const size_t sizes[] = {0, 1, 7, 16, 17, 4096, PX_ATTR_DATA_SIZE_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ok(posix_trace_attr_setmaxdatasize(&attr, sizes[i]));
		ck_assert_uint_eq(get_size(posix_trace_attr_getmaxdatasize), sizes[i]);
	}
}
END_TEST

/* SETMDS-3 */
START_TEST(attr_setmaxdatasize_too_large_is_einval)
{
	ok(posix_trace_attr_setmaxdatasize(&attr, 5));
	fails(posix_trace_attr_setmaxdatasize(&attr, (size_t)PX_ATTR_DATA_SIZE_MAX + 1), EINVAL);
	fails(posix_trace_attr_setmaxdatasize(&attr, SIZE_MAX), EINVAL);
	ck_assert_uint_eq(get_size(posix_trace_attr_getmaxdatasize), 5);
}
END_TEST

/*
 * GETSS-1 SETSS-2 ATTR-3 AMB-26: the setter accepts values that are too small or too large; posix_trace_create() checks
 * them.
 */
START_TEST(attr_setstreamsize_value_is_kept_as_it_is)
{
	static const size_t sizes[] = {0, 1, 4095, 8192, 1 << 30, SIZE_MAX - 1, SIZE_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ok(posix_trace_attr_setstreamsize(&attr, sizes[i]));
		ck_assert_uint_eq(get_size(posix_trace_attr_getstreamsize), sizes[i]);
	}
}
END_TEST

/* MAXSYS-1 MAXSYS-2 */
START_TEST(attr_getmaxsystemeventsize_covers_a_filter_event)
{
	size_t size = get_size(posix_trace_attr_getmaxsystemeventsize);

	ck_assert_uint_gt(size, 2 * sizeof(trace_event_set_t));
	/* The largest system event takes as much room as a user event with the same amount of data. */
	ok(posix_trace_attr_setmaxdatasize(&attr, 2 * sizeof(trace_event_set_t)));
	ck_assert_uint_eq(size, user_event_size(2 * sizeof(trace_event_set_t)));
}
END_TEST

/* MAXSYS-2 SYSEV-5: max-data-size limits only user data. */
START_TEST(attr_getmaxsystemeventsize_does_not_depend_on_max_data_size)
{
	size_t size = get_size(posix_trace_attr_getmaxsystemeventsize);

	ok(posix_trace_attr_setmaxdatasize(&attr, 0));
	ck_assert_uint_eq(get_size(posix_trace_attr_getmaxsystemeventsize), size);
	ok(posix_trace_attr_setmaxdatasize(&attr, PX_ATTR_DATA_SIZE_MAX));
	ck_assert_uint_eq(get_size(posix_trace_attr_getmaxsystemeventsize), size);
}
END_TEST

/* MAXUSR-1 MAXUSR-3 */
START_TEST(attr_getmaxusereventsize_grows_with_data)
{
	size_t last = 0;

	ok(posix_trace_attr_setmaxdatasize(&attr, 2000));
	for (size_t data_len = 0; data_len <= 2000; data_len++) {
		size_t size = user_event_size(data_len);

		ck_assert_uint_ge(size, last);
		ck_assert_uint_gt(size, data_len);
		last = size;
	}
}
END_TEST

/* MAXUSR-2 */
START_TEST(attr_getmaxusereventsize_beyond_max_data_size_stays)
{
	static const size_t limits[] = {0, 1, 16, 17, 256, 5000, PX_ATTR_DATA_SIZE_MAX};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		size_t size;

		ok(posix_trace_attr_setmaxdatasize(&attr, limits[i]));
		size = user_event_size(limits[i]);
		ck_assert_uint_eq(user_event_size(limits[i] + 1), size);
		ck_assert_uint_eq(user_event_size(limits[i] + 1000), size);
		ck_assert_uint_eq(user_event_size(SIZE_MAX), size);
	}
}
END_TEST

/* ATTR-3: a setter changes only its own attribute. */
START_TEST(attr_any_setter_leaves_other_attributes_alone)
{
	struct timespec resolution, time;

	change_everything();
	expect_name("changed");
	ck_assert_int_eq(get_int(posix_trace_attr_getinherited), POSIX_TRACE_INHERITED);
	ck_assert_int_eq(get_int(posix_trace_attr_getstreamfullpolicy), POSIX_TRACE_UNTIL_FULL);
	ck_assert_uint_eq(get_size(posix_trace_attr_getmaxdatasize), 1);
	ck_assert_uint_eq(get_size(posix_trace_attr_getstreamsize), 1);
	ok(posix_trace_attr_getclockres(&attr, &resolution));
	ck_assert(resolution.tv_sec > 0 || resolution.tv_nsec > 0);
	ok(posix_trace_attr_getcreatetime(&attr, &time));
	ck_assert_int_eq(time.tv_sec, 0);
}
END_TEST

static void call_all(trace_attr_t *object)
{
	struct timespec time;
	char text[TRACE_NAME_MAX];
	int number;
	size_t size;

	posix_trace_attr_init(object);
	posix_trace_attr_getclockres(object, &time);
	posix_trace_attr_getcreatetime(object, &time);
	posix_trace_attr_getgenversion(object, text);
	posix_trace_attr_setname(object, "name");
	posix_trace_attr_getname(object, text);
	posix_trace_attr_setinherited(object, POSIX_TRACE_INHERITED);
	posix_trace_attr_getinherited(object, &number);
	posix_trace_attr_setstreamfullpolicy(object, POSIX_TRACE_LOOP);
	posix_trace_attr_getstreamfullpolicy(object, &number);
	posix_trace_attr_setmaxdatasize(object, 1);
	posix_trace_attr_getmaxdatasize(object, &size);
	posix_trace_attr_getmaxsystemeventsize(object, &size);
	posix_trace_attr_getmaxusereventsize(object, 1, &size);
	posix_trace_attr_setstreamsize(object, 1);
	posix_trace_attr_getstreamsize(object, &size);
	posix_trace_attr_destroy(object);
}

/* GEN-1 GEN-2 */
START_TEST(attr_any_function_keeps_errno)
{
	errno = UNTOUCHED;
	call_all(&attr);
	call_all(NULL);
	ck_assert_int_eq(errno, UNTOUCHED);
}
END_TEST

static void call_all_on_one(void)
{
	call_all(&attr);
}

/* GEN-6 */
START_TEST(attr_any_function_is_no_cancellation_point)
{
	px_test_with_cancellation_pending(call_all_on_one);
}
END_TEST

START_TEST(attr_setaggregation_both_values_are_kept)
{
	int aggregates = 7;

	ok(posix_trace_attr_init(&attr));
	ok(txtrace_attr_getaggregation(&attr, &aggregates));
	ck_assert_int_eq(aggregates, 0);
	ok(txtrace_attr_setaggregation(&attr, 1));
	ok(txtrace_attr_getaggregation(&attr, &aggregates));
	ck_assert_int_eq(aggregates, 1);
	ck_assert_int_eq(txtrace_attr_setaggregation(&attr, 2), EINVAL);
	ck_assert_int_eq(txtrace_attr_setaggregation(NULL, 1), EINVAL);
	ck_assert_int_eq(txtrace_attr_getaggregation(&attr, NULL), EINVAL);
	posix_trace_attr_destroy(&attr);
	ck_assert_int_eq(txtrace_attr_setaggregation(&attr, 1), EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attr");
	TCase *tcase = tcase_create("attr");

	tcase_add_checked_fixture(tcase, begin, NULL);
	tcase_add_test(tcase, attr_init_any_memory_gives_defaults);
	tcase_add_test(tcase, attr_init_version_names_the_library);
	tcase_add_test(tcase, attr_init_clock_resolution_is_that_of_the_clock);
	tcase_add_test(tcase, attr_getcreatetime_without_stream_is_zero);
	tcase_add_test(tcase, attr_getcreatetime_of_cleared_stream_is_that_of_its_creation);
	tcase_add_test(tcase, attr_init_destroyed_object_gives_defaults);
	tcase_add_test(tcase, attr_init_object_in_use_gives_defaults);
	tcase_add_test(tcase, attr_init_null_is_einval);
	tcase_add_test(tcase, attr_init_many_objects_never_fails);
	tcase_add_test(tcase, attr_init_stream_policy_is_stored_as_unset);
	tcase_add_test(tcase, attr_init_log_attributes_have_defaults);
	tcase_add_test(tcase, attr_any_function_null_object_is_einval);
	tcase_add_test(tcase, attr_any_function_object_never_initialised_is_einval);
	tcase_add_test(tcase, attr_any_function_destroyed_object_is_einval);
	tcase_add_test(tcase, attr_any_function_null_argument_is_einval);
	tcase_add_loop_test(tcase, attr_setname_any_length_fits_with_its_null, 0,
			    sizeof(lengths) / sizeof(lengths[0]));
	tcase_add_test(tcase, attr_setname_buffer_reused_by_caller_keeps_name);
	tcase_add_test(tcase, attr_setname_shorter_name_replaces_longer);
	tcase_add_test(tcase, attr_getname_text_without_null_is_cut);
	tcase_add_test(tcase, attr_setinherited_both_values_are_kept);
	tcase_add_test(tcase, attr_setinherited_other_value_is_einval);
	tcase_add_test(tcase, attr_setstreamfullpolicy_three_policies_are_kept);
	tcase_add_test(tcase, attr_setstreamfullpolicy_other_value_is_einval);
	tcase_add_test(tcase, attr_setmaxdatasize_value_is_kept_as_it_is);
	tcase_add_test(tcase, attr_setmaxdatasize_too_large_is_einval);
	tcase_add_test(tcase, attr_setstreamsize_value_is_kept_as_it_is);
	tcase_add_test(tcase, attr_getmaxsystemeventsize_covers_a_filter_event);
	tcase_add_test(tcase, attr_getmaxsystemeventsize_does_not_depend_on_max_data_size);
	tcase_add_test(tcase, attr_getmaxusereventsize_grows_with_data);
	tcase_add_test(tcase, attr_getmaxusereventsize_beyond_max_data_size_stays);
	tcase_add_test(tcase, attr_setaggregation_both_values_are_kept);
	tcase_add_test(tcase, attr_any_setter_leaves_other_attributes_alone);
	tcase_add_test(tcase, attr_any_function_keeps_errno);
	tcase_add_test(tcase, attr_any_function_is_no_cancellation_point);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
