/* SPDX-License-Identifier: MIT */
/*
 * Write tracex_custom.trxc, the file with the names of user events for TraceX.
 *
 * TraceX splits a line at every comma.  It requires 13 fields that are not empty, parentheses at fixed
 * positions, and two colours.  It shows the first colour under white text.  After one wrong line TraceX
 * cannot load any trace, so names are changed where necessary.
 */
#ifndef PX_EVENT_TRXC_H
#define PX_EVENT_TRXC_H

#include <stddef.h>

/* Text in a buffer of fixed size.  length also counts the text that did not fit. */
struct px_trxc {
	char *buffer;
	size_t size;
	size_t length;
};

void px_trxc_begin(struct px_trxc *trxc);

/*
 * Add a user event: its TXTB id, its name, and the labels of its information words.  If label or
 * one of its four elements is NULL, the word is labelled as bytes of the event's data.
 */
void px_trxc_add(struct px_trxc *trxc, unsigned int txtb_id, const char *name,
		 const char *const label[4]);

void px_trxc_end(struct px_trxc *trxc);

#endif
