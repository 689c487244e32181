/* SPDX-License-Identifier: MIT */
/*
 * A child that runs one instruction at a time, between two traps in its code.  For x86-64 and aarch64, with glibc 2.35
 * or newer.
 *
 * A stop inside a restartable sequence makes the kernel begin it again, for ever.  So the stepper removes the sequence
 * from the child's rseq area as soon as the child has stored it there.  Nothing else may disturb the sequence then.
 *
 * On aarch64, a stop between a load and a store that are exclusive makes the store fail, for ever.  So the stepper lets
 * the child run from such a load to behind the store, without a stop.
 *
 * The benchmarks use this file, too: it needs no other file of the tests.
 */
#ifndef PX_TESTS_SUPPORT_STEPPER_H
#define PX_TESTS_SUPPORT_STEPPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#if defined __GLIBC__ && (defined __x86_64__ || (defined __aarch64__ && defined __LP64__))
#define PX_HAS_STEPPER __GLIBC_PREREQ(2, 35)
#else
#define PX_HAS_STEPPER 0
#endif

/* The child: a trap.  Call ptrace(PTRACE_TRACEME) before. */
#if defined __aarch64__
#define px_stepper_trap() __asm__ __volatile__("brk #0" : : : "memory")
#elif defined __x86_64__
#define px_stepper_trap() __asm__ __volatile__("int3" : : : "memory")
#else
#define px_stepper_trap() ((void)0)
#endif

/* The other process.  All of these return false with errno if a system call fails, or if the child has ended. */

/* Wait until the child has reached its first trap, and pass it. */
bool px_stepper_begin(pid_t child);

struct px_stepper_place {
	uint64_t address; /* of the next instruction */
	bool is_trap;	  /* which is a trap */
};

bool px_stepper_look(pid_t child, struct px_stepper_place *place);

/* Run an instruction, or all those from an exclusive load to its store.  Add their number to *nr. */
bool px_stepper_step(pid_t child, unsigned int *nr);

#endif
