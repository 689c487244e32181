/* SPDX-License-Identifier: MIT */
/* The lists of txtrace info about the logs that a merged log was made of. */
#ifndef TXTRACE_CMD_INFO_ORIGINS_H
#define TXTRACE_CMD_INFO_ORIGINS_H

#include "base/output.h"
#include "cli/json.h"
#include "trace/source.h"

/* Print a table after an empty line. */
void info_list_origins(struct text *text, struct source *source);

/* Print an array with the key origin_list. */
void info_json_origins(struct json *json, struct source *source);

#endif
