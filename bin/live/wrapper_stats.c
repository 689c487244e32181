/* SPDX-License-Identifier: MIT */
#include "live/wrapper_stats.h"

#include "base/message.h"
#include "trace/wrappers.h"

struct sums {
	unsigned long long nr[TXTRACE_WRAPPER_FOREIGN + 1]; /* index: their state */
	unsigned long long called, calls, locks;
};

static bool next(const struct source *source, struct txtrace_wrapper *wrapper)
{
	int unavailable;

	return txtrace_getnext_wrapper(source->trace, wrapper, &unavailable) == 0 && !unavailable;
}

static const char *state_of(const struct txtrace_wrapper *wrapper)
{
	switch (wrapper->state) {
	case TXTRACE_WRAPPER_MISSING:
		return "missing";
	case TXTRACE_WRAPPER_INSTALLED:
		return "installed";
	case TXTRACE_WRAPPER_FOREIGN:
		return "before another";
	default:
		return "?";
	}
}

static void add_up(const struct source *source, struct sums *sums)
{
	struct txtrace_wrapper wrapper;

	txtrace_rewind_wrappers(source->trace);
	while (next(source, &wrapper)) {
		if (wrapper.state > 0 && wrapper.state <= TXTRACE_WRAPPER_FOREIGN)
			sums->nr[wrapper.state]++;
		sums->called += wrapper.calls > 0;
		sums->calls += wrapper.calls;
		sums->locks += wrapper_is_lock(wrapper.symbol) ? wrapper.calls : 0;
	}
}

/* Return the mean cost of the measured calls, in ns. */
static double mean_ns(const struct txtrace_wrapper *wrapper)
{
	return wrapper->samples > 0 ? (double)wrapper->overhead_ns / (double)wrapper->samples : 0;
}

static void put_json(struct fields *fields, const struct source *source)
{
	struct txtrace_wrapper wrapper;
	bool is_first = true;

	fields_label(fields, "wrappers");
	text_char(fields->text, '[');
	txtrace_rewind_wrappers(source->trace);
	while (next(source, &wrapper)) {
		text_string(fields->text,
			    is_first ? "\n    {\"symbol\": " : ",\n    {\"symbol\": ");
		text_json(fields->text, wrapper.symbol);
		text_string(fields->text, ", \"version\": ");
		text_json(fields->text, wrapper.version);
		text_string(fields->text, ", \"call\": ");
		text_json(fields->text, wrapper.call);
		text_printf(fields->text, ", \"state\": \"%s\", \"calls\": %llu, \"samples\": %llu",
			    state_of(&wrapper), wrapper.calls, wrapper.samples);
		if (wrapper.samples > 0)
			text_printf(fields->text, ", \"mean_ns\": %.1f}", mean_ns(&wrapper));
		else
			text_string(fields->text, ", \"mean_ns\": null}");
		is_first = false;
	}
	text_char(fields->text, ']');
}

static const char no_locks[] =
	"0 pthread locks seen: they were not asked for, or the program has none, or it uses "
	"futexes directly; txtrace doctor tells more";

void wrapper_stats_report(const struct source *source)
{
	struct sums sums = {{0}, 0, 0, 0};

	add_up(source, &sums);
	if (sums.calls > 0 && sums.locks == 0)
		message("%s: %s", source->path, no_locks);
}

void wrapper_stats_fields(struct fields *fields, const struct source *source)
{
	struct sums sums = {{0}, 0, 0, 0};

	add_up(source, &sums);
	if (sums.nr[TXTRACE_WRAPPER_MISSING] + sums.nr[TXTRACE_WRAPPER_INSTALLED] +
		    sums.nr[TXTRACE_WRAPPER_FOREIGN] ==
	    0)
		return;
	fields_number(fields, "wrappers installed",
		      sums.nr[TXTRACE_WRAPPER_INSTALLED] + sums.nr[TXTRACE_WRAPPER_FOREIGN]);
	fields_number(fields, "before another object", sums.nr[TXTRACE_WRAPPER_FOREIGN]);
	fields_number(fields, "wrappers missing", sums.nr[TXTRACE_WRAPPER_MISSING]);
	fields_number(fields, "wrappers called", sums.called);
	fields_number(fields, "calls recorded", sums.calls);
	fields_number(fields, "calls of pthread locks", sums.locks);
	if (sums.locks == 0)
		fields_text(fields, "note", no_locks);
	if (fields->is_json)
		put_json(fields, source);
}

void wrapper_stats_list(struct text *text, const struct source *source)
{
	struct txtrace_wrapper wrapper;

	text_printf(text, "\n%-26s  %-14s  %-26s  %-14s  %12s  %8s\n", "wrapper", "version", "call",
		    "state", "calls", "mean ns");
	txtrace_rewind_wrappers(source->trace);
	while (next(source, &wrapper)) {
		text_plain(text, wrapper.symbol, 26);
		text_string(text, "  ");
		text_plain(text, wrapper.version[0] ? wrapper.version : "-", 14);
		text_string(text, "  ");
		text_plain(text, wrapper.call, 26);
		text_printf(text, "  %-14s  %12llu", state_of(&wrapper), wrapper.calls);
		if (wrapper.samples > 0)
			text_printf(text, "  %8.1f\n", mean_ns(&wrapper));
		else
			text_printf(text, "  %8s\n", "-");
	}
}
