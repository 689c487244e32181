/* SPDX-License-Identifier: MIT */
/*
 * Processes of other users, for a test that is root.  Each is the test's program again, by exec, without
 * TXTRACE_DIR; it executes the requests that it gets over a socket, and is killed with the test.
 */
#ifndef PX_TESTS_SUPPORT_OTHER_USER_H
#define PX_TESTS_SUPPORT_OTHER_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PX_TEST_USERS 2

/*
 * Reserve ids of users and groups that no other suite uses at the same time, until this process and its children by
 * fork have ended.  To be called in main(), before the tests run.
 */
void px_test_reserve_users(void);

/* A reserved id, index below PX_TEST_USERS. */
uid_t px_test_user(unsigned int index);

#define OTHER_UID px_test_user(0)
#define THIRD_UID px_test_user(1)

struct px_other_user {
	pid_t pid;
	int socket;
};

/* What the test can request of them. */
enum px_other_user_request {
	FOREIGN_OPEN, /* open the type text: its id, or minus the error; it is recorded from now on */
	FOREIGN_RECORD, /* count events with the numbers from number on */
	FOREIGN_FORK,	/* one event with this number, by a child made by fork */
	FOREIGN_EXEC, /* the same by a child that executes the program anew, and opens the type text */
	FOREIGN_RUN,	   /* the same with the program text, and the type "by program" */
	FOREIGN_CREATE,	   /* create a stream for itself and shut it down: the error */
	FOREIGN_SECURE,	   /* what AT_SECURE says */
	FOREIGN_HOLD_LOCK, /* lock the registry for ever: 0 */
};

/* What a program does that gets no requests. */
typedef int px_other_user_role(int argc, char **argv);
struct px_other_user_role_entry {
	const char *name;
	px_other_user_role *run;
};

/* To be the first call of main(): does not return in a process that a test has started.  Else it reserves users. */
void px_other_user_main(int argc, char **argv, const struct px_other_user_role_entry *roles);

/* Start one; ready when this returns. */
void px_other_user_start(struct px_other_user *foreigner, uid_t uid);

/* The same as this program, a copy of ours, with these effective and real users. */
void px_other_user_start_program(struct px_other_user *foreigner, const char *path, uid_t real,
				uid_t effective);

/* A process of this user in another role; argument may be NULL. */
pid_t px_other_user_start_role(const char *role, uid_t uid, const char *argument);

/* Tell it, and wait for its answer. */
int px_other_user_tell(const struct px_other_user *foreigner, enum px_other_user_request order,
		      const char *text, uint32_t number, uint32_t count);

/* It ends; its exit code, or -1 if it was killed otherwise. */
int px_other_user_stop(struct px_other_user *foreigner);

/* The directory of a user's segments, and what is in it. */
void px_other_user_path(char path[128], uid_t uid, const char *name);
bool px_other_user_exists(uid_t uid, const char *name);
int px_other_user_count_files(uid_t uid, const char *prefix);
void px_other_user_remove_directory(uid_t uid);

/* System V segments that belong to this user; remove them. */
int px_other_user_count_segments(uid_t uid);
void px_other_user_remove_segments(uid_t uid);

#endif
