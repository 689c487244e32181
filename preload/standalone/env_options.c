/* SPDX-License-Identifier: MIT */
#include "direct.h"
#include "standalone/env_options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "event/attr.h"
#include "hook.h"
#include "standalone/warn.h"

static const struct {
	const char *name;
	uint32_t bit;
} groups[] = {
#define GROUP(word)                                                                                \
	{                                                                                          \
		.name = #word, .bit = PX_GROUP_##word                                              \
	}
	GROUP(thread),
	GROUP(mutex),
	GROUP(spin),
	GROUP(rwlock),
	GROUP(barrier),
	GROUP(once),
	GROUP(cond),
	GROUP(sem),
	GROUP(mq),
	GROUP(sleep),
	GROUP(process),
	GROUP(file),
	GROUP(stdio),
	GROUP(socket),
	GROUP(poll),
	GROUP(heap),
	GROUP(timer),
	GROUP(signal),
	GROUP(name),
	GROUP(futex),
#undef GROUP
	{"all", PX_GROUPS_DEFAULT | PX_GROUP_heap | PX_GROUP_signal},
};

static uint32_t bits_of(const char *word, size_t length)
{
	for (size_t i = 0; i < PX_ARRAY_SIZE(groups); i++)
		if (strlen(groups[i].name) == length && memcmp(groups[i].name, word, length) == 0)
			return groups[i].bit;
	return 0;
}

uint32_t px_env_events(const char *text)
{
	uint32_t chosen = *text == '+' || *text == '-' ? PX_GROUPS_DEFAULT : 0;

	for (const char *word = text; *word;) {
		size_t length = strcspn(word, ",");
		bool has_sign = *word == '+' || *word == '-';
		uint32_t bits = bits_of(word + has_sign, length - has_sign);

		if (bits == 0 && length > 0) {
			px_warn("TXTRACE_EVENTS=%s: unknown group %.*s; using the default groups",
				text, (int)(length - has_sign), word + has_sign);
			return PX_GROUPS_DEFAULT;
		}
		chosen = *word == '-' ? chosen & ~bits : chosen | bits;
		word += length + (word[length] == ',');
	}
	return chosen;
}

size_t px_env_size(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	unsigned long long size;
	const char *unit;
	int shift = 0;

	errno = 0;
	size = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*text < '0' || *text > '9' || errno || *end || size == 0 || size > SIZE_MAX >> shift) {
		px_warn("TXTRACE_SIZE=%s is not a size such as 512K, 64M or 2G; using 64M", text);
		return PX_ENV_SIZE;
	}
	return (size_t)size << shift;
}

int px_env_stacks(const char *text)
{
	char *end;
	unsigned long long us;

	if (strcmp(text, "no") == 0)
		return TXTRACE_STACKS_NONE;
	if (strcmp(text, "all") == 0)
		return TXTRACE_STACKS_ALL;
	if (strcmp(text, "waits") == 0)
		return PX_STACKS_USUAL_US;
	errno = 0;
	us = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && errno == 0 && us <= PX_STACKS_BOUND_MAX_US)
		return (int)us;
	px_warn("TXTRACE_STACKS=%s is not no, waits, all or 0 to %d microseconds; recording no stacks", text,
		PX_STACKS_BOUND_MAX_US);
	return TXTRACE_STACKS_NONE;
}

int px_env_policy(const char *text)
{
	if (strcmp(text, "until-full") == 0)
		return POSIX_TRACE_UNTIL_FULL;
	if (strcmp(text, "append") == 0)
		return POSIX_TRACE_APPEND;
	if (strcmp(text, "loop") != 0)
		px_warn("TXTRACE_POLICY=%s is not loop, until-full or append; using loop", text);
	return POSIX_TRACE_LOOP;
}

/*
 * Return true if the path of the program matches.  If the expression is invalid, set *children so that no child is
 * traced.
 */
static bool matches(const char *expression, uint32_t *children)
{
	char path[PATH_MAX];
	ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
	regex_t regex;
	bool found;

	if (regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB) != 0) {
		px_warn("TXTRACE_CHILDREN=match=%s: invalid regular expression; tracing no "
			"children",
			expression);
		*children = PX_CHILDREN_NO;
		return false;
	}
	path[length > 0 ? length : 0] = '\0';
	found = regexec(&regex, path, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

bool px_env_children(const char *text, uint32_t *children)
{
	*children = PX_CHILDREN_NO;
	if (strcmp(text, "yes") == 0) {
		*children = PX_CHILDREN_YES;
		return true;
	}
	if (strncmp(text, "match=", 6) == 0) {
		*children = PX_CHILDREN_MATCH;
		return matches(text + 6, children);
	}
	if (strcmp(text, "no") != 0)
		px_warn("TXTRACE_CHILDREN=%s is not no, yes or match=REGEX; using no", text);
	return false;
}
