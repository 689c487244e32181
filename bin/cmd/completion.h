/* SPDX-License-Identifier: MIT */
/* The script for completion in bash. It is generated from the tables of commands and options. */
#ifndef TXTRACE_CMD_COMPLETION_H
#define TXTRACE_CMD_COMPLETION_H

void completion_print(void);

#endif
