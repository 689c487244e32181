/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses of a traced program.  The list of its modules comes from a log or from /proc.  If the tool has
 * libdw, symbols and line numbers come from the files of the modules.  The tool does not use a file whose build id
 * differs from the build id of the loaded module.
 */
#ifndef TXTRACE_TRACE_SYMBOLS_H
#define TXTRACE_TRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace.h>

struct symbols;

/* Read the modules that a log lists.  Never return NULL. */
struct symbols *symbols_of_log(trace_id_t trace);

/*
 * Read the modules of a running process.  Return NULL if the process has ended, or if the tool may not read its
 * mappings.
 */
struct symbols *symbols_of_process(pid_t pid);
void symbols_free(struct symbols *symbols);

/*
 * Return a text for a return address: "worker+0x1c (pool.c:12)" or, without symbols, the file and an offset:
 * "pool+0x11c9".  Return NULL if no module has this address.  The text is valid until symbols_free().
 */
const char *symbols_code(struct symbols *symbols, uint64_t address);

/*
 * Return the variable at an address: "queue_lock", or "pool+0x40" inside a larger variable.  Return NULL if no name is
 * known.
 */
const char *symbols_data(struct symbols *symbols, uint64_t address);

#endif
