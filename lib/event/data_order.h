/* SPDX-License-Identifier: MIT */
/*
 * The byte order of the data of system events and of calls.  Their fields have the same sizes on all machines, so a
 * reader of a log with the other byte order can convert them.
 */
#ifndef PX_EVENT_DATA_ORDER_H
#define PX_EVENT_DATA_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Data after so many bytes are text, or have no number for another reason. */
#define PX_DATA_ORDER_BYTES 1024

/*
 * Change the byte order of the numbers in the data of an event: its first `size` bytes, at most PX_DATA_ORDER_BYTES of
 * them.  Leave a number alone of which bytes are missing.  is_call: the event has PX_RECORD_CALL.  The data of other
 * user events have no known layout: they stay as they are.
 */
void px_data_change_order(unsigned int id, bool is_call, unsigned char *data, size_t size);

#endif
