/* SPDX-License-Identifier: MIT */
/*
 * The directory of the segments, read from end to end without memory of its own; and a segment that is retired.
 */
#include "support/common.h"

#include <stdlib.h>
#include <string.h>

#include "base/shm.h"

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define COUNTS_ALLOCATIONS 1

/* The memory of this program, and of the C library in it: malloc() of the C library, and how often it is called. */
static bool is_counting;
static unsigned int nr_allocations;

extern void *__libc_malloc(size_t size);

/* The C library calls only a visible function. */
__attribute__((visibility("default"))) void *malloc(size_t size)
{
	nr_allocations += is_counting;
	return __libc_malloc(size);
}
#else
#define COUNTS_ALLOCATIONS 0
#endif

#define NR_FILES 300 /* more than the kernel gives at once */

static unsigned int nr_seen[NR_FILES], nr_others;

static void count(const char *name, void *argument)
{
	char *end;
	unsigned long number = strtoul(name + strlen(argument), &end, 10);

	if (*end || number >= NR_FILES)
		nr_others++;
	else
		nr_seen[number]++;
}

static void make_files(const char *prefix)
{
	struct px_mapping mapping;
	char name[PX_SHM_NAME_MAX];

	for (int i = 0; i < NR_FILES; i++) {
		snprintf(name, sizeof(name), "%s%d", prefix, i);
		ck_assert_int_eq(px_shm_create(name, 4096, &mapping), 0);
		px_shm_unmap(&mapping);
	}
}

static void remove_files(const char *name, void *argument)
{
	count(name, argument);
	px_shm_unlink(name);
}

static void expect_each(unsigned int times)
{
	for (int i = 0; i < NR_FILES; i++)
		ck_assert_uint_eq(nr_seen[i], times);
	ck_assert_uint_eq(nr_others, 0);
}

START_TEST(for_each_gives_each_file_once_also_if_it_is_removed)
{
	char wanted[] = "wanted.", other[] = "other.";

	ck_assert_int_eq(px_shm_init(), 0);
	make_files(wanted);
	make_files(other);
	ck_assert_int_eq(px_shm_for_each(wanted, count, wanted), 0);
	expect_each(1);
	ck_assert_int_eq(px_shm_for_each(wanted, remove_files, wanted), 0);
	expect_each(2);
	ck_assert_int_eq(px_shm_for_each(wanted, count, wanted), 0);
	expect_each(2);
	ck_assert_int_eq(px_shm_for_each(other, remove_files, other), 0);
	expect_each(3);
}
END_TEST

/* exit() ends streams, and a handler that has interrupted malloc() may call it. */
START_TEST(for_each_allocates_nothing)
{
#if COUNTS_ALLOCATIONS
	char prefix[] = "";
	unsigned int nr_ours, nr_all;
	void *volatile one;
	int error;

	ck_assert_int_eq(px_shm_init(), 0);
	make_files("some.");
	is_counting = true; /* Check allocates, too: no assertions until it is false */
	one = malloc(1);
	nr_ours = nr_allocations;
	error = px_shm_for_each(prefix, remove_files, prefix);
	nr_all = nr_allocations;
	is_counting = false;
	free(one);
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(nr_ours, 1);
	ck_assert_uint_eq(nr_all, 1);
	ck_assert_uint_ge(nr_others, NR_FILES);
#else
	px_test_skip("a sanitizer has its own malloc()");
#endif
}
END_TEST

/* A writer that continues after the end of its stream stores into private memory, and harms no one. */
START_TEST(retire_keeps_the_range_and_leaves_the_segment_alone)
{
	enum { BYTES = 8192 };
	struct px_mapping writer, reader;

	ck_assert_int_eq(px_shm_init(), 0);
	ck_assert_int_eq(px_shm_create("retired", BYTES, &writer), 0);
	ck_assert_int_eq(px_shm_attach("retired", true, &reader), 0);
	memset(writer.base, 'a', BYTES);
	px_shm_retire(&writer);
	for (size_t i = 0; i < BYTES; i++)
		ck_assert_uint_eq(((unsigned char *)writer.base)[i], 0);
	memset(writer.base, 'b', BYTES);
	for (size_t i = 0; i < BYTES; i++)
		ck_assert_uint_eq(((unsigned char *)reader.base)[i], 'a');
	px_shm_unmap(&writer);
	px_shm_unmap(&reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shm");
	TCase *tcase = tcase_create("directory");
	TCase *retired = tcase_create("retired");

	tcase_add_test(tcase, for_each_gives_each_file_once_also_if_it_is_removed);
	tcase_add_test(tcase, for_each_allocates_nothing);
	suite_add_tcase(suite, tcase);
	tcase_add_test(retired, retire_keeps_the_range_and_leaves_the_segment_alone);
	suite_add_tcase(suite, retired);
	return run_suite(suite);
}
