/* SPDX-License-Identifier: MIT */
#include "export/html_fields.h"

#include <inttypes.h>

#include "trace/payload.h"

struct output {
	struct text *text;
	bool has_type, has_field;
};

static char kind_of(const struct px_field_place *place)
{
	static const char kinds[] = {
		[PX_FIELD_UNSIGNED] = 'u', [PX_FIELD_SIGNED] = 'i',  [PX_FIELD_FLOAT] = 'f', [PX_FIELD_BOOL] = 'b',
		[PX_FIELD_CHAR] = 'c',	   [PX_FIELD_POINTER] = 'p', [PX_FIELD_ENUM] = 'e',
	};

	return place->is_text ? 't' : kinds[place->field->kind];
}

static void put_names(struct text *text, const struct px_enum *names)
{
	text_printf(text, ",%d,{", names->is_signed);
	for (const struct px_enum_name *i = names->names; i; i = i->next) {
		bool is_first = true;

		for (const struct px_enum_name *j = names->names; j != i; j = j->next)
			is_first &= j->value != i->value;
		if (is_first) {
			text_printf(text, "%s\"%" PRId64 "\":", i == names->names ? "" : ",", i->value);
			text_json(text, i->name);
		}
	}
	text_char(text, '}');
}

static void put_field(void *argument, const char *path, const struct px_field_place *place)
{
	const struct px_field *field = place->field;
	uint32_t size = !place->is_text ? field->size : field->is_rest ? 0 : field->dim[field->nr_dims - 1];
	struct output *output = argument;

	text_string(output->text, output->has_field ? ",[" : "[");
	output->has_field = true;
	text_json(output->text, path);
	text_printf(output->text, ",\"%c\",%" PRIu64 ",%u,%u", kind_of(place), place->bit, size, field->bits);
	if (field->kind == PX_FIELD_ENUM)
		put_names(output->text, field->names);
	text_char(output->text, ']');
}

static void put_type(void *argument, trace_event_id_t type, const struct px_fields *fields)
{
	struct output *output = argument;

	text_printf(output->text, "%s\"%lu\":[%d,", output->has_type ? "," : "", (unsigned long)type, !fields->is_big);
	output->has_type = true;
	text_char(output->text, '[');
	output->has_field = false;
	px_fields_list(fields, HTML_FIELDS_MAX, put_field, output);
	text_string(output->text, "]]");
}

void html_put_fields(struct text *text, struct source *source)
{
	struct output output = {.text = text};

	text_string(text, "\"fields\":{");
	payload_each_type(source, put_type, &output);
	text_string(text, "},\n");
}
