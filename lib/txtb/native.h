/* SPDX-License-Identifier: MIT */
/*
 * What ThreadX and its middleware call the event ids of a trace buffer, and their information
 * words.  The table is txtb-events.def.
 *
 * Constant, free of pointers, so that loading the library costs nothing for it.
 */
#ifndef PX_TXTB_NATIVE_H
#define PX_TXTB_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

/* All ids of theirs are below; from 4096 up they belong to the application. */
#define PX_NATIVE_IDS 1000
#define PX_NATIVE_WORDS 4

/* The constant of this id, such as TX_TRACE_QUEUE_SEND, or NULL.  Async-signal-safe. */
const char *px_native_name(uint32_t id);

/* What information word i is called, such as queue_ptr, or NULL.  Async-signal-safe. */
const char *px_native_label(uint32_t id, unsigned int i);

/*
 * True if the viewer has a name of its own for this id, maybe another.  What it has none for it
 * shows as a user event, unless a definition names it.
 */
bool px_native_is_in_viewer(uint32_t id);

#endif
