/* SPDX-License-Identifier: MIT */
/*
 * The stack of the calling thread: the return addresses from the caller of a wrapper up to the function in which the
 * thread began.
 *
 * On x86-64, the unwind tables of the loaded modules (.eh_frame) decide each step.  They say where the return address
 * is, and whether the code at this place has a frame pointer.  So no step is a guess: where there is no table, the
 * stack is cut.  This is so for code that a compiler makes at run time, and for modules built with
 * -fno-asynchronous-unwind-tables.  On aarch64, the procedure call standard requires frame records, and each step takes
 * the next one.  On other machines a stack has only the caller.
 *
 * The function is async-signal-safe: it takes no lock and allocates nothing.  These rules keep it from a fault, and
 * from the wait for another thread:
 *
 *	U1  It loads stack words directly only between the stack pointer and the top of the usual stack of the thread
 *	    (frames.h).  This memory is mapped while the thread runs on it.  The kernel reads all other stacks for it
 *	    (process_vm_readv): signal stacks, and stacks of coroutines.
 *	U2  The kernel also reads the tables for it.  Another thread may unload the module meanwhile.
 *	U3  It finds the module of an address with _dl_find_object(), which takes no lock.  So a module counts from the
 *	    moment when dlopen() has loaded it, and nothing has to be prepared.
 *	U4  Each step must move up the stack, except from a signal handler to the code that it interrupted.  There are
 *	    at most PX_UNWIND_DEPTH steps, plus a few for the frames of this object.
 *
 * The rule for each return address is kept in a table of fixed size.  So a stack whose addresses were seen before needs
 * no system call, except one for each module that could have been unloaded.  This call reads the beginning of the
 * module's table, which shows whether it is still the same module.  A confined process (confined.h) makes no system
 * call: it uses the rules that are known, for modules that cannot be unloaded.
 *
 * A return address may belong to the next function, if the call is the last instruction of its function.  So readers
 * look up each address minus 1.  The address of code that a signal interrupted is stored plus 1, for the same reason.
 */
#ifndef PX_TRACE_UNWIND_H
#define PX_TRACE_UNWIND_H

#include <stdint.h>

#define PX_UNWIND_DEPTH 32

/* Why a stack ends where it ends.  The numbers are in logs. */
enum px_unwind_end {
	PX_UNWIND_WHOLE,      /* it is whole: the thread or coroutine began here */
	PX_UNWIND_DEEP,	      /* there are more than PX_UNWIND_DEPTH frames */
	PX_UNWIND_NO_TABLE,   /* the code has no unwind table */
	PX_UNWIND_UNREADABLE, /* the stack or a table cannot be read */
	PX_UNWIND_WRONG,      /* the stack does not agree with the tables */
	PX_UNWIND_CONFINED    /* a system call would be necessary, and the process is confined */
};

/*
 * Store the return addresses in frame, beginning with `caller`, the return address of the wrapper.  The wrapper has
 * called this function, directly or not.  Return the number of addresses, at least 1.  The calling thread must be in a
 * trace point (inside.h).  Keeps errno.
 */
unsigned int px_unwind(uintptr_t caller, uint64_t frame[PX_UNWIND_DEPTH], enum px_unwind_end *end);

#endif
