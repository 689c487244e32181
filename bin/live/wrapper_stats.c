/* SPDX-License-Identifier: MIT */
#include "live/wrapper_stats.h"

#include <string.h>

#include "base/message.h"
#include "cli/rows.h"
#include "trace/wrappers.h"

struct sums {
	/* number of wrappers in each state; the index is the state */
	unsigned long long nr[TXTRACE_WRAPPER_FOREIGN + 1];
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

static void put_rows(struct text *text, bool is_json, const struct source *source)
{
	static const struct rows_column columns[] = {
		{"wrapper", "symbol", 0, 26, false}, {"version", "version", 2, 14, false},
		{"call", "call", 2, 26, false},	     {"state", "state", 2, 14, false},
		{"calls", "calls", 2, 12, true},     {NULL, "samples", 0, 0, false},
		{"mean ns", "mean_ns", 2, 8, true},  {NULL, NULL, 0, 0, false},
	};
	struct rows rows = {.text = text, .is_json = is_json, .columns = columns};
	struct txtrace_wrapper wrapper;

	rows_titles(&rows);
	txtrace_rewind_wrappers(source->trace);
	while (next(source, &wrapper)) {
		rows_begin(&rows);
		rows_string(&rows, wrapper.symbol);
		rows_string(&rows, wrapper.version[0] || is_json ? wrapper.version : "-");
		rows_string(&rows, wrapper.call);
		rows_string(&rows, state_of(&wrapper));
		rows_number(&rows, wrapper.calls);
		rows_number(&rows, wrapper.samples);
		if (wrapper.samples > 0)
			rows_real(&rows, mean_ns(&wrapper));
		else
			rows_unknown(&rows);
		rows_end(&rows);
	}
}

static const char no_locks[] =
	"0 pthread locks recorded: their groups were not selected, or the program has no locks, or it uses futexes "
	"directly; see txtrace doctor";

void wrapper_stats_report(const struct source *source)
{
	struct sums sums = {{0}, 0, 0, 0};

	add_up(source, &sums);
	if (sums.calls > 0 && sums.locks == 0)
		message("%s: %s", source->path, no_locks);
}

static bool starts_child(const struct txtrace_wrapper *wrapper)
{
	static const char *const calls[] = {"fork", "vfork", "daemon", "posix_spawn", "system", "popen"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(wrapper->call, calls[i]) == 0)
			return true;
	return false;
}

/* Count the calls that start a child, and with `executes` also those that execute a program. */
static unsigned long long count_starts(const struct source *source, bool executes)
{
	struct txtrace_wrapper wrapper;
	unsigned long long nr = 0;

	txtrace_rewind_wrappers(source->trace);
	while (next(source, &wrapper))
		if (starts_child(&wrapper) || (executes && strcmp(wrapper.call, "execve") == 0))
			nr += wrapper.calls;
	return nr;
}

bool wrapper_stats_has_processes(const struct source *source)
{
	return count_starts(source, true) > 0;
}

void wrapper_stats_report_children(const struct source *source)
{
	unsigned long long nr = count_starts(source, false);

	if (nr > 0)
		message("%s: no child process was traced, but the calls of the program that start "
			"one are %llu; "
			"--inherit also traces children",
			source->path, nr);
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
	fields_number(fields, "wrappers that call another wrapper", sums.nr[TXTRACE_WRAPPER_FOREIGN]);
	fields_number(fields, "wrappers missing", sums.nr[TXTRACE_WRAPPER_MISSING]);
	fields_number(fields, "wrappers called", sums.called);
	fields_number(fields, "calls of wrappers", sums.calls);
	fields_number(fields, "calls of pthread locks", sums.locks);
	if (sums.locks == 0)
		fields_text(fields, "note", no_locks);
	if (fields->is_json) {
		fields_label(fields, "wrappers");
		text_char(fields->text, '[');
		put_rows(fields->text, true, source);
		text_char(fields->text, ']');
	}
}

void wrapper_stats_list(struct text *text, const struct source *source)
{
	text_char(text, '\n');
	put_rows(text, false, source);
}
