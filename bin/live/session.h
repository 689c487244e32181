/* SPDX-License-Identifier: MIT */
/* For commands that trace a process: the stream, the log file, and the signals that end the command. */
#ifndef TXTRACE_LIVE_SESSION_H
#define TXTRACE_LIVE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <trace.h>

#include "cli/options.h"

#define SESSION_STREAM_SIZE ((size_t)1 << 20) /* default of --size */

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
	const char *name; /* name of the trace */
	int stream_policy, log_policy;
	size_t stream_size; /* size of each ring, in bytes */
	size_t log_size;    /* size of the log, in bytes */
	bool inherits;
	int log; /* descriptor of the log, or -1 */
};

/* Create a stream, and do not start it. Return false, with a message, if that fails. */
bool session_create(const struct session_options *order, trace_id_t *trace);

/*
 * Create the file of a log. If overwrites is true, rename an existing regular file instead of truncating it, because
 * another stream may still write to it. *aside becomes the new name of that file, until one of the two functions below
 * is called. It becomes NULL if there was no file. If a directory, a device or a link has this name, leave it
 * unchanged, and fail. Return a descriptor, or -1 with a message.
 */
int session_open_log(const char *path, bool overwrites, char **aside);

/* Remove the renamed older file. */
void session_keep_log(char **aside);

/* Remove the new file, and restore the name of the older one. */
void session_drop_log(const char *path, char **aside);

/*
 * Block the signals that end a command, and SIGCHLD, and return a descriptor that delivers them. Ignored signals stay
 * ignored, as under nohup. Return -1, with a message, after an error.
 */
int session_signals(void);

/*
 * Return the next signal, or 0 if none is pending. *is_sent becomes true if a process sent the signal, and false if the
 * terminal did.
 */
int session_next_signal(int fd, bool *is_sent);

/* Restore the signals. A child calls this before exec. */
void session_restore_signals(void);

/* Return a descriptor that becomes readable when the process has ended, or -1 with a message. */
int session_open_process(pid_t pid);

/* Parse a process id. Return false, with a message, if it is not a process id. */
bool session_parse_pid(const char *text, pid_t *pid);

/* Return the default size of a ring. It is larger for preloaded programs, because they record more events. */
size_t session_ring_size(bool preloads);

/* Parse a number of bytes with an optional k, M or G. Return false, with a message, after an error. */
bool session_parse_size(const char *option, const char *text, size_t *size);

#endif
