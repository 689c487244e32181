/* SPDX-License-Identifier: MIT */
/*
 * The reports in the form of TraceX's dialogs, in one page of text or HTML.  The numbers are those of `report`;
 * doc/reports.md says where they differ from TraceX's.
 */
#ifndef TXTRACE_REPORT_TRACEX_H
#define TXTRACE_REPORT_TRACEX_H

#include <stdbool.h>

#include "base/output.h"
#include "report/report.h"

/* Print the page about a trace buffer of ThreadX. */
void tracex_print(struct report *report, struct text *text, bool is_html);

#endif
