/* SPDX-License-Identifier: MIT */
/*
 * The names that ThreadX and its middleware give to the event ids of a trace buffer and to their
 * information words, from the table txtb-events.def.
 *
 * The data is constant and free of pointers, so it adds nothing to the time to load the library.
 */
#ifndef PX_TXTB_NATIVE_H
#define PX_TXTB_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

/* All ids of ThreadX and its middleware are below.  Ids from 4096 belong to the application. */
#define PX_NATIVE_IDS 1000
#define PX_NATIVE_WORDS 4

/*
 * Return the name of the id's constant, such as TX_TRACE_QUEUE_SEND, or NULL.  Async-signal-safe.
 */
const char *px_native_name(uint32_t id);

/* Return the name of information word i, such as queue_ptr, or NULL.  Async-signal-safe. */
const char *px_native_label(uint32_t id, unsigned int i);

/*
 * Return true if the viewer has its own name for this id, possibly a different one.  The viewer
 * shows other ids as user events, unless a definition names them.
 */
bool px_native_is_in_viewer(uint32_t id);

#endif
