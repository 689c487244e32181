/* SPDX-License-Identifier: MIT */
#include "live/sched_refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define PARANOID_MAX 2 /* the highest level that permits these records to all users */

static int paranoid_level(void)
{
	FILE *file = fopen(PARANOID, "re");
	int level = -1;

	if (file && fscanf(file, "%d", &level) != 1)
		level = -1;
	if (file)
		fclose(file);
	return level;
}

void sched_refusal(int error, char text[SCHED_REFUSAL_BYTES])
{
	int level = paranoid_level();

	if ((error == EACCES || error == EPERM) && level > PARANOID_MAX)
		snprintf(text, SCHED_REFUSAL_BYTES,
			 PARANOID " is %d: root can set it to %d, or run the recorder with CAP_PERFMON", level,
			 PARANOID_MAX);
	else if (error == EACCES || error == EPERM)
		snprintf(text, SCHED_REFUSAL_BYTES,
			 "perf_event_open is not permitted (%s): a container needs CAP_PERFMON, and a seccomp profile "
			 "that allows it",
			 strerror(error));
	else if (error == ENOSYS)
		snprintf(text, SCHED_REFUSAL_BYTES,
			 "perf_event_open is missing: the kernel has no perf events, or a seccomp profile hides them");
	else if (error == ENOTSUP)
		snprintf(text, SCHED_REFUSAL_BYTES, "the kernel does not have them; they need Linux 4.17");
	else if (error == ENOENT)
		snprintf(text, SCHED_REFUSAL_BYTES, "there is neither /sys nor /proc/stat here, which list the CPUs");
	else if (error == ESRCH && access("/proc/self/task", F_OK) != 0)
		snprintf(text, SCHED_REFUSAL_BYTES, "there is no /proc here, which lists the threads of a process");
	else if (error == EMFILE)
		snprintf(text, SCHED_REFUSAL_BYTES,
			 "each thread needs a descriptor for each CPU: raise the limit of open files (ulimit -n)");
	else if (error == ENOMEM)
		snprintf(text, SCHED_REFUSAL_BYTES,
			 "there is no memory for the buffers: raise the limit of locked memory (ulimit -l), or "
			 "/proc/sys/kernel/perf_event_mlock_kb");
	else
		snprintf(text, SCHED_REFUSAL_BYTES, "%s", strerror(error));
}
