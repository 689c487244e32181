/* SPDX-License-Identifier: MIT */
/*
 * The state of threads and processes, from /proc/<id>.  Async-signal-safe: the functions make only system calls,
 * allocate nothing, and are not cancellation points.  Keeps errno.
 */
#ifndef PX_BASE_PROCFS_H
#define PX_BASE_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum px_procfs {
	PX_PROCFS_GONE, /* does not exist, is a zombie, or is exiting: will not run again */
	PX_PROCFS_STOPPED, /* a signal or a debugger has stopped it */
	PX_PROCFS_RUNNING  /* may run, now or later */
};

enum px_procfs px_procfs_of(uint32_t tid);

/* Return why this process cannot read /proc, or 0. */
int px_procfs_check(void);

/*
 * Return true unless the thread is gone. tid may have any value, because another process may have
 * written it to shared memory.
 */
bool px_procfs_has(uint32_t tid);

/* The type of px_procfs_has(), for functions that get it as a parameter. */
typedef bool px_procfs_asked(uint32_t tid);

/* Open /proc/<pid><name>, for example with the name "/task".  Return a descriptor, or -1 with errno. */
int px_procfs_open(uint32_t pid, const char *name);

/* Return the start time of the process in clock ticks since boot, or 0 if it is unknown. */
uint64_t px_procfs_start(uint32_t pid);

/*
 * Pack a pid and a start time into one word for shared memory.  Return 0 if the start time is
 * unknown (0) or has more than 42 bits.
 */
PX_INLINE uint64_t px_procfs_word(uint32_t pid, uint64_t start)
{
	return start != 0 && start >> 42 == 0 ? (uint64_t)pid << 42 | start : 0;
}

/* Return true unless the process that px_procfs_word() packed into this word is gone. */
bool px_procfs_has_word(uint64_t word);

/*
 * Ask a thread of this process that has not ended; prefer the first thread, which has the pid as its id.  What /proc
 * shows of a process (mappings, name spaces), it shows only through such a thread.  The function returns its answer,
 * or -EAGAIN if it has found nothing: then the thread may have ended meanwhile, and another one is asked.  The same
 * thread is asked again too, after a pause: during an exec, a thread has no memory for a moment, and a thread that is
 * not the first one takes over the pid.  Return the answer, -ESRCH if all threads have ended, or -EPERM if a thread
 * that runs has no answer.
 */
typedef int px_procfs_question(uint32_t tid, const void *data);

int px_procfs_ask(uint32_t pid, px_procfs_question *ask, const void *data);

/*
 * Return the current time in the unit of px_procfs_start(): clock ticks since boot, as this time
 * namespace counts them.
 */
uint64_t px_procfs_now(void);

/*
 * Return false if the first thread of this process has not ended.  This needs no descriptor: a
 * program may expect that it gets the lowest free number from its next open().
 */
bool px_procfs_may_miss_first_thread(void);

/*
 * Return the number of threads of this process.  The first thread counts even if it has ended.  Return 0 if the number
 * is unknown.  This needs no descriptor.
 */
uint32_t px_procfs_nr_threads(void);

/* Return the exit status of the first thread of this process, which has ended.  Return 0 if it is unknown. */
int px_procfs_exit_status(void);

/*
 * Return true if a thread of this process has not ended, and has another name or another signal mask than the calling
 * thread.  Also return true if this is unknown.
 */
bool px_procfs_has_different_threads(void);

/*
 * Return true if this thread has another user, other groups, capabilities or filters of system calls than the calling
 * thread.  Also return true if this is unknown.  Needs little stack.
 */
bool px_procfs_has_other_rights(uint32_t tid);

/*
 * Set *parent to the pid of the parent process, or to 0 if the process has no parent.  Set *start
 * to the start time of the process itself.  Return false if /proc/<pid>/stat cannot be read.
 */
bool px_procfs_parent(uint32_t pid, uint32_t *parent, uint64_t *start);

/*
 * Read the title that the process has given itself, as setproctitle() does: its first argument, if that has several
 * words and is no path.  Write at most size - 1 characters and a null.  Return the length, or 0 if there is no title.
 */
size_t px_procfs_title(uint32_t pid, char *title, size_t size);

/*
 * Read the first line of /proc/<pid>/task/<tid>/<name>, without its newline.  Write at most size - 1 characters and a
 * null.  Return false if the file cannot be read, or if it is empty.  Then the text is empty.
 */
bool px_procfs_task_line(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size);

/* Return true if a filter of system calls (seccomp) holds for this process, or if this is unknown. */
bool px_procfs_is_filtered(void);

/*
 * Return the number of the pid namespace of this process, or 0 if it is unknown.  The same pid
 * means different processes in different namespaces.
 */
uint32_t px_procfs_pid_namespace(void);

/*
 * Return true if children of this thread are born in its own pid namespace.  They are not after
 * unshare(CLONE_NEWPID) or setns().  Also return false if this is unknown.
 */
bool px_procfs_keeps_children(void);

/*
 * Return true if the process with this pid exists and has this start time.  A start time of 0 is
 * unknown and matches any other.  In each time namespace a process has another start time, so any
 * matches if the process is in another one than the caller.
 */
bool px_procfs_is_same(uint32_t pid, uint64_t start);

#endif
