/* SPDX-License-Identifier: MIT */
/*
 * The output of an exporter that makes a directory.  The directory is made under a temporary name beside the final
 * name, and gets the final name when it is complete.  So neither a failure nor a signal leaves an incomplete directory
 * under the final name.
 */
#ifndef TXTRACE_EXPORT_DIRECTORY_H
#define TXTRACE_EXPORT_DIRECTORY_H

#include <stdbool.h>

#include "export/export.h"

struct directory {
	char *around; /* the temporary directory */
	char *path;   /* in it: the exporter makes this directory */
};

/* After a failure, also if the final name is taken, print a message and return false. */
bool directory_begin(struct directory *directory, const struct export *export);

/*
 * Give the directory its final name if is_complete is true, or else remove it with all that it contains.  If it cannot
 * get the name, print a message and return false.
 */
bool directory_end(struct directory *directory, const struct export *export, bool is_complete);

#endif
