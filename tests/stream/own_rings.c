/* SPDX-License-Identifier: MIT */
/*
 * The trial of restartable sequences, and what follows from its result.  A kernel with the fault is simulated: the
 * sequence runs with an area that the kernel does not know.
 */
#include "config.h"

#include "support/common.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/clock.h"
#include "registry/registry.h"
#include "ring/cpuring.h"
#include "ring/trial.h"
#include "stream/own_rings.h"

#define TRIES 200 /* a busy machine may give no result */

static enum px_trial try_until_decided(void)
{
	enum px_trial result = PX_TRIAL_NOTHING;

	for (int i = 0; i < TRIES && result == PX_TRIAL_NOTHING; i++)
		result = px_trial_run(px_cpu_area());
	return result;
}

static volatile sig_atomic_t nr_signals;

static void count_signal(int signal)
{
	(void)signal;
	nr_signals++;
}

START_TEST(trial_of_this_kernel_finds_no_fault_and_leaves_nothing)
{
	struct sigaction on = {.sa_handler = count_signal};
	cpu_set_t cpus_before, cpus_after;
	sigset_t mask_before, mask_after;

	memset(&mask_before, 0, sizeof(mask_before)); /* the kernel fills in only a part */
	memset(&mask_after, 0, sizeof(mask_after));
	ck_assert_int_eq(sigaction(SIGCHLD, &on, NULL), 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus_before), &cpus_before), 0);
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	errno = EXDEV;
	ck_assert_int_eq(try_until_decided(), PX_TRIAL_GOOD);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus_after), &cpus_after), 0);
	ck_assert(CPU_EQUAL(&cpus_before, &cpus_after));
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	ck_assert_mem_eq(&mask_before, &mask_after, sizeof(mask_before));
	ck_assert_int_eq(waitpid(-1, NULL, __WALL), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(nr_signals, 0);
}
END_TEST

START_TEST(trial_on_one_cpu_finds_no_fault)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert_int_eq(try_until_decided(), PX_TRIAL_GOOD);
}
END_TEST

START_TEST(trial_of_a_kernel_that_restarts_nothing_finds_the_fault)
{
	px_trial_is_faulty = true;
	ck_assert_int_eq(try_until_decided(), PX_TRIAL_FAULTY);
}
END_TEST

START_TEST(trial_is_short)
{
	uint64_t begin = px_clock_monotonic_ns(), least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t now;

		px_trial_run(px_cpu_area());
		now = px_clock_monotonic_ns();
		least = now - begin < least ? now - begin : least;
		begin = now;
	}
	ck_assert_uint_lt(least, PX_TRIAL_NS + PX_TRIAL_NS / 2);
}
END_TEST

/* Where there is mmap2, the C library calls it, and ARM has no other. */
#ifdef SYS_mmap2
#define NR_MMAP SYS_mmap2
#else
#define NR_MMAP SYS_mmap
#endif

/* The program lives on. */
START_TEST(trial_that_a_filter_forbids_has_no_result)
{
	static const struct {
		uint32_t number, action;
	} filters[] = {
		{SYS_sched_setaffinity, SECCOMP_RET_KILL_PROCESS},
		{SYS_sched_setaffinity, SECCOMP_RET_ERRNO | EPERM},
		{SYS_clone, SECCOMP_RET_ERRNO | EAGAIN},
		{NR_MMAP, SECCOMP_RET_ERRNO | ENOMEM},
	};

	ck_assert(px_test_filter(filters[_i].number, filters[_i].action));
	ck_assert_int_eq(px_trial_run(px_cpu_area()), PX_TRIAL_NOTHING);
}
END_TEST

static void sleep_too_long(void)
{
	const struct timespec length = {.tv_nsec = PX_TRIAL_NS + PX_TRIAL_NS / 4};

	nanosleep(&length, NULL);
}

/* The fork() of a large program takes longer than a trial. */
START_TEST(trial_in_a_late_child_has_a_result)
{
	px_test_at_point("ring.trial.child", sleep_too_long);
	ck_assert_int_eq(try_until_decided(), PX_TRIAL_GOOD);
}
END_TEST

static int descriptor;

static void close_descriptor(void)
{
	close(descriptor);
}

/* What another thread closes during the trial is closed, so it is no longer locked, for instance. */
START_TEST(trial_holds_no_descriptors)
{
	descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(descriptor, 0);
	px_test_at_point("ring.trial.child", close_descriptor);
	px_trial_run(px_cpu_area());
	ck_assert_int_eq(fcntl(descriptor, F_GETFD), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

/* This process cannot exit either, so it ends by a signal. */
START_TEST(trial_that_cannot_exit_ends)
{
	ck_assert(px_test_filter(SYS_exit_group, SECCOMP_RET_ERRNO | EPERM));
	px_trial_run(px_cpu_area());
	raise(SIGTERM);
}
END_TEST

static int is_first_process(void *unused)
{
	(void)unused;
	return getpid() == 1 ? 0 : 1;
}

/* The child would be process 1 of the name space, and no process can be made there after its end. */
START_TEST(trial_leaves_a_new_name_space_of_processes_to_the_program)
{
	if (unshare(CLONE_NEWPID) != 0) {
		px_test_skip("no right to make a pid name space");
		return;
	}
	ck_assert_int_eq(px_trial_run(px_cpu_area()), PX_TRIAL_NOTHING);
	ck_assert_int_eq(px_test_in_child(is_first_process, NULL), 0);
}
END_TEST

START_TEST(trial_that_a_filter_kills_leaves_no_core_file)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	char directory[] = "/tmp/own_rings.XXXXXX", pattern[8] = "";
	FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");

	if (file && !fgets(pattern, sizeof(pattern), file))
		pattern[0] = '\0';
	if (file)
		fclose(file);
	if (strncmp(pattern, "core", 4) != 0 || setrlimit(RLIMIT_CORE, &all) != 0) {
		px_test_skip("core files are not in the working directory, or there are none");
		return;
	}
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert(px_test_filter(SYS_sched_setaffinity, SECCOMP_RET_KILL_PROCESS));
	ck_assert_int_eq(px_trial_run(px_cpu_area()), PX_TRIAL_NOTHING);
	ck_assert_int_eq(rmdir(directory), 0); /* it is empty */
}
END_TEST

static unsigned int rings_of_a_stream(void)
{
	trace_id_t stream = px_test_create(&(struct px_test_stream){.nr_rings = 0});
	unsigned int rings;
	trace_attr_t attr;

	ok(posix_trace_get_attr(stream, &attr));
	ok(txtrace_attr_getrings(&attr, &rings));
	ok(posix_trace_shutdown(stream));
	return rings;
}

/* The obstacle that another program of this user finds. */
static int exec_check(void *unused)
{
	execl("/proc/self/exe", "own_rings", "check", (char *)NULL);
	return unused ? 99 : 98;
}

static int check(void)
{
	int obstacle;

	return txtrace_check_rings(&obstacle) == 0 ? obstacle : 97;
}

static void forget_trials(void)
{
	ck_assert_ptr_nonnull(px_registry_get());
	px_write_once(&px_registry_get()->gate.trial, 0);
}

START_TEST(stream_after_a_trial_that_found_the_fault_has_shared_rings)
{
	uint64_t kept;
	int obstacle;

	forget_trials();
	px_trial_is_faulty = true;
	ok(txtrace_check_rings(&obstacle));
	if (obstacle == 0 || obstacle == TXTRACE_RINGS_NOT_TESTED)
		return; /* the machine was too busy for a result */
	ck_assert_int_eq(obstacle, TXTRACE_RINGS_NOT_RESTARTED);
	ck_assert_uint_eq(rings_of_a_stream(), (unsigned int)sysconf(_SC_NPROCESSORS_CONF));
	/* Other programs know the result until the machine restarts. */
	kept = px_read_once(&px_registry_get()->gate.trial);
	ck_assert_uint_ne(kept, 0);
	ck_assert_int_eq(px_test_in_child(exec_check, NULL), TXTRACE_RINGS_NOT_RESTARTED);
	ck_assert_uint_eq(px_read_once(&px_registry_get()->gate.trial), kept);
	px_write_once(&px_registry_get()->gate.trial, kept ^ UINT64_C(1) << 40); /* of another start */
	ck_assert_int_ne(px_test_in_child(exec_check, NULL), TXTRACE_RINGS_NOT_RESTARTED);
	forget_trials();
}
END_TEST

START_TEST(result_of_a_good_trial_is_kept_for_other_programs)
{
	uint64_t kept;
	int obstacle;

	forget_trials();
	for (int i = 0; i < TRIES && px_read_once(&px_registry_get()->gate.trial) == 0; i++)
		px_test_in_child(exec_check, NULL);
	kept = px_read_once(&px_registry_get()->gate.trial);
	ck_assert_uint_ne(kept, 0);
	px_trial_is_faulty = true; /* there is no other trial that could find it */
	ok(txtrace_check_rings(&obstacle));
	ck_assert_int_eq(obstacle, 0);
	ck_assert_uint_eq(rings_of_a_stream(), (unsigned int)sysconf(_SC_NPROCESSORS_CONF) + 1);
	ck_assert_uint_eq(px_read_once(&px_registry_get()->gate.trial), kept);
}
END_TEST

static int exec_without_areas(void *unused)
{
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	return exec_check(unused);
}

START_TEST(check_without_areas_says_so)
{
	ck_assert_int_eq(px_test_in_child(exec_without_areas, NULL), TXTRACE_RINGS_NO_SEQUENCES);
	ck_assert_int_eq(txtrace_check_rings(NULL), EINVAL);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("own_rings");
	TCase *tcase;

	if (argc > 1 && strcmp(argv[1], "check") == 0)
		return check();
	if (px_clock_best().source != PX_CLOCK_HARDWARE || !px_cpu_area())
		skip_program("threads have no area for restartable sequences, or there is no counter");
#if defined __SANITIZE_THREAD__
	skip_program("there is no trial with ThreadSanitizer");
#endif
	tcase = tcase_create("trial");
	tcase_add_test(tcase, trial_of_this_kernel_finds_no_fault_and_leaves_nothing);
	tcase_add_test(tcase, trial_on_one_cpu_finds_no_fault);
	tcase_add_test(tcase, trial_of_a_kernel_that_restarts_nothing_finds_the_fault);
	tcase_add_test(tcase, trial_is_short);
	tcase_add_loop_test(tcase, trial_that_a_filter_forbids_has_no_result, 0, 4);
	tcase_add_test(tcase, trial_in_a_late_child_has_a_result);
	tcase_add_test(tcase, trial_holds_no_descriptors);
	tcase_add_test_raise_signal(tcase, trial_that_cannot_exit_ends, SIGTERM);
	tcase_add_test(tcase, trial_leaves_a_new_name_space_of_processes_to_the_program);
	tcase_add_test(tcase, trial_that_a_filter_kills_leaves_no_core_file);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("rings");
	tcase_add_test(tcase, stream_after_a_trial_that_found_the_fault_has_shared_rings);
	tcase_add_test(tcase, result_of_a_good_trial_is_kept_for_other_programs);
	tcase_add_test(tcase, check_without_areas_says_so);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
