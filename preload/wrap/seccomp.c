/* SPDX-License-Identifier: MIT */
#include "wrap/seccomp.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/futex_waitv.h"
#include "hook.h"
#include "standalone/standalone.h"
#include "wrap/descriptor.h"
#include "wrap/futex.h"
#include "wrap/probe.h"

static bool kills(const struct sock_filter *step)
{
	if (BPF_CLASS(step->code) != BPF_RET)
		return false;
	if (BPF_RVAL(step->code) != BPF_K)
		return true; /* the filter computes the action, which may kill the process */
	switch (step->k & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_LOG:
		return false;
	default:
		return true;
	}
}

/* Return true if this filter program may kill the process.  Also return false if the kernel will refuse the program. */
static bool may_kill(const struct sock_fprog *program)
{
	bool may = false;

	if (!px_probe_can_read(program, sizeof(*program)) ||
	    !px_probe_can_read(program->filter, program->len * sizeof(*program->filter)))
		return false;
	for (unsigned int i = 0; i < program->len && !may; i++)
		may = kills(&program->filter[i]);
	return may;
}

static void confine(void)
{
	if (px_gate_is_open()) { /* do this while the process may make system calls */
		px_process_ensure(); /* this registers the thread */
		px_process_finish_growth();
	}
	px_fd_confine();
	px_write_once(&px_confined, 1U);
}

void px_seccomp_before(unsigned long mode, unsigned long flags, const void *program)
{
	int saved_errno = errno;

	if (mode != SECCOMP_MODE_STRICT && !(mode == SECCOMP_MODE_FILTER && may_kill(program)))
		return;
	if (flags & SECCOMP_FILTER_FLAG_TSYNC)
		px_standalone_end_log();
	confine();
	errno = saved_errno;
}

void px_dispatch_before(unsigned long mode)
{
	int saved_errno = errno;

	if (mode != 0)
		confine();
	errno = saved_errno;
}

/*
 * Programs, and libraries for filters, may install filters with syscall().  In C, its wrapper has another name, because
 * base/system.h redirects our own calls of syscall().
 */
static __attribute__((used)) void before_syscall(long number, unsigned long a, unsigned long b,
						 unsigned long c)
{
	if (number == SYS_prctl && a == PR_SET_SECCOMP)
		px_seccomp_before(b, 0, (const void *)c);
	else if (number == SYS_prctl && a == PX_SET_DISPATCH)
		px_dispatch_before(b);
	else if (number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT)
		px_seccomp_before(SECCOMP_MODE_STRICT, 0, NULL);
	else if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
		px_seccomp_before(SECCOMP_MODE_FILTER, b, (const void *)c);
}

#ifdef __x86_64__
/*
 * Until the real function is known, use our own system call (base/system.h).  The lookup of the real function may need
 * it.  The link-time optimizer does not see that assembly code uses this.
 */
__attribute__((used)) void *px_hook_real_syscall = (void *)syscall;

/*
 * This function has no frame, because a system call may return twice, or on another stack.  So it tells the compiler
 * nothing of its parameters: without optimisation, GCC stores variable arguments, even here, in the frame of the
 * caller.  A system call that waits returns once, so px_syscall_that_waits() is a usual function with the same
 * parameters.
 */
PX_WRAP long px_wrap_syscall(void) __asm__("syscall");

PX_WRAP __attribute__((naked)) long px_wrap_syscall(void)
{
	/* clang-format off */
	__asm__("cmpl %2, %%edi\n\t"
		"je px_syscall_that_waits\n\t"
		"cmpl %0, %%edi\n\t"
		"je 1f\n\t"
		"cmpl %1, %%edi\n\t"
		"je 1f\n\t"
		"cmpl %3, %%edi\n\t"
		"je px_syscall_that_waits\n\t"
		"cmpl %4, %%edi\n\t"
		"je px_syscall_that_waits\n\t"
		"cmpl %5, %%edi\n\t"
		"je px_syscall_that_waits\n\t"
		"cmpl %6, %%edi\n\t"
		"je px_syscall_that_waits\n\t"
		"jmp *px_hook_real_syscall(%%rip)\n"
		"1:\n\t"
		"pushq %%rdi\n\t.cfi_adjust_cfa_offset 8\n\t"
		"pushq %%rsi\n\t.cfi_adjust_cfa_offset 8\n\t"
		"pushq %%rdx\n\t.cfi_adjust_cfa_offset 8\n\t"
		"pushq %%rcx\n\t.cfi_adjust_cfa_offset 8\n\t"
		"pushq %%r8\n\t.cfi_adjust_cfa_offset 8\n\t"
		"pushq %%r9\n\t.cfi_adjust_cfa_offset 8\n\t"
		"subq $8, %%rsp\n\t.cfi_adjust_cfa_offset 8\n\t"
		"call before_syscall\n\t"
		"addq $8, %%rsp\n\t.cfi_adjust_cfa_offset -8\n\t"
		"popq %%r9\n\t.cfi_adjust_cfa_offset -8\n\t"
		"popq %%r8\n\t.cfi_adjust_cfa_offset -8\n\t"
		"popq %%rcx\n\t.cfi_adjust_cfa_offset -8\n\t"
		"popq %%rdx\n\t.cfi_adjust_cfa_offset -8\n\t"
		"popq %%rsi\n\t.cfi_adjust_cfa_offset -8\n\t"
		"popq %%rdi\n\t.cfi_adjust_cfa_offset -8\n\t"
		"jmp *px_hook_real_syscall(%%rip)"
		: : "i"(SYS_seccomp), "i"(SYS_prctl), "i"(SYS_futex), "i"(SYS_futex_waitv),
		"i"(SYS_io_uring_enter), "i"(SYS_io_getevents), "i"(SYS_io_pgetevents));
	/* clang-format on */
}
#else
PX_WRAP long px_wrap_syscall(long number, ...) __asm__("syscall");

void *px_hook_real_syscall;

PX_WRAP long px_wrap_syscall(long number, ...)
{
	long (*real)(long, ...);
	unsigned long argument[6];
	va_list arguments;

	va_start(arguments, number);
	for (unsigned int i = 0; i < PX_ARRAY_SIZE(argument); i++)
		argument[i] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (px_unlikely(number == SYS_seccomp || number == SYS_prctl))
		before_syscall(number, argument[0], argument[1], argument[2]);
	if (px_unlikely(number == SYS_futex || number == SYS_futex_waitv ||
			number == SYS_io_uring_enter || number == SYS_io_getevents ||
			number == SYS_io_pgetevents))
		return px_syscall_that_waits(number, argument[0], argument[1], argument[2],
					     argument[3], argument[4], argument[5]);
	if (px_unlikely(!px_hook_real_syscall))
		px_hook_prepare();
	*(void **)&real = px_hook_real_syscall;
	return real(number, argument[0], argument[1], argument[2], argument[3], argument[4],
		    argument[5]);
}
#endif
