/* SPDX-License-Identifier: MIT */
/* Going to a time of a pre-recorded stream. */
#include "api/api.h"

#include <trace_ext.h>

#include "log/archive.h"

#define NS_PER_S UINT64_C(1000000000)

/* Return true if the next event is earlier than this time. */
static bool is_earlier(struct px_archive *archive, uint64_t time_ns)
{
	struct px_report report = {.place = 0};

	return archive->kind->next(archive, NULL, 0, &report) == PX_NEXT_EVENT && report.time_ns < time_ns;
}

/*
 * Return the last part that is about earlier, or 0.  The number of parts is not known: there is none from some number
 * on.
 */
static uint32_t guess_part(struct px_archive *archive, uint64_t time_ns)
{
	uint32_t low = 0, high = UINT32_MAX;
	uint64_t nr_before, about_ns;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (archive->kind->go(archive, middle, &nr_before, &about_ns) && about_ns < time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Go to a part whose first event is earlier.  The times in a log never fall, so all events before this part are
 * earlier. Return the number of these events.
 */
static uint64_t find_part(struct px_archive *archive, uint64_t time_ns)
{
	uint64_t nr_before, about_ns;

	for (uint32_t i = guess_part(archive, time_ns), step = 1; i > 0; step *= 2) {
		if (archive->kind->go(archive, i, &nr_before, &about_ns) && is_earlier(archive, time_ns) &&
		    archive->kind->go(archive, i, &nr_before, &about_ns))
			return nr_before;
		i = i > step ? i - step : 0;
	}
	archive->kind->rewind(archive);
	return 0;
}

PX_EXPORT int txtrace_seek(trace_id_t trid, const struct timespec *restrict time,
			   unsigned long long *restrict nr_before)
{
	struct px_archive *archive;
	int saved_errno = errno;
	uint64_t time_ns;

	if (!time || !nr_before || time->tv_nsec < 0 || (uint64_t)time->tv_nsec >= NS_PER_S ||
	    !(archive = px_handle_lock_archive(trid)))
		return EINVAL;
	time_ns = (uint64_t)time->tv_nsec;
	if (time->tv_sec > 0)
		time_ns = (uint64_t)time->tv_sec < UINT64_MAX / NS_PER_S ?
				  (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec :
				  UINT64_MAX;
	archive->kind->rewind(archive);
	*nr_before = archive->kind->go && time->tv_sec >= 0 ? find_part(archive, time_ns) : 0;
	px_handle_unlock(trid);
	errno = saved_errno;
	return 0;
}
