/* SPDX-License-Identifier: MIT */
/*
 * Names for the objects of calls while a program is recorded. A global object has the name of its symbol. Any other
 * object is named after the function and the offset of its first call.  If it is in shared memory, the name ends with
 * its place in that memory, such as "main+0x6a in 00:01:4711+0x40".  Readers of the log find it by this place in all
 * processes.
 *
 * The library asks for names during a flush. A flush may run in the flush thread, and it may run after the program has
 * ended. So the tool must read the list of modules while the program runs.
 */
#ifndef TXTRACE_LIVE_NAMER_H
#define TXTRACE_LIVE_NAMER_H

#include <sys/types.h>
#include <trace.h>
#include <trace_ext.h>

struct namer;

struct namer *namer_new(void);

/* Read the loaded modules and the shared memory of the process.  If it has ended, keep what was read before. */
void namer_inspect(struct namer *namer, pid_t pid);

/* The function that the tool passes to txtrace_set_namer(). `argument` is the namer. */
int namer_name(void *argument, const struct txtrace_object *object, char *text, size_t size);

/*
 * Return the number of processes that had ended before the tool could read their modules, so that their objects have
 * addresses instead of names.
 */
unsigned int namer_count_unread(struct namer *namer);

/* Call this only after the stream has ended. */
void namer_free(struct namer *namer);

#endif
