/* SPDX-License-Identifier: MIT */
/*
 * The logs that a merged log was made of, and the machines (hosts) that they were recorded on.
 *
 * A merged log holds events of several hosts, and two hosts have processes and CPUs with the same numbers.  So each
 * host has a number, and the numbers of its processes, threads and CPUs are
 *
 *	pid, tid	host * PX_HOST_PIDS + the number on its host
 *	CPU		host * PX_HOST_CPUS + the number on its host
 *
 * An event of no process has the pid 0 of its host.
 *
 * The kernel gives no pid above 2^22.  So the last seven digits of such a number are the pid itself, host 0 has its own
 * numbers, and no two processes have the same one.  Every other log has one host, with the number 0.
 *
 * The addresses of two processes overlap, so each log that was merged keeps its own list of modules.
 *
 * The origins are a text behind the tail of the log (format.h), so that all machines can read them:
 *
 *	PXTXORIGINS 1
 *	origin <host> <pid> <uuid> <boot id> <shift ns> <drift> <uncertainty ns> <bytes of modules> <host name> <name>
 *	<the modules (modules.h), so many bytes>
 *	...
 *	footer of PX_ORIGINS_FOOTER bytes: number of bytes of the text, and its check sum
 *
 * Names have %XX for bytes that are not printable, for spaces and for "%"; "-" is the empty name.  The time of an event
 * in the merged log is its time in the origin, plus shift, plus drift (in 10^-12) for each nanosecond since the first
 * event of the origin.  The uncertainty is -1 if it is not known.
 */
#ifndef PX_LOG_ORIGINS_H
#define PX_LOG_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define PX_HOST_PIDS 10000000u
#define PX_HOST_CPUS 10000u
#define PX_HOSTS_MAX 214u /* numbers of hosts are less, so that pids have 31 bits */
#define PX_ORIGINS_MAX 4096u
#define PX_ORIGINS_BYTES_MAX (UINT64_C(1) << 28)
#define PX_ORIGINS_FOOTER 64

struct px_origin {
	uint32_t host;
	uint32_t pid; /* the first process of the log, as a number of the merged log; 0: none */
	char uuid[33];
	char boot_id[40];
	char host_name[64];
	char name[64]; /* name of the file, "" if it is not known */
	int64_t shift_ns, drift, uncertainty_ns;
	uint32_t pid_space; /* px_log_pid_space() */
	const char *modules; /* no null byte at its end */
	size_t modules_bytes;
};

struct px_origins {
	struct px_origin *origin;
	uint32_t nr;
	char *text; /* owns the modules */
};

PX_INLINE uint32_t px_host_of_pid(uint32_t pid)
{
	return pid < UINT32_C(0x80000000) ? pid / PX_HOST_PIDS : 0;
}

/*
 * Read the origins at the end of a file with this size, which is hostile input.  Return 0, ENOENT if there are none, or
 * ENOMEM.  The caller frees them.
 */
int px_origins_read(int fd, uint64_t size, struct px_origins *origins);

/* Append origins to a file that is open for writing.  Return 0, ENOMEM, or an error of write(). */
int px_origins_append(int fd, const struct px_origins *origins);

/* Copy the origins of a file to the end of another one.  Return 0, EINVAL if there are none, or another error. */
int px_origins_copy(int from, int to);

void px_origins_free(struct px_origins *origins);

#endif
