/* SPDX-License-Identifier: MIT */
/* txtrace report --span: how often the spans occur, how long they take, and a histogram. */
#ifndef TXTRACE_REPORT_SPAN_REPORT_H
#define TXTRACE_REPORT_SPAN_REPORT_H

#include "cli/table.h"
#include "report/spans.h"

/* Read all events, and print the tables. */
void span_report(struct spans *spans, struct source *source, const struct selection *selection, struct table *table);

#endif
