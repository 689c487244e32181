/* SPDX-License-Identifier: MIT */
/*
 * Processes of other users, for a test that runs as root.  Each executes the program of the test, without TXTRACE_DIR.
 * It serves requests from a socket, and is killed with the test.
 */
#ifndef PX_TESTS_SUPPORT_OTHER_USER_H
#define PX_TESTS_SUPPORT_OTHER_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PX_TEST_USERS 2

/*
 * Reserve ids of users and groups that no other suite uses at the same time, until this process and its forked children
 * have ended.  Call this in main(), before the tests run.
 */
void px_test_reserve_users(void);

/* Return a reserved id; the index is below PX_TEST_USERS. */
uid_t px_test_user(unsigned int index);

#define OTHER_UID px_test_user(0)
#define THIRD_UID px_test_user(1)

struct px_other_user {
	pid_t pid;
	int socket;
};

/* What the test can request from such a process. */
enum px_other_user_request {
	FOREIGN_OPEN, /* open the type text, which later events have: its id, or minus the error */
	FOREIGN_RECORD, /* count events with the numbers from number on */
	FOREIGN_FORK,	/* record one event with this number, in a forked child */
	FOREIGN_EXEC, /* the same by a child that executes the program anew, and opens the type text */
	FOREIGN_RUN,	   /* the same with the program text, and the type "by program" */
	FOREIGN_CREATE,	   /* create a stream of itself and shut it down: the error */
	FOREIGN_SECURE,	   /* what AT_SECURE says */
	FOREIGN_HOLD_LOCK, /* lock the registry for ever: 0 */
};

/* What a program does that gets no requests. */
typedef int px_other_user_role(int argc, char **argv);
struct px_other_user_role_entry {
	const char *name;
	px_other_user_role *run;
};

/*
 * Call this first in main().  It does not return in a process that a test has started.  In the test itself, it reserves
 * users.
 */
void px_other_user_main(int argc, char **argv, const struct px_other_user_role_entry *roles);

/* Start a process; it is ready when the call returns. */
void px_other_user_start(struct px_other_user *foreigner, uid_t uid);

/* The same with a copy of this program, and these effective and real users. */
void px_other_user_start_program(struct px_other_user *foreigner, const char *path, uid_t real,
				uid_t effective);

/* Start a process of this user in another role; argument may be NULL. */
pid_t px_other_user_start_role(const char *role, uid_t uid, const char *argument);

/* Send a request, and wait for the answer. */
int px_other_user_tell(const struct px_other_user *foreigner, enum px_other_user_request order,
		      const char *text, uint32_t number, uint32_t count);

/* End the process.  Return its exit code, or -1 if a signal killed it. */
int px_other_user_stop(struct px_other_user *foreigner);

/* Return the directory of a user's segments; list its content. */
void px_other_user_path(char path[128], uid_t uid, const char *name);
bool px_other_user_exists(uid_t uid, const char *name);
int px_other_user_count_files(uid_t uid, const char *prefix);
void px_other_user_remove_directory(uid_t uid);

/* System V segments that belong to this user; remove them. */
int px_other_user_count_segments(uid_t uid);
void px_other_user_remove_segments(uid_t uid);

#endif
