/* SPDX-License-Identifier: MIT */
/*
 * Write tracex_custom.trxc.  This file gives user events their names in TraceX.
 *
 * TraceX splits a line at every comma.  It requires 13 fields that are not empty, parentheses at
 * fixed positions, and two colours.  It shows white text on the first colour.  If one line is
 * wrong, TraceX can load no trace at all.  So px_trxc_add() replaces the characters of a name that
 * would make a line wrong.
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
 * Add a user event: its TXTB id, its name, and the labels of its information words.  If label or one of its four
 * members is NULL, the label of that word is the range of its bytes in the data of the event.  For some system events,
 * the first word has a special label.
 */
void px_trxc_add(struct px_trxc *trxc, unsigned int txtb_id, const char *name,
		 const char *const label[4]);

void px_trxc_end(struct px_trxc *trxc);

#endif
