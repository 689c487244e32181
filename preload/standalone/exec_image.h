/* SPDX-License-Identifier: MIT */
/*
 * Which programs cannot load this object: those of another C library or another kind of machine.  Their dynamic
 * linker prints an error for each object that it cannot load, and may refuse to start the program.
 */
#ifndef PX_PRELOAD_STANDALONE_EXEC_IMAGE_H
#define PX_PRELOAD_STANDALONE_EXEC_IMAGE_H

#include <stdbool.h>

/*
 * Return true if the program in this file, or the interpreter of this script, cannot load this object.  Return false
 * also if the file cannot be read.  directory and path: as for openat(), also with a bad pointer; if path is NULL, the
 * file of the descriptor `directory`.  Async-signal-safe: no allocation, less than 1 KiB of stack.  Keeps errno.
 */
bool px_exec_image_refuses(int directory, const char *path);

/* As px_exec_image_refuses(), for a file that is searched for in PATH, as execvp() does.  Less than 2 KiB of stack. */
bool px_exec_image_refuses_found(const char *file);

#endif
