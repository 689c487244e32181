/* SPDX-License-Identifier: MIT */
/*
 * What is loaded into this process, so that an address in a trace can be given a name when the process is gone.
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
 * addresses and the build-id in hex digits, "-" for an object without build-id; base is what was added to the
 * addresses in the file.  Whole lines only, as many as fit; returns their length, 0 also without memory.  Thread-safe; takes a lock
 * of the dynamic linker.  Keeps errno.
 */
size_t px_modules_list(char *text, size_t size);

/*
 * Which of them an address is in, as <name>+0x<offset in the file's addresses>; false: in none.  Likewise.
 */
bool px_modules_find(uint64_t address, char *text, size_t size);

#endif
