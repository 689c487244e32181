/* SPDX-License-Identifier: MIT */
/*
 * Find programs that cannot load this object: they use another C library, or are for another kind of machine or another
 * word size.  Their dynamic linker prints an error for each object that it cannot load, and may refuse to start the
 * program.
 */
#ifndef PX_PRELOAD_STANDALONE_EXEC_IMAGE_H
#define PX_PRELOAD_STANDALONE_EXEC_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#define PX_IMAGE_PATH_MAX 1024

enum px_image {
	PX_IMAGE_FINE,	    /* it can load this object, or the file cannot be read */
	PX_IMAGE_REFUSES,   /* it cannot load this object */
	PX_IMAGE_OTHER_SIZE /* it can load the object of the other word size (base/other_size.h) */
};

/*
 * Inspect the program in this file, or the interpreter of this script.  directory and path have the same meaning as in
 * openat(), and path may be a bad pointer.  If path is NULL, inspect the file of the descriptor `directory`.
 * Async-signal-safe: the function allocates nothing, and uses less than 1 KiB of stack.  Keeps errno.
 */
enum px_image px_exec_image(int directory, const char *path);

/* Do the same as px_exec_image(), but search for the file in PATH, as execvp() does.  Uses less than 3 KiB of stack. */
enum px_image px_exec_image_found(const char *file);

/*
 * Put the path of the object of the other word size into `path`, if it is installed beside this object, which has the
 * path `own`.  Otherwise return false.  Async-signal-safe.  Keeps errno.
 */
bool px_exec_image_other_object(const char *own, char path[PX_IMAGE_PATH_MAX]);

#endif
