/* SPDX-License-Identifier: MIT */
#include "check/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/terminal.h"

enum severity { ERROR, WARNING };

static const enum severity severity_of[] = {
#define PX_RULE(name, severity) [RULE_##name] = severity,
#include "check/rules.def"
};

const char *rule_name(enum rule rule)
{
	static const char *const names[] = {
#define PX_RULE(name, severity) [RULE_##name] = #name,
#include "check/rules.def"
	};
	static char name[32];

	snprintf(name, sizeof(name), "%s", names[rule]);
	for (char *at = name; *at; at++)
		if (*at == '_')
			*at = '-';
	return name;
}

void findings_add(struct findings *findings, enum rule rule, uint64_t offset, const char *format,
		  ...)
{
	struct finding *finding = &findings->kept[findings->nr_kept];
	va_list list;

	findings->last[rule] = offset;
	if (findings->count[rule]++ >= FINDINGS_OF_RULE)
		return;
	*finding = (struct finding){rule, findings->volume, offset, NULL};
	va_start(list, format);
	if (vasprintf(&finding->message, format, list) < 0)
		finding->message = NULL;
	va_end(list);
	must(finding->message);
	findings->nr_kept++;
}

static uint64_t sum(const struct findings *findings, enum severity severity)
{
	uint64_t total = 0;

	for (int rule = 0; rule < NR_RULES; rule++)
		if (severity_of[rule] == severity)
			total += findings->count[rule];
	return total;
}

uint64_t findings_errors(const struct findings *findings)
{
	return sum(findings, ERROR);
}

uint64_t findings_warnings(const struct findings *findings)
{
	return sum(findings, WARNING);
}

static void print_more(const struct findings *findings, struct text *text, enum rule rule)
{
	text_printf(text, "%20s there are %llu more like this", "",
		    (unsigned long long)(findings->count[rule] - FINDINGS_OF_RULE));
	if (findings->last[rule] != NO_OFFSET)
		text_printf(text, ", the last at 0x%llx", (unsigned long long)findings->last[rule]);
	text_char(text, '\n');
}

void findings_print(const struct findings *findings, struct text *text, unsigned int nr_volumes)
{
	unsigned int printed[NR_RULES] = {0};

	for (unsigned int i = 0; i < findings->nr_kept; i++) {
		const struct finding *finding = &findings->kept[i];
		bool is_error = severity_of[finding->rule] == ERROR;
		char place[32] = "-";

		if (finding->offset != NO_OFFSET)
			snprintf(place, sizeof(place), "0x%llx",
				 (unsigned long long)finding->offset);
		text_string(text, terminal_color(is_error ? COLOR_BAD : COLOR_BOLD));
		text_printf(text, "%-8s", is_error ? "error" : "warning");
		text_string(text, terminal_color(COLOR_PLAIN));
		text_printf(text, " %10s  ", place);
		if (nr_volumes > 1 && finding->volume > 0)
			text_printf(text, "volume %u: ", finding->volume);
		text_plain(text, finding->message, 0);
		text_printf(text, " (%s)\n", rule_name(finding->rule));
		if (++printed[finding->rule] == FINDINGS_OF_RULE &&
		    findings->count[finding->rule] > FINDINGS_OF_RULE)
			print_more(findings, text, finding->rule);
	}
}

void findings_print_json(const struct findings *findings, struct json *json)
{
	json_array(json, "findings");
	for (unsigned int i = 0; i < findings->nr_kept; i++) {
		const struct finding *finding = &findings->kept[i];

		json_object(json, NULL);
		json_string(json, "rule", rule_name(finding->rule));
		json_string(json, "severity", severity_of[finding->rule] == ERROR ? "error" : "warning");
		json_number(json, "volume", finding->volume);
		if (finding->offset == NO_OFFSET)
			json_null(json, "offset");
		else
			json_number(json, "offset", finding->offset);
		json_number(json, "of_rule", findings->count[finding->rule]);
		json_string(json, "message", finding->message);
		json_close(json);
	}
	json_close_on_line(json);
}

void findings_free(struct findings *findings)
{
	for (unsigned int i = 0; i < findings->nr_kept; i++)
		free(findings->kept[i].message);
	findings->nr_kept = 0;
}
