/* SPDX-License-Identifier: MIT */
#include "live/logname.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/message.h"

/* If the result does not fit, print a message and return false. */
static bool put_in_name(char *path, const char *text, bool is_name)
{
	size_t length = strlen(path);

	for (; *text && length + 1 < PATH_MAX; text++)
		path[length++] = is_name && (*text == '/' || iscntrl((unsigned char)*text)) ? '_' :
											      *text;
	path[length] = '\0';
	if (*text)
		message_error(ENAMETOOLONG, "-o %.40s...", path);
	return !*text;
}

static bool put_expansion(char *path, char what, const char *program, pid_t pid)
{
	time_t now = time(NULL);
	char text[32] = "%";
	struct tm date;

	switch (what) {
	case 'e':
		return put_in_name(path, program, true);
	case 'p':
		snprintf(text, sizeof(text), "%d", (int)pid);
		break;
	case 't':
		if (localtime_r(&now, &date))
			strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &date);
		break;
	case '%':
		break;
	case '\0':
		message("-o: a single %% at the end; write %%%% for a percent sign");
		return false;
	default:
		message("-o: unknown %%%c; use %%e, %%p, %%t or %%%%", what);
		return false;
	}
	return put_in_name(path, text, true);
}

bool logname_expand(const char *pattern, const char *program, pid_t pid, char path[PATH_MAX])
{
	char one[2] = "";
	bool fits = true;

	path[0] = '\0';
	for (const char *at = pattern; fits && *at; at++) {
		if (*at == '%') {
			fits = put_expansion(path, *++at, program, pid);
			continue;
		}
		one[0] = *at;
		fits = put_in_name(path, one, false);
	}
	return fits;
}
