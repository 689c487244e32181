/* SPDX-License-Identifier: MIT */
/*
 * Names for the objects of calls, while a program is recorded: the symbol of a global, else the function that named the
 * object first, and how far in it.
 *
 * The library asks while it flushes, also from a thread of its own, and perhaps when the program is gone: so what is
 * loaded is looked at while it runs.
 */
#ifndef TXTRACE_LIVE_NAMER_H
#define TXTRACE_LIVE_NAMER_H

#include <sys/types.h>
#include <trace.h>
#include <trace_ext.h>

struct namer;

struct namer *namer_new(void);

/* Look at what a process has loaded just now. */
void namer_inspect(struct namer *namer, pid_t pid);

/* For txtrace_set_namer(): argument is the namer. */
int namer_name(void *argument, const struct txtrace_object *object, char *text, size_t size);

/* Nobody asks any more. */
void namer_free(struct namer *namer);

#endif
