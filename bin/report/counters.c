/* SPDX-License-Identifier: MIT */
#include "report/counters.h"

#define FILEX_FIRST 200
#define NETX_FIRST 300
#define NETX_LAST 599
#define NETX_PACKET_ALLOCATED 0xAAAAAAAAu /* an allocated packet has this status */
#define ICMP_TYPE 0xFFFF0000u		  /* the bits of type and code; all are 0 in an echo reply */

static bool is_pool_empty(const struct report_event *event)
{
	return event->word[3] == 0;
}

static bool is_released_twice(const struct report_event *event)
{
	return event->word[1] != NETX_PACKET_ALLOCATED;
}

static bool is_echo_reply(const struct report_event *event)
{
	return (event->word[3] & ICMP_TYPE) == 0;
}

/* clang-format off */
const struct counter counters[] = {
	{COUNTERS_FILEX, "Media", "Media Opens", 261, -1, NULL},
	{COUNTERS_FILEX, "Media", "Media Closes", 258, -1, NULL},
	{COUNTERS_FILEX, "Media", "Media Aborts", 255, -1, NULL},
	{COUNTERS_FILEX, "Media", "Media Flushes", 203, -1, NULL},
	{COUNTERS_FILEX, "Directory", "Directory Reads", 204, -1, NULL},
	{COUNTERS_FILEX, "Directory", "Directory Writes", 205, -1, NULL},
	{COUNTERS_FILEX, "Directory", "Directory Cache Misses", 202, -1, NULL},
	{COUNTERS_FILEX, "File", "File Opens", 247, -1, NULL},
	{COUNTERS_FILEX, "File", "File Closes", 243, -1, NULL},
	{COUNTERS_FILEX, "File", "File Reads", 248, -1, NULL},
	{COUNTERS_FILEX, "File", "File Bytes Read", 248, 3, NULL},
	{COUNTERS_FILEX, "File", "File Writes", 254, -1, NULL},
	{COUNTERS_FILEX, "File", "File Bytes Written", 254, 3, NULL},
	{COUNTERS_FILEX, "Logical Sector", "Logical Sector Reads", 206, 2, NULL},
	{COUNTERS_FILEX, "Logical Sector", "Logical Sector Writes", 207, 2, NULL},
	{COUNTERS_FILEX, "Logical Sector", "Logical Sector Cache Misses", 201, -1, NULL},
	{COUNTERS_NETX, "ARP", "ARP Requests Sent", 301, -1, NULL},
	{COUNTERS_NETX, "ARP", "ARP Responses Sent", 303, -1, NULL},
	{COUNTERS_NETX, "ARP", "ARP Requests Received", 300, -1, NULL},
	{COUNTERS_NETX, "ARP", "ARP Responses Received", 302, -1, NULL},
	{COUNTERS_NETX, "Packet Pool", "Packet Pool Allocations", 386, -1, NULL},
	{COUNTERS_NETX, "Packet Pool", "Packet Pool Releases", 394, -1, NULL},
	{COUNTERS_NETX, "Packet Pool", "Empty Allocation Requests", 386, -1, is_pool_empty},
	{COUNTERS_NETX, "Packet Pool", "Packet Pool Invalid Releases", 394, -1, is_released_twice},
	{COUNTERS_NETX, "Ping", "Pings Sent", 362, -1, NULL},
	{COUNTERS_NETX, "Ping", "Ping Responses", 304, -1, is_echo_reply},
	{COUNTERS_NETX, "IP", "IP Packets Sent", 309, -1, NULL},
	{COUNTERS_NETX, "IP", "Total Bytes Sent", 309, 3, NULL},
	{COUNTERS_NETX, "IP", "IP Packets Received", 308, -1, NULL},
	{COUNTERS_NETX, "IP", "Total Bytes Received", 308, 3, NULL},
	{COUNTERS_NETX, "TCP", "TCP Client Connections", 401, -1, NULL},
	{COUNTERS_NETX, "TCP", "TCP Server Connections", 407, -1, NULL},
	{COUNTERS_NETX, "TCP", "TCP Packets Sent", 421, -1, NULL},
	{COUNTERS_NETX, "TCP", "TCP Bytes Sent", 421, 2, NULL},
	{COUNTERS_NETX, "TCP", "TCP Packets Received", 419, -1, NULL},
	{COUNTERS_NETX, "TCP", "TCP Bytes Received", 419, 2, NULL},
	{COUNTERS_NETX, "UDP", "UDP Packets Sent", 436, -1, NULL},
	{COUNTERS_NETX, "UDP", "UDP Bytes Sent", 436, 2, NULL},
	{COUNTERS_NETX, "UDP", "UDP Packets Received", 434, -1, NULL},
	{COUNTERS_NETX, "UDP", "UDP Bytes Received", 434, 3, NULL},
};
/* clang-format on */
const size_t nr_counters = sizeof(counters) / sizeof(counters[0]);
_Static_assert(sizeof(counters) / sizeof(counters[0]) <= COUNTERS_MAX, "room for all");

void counters_event(struct counts *counts, const struct report_event *event)
{
	if (!event->counts || event->native < FILEX_FIRST || event->native > NETX_LAST)
		return;
	counts->nr_events[event->native < NETX_FIRST ? COUNTERS_FILEX : COUNTERS_NETX]++;
	for (size_t i = 0; i < nr_counters; i++) {
		const struct counter *counter = &counters[i];

		if (counter->native != event->native || (counter->takes && !counter->takes(event)))
			continue;
		counts->value[i] += counter->word < 0 ? 1 : event->word[counter->word];
	}
}
