/* SPDX-License-Identifier: MIT */
/*
 * Run a command for which system calls fail, as on an older kernel or in a container:
 *
 *	refuse ERROR NAME[,NAME...] COMMAND [ARGUMENT...]
 *
 * ERROR is an error number, such as 38 for ENOSYS.  The filter is inherited by all that the command starts.  Exits
 * with 77 if the kernel installs no filter.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_rseq
#define SYS_rseq __NR_rseq
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* the same number on all machines */
#endif

static const struct {
	const char *name;
	unsigned int number;
} calls[] = {
	{"fallocate", SYS_fallocate},
	{"futex_waitv", SYS_futex_waitv},
	{"linkat", SYS_linkat},
	{"membarrier", SYS_membarrier},
	{"memfd_create", SYS_memfd_create},
	{"mremap", SYS_mremap},
	{"openat2", 437},
	{"perf_event_open", SYS_perf_event_open},
	{"pidfd_open", 434},
	{"process_vm_readv", SYS_process_vm_readv},
	{"renameat2", SYS_renameat2},
	{"rseq", SYS_rseq},
	{"sched_setaffinity", SYS_sched_setaffinity},
	{"shmat", SYS_shmat},
	{"shmctl", SYS_shmctl},
	{"shmget", SYS_shmget},
};

#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

static struct sock_filter filter[1 + 2 * NR_CALLS + 1] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short length = 1;

static void append(struct sock_filter instruction)
{
	filter[length++] = instruction;
}

/* Let one of the calls fail.  Return 0 if it is not known, or there are too many. */
static int refuse(const char *name, unsigned int error)
{
	for (size_t i = 0; i < NR_CALLS; i++) {
		if (strcmp(calls[i].name, name) != 0 || length + 3u > sizeof(filter) / sizeof(filter[0]))
			continue;
		append((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1));
		append((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
		return 1;
	}
	fprintf(stderr, "refuse: unknown call %s\n", name);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int error = argc > 3 ? (unsigned int)atoi(argv[1]) : 0;
	struct sock_fprog program = {.filter = filter};

	if (error == 0) {
		fprintf(stderr, "usage: refuse ERROR NAME[,NAME...] COMMAND [ARGUMENT...]\n");
		return 2;
	}
	for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ","))
		if (!refuse(name, error))
			return 2;
	append((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	execvp(argv[3], argv + 3);
	return 99;
}
