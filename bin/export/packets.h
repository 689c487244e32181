/* SPDX-License-Identifier: MIT */
/*
 * The packets of a trace for Perfetto: into the output, or into a temporary file that becomes a part of it.  They may
 * be compressed: then each packet of the trace holds several ones (compressed_packets), deflated.
 */
#ifndef TXTRACE_EXPORT_PACKETS_H
#define TXTRACE_EXPORT_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/output.h"

struct packets {
	struct text *text; /* NULL: the packets go to `file` */
	FILE *file;
	uint64_t size; /* of the file */
	int error;     /* of the file */
	bool compresses;
	unsigned char *bytes; /* packets that are to be compressed together */
	size_t used, room;
};

/* Return true if this tool can compress packets. */
bool packets_can_compress(void);

/* text: NULL for a temporary file.  After a failure, print a message and return false. */
bool packets_begin(struct packets *packets, struct text *text, bool compresses);

/* Add bytes to the current packet, and end it. */
void packets_put(struct packets *packets, const void *bytes, size_t size);
void packets_end_packet(struct packets *packets);

/* Write what is left.  The temporary file stays open. */
void packets_flush(struct packets *packets);

/* Copy the temporary file to the output.  After a failure, print a message and return false. */
bool packets_copy(struct packets *packets, struct text *text);

void packets_free(struct packets *packets);

#endif
