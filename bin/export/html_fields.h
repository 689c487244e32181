/* SPDX-License-Identifier: MIT */
/* The fields of described event types, as the page needs them: fields.js has the form. */
#ifndef TXTRACE_EXPORT_HTML_FIELDS_H
#define TXTRACE_EXPORT_HTML_FIELDS_H

#include "base/output.h"
#include "trace/source.h"

#define HTML_FIELDS_MAX 256 /* of an event type; txtrace print has all */

void html_put_fields(struct text *text, struct source *source);

#endif
