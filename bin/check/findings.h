/* SPDX-License-Identifier: MIT */
/*
 * Findings of `txtrace check`.  Of each rule, the first few findings are stored with their offsets, and all findings
 * are counted.
 */
#ifndef TXTRACE_CHECK_FINDINGS_H
#define TXTRACE_CHECK_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "cli/json.h"

enum rule {
#define PX_RULE(name, severity) RULE_##name,
#include "check/rules.def"
	NR_RULES
};

#define FINDINGS_OF_RULE 5
#define NO_OFFSET UINT64_MAX

struct finding {
	enum rule rule;
	unsigned int volume;
	uint64_t offset; /* NO_OFFSET if the finding has no offset */
	char *message;
};

struct findings {
	unsigned int volume; /* number of the current volume, from 1 */
	uint64_t count[NR_RULES];
	uint64_t last[NR_RULES]; /* offset of the last finding of each rule */
	unsigned int nr_kept;
	struct finding kept[NR_RULES * FINDINGS_OF_RULE];
};

void findings_add(struct findings *findings, enum rule rule, uint64_t offset, const char *format,
		  ...) __attribute__((format(printf, 4, 5)));

/* Return the name of the rule with hyphens, such as "registry-cut". */
const char *rule_name(enum rule rule);

uint64_t findings_errors(const struct findings *findings);
uint64_t findings_warnings(const struct findings *findings);

/* Print a line for each stored finding.  If there are several volumes, the line names the volume. */
void findings_print(const struct findings *findings, struct text *text, unsigned int nr_volumes);

/* Print the stored findings as the JSON array "findings". */
void findings_print_json(const struct findings *findings, struct json *json);

void findings_free(struct findings *findings);

#endif
