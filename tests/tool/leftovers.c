/* SPDX-License-Identifier: MIT */
/* A signal that ends the tool leaves no temporary file, whenever it comes. */
#include "base/leftovers.h"

#include "support/common.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum moment { BETWEEN, AFTER, FORGOTTEN };

static int number; /* of the signal */
static enum moment moment;

/* In the place of that of the C library: the signal comes when the file exists and its maker does not know it yet. */
int mkostemp(char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);

	if (moment == BETWEEN)
		raise(number);
	return fd;
}

/* Make a file, and get the signal.  Return the status of a process that does so.  Check has handlers of its own. */
static int make_in_a_child(char *path, void (*handler)(int))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		int fd;

		signal(number, handler);
		fd = leftovers_make(path);
		if (moment == FORGOTTEN)
			leftovers_forget(path);
		if (moment != BETWEEN)
			raise(number);
		_exit(fd < 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

START_TEST(signal_leaves_no_file)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	char path[] = "leftovers.XXXXXX";
	int status;

	number = numbers[_i % 3];
	moment = (enum moment)(_i / 3);
	unlink(path);
	status = make_in_a_child(path, SIG_DFL);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), number);
	ck_assert_int_eq(access(path, F_OK) == 0, moment == FORGOTTEN);
	unlink(path);
}
END_TEST

START_TEST(signal_that_is_ignored_ends_nothing)
{
	char path[] = "leftovers.ignored";
	int status;

	unlink(path);
	number = SIGHUP;
	moment = BETWEEN;
	status = make_in_a_child(path, SIG_IGN);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(access(path, F_OK), 0);
	unlink(path);
}
END_TEST

START_TEST(mask_of_signals_and_errno_stay_as_they_were)
{
	char path[] = "no-such-directory/leftovers";
	sigset_t before, after;

	moment = AFTER;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	ck_assert_int_eq(leftovers_make(path), -1);
	ck_assert_int_eq(errno, ENOENT);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ck_assert_int_eq(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
	ck_assert_int_eq(sigismember(&after, SIGTERM), 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("signals");
	Suite *suite = suite_create("leftovers");

	tcase_add_loop_test(tcase, signal_leaves_no_file, 0, 9);
	tcase_add_test(tcase, signal_that_is_ignored_ends_nothing);
	tcase_add_test(tcase, mask_of_signals_and_errno_stay_as_they_were);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
