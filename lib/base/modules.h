/* SPDX-License-Identifier: MIT */
/*
 * List the program and the shared objects that are loaded into this process.  With this list a
 * reader of the trace can find the symbols of addresses after the process has ended.
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
 * Addresses and the build id are in hex digits.  If an object has no build id, the line has "-" instead. base is the
 * difference between an address in memory and the address in the file.  Write as many whole lines as fit.  Return their
 * total length, or 0 if there is no memory for the buffers.  Thread-safe; takes a lock of the dynamic linker.  Keeps
 * errno.
 */
size_t px_modules_list(char *text, size_t size);

/*
 * Find the loaded object that contains this address, and write <name>+0x<address in the file>.  Cut
 * the name off after 24 characters.  Return false if no object contains the address.  Thread-safe;
 * takes a lock of the dynamic linker.  Keeps errno.
 */
bool px_modules_find(uint64_t address, char *text, size_t size);

#endif
