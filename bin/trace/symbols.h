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

#include "../lib/fields/fields.h"

#define SYMBOLS_WHY_BYTES 512

struct symbols;

/* Read the modules that a log lists.  Never return NULL. */
struct symbols *symbols_of_log(trace_id_t trace);

/*
 * Read the modules of a process.  It may have ended, if a stream that still exists traced it.  Return NULL if the
 * modules are not known.  is_local: nothing is asked of servers (debuginfo.h), because the caller must not wait.
 */
struct symbols *symbols_of_process(pid_t pid, bool is_local);

/*
 * Read the modules of the program of a process to which the thread with this handle belonged.  Return NULL if they are
 * not known.  Nothing is asked of servers.
 */
struct symbols *symbols_of_program(pid_t pid, unsigned int thread);

/*
 * Return true if both lists have the same program at the same addresses.  If not, the process has executed a program
 * between the two.
 */
bool symbols_is_same_program(const struct symbols *former, const struct symbols *symbols);

/*
 * Return the newer list of the modules of a program, and free the former one.  What was read of files is kept, unless a
 * module of the former list is gone.
 */
struct symbols *symbols_renew(struct symbols *former, struct symbols *symbols);

/* Return true if a module has this address. */
bool symbols_has(struct symbols *symbols, uint64_t address);

/*
 * Use the file of a program that does not run.  It has no addresses: only symbols_type() is of use.  Never return NULL.
 */
struct symbols *symbols_of_file(const char *path);
void symbols_free(struct symbols *symbols);

/*
 * Return a text for a return address: "worker+0x1c (pool.c:12)" or, without symbols, the file and an offset:
 * "pool+0x11c9".  Return NULL if no module has this address.  The text is valid until symbols_free().
 */
const char *symbols_code(struct symbols *symbols, uint64_t address);

/* Return the same without the source line, which is not read: that takes long for a large program. */
const char *symbols_site(struct symbols *symbols, uint64_t address);

/* Return true if a return address is in the program, and not in a shared object. */
bool symbols_is_program(const struct symbols *symbols, uint64_t address);

/* A function on a stack. */
struct symbols_frame {
	const char *function; /* "worker", or without symbols "pool+0x11c9" */
	const char *file;     /* without its directories; NULL: unknown */
	int line;
	bool is_inlined; /* the compiler has put it into the next function */
};

/*
 * Return the functions at a return address, the innermost first: inlined functions, and the function that contains
 * them.  *nr is their number, which is 0 if no module has this address.  The result is valid until symbols_free().
 */
const struct symbols_frame *symbols_frames(struct symbols *symbols, uint64_t address, unsigned int *nr);

/*
 * Return the variable at an address: "queue_lock", or "pool+0x40" inside a larger variable.  Return NULL if no name is
 * known.
 */
const char *symbols_data(struct symbols *symbols, uint64_t address);

/*
 * Describe a type of the program (dwarf_type.h), from the debugging information of the program, or of one of its
 * shared objects, which are for the machine of this model.  Return false if this fails; `why` is then a sentence for
 * people without the name of the type.
 */
bool symbols_type(struct symbols *symbols, const char *reference, const struct px_fields_model *model,
		  char text[PX_FIELDS_TEXT_MAX + 1], char why[SYMBOLS_WHY_BYTES]);

#endif
