/* SPDX-License-Identifier: MIT */
/* The completion of words in bash, as a script that is made of the tables of commands and options. */
#ifndef TXTRACE_CMD_COMPLETION_H
#define TXTRACE_CMD_COMPLETION_H

void completion_print(void);

#endif
