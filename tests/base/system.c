/* SPDX-License-Identifier: MIT */
/*
 * The clock of the library where the kernel gives programs no vDSO, as under some emulators and with vdso=0, and what
 * each machine has its own instructions for: system calls and the thread pointer.
 */
#include "base/system.h"

#include "support/common.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/compiler.h"

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

static int nr_asked;

unsigned long __wrap_getauxval(unsigned long type)
{
	if (type != AT_SYSINFO_EHDR)
		return __real_getauxval(type);
	nr_asked++;
	errno = ENOENT;
	return 0;
}

/* GEN-2 */
START_TEST(system_clock_without_a_vdso_reads_the_time_and_keeps_errno)
{
	uint64_t before = monotonic_ns(), now;

	errno = 4711;
	now = px_clock_monotonic_ns();
	ck_assert_int_eq(errno, 4711);
	ck_assert_uint_ge(now, before);
	ck_assert_uint_le(now, monotonic_ns());
#if defined __x86_64__ || defined __aarch64__
	ck_assert_int_eq(nr_asked, 1);
#endif
}
END_TEST

/* The kernel compares the futex with the sixth argument, and nobody waits for it. */
static long compare(uint32_t *word, uint32_t value)
{
	uint32_t other = 0;

	return syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1L, &other, (unsigned long)value);
}

START_TEST(system_call_has_all_arguments_and_sets_errno)
{
	uint32_t word = 4711;

	errno = 0;
	ck_assert_int_eq(compare(&word, 4711), 0);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(compare(&word, 4712), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(syscall(SYS_close, -1), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(syscall(SYS_getppid), getppid());
}
END_TEST

static void *distance_of_thread_pointer(void *distance)
{
	*(uintptr_t *)distance = (uintptr_t)px_thread_pointer() - (uintptr_t)__builtin_frame_address(0);
	return distance;
}

/* The walks over stacks take it for the top of the stack of a thread. */
START_TEST(system_thread_pointer_is_the_top_of_a_threads_stack)
{
	uintptr_t distance = 0;
	pthread_t thread;

	ok(pthread_create(&thread, NULL, distance_of_thread_pointer, &distance));
	ok(pthread_join(thread, NULL));
	ck_assert_uint_gt(distance, 0);
	ck_assert_uint_lt(distance, 0x6000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("system");
	TCase *tcase = tcase_create("system");

	tcase_add_test(tcase, system_clock_without_a_vdso_reads_the_time_and_keeps_errno);
	tcase_add_test(tcase, system_call_has_all_arguments_and_sets_errno);
	tcase_add_test(tcase, system_thread_pointer_is_the_top_of_a_threads_stack);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
