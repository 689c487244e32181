/* SPDX-License-Identifier: MIT */
/* What txtrace record says about a recording: its progress, and at its end what the log has and what it lacks. */
#ifndef TXTRACE_CMD_RECORD_REPORT_H
#define TXTRACE_CMD_RECORD_REPORT_H

#include "cmd/recording.h"

void record_report_progress(const struct recording *recording);

/*
 * Report what TraceX does not show of the log, and which processes it lacks.  Return true if the log has an event that
 * is no system event, and that does more than say that a process begins or ends.  Store the number of events of the
 * log.
 */
bool record_report_log(const struct recording *recording, const char *path, unsigned long long *nr_events);

/* Report the size of the log and the lost events, with the options that help. */
void record_report_result(const struct recording *recording, unsigned long long nr_events,
			  const struct txtrace_loss *loss, const struct posix_trace_status_info *status);

/* Report a log that was full. */
void record_report_full(const struct recording *recording, const struct posix_trace_status_info *status);

/* Report why there is no event. */
void record_report_nothing(const struct recording *recording);

/* Report that there are processes which should be traced, but could not map the stream. */
void record_report_absent(const struct recording *recording);

/* Report processes whose objects have no names: the tool could not read their modules. */
void record_report_unread(const struct recording *recording);

#endif
