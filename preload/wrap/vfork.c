/* SPDX-License-Identifier: MIT */
/*
 * vfork() returns twice: first in the child, which then uses the stack of the caller, and later in the parent.  Its
 * wrapper records that the call begins to wait, remembers it (trace/thread.h), and records its end in the parent.  If
 * the child executes a program, the wrapper of exec edits the environment as usual (exec.c), and only notes the program
 * (vfork_exec.h).  The child may make other calls before its exec, such as calls on descriptors.  Their wrappers record
 * them as calls of the parent, because the child uses the parent's memory.  To distinguish such calls, each wrapper
 * would need another system call.  A reader of the records knows them by the two events (calls/processes.h).
 *
 * The wrapper of clone() records nothing.  It notes which children use the thread storage of their parent.
 *
 * The child returns from both functions first, and overwrites their stack frames.  So these wrappers must not have a
 * frame when they call the real function.  That needs assembly code, which x86-64, i386 and aarch64 have.
 */
#include "wrap/vfork.h"

#include <errno.h>

#include "hook.h"
#include "trace/inside.h"
#include "wrap/descriptor.h"
#include "wrap/vfork_exec.h"

/* As in wrappers.def. */
#if (defined __x86_64__ && defined __LP64__) || defined __i386__ || (defined __aarch64__ && defined __LP64__)
/*
 * The wrapper of vfork() keeps the return address and a register in a place while the thread waits for its child.  A
 * child that calls vfork() itself takes none.
 */
static struct place {
	void *caller;	  /* The assembly code knows the offsets of these two members: */
	uintptr_t kept;	  /* the first two words. */
	uintptr_t owner;  /* the thread, by the address of its errno; 0: free */
} places[64]; /* for threads that are in vfork() at the same time */

static struct place *take_place(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (px_compare_exchange(&places[i].owner, (uintptr_t)0, (uintptr_t)&errno))
			return &places[i];
	return NULL;
}

/* A signal handler may call fork() while vfork() returns.  Then the child also returns from that vfork(). */
void px_vfork_forget(void)
{
	px_vfork_exec_forget();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (px_read_once(&places[i].owner) != (uintptr_t)&errno)
			px_write_once(&places[i].owner, (uintptr_t)0);
}

#define USED_BY_ASM __attribute__((used, visibility("hidden")))

/*
 * Return the real vfork(), or fork() if there is none.  Store the place where the call is remembered; NULL: its end is
 * not recorded.
 */
USED_BY_ASM void *px_vfork_before(void *caller, struct place **place);
void *px_vfork_before(void *caller, struct place **place)
{
	const struct px_site site = {PX_WRAPPER_vfork, PX_CALL_vfork, caller};

	*place = NULL;
	PX_ENSURE_REAL(fork);
	px_vfork_exec_record();
	if (!PX_NOT_TRACED(process) && !px_in_vfork_child()) {
		*place = take_place();
		px_hook_record_fd(site, *place ? PX_RECORD_BEGINS : PX_RECORD_WHOLE, 0, 0, 0);
	}
	px_thread_doubt_area();
	return px_real.vfork ? (void *)px_real.vfork : (void *)px_real.fork;
}

/* In the parent, when the child has executed a program or has ended. */
USED_BY_ASM void px_vfork_after(struct place *place, pid_t pid);
void px_vfork_after(struct place *place, pid_t pid)
{
	const struct px_site site = {PX_WRAPPER_vfork, PX_CALL_vfork, place->caller};

	px_hook_record_fd(site, PX_RECORD_ENDS, 0, 0, px_outcome(pid));
	px_vfork_exec_record();
	px_store_release(&place->owner, (uintptr_t)0);
}

/*
 * Return the real clone().  Remember a child that shares the memory and gets no thread storage of its own, because it
 * uses the thread storage of this thread.
 */
USED_BY_ASM void *px_clone_before(int flags);
void *px_clone_before(int flags)
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
 * vfork() keeps its return address in the place, and puts it back in the parent.  A register that the system call keeps
 * in both processes points to the place.  The child jumps to the return address: with the shadow stack of x86-64 or the
 * guarded control stack of aarch64 (GCS), a return would free entries that the parent still needs.
 *
 * clone() keeps all its arguments, and jumps to the real function.
 */
#define FUNCTION(name, code)                                                                       \
	__asm__(".pushsection .text\n"                                                             \
		".balign 16\n"                                                                     \
		".globl " name "\n"                                                                \
		".type " name ", %function\n" name ":\n"                                           \
		".cfi_startproc\n" code ".cfi_endproc\n"                                           \
		".size " name ", . - " name "\n"                                                   \
		".globl __" name "\n"                                                              \
		".set __" name ", " name "\n"                                                      \
		".popsection\n")
#define CFA(change) ".cfi_adjust_cfa_offset " change "\n"

/* clang-format off */
#if defined __x86_64__
#define PUSH(what) "pushq " what "\n" CFA("8")
#define POP(what) "popq " what "\n" CFA("-8")
FUNCTION("vfork",
	PUSH("$0") /* the pointer to the place; the stack is aligned now */
	"movq 8(%rsp), %rdi\n"
	"movq %rsp, %rsi\n"
	"call px_vfork_before\n"
	POP("%rdx")
	"testq %rdx, %rdx\n"
	"jnz 1f\n"
	"jmp *%rax\n"
	"1:\n"
	POP("(%rdx)")
	".cfi_undefined %rip\n"
	"movq %rbx, 8(%rdx)\n"
	"movq %rdx, %rbx\n"
	"call *%rax\n"
	"testl %eax, %eax\n"
	"jnz 2f\n"
	"movq %rbx, %rdx\n"
	"movq 8(%rdx), %rbx\n"
	"jmp *(%rdx)\n"
	"2:\n"
	PUSH("(%rbx)")
	".cfi_restore %rip\n"
	PUSH("8(%rbx)")
	".cfi_rel_offset %rbx, 0\n"
	PUSH("%rax")
	"subq $8, %rsp\n" CFA("8")
	"movq %rbx, %rdi\n"
	"movl %eax, %esi\n"
	"call px_vfork_after\n"
	"addq $8, %rsp\n" CFA("-8")
	POP("%rax")
	POP("%rbx")
	".cfi_restore %rbx\n"
	"ret\n");
FUNCTION("clone",
	/* Seven registers also align the stack. */
	PUSH("%rdi") PUSH("%rsi") PUSH("%rdx") PUSH("%rcx") PUSH("%r8") PUSH("%r9") PUSH("%rax")
	"movl %edx, %edi\n"
	"call px_clone_before\n"
	"movq %rax, %r11\n"
	POP("%rax") POP("%r9") POP("%r8") POP("%rcx") POP("%rdx") POP("%rsi") POP("%rdi")
	"jmp *%r11\n");

#elif defined __i386__
#define PUSH(what) "pushl " what "\n" CFA("4")
#define POP(what) "popl " what "\n" CFA("-4")
FUNCTION("vfork",
	"subl $28, %esp\n" CFA("28") /* the stack is aligned; the pointer to the place is at 12 */
	"movl 28(%esp), %eax\n"
	"movl %eax, (%esp)\n"
	"leal 12(%esp), %eax\n"
	"movl %eax, 4(%esp)\n"
	"call px_vfork_before\n"
	"movl 12(%esp), %edx\n"
	"addl $28, %esp\n" CFA("-28")
	"testl %edx, %edx\n"
	"jnz 1f\n"
	"jmp *%eax\n"
	"1:\n"
	POP("(%edx)")
	".cfi_undefined %eip\n"
	"movl %ebx, 4(%edx)\n"
	"movl %edx, %ebx\n"
	"call *%eax\n"
	"testl %eax, %eax\n"
	"jnz 2f\n"
	"movl %ebx, %edx\n"
	"movl 4(%edx), %ebx\n"
	"jmp *(%edx)\n"
	"2:\n"
	PUSH("(%ebx)")
	".cfi_restore %eip\n"
	PUSH("4(%ebx)")
	".cfi_rel_offset %ebx, 0\n"
	PUSH("%eax")
	"subl $12, %esp\n" CFA("12")
	PUSH("%eax")
	PUSH("%ebx") /* the stack is aligned */
	"call px_vfork_after\n"
	"addl $20, %esp\n" CFA("-20")
	POP("%eax")
	POP("%ebx")
	".cfi_restore %ebx\n"
	"ret\n");
FUNCTION("clone",
	"subl $12, %esp\n" CFA("12")
	"movl 24(%esp), %eax\n"
	"movl %eax, (%esp)\n"
	"call px_clone_before\n"
	"addl $12, %esp\n" CFA("-12")
	"jmp *%eax\n");

#else
/*
 * Hints for processors with more protection, which others ignore.  Where the kernel checks branch targets, a function
 * begins with BTI C.  BTI J is where the child of vfork() continues: glibc 2.41 and newer jump there, as this wrapper
 * does.  A caller has such a hint behind its call of vfork(), if it was compiled for GCS.  CHKFEAT clears the 1 in x16
 * if the process has a GCS; without one, the child returns, because an older caller may lack the hint.
 */
#define BTI_C "hint #34\n"
#define BTI_J "hint #36\n"
#define CHKFEAT_X16 "hint #40\n"
FUNCTION("vfork",
	BTI_C
	"stp x29, x30, [sp, #-32]!\n" CFA("32")
	".cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
	"mov x0, x30\n"
	"add x1, sp, #16\n"
	"bl px_vfork_before\n"
	"mov x16, x0\n"
	"ldr x9, [sp, #16]\n"
	"ldp x29, x30, [sp], #32\n" CFA("-32")
	".cfi_restore x29\n.cfi_restore x30\n"
	"cbnz x9, 1f\n"
	"br x16\n"
	"1:\n"
	"stp x30, x19, [x9]\n"
	".cfi_undefined x30\n"
	"mov x19, x9\n"
	"blr x16\n"
	BTI_J
	"mov x9, x19\n"
	"ldp x30, x19, [x9]\n"
	".cfi_restore x30\n"
	"cbnz w0, 2f\n"
	"mov x16, #1\n"
	CHKFEAT_X16
	"cbz x16, 3f\n"
	"ret\n"
	"3:\n"
	"br x30\n"
	"2:\n"
	"stp x29, x30, [sp, #-32]!\n" CFA("32")
	".cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
	"str x0, [sp, #16]\n"
	"mov w1, w0\n"
	"mov x0, x9\n"
	"bl px_vfork_after\n"
	"ldr x0, [sp, #16]\n"
	"ldp x29, x30, [sp], #32\n" CFA("-32")
	".cfi_restore x29\n.cfi_restore x30\n"
	"ret\n");
FUNCTION("clone",
	BTI_C
	"sub sp, sp, #80\n" CFA("80")
	"stp x0, x1, [sp]\nstp x2, x3, [sp, #16]\nstp x4, x5, [sp, #32]\nstp x6, x7, [sp, #48]\n"
	"str x30, [sp, #64]\n.cfi_rel_offset x30, 64\n"
	"mov w0, w2\n"
	"bl px_clone_before\n"
	"mov x16, x0\n"
	"ldp x0, x1, [sp]\nldp x2, x3, [sp, #16]\nldp x4, x5, [sp, #32]\nldp x6, x7, [sp, #48]\n"
	"ldr x30, [sp, #64]\n.cfi_restore x30\n"
	"add sp, sp, #80\n" CFA("-80")
	"br x16\n");
#endif
/* clang-format on */

#else
void px_vfork_forget(void)
{
	px_vfork_exec_forget();
}
#endif
