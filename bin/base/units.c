/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include <stdio.h>

void units_add(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = ns < 0 ? INT64_MIN : INT64_MAX;
}

void units_duration(char *text, size_t size, int64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		/* 999.95 us and more would round to 1000.0 us */
		if ((double)ns < units[i].ns * 0.99995)
			continue;
		snprintf(text, size, "%.1f %s", (double)ns / units[i].ns, units[i].name);
		return;
	}
	snprintf(text, size, "%lld ns", (long long)ns);
}
