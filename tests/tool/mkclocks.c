/* SPDX-License-Identifier: MIT */
/*
 * Replace the readings of the wall clock in a complete log: mkclocks FILE TIME,DISTANCE,WIDTH,ERROR...  Each reading is
 * at TIME ns after the first reading that the log had; the wall clock was DISTANCE ns ahead of the times of the log, to
 * within WIDTH ns, and at most ERROR ns from UTC; -1: not known.  Without readings, the log has none.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log/clocks.h"
#include "log/format.h"

int main(int argc, char **argv)
{
	struct px_log_header header;
	struct px_log_layout layout;
	struct px_log_commit commit;
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	struct px_clock_sleep sleep = {.is_known = false};
	uint64_t from_ns;

	if (fd < 0 || !px_log_find(fd, &header, &layout) || !px_log_read_commit(fd, &header, &layout, &commit) ||
	    px_log_clocks_nr_runs(&commit.clocks) == 0)
		return 1;
	from_ns = commit.clocks.run[0].from_ns;
	memset(&commit.clocks, 0, sizeof(commit.clocks));
	for (int i = 2; i < argc; i++) {
		long long time, distance, width, error;

		if (sscanf(argv[i], "%lld,%lld,%lld,%lld", &time, &distance, &width, &error) != 4)
			return 1;
		px_log_clocks_add(&commit.clocks, &(struct px_clock_reading){from_ns + (uint64_t)time, distance - width,
									     distance + width, error, 0, 0},
				  &sleep);
	}
	px_log_seal_commit(&commit);
	return pwrite(fd, &commit, sizeof(commit), (off_t)(layout.base + layout.commit)) == sizeof(commit) ? 0 : 1;
}
