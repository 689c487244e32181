/* SPDX-License-Identifier: MIT */
/*
 * The programs that children of vfork() execute.  Such a child uses the memory and the thread of its parent, which is
 * blocked meanwhile: an event that the child records would be an event of a thread without a CPU.  So the child only
 * notes the program, and the parent records an event txtrace_vfork_exec at its next call that makes a process, waits
 * for one, or ends.  All functions keep errno and are async-signal-safe.
 */
#ifndef PX_PRELOAD_WRAP_VFORK_EXEC_H
#define PX_PRELOAD_WRAP_VFORK_EXEC_H

#include "base/atomic.h"
#include "base/compiler.h"

extern uint32_t px_vfork_exec_nr_noted __attribute__((visibility("hidden")));

/* In a child of vfork: it executes this program now.  If too many programs are noted already, this one is left out. */
void px_vfork_exec_note(const char *path, void *caller);

/* The same child could not execute the program that it noted last: execvp() tries several ones. */
void px_vfork_exec_withdraw(void);

void px_vfork_exec_record_noted(void);

PX_INLINE void px_vfork_exec_record(void)
{
	if (px_unlikely(px_read_once(&px_vfork_exec_nr_noted) != 0))
		px_vfork_exec_record_noted();
}

/* In a child made by fork: the notes are those of its parent. */
void px_vfork_exec_forget(void);

#endif
