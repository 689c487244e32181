/* SPDX-License-Identifier: MIT */
/* How a process ended, as wait() stores it. */
#ifndef TXTRACE_TRACE_WAIT_STATUS_H
#define TXTRACE_TRACE_WAIT_STATUS_H

#include <stddef.h>

/* Print "exit 3", "SIGKILL", "SIGSEGV, core dumped", "stopped by SIGSTOP" or "continued". */
void wait_status_text(int status, char *text, size_t size);

#endif
