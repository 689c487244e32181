/* SPDX-License-Identifier: MIT */
/* What process.c, process_attach.c and process_names.c share. */
#ifndef PX_TRACE_PROCESS_PRIVATE_H
#define PX_TRACE_PROCESS_PRIVATE_H

#include "trace/process.h"

/*
 * True if the program got rights from its file (AT_SECURE) that its invoker may not have.  The kernel lets only root
 * trace such a program with ptrace(2).  So the program attaches only streams that it creates itself, and its children
 * made by fork() attach only streams of their parent.
 */
extern bool px_process_is_secure;

/*
 * Find out the identity of this process.  Several threads, and a child of vfork, may run this function at the same
 * time. They all write the same values.
 */
void px_process_identify(struct px_self *self);

/*
 * A process that had no free descriptor at its start could not read its start time from /proc.
 * Without the start time other processes do not find this process, so read it as soon as possible.
 * Without /proc there is neither a start time nor a pid namespace: then do nothing.
 */
void px_process_identify_late(struct px_self *self);

/* In a child made by fork: return true if a stream traced the parent.  Then the child has copies of its views. */
bool px_process_parent_was_traced(void);

/* Read the slot.  Return true if its stream traces this process. */
bool px_process_traces_us(const struct px_self *self, uint32_t index, struct px_registry_slot *slot,
			  const struct px_process_id *us);

/*
 * Enter this process in its shared name table, so that other processes know that it uses the table
 * (shared_names.h).
 */
void px_process_enter_shared_names(void);

/*
 * An event id must have the same meaning in the stream and in this process.  So both must use the
 * same shared name table.  If this process has none yet, it attaches the stream's table.
 *
 * This function does not take the registry's lock.  At the same time, a controller may create
 * another stream for this process, and it must choose the same table.  The controller looks first
 * for existing streams of this process, and then for a table that this process has attached.  This
 * process works in the other order: it attaches the table, and then checks that the stream still
 * exists.  If the stream is gone, the controller may have found neither the stream nor the table,
 * and may have chosen another table.  Then this process gives the table up.
 */
int px_process_share_names(uint32_t index, const struct px_registry_slot *slot);

#endif
