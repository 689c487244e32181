/* SPDX-License-Identifier: MIT */
/* What a recording did not see of the processes that the program started. */
#ifndef TXTRACE_LIVE_CHILDREN_H
#define TXTRACE_LIVE_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/source.h"

/*
 * Print which programs were executed and recorded nothing, and which processes go on.  source is the log of the
 * recording, which has just ended; this function reads it to the end.  others_go_on: children_go_on() at the end of the
 * recording.  has_waited: the recording has waited for all processes that it traces.
 */
void children_report(struct source *source, bool others_go_on, bool has_waited);

/* Return true if any process but this one writes to the stream of this process. */
bool children_go_on(void);

#endif
