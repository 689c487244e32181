/* SPDX-License-Identifier: MIT */
/* The file of a snapshot. It has its name only while a snapshot is written to it, and after that. */
#ifndef TXTRACE_LIVE_SNAPSHOT_H
#define TXTRACE_LIVE_SNAPSHOT_H

#include <limits.h>
#include <stdbool.h>

struct snapshot_file {
	char path[PATH_MAX];
	bool overwrites;
	int fd;
	char *aside; /* new name of an older file */
	unsigned long long nr_events; /* in the snapshot */
	unsigned long long nr_lost;   /* as the snapshot says */
};

/* Create the file. Return false, with a message, if that fails. */
bool snapshot_file_open(struct snapshot_file *file);

/*
 * Close the file. error: the result of the snapshot. If it failed, print a message, remove the file, restore an older
 * one, and return false.
 */
bool snapshot_file_close(struct snapshot_file *file, int error);

#endif
