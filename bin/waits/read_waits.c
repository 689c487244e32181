/* SPDX-License-Identifier: MIT */
#include "base/message.h"
#include "trace/calls.h"
#include "waits/waits.h"

void waits_read(struct waits *waits, struct source *source, const struct selection *selection,
		const struct waits_listener *listener)
{
	struct time_range range = {0};
	uint64_t nr_events = 0;
	struct event event;
	bool is_selected;

	waits_init(waits, source, listener);
	calls_expand(source);
	source->task = "reading";
	source_rewind(source);
	while (calls_next(source, &event)) {
		if (nr_events++ == 0)
			range = selection_range(selection, source);
		is_selected = event.time_ns >= range.from_ns && event.time_ns < range.until_ns &&
			      filter_takes(selection->filter, source, &event);
		source->nr_selected += is_selected;
		waits_event(waits, &event, is_selected);
	}
	selection_report_empty(selection, source);
	waits_end(waits);
}

void waits_report_no_calls(const struct waits *waits)
{
	if (!waits->source->file.foreign && waits->nr_calls == 0)
		message("%s: this log has no calls of the program, so it shows no waits for objects and no locks; "
			"txtrace record --preload records them, but not those of a static program, nor of Go",
			waits->source->path);
}
