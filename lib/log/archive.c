/* SPDX-License-Identifier: MIT */
#include "log/archive.h"

#include <errno.h>
#include <fcntl.h>

#include "log/archive_log.h"
#include "log/archive_txtb.h"

int px_archive_open(int fd, struct px_archive **archive)
{
	int flags = fcntl(fd, F_GETFL);
	int error;

	if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH))
		return EINVAL; /* AMB-20 */
	error = px_archive_log_open(fd, archive);
	return error == ENOENT ? px_archive_txtb_open(fd, archive) : error;
}
