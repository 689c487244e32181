/* SPDX-License-Identifier: MIT */
/*
 * The page cache of a log.  A log may grow by hundreds of megabytes a second.  Without this, the kernel would keep all
 * of them in memory, in place of pages that the traced program needs, and each write would get new pages, which costs
 * more than the copy itself.  So the writer asks the kernel to write full pages to the disk now, and to reuse those
 * that are on the disk.  It does not wait for the disk.
 */
#include "log/log_private.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/confined.h"

#define STEP (UINT64_C(4) << 20) /* least number of bytes from one advice to the next */
#define STEP_MAX (UINT64_C(1) << 30)
#define SLOW_NS 10000000 /* an advice that takes longer had to wait for the disk */

/* The kernel keeps pages of which a part only is in this range. */
static void advise(const struct px_log *log, uint64_t from, uint64_t end)
{
	if (end > from)
		(void)posix_fadvise(log->fd, (off_t)from, (off_t)(end - from), POSIX_FADV_DONTNEED);
}

/*
 * The writer writes again to the pages of the commit, which are in the first volume, and to those of the header and the
 * object slots of the current volume.  So these stay.
 */
static void advise_all(const struct px_log *log)
{
	uint64_t entries = log->volume_at + log->layout.entries;
	uint64_t frames = log->volume_at + log->layout.frames;
	uint32_t slot = px_log_slot_in_volume(&log->header, log->stage_position);

	advise(log, log->layout.frames, log->volume_at);
	advise(log, entries, entries + slot * sizeof(struct px_txtb_entry));
	advise(log, frames, frames + log->frame);
}

/* A log that goes round overwrites its pages, and has a bound. */
void px_log_note_written(struct px_log *log, uint64_t size)
{
	uint64_t begin;

	log->cached += size;
	if (px_likely(log->cached < log->cache_step) || log->loops || px_is_confined())
		return;
	log->cached = 0;
	begin = px_clock_monotonic_ns();
	advise_all(log);
	if (px_clock_monotonic_ns() - begin < SLOW_NS)
		log->cache_step = log->cache_step / 2 > STEP ? log->cache_step / 2 : STEP;
	else if (log->cache_step < STEP_MAX)
		log->cache_step *= 2;
}

void px_log_begin_cache(struct px_log *log)
{
	log->cached = 0;
	log->cache_step = STEP;
}
