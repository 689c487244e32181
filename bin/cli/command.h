/* SPDX-License-Identifier: MIT */
/* All commands.  main.c has a row for each command. */
#ifndef TXTRACE_CLI_COMMAND_H
#define TXTRACE_CLI_COMMAND_H

#include "cli/options.h"

extern const struct command cmd_blocked;
extern const struct command cmd_capture;
extern const struct command cmd_check;
extern const struct command cmd_demo;
extern const struct command cmd_diff;
extern const struct command cmd_doctor;
extern const struct command cmd_export;
extern const struct command cmd_extract;
extern const struct command cmd_follow;
extern const struct command cmd_help;
extern const struct command cmd_info;
extern const struct command cmd_list;
extern const struct command cmd_locks;
extern const struct command cmd_merge;
extern const struct command cmd_print;
extern const struct command cmd_record;
extern const struct command cmd_recover;
extern const struct command cmd_pack;
extern const struct command cmd_report;
extern const struct command cmd_snapshot;
extern const struct command cmd_states;
extern const struct command cmd_top;
extern const struct command cmd_sql;
extern const struct command cmd_tracex;
extern const struct command cmd_version;
extern const struct command cmd_waits;
extern const struct command cmd_why;

/* The table of commands. Its last element is NULL. */
extern const struct command *const commands[];

#endif
