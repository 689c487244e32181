/* SPDX-License-Identifier: MIT */
/*
 * Names for the objects of calls while a program is recorded: the symbol of a global object, or the function and offset
 * of its first call.
 *
 * The library asks for names during a flush. This can happen in the flush thread, and after the program has ended. So
 * the list of modules must be read while the program runs.
 */
#ifndef TXTRACE_LIVE_NAMER_H
#define TXTRACE_LIVE_NAMER_H

#include <sys/types.h>
#include <trace.h>
#include <trace_ext.h>

struct namer;

struct namer *namer_new(void);

/* Read the loaded modules of the process. */
void namer_inspect(struct namer *namer, pid_t pid);

/* The function for txtrace_set_namer(); argument is the namer. */
int namer_name(void *argument, const struct txtrace_object *object, char *text, size_t size);

/* Call this only after the stream has ended. */
void namer_free(struct namer *namer);

#endif
