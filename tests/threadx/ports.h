/* SPDX-License-Identifier: MIT */
/* Programs that include <tx_trace_posix.h> with other definitions. */
#ifndef PX_TESTS_THREADX_PORTS_H
#define PX_TESTS_THREADX_PORTS_H

/* port.c: a 16-bit time source with an extension, as in a port for Linux, and SMP. */
extern unsigned int port_time, port_nr_extensions;
unsigned int port_enable(void *memory, unsigned int size, unsigned int nr_slots);

/* without.c: TX_DISABLE_EVENT_TRACE.  Return the number of services that do not say so. */
int without_trace(void);

#endif
