/* SPDX-License-Identifier: MIT */
#include "standalone/env_edit.h"

#include <stdbool.h>
#include <string.h>

static bool is_variable(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

size_t px_env_edit_size(char *const *envp)
{
	size_t room = sizeof(char *);

	for (; envp && *envp; envp++)
		room += sizeof(char *) + (is_variable(*envp, "LD_PRELOAD") ? strlen(*envp) + 1 : 0);
	return room;
}

static bool is_our_object(const char *object, size_t length)
{
	const char *name = object;

	for (size_t i = 0; i < length; i++)
		if (object[i] == '/')
			name = object + i + 1;
	length -= (size_t)(name - object);
	return length >= sizeof(PX_OBJECT_NAME) - 1 &&
	       memcmp(name, PX_OBJECT_NAME, sizeof(PX_OBJECT_NAME) - 1) == 0;
}

/* Copy LD_PRELOAD without this object.  Return false if it names no other object. */
static bool remove_us(const char *entry, char *to)
{
	const char *object = strchr(entry, '=') + 1;
	bool has_other = false;

	to = mempcpy(to, entry, (size_t)(object - entry));
	while (*object) {
		size_t length = strcspn(object, ": ");

		if (length > 0 && !is_our_object(object, length)) {
			if (has_other)
				*to++ = ':';
			to = mempcpy(to, object, length);
			has_other = true;
		}
		object += length + (object[length] != '\0');
	}
	*to = '\0';
	return has_other;
}

char **px_env_edit_make(char *const *envp, void *room)
{
	char **made = room, **next = room;
	size_t nr = 1;
	char *text;

	for (char *const *entry = envp; entry && *entry; entry++)
		nr++;
	text = (char *)(made + nr);
	for (; envp && *envp; envp++) {
		if (is_variable(*envp, "TXTRACE_OUT"))
			continue;
		if (!is_variable(*envp, "LD_PRELOAD")) {
			*next++ = *envp;
		} else if (remove_us(*envp, text)) {
			*next++ = text;
			text += strlen(text) + 1;
		}
	}
	*next = NULL;
	return made;
}
