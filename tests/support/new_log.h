/* SPDX-License-Identifier: MIT */
/* Begin a log with the functions of the log writer, without a stream. */
#ifndef PX_TESTS_SUPPORT_NEW_LOG_H
#define PX_TESTS_SUPPORT_NEW_LOG_H

#include "event/attr.h"
#include "log/log.h"

/*
 * Create a log of one ring whose writer is dead.  *given has the file, the tables of threads and types, and what else
 * is not usual.  max_data_size: 0 means the default.  Return 0 or an error number.
 */
PX_INLINE int px_test_new_log(const struct px_log_setup *given, uint32_t policy, uint64_t log_size,
			      uint64_t max_data_size, struct px_log_state *state, struct px_log **log)
{
	struct px_log_setup setup = *given;
	struct px_attr attr;

	px_attr_init(&attr);
	attr.log_policy = policy;
	attr.log_size = log_size;
	if (max_data_size > 0)
		attr.max_data_size = max_data_size;
	attr.nr_rings = 1;
	attr.create_time.s = 1700000000;
	setup.attr = &attr;
	setup.writer.pid = 0x7FFFFFFF;
	setup.writer.start = 1;
	if (setup.target_pid == 0)
		setup.target_pid = 4711;
	return px_log_create(&setup, state, log);
}

#endif
