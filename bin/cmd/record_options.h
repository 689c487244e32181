/* SPDX-License-Identifier: MIT */
/* The options of txtrace record. */
#ifndef TXTRACE_CMD_RECORD_OPTIONS_H
#define TXTRACE_CMD_RECORD_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "cli/options.h"
#include "live/preload.h"
#include "live/session.h"
#include "live/type_filter.h"

extern const struct option_row record_option_rows[];

struct record_options {
	const char *output;
	bool overwrites, is_quiet;
	bool is_flight; /* no log, but snapshots */
	bool only_sched; /* record only scheduling records */
	bool has_log_options, has_policy;
	bool is_piped; /* -o -: the log goes to standard output */
	int snapshot_signal; /* 0: not given */
	char **command; /* NULL if the tool traces a running process */
	bool preloads;
	bool waits_for_all; /* --wait-all */
	struct preload_options preload;
	char object[PATH_MAX]; /* path of the preloaded object */
	struct preload_program program;
	struct session_options control;
	struct type_filter choice;
};

/* Read and check the options.  If they are wrong, print a message and return false. */
bool record_options_read(struct record_options *options, int argc, char **argv);

#endif
