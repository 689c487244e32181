/* SPDX-License-Identifier: MIT */
/*
 * The preloaded objects of both word sizes, if both are installed (lib/base/other_size.h). A program gets the object of
 * its own size. Its wrappers of exec give programs of the other size the other object. Other functions execute
 * programs, too, such as system(3), and so do programs without the object. For these, LD_PRELOAD has $LIB, if the
 * dynamic loaders of both sizes find the objects by it: that depends on how a system builds its loaders.
 */
#ifndef TXTRACE_LIVE_PRELOAD_SIZES_H
#define TXTRACE_LIVE_PRELOAD_SIZES_H

#include <limits.h>
#include <stdbool.h>

/* Find the object of the other size beside this one. */
bool preload_other_size(const char *object, char other[PATH_MAX]);

/*
 * Put into `entry` what LD_PRELOAD names for a program: the object for it, or a path with $LIB for both. The caller has
 * the object of its own size, and the one of the other size, or NULL.
 */
void preload_entry(const char *object, const char *other, bool is_for_other, char entry[PATH_MAX]);

#endif
