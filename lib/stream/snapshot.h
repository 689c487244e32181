/* SPDX-License-Identifier: MIT */
/*
 * A snapshot is a complete log with the events in the rings and in the log of a running stream.  The snapshot does not
 * disturb the stream: it takes no lock of the stream, and stores nothing to its memory.
 *
 * The rings are copied first (rings_copy.h).  If the stream has a log, the newest commit of the log is read after that.
 * Its checkpoint says which slots of the rings are not in the log.  The controller frees slots only after a commit that
 * has their events.  So whatever is not in this commit was still in the rings when they were copied, and no event is
 * missing or there twice.  From there on, reading is as in a recovery (recover.h), but nothing is written to the log or
 * to the rings.
 *
 * Without a log, the snapshot has what the reader of the stream has not taken yet.
 */
#ifndef PX_STREAM_SNAPSHOT_H
#define PX_STREAM_SNAPSHOT_H

#include "stream/stream.h"

/* The stream of a snapshot. */
struct px_snapshot {
	const struct px_view *view;
	struct px_attr attr;
	uint32_t index; /* index of the stream in the registry */
	struct px_registry_slot slot;
	uint32_t target_pid;
	const struct px_timeline *timeline; /* converts its counters to times */
	const struct px_namer *namer;	     /* chooses names for objects of calls; NULL: no names */
	int fd; /* descriptor of the file to write */
};

/*
 * Write a snapshot.  Return 0, ENOMEM, ENOENT (the stream or its log is gone), EACCES (the log cannot be read), EBUSY
 * (the log changes so fast that no commit could be read), or an error of writing the file.
 */
int px_snapshot_write(const struct px_snapshot *snapshot);

/*
 * Write a snapshot of the stream in this slot of our user's registry, if it still has this generation.  Return the same
 * errors, and also those of px_registry_attach().
 */
int px_snapshot_write_slot(uint32_t index, uint32_t generation, int fd);

#endif
