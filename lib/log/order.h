/* SPDX-License-Identifier: MIT */
/*
 * Logs of other machines.  A writer stores numbers in its own byte order.  All structures of a log (format.h, frame.h)
 * have the same members at the same offsets on all machines, so a reader has nothing to do but to change the order of
 * the bytes, and does that as soon as it has read a structure.
 *
 *	structure		who converts it
 *	header of the image	format.c
 *	header, commit, footer	format.c
 *	object slot		px_log_read_objects()
 *	header of a frame	archive_frames_find.c
 *	entry			archive_frames.c; but its information words stay as they are: they may be data
 *	event name, wrapper	archive_log.c
 *
 * What follows the header of a frame are varints, and the data of events.  The data of user events stay as the writer
 * had them: only who knows their layout can convert them (struct px_archive_info, member model).  The data of system
 * events and of calls have a known layout, so archive_log_events.c converts them (event/data_order.h).
 *
 * Each of these functions changes the byte order.
 */
#ifndef PX_LOG_ORDER_H
#define PX_LOG_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "log/format.h"

/* Return true if the writer of the log had the other byte order.  The header is that of px_log_find(). */
bool px_log_is_swapped(const struct px_log_header *header);

void px_order_image(struct px_txtb_header *image);
void px_order_header(struct px_log_header *header);
void px_order_commit(struct px_log_commit *commit);
void px_order_footer(struct px_log_footer *footer);
void px_order_frame(struct px_log_frame *frame);
void px_order_object(struct px_txtb_object *object);

/* Leaves the information words alone. */
void px_order_entries(struct px_txtb_entry *entries, size_t nr);
void px_order_words(uint32_t *words, size_t nr);
void px_order_name(struct px_log_name *name);
void px_order_wrapper(struct px_wrapper_sum *sum);

/*
 * Clear the high half of the nanoseconds of a time: earlier builds for machines of 32 bits had only the low half of it,
 * and anything in the high one.
 */
void px_order_settle_times(struct px_attr *attr);

#endif
