/* SPDX-License-Identifier: MIT */
/*
 * Processes: calls that make a child, and calls that end the process.  vfork() returns twice.  Its wrapper records that
 * the call begins to wait, remembers it (trace/thread.h), and records its end in the parent.  If the child executes a
 * program, the wrapper of exec edits the environment as usual (exec.c), and only notes the program (vfork_exec.h).  The
 * child may make other calls before its exec, such as calls on descriptors.  Their wrappers record them as calls of the
 * parent, because the child uses the parent's memory.  To distinguish such calls, each wrapper would need another
 * system call.
 */
#include "hook.h"

#include "standalone/standalone.h"
#include "trace/counted.h"
#include "trace/inside.h"
#include "wrap/descriptor.h"
#include "wrap/process.h"
#include "wrap/vfork_exec.h"

static pid_t own_pid(void)
{
	return px_is_confined() ? 0 : (pid_t)syscall(SYS_getpid);
}

#ifdef __x86_64__ /* only on x86-64 does the library need these wrappers */
/*
 * vfork() returns twice: first in the child, which then uses the stack of the caller, and later in the parent.  So the
 * wrapper keeps the return address and a register in a place while the thread waits for its child.  A child that calls
 * vfork() itself takes none.
 */
static struct px_process_place {
	void *caller; /* vfork() knows the offsets of these two members */
	uint64_t rbx;
	uint32_t is_used;
} places[64]; /* for threads that are in vfork() at the same time */

struct px_process_vfork {
	void *real;
	struct px_process_place *place; /* NULL: the end of the call is not recorded */
};

static struct px_process_place *take_place(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (px_compare_exchange(&places[i].is_used, (uint32_t)0, (uint32_t)1))
			return &places[i];
	return NULL;
}

/* A child by fork() has only the thread that called it. */
static void free_places(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		px_write_once(&places[i].is_used, 0);
}
#else
static void free_places(void)
{
}
#endif

/* The child has its own log now, or none. */
static void begin_child(pid_t parent)
{
	px_vfork_exec_forget();
	free_places();
	px_standalone_after_fork();
	px_process_record_start(parent, NULL);
}

/* fork(), or forkpty() with the arguments of `pty`. */
struct pty_arguments {
	int *fd;
	char *name;
	const struct termios *modes;
	const struct winsize *size;
};

PX_INLINE pid_t really_fork(const struct pty_arguments *pty)
{
	return pty ? px_real.forkpty(pty->fd, pty->name, pty->modes, pty->size) : px_real.fork();
}

PX_INLINE pid_t fork_recorded(struct px_site site, const struct pty_arguments *pty)
{
	struct px_hook_sample sample;
	pid_t parent = own_pid();
	pid_t pid;

	if (PX_NOT_TRACED(process)) {
		pid = really_fork(pty);
		if (pid == 0)
			begin_child(parent);
		return pid;
	}
	sample = px_hook_begin();
	pid = PX_REAL(&sample, really_fork(pty));
	if (pid == 0)
		begin_child(parent);
	px_hook_record_fd(site, PX_RECORD_WHOLE, 0, 0, px_outcome(pid));
	if (pid != 0)
		px_hook_end(&sample, site.wrapper);
	return pid;
}

PX_WRAP pid_t fork(void)
{
	PX_ENSURE_REAL(fork);
	return fork_recorded(PX_SITE(fork, fork), NULL);
}

PX_WRAP int forkpty(int *fd, char *name, const struct termios *modes, const struct winsize *size)
{
	const struct pty_arguments pty = {fd, name, modes, size};

	PX_ENSURE_REAL(forkpty);
	return fork_recorded(PX_SITE(forkpty, fork), &pty);
}

/*
 * The C library makes the child itself, and ends the parent with its own _exit().  So record the call before it is
 * made. In the child, it can still fail.
 */
PX_WRAP int daemon(int no_chdir, int no_close)
{
	struct px_site site = PX_SITE(daemon, daemon);
	bool is_recorded = !PX_NOT_TRACED(process);
	pid_t parent = own_pid();
	int result;

	PX_ENSURE_REAL(daemon);
	if (is_recorded)
		px_hook_record_fd(site, PX_RECORD_WHOLE, no_chdir, (uint32_t)no_close, 0);
	result = px_real.daemon(no_chdir, no_close);
	if (result == 0 || own_pid() != parent)
		begin_child(parent);
	if (is_recorded && result != 0)
		px_hook_record_fd(site, PX_RECORD_WHOLE, no_chdir, (uint32_t)no_close,
				  px_outcome(result));
	return result;
}

#ifdef __x86_64__
#define USED_BY_ASM __attribute__((used, visibility("hidden")))

/* Return the real vfork(), or fork() if there is none, and a place if the end of the call is to be recorded. */
USED_BY_ASM struct px_process_vfork px_process_before_vfork(void *caller);
struct px_process_vfork px_process_before_vfork(void *caller)
{
	const struct px_site site = {PX_WRAPPER_vfork, PX_CALL_vfork, caller};
	struct px_process_vfork plan = {NULL, NULL};

	PX_ENSURE_REAL(fork);
	px_vfork_exec_record();
	if (!PX_NOT_TRACED(process) && !px_in_vfork_child()) {
		plan.place = take_place();
		px_hook_record_fd(site, plan.place ? PX_RECORD_BEGINS : PX_RECORD_WHOLE, 0, 0, 0);
	}
	px_thread_doubt_area();
	plan.real = px_real.vfork ? (void *)px_real.vfork : (void *)px_real.fork;
	return plan;
}

/* In the parent, when the child has executed a program or has ended. */
USED_BY_ASM void px_process_after_vfork(struct px_process_place *place, pid_t pid);
void px_process_after_vfork(struct px_process_place *place, pid_t pid)
{
	const struct px_site site = {PX_WRAPPER_vfork, PX_CALL_vfork, place->caller};

	px_hook_record_fd(site, PX_RECORD_ENDS, 0, 0, px_outcome(pid));
	px_vfork_exec_record();
	px_store_release(&place->is_used, 0);
}

/*
 * Return the real clone().  Remember a child that shares the memory and gets no thread storage of its own, because it
 * uses the thread storage of this thread.
 */
USED_BY_ASM void *px_process_before_clone(int flags);
void *px_process_before_clone(int flags)
{
	PX_ENSURE_REAL(fork);
	if ((flags & CLONE_VM) && !(flags & CLONE_SETTLS)) {
		if (flags & CLONE_VFORK) {
			px_thread_doubt_area();
		} else {
			px_thread_share_area();
			px_inside_give_up();
		}
	}
	return px_hook_real_clone;
}

/*
 * The child returns from these functions first, and overwrites their stack frames.  So these wrappers must not have a
 * frame.  vfork() keeps its return address in the place, and puts it back on the stack in the parent.  %rbx points to
 * the place, because the system call keeps this register in both processes.  The child jumps to the return address:
 * with a shadow stack, a return would free entries that the parent still needs.
 */
PX_WRAP __attribute__((naked)) pid_t vfork(void)
{
	__asm__("subq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		"movq 8(%rsp), %rdi\n\t"
		"call px_process_before_vfork\n\t"
		"addq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		"testq %rdx, %rdx\n\t"
		"jnz 1f\n\t"
		"jmp *%rax\n"
		"1:\tpopq (%rdx)\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		".cfi_undefined %rip\n\t"
		"movq %rbx, 8(%rdx)\n\t"
		"movq %rdx, %rbx\n\t"
		"call *%rax\n\t"
		"testl %eax, %eax\n\t"
		"jnz 2f\n\t"
		"movq %rbx, %rdx\n\t"
		"movq 8(%rdx), %rbx\n\t"
		"jmp *(%rdx)\n"
		"2:\tpushq (%rbx)\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		".cfi_restore %rip\n\t"
		"pushq 8(%rbx)\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		".cfi_rel_offset %rbx, 0\n\t"
		"pushq %rax\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		"subq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset 8\n\t"
		"movq %rbx, %rdi\n\t"
		"movl %eax, %esi\n\t"
		"call px_process_after_vfork\n\t"
		"addq $8, %rsp\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		"popq %rax\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		"popq %rbx\n\t"
		".cfi_adjust_cfa_offset -8\n\t"
		".cfi_restore %rbx\n\t"
		"ret");
}
PX_WRAP extern __typeof__(vfork) __vfork __attribute__((alias("vfork"), leaf, nothrow));

#define PUSH(name) "pushq %" name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define POP(name) "popq %" name "\n\t.cfi_adjust_cfa_offset -8\n\t"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
PX_WRAP __attribute__((naked)) int clone(int (*function)(void *), void *stack, int flags,
					 void *argument, ...)
{
	/* The seven saved registers also align the stack. */
	/* clang-format off */
	__asm__(PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8") PUSH("r9") PUSH("rax")
		"movl %edx, %edi\n\t"
		"call px_process_before_clone\n\t"
		"movq %rax, %r11\n\t"
		POP("rax") POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi") POP("rdi")
		"jmp *%r11");
	/* clang-format on */
}
#pragma GCC diagnostic pop
PX_WRAP extern __typeof__(clone) __clone __attribute__((alias("clone"), leaf, nothrow));
#endif

/* Calls that end the process without running its destructors. */

static void record_exit(struct px_site site, int status)
{
	px_vfork_exec_record();
	if (px_gate_is_open() && !px_in_vfork_child())
		px_counted_end_process();
	if (!PX_NOT_TRACED(process) && !px_in_vfork_child())
		px_hook_record_fd(site, PX_RECORD_WHOLE, status, 0, 0);
	if (px_gate_is_open() && !px_in_vfork_child())
		px_process_store_maps();
}

PX_WRAP void _exit(int status)
{
	record_exit(PX_SITE(_exit, _exit), status);
	PX_ENSURE_REAL(_exit);
	px_real._exit(status);
	__builtin_unreachable();
}

PX_WRAP void _Exit(int status)
{
	record_exit(PX_SITE(_Exit, _exit), status);
	PX_ENSURE_REAL(_Exit);
	px_real._Exit(status);
	__builtin_unreachable();
}

PX_WRAP void quick_exit(int status)
{
	record_exit(PX_SITE(quick_exit, _exit), status);
	PX_ENSURE_REAL(quick_exit);
	px_real.quick_exit(status);
	__builtin_unreachable();
}
