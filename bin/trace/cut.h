/* SPDX-License-Identifier: MIT */
/* Trace buffers of ThreadX whose file was cut.  TraceX refuses them, and so does the library. */
#ifndef TXTRACE_TRACE_CUT_H
#define TXTRACE_TRACE_CUT_H

/*
 * If the file is a trace buffer that ends before its last entry, print how many entries it has, and return the
 * descriptor of a copy whose header ends the buffer after the last whole entry.  Otherwise return -1.
 */
int cut_open(const char *path, int fd);

#endif
