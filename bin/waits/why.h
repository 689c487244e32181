/* SPDX-License-Identifier: MIT */
/* Why a thread waited: the chain of who waited for whom, in words. */
#ifndef TXTRACE_WAITS_WHY_H
#define TXTRACE_WAITS_WHY_H

#include "base/output.h"
#include "trace/source.h"
#include "trace/time_arg.h"

/*
 * thread: its name, its handle in hex digits, or its tid.  at not set: its longest wait.  False: there is no such thread,
 * or more than one, and that was said.
 */
bool why_report(struct source *source, const char *thread, const struct time_arg *at,
		struct text *text);

#endif
