/* SPDX-License-Identifier: MIT */
/* What the object says to whoever runs the program: one line on stderr, past the wrappers. */
#ifndef PX_COMPLAIN_H
#define PX_COMPLAIN_H

/* "txtrace: ", the text. */
void px_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
