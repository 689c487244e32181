/* SPDX-License-Identifier: MIT */
/* txtrace doctor --self: which mechanisms of this system the library uses, what it does without the others, and what
 * that costs. */
#ifndef TXTRACE_CMD_DOCTOR_SELF_H
#define TXTRACE_CMD_DOCTOR_SELF_H

#include "cmd/diagnosis.h"

/*
 * Record events of this process, read them back, measure, try to trace another process, and print the result.  There
 * are obstacles if one of the two cannot be done.
 */
void doctor_self(struct diagnosis *diagnosis);

#endif
