/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user of the program.  Each message is one line on stderr.  The functions call no wrapper.
 *
 * A message does no harm: it raises no signal, and it is not written if stderr is another file than at the beginning,
 * because the program may have closed stderr and opened a file of its own, which then has the same number.
 */
#ifndef PX_PRELOAD_STANDALONE_WARN_H
#define PX_PRELOAD_STANDALONE_WARN_H

/* Note which file stderr is.  Before this, there are no messages. */
void px_warn_begin(void);

/* Print "txtrace: " and the text.  Keeps errno. */
void px_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return the text of an error number, in English. */
const char *px_error_text(int error);

#endif
