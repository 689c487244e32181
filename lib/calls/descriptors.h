/* SPDX-License-Identifier: MIT */
/*
 * Which object a descriptor of a process refers to: what the process opened, duplicated and closed, what it inherited,
 * and what was left when it executed a program.
 *
 * A child of fork() has the descriptors that its parent had at that time.  They are not copied, because a process may
 * have thousands of descriptors, and thousands of children.  Instead, a descriptor that a child has no key for is
 * looked up in its parent, as it was when the child began.  For that:
 *
 *  - Before a descriptor of the parent changes, the children that began since it was opened get keys of their own.
 *  - A descriptor that the parent has opened since is none of the child.
 *  - If a process closes a descriptor that it inherited, its key then refers to the process itself, which says that the
 *    descriptor is closed.
 *
 * A program that a process executes has the descriptors that the calls did not mark as closed by execve().  A child of
 * vfork() or posix_spawn() has none here, because what it did before it executed its program was not recorded.
 *
 * When a process begins is known from a record of the child, or of its parent, whichever comes first.  The record also
 * tells when the parent called fork().  What other threads of the parent changed between these times is not known in
 * the child.  If the table had to forget a process, or a descriptor of it, what it inherited is not known either.  If
 * events were lost (px_call_objects_lose_descriptors()), nothing is known of any descriptor.  Then it has no object,
 * which never is a wrong one.
 *
 * All functions work on the tables of objects.h, whose rules for memory and threads apply.
 */
#ifndef PX_CALLS_DESCRIPTORS_H
#define PX_CALLS_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/objects.h"

/* Who told that a process began. */
enum px_teller { PX_TOLD_BY_NOBODY = 0, PX_TOLD_BY_PARENT = 1, PX_TOLD_BY_CHILD = 2 };

/* A process that begins. */
struct px_descriptors_child {
	uint32_t parent; /* 0: not known */
	uint32_t pid;
	uint64_t began_ticks; /* not later than the fork() */
	bool inherits;	      /* the descriptors of the parent; otherwise it has none that are known */
};

/* Return the element of a process, or NULL if nothing is known of it. */
struct px_call_object *px_descriptors_process(struct px_call_objects *objects, uint32_t pid);

/* The same, but add the process if it is not known. */
struct px_call_object *px_descriptors_make_process(struct px_call_objects *objects, uint32_t pid);

/* Return the object of a descriptor, or NULL if the descriptor is closed or not known. */
struct px_call_object *px_descriptors_at(struct px_call_objects *objects, uint32_t pid, int fd);

/* Let the descriptor, which is new, refer to this object.  An earlier object of this number is closed. */
void px_descriptors_open(struct px_call_objects *objects, uint32_t pid, int fd, struct px_call_object *object);
void px_descriptors_close(struct px_call_objects *objects, uint32_t pid, int fd);

/* Store whether execve() closes the descriptor. */
void px_descriptors_end_with_exec(struct px_call_objects *objects, uint32_t pid, int fd, bool ends);

/*
 * A process has begun.  Forget what is known of an earlier process with its pid, also its objects in memory.  Both the
 * parent and the child may tell this: what is told second changes nothing.
 */
void px_descriptors_begin_process(struct px_call_objects *objects, const struct px_descriptors_child *child,
				  enum px_teller teller);

/* The process has executed a program.  If it has ended before, this is another process. */
void px_descriptors_execute(struct px_call_objects *objects, uint32_t pid);

/*
 * The program of the process tells that it was executed by the path with this hash.  If the last program told to
 * execute another one, or none, a program that is not traced was between them.  What that one did is not known.
 */
void px_descriptors_execute_as(struct px_call_objects *objects, uint32_t pid, uint64_t path_hash);

/* The process ends, but its other threads may still record calls.  The next program of this pid is another process. */
void px_descriptors_end_process(struct px_call_objects *objects, uint32_t pid);

/*
 * Another process has waited for the end of this one: forget its objects in memory, and all that is known of it, unless
 * children of it may need its descriptors.
 */
void px_descriptors_reap_process(struct px_call_objects *objects, uint32_t pid);

#endif
