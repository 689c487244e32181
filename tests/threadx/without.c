/* SPDX-License-Identifier: MIT */
#include "threadx/ports.h"

#define TX_DISABLE_EVENT_TRACE
#include <tx_trace_posix.h>

int without_trace(void)
{
	static ULONG memory[200];
	int nr_others = 0;

	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, memory, "queue", 1, 2)
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, memory, 1, 2, 3, TX_TRACE_QUEUE_EVENTS)
	TX_TRACE_OBJECT_UNREGISTER(memory)
	tx_trace_isr_enter_insert(1);
	tx_trace_isr_exit_insert(1);
	nr_others += tx_trace_enable(memory, sizeof(memory), 1) != TX_FEATURE_NOT_ENABLED;
	nr_others += tx_trace_disable() != TX_FEATURE_NOT_ENABLED;
	nr_others += tx_trace_event_filter(1) != TX_FEATURE_NOT_ENABLED;
	nr_others += tx_trace_event_unfilter(1) != TX_FEATURE_NOT_ENABLED;
	nr_others += tx_trace_buffer_full_notify(TX_NULL) != TX_FEATURE_NOT_ENABLED;
	nr_others += tx_trace_user_event_insert(4096, 1, 2, 3, 4) != TX_FEATURE_NOT_ENABLED;
	return nr_others;
}
