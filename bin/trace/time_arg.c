/* SPDX-License-Identifier: MIT */
#include "trace/time_arg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/message.h"

#define EPOCH_DIGITS 9 /* so times before March 1973 need a date */
#define EPOCH_DIGITS_MAX 18

/*
 * Add two times.  If the sum is too large, return the largest time.  Then a time in the year 9999 is after all events.
 */
static int64_t later(int64_t time_ns, int64_t by_ns)
{
	int64_t sum;

	if (!__builtin_add_overflow(time_ns, by_ns, &sum))
		return sum;
	return by_ns < 0 ? INT64_MIN : INT64_MAX;
}

double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

static bool parse_relative(const char *text, struct time_arg *time_arg)
{
	char *end;
	double number = strtod(text, &end);
	double ns = end == text ? 0 : number * unit_ns(end);

	if (end == text || unit_ns(end) == 0 || !(ns > -9e18 && ns < 9e18))
		return false;
	time_arg->is_relative = true;
	time_arg->ns = (int64_t)(ns + (number < 0 ? -0.5 : 0.5));
	return true;
}

/* Read the digits of a fraction of a second.  Digits after the ninth have no effect. */
static const char *read_fraction(const char *text, int64_t *ns)
{
	int64_t scale = NS_PER_S / 10;

	for (; isdigit((unsigned char)*text); text++, scale /= 10)
		*ns += scale * (*text - '0');
	return text;
}

/* Parse seconds since 1970, such as 1795595463.005.  Smaller numbers lack a unit. */
static bool parse_epoch(const char *text, struct time_arg *time_arg)
{
	size_t length = strspn(text, "0123456789");
	int64_t ns = 0;
	const char *rest = text + length;

	if (length < EPOCH_DIGITS || length > EPOCH_DIGITS_MAX)
		return false;
	if (*rest == '.')
		rest = read_fraction(rest + 1, &ns);
	if (*rest)
		return false;
	time_arg->seconds_of_day = -1;
	if (__builtin_mul_overflow(strtoll(text, NULL, 10), NS_PER_S, &time_arg->ns))
		time_arg->ns = INT64_MAX;
	time_arg->ns = later(time_arg->ns, ns);
	return true;
}

/* Read a time of the form HH:MM[:SS[.digits]].  Return what follows, or NULL. */
static const char *read_clock(const char *text, int *seconds, int64_t *ns)
{
	int hour, minute, second = 0, length = 0;

	*ns = 0;
	if (sscanf(text, "%2d:%2d%n", &hour, &minute, &length) < 2)
		return NULL;
	text += length;
	if (*text == ':') {
		if (sscanf(text, ":%2d%n", &second, &length) < 1)
			return NULL;
		text += length;
	}
	if (*text == '.')
		text = read_fraction(text + 1, ns);
	*seconds = hour * 3600 + minute * 60 + second;
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61 ? text : NULL;
}

/* Parse "Z", "+HH:MM" or "-HH:MM". */
static bool parse_zone(const char *text, int *east_s)
{
	int hour, minute, length = 0;

	*east_s = 0;
	if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
		return true;
	if ((*text != '+' && *text != '-') || !isdigit((unsigned char)text[1]) ||
	    sscanf(text + 1, "%2d:%2d%n", &hour, &minute, &length) < 2 || text[1 + length] || hour > 23 || minute > 59)
		return false;
	*east_s = (hour * 60 + minute) * (*text == '-' ? -60 : 60);
	return true;
}

static bool parse_absolute(const char *text, struct time_arg *time_arg)
{
	struct tm date = {.tm_isdst = -1};
	int seconds = 0, length = 0, east_s = 0;
	const char *rest = "";
	bool has_zone;
	int64_t ns = 0;
	time_t day;

	time_arg->is_relative = false;
	if (sscanf(text, "%4d-%2d-%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday, &length) <
	    3) {
		rest = read_clock(text, &seconds, &ns);
		time_arg->seconds_of_day = rest && !*rest ? seconds : -1;
		time_arg->ns = ns;
		return time_arg->seconds_of_day >= 0;
	}
	text += length;
	if (*text == 'T' || *text == 't' || *text == ' ')
		rest = read_clock(text + 1, &seconds, &ns);
	else if (*text)
		return false;
	if (!rest)
		return false;
	has_zone = *rest != '\0';
	if (has_zone && !parse_zone(rest, &east_s))
		return false;
	date.tm_year -= 1900;
	date.tm_mon -= 1;
	date.tm_hour = seconds / 3600;
	date.tm_min = seconds / 60 % 60;
	date.tm_sec = seconds % 60;
	day = has_zone ? timegm(&date) : mktime(&date);
	time_arg->seconds_of_day = -1;
	if (__builtin_mul_overflow((int64_t)day - east_s, NS_PER_S, &time_arg->ns))
		time_arg->ns = day < 0 ? INT64_MIN : INT64_MAX;
	time_arg->ns = later(time_arg->ns, ns);
	return day != (time_t)-1;
}

bool time_arg_parse(const char *text, struct time_arg *time_arg)
{
	*time_arg = (struct time_arg){.is_set = true};
	if (parse_relative(text, time_arg) || parse_epoch(text, time_arg) || parse_absolute(text, time_arg))
		return true;
	message("%s is not a time such as 1.5s, 20ms, 12:30:01.5, 2026-11-21T12:30, "
		"2026-11-21T12:30:01.5Z, 1795593600.25",
		text);
	return false;
}

bool time_arg_is_never_before(const struct time_arg *a, const struct time_arg *b)
{
	if (a->is_relative != b->is_relative || (a->seconds_of_day < 0) != (b->seconds_of_day < 0))
		return false;
	if (a->seconds_of_day != b->seconds_of_day)
		return a->seconds_of_day > b->seconds_of_day;
	return a->ns >= b->ns;
}

int64_t time_arg_ns(const struct time_arg *time_arg, const struct source *source)
{
	time_t first = (time_t)(source->first_ns / NS_PER_S);
	struct tm date;

	if (time_arg->is_relative)
		return later(source->first_ns, time_arg->ns);
	if (time_arg->seconds_of_day < 0)
		return time_arg->ns;
	localtime_r(&first, &date); /* the day on which the trace begins */
	date.tm_hour = date.tm_min = 0;
	date.tm_sec = (int)time_arg->seconds_of_day;
	return (int64_t)mktime(&date) * NS_PER_S + time_arg->ns;
}
