/* SPDX-License-Identifier: MIT */
#include "diff/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct {
	const char *title;
	const char *key, *label; /* in JSON */
} measures[NR_MEASURES] = {
	[MEASURE_HOLD] = {"held, by object", "holds", "object"},
	[MEASURE_WAIT] = {"waits, by object", "waits", "object"},
	[MEASURE_SPAN] = {"spans", "spans", "span"},
	[MEASURE_CPU] = {"CPU time, by thread", "cpu", "thread"},
	[MEASURE_CALL_WAIT] = {"waits, by call", "call_waits", "call"},
	[MEASURE_THREAD_WAIT] = {"waits, by thread", "thread_waits", "thread"},
	[MEASURE_THREAD_HOLD] = {"held, by thread", "thread_holds", "thread"},
};

/* Changes. */

static double time_of_change(const struct timed *old, const struct timed *new)
{
	double total = fabs((double)(new ? new->durations.sum : 0) - (double)(old ? old->durations.sum : 0));
	double fewer, mean = 0;

	if (old && new) {
		fewer = (double)(old->durations.n < new->durations.n ? old->durations.n : new->durations.n);
		mean = fewer * fabs((double)new->durations.sum / (double)new->durations.n -
				    (double)old->durations.sum / (double)old->durations.n);
	}
	return total > mean ? total : mean;
}

static bool is_same(struct timed *old, struct timed *new)
{
	return old && new && old->is_partial == new->is_partial && old->durations.n == new->durations.n &&
	       old->durations.sum == new->durations.sum && old->durations.largest == new->durations.largest &&
	       durations_percentile(&old->durations, 99) == durations_percentile(&new->durations, 99);
}

static int by_time(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	if (left->is_same != right->is_same)
		return left->is_same ? 1 : -1;
	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void add(struct changes *changes, struct timed *old, struct timed *new)
{
	struct change *change = &changes->change[changes->nr++];

	*change = (struct change){.name = old ? old->name : new->name,
				  .old = old,
				  .new = new,
				  .ns = time_of_change(old, new),
				  .is_same = is_same(old, new)};
	changes->nr_same += change->is_same;
}

void changes_find(struct changes *changes, const struct timed_list *old, const struct timed_list *new)
{
	*changes = (struct changes){.change = must(reallocarray(NULL, old->nr + new->nr + 1,
								sizeof(*changes->change)))};
	for (size_t i = 0; i < old->nr; i++)
		add(changes, &old->timed[i], times_find(new, old->timed[i].name));
	for (size_t i = 0; i < new->nr; i++)
		if (!times_find(old, new->timed[i].name))
			add(changes, NULL, &new->timed[i]);
	qsort(changes->change, changes->nr, sizeof(*changes->change), by_time);
}

/* Text. */

/* The names of the rows are metrics of --fail-if. */
static void put_change(struct text *text, enum measure measure, const struct change *change,
		       const struct timed_list *old, const struct timed_list *new)
{
	for (int statistic = 0; statistic < NR_STATISTICS; statistic++) {
		enum metric metric = metric_of(measure, (enum statistic)statistic);
		char *name;

		if (asprintf(&name, "%s:%s", metric_name(metric), change->name) < 0)
			name = must(NULL);
		metric_put_row(text, name, metric, metric_timed_value(metric, old, change->old),
			       metric_timed_value(metric, new, change->new));
		free(name);
	}
}

static void put_table(struct text *text, enum measure measure, const struct changes *changes,
		      const struct timed_list *old, const struct timed_list *new, uint64_t top)
{
	size_t nr_changed = changes->nr - changes->nr_same;
	size_t nr_shown = nr_changed < top ? nr_changed : (size_t)top;

	if (nr_changed == 0) {
		text_printf(text, "%s: %zu without a change\n", measures[measure].title, changes->nr_same);
		return;
	}
	metric_put_titles(text, measures[measure].title);
	for (size_t i = 0; i < nr_shown; i++)
		put_change(text, measure, &changes->change[i], old, new);
	if (nr_shown < nr_changed)
		text_printf(text, "%zu more with smaller changes; --top=N shows N of them\n", nr_changed - nr_shown);
	if (changes->nr_same > 0)
		text_printf(text, "%zu without a change\n", changes->nr_same);
}

bool changes_print(struct text *text, const struct trace_times *old, const struct trace_times *new, uint64_t top)
{
	bool has_table = false, was_short = false;

	for (int measure = 0; measure < NR_MEASURES; measure++) {
		const struct timed_list *from = &old->of[measure], *to = &new->of[measure];
		struct changes changes;
		bool is_short;

		changes_find(&changes, from, to);
		if (changes.nr > 0) {
			is_short = changes.nr_same == changes.nr;
			text_string(text, has_table && !(is_short && was_short) ? "\n" : "");
			put_table(text, (enum measure)measure, &changes, from, to, top);
			was_short = is_short;
			has_table = true;
		}
		free(changes.change);
	}
	return has_table;
}

/* JSON. */

static void put_json_value(struct json *json, struct value value)
{
	char digits[64];

	snprintf(digits, sizeof(digits), "%.0f", value.value);
	if (value.is_known)
		json_digits(json, NULL, digits);
	else
		json_null(json, NULL);
}

static void put_json_change(struct json *json, enum measure measure, const struct change *change,
			    const struct timed_list *old, const struct timed_list *new)
{
	static const char *const keys[NR_STATISTICS] = {[STATISTIC_COUNT] = "count",
							[STATISTIC_TOTAL] = "total_ns",
							[STATISTIC_P99] = "p99_ns",
							[STATISTIC_MAX] = "max_ns"};

	json_object(json, NULL);
	json_string(json, measures[measure].label, change->name);
	for (int statistic = 0; statistic < NR_STATISTICS; statistic++) {
		enum metric metric = metric_of(measure, (enum statistic)statistic);

		json_array(json, keys[statistic]);
		put_json_value(json, metric_timed_value(metric, old, change->old));
		put_json_value(json, metric_timed_value(metric, new, change->new));
		json_close(json);
	}
	json_close(json);
}

void changes_print_json(struct json *json, const struct trace_times *old, const struct trace_times *new)
{
	for (int measure = 0; measure < NR_MEASURES; measure++) {
		const struct timed_list *from = &old->of[measure], *to = &new->of[measure];
		struct changes changes;

		if (!from->is_known && !to->is_known)
			continue;
		changes_find(&changes, from, to);
		json_array(json, measures[measure].key);
		for (size_t i = 0; i < changes.nr; i++)
			put_json_change(json, (enum measure)measure, &changes.change[i], from, to);
		json_close(json);
		free(changes.change);
	}
}
