/* SPDX-License-Identifier: MIT */
#include "log/archive.h"

#include <errno.h>
#include <fcntl.h>

#include "log/archive_log.h"
#include "log/archive_txtb.h"

int px_archive_open(int fd, unsigned int flags, struct px_archive **archive)
{
	int mode = fcntl(fd, F_GETFL);
	int error;

	if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY || (mode & O_PATH))
		return EINVAL; /* AMB-20 */
	error = px_archive_log_open(fd, flags, archive);
	if (error == ENOENT)
		return px_archive_txtb_open(fd, false, archive);
	if (error != ENODATA)
		return error;
	error = px_archive_txtb_open(fd, true, archive);
	if (!error)
		(*archive)->info.lost_section = (*archive)->info.is_damaged = true;
	return error;
}
