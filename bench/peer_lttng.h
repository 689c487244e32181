/* SPDX-License-Identifier: MIT */
/* The peer's trace point: one field of 16 bytes. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER peer

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_lttng.h"

#if !defined BENCH_PEER_LTTNG_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define BENCH_PEER_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	peer, bytes, LTTNG_UST_TP_ARGS(const uint8_t *, data),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_array(uint8_t, data, data, 16)))

#endif

#include <lttng/tracepoint-event.h>
