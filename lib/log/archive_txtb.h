/* SPDX-License-Identifier: MIT */
/*
 * Read a trace buffer of ThreadX as a pre-recorded stream.  The file can be any file that the viewer accepts, in either
 * byte order.  It can also be a text: Intel HEX, S-records or bare hex digits.
 *
 * Event types: the TXTB id n becomes the event type 65536 + n.  The event types of this library have smaller numbers.
 * Known ids have ThreadX's names (TX_TRACE_QUEUE_SEND).  A user event n has the name of the object of type 15 with the
 * handle 15 << 24 | n - 4096, if the file has this object.  Otherwise it has the name TX_TRACE_USER_EVENT_<n>.  Types
 * of unknown ids have the name TX_TRACE_<n>.  The list of types has the system types, the unnamed user event, and the
 * types that occur in the file.  The core number of the SMP kernel (bits 24 to 31) is the record's cpu.
 *
 * Data: an event has four information words, which the reader converts to the byte order of this machine.  The thread
 * of an event is the context of its entry: a handle, 0xFFFFFFFF in an interrupt, or 0xF0F0F0F0 during initialization.
 * pid and address are 0.
 *
 * Time: the last event gets the time at which the file was modified.  The time of each other event is earlier, by the
 * ticks between this event and the last event.  The reader counts ticks as the viewer does: first it finds out whether
 * the stamps of this file rise or fall with time (scan.h).  Then it adds up the differences between stamps, modulo the
 * size of a stamp.  A tick has the length in the header if this library made the image, otherwise 1 us.  set_tick()
 * sets another length, from 1e-9 to 1e15 ns.  The record's counter is the number of ticks since the first event.  If a
 * time is before 1970, the reader reports 0.
 *
 * The reader scans all entries once: before it reads the first event or type, or in complete_info().  Before the scan,
 * attr.create_time (the time of the first event) and info.nr_entries are 0.  If a file is too short for its slots,
 * px_archive_txtb_open() scans it.  The record's priority is the word that the file has for it.  For a thread, bits 0
 * to 9 of the word are the thread's priority.  In an interrupt, the word is the handle of the interrupted thread.
 *
 * The name of an object may contain any bytes.
 */
#ifndef PX_LOG_ARCHIVE_TXTB_H
#define PX_LOG_ARCHIVE_TXTB_H

#include "log/archive.h"

#define PX_FOREIGN_TYPES 65536u /* the event type of TXTB id 0 */
#define PX_FOREIGN_TICK_NS 1000.0

/*
 * Open a trace buffer.  Return 0, ENOMEM, EMFILE, or EINVAL if the viewer would refuse the file.  takes_damaged: also
 * if entries are missing at the end of the file.
 */
int px_archive_txtb_open(int fd, bool takes_damaged, struct px_archive **archive);

#endif
