/* SPDX-License-Identifier: MIT */
#include "base/when.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/message.h"

#define S_NS INT64_C(1000000000)

static enum { RELATIVE, UTC, LOCAL, EPOCH } style;

bool when_option(const char *argument)
{
	static const char *const words[] = {
		[RELATIVE] = "relative", [UTC] = "utc", [LOCAL] = "local", [EPOCH] = "epoch"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(argument, words[i]) == 0) {
			style = i;
			return true;
		}
	}
	message("--time takes relative, utc, local or epoch, not %s", argument);
	return false;
}

bool when_is_relative(void)
{
	return style == RELATIVE;
}

int when_width(void)
{
	static const int widths[] = {[RELATIVE] = 15, [UTC] = 30, [LOCAL] = 35, [EPOCH] = 20};

	return widths[style];
}

/* Write the date and the zone around the nanoseconds.  The same second often comes again. */
static void write_date(char text[WHEN_BYTES], int64_t seconds, int64_t ns)
{
	static char date[32], zone[8];
	static int64_t known = INT64_MIN;
	time_t time = (time_t)seconds;
	struct tm parts;

	if (seconds != known) {
		if (!(style == UTC ? gmtime_r(&time, &parts) : localtime_r(&time, &parts)))
			memset(&parts, 0, sizeof(parts));
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
		strftime(zone, sizeof(zone), "%z", &parts);
		known = seconds;
	}
	if (style == UTC)
		snprintf(text, WHEN_BYTES, "%s.%09lldZ", date, (long long)ns);
	else
		snprintf(text, WHEN_BYTES, "%s.%09lld%.3s:%s", date, (long long)ns, zone, zone[0] ? zone + 3 : "");
}

void when_write(char text[WHEN_BYTES], int64_t time_ns)
{
	int64_t seconds = time_ns / S_NS, ns = time_ns % S_NS;

	if (style == EPOCH) {
		snprintf(text, WHEN_BYTES, "%s%lld.%09lld", time_ns < 0 ? "-" : "",
			 (long long)(seconds < 0 ? -seconds : seconds),
			 (long long)(ns < 0 ? -ns : ns));
		return;
	}
	if (ns < 0) {
		seconds--;
		ns += S_NS;
	}
	write_date(text, seconds, ns);
}
