/* SPDX-License-Identifier: MIT */
#include "cmd/record_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_ext.h>

#include "base/message.h"
#include "live/children.h"
#include "live/wrapper_stats.h"
#include "trace/source.h"

/*
 * A log has holes where no data was written yet. So report the size of the used blocks, and not the length of the file.
 */
static const char *shown_size(const struct stat *status)
{
	double bytes = (double)status->st_blocks * 512;
	static char text[32];

	if (bytes < 1e6)
		snprintf(text, sizeof(text), "%.0f kB", bytes / 1e3);
	else
		snprintf(text, sizeof(text), "%.1f MB", bytes / 1e6);
	return text;
}

void record_report_progress(const struct recording *recording)
{
	struct txtrace_stream stream;
	struct txtrace_loss loss;
	struct stat status;

	if (recording->options->is_quiet || recording->options->is_flight || stat(recording->path, &status) != 0 ||
	    txtrace_get_stream(recording->trace, &stream) != 0 ||
	    txtrace_get_loss(recording->trace, &loss) != 0)
		return;
	progress_text("recording: %llu events, %llu lost, %s", stream.nr_events,
		      loss.overwritten + loss.dropped + loss.abandoned, shown_size(&status));
}

/*
 * Return the number of events of the log, as every command shows it.  The writer has counted them.  But if it could not
 * write for a while, the reader marks each hole by two events, so count what is read.
 */
static unsigned long long count_events(struct source *source)
{
	unsigned long long nr_events = 0;
	struct event event;

	if (source->status.posix_stream_flush_error == 0)
		return source->file.nr_events;
	source->task = "reading";
	while (source_next(source, &event))
		nr_events++;
	source->task = NULL;
	source_rewind(source);
	return nr_events;
}

bool record_report_log(const struct recording *recording, const char *path,
		       unsigned long long *nr_events)
{
	const struct record_options *options = recording->options;
	struct source *source = source_open(path, 0);
	trace_event_set_t system;
	struct event event;
	int is_system = 1;

	posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS);
	*nr_events = source ? count_events(source) : 0;
	if (source)
		source_report_unnamed(source);
	if (source && options->command && !options->control.inherits)
		wrapper_stats_report_children(source);
	if (source && source->file.nr_volumes > 1)
		message("%s has %u volumes, and TraceX opens only the first; txtrace export --to trx --split %s writes "
			"files with all events for TraceX",
			options->is_piped ? "the log" : path, source->file.nr_volumes,
			options->is_piped ? "FILE" : path);
	while (source && is_system && source_next(source, &event)) {
		posix_trace_eventset_ismember(event.type, &system, &is_system);
		is_system |= event.row && event.row == calltable_find("txtrace_process_start");
		is_system |= event.row && event.row == calltable_find("txtrace_process_end");
	}
	if (source && options->control.inherits)
		children_report(source, recording->others_go_on, options->waits_for_all);
	source_close(source);
	return !is_system;
}

/* What the log lacks of the events that it was given, in short; or NULL. */
static const char *shown_log_loss(const struct recording *recording, const struct posix_trace_status_info *status)
{
	if (status->posix_log_overrun_status != POSIX_TRACE_OVERRUN)
		return NULL;
	if (status->posix_log_full_status != POSIX_TRACE_FULL)
		return "others not written";
	return recording->options->control.log_policy == POSIX_TRACE_LOOP ? "older ones replaced" :
									    "later ones not recorded";
}

/* What the stream lost, and then what the log lost. */
static const char *shown_loss(const struct recording *recording, const struct txtrace_loss *loss,
			      const struct posix_trace_status_info *status)
{
	static char text[160];
	unsigned long long sum = loss->overwritten + loss->dropped + loss->abandoned;
	const char *of_log = shown_log_loss(recording, status);

	if (sum == 0 && !of_log && recording->stream.absent != 0)
		return "none lost of the traced processes";
	if (sum == 0)
		return of_log ? of_log : "none lost";
	snprintf(text, sizeof(text), "%llu lost (%llu overwritten, %llu dropped, %llu abandoned)%s%s",
		 sum, loss->overwritten, loss->dropped, loss->abandoned, of_log ? ", " : "", of_log ? of_log : "");
	return text;
}

void record_report_full(const struct recording *recording, const struct posix_trace_status_info *status)
{
	if (status->posix_log_overrun_status != POSIX_TRACE_OVERRUN ||
	    status->posix_log_full_status != POSIX_TRACE_FULL)
		return;
	message("%s was full: it has only the %s events; --log-size or --policy append keep more",
		recording->shown,
		recording->options->control.log_policy == POSIX_TRACE_LOOP ? "newest" : "oldest");
}

/* If events were dropped because the rings were full, name the options that help. */
static void report_remedy(const struct recording *recording, const struct txtrace_loss *loss)
{
	const struct session_options *control = &recording->options->control;

	if (recording->options->is_quiet || loss->dropped == 0 || control->stream_policy != POSIX_TRACE_FLUSH)
		return;
	if (!control->is_growth_asked)
		message("%s lacks %llu events, because the rings were full; with --size auto the rings grow",
			recording->shown, loss->dropped);
	else
		message("%s lacks %llu events, because the rings could not grow further; --event or --events record "
			"less",
			recording->shown, loss->dropped);
}

void record_report_result(const struct recording *recording, unsigned long long nr_events,
			  const struct txtrace_loss *loss, const struct posix_trace_status_info *status)
{
	int64_t ns = recording_ns(recording);
	struct stat file = {.st_blocks = 0};

	stat(recording->path, &file);
	if (!recording->options->is_quiet)
		message("%s: %llu events, %s, %s, %lld.%03lld s", recording->shown,
			nr_events, shown_loss(recording, loss, status), shown_size(&file),
			(long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S / 1000000));
	report_remedy(recording, loss);
}

/* The log has what the user asked for.  Say how to get more. */
static void report_more(const struct recording *recording)
{
	const struct target *target = &recording->target;

	if (recording->options->is_quiet)
		return;
	if (target_is_traceable(target))
		message("without --sched-only, the events and calls of %s are recorded, too", target->name);
	else if (target->is_static)
		message("%s is linked statically, so its calls cannot be recorded, unless it is linked with "
			"libposixtrace",
			target->name);
	else
		message("for the calls of %s, its locks and its waits, start it by txtrace record --preload; "
			"txtrace doctor "
			"says which of them are recorded",
			target->name);
}

void record_report_nothing(const struct recording *recording)
{
	if (recording->options->only_sched)
		report_more(recording);
	else if (recording->target.uid != recording->uid && !recording->target.is_secure &&
		 !recording->target.is_hidden)
		message("%s cannot find this trace: it became a process of user %u, but the trace is for processes of "
			"user %u; to trace it, attach to it with -p",
			recording->target.name, (unsigned int)recording->target.uid, (unsigned int)recording->uid);
	else if (recording->options->choice.nr > 0 && recording->target.has_library)
		message("%s uses libposixtrace, but recorded no event that --event and --no-event select",
			recording->target.name);
	else if (recording->options->preloads)
		message("%s made no call that is traced; txtrace doctor %s lists the calls that can be traced",
			recording->target.name, recording->options->command[0]);
	else if (!recording->options->command && target_is_plain(&recording->target))
		target_explain_attached(&recording->target);
	else
		target_explain(&recording->target, recording->options->control.inherits);
}

void record_report_absent(const struct recording *recording)
{
	const struct txtrace_stream *stream = &recording->stream;

	if (stream->absent != 0)
		message("%s lacks the events of process %d%s, which could not map the trace: %s", recording->shown,
			(int)stream->absent, stream->absent_others ? " and of others" : "",
			strerror(stream->absent_error));
}

void record_report_unread(const struct recording *recording)
{
	if (recording->nr_unread > 0)
		message("%s: %u process%s ended before the tool could read the names of its objects, so these have "
			"addresses",
			recording->shown, recording->nr_unread, recording->nr_unread == 1 ? "" : "es");
}
