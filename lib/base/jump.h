/* SPDX-License-Identifier: MIT */
/*
 * Assembly code that jumps to the function whose address is in a variable.  A jump keeps all arguments, so one macro
 * serves every function.  A function that consists of it begins with PX_JUMP_BEGIN, and a file with such functions has
 * PX_JUMP_PARTS at its beginning.  On machines that are not here, PX_JUMP_BY is not defined.
 */
#ifndef PX_BASE_JUMP_H
#define PX_BASE_JUMP_H

#ifdef __x86_64__
#define PX_JUMP_BEGIN ""
#define PX_JUMP_BY(variable) "jmp *" variable "(%rip)\n"
#elif defined __i386__
/* A function that returns the address of the instruction after its call.  The linker keeps one of them. */
#define PX_JUMP_PARTS                                                                              \
	".pushsection .text.px_jump_pc, \"axG\", @progbits, px_jump_pc, comdat\n"                   \
	".globl px_jump_pc\n"                                                                      \
	".hidden px_jump_pc\n"                                                                     \
	".type px_jump_pc, @function\n"                                                            \
	"px_jump_pc:\n"                                                                            \
	".cfi_startproc\n"                                                                         \
	"movl (%esp), %ecx\n"                                                                      \
	"ret\n"                                                                                    \
	".cfi_endproc\n"                                                                           \
	".popsection\n"
#define PX_JUMP_BEGIN ""
#define PX_JUMP_BY(variable)                                                                       \
	"call px_jump_pc\n"                                                                        \
	"9: addl $" variable " - 9b, %ecx\n"                                                       \
	"jmp *(%ecx)\n"
#elif defined __aarch64__
#define PX_JUMP_BEGIN ""
/* hint #34 is BTI C: in a program that has this protection, such a function must begin with it. */
#define PX_JUMP_BY(variable)                                                                       \
	"hint #34\n"                                                                               \
	"adrp x16, " variable "\n"                                                                 \
	"ldr x16, [x16, #:lo12:" variable "]\n"                                                    \
	"br x16\n"
#elif defined __arm__ && (__ARM_ARCH >= 7 || !defined __thumb__)
#define PX_JUMP_BEGIN ".arm\n.balign 4\n"
#define PX_JUMP_BY(variable)                                                                       \
	"ldr ip, 8f\n"                                                                             \
	"9: ldr ip, [pc, ip]\n"                                                                    \
	"bx ip\n"                                                                                  \
	"8: .word " variable " - (9b + 8)\n"
#endif

#ifndef PX_JUMP_PARTS
#define PX_JUMP_PARTS ""
#endif

#endif
