/* SPDX-License-Identifier: MIT */
/* What the commands that trace a process have in common: the stream, and what ends them. */
#ifndef TXTRACE_LIVE_SESSION_H
#define TXTRACE_LIVE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <trace.h>

#include "cli/options.h"

#define SESSION_STREAM_SIZE ((size_t)1 << 20) /* if --size is not given */

#define SESSION_ROW_INHERIT                                                                        \
	{                                                                                          \
		OPTION_INHERIT, "inherit", NULL, "also trace the processes that it starts from now on"           \
	}
#define SESSION_ROW_SIZE                                                                           \
	{                                                                                          \
		OPTION_SIZE, "size", "BYTES",                                                      \
			"size of a ring (each CPU has one); default 1M or more"                     \
	}

struct session_options {
	pid_t pid;
	const char *name; /* of the trace */
	int stream_policy, log_policy;
	size_t stream_size; /* bytes of each ring */
	size_t log_size;    /* bytes */
	bool inherits;
	int log; /* descriptor, or -1 */
};

/* A stream, not started.  False: that, and why, was said. */
bool session_create(const struct session_options *order, trace_id_t *trace);

/*
 * A new file for a log; where one is overwritten another file, since a log may still be written to the one that has
 * the name.  What is no file is left alone.  *aside, if not NULL: what had the name is still there, by this one, until
 * one of the two below is called.  -1: that was said.
 */
int session_open_log(const char *path, bool overwrites, char **aside);

/* What was put aside is not needed any more. */
void session_keep_log(char **aside);

/* The new file is not wanted: remove it, and give back its name to what was put aside. */
void session_drop_log(const char *path, char **aside);

/*
 * From now on the signals that end a command are held, and come out of this descriptor, and so does SIGCHLD.  Those
 * that were ignored stay so, as under nohup.  -1: that was said.
 */
int session_signals(void);

/* The next of them; 0: there is none just now.  *is_sent: by a process, rather than by a terminal to all of its own. */
int session_next_signal(int fd, bool *is_sent);

/* In a child that will be another program: signals are as they were. */
void session_restore_signals(void);

/* Becomes readable when the process has ended.  -1: that was said. */
int session_open_process(pid_t pid);

/* A process by its number.  False: it is none, and that was said. */
bool session_parse_pid(const char *text, pid_t *pid);

/* Of a ring, if nobody said.  All calls of a program come quicker than the events that somebody put into it. */
size_t session_ring_size(bool preloads);

/* Bytes, with k, M or G behind the number.  False: they are not, and that was said. */
bool session_parse_size(const char *option, const char *text, size_t *size);

#endif
