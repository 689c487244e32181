/* SPDX-License-Identifier: MIT */
/*
 * The version of everything that processes share: the registry, the segments, the files of checkpoints, names and
 * mappings, and the System V tables of names.  Raise it with each change of one of their layouts.
 *
 * It is part of the name of each file in the directory of the registry, and of each magic word.  So libraries of
 * different layouts use one directory without seeing each other's files: after an upgrade, programs that still run
 * with the old library are traced by the old tool, and new programs by the new one.  No process removes a file of
 * another layout, because it cannot know whether a program still uses it.
 *
 * Processes of both word sizes of x86 share it, too.  So its layouts must not depend on the word size.  They have no
 * pointer.  i386 aligns a member of 64 bits to 4 bytes; where that is not a multiple of 8, the member is a
 * px_wide_word.
 *
 * The tool uses this file, too.
 */
#ifndef PX_BASE_LAYOUT_H
#define PX_BASE_LAYOUT_H

#include <stdint.h>

#define PX_LAYOUT 66

#define PX_LAYOUT_TEXT_OF(number) #number
#define PX_LAYOUT_TEXT(number) PX_LAYOUT_TEXT_OF(number)

/* The beginning of the names of files of this kind. */
#define PX_LAYOUT_PREFIX(kind) kind "." PX_LAYOUT_TEXT(PX_LAYOUT) "."

#define PX_LAYOUT_REGISTRY "registry." PX_LAYOUT_TEXT(PX_LAYOUT)

/* A magic word: the layout, and seven bytes that tell the kind. */
#define PX_LAYOUT_MAGIC(kind) ((uint64_t)PX_LAYOUT << 56 | UINT64_C(kind))

typedef uint64_t px_wide_word __attribute__((aligned(8)));

#endif
