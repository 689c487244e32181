/* SPDX-License-Identifier: MIT */
/* The snapshots of a flight recorder. */
#ifndef TXTRACE_CMD_RECORD_FLIGHT_H
#define TXTRACE_CMD_RECORD_FLIGHT_H

#include "cmd/recording.h"
#include "live/snapshot.h"

/* Write a snapshot to this file. Return false, with a message, if that fails. */
bool record_flight_take(struct recording *recording, struct snapshot_file *file);

/* Write a snapshot to the next file whose name has a number. After an error, print a message. */
void record_flight_take_numbered(struct recording *recording);

#endif
