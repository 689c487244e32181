/* SPDX-License-Identifier: MIT */
/* Completion of words in shells, made from the table of commands and their options. */
#ifndef TXTRACE_CMD_COMPLETION_H
#define TXTRACE_CMD_COMPLETION_H

#define COMPLETION_SHELLS "bash|zsh|fish"

/*
 * Return what completes an argument whose name is in capitals, such as FILE: COMMAND, PID, FILE, DIR, PID_OR_FILE,
 * COMMAND_OR_PID, FILE_THREAD (a file, and then a thread of it), COLUMNS and GROUPS (lists with commas), words such as
 * "text|json|", or TEXT, which nothing completes.  Of an argument such as [=waits|all|US], the words are those that are
 * not in capitals.  The words of columns, groups and threads are those of offers.h.  Words stay until the next call.
 */
const char *completion_kind(const char *argument);

void completion_print_bash(void);
void completion_print_fish(void);
void completion_print_zsh(void);

#endif
