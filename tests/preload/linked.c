/* SPDX-License-Identifier: MIT */
/* A program that uses the library itself, and records three events of its own. */
#include <trace.h>

int main(void)
{
	trace_event_id_t id;

	if (posix_trace_eventid_open("three times", &id) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		posix_trace_event(id, &i, sizeof(i));
	return 0;
}
