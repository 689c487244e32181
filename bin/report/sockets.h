/* SPDX-License-Identifier: MIT */
/*
 * Connections between the programs of several traces, from the calls of sockets that were recorded.  connect and accept
 * have the addresses of both ends, so they tell which calls of two files are those of one connection:
 *
 *	connect begins		before	accept returns at the other end
 *	accept returns		before	the first receive at the end that connected
 *
 * An event of a call that did not wait has the time of its end, so the time of the thread's event before it stands for
 * its beginning.  A call that waited has an event of its beginning: a signal handler that runs during the wait may
 * record later ones.
 *
 * Loopback and link-local addresses are not those of one machine, so they are not used.  Behind a translation of
 * addresses (NAT), the two ends know other addresses, so nothing is found.  Two private networks may have the same
 * addresses, and a port is one of some 30000, so a single pair may be chance.
 */
#ifndef TXTRACE_REPORT_SOCKETS_H
#define TXTRACE_REPORT_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/source.h"

enum sockets_message { SOCKETS_CONNECT, SOCKETS_ANSWER, SOCKETS_MESSAGES };

/* An end of a message between two files. */
struct sockets_end {
	enum sockets_message message;
	bool is_sent; /* false: received */
	uint64_t key; /* of the connection */
	int64_t time_ns;
};

#define SOCKETS_ENDS_MAX 2 /* of an event */

/* Of one file. */
struct sockets {
	struct map last_of_thread; /* key: thread; value: time of its newest event */
	struct map connecting;	   /* key: thread; value: when the connect that waits began, or 0 */
	/* Key: process and descriptor; value: the connection whose first receive is to come, or 0. */
	struct map waiting;
	struct map role_of_row; /* key: address of a row in the table of calls; value: what the call tells */
};

/* Return how many ends the event tells. */
unsigned int sockets_event(struct sockets *sockets, const struct event *event,
			   struct sockets_end ends[SOCKETS_ENDS_MAX]);
void sockets_free(struct sockets *sockets);

#endif
