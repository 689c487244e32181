/* SPDX-License-Identifier: MIT */
/* Memory as text: Intel HEX and S-records.  The records have addresses. */
#ifndef TXTRACE_EXTRACT_TEXT_H
#define TXTRACE_EXTRACT_TEXT_H

#include "extract/scan.h"
#include "input/stream.h"

/* What is wrong in a text; 0: nothing. */
struct text_faults {
	unsigned long nr_lines;	  /* lines that are not records */
	unsigned long nr_damaged; /* records whose checksum is wrong; their bytes count */
};

/* Return true if the first line of a text that begins with these bytes is a record. */
bool text_is(const unsigned char *bytes, size_t size);

/* Scan the bytes of all records.  Records whose addresses follow each other are one run. */
void text_scan(struct stream *stream, struct scan *scan, struct text_faults *faults);

#endif
