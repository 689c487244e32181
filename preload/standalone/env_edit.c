/* SPDX-License-Identifier: MIT */
#include "standalone/env_edit.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

static bool is_variable(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
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

static bool has_lib(const char *object, size_t length)
{
	return memmem(object, length, "$LIB", 4) || memmem(object, length, "${LIB}", 6);
}

/*
 * Copy LD_PRELOAD, with the other object instead of this one, or with none if `other` is NULL.  Return false if the
 * copy names no object.
 */
static bool copy_objects(const char *entry, char *to, const char *other)
{
	const char *object = strchr(entry, '=') + 1;
	bool has_any = false;

	to = mempcpy(to, entry, (size_t)(object - entry));
	while (*object) {
		size_t length = strcspn(object, ": ");
		bool is_ours = length > 0 && is_our_object(object, length);

		if (length > 0 && (!is_ours || other)) {
			if (has_any)
				*to++ = ':';
			to = is_ours && !has_lib(object, length) ? stpcpy(to, other) : mempcpy(to, object, length);
			has_any = true;
		}
		object += length + (object[length] != '\0');
	}
	*to = '\0';
	return has_any;
}

/*
 * `other` is the size of what replaces this object.  Each entry for this object has at least its name and a separator;
 * the first one has the name of the variable instead.
 */
static size_t size_of_copy(char *const *envp, size_t other)
{
	size_t room = sizeof(char *);

	for (; envp && *envp; envp++) {
		room += sizeof(char *);
		if (is_variable(*envp, "LD_PRELOAD"))
			room += strlen(*envp) + 1 + other * (strlen(*envp) / sizeof(PX_OBJECT_NAME));
	}
	return room;
}

static char **copy_env(char *const *envp, void *room, const char *other)
{
	char **made = room, **next = room;
	size_t nr = 1;
	char *text;

	for (char *const *entry = envp; entry && *entry; entry++)
		nr++;
	text = (char *)(made + nr);
	for (; envp && *envp; envp++) {
		if (!other && is_variable(*envp, "TXTRACE_OUT"))
			continue;
		if (!is_variable(*envp, "LD_PRELOAD")) {
			*next++ = *envp;
		} else if (copy_objects(*envp, text, other)) {
			*next++ = text;
			text += strlen(text) + 1;
		}
	}
	*next = NULL;
	return made;
}

size_t px_env_edit_size(char *const *envp)
{
	return size_of_copy(envp, 0);
}

char **px_env_edit_make(char *const *envp, void *room)
{
	return copy_env(envp, room, NULL);
}

size_t px_env_replace_size(char *const *envp, size_t restored, const char *other)
{
	if (restored > 0)
		return restored + strlen(other) * (restored / sizeof(PX_OBJECT_NAME));
	return size_of_copy(envp, strlen(other));
}

char **px_env_replace_make(char *const *envp, void *room, const char *other)
{
	return copy_env(envp, room, other);
}

/* Variables that a program left out. */

#define KEPT_MAX 16
#define KEPT_BYTES 8192

static char kept_text[KEPT_BYTES];
static char *kept[KEPT_MAX]; /* kept[0] is LD_PRELOAD */
static size_t nr_kept;
static char object_path[PATH_MAX]; /* of this object */

static const char *value_in(char *const *envp, const char *name)
{
	for (; envp && *envp; envp++)
		if (is_variable(*envp, name))
			return *envp + strlen(name) + 1;
	return NULL;
}

/* Return the part of this LD_PRELOAD that is the path of this object, or NULL. */
static const char *find_us(const char *objects, size_t *length)
{
	for (; objects && *objects; objects += *length + (objects[*length] != '\0')) {
		*length = strcspn(objects, ": ");
		if (*length > 0 && is_our_object(objects, *length))
			return objects;
	}
	return NULL;
}

static bool is_same_variable(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");

	return strncmp(a, b, length) == 0 && b[length] == '=';
}

static bool is_listed(char *const *envp, const char *entry)
{
	for (; envp && *envp; envp++)
		if (is_same_variable(entry, *envp))
			return true;
	return false;
}

static bool keep(const char *entry, size_t *used)
{
	size_t size = strlen(entry) + 1;

	if (nr_kept == KEPT_MAX || size > KEPT_BYTES - *used)
		return false;
	kept[nr_kept++] = memcpy(kept_text + *used, entry, size);
	*used += size;
	return true;
}

void px_env_keep(char *const *envp)
{
	const char *objects = value_in(envp, "LD_PRELOAD");
	size_t length, used = 0;
	Dl_info us;
	bool fits;

	if (dladdr(object_path, &us) != 0 && us.dli_fname && strlen(us.dli_fname) < sizeof(object_path))
		strcpy(object_path, us.dli_fname);
	if (!find_us(objects, &length))
		return;
	fits = keep(objects - (sizeof("LD_PRELOAD=") - 1), &used);
	for (char *const *entry = envp; fits && *entry; entry++)
		if (strncmp(*entry, "TXTRACE_", 8) == 0)
			fits = keep(*entry, &used);
	if (!fits)
		nr_kept = 0;
}

const char *px_env_object(void)
{
	return object_path[0] == '/' ? object_path : NULL;
}

size_t px_env_restore_size(char *const *envp)
{
	const char *objects = value_in(envp, "LD_PRELOAD");
	size_t length, nr = 0;

	if (nr_kept == 0 || find_us(objects, &length) || value_in(envp, "TXTRACE_DISABLE"))
		return 0;
	while (envp && envp[nr])
		nr++;
	return (nr + nr_kept + 1) * sizeof(char *) + strlen(kept[0]) +
	       (objects ? strlen(objects) : 0) + sizeof("LD_PRELOAD=:");
}

/*
 * The program has chosen other objects.  Put this object before them, because calls of a function that one of them
 * defines would not be recorded otherwise.  But the runtime of a sanitizer must come first, or it ends the program.
 */
static char *join_objects(const char *objects, char *to)
{
	size_t length = 0;
	const char *us = find_us(strchr(kept[0], '=') + 1, &length);
	bool is_behind = strstr(objects, "libasan.so") || strstr(objects, "libclang_rt.asan");
	char *next = stpcpy(to, "LD_PRELOAD=");

	if (is_behind) {
		next = stpcpy(next, objects);
		*next++ = ':';
	}
	next = mempcpy(next, us, length);
	if (!is_behind) {
		*next++ = ':';
		next = stpcpy(next, objects);
	}
	*next = '\0';
	return to;
}

char **px_env_restore_make(char *const *envp, void *room)
{
	const char *objects = value_in(envp, "LD_PRELOAD");
	char **made = room, **next = room;
	size_t nr = 0;

	while (envp && envp[nr])
		nr++;
	for (size_t i = 0; i < nr; i++)
		if (!is_variable(envp[i], "LD_PRELOAD"))
			*next++ = envp[i];
	*next++ = objects && *objects ? join_objects(objects, (char *)(made + nr + nr_kept + 1)) : kept[0];
	for (size_t i = 1; i < nr_kept; i++)
		if (!is_listed(envp, kept[i]))
			*next++ = kept[i];
	*next = NULL;
	return made;
}
