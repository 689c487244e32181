/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ring/trial.h"

#include "ring/cpuring.h"

/* ThreadSanitizer keeps its state of a thread in the storage that the two threads of the child share. */
#if PX_HAS_CPURINGS && !defined(__SANITIZE_THREAD__)

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/kernel_time.h"
#include "base/procfs.h"

#define NAP_NS 50000
#define ROUNDS 4096 /* of the sequence, before the child looks at the clock */
#define STACK_BYTES 16384
#define KERNEL_SIGSET_BYTES 8

/* What the two threads share; and the child and the program share the result. */
struct trial {
	uint32_t result;
	uint32_t turn; /* the other thread raises it */
	uint64_t begin_ns; /* in the child: the fork() of a large program takes long */
};

#ifdef PX_TESTPOINTS
bool px_trial_is_faulty;
#endif

/* The area for the sequence.  A test makes it one that the kernel does not know: no sequence is restarted then. */
static struct rseq *area_of(struct rseq *area)
{
#ifdef PX_TESTPOINTS
	static struct rseq unknown;

	if (px_trial_is_faulty)
		return &unknown;
#endif
	return area;
}

static bool is_over(const struct trial *trial)
{
	return px_clock_monotonic_ns() - trial->begin_ns > PX_TRIAL_NS;
}

static int take_turns(void *argument)
{
	const struct px_kernel_time nap = {0, NAP_NS};
	struct trial *trial = argument;

	while (!is_over(trial)) {
		px_kernel_sleep(&nap);
		px_write_once(&trial->turn, trial->turn + 1);
	}
	return 0;
}

static enum px_trial wait_in_sequence(const struct trial *trial, struct rseq *area)
{
	while (!is_over(trial)) {
		uint32_t before = px_read_once(&trial->turn);
		enum px_outcome outcome = px_sequence_try(area, &trial->turn, ROUNDS);

		if (outcome == PX_HELD)
			return PX_TRIAL_FAULTY;
		/* Otherwise it was another process that took the CPU. */
		if (outcome == PX_DISTURBED && px_read_once(&trial->turn) != before)
			return PX_TRIAL_GOOD;
	}
	return PX_TRIAL_NOTHING;
}

/* The child.  It has a copy of the memory of the program, so it uses no locks and only system calls. */
static __attribute__((noreturn)) void try_it(struct trial *trial, struct rseq *area)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	unsigned int cpu;
	cpu_set_t one;

	PX_TESTPOINT("ring.trial.child");
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* If a filter of system calls kills the child, nobody wants the memory of the program in a file. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	trial->begin_ns = px_clock_monotonic_ns();
	CPU_ZERO(&one);
	if (syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 && cpu < CPU_SETSIZE) {
		CPU_SET(cpu, &one);
		if (syscall(SYS_sched_setaffinity, 0, sizeof(one), &one) == 0 &&
		    clone(take_turns, stack + STACK_BYTES, flags, trial) > 0)
			px_write_once(&trial->result, (uint32_t)wait_in_sequence(trial, area_of(area)));
	}
	syscall(SYS_exit_group, 0);
	__builtin_trap(); /* a filter of system calls refuses it */
}

/*
 * fork(), but without the handlers of the program, and the child ends without a signal.  All signals are blocked in the
 * child: the program's handlers are not for it.  The child has no descriptors of its own: another thread may close one
 * meanwhile, and expects that a lock is released, or that the other end of a pipe notices it.
 */
static long fork_quietly(void)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	long child;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, KERNEL_SIGSET_BYTES);
	child = syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);
	if (child != 0)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET_BYTES);
	return child;
}

enum px_trial px_trial_run(struct rseq *area)
{
	int saved_errno = errno;
	enum px_trial result = PX_TRIAL_NOTHING;
	struct trial *trial;
	long child;

	/* The first child in a pid namespace is its process 1.  When it ends, the program cannot make another one. */
	if (!px_procfs_keeps_children())
		return result;
	trial = mmap(NULL, sizeof(*trial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trial != MAP_FAILED) {
		child = fork_quietly();
		if (child == 0)
			try_it(trial, area);
		while (child > 0 && syscall(SYS_wait4, child, NULL, __WALL, NULL) < 0 && errno == EINTR)
			continue;
		result = (enum px_trial)px_read_once(&trial->result);
		munmap(trial, sizeof(*trial));
	}
	errno = saved_errno;
	return result;
}

#else

#ifdef PX_TESTPOINTS
bool px_trial_is_faulty;
#endif

enum px_trial px_trial_run(struct rseq *area)
{
	(void)area;
	return PX_TRIAL_NOTHING;
}

#endif
