/* SPDX-License-Identifier: MIT */
/* txtrace doctor: what the machine gives to a process. */
#ifndef TXTRACE_CMD_DOCTOR_MACHINE_H
#define TXTRACE_CMD_DOCTOR_MACHINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/diagnosis.h"

/*
 * Add shared memory and limits of a process of this user, and whether the kernel reports its switches.  A pid of 0
 * means this process.  is_preloaded: the rings are those of record --preload.  is_tried: the caller makes such rings,
 * and adds how many bytes they take.
 */
void doctor_check_machine(struct diagnosis *diagnosis, uid_t uid, pid_t pid, bool is_preloaded, bool is_tried);

/* Add the seccomp mode of a process, and return its number; 0: it is off, or not known. */
unsigned int doctor_check_seccomp(struct diagnosis *diagnosis, pid_t pid);

#endif
