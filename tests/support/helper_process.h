/* SPDX-License-Identifier: MIT */
/*
 * Processes that do what the test orders, one step at a time: targets, controllers, and their children, whichever way
 * these are made.  A helper listens on its own socket, and ends when the socket is closed.  A trick is a step that a
 * helper can do: those listed below, and those of the suite.  Each trick has a name, two numbers and a text, and
 * returns the same members.  A trick that calls the tracing interface returns its error in `a`, and others return their
 * results.
 */
#ifndef PX_TESTS_SUPPORT_HELPER_PROCESS_H
#define PX_TESTS_SUPPORT_HELPER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>

#include "support/common.h"

struct px_helper {
	pid_t pid;
	int fd;
};

struct px_order {
	char name[24];
	char text[96];
	int64_t a, b, c;
};

/* A trick changes the order into its answer. */
typedef void px_trick(struct px_order *order);

struct px_named_trick {
	const char *name;
	px_trick *trick;
};

/* The way in which a process is made. */
enum px_birth {
	PX_BY_FORK,
	PX_BY_CLONE,	   /* the system call, so that no handler runs */
	PX_BY_FORK_EXEC,   /* by executing this program; the next ones, too */
	PX_BY_SPAWN,	   /* posix_spawn() */
	PX_BY_VFORK_EXEC,  /* likewise */
	PX_BY_SHELL,	   /* as the child of a shell, which does not have the library */
	PX_BY_FORK_ORPHAN, /* as the child of a process that has ended */
	PX_BY_SHELL_LATER, /* a shell, which becomes this program after px_helper_wake() */
	PX_NR_BIRTHS
};

/*
 * Call it first in main().  It returns true if this process is a helper that has ended its work.  The last trick has no
 * name.
 */
bool px_helper_main(int argc, char **argv, const struct px_named_trick *tricks);

/* Make a helper, as a child of this process or of a helper. */
struct px_helper px_helper_make(enum px_birth birth);
struct px_helper px_helper_make_by(const struct px_helper *parent, enum px_birth birth);

/* In a trick that does not return: answer it, and serve further orders. */
_Noreturn void px_helper_go_on(const struct px_order *answer);

/* The shell of PX_BY_SHELL_LATER becomes a helper.  Its pid is known before. */
void px_helper_wake(struct px_helper *helper);

/* Let the helper do a trick, and return its answer.  With the two halves, the test can do other work meanwhile. */
struct px_order px_helper_do(const struct px_helper *helper, const char *name, int64_t a, int64_t b,
			     const char *text);
void px_helper_begin(const struct px_helper *helper, const char *name, int64_t a, int64_t b,
		     const char *text);
struct px_order px_helper_end(const struct px_helper *helper);

/*
 * When the helper reaches the test point the next time, it stops there and executes orders until it is released, or it
 * gets this signal.
 */
void px_helper_hold_at(const struct px_helper *helper, const char *point);
void px_helper_signal_at(const struct px_helper *helper, const char *point, int signal);

/* Wait until the helper has stopped there. */
void px_helper_await_held(const struct px_helper *helper);
void px_helper_release(const struct px_helper *helper);

/* Kill the helper in the middle of its work; or wait until it has ended, or is stopped. */
void px_helper_kill(const struct px_helper *helper);
void px_helper_await_gone(const struct px_helper *helper);
void px_helper_await_state(const struct px_helper *helper, char state);

/* Tricks that all helpers have. */
trace_event_id_t px_helper_open(const struct px_helper *helper, const char *name);
void px_helper_trace(const struct px_helper *helper, trace_event_id_t type, uint32_t number);

/* As a controller: it has some streams, numbered from 0.  The functions return the error. */
#define PX_HELPER_STREAMS 64
int px_helper_create(const struct px_helper *helper, int stream, pid_t target, bool inherited);
int px_helper_start(const struct px_helper *helper, int stream);
int px_helper_shutdown(const struct px_helper *helper, int stream);

/* Return the type of the next event of its stream, or 0; number and pid may be NULL. */
trace_event_id_t px_helper_take(const struct px_helper *helper, int stream, uint32_t *number,
				pid_t *pid);

/* Create a stream of this process for another one, with a ring of this size, started or not. */
trace_id_t px_test_create_for(pid_t target, bool inherited);
trace_id_t px_test_start_for(pid_t target, bool inherited);

/* Return the number of the next user event of this stream, or -1. */
int64_t px_test_next_number(trace_id_t stream, struct px_test_event *event);

/* Expect that the next user event has this number, and belongs to this process. */
void px_test_expect_number(trace_id_t stream, uint32_t number, pid_t pid);

/* Count the files of streams in the directory of segments. */
int px_test_count_segments(void);

#endif
