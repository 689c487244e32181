/* SPDX-License-Identifier: MIT */
/*
 * What txtrace why prints for the longest waits, as the page needs it.  The comment at the top of records.js has the
 * form.
 */
#ifndef TXTRACE_EXPORT_HTML_WHY_H
#define TXTRACE_EXPORT_HTML_WHY_H

#include <stdint.h>

#include "base/output.h"
#include "trace/selection.h"
#include "trace/source.h"

/* Reads the source again.  nr_events is the number of events on the page. */
void html_put_why(struct text *text, struct source *source, const struct selection *selection, uint64_t nr_events);

#endif
