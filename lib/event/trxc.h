/* SPDX-License-Identifier: MIT */
/*
 * The file in which TraceX looks for the names of user events, tracex_custom.trxc.
 *
 * TraceX splits a line at every comma, wants 13 fields none of which is empty, a parenthesis at exactly
 * its place, and two colours, of which it shows the first under white text.  One wrong line makes the
 * load of every trace fail, so names are made to fit.
 */
#ifndef PX_EVENT_TRXC_H
#define PX_EVENT_TRXC_H

#include <stddef.h>

/* Text that is written into a buffer as far as that goes; length counts all of it. */
struct px_trxc {
	char *buffer;
	size_t size;
	size_t length;
};

void px_trxc_begin(struct px_trxc *trxc);

/*
 * A user event: its TXTB id, its name, and what its information words are called.  label NULL, or one of
 * the four: bytes of the event's data.
 */
void px_trxc_add(struct px_trxc *trxc, unsigned int txtb_id, const char *name,
		 const char *const label[4]);

void px_trxc_end(struct px_trxc *trxc);

#endif
