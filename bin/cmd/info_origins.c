/* SPDX-License-Identifier: MIT */
#include "cmd/info_origins.h"

#include <stdio.h>

#include "base/units.h"
#include "cli/rows.h"
#include "trace/origins.h"

/* A signed duration: "+1.5 s". */
static const char *put_shift(char *text, size_t size, int64_t ns)
{
	*text = ns < 0 ? '-' : '+';
	units_duration(text + 1, size - 1, ns < 0 ? -ns : ns);
	return text;
}

/* The logs that a merged log was made of, and what was added to their times. */
void info_list_origins(struct text *text, struct source *source)
{
	static const struct rows_column columns[] = {
		{"host", NULL, 0, 16, false},	    {"number", NULL, 2, 6, true},
		{"file", NULL, 2, 20, false},	    {"pid", NULL, 2, 10, true},
		{"times", NULL, 2, 9, true},	    {"per second", NULL, 2, 10, true},
		{"uncertainty", NULL, 2, 0, false}, {NULL, NULL, 0, 0, false},
	};
	struct rows rows = {.text = text, .columns = columns};
	char shift[40], drift[40], uncertainty[40];
	size_t nr;
	const struct txtrace_origin *origin = source_origins(source, &nr);

	text_char(text, '\n');
	rows_titles(&rows);
	for (size_t i = 0; i < nr; i++, origin++) {
		snprintf(uncertainty, sizeof(uncertainty), "not known");
		if (origin->uncertainty_ns >= 0)
			units_duration(uncertainty, sizeof(uncertainty), origin->uncertainty_ns);
		rows_begin(&rows);
		rows_string(&rows, origin->host_name);
		rows_signed(&rows, origin->host);
		rows_string(&rows, origin->name);
		rows_signed(&rows, origin->pid);
		rows_string(&rows, put_shift(shift, sizeof(shift), origin->shift_ns));
		rows_string(&rows, put_shift(drift, sizeof(drift), origin->drift / 1000));
		rows_string(&rows, uncertainty);
		rows_end(&rows);
	}
}

static void put_json_decimal(struct json *json, const char *key, long long value, long long unit)
{
	char digits[48];

	if (unit == 1)
		snprintf(digits, sizeof(digits), "%lld", value);
	else
		snprintf(digits, sizeof(digits), "%.6f", (double)value / (double)unit);
	json_digits(json, key, digits);
}

void info_json_origins(struct json *json, struct source *source)
{
	size_t nr;
	const struct txtrace_origin *origin = source_origins(source, &nr);

	json_array(json, "origin_list");
	for (size_t i = 0; i < nr; i++, origin++) {
		json_object(json, NULL);
		json_string(json, "name", origin->name);
		json_number(json, "host", origin->host);
		json_string(json, "host_name", origin->host_name);
		json_string(json, "boot_id", origin->boot_id);
		json_number(json, "pid", (uint64_t)origin->pid);
		put_json_decimal(json, "shift_ns", origin->shift_ns, 1);
		put_json_decimal(json, "drift_ppm", origin->drift, 1000000);
		if (origin->uncertainty_ns >= 0)
			json_number(json, "uncertainty_ns", (uint64_t)origin->uncertainty_ns);
		else
			json_null(json, "uncertainty_ns");
		json_close(json);
	}
	json_close(json);
}
