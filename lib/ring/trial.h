/* SPDX-License-Identifier: MIT */
/*
 * A trial of restartable sequences: does the kernel restart a sequence when it gives the CPU to another thread?
 *
 * Rings of CPUs depend on this (C1 in cpuring.h).  A kernel that registers areas but does not restart sequences would
 * let two threads of a CPU reserve the same slot.  Some kernels of aarch64 from Linux 6.19 on have this fault.
 *
 * The trial runs in a child process, so that the program keeps its CPUs, its signals and its threads.  Two threads of
 * the child have one CPU.  One of them waits in a sequence until the other one changes a word.  The other one sleeps
 * for a moment, takes the CPU away from the first one, and changes the word.  If the first thread sees the change in
 * its sequence, the kernel has not restarted it.
 *
 * The child is no child of the program that wait() finds, and sends no signal when it ends.  If a filter of system
 * calls (seccomp(2)) kills it, or if there is no process or no memory for it, the trial has no result.  The same is
 * true if the child would be in another pid namespace than the program.
 */
#ifndef PX_RING_TRIAL_H
#define PX_RING_TRIAL_H

#define PX_TRIAL_NS 20000000 /* after this time in the child there is no result */

enum px_trial {
	PX_TRIAL_NOTHING = 0, /* no result: nobody took the CPU away in time, or the child could not do it */
	PX_TRIAL_GOOD = 1,    /* the kernel restarts sequences */
	PX_TRIAL_FAULTY = 2   /* it does not */
};

struct rseq;

/*
 * Make a trial with this area of the calling thread (px_cpu_area()).  It takes a fork(), and usually less than 5 ms
 * after it.  Keeps errno.
 */
enum px_trial px_trial_run(struct rseq *area);

#ifdef PX_TESTPOINTS
#include <stdbool.h>
extern bool px_trial_is_faulty; /* a test simulates a kernel with the fault */
#endif

#endif
