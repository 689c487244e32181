/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include "trace/process.h"
#include "trace/tracepoint.h"

#undef posix_trace_event

PX_EXPORT const unsigned int *__posix_trace_gate = &px_gate.shared.generation;

PX_EXPORT_CALL void posix_trace_event(trace_event_id_t event_id, const void *restrict data_ptr,
				 size_t data_len)
{
	if (px_likely(!px_gate_is_open()))
		return;
	px_tracepoint_event(event_id, data_ptr, data_len, __builtin_return_address(0));
}

PX_EXPORT int posix_trace_eventid_open(const char *restrict event_name,
				       trace_event_id_t *restrict event_id)
{
	if (!event_name || !event_id)
		return EINVAL;
	return px_process_open_type(event_name, event_id);
}
