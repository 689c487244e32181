/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "fields/fields.h"

struct list {
	const struct px_fields *fields;
	px_fields_name *name;
	void *argument;
	uint32_t nr_left;
	char path[PX_FIELDS_PATH_MAX + 1];
};

static void list_struct(struct list *list, const struct px_struct *of, size_t length);

/* Append to the path, which has `length` characters.  Return its new length, or 0 if it gets too long. */
static size_t append(struct list *list, size_t length, const char *text, size_t more)
{
	if (length + more > PX_FIELDS_PATH_MAX)
		return 0;
	memcpy(list->path + length, text, more);
	list->path[length + more] = '\0';
	return length + more;
}

static void put_value(struct list *list)
{
	struct px_field_place place;

	if (list->nr_left == 0 || !px_fields_find(list->fields, list->path, &place))
		return;
	list->nr_left--;
	list->name(list->argument, list->path, &place);
}

static void list_elements(struct list *list, const struct px_field *field, uint32_t level, size_t length)
{
	bool is_text = field->kind == PX_FIELD_CHAR && level + 1 == field->nr_dims;

	if (level == field->nr_dims || is_text) {
		if (field->kind != PX_FIELD_STRUCT)
			put_value(list);
		else if ((length = append(list, length, ".", 1)) > 0)
			list_struct(list, field->of, length);
		return;
	}
	/* The number of elements of an open array is in the data. */
	for (uint32_t i = 0; !field->is_rest && i < field->dim[level] && list->nr_left > 0; i++) {
		char index[16];
		int digits = snprintf(index, sizeof(index), "[%u]", i);
		size_t end = append(list, length, index, (size_t)digits);

		if (end > 0)
			list_elements(list, field, level + 1, end);
	}
}

static void list_struct(struct list *list, const struct px_struct *of, size_t length)
{
	for (const struct px_field *i = of->first; i && list->nr_left > 0; i = i->next) {
		size_t end;

		if (!i->name)
			list_struct(list, i->of, length);
		else if ((end = append(list, length, i->name, strlen(i->name))) > 0)
			list_elements(list, i, 0, end);
	}
}

void px_fields_list(const struct px_fields *fields, uint32_t most, px_fields_name *name, void *argument)
{
	struct list list = {.fields = fields, .name = name, .argument = argument, .nr_left = most};

	if (fields->top)
		list_struct(&list, fields->top, 0);
}
