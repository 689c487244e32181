/* SPDX-License-Identifier: MIT */
/* Correct the times of logs of several hosts by what each log tells of the wall clock of its host. */
#ifndef TXTRACE_CMD_MERGE_CLOCKS_H
#define TXTRACE_CMD_MERGE_CLOCKS_H

#include <stdbool.h>

#include "report/messages.h"
#include "report/wall_clock.h"

struct merge_clock {
	char host[112];	    /* boot id and name of the host */
	bool is_merged;	    /* the log was made of others, and has the corrected times of several clocks */
	bool is_set_by_user; /* its times are those of --offset */
	bool is_doubtful;    /* nobody knows if the log is of before or after a setting that another log has seen */
	struct wall_clock clock;
};

/* Read the facts of a file that is open. */
struct merge_clock merge_clock_of(struct source *source);

/*
 * Set what the files tell of their clocks; their corrections stay as they are.  The clocks have the order of the files.
 * A log in which the clock was not set goes by the settings that another log of the host has seen.
 */
void merge_clocks_tell(struct merge_clock *clocks, struct messages_file *files, unsigned int nr_files);

/* Make what the files tell their corrections and their uncertainties. */
void merge_clocks_place(const struct merge_clock *clocks, struct messages_file *files, unsigned int nr_files);

/* Let all logs of one host go by the clock of the first one. */
void merge_clocks_share(const struct merge_clock *clocks, struct messages_file *files, unsigned int nr_files);

/* Return true if the files are of more than one host. */
bool merge_clocks_differ(const struct merge_clock *clocks, unsigned int nr_files);

/* Print which wall clocks were set, and, if there are several hosts, what is known of their clocks. */
void merge_clocks_report(const struct merge_clock *clocks, const struct messages_file *files, unsigned int nr_files);

#endif
