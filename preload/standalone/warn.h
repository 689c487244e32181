/* SPDX-License-Identifier: MIT */
/* Messages to the user of the program.  Each message is one line on stderr.  The functions call no wrapper. */
#ifndef PX_PRELOAD_STANDALONE_WARN_H
#define PX_PRELOAD_STANDALONE_WARN_H

/* Print "txtrace: " and the text. */
void px_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return the text of an error number, in English. */
const char *px_error_text(int error);

#endif
