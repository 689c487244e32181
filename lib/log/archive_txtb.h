/* SPDX-License-Identifier: MIT */
/*
 * A trace buffer of ThreadX as a pre-recorded stream: any file that the viewer accepts, in either
 * byte order, also as Intel HEX, S-records or bare hex digits.
 *
 * Event types: id 65536 + n for the TXTB id n, so that they never meet the ids of POSIX.  Known ids
 * have ThreadX's names (TX_TRACE_QUEUE_SEND); a user event has the name of an object of type 15
 * with the handle 15 << 24 | n - 4096 if there is one, else TX_TRACE_USER_EVENT_<n>; others
 * TX_TRACE_<n>.  The list of types holds the system types, the unnamed user event, and what occurs.
 * The core number of the SMP kernel (bits 24 to 31) is the record's cpu.
 *
 * Data: the four information words, in the byte order of this machine.  The thread is the context:
 * a handle, 0xFFFFFFFF in an interrupt, 0xF0F0F0F0 during initialization.  pid and address are 0.
 *
 * Time: the last event has the time at which the file was modified, the others lie before it by
 * their relative ticks, computed as the viewer does: the vote on the direction, wraps modulo the
 * mask.  A tick is 1 us unless set otherwise, from 1e-9 to 1e15 ns.  The record's counter is the
 * relative tick.  What would lie before 1970 has the time 0.
 *
 * All entries are surveyed once, at the first look at an event or a type, or by complete_info().
 * attr.create_time, the time of the first event, is 0 before, as info.nr_entries is.  A file that
 * is too short for its slots is surveyed when it is opened.  The record's priority is the word of
 * the file: bits 0 to 9 are a thread's, and in an interrupt it is the handle of the interrupted
 * thread.
 *
 * An object's name is as the file has it, any bytes.
 */
#ifndef PX_LOG_ARCHIVE_TXTB_H
#define PX_LOG_ARCHIVE_TXTB_H

#include "log/archive.h"

#define PX_FOREIGN_TYPES 65536u /* event type of TXTB id 0 */
#define PX_FOREIGN_TICK_NS 1000.0

/* Open it.  EINVAL: the viewer would refuse it.  ENOMEM, EMFILE. */
int px_archive_txtb_open(int fd, struct px_archive **archive);

#endif
