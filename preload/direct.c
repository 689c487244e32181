/* SPDX-License-Identifier: MIT */
/*
 * For each function of direct.def, px_direct_NAME jumps to the function of the C library itself.  A jump does not
 * change the arguments, so this works for every function.  At first, px_direct_to_NAME points to code that looks up all
 * functions and jumps again.  Our constructor cannot look them up, because it may be too late: another object that
 * wraps a function may call us before our constructor has run.
 */
#include "c_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/jump.h"

static void *find_in(const struct px_c_library *library, const char *name)
{
	void *found = px_c_library_function(library, name);

	if (!found)
		found = dlsym(RTLD_NEXT, name);
	return found ? found : (void *)abort;
}

/* Where both sizes of off_t are possible, the C library has functions for both, and so has this file. */
#if defined __GLIBC__ && __SIZEOF_LONG__ == 4
#define BOTH(name, symbol) PX_DIRECT(name) PX_DIRECT(symbol)
#else
#define BOTH(name, symbol) PX_DIRECT(name)
#endif

#ifdef PX_JUMP_BY

/* The assembly code below defines these variables. */
#define PX_DIRECT(name) extern void *px_direct_to_##name __attribute__((visibility("hidden")));
#define PX_DIRECT_WIDE BOTH
#include "direct.def"

static const struct {
	const char *name;
	void **to;
} functions[] = {
#define PX_DIRECT(name) {#name, &px_direct_to_##name},
#define PX_DIRECT_WIDE BOTH
#include "direct.def"
};

__attribute__((used, visibility("hidden"))) void px_direct_prepare(void);

/* Threads and signal handlers may run this function at the same time, because all of them store the same values. */
void px_direct_prepare(void)
{
	struct px_c_library library;

	px_c_library_open(&library);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		px_write_once(functions[i].to, find_in(&library, functions[i].name));
}

#define JUMP(name) PX_JUMP_BY("px_direct_to_" #name)

#ifdef __x86_64__
#define VARIABLE(name) ".quad px_direct_first_" #name "\n"
/*
 * Save seven registers.  An odd number of them also aligns the stack.  rax has the number of vector registers in a call
 * with `...`.
 */
#define PREPARE                                                                                    \
	"px_direct_prepare_all:\n"                                                                 \
	".cfi_startproc\n"                                                                         \
	"pushq %rdi\n.cfi_adjust_cfa_offset 8\npushq %rsi\n.cfi_adjust_cfa_offset 8\n"             \
	"pushq %rdx\n.cfi_adjust_cfa_offset 8\npushq %rcx\n.cfi_adjust_cfa_offset 8\n"             \
	"pushq %r8\n.cfi_adjust_cfa_offset 8\npushq %r9\n.cfi_adjust_cfa_offset 8\n"               \
	"pushq %rax\n.cfi_adjust_cfa_offset 8\nsubq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"          \
	"call px_direct_prepare\n"                                                                 \
	"addq $8, %rsp\n.cfi_adjust_cfa_offset -8\npopq %rax\n.cfi_adjust_cfa_offset -8\n"         \
	"popq %r9\n.cfi_adjust_cfa_offset -8\npopq %r8\n.cfi_adjust_cfa_offset -8\n"               \
	"popq %rcx\n.cfi_adjust_cfa_offset -8\npopq %rdx\n.cfi_adjust_cfa_offset -8\n"             \
	"popq %rsi\n.cfi_adjust_cfa_offset -8\npopq %rdi\n.cfi_adjust_cfa_offset -8\n"             \
	"ret\n"                                                                                    \
	".cfi_endproc\n"
#define FIRST(name) "call px_direct_prepare_all\n" JUMP(name)
#elif defined __i386__
#define VARIABLE(name) ".long px_direct_first_" #name "\n"
/* All arguments are on the stack, so only align it. */
#define PREPARE                                                                                    \
	"px_direct_prepare_all:\n"                                                                 \
	".cfi_startproc\n"                                                                         \
	"subl $8, %esp\n.cfi_adjust_cfa_offset 8\n"                                                \
	"call px_direct_prepare\n"                                                                 \
	"addl $8, %esp\n.cfi_adjust_cfa_offset -8\n"                                               \
	"ret\n"                                                                                    \
	".cfi_endproc\n"
#define FIRST(name) "call px_direct_prepare_all\n" JUMP(name)
#elif defined __arm__
#define VARIABLE(name) ".word px_direct_first_" #name "\n"
#define PREPARE                                                                                    \
	".type px_direct_prepare_all, %function\n"                                                 \
	"px_direct_prepare_all:\n"                                                                 \
	".cfi_startproc\n"                                                                         \
	"push {r0-r3, ip, lr}\n"                                                                   \
	".cfi_adjust_cfa_offset 24\n.cfi_offset lr, -4\n"                                          \
	"bl px_direct_prepare\n"                                                                   \
	"pop {r0-r3, ip, pc}\n"                                                                    \
	".cfi_endproc\n"
#define FIRST(name)                                                                                \
	"push {ip, lr}\n.cfi_adjust_cfa_offset 8\n.cfi_offset lr, -4\n"                            \
	"bl px_direct_prepare_all\n"                                                               \
	"pop {ip, lr}\n.cfi_adjust_cfa_offset -8\n.cfi_restore lr\n" JUMP(name)
#else
#define VARIABLE(name) ".xword px_direct_first_" #name "\n"
#define PREPARE                                                                                    \
	"px_direct_prepare_all:\n"                                                                 \
	".cfi_startproc\n"                                                                         \
	"sub sp, sp, #96\n"                                                                        \
	".cfi_def_cfa_offset 96\n"                                                                 \
	"stp x0, x1, [sp]\nstp x2, x3, [sp, #16]\nstp x4, x5, [sp, #32]\n"                         \
	"stp x6, x7, [sp, #48]\nstp x8, x30, [sp, #64]\nstr x17, [sp, #80]\n"                      \
	".cfi_offset 30, -24\n"                                                                    \
	"bl px_direct_prepare\n"                                                                   \
	"ldp x0, x1, [sp]\nldp x2, x3, [sp, #16]\nldp x4, x5, [sp, #32]\n"                         \
	"ldp x6, x7, [sp, #48]\nldp x8, x30, [sp, #64]\nldr x17, [sp, #80]\n"                      \
	"add sp, sp, #96\n"                                                                        \
	".cfi_def_cfa_offset 0\n"                                                                  \
	"ret\n"                                                                                    \
	".cfi_endproc\n"
/* x17 holds the return address of the caller, because px_direct_prepare_all does not change x17. */
#define FIRST(name)                                                                                \
	"hint #34\n"                                                                               \
	"mov x17, x30\n"                                                                           \
	"bl px_direct_prepare_all\n"                                                               \
	"mov x30, x17\n" JUMP(name)
#endif

/* clang-format off */
__asm__(PX_JUMP_PARTS ".pushsection .text\n" PX_JUMP_BEGIN PREPARE ".popsection\n");

#define PX_DIRECT(name)                                                                            \
	__asm__(".pushsection .data\n.balign 8\n"                                                  \
		".hidden px_direct_to_" #name "\n.globl px_direct_to_" #name "\n"                  \
		"px_direct_to_" #name ":\n" VARIABLE(name)                                         \
		".popsection\n.pushsection .text\n" PX_JUMP_BEGIN                                  \
		".hidden px_direct_" #name "\n.globl px_direct_" #name "\n"                        \
		".type px_direct_" #name ", %function\n"                                           \
		"px_direct_" #name ":\n.cfi_startproc\n" JUMP(name) ".cfi_endproc\n"               \
		".type px_direct_first_" #name ", %function\n"                                    \
		"px_direct_first_" #name ":\n.cfi_startproc\n" FIRST(name) ".cfi_endproc\n"       \
		".popsection\n");
#define PX_DIRECT_WIDE BOTH
#include "direct.def"
/* clang-format on */

#else

/* On other machines (base/jump.h), a compiler builtin passes on arguments whose types are not known. */
#define ARGUMENT_BYTES_MAX 64

static void *find(const char *name)
{
	struct px_c_library library;

	px_c_library_open(&library);
	return find_in(&library, name);
}

#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wold-style-definition"
#define PX_DIRECT_WIDE BOTH
#define PX_DIRECT(name)                                                                            \
	__attribute__((visibility("hidden"))) void px_direct_##name();                             \
	void px_direct_##name()                                                                    \
	{                                                                                          \
		static void *to;                                                                   \
                                                                                                   \
		if (!px_read_once(&to))                                                            \
			px_write_once(&to, find(#name));                                           \
		__builtin_return(__builtin_apply((void (*)())px_read_once(&to),                    \
						 __builtin_apply_args(), ARGUMENT_BYTES_MAX));     \
	}
#include "direct.def"

#endif
