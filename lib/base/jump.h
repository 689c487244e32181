/* SPDX-License-Identifier: MIT */
/*
 * Assembly code that jumps to the function whose address is in a variable.  A jump keeps all arguments, so one macro
 * serves every function.
 */
#ifndef PX_BASE_JUMP_H
#define PX_BASE_JUMP_H

#ifdef __x86_64__
#define PX_JUMP_BY(variable) "jmp *" variable "(%rip)\n"
#elif defined __aarch64__
#define PX_JUMP_BY(variable)                                                                       \
	"adrp x16, " variable "\n"                                                                 \
	"ldr x16, [x16, #:lo12:" variable "]\n"                                                    \
	"br x16\n"
#endif

#endif
