/* SPDX-License-Identifier: MIT */
/* The LTTng-UST trace points, with 16 and 64 bytes.  The macros of LTTng-UST include this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER posixtrace_peer

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "peer_lttng.h"

#if !defined BENCH_PEER_LTTNG_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define BENCH_PEER_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	posixtrace_peer, bytes16, LTTNG_UST_TP_ARGS(const unsigned char *, data),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(unsigned char, data, data, 16)))

LTTNG_UST_TRACEPOINT_EVENT(
	posixtrace_peer, bytes64, LTTNG_UST_TP_ARGS(const unsigned char *, data),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(unsigned char, data, data, 64)))

#endif

#include <lttng/tracepoint-event.h>
