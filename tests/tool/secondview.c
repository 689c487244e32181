/* SPDX-License-Identifier: MIT */
/*
 * Print the verdict of the suites' own checker on a file: "refused", or its warnings in alphabetical order.  This
 * checker and `txtrace check` were written independently, and must agree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/txtb_checker.h"

static const struct {
	unsigned int warnings;
	const char *name;
} names[] = {
	{TXTB_CONTEXT_NO_THREAD, "context-no-thread"},
	{TXTB_CONTEXT_UNNAMED, "context-unnamed"},
	{TXTB_HANDLE_RESERVED, "handle-reserved"},
	{TXTB_HANDLE_TWICE, "handle-twice"},
	{TXTB_MASK_ODD, "mask"},
	{TXTB_NAME_AWKWARD, "name-character"},
	{TXTB_NAME_LOST, "name-lost"},
	{TXTB_NAME_TWICE, "name-twice"},
	{TXTB_SLACK_IN_REGISTRY, "registry-slack"},
	{TXTB_TIME_FALLS, "time-falls"},
};

int main(int argc, char **argv)
{
	static unsigned char bytes[16 << 20];
	struct txtb_trace trace;
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	enum txtb_verdict verdict = txtb_check(bytes, size, &trace);

	if (!file)
		return 2;
	if (verdict != TXTB_ACCEPTED)
		puts("refused");
	for (size_t i = 0; verdict == TXTB_ACCEPTED && i < sizeof(names) / sizeof(names[0]); i++)
		if (trace.warnings & names[i].warnings)
			puts(names[i].name);
	txtb_free(&trace);
	fclose(file);
	return 0;
}
