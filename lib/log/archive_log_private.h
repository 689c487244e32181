/* SPDX-License-Identifier: MIT */
/* Declarations that archive_log.c and archive_log_events.c share.  No other file includes this. */
#ifndef PX_LOG_ARCHIVE_LOG_PRIVATE_H
#define PX_LOG_ARCHIVE_LOG_PRIVATE_H

#include "log/archive_log.h"
#include "log/archive_names.h"
#include "log/archive_source.h"

struct logreader {
	struct px_archive archive; /* must be the first member */
	struct px_archive_file file;
	struct px_archive_source *source;
	bool is_swapped;   /* the writer had the other byte order */
	uint64_t position; /* position of the next entry to read */
	uint64_t nr_read;  /* events since the log was opened or rewound */
	uint64_t nr_before; /* events of the commit before the first of these events */
	uint64_t nr_missed; /* events missed before the log was cleared */
	uint64_t last_ns;   /* time of the last event; valid if nr_read > 0 */
	/* What to report of the gap before the next entry. */
	enum { GAP_NONE, GAP_OVERFLOW, GAP_RESUME } gap;
	uint64_t marked; /* 1 + position of the entry before which a gap of the writer was reported last; 0: none */
	struct px_archive_window window;
	struct px_archive_names names;
	uint32_t nr_listed;		/* names read from the tail */
	struct px_wrapper_sum *wrappers; /* if the log has them packed; NULL before the first is needed */
	uint32_t nr_wrappers;
};

PX_INLINE struct logreader *px_archive_log_of(struct px_archive *archive)
{
	return (struct logreader *)archive;
}

/*
 * Ensure that the window has the entry at this position.  If the log has no entry there, the window begins with the
 * next entry after it.  Return false if the log has no such entry.
 */
PX_INLINE bool px_archive_log_ensure(struct logreader *reader, uint64_t position)
{
	return px_likely(position - reader->window.position < reader->window.nr_entries) ||
	       reader->source->kind->load(reader->source, position, &reader->window);
}

/* archive_log_events.c: the members of struct px_archive_kind that find events */

enum px_next px_archive_log_next(struct px_archive *archive, void *data, size_t capacity, struct px_report *report);
void px_archive_log_rewind(struct px_archive *archive);
bool px_archive_log_go(struct px_archive *archive, uint32_t i, uint64_t *nr_before, uint64_t *about_ns);
bool px_archive_log_call(struct px_archive *archive, uint64_t place, struct px_archive_call *call);

#endif
