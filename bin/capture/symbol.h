/* SPDX-License-Identifier: MIT */
/* Where a program has a variable: from the symbols of its ELF file, and from where the stub says that it is loaded. */
#ifndef TXTRACE_CAPTURE_SYMBOL_H
#define TXTRACE_CAPTURE_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/gdb.h"

/* After a failure, print a message and return false.  *size is 0 if the symbol has none. */
bool symbol_find(struct gdb *gdb, const char *path, const char *name, uint64_t *address, uint64_t *size);

#endif
