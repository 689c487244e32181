/* SPDX-License-Identifier: MIT */
/* txtrace why: explain in words why a thread waited, from thread to thread. */
#ifndef TXTRACE_WAITS_WHY_H
#define TXTRACE_WAITS_WHY_H

#include "base/output.h"
#include "trace/source.h"
#include "trace/time_arg.h"

/*
 * `thread` is the name of a thread, its handle in hex digits, its tid, or NULL; see why_choice.h.  If there is no such
 * thread, or if there are several, print a message and return false.  is_json: print one object.
 */
bool why_report(struct source *source, const char *thread, const struct time_arg *at,
		struct text *text, bool is_json);

#endif
