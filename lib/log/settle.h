/* SPDX-License-Identifier: MIT */
#ifndef PX_LOG_SETTLE_H
#define PX_LOG_SETTLE_H

#include "log/sink.h"

/*
 * If the file has a footer, move the log to the beginning of the file.  fd: for reading.  sink: the same file.  Return
 * 0, ENOMEM, EINVAL (the file is damaged), EIO or an error of the sink.
 */
int px_log_move(int fd, const struct px_log_sink *sink);

/*
 * If a completed log was moving to the beginning of its file when its writer died, move it now.  If its writer died
 * before it cut the file, cut it.  fd: for reading and writing.  Return the errors of px_log_move().
 */
int px_log_settle(int fd);

#endif
