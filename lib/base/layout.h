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
 * The tool uses this file, too.
 */
#ifndef PX_BASE_LAYOUT_H
#define PX_BASE_LAYOUT_H

#define PX_LAYOUT 63

#define PX_LAYOUT_TEXT_OF(number) #number
#define PX_LAYOUT_TEXT(number) PX_LAYOUT_TEXT_OF(number)

/* The beginning of the names of files of this kind. */
#define PX_LAYOUT_PREFIX(kind) kind "." PX_LAYOUT_TEXT(PX_LAYOUT) "."

#define PX_LAYOUT_REGISTRY "registry." PX_LAYOUT_TEXT(PX_LAYOUT)

/* A magic word: the layout, and seven bytes that tell the kind. */
#define PX_LAYOUT_MAGIC(kind) ((uint64_t)PX_LAYOUT << 56 | UINT64_C(kind))

#endif
