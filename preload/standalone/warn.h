/* SPDX-License-Identifier: MIT */
/* What the object says to whoever runs the program: one line on stderr, past the wrappers. */
#ifndef PX_PRELOAD_STANDALONE_WARN_H
#define PX_PRELOAD_STANDALONE_WARN_H

/* "txtrace: ", the text. */
void px_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
