/* SPDX-License-Identifier: MIT */
/* txtrace diff: compare two traces of the same program. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "diff/changes.h"
#include "diff/metric.h"
#include "diff/tally.h"
#include "diff/threshold.h"
#include "trace/selection.h"

enum { OPTION_FAIL_IF = OPTION_OWN, OPTION_TOP };

#define LIMITS_MAX 64
#define USUAL_TOP 5 /* names in a table of changes */

static const struct option_row option_rows[] = {
	{OPTION_FAIL_IF, "fail-if", "EXPR", "exit with 1 if this is true; can be repeated"},
	OPTION_ROW_SPAN,
	{OPTION_TOP, "top", "N", "for each kind of time, the N largest changes; default 5"},
	OPTION_ROW_FILTER,
	OPTION_ROWS_TYPE,
	OPTION_ROW_FROM,
	OPTION_ROW_UNTIL,
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROWS_THREADX,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct options {
	struct selection selection;
	bool is_json;
	struct threshold threshold[LIMITS_MAX];
	int nr_limits;
	struct spans spans;
	uint64_t top;
};

/*
 * An event type or thread, with its counts in both traces.  `old` or `new` is NULL if that trace does not have the
 * event type or thread.
 */
struct pair {
	const char *name;
	const struct tally *old, *new;
};

struct pairs {
	struct pair *pair;
	size_t nr;
};

struct comparison {
	const char *old_path, *new_path;
	struct trace_tally old, new;
	struct trace_times old_times, new_times;
	struct pairs types, threads;
};

/* Pairs, sorted by frequency. */

static uint64_t count_of(const struct pair *pair)
{
	return (pair->old ? pair->old->count : 0) + (pair->new ? pair->new->count : 0);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *one = a, *other = b;
	uint64_t n = count_of(one), m = count_of(other);

	return n != m ? (n < m ? 1 : -1) : strcmp(one->name, other->name);
}

static void make_pairs(struct pairs *pairs, const struct tallies *old,
		       const struct tallies *new)
{
	pairs->pair = must(reallocarray(NULL, old->nr + new->nr + 1, sizeof(*pairs->pair)));
	for (size_t i = 0; i < old->nr; i++) {
		const struct tally *tally = &old->tally[i];

		pairs->pair[pairs->nr++] = (struct pair){tally->name, tally,
							   tally_find(new, tally->name)};
	}
	for (size_t i = 0; i < new->nr; i++) {
		const struct tally *tally = &new->tally[i];

		if (!tally_find(old, tally->name))
			pairs->pair[pairs->nr++] = (struct pair){tally->name, NULL, tally};
	}
	qsort(pairs->pair, pairs->nr, sizeof(*pairs->pair), compare_pairs);
}

/* Text. */

static void put_metric(struct text *text, const struct comparison *comparison, const char *name,
		       enum metric metric, const struct pair *pair)
{
	metric_put_row(text, name, metric, metric_value(metric, &comparison->old, pair ? pair->old : NULL),
		metric_value(metric, &comparison->new, pair ? pair->new : NULL));
}

static void put_table(struct text *text, const struct comparison *comparison, const char *what,
		      enum metric metric, const struct pairs *pairs)
{
	text_char(text, '\n');
	metric_put_titles(text, what);
	for (size_t i = 0; i < pairs->nr; i++)
		put_metric(text, comparison, pairs->pair[i].name, metric, &pairs->pair[i]);
}

/* Print a name, and its quantiles on the next lines. */
static void put_pauses(struct text *text, const struct comparison *comparison)
{
	text_char(text, '\n');
	metric_put_titles(text, "time between two events of a type");
	for (size_t i = 0; i < comparison->types.nr; i++) {
		const struct pair *pair = &comparison->types.pair[i];

		if ((!pair->old || pair->old->pauses.n == 0) &&
		    (!pair->new || pair->new->pauses.n == 0))
			continue;
		text_plain(text, pair->name, 0);
		text_char(text, '\n');
		put_metric(text, comparison, "    median", METRIC_MEDIAN, pair);
		put_metric(text, comparison, "    99 of 100 at most", METRIC_P99, pair);
		put_metric(text, comparison, "    longest", METRIC_MAX, pair);
	}
}

static void print_text(struct text *text, const struct comparison *comparison, uint64_t top)
{
	if (changes_print(text, &comparison->old_times, &comparison->new_times, top))
		text_char(text, '\n');
	text_string(text, "old: ");
	text_plain(text, comparison->old_path, 0);
	text_string(text, "\nnew: ");
	text_plain(text, comparison->new_path, 0);
	text_char(text, '\n');
	text_char(text, '\n');
	metric_put_titles(text, "trace");
	put_metric(text, comparison, "duration", METRIC_DURATION, NULL);
	put_metric(text, comparison, "events", METRIC_EVENTS, NULL);
	put_metric(text, comparison, "events lost", METRIC_LOST, NULL);
	put_table(text, comparison, "events of a type", METRIC_COUNT, &comparison->types);
	put_table(text, comparison, "events of a type per second", METRIC_RATE,
		  &comparison->types);
	put_pauses(text, comparison);
	put_table(text, comparison, "events of a thread", METRIC_COUNT, &comparison->threads);
}

/* JSON. */

static void put_json_value(struct json *json, enum metric metric, struct value value)
{
	char digits[64];

	if (!value.is_known) {
		json_null(json, NULL);
		return;
	}
	snprintf(digits, sizeof(digits), metric == METRIC_RATE ? "%.3f" : "%.0f", value.value);
	json_digits(json, NULL, digits);
}

/* Print a member such as "count": [old, new]. */
static void put_json_metric(struct json *json, const struct comparison *comparison,
			    enum metric metric, const struct pair *pair)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", metric_name(metric), metric_is_time(metric) ? "_ns" : "");
	json_array(json, key);
	put_json_value(json, metric,
		       metric_value(metric, &comparison->old, pair ? pair->old : NULL));
	put_json_value(json, metric,
		       metric_value(metric, &comparison->new, pair ? pair->new : NULL));
	json_close(json);
}

/* Print an array with an object for each name.  label is the key of the name. */
static void put_json_pairs(struct json *json, const struct comparison *comparison, const char *key,
			   const struct pairs *pairs, const char *label,
			   const enum metric *shown)
{
	json_array(json, key);
	for (size_t i = 0; i < pairs->nr; i++) {
		json_object(json, NULL);
		json_string(json, label, pairs->pair[i].name);
		for (const enum metric *metric = shown; *metric != NR_METRICS; metric++)
			put_json_metric(json, comparison, *metric, &pairs->pair[i]);
		json_close(json);
	}
	json_close(json);
}

static void print_json(struct text *text, const struct comparison *comparison)
{
	static const enum metric of_types[] = {METRIC_COUNT, METRIC_RATE, METRIC_MEDIAN,
					       METRIC_P99,   METRIC_MAX,  NR_METRICS};
	static const enum metric of_threads[] = {METRIC_COUNT, NR_METRICS};
	static const enum metric of_all[] = {METRIC_DURATION, METRIC_EVENTS, METRIC_LOST};
	struct json json;

	json_begin(&json, text);
	json_array(&json, "file");
	json_string(&json, NULL, comparison->old_path);
	json_string(&json, NULL, comparison->new_path);
	json_close(&json);
	for (size_t i = 0; i < 3; i++)
		put_json_metric(&json, comparison, of_all[i], NULL);
	put_json_pairs(&json, comparison, "types", &comparison->types, "event", of_types);
	put_json_pairs(&json, comparison, "threads", &comparison->threads, "thread", of_threads);
	changes_print_json(&json, &comparison->old_times, &comparison->new_times);
	json_end(&json);
}

/* Thresholds. */

static bool report_if_true(const struct threshold *threshold, const char *name, struct value old,
			   struct value new)
{
	char from[32], to[32], change[32];

	if (!threshold_holds(threshold, old, new))
		return false;
	message("%s holds: %s%s%s was %s, is %s (%s)", threshold->text,
		metric_name(threshold->metric), name ? " of " : "", name ? name : "",
		metric_words(threshold->metric, old, from), metric_words(threshold->metric, new, to),
		metric_change_words(threshold->metric, old, new, change));
	return true;
}

static bool test_timed(const struct comparison *comparison, const struct threshold *threshold)
{
	enum measure measure = metric_measure(threshold->metric);
	const struct timed_list *old = &comparison->old_times.of[measure], *new = &comparison->new_times.of[measure];
	bool holds = false, matches = false;
	struct changes changes;

	changes_find(&changes, old, new);
	for (size_t i = 0; i < changes.nr; i++) {
		const struct change *change = &changes.change[i];

		if (fnmatch(threshold->glob, change->name, 0) != 0)
			continue;
		matches = true;
		holds |= report_if_true(threshold, change->name,
					metric_timed_value(threshold->metric, old, change->old),
					metric_timed_value(threshold->metric, new, change->new));
	}
	free(changes.change);
	if (!matches)
		message("%s: neither trace has such a name", threshold->text);
	return holds;
}

static bool has_name(const struct trace_times *times, const char *glob)
{
	for (int measure = 0; measure < NR_MEASURES; measure++)
		for (size_t i = 0; i < times->of[measure].nr; i++)
			if (fnmatch(glob, times->of[measure].timed[i].name, 0) == 0)
				return true;
	return false;
}

/*
 * Return true if the name is mistyped: it is no pattern, and neither trace has times of this name.  A lock that nobody
 * waited for has holds.
 */
static bool is_unknown_name(const struct comparison *comparison, const struct threshold *threshold)
{
	return threshold->glob && !strpbrk(threshold->glob, "*?[") &&
	       !has_name(&comparison->old_times, threshold->glob) && !has_name(&comparison->new_times, threshold->glob);
}

/* More events can be lost than a trace says.  A threshold that is exceeded already is exceeded by more, too. */
static bool is_loss_testable(const struct comparison *comparison, const struct threshold *threshold)
{
	const char *path = comparison->new.lost_is_least				? comparison->new_path :
			   threshold->is_percent && comparison->old.lost_is_least ? comparison->old_path :
										    NULL;

	if (!path || (path == comparison->new_path && threshold->sign > 0 && !threshold->is_inverted &&
		      threshold_holds(threshold, metric_value(METRIC_LOST, &comparison->old, NULL),
				      metric_value(METRIC_LOST, &comparison->new, NULL))))
		return true;
	message("%s cannot be tested: it is not known how many events %s lacks", threshold->text, path);
	return false;
}

/* A threshold must not seem to be kept because a trace does not show what it is about. */
static bool is_testable(const struct comparison *comparison, const struct threshold *threshold)
{
	enum measure measure;

	if (threshold->metric == METRIC_LOST)
		return is_loss_testable(comparison, threshold);
	if (threshold->metric < METRIC_TIMED)
		return true;
	measure = metric_measure(threshold->metric);
	if (comparison->old_times.of[measure].is_known && comparison->new_times.of[measure].is_known) {
		if (!is_unknown_name(comparison, threshold))
			return true;
		message("%s cannot be tested: neither trace has times of this name", threshold->text);
		return false;
	}
	message("%s cannot be tested: %s has no %s", threshold->text,
		comparison->new_times.of[measure].is_known ? comparison->old_path : comparison->new_path,
		measure == MEASURE_CPU	? "scheduling records" :
		measure == MEASURE_SPAN ? "span; --span names spans" :
					  "recorded calls");
	return false;
}

/* Test a name.  If the name is in neither trace, it has no values. */
static bool test_limit(const struct comparison *comparison, const struct threshold *threshold)
{
	const struct pairs *pairs = threshold->metric == METRIC_THREAD ? &comparison->threads :
									      &comparison->types;
	bool holds = false, matches = !threshold->glob;

	if (threshold->metric >= METRIC_TIMED)
		return test_timed(comparison, threshold);
	for (size_t i = 0; threshold->glob && i < pairs->nr; i++) {
		const struct pair *pair = &pairs->pair[i];

		if (fnmatch(threshold->glob, pair->name, 0) != 0)
			continue;
		matches = true;
		holds |= report_if_true(
			threshold, pair->name,
			metric_value(threshold->metric, &comparison->old, pair->old),
			metric_value(threshold->metric, &comparison->new, pair->new));
	}
	if (threshold->glob && !matches)
		message("%s: neither trace has such a name", threshold->text);
	if (!threshold->glob || !matches)
		holds = report_if_true(threshold, threshold->glob,
				       metric_value(threshold->metric, &comparison->old, NULL),
				       metric_value(threshold->metric, &comparison->new, NULL));
	return holds;
}

/* The command. */

static int print_result(const struct options *options, struct comparison *comparison)
{
	static struct text text;
	int code = EXIT_FINE;

	make_pairs(&comparison->types, &comparison->old.types, &comparison->new.types);
	make_pairs(&comparison->threads, &comparison->old.threads, &comparison->new.threads);
	terminal_page();
	text_open(&text, NULL, false);
	if (options->is_json)
		print_json(&text, comparison);
	else
		print_text(&text, comparison, options->top);
	if (!text_close(&text, true))
		return EXIT_TROUBLE;
	for (int i = 0; i < options->nr_limits; i++)
		if (!is_testable(comparison, &options->threshold[i]))
			code = EXIT_TROUBLE;
		else if (test_limit(comparison, &options->threshold[i]) && code == EXIT_FINE)
			code = EXIT_FOUND;
	free(comparison->types.pair);
	free(comparison->threads.pair);
	return code;
}

static int compare_files(struct options *options, const char *old_path, const char *new_path)
{
	static struct comparison comparison;
	struct source *sources[2] = {source_open_mixed(old_path, options->selection.tick_ns), NULL};
	int code = EXIT_TROUBLE;

	if (sources[0])
		sources[1] = source_open_mixed(new_path, options->selection.tick_ns);
	comparison.old_path = old_path;
	comparison.new_path = new_path;
	if (sources[0] && sources[1] && selection_begin(&options->selection, sources, 2)) {
		tally_trace(&comparison.old, sources[0], &options->selection);
		tally_trace(&comparison.new, sources[1], &options->selection);
		times_read(&comparison.old_times, sources[0], &options->selection, &options->spans);
		times_read(&comparison.new_times, sources[1], &options->selection, &options->spans);
		code = print_result(options, &comparison);
	}
	source_close(sources[0]);
	source_close(sources[1]);
	tally_free(&comparison.old);
	tally_free(&comparison.new);
	times_free(&comparison.old_times);
	times_free(&comparison.new_times);
	return code;
}

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;
	int taken = selection_option(&options->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_FAIL_IF:
		if (options->nr_limits < LIMITS_MAX)
			return threshold_parse(optarg, &options->threshold[options->nr_limits++]);
		message("--fail-if can be given at most %d times", LIMITS_MAX);
		return false;
	case OPTION_SPAN:
		return spans_add(&options->spans, optarg);
	case OPTION_TOP:
		return options_is_count("top", "rows", optarg, &options->top);
	case OPTION_FORMAT:
		return options_is_json(optarg, &options->is_json);
	default:
		return terminal_option(code, optarg);
	}
}

static int run(int argc, char **argv)
{
	static struct options options;
	int code;

	options.top = USUAL_TOP;
	if (!options_read(&cmd_diff, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	if (optind + 2 != argc) {
		message("diff needs two files; see txtrace diff --help");
		return EXIT_TROUBLE;
	}
	code = compare_files(&options, argv[optind], argv[optind + 1]);
	for (int i = 0; i < options.nr_limits; i++)
		threshold_free(&options.threshold[i]);
	selection_free(&options.selection);
	spans_free(&options.spans);
	return code;
}

const struct command cmd_diff = {
	.name = "diff",
	.arguments = "OLD NEW",
	.summary = "compare two traces",
	.options = option_rows,
	.run = run,
};
