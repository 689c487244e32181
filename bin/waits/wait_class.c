/* SPDX-License-Identifier: MIT */
#include "waits/wait_class.h"

#include <string.h>

#include "trace/states.h"

enum wait_class wait_class_of(const struct wait *wait)
{
	static const struct {
		const char *kind;
		enum wait_class class;
	} kinds[] = {
		{"mutex", WAIT_LOCK},	       {"rwlock", WAIT_LOCK},
		{"spin lock", WAIT_LOCK},      {"once", WAIT_LOCK},
		{"condition", WAIT_CONDITION}, {"event flags", WAIT_CONDITION},
		{"barrier", WAIT_CONDITION},   {"semaphore", WAIT_QUEUE},
		{"queue", WAIT_QUEUE},	       {"futex", WAIT_LOCK},
		{"thread", WAIT_JOIN},	       {"block pool", WAIT_OTHER},
		{"byte pool", WAIT_OTHER},
	};
	const char *kind = wait->object->kind;

	for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			return kinds[i].class;
	if (wait->state == STATE_NET)
		return WAIT_IO;
	if (wait->state == STATE_SLEEP)
		return WAIT_SLEEP;
	return strncmp(wait->service, "wait", strlen("wait")) == 0 ||
			       strcmp(wait->service, "system") == 0 ?
		       WAIT_JOIN :
		       WAIT_OTHER;
}
