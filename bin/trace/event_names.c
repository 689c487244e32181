/* SPDX-License-Identifier: MIT */
#include "trace/event_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/message.h"
#include "trace/native.h"
#include "trace/type_lines.h"

#define NR_FIELDS 13
#define FIELD_LABEL 9
#define NR_LABELS 4
#define ID_LAST 65535

/* A value is a pointer to a name, under 1 + id.  The names stay until the program ends. */
static struct map names;

const char *event_names_find(unsigned int id)
{
	return (const char *)(uintptr_t)map_find(&names, 1 + (uint64_t)id);
}

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && strchr(" \t", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* Make a name of a field from a label such as "Info 1". */
static void add_field(char *text, size_t size, const char *label, unsigned int i)
{
	char name[64];
	size_t length = 0;

	if (isdigit((unsigned char)*label))
		name[length++] = '_';
	for (; *label && length < sizeof(name) - 3; label++)
		name[length++] = isalnum((unsigned char)*label) ? *label : '_';
	name[length] = '\0';
	if (length == 0)
		snprintf(name, sizeof(name), "info%u", i + 1);
	/* Two fields of an event need two names. */
	for (const char *at = text; (at = strstr(at, name)); at++) {
		if (at > text && at[-1] == ' ' && at[strlen(name)] == ';') {
			snprintf(name + strlen(name), sizeof(name) - strlen(name), "_%u", i + 1);
			break;
		}
	}
	snprintf(text + strlen(text), size - strlen(text), "u32 %s;", name);
}

/* Return NULL, or what is wrong with the line. */
static const char *take_line(char *line, const char *origin)
{
	char *field[NR_FIELDS], text[NR_LABELS * 72] = "", *end;
	unsigned long id;
	int nr = 0;

	for (char *next = line; next; nr++) {
		char *begin = strsep(&next, ",");

		if (nr == NR_FIELDS)
			return "has more than 13 fields";
		field[nr] = trim(begin);
	}
	if (nr < NR_FIELDS)
		return "has fewer than 13 fields";
	errno = 0;
	id = strtoul(field[0], &end, 10);
	if (!isdigit((unsigned char)field[0][0]) || *end != '\0' || errno || id > ID_LAST)
		return "does not begin with the number of an event";
	if (field[1][0] == '\0')
		return "has no name";
	if (native_title((unsigned int)id))
		return NULL;
	for (unsigned int i = 0; i < NR_LABELS; i++)
		add_field(text, sizeof(text), field[FIELD_LABEL + i], i);
	*map_get(&names, 1 + (uint64_t)id) = (uintptr_t)must(strdup(field[1]));
	type_lines_add(field[1], text, origin);
	return NULL;
}

static bool read_lines(FILE *file, const char *path)
{
	bool has_begun = false, has_ended = false;
	const char *fault = NULL;
	unsigned int number = 0;
	char *line = NULL, origin[512];
	size_t room = 0;

	while (!fault && !has_ended && getline(&line, &room, file) >= 0) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		snprintf(origin, sizeof(origin), "%s:%u", path, number);
		if (!has_begun)
			has_begun = strcmp(line, "Start") == 0;
		else if (strcmp(line, "End") == 0)
			has_ended = true;
		else
			fault = take_line(line, origin);
	}
	free(line);
	if (fault)
		message("%s: the line %s", origin, fault);
	else if (!has_ended && !ferror(file))
		message("%s: there is no line \"%s\"", path, has_begun ? "End" : "Start");
	return !fault && has_ended;
}

bool event_names_file(const char *path)
{
	FILE *file = fopen(path, "re");
	bool is_fine;

	if (!file) {
		message_error(errno, "cannot read %s", path);
		return false;
	}
	is_fine = read_lines(file, path);
	if (ferror(file)) {
		message_error(errno, "cannot read %s", path);
		is_fine = false;
	}
	fclose(file);
	return is_fine;
}
