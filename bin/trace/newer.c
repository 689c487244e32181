/* SPDX-License-Identifier: MIT */
#include "trace/newer.h"

#include <trace_ext.h>

#include "base/message.h"

bool newer_wrote(int fd, struct newer *newer)
{
	return txtrace_get_format(fd, &newer->format, &newer->newest) == 0 &&
	       newer->format > newer->newest;
}

bool newer_print(int fd, const char *path)
{
	struct newer newer;

	if (!newer_wrote(fd, &newer))
		return false;
	message("%s: " NEWER_FORMAT, path, newer.format, newer.newest);
	return true;
}
