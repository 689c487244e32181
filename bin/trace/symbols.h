/* SPDX-License-Identifier: MIT */
/*
 * Addresses of a traced program as names: from the list of what it had loaded, in a log or in /proc, and from the
 * symbols and line numbers of those files, where the tool was built with libdw.  A file that is not the one that was
 * loaded, by its build-id, is not asked.
 */
#ifndef TXTRACE_TRACE_SYMBOLS_H
#define TXTRACE_TRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>

struct symbols;

/* What this log says that was loaded.  Never NULL. */
struct symbols *symbols_of_log(trace_id_t trace);

/* What a process has loaded just now; NULL: it is gone, or may not be looked at. */
struct symbols *symbols_of_process(pid_t pid);
void symbols_free(struct symbols *symbols);

/*
 * Where a call returns to: "worker+0x1c (pool.c:12)", or as much of it as is known, at least the file, "pool+0x11c9".
 * NULL: the address is in none.  Valid for as long as the symbols are.
 */
const char *symbols_code(struct symbols *symbols, uint64_t address);

/* What stands there: "queue_lock", or "pool+0x40" inside a larger one.  NULL: nothing that has a name. */
const char *symbols_data(struct symbols *symbols, uint64_t address);

#endif
