/* SPDX-License-Identifier: MIT */
#include "threadx/ports.h"

/* The semicolon at the end is as in a port of ThreadX. */
#define TX_TRACE_PORT_EXTENSION port_nr_extensions++;
#define TX_TRACE_TIME_SOURCE ((ULONG)(port_time += 0x1000));
#define TX_TRACE_TIME_MASK 0x0000FFFFu
#define TX_TRACE_SMP
#include <tx_trace_posix.h>

unsigned int port_time, port_nr_extensions;

unsigned int port_enable(void *memory, unsigned int size, unsigned int nr_slots)
{
	return tx_trace_enable(memory, size, nr_slots);
}
