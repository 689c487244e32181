/* SPDX-License-Identifier: MIT */
/*
 * List what is loaded into this process, so that addresses in a trace can be named after the
 * process has ended.
 */
#ifndef PX_BASE_MODULES_H
#define PX_BASE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * List the program and its shared objects as text, one line each:
 *
 *	<base> <begin> <end> <build-id> <path>
 *
 * Addresses and the build id are in hex digits; "-" if there is no build id.  base is the
 * difference between an address in memory and the address in the file.  Write only whole lines, as
 * many as fit.  Return their length, or 0 if memory is short.  Thread-safe; takes a lock of the
 * dynamic linker.  Keeps errno.
 */
size_t px_modules_list(char *text, size_t size);

/*
 * Find the object with this address, and write <name>+0x<address in the file>.  Return false if no
 * object has it.  Thread-safe; takes a lock of the dynamic linker.  Keeps errno.
 */
bool px_modules_find(uint64_t address, char *text, size_t size);

#endif
