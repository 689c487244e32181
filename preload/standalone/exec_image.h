/* SPDX-License-Identifier: MIT */
/*
 * Find programs that cannot load this object: they use another C library, or are for another kind of machine.  Their
 * dynamic linker prints an error for each object that it cannot load, and may refuse to start the program.
 */
#ifndef PX_PRELOAD_STANDALONE_EXEC_IMAGE_H
#define PX_PRELOAD_STANDALONE_EXEC_IMAGE_H

#include <stdbool.h>

/*
 * Return true if the program in this file, or the interpreter of this script, cannot load this object.  Also return
 * false if the file cannot be read.  directory and path have the same meaning as in openat(), and path may be a bad
 * pointer.  If path is NULL, check the file of the descriptor `directory`.  Async-signal-safe: the function allocates
 * nothing, and uses less than 1 KiB of stack.  Keeps errno.
 */
bool px_exec_image_refuses(int directory, const char *path);

/*
 * Do the same as px_exec_image_refuses(), but search for the file in PATH, as execvp() does.  The function uses less
 * than 2 KiB of stack.
 */
bool px_exec_image_refuses_found(const char *file);

#endif
