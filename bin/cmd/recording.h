/* SPDX-License-Identifier: MIT */
/* One run of txtrace record. */
#ifndef TXTRACE_CMD_RECORDING_H
#define TXTRACE_CMD_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>

#include "base/clock.h"
#include "base/output.h"
#include "cmd/record_options.h"
#include "live/descendants.h"
#include "live/namer.h"
#include "live/relay_send.h"
#include "live/target.h"

struct recording {
	struct record_options *options;
	pid_t pid;
	struct target target;
	uid_t uid; /* the effective user id of the target when the trace began */
	char path[PATH_MAX];
	const char *shown; /* the name of the log for the user */
	struct relay *relay; /* with -o -, sends the log to standard output; else NULL */
	char *aside; /* the temporary name of an older file; that file stays until the new log has an event */
	trace_id_t trace;
	int signals;
	int process; /* a pidfd, readable when the process has ended; -1 for a child, because SIGCHLD reports its end */
	bool has_ended;
	int wait_status; /* the status from waitpid(), if the process is a child */
	struct timespec begin;
	int check_ms; /* time to the next check of the target */
	int64_t check_ns;
	unsigned int nr_snapshots; /* at signals */
	bool others_go_on;   /* at the end, other processes than the target are still traced */
	bool was_inspected;  /* the tool has read the loaded modules of the target */
	struct namer *namer; /* the namer finds names for the objects of calls */
	struct descendants descendants;
	struct txtrace_stream stream; /* just before its end */
	unsigned int nr_unread; /* number of processes whose objects have no names */
};

/* Return the time since the trace began. */
static inline int64_t recording_ns(const struct recording *recording)
{
	return clock_now_ns() - (recording->begin.tv_sec * NS_PER_S + recording->begin.tv_nsec);
}

#endif
