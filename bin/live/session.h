/* SPDX-License-Identifier: MIT */
/* For commands that trace a process: the stream, the log file, and the signals that end the command. */
#ifndef TXTRACE_LIVE_SESSION_H
#define TXTRACE_LIVE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <trace.h>

#include "cli/options.h"

#define SESSION_STREAM_SIZE ((size_t)1 << 20) /* the default of --size */

#define SESSION_LEAST_SIZE ((size_t)64 << 10) /* the least size of rings that get smaller because they do not fit */
#define SESSION_LEAST_ROOM ((size_t)832 << 10) /* a stream with one such ring takes more */

#define SESSION_ROW_INHERIT                                                                        \
	{                                                                                          \
		OPTION_INHERIT, "inherit", NULL, "also trace the processes that it starts from now on"           \
	}
#define SESSION_ROW_SIZE                                                                           \
	{                                                                                          \
		OPTION_SIZE, "size", "BYTES",                                                      \
			"size of a ring (each CPU has one); default 1M or more"                     \
	}
#define SESSION_ROW_SIZE_AUTO                                                                      \
	{                                                                                          \
		OPTION_SIZE, "size", "BYTES|auto",                                                 \
			"size of a ring (each CPU has one); default 1M or more; auto: rings grow"  \
	}

struct session_options {
	pid_t pid;
	const char *name; /* name of the trace */
	int stream_policy, log_policy;
	size_t stream_size; /* size of each ring, in bytes */
	size_t usual_size; /* the default, if the user chose no size: rings that do not fit get a smaller one */
	const char *lack; /* if so, what had no room for them, as session_lack() tells it */
	size_t largest_size; /* maximum size of a ring that can grow; 0: the rings do not grow */
	bool is_growth_asked; /* by --size auto; there may be no room for it */
	size_t log_size;    /* size of the log, in bytes */
	bool has_stacks;
	int stacks; /* if so, which ones, as txtrace_attr_setstacks() takes it */
	bool inherits;
	bool aggregates; /* count calls that do not wait */
	bool without_sched; /* no scheduling records */
	int log; /* the descriptor of the log, or -1 */
};

#define SESSION_REFUSAL_BYTES 192

/*
 * Return true, and write why, if this system lets no process trace another one: /proc or System V memory is missing, or
 * /proc is that of another pid name space.
 */
bool session_is_refused(char why[SESSION_REFUSAL_BYTES]);

/*
 * Create a stream, but do not start it.  If rings of the default size do not fit, stream_size becomes smaller.  After a
 * failure, print a message and return false.
 */
bool session_create(struct session_options *order, trace_id_t *trace);

/*
 * Return the text of an error number of a stream for a process that this one may trace.  It tells that a system call is
 * refused.
 */
const char *session_error_text(int error);

/*
 * After ENOMEM for a stream with rings of this size, return what had no room, as the beginning of a sentence that goes
 * on with "for rings".
 */
const char *session_lack(size_t size);

/* Say it if the rings are smaller than usual. */
void session_report_size(const struct session_options *order);

/*
 * Create the file of a log. If a regular file has this name and overwrites is true, rename that file. Do not truncate
 * it, because another stream may still write to it. *aside becomes the new name of that file, or NULL if there was no
 * file. One of the two functions below frees the name. If a directory, a device or a link has this name, leave it
 * unchanged, and fail. Return a descriptor. After a failure, print a message and return -1.
 */
int session_open_log(const char *path, bool overwrites, char **aside);

/* Remove the renamed older file. */
void session_keep_log(char **aside);

/* Remove the new file, and restore the name of the older one. */
void session_drop_log(const char *path, char **aside);

/*
 * Block the signals that end a command, and SIGCHLD, and return a descriptor that delivers them. Ignored signals stay
 * ignored, as under nohup. other: one more signal, or 0. Return -1, with a message, after an error.
 */
int session_signals(int other);

/*
 * Return the next signal, or 0 if none is pending. *is_sent becomes true if a process sent the signal, and false if the
 * terminal did.
 */
int session_next_signal(int fd, bool *is_sent);

/* Restore the signals. A child calls this before exec. */
void session_restore_signals(void);

/*
 * Return a descriptor that becomes readable when the process has ended. After an error, print a message and return -1.
 */
int session_open_process(pid_t pid);

/* Parse a process id. If the text is not a process id, print a message and return false. */
bool session_parse_pid(const char *text, pid_t *pid);

/* Return the default size of a ring. The size is larger for preloaded programs, because they record more events. */
size_t session_ring_size(bool preloads);

/* If the user chose no size of a ring, choose the default. */
void session_settle_size(struct session_options *order, bool preloads);

/* Return the size to try if rings of this size do not fit, or 0 if there is none. */
size_t session_smaller_size(size_t size);

/*
 * Parse the argument of --size, which is a number of bytes or auto.  If there is little memory, auto means the default.
 * After an error, print a message and return false.
 */
bool session_parse_ring_size(const char *text, struct session_options *order);

/* Parse a number of bytes, which may end with k, M or G. After an error, print a message and return false. */
bool session_parse_size(const char *option, const char *text, size_t *size);

#endif
