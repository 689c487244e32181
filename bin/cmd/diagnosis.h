/* SPDX-License-Identifier: MIT */
/* What txtrace doctor finds out about a program or a process, and how it prints this. */
#ifndef TXTRACE_CMD_DIAGNOSIS_H
#define TXTRACE_CMD_DIAGNOSIS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/fields.h"
#include "trace/wrappers.h"

#define SENTENCES 16

struct sentences {
	char *text[SENTENCES];
	size_t nr;
};

struct diagnosis {
	struct fields fields;
	struct sentences obstacles;   /* the reasons why the program cannot be traced; without a reason, it can */
	struct sentences annotations; /* other remarks */
	struct imports imports;
	bool has_switches; /* the kernel reports the switches of the program, also if it cannot be traced */
	bool lacks_library;
	char switches[PATH_MAX + 64]; /* the command that records only these */
	char advice[PATH_MAX + 64]; /* the commands that trace the program */
};

/* Add a sentence.  More than SENTENCES are ignored. */
void diagnosis_add(struct sentences *sentences, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print sentences, each on a line with this label, or as an array of JSON. */
void diagnosis_put_sentences(struct fields *fields, const char *label, const struct sentences *sentences);

/* Print the sentences, the commands that trace the program, and its calls. */
void diagnosis_put(struct diagnosis *diagnosis);

void diagnosis_free(struct diagnosis *diagnosis);

#endif
