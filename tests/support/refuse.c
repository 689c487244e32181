/* SPDX-License-Identifier: MIT */
/*
 * Run a command for which system calls fail, as on an older kernel or in a container:
 *
 *	refuse ERROR NAME[,NAME...] COMMAND [ARGUMENT...]
 *
 * ERROR is an error number, such as 38 for ENOSYS.  The filter is inherited by all that the command starts.  Exits
 * with 77 if the kernel installs no filter.
 *
 * On i386, s390x and POWER, the C library makes the calls of System V memory by ipc(2), with the number of the call as
 * first argument.
 */
#include <linux/filter.h>
#include <linux/ipc.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_rseq
#define SYS_rseq __NR_rseq
#endif
#ifdef SYS_ftruncate64
#define SYS_FTRUNCATE SYS_ftruncate64 /* of a C library with offsets of 64 bits, on a machine of 32 bits */
#else
#define SYS_FTRUNCATE SYS_ftruncate
#endif
#ifdef SYS_statfs64
#define SYS_STATFS SYS_statfs64
#else
#define SYS_STATFS SYS_statfs
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* the same number on all machines */
#endif

static const struct {
	const char *name;
	unsigned int number;
	unsigned int of_ipc; /* or 0 */
} calls[] = {
#ifdef SYS_access
	{"access", SYS_access, 0},
#else
	{"access", SYS_faccessat, 0},
#endif
	{"clone3", 435, 0},
	{"fallocate", SYS_fallocate, 0},
	{"ftruncate", SYS_FTRUNCATE, 0},
	{"futex_waitv", SYS_futex_waitv, 0},
	{"kill", SYS_kill, 0},
	{"linkat", SYS_linkat, 0},
	{"madvise", SYS_madvise, 0},
	{"membarrier", SYS_membarrier, 0},
	{"memfd_create", SYS_memfd_create, 0},
	{"mremap", SYS_mremap, 0},
	{"openat2", 437, 0},
	{"perf_event_open", SYS_perf_event_open, 0},
	{"pidfd_open", 434, 0},
	{"pipe2", SYS_pipe2, 0},
	{"process_vm_readv", SYS_process_vm_readv, 0},
	{"renameat2", SYS_renameat2, 0},
	{"rseq", SYS_rseq, 0},
	{"sched_setaffinity", SYS_sched_setaffinity, 0},
	{"shmat", SYS_shmat, SHMAT},
	{"shmctl", SYS_shmctl, SHMCTL},
	{"shmget", SYS_shmget, SHMGET},
	{"statfs", SYS_STATFS, 0},
};

#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

#define CALL_MAX 8 /* instructions for one of them */
#define LOAD(offset) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)

static struct sock_filter filter[1 + CALL_MAX * NR_CALLS + 1] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short length = 1;

static void append(struct sock_filter instruction)
{
	filter[length++] = instruction;
}

/* Return `error` if the loaded number is this one. */
static void append_refusal(unsigned int number, unsigned int error)
{
	append((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
	append((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

/* The high half of the first argument is a version.  The number of the system call is loaded again at the end. */
static void append_refusal_of_ipc(unsigned int of_ipc, unsigned int error)
{
#ifdef SYS_ipc
	append((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ipc, 0, 5));
	append(LOAD(offsetof(struct seccomp_data, args[0]) +
		    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0)));
	append((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xFFFF));
	append_refusal(of_ipc, error);
	append(LOAD(offsetof(struct seccomp_data, nr)));
#else
	(void)of_ipc;
	(void)error;
#endif
}

/* Let one of the calls fail.  Return 0 if it is not known, or there are too many. */
static int refuse(const char *name, unsigned int error)
{
	for (size_t i = 0; i < NR_CALLS; i++) {
		if (strcmp(calls[i].name, name) != 0 || length + CALL_MAX + 1u > sizeof(filter) / sizeof(filter[0]))
			continue;
		append_refusal(calls[i].number, error);
		if (calls[i].of_ipc > 0)
			append_refusal_of_ipc(calls[i].of_ipc, error);
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
