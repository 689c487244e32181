/* SPDX-License-Identifier: MIT */
/*
 * The names of event ids and of information words, as ThreadX and its middleware use them in a
 * trace buffer.  They come from the table txtb-events.def.
 *
 * The data is constant and has no pointers, so the dynamic linker has nothing to relocate when it
 * loads the library.
 */
#ifndef PX_TXTB_NATIVE_H
#define PX_TXTB_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The ids of ThreadX and its middleware are below PX_NATIVE_IDS.  Ids from 4096 belong to the
 * application.
 */
#define PX_NATIVE_IDS 1000
#define PX_NATIVE_WORDS 4

/*
 * Return the name of the constant with this id, such as TX_TRACE_QUEUE_SEND.  Return NULL if no constant has this id.
 * Async-signal-safe.
 */
const char *px_native_name(uint32_t id);

/*
 * Return the name of information word i of this event id, such as queue_ptr.  Return NULL if the word has no name.
 * Async-signal-safe.
 */
const char *px_native_label(uint32_t id, unsigned int i);

/*
 * Return true if the viewer has its own name for this id.  That name may differ from px_native_name().  The viewer
 * shows all other ids as user events without a name, unless its custom event file defines a name.
 */
bool px_native_is_in_viewer(uint32_t id);

#endif
