/* SPDX-License-Identifier: MIT */
#include "cmd/doctor_machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "live/directory.h"
#include "live/sched_refusal.h"
#include "live/session.h"
#include "live/target.h"

unsigned int doctor_check_seccomp(struct diagnosis *diagnosis, pid_t pid)
{
	static const char *const modes[] = {"off", "strict", "filter"};
	char path[64], line[256];
	unsigned int mode = 0;
	bool is_known = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && !is_known && fgets(line, sizeof(line), file))
		is_known = sscanf(line, "Seccomp: %u", &mode) == 1;
	if (file)
		fclose(file);
	fields_text(&diagnosis->fields, "seccomp", is_known && mode < 3 ? modes[mode] : "not known");
	return mode;
}

static void check_limit(struct diagnosis *diagnosis, pid_t pid, const char *label,
			int resource, rlim_t least)
{
	struct rlimit limit;

	if (prlimit(pid, resource, NULL, &limit) != 0) {
		fields_text(&diagnosis->fields, label, "not known");
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY)
		fields_text(&diagnosis->fields, label, "none");
	else
		fields_number(&diagnosis->fields, label, limit.rlim_cur);
	if (limit.rlim_cur < least)
		diagnosis_add(&diagnosis->annotations,
		    "the %s is %llu bytes, and all rings of a stream take %llu", label,
		    (unsigned long long)limit.rlim_cur, (unsigned long long)least);
}

/* The directory may not exist yet, so get the free space of its parent. */
static void check_shared_memory(struct diagnosis *diagnosis, uid_t uid, rlim_t needed, bool is_tried)
{
	char *directory = must(directory_of(target_registry(uid)));
	struct statvfs status;
	const char *there = directory;
	char why[DIRECTORY_REFUSAL_BYTES];
	unsigned long long room;

	fields_text(&diagnosis->fields, "shared memory", directory);
	if (directory_is_refused(uid, why)) {
		diagnosis_add(&diagnosis->obstacles, "%s", why);
		free(directory);
		return;
	}
	if (may_access(there, F_OK) != 0)
		there = "/dev/shm";
	if (statvfs(there, &status) != 0) {
		if (errno == ENOSYS || errno == EPERM)
			diagnosis_add(&diagnosis->annotations,
				      "how much room there is in %s is not known: a system call filter refuses "
				      "statfs(2)",
				      there);
		else
			diagnosis_add(&diagnosis->obstacles, "there is no shared memory: %s: %s", there,
				      strerror(errno));
		free(directory);
		return;
	}
	room = (unsigned long long)status.f_bavail * status.f_frsize;
	fields_number(&diagnosis->fields, "shared memory size",
		      (unsigned long long)status.f_blocks * status.f_frsize);
	fields_number(&diagnosis->fields, "shared memory free", room);
	if (!is_tried)
		fields_number(&diagnosis->fields, "rings take", needed);
	if (room < SESSION_LEAST_ROOM)
		diagnosis_add(&diagnosis->obstacles, "there is no room for a ring in %s: see record --size",
		    directory);
	else if (room < needed)
		diagnosis_add(&diagnosis->annotations,
		    "there is not enough room in %s for a ring for each CPU: there will be fewer rings, or smaller "
		    "ones",
		    directory);
	free(directory);
}

/* Try it with this process, if there is no other. */
static void check_sched(struct diagnosis *diagnosis, pid_t pid)
{
	char text[SCHED_REFUSAL_BYTES];
	int error;

	if (txtrace_check_sched(pid, &error) != 0)
		return;
	diagnosis->has_switches = error == 0;
	if (error == 0)
		return;
	sched_refusal(error, text);
	diagnosis_add(&diagnosis->annotations, "record cannot say which thread has a CPU: %s", text);
}

/* Return whether each CPU has its own ring. */
static bool check_rings(struct diagnosis *diagnosis)
{
	static const char *const reasons[] = {
		[TXTRACE_RINGS_NO_COUNTER] = "the kernel does not use the counter of the processor as its clock",
#if defined __x86_64__ || (defined __aarch64__ && defined __LP64__)
		[TXTRACE_RINGS_NO_SEQUENCES] = "the C library has registered no restartable sequences (rseq)",
#else
		[TXTRACE_RINGS_NO_SEQUENCES] = "libposixtrace has no restartable sequences (rseq) for this machine",
#endif
		[TXTRACE_RINGS_NO_BARRIER] = "the kernel refuses membarrier(2)",
		[TXTRACE_RINGS_NOT_RESTARTED] =
			"the kernel does not restart the restartable sequences (rseq) of a thread that loses its CPU",
		[TXTRACE_RINGS_NOT_TESTED] =
			"a trial could not find out whether the kernel restarts restartable sequences (rseq)",
	};
	int obstacle;

	if (txtrace_check_rings(&obstacle) != 0)
		return false;
	fields_text(&diagnosis->fields, "kind of rings", obstacle ? "shared by the CPUs" : "one for each CPU");
	if (obstacle)
		diagnosis_add(&diagnosis->annotations, "an event costs about twice as much as it could: %s",
		    (size_t)obstacle < sizeof(reasons) / sizeof(reasons[0]) ? reasons[obstacle] : "not known");
	return !obstacle;
}

void doctor_check_machine(struct diagnosis *diagnosis, uid_t uid, pid_t pid, bool is_preloaded, bool is_tried)
{
	/* If each CPU has its own ring, there is a shared ring besides. If not, there are as many rings as CPUs. */
	rlim_t nr_rings = (rlim_t)sysconf(_SC_NPROCESSORS_CONF) + (check_rings(diagnosis) ? 1 : 0);
	rlim_t needed = session_ring_size(is_preloaded) * nr_rings;

	check_shared_memory(diagnosis, uid, needed, is_tried);
	check_limit(diagnosis, pid, "limit of files", RLIMIT_FSIZE, needed);
	check_limit(diagnosis, pid, "limit of addresses", RLIMIT_AS, 2 * needed);
	check_sched(diagnosis, pid);
}
