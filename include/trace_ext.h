/* SPDX-License-Identifier: MIT */
/*
 * <trace_ext.h>: what posixtrace offers beyond POSIX.  All functions return 0 or an error number, and are
 * thread-safe.
 */
#ifndef POSIXTRACE_TRACE_EXT_H
#define POSIXTRACE_TRACE_EXT_H

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The number of rings of a stream.  0, the default: one for each CPU, so that threads do not wait for each
 * other's cache lines.  1: one ring for all, of exactly the stream's size.  posix_trace_get_attr() tells how
 * many there are; when memory is short there may be fewer than asked for.  EINVAL: bad attr, NULL, more than
 * 1024.
 */
int txtrace_attr_setrings(trace_attr_t *__attr, unsigned int __nr_rings);
int txtrace_attr_getrings(const trace_attr_t *__posix_trace_restrict __attr,
			  unsigned int *__posix_trace_restrict __nr_rings);

/* Events lost since the stream was created or cleared.  Reading it resets nothing. */
struct txtrace_loss {
	unsigned long long overwritten; /* by newer events, before they were read (LOOP) */
	unsigned long long dropped;	/* there was no room for them */
	unsigned long long abandoned;	/* their writer was killed, or stopped, while it wrote them */
	unsigned long long __reserved[5];
};

/*
 * overwritten is counted as the reader meets the gaps, so it is complete when all events are read.  EINVAL:
 * trid is no active stream of this process, or loss is NULL.
 */
int txtrace_get_loss(trace_id_t __trid, struct txtrace_loss *__loss);

/*
 * A copy of one ring of an active stream as a TXTB image that TraceX opens: oldest event first, without the
 * events that are being written just now.  The ring is numbered from 0.  *length is the size of the image,
 * also where size is too small for it: then ENOSPC, and nothing is copied.  *tick_ns is the length of a
 * tick.  Nothing is consumed.  EINVAL: bad trid or ring, NULL.  buffer may be NULL when size is 0.
 */
int txtrace_copy_ring(trace_id_t __trid, unsigned int __ring, void *__buffer, size_t __size,
		      size_t *__length, double *__tick_ns);

#ifdef __cplusplus
}
#endif

#endif
