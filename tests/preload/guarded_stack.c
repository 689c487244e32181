/* SPDX-License-Identifier: MIT */
/*
 * guarded_stack PRELOAD: vfork() on a processor that has a guarded control stack (GCS), for processors that have none.
 * It runs itself with PRELOAD in LD_PRELOAD, one instruction at a time, and keeps the control stack of the architecture
 * beside it: a call pushes its return address, and a return has to go to the newest one.  A child of vfork() uses the
 * control stack of its parent from the same place on, as in Linux, and overwrites what it has popped.  CHKFEAT says
 * that there is a GCS.
 *
 * Exit 0: each return went to where its call came from.  1: one did not, which would end the process.  77: programs
 * cannot be stepped here.  Others: the model failed.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stepper.h"

#if defined __aarch64__ && PX_HAS_STEPPER
#include <sys/auxv.h>
#include <sys/user.h>

#define ENTRIES 4096
#define STEPS_MAX 2000000
#define SYS_CLONE 220
#define FEATURE_ATOMICS 0x100 /* HWCAP_ATOMICS */

/* The parent and its child have their own places in one stack, which grows to lower entries.  0: not known. */
static uint64_t stack[ENTRIES];

struct process {
	pid_t pid;
	unsigned int top;
	unsigned int nr_steps;
};

/* The program.  The calls of the child overwrite what it has popped. */
static __attribute__((noinline)) int deeper(int n)
{
	volatile int more = n;

	return more > 0 ? deeper(more - 1) + 1 : 0;
}

static __attribute__((noinline)) int start_child(void)
{
	int status = 0;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(deeper(20));
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 20;
}

static int run_subject(void)
{
	sigset_t signals;
	int is_right;

	/* The end of the child must not stop the parent for its tracer. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	px_stepper_trap();
	is_right = start_child();
	px_stepper_trap();
	return is_right ? 0 : 1;
}

/* The model. */

static bool move(enum __ptrace_request request, pid_t pid, struct user_regs_struct *registers)
{
	struct iovec block = {registers, sizeof(*registers)};

	return ptrace(request, pid, (void *)(uintptr_t)NT_PRSTATUS, &block) == 0;
}

static __attribute__((noreturn)) void fail(const struct process *process, const char *what, uint64_t at)
{
	printf("after %u instructions, at %#llx: %s\n", process->nr_steps, (unsigned long long)at, what);
	exit(3);
}

static void run_child(pid_t pid, unsigned int top);

/* Run an instruction, and check it.  Return false if the process has ended. */
static bool step(struct process *process)
{
	struct user_regs_struct before, after;
	unsigned long child;
	uint32_t code;
	bool is_clone;

	if (!move(PTRACE_GETREGSET, process->pid, &before))
		fail(process, strerror(errno), 0);
	errno = 0;
	code = (uint32_t)ptrace(PTRACE_PEEKTEXT, process->pid, (void *)(uintptr_t)before.pc, NULL);
	if (errno)
		fail(process, "no code", before.pc);
	is_clone = code == 0xD4000001u && before.regs[8] == SYS_CLONE; /* svc #0 */
	if (!px_stepper_step(process->pid, &process->nr_steps)) {
		if (errno != ECHILD)
			fail(process, strerror(errno), before.pc);
		return false;
	}
	if (process->nr_steps > STEPS_MAX)
		fail(process, "it does not end", before.pc);
	if (!move(PTRACE_GETREGSET, process->pid, &after))
		fail(process, strerror(errno), before.pc);
	if (after.pc == before.pc)
		return true; /* a second stop behind a system call */
	if ((code & 0xFC000000u) == 0x94000000u || (code & 0xFEFFF000u) == 0xD63F0000u) { /* bl, blr, blraa */
		if (process->top == 0)
			fail(process, "calls are too deep", before.pc);
		stack[--process->top] = before.pc + 4;
	} else if ((code & 0xFEFFF000u) == 0xD65F0000u) { /* ret, retaa */
		if (process->top == ENTRIES)
			fail(process, "more returns than calls", before.pc);
		if (stack[process->top++] != after.pc) {
			printf("after %u instructions, at %#llx: a return to another place than behind its call\n",
			       process->nr_steps, (unsigned long long)before.pc);
			exit(1);
		}
	} else if (code == 0xD503251Fu) { /* chkfeat x16 */
		after.regs[16] &= ~UINT64_C(1);
		if (!move(PTRACE_SETREGSET, process->pid, &after))
			fail(process, strerror(errno), before.pc);
	} else if (is_clone && ptrace(PTRACE_GETEVENTMSG, process->pid, NULL, &child) == 0) {
		run_child((pid_t)child, process->top);
	}
	return true;
}

static void run_child(pid_t pid, unsigned int top)
{
	struct process child = {.pid = pid, .top = top};
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		fail(&child, "no child", 0);
	while (step(&child))
		;
}

/* Run the program from its second trap to its end. */
static void end_subject(struct process *process)
{
	struct user_regs_struct registers;
	int status;

	if (!move(PTRACE_GETREGSET, process->pid, &registers))
		fail(process, strerror(errno), 0);
	registers.pc += 4;
	if (!move(PTRACE_SETREGSET, process->pid, &registers) ||
	    ptrace(PTRACE_CONT, process->pid, NULL, NULL) != 0 ||
	    waitpid(process->pid, &status, 0) != process->pid)
		fail(process, strerror(errno), registers.pc);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail(process, "the program fails", registers.pc);
}

int main(int argc, char **argv)
{
	struct process parent = {.top = ENTRIES};
	struct px_stepper_place place = {0, false};
	int status;

	if (argc != 2) {
		fprintf(stderr, "usage: guarded_stack PRELOAD\n");
		return 2;
	}
	if (strcmp(argv[1], "-") == 0)
		return run_subject();
	if (!(getauxval(AT_HWCAP) & FEATURE_ATOMICS)) {
		puts("the processor has no LSE");
		return 77;
	}
	parent.pid = fork();
	if (parent.pid == 0) {
		setenv("LD_PRELOAD", argv[1], 1);
		setenv("LD_BIND_NOW", "1", 1);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(77);
		execl("/proc/self/exe", "guarded_stack", "-", (char *)NULL);
		_exit(78);
	}
	if (waitpid(parent.pid, &status, 0) != parent.pid || !WIFSTOPPED(status)) {
		puts("the kernel or an emulator has no ptrace()");
		return 77;
	}
	if (ptrace(PTRACE_SETOPTIONS, parent.pid, NULL, (void *)(PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL)) != 0 ||
	    ptrace(PTRACE_CONT, parent.pid, NULL, NULL) != 0 || !px_stepper_begin(parent.pid))
		fail(&parent, strerror(errno), 0);
	while (!place.is_trap)
		if (!step(&parent) || !px_stepper_look(parent.pid, &place))
			fail(&parent, "the program ended", place.address);
	end_subject(&parent);
	printf("%u instructions\n", parent.nr_steps);
	return 0;
}

#else

int main(void)
{
	puts("this is for aarch64");
	return 77;
}

#endif
