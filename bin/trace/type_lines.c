/* SPDX-License-Identifier: MIT */
#include "trace/type_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/fields/fields.h"
#include "base/memory.h"
#include "base/message.h"

struct type_lines type_lines_given;

static void add(struct type_lines *lines, const char *event, const char *text, const char *origin, bool is_option)
{
	struct type_line **place = &lines->first, *line = must(calloc(1, sizeof(*line)));

	line->event = must(strdup(event));
	line->text = must(strdup(text));
	line->origin = must(strdup(origin));
	line->is_option = is_option;
	while (*place && !is_option)
		place = &(*place)->next;
	line->next = *place;
	*place = line;
}

void type_lines_add(const char *event, const char *text, const char *origin)
{
	add(&type_lines_given, event, text, origin, false);
}

static bool check_text(const char *origin, const char *text)
{
	const struct px_fields_model model = px_fields_native();
	struct px_fields_error error;
	struct px_fields *fields;

	if (px_fields_parse(text, strlen(text), &model, &fields, &error) != 0) {
		message("%s: column %zu of \"%s\": %s", origin, error.column, text, error.what);
		return false;
	}
	px_fields_free(fields);
	return true;
}

static bool take_line(struct type_lines *lines, const char *origin, bool is_option, const char *line)
{
	const char *text = strchr(line, '=');
	size_t length = text ? (size_t)(text - line) : 0;
	char *made;

	while (length > 0 && strchr(" \t", line[length - 1]))
		length--;
	if (length == 0) {
		message("%s needs EVENT=FIELDS, not \"%s\"", origin, line);
		return false;
	}
	for (text++; *text == ' ' || *text == '\t';)
		text++;
	if (!check_text(origin, text))
		return false;
	made = must(strndup(line, length));
	add(lines, made, text, origin, is_option);
	free(made);
	return true;
}

bool type_lines_option(const char *argument)
{
	return take_line(&type_lines_given, "--type", true, argument);
}

/* Files. */

/* Append a line of the file to the text of the lines that it continues. */
static void append(char **whole, const char *line)
{
	size_t before = *whole ? strlen(*whole) : 0;

	*whole = must(realloc(*whole, before + strlen(line) + 1));
	memcpy(*whole + before, line, strlen(line) + 1);
}

static bool end_line(struct type_lines *lines, const char *path, unsigned int number, char **whole)
{
	char origin[512];
	bool is_fine = true;

	if (*whole) {
		snprintf(origin, sizeof(origin), "%s:%u", path, number);
		is_fine = take_line(lines, origin, false, *whole);
	}
	free(*whole);
	*whole = NULL;
	return is_fine;
}

static bool read_lines(struct type_lines *lines, const char *path, FILE *file)
{
	unsigned int number = 0, begin = 0;
	char *line = NULL, *whole = NULL;
	bool is_fine = true;
	size_t room = 0;

	while (getline(&line, &room, file) >= 0) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		if (*line == '#' || line[strspn(line, " \t")] == '\0')
			continue;
		if (*line != ' ' && *line != '\t') {
			is_fine &= end_line(lines, path, begin, &whole);
			begin = number;
		}
		append(&whole, line);
	}
	is_fine &= end_line(lines, path, begin, &whole);
	free(line);
	return is_fine;
}

bool type_lines_file(const char *path)
{
	FILE *file = fopen(path, "re");
	bool is_fine;

	if (!file) {
		message_error(errno, "cannot read %s", path);
		return false;
	}
	is_fine = read_lines(&type_lines_given, path, file);
	if (ferror(file)) {
		message_error(errno, "cannot read %s", path);
		is_fine = false;
	}
	fclose(file);
	return is_fine;
}

void type_lines_beside(struct type_lines *lines, const char *trace_path)
{
	const char *slash = strrchr(trace_path, '/');
	size_t directory = slash ? (size_t)(slash - trace_path) + 1 : 0;
	char *path = must(calloc(directory + sizeof(TYPE_LINES_BESIDE), 1));
	FILE *file;

	memcpy(path, trace_path, directory);
	memcpy(path + directory, TYPE_LINES_BESIDE, sizeof(TYPE_LINES_BESIDE));
	file = fopen(path, "re");
	if (file) {
		read_lines(lines, path, file);
		fclose(file);
	} else if (errno != ENOENT && errno != ENOTDIR) {
		message_error(errno, "cannot read %s", path);
	}
	free(path);
}

/* Use. */

struct type_line *type_lines_find(const struct type_lines *lines, const char *event)
{
	struct type_line *i = lines->first;

	while (i && strcmp(i->event, event) != 0)
		i = i->next;
	return i;
}

void type_lines_free(struct type_lines *lines)
{
	while (lines->first) {
		struct type_line *line = lines->first;

		lines->first = line->next;
		free(line->event);
		free(line->text);
		free(line->origin);
		free(line);
	}
}
