/* SPDX-License-Identifier: MIT */
#include "diff/threshold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "trace/time_arg.h"

/* Parse the metric, and the glob if a colon follows. */
static bool take_metric(const char *text, size_t length, struct threshold *threshold)
{
	const char *colon = memchr(text, ':', length);
	size_t size = colon ? (size_t)(colon - text) : length;
	enum metric metric = metric_find(text, size);

	if (metric == NR_METRICS) {
		message("--fail-if %s: there is no metric %.*s; the metrics are count, rate, median, p99, max, thread, "
			"events, duration, lost, and hold, wait, span, cpu, call-wait, thread-wait, thread-hold with "
			"-count, -total, -p99 or -max",
			threshold->text, (int)size, text);
		return false;
	}
	threshold->metric = metric;
	if (!metric_has_name(metric) && colon) {
		message("--fail-if %s: %s is for the whole trace, and takes no name", threshold->text,
			metric_name(metric));
		return false;
	}
	if (metric_has_name(metric) && (!colon || colon + 1 == text + length)) {
		message("--fail-if %s: name required: %s:NAME, or %s:* for each", threshold->text,
			metric_name(metric), metric_name(metric));
		return false;
	}
	if (colon)
		threshold->glob = must(strndup(colon + 1, (size_t)(text + length - colon - 1)));
	return true;
}

/*
 * Find the last operator, because names may contain the same characters. Return the length of the operator, or 0 if
 * there is no operator.
 */
static size_t find_operator(const char *text, size_t *at, struct threshold *threshold)
{
	static const struct {
		const char *text;
		int sign;
		bool or_equal, is_inverted;
	} operators[] = {{">=", 1, true, false}, {"<=", -1, true, false}, {"!=", 0, true, true},
			 {">", 1, false, false}, {"<", -1, false, false}, {"=", 0, true, false}};

	for (*at = strlen(text); (*at)-- > 0;)
		for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
			size_t length = strlen(operators[i].text);
			size_t begin = *at + 1 - length;

			if (*at + 1 < length ||
			    strncmp(text + begin, operators[i].text, length) != 0)
				continue;
			*at = begin;
			threshold->sign = operators[i].sign;
			threshold->or_equal = operators[i].or_equal;
			threshold->is_inverted = operators[i].is_inverted;
			return length;
		}
	return 0;
}

static bool take_number(const char *text, struct threshold *threshold)
{
	bool is_time = metric_is_time(threshold->metric);
	char *end;

	threshold->number = strtod(text, &end);
	if (end == text || !isfinite(threshold->number)) {
		message("--fail-if %s: number required after the comparison", threshold->text);
		return false;
	}
	threshold->is_percent = strcmp(end, "%") == 0;
	if (threshold->is_percent || (*end == '\0' && (!is_time || threshold->number == 0)))
		return true;
	if (is_time && unit_ns(end) > 0) {
		threshold->number *= unit_ns(end);
		return true;
	}
	message(is_time ? "--fail-if %s: the unit is %%, ns, us, ms, s, m or h" :
			  "--fail-if %s: the unit is %%, or none",
		threshold->text);
	return false;
}

/* Blanks around the comparison are no part of the name. */
static size_t without_blanks(const char *text, size_t length)
{
	while (length > 0 && text[length - 1] == ' ')
		length--;
	return length;
}

bool threshold_parse(const char *text, struct threshold *threshold)
{
	size_t at, length;

	*threshold = (struct threshold){.text = text};
	length = find_operator(text, &at, threshold);
	if (length == 0) {
		message("--fail-if %s: comparison required, such as count:NAME>10%% or lost>0",
			text);
		return false;
	}
	if (take_metric(text, without_blanks(text, at), threshold) && take_number(text + at + length, threshold))
		return true;
	threshold_free(threshold);
	return false;
}

void threshold_free(struct threshold *threshold)
{
	free(threshold->glob);
	threshold->glob = NULL;
}

bool threshold_holds(const struct threshold *threshold, struct value old, struct value new)
{
	/*
	 * Compare without a division. The rounding of a division could make 55 % of a whole number slightly too large.
	 */
	bool scales = threshold->is_percent && old.value > 0;
	double value = scales		     ? new.value * 100 :
		       threshold->is_percent ? change_of(old.value, new.value) :
					       new.value;
	double bound = scales ? old.value * (100 + threshold->number) : threshold->number;
	int sign = (value > bound) - (value < bound);

	if (!new.is_known || (threshold->is_percent && !old.is_known))
		return false;
	return (sign == threshold->sign || (sign == 0 && threshold->or_equal)) !=
	       threshold->is_inverted;
}
