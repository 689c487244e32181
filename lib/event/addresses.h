/* SPDX-License-Identifier: MIT */
/*
 * Addresses in the data of the calls of sockets.  An event of connect or accept has the address of the peer, and behind
 * it that of this end of the connection, if both are of one of these families (calls.h, kind a).
 */
#ifndef PX_EVENT_ADDRESSES_H
#define PX_EVENT_ADDRESSES_H

#include <netinet/in.h>
#include <sys/socket.h>

/* Return the size of an address of this family, or 0 if a second one never follows it. */
static inline size_t px_address_bytes(sa_family_t family)
{
	switch (family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

#endif
