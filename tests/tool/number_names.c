/* SPDX-License-Identifier: MIT */
/* The tables of error numbers and signals, for C libraries without such functions, against those of this C library. */
#include "support/common.h"

#include <signal.h>
#include <string.h>

#include "config.h"

#if defined HAVE_STRERRORNAME_NP && defined HAVE_SIGABBREV_NP
#define PX_HAS_NAMES 1
static const char *error_of_library(int error)
{
	return strerrorname_np(error);
}

static const char *signal_of_library(int number)
{
	return sigabbrev_np(number);
}
#else
#define PX_HAS_NAMES 0
#endif

/* As in bin/base/number_names.h.  This program contains that file with the tables. */
const char *error_number_name(int error);
const char *signal_number_name(int number);

#if PX_HAS_NAMES
static void expect_same(const char *name, const char *expected)
{
	ck_assert_int_eq(name == NULL, expected == NULL);
	if (name)
		ck_assert_str_eq(name, expected);
}
#endif

START_TEST(names_are_those_of_the_library)
{
#if PX_HAS_NAMES
	for (int i = -1; i < 5000; i++)
		expect_same(error_number_name(i), error_of_library(i));
	for (int i = -1; i < 100; i++)
		expect_same(signal_number_name(i), signal_of_library(i));
#endif
	ck_assert_str_eq(error_number_name(EBUSY), "EBUSY");
	ck_assert_str_eq(signal_number_name(SIGTERM), "TERM");
	ck_assert_ptr_null(error_number_name(-1));
	ck_assert_ptr_null(signal_number_name(0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("number_names");
	TCase *tcase = tcase_create("names");

	tcase_add_test(tcase, names_are_those_of_the_library);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
