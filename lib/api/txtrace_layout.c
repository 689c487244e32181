/* SPDX-License-Identifier: MIT */
/* The layout of the data of event types, as a list of fields. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "event/call_fields.h"
#include "fields/fields.h"
#include "fields/span.h"
#include "log/archive.h"

#define SAME(public, own) _Static_assert((int)(public) == (int)(own), #public)
SAME(TXTRACE_FIELD_UNSIGNED, PX_FIELD_UNSIGNED);
SAME(TXTRACE_FIELD_SIGNED, PX_FIELD_SIGNED);
SAME(TXTRACE_FIELD_FLOAT, PX_FIELD_FLOAT);
SAME(TXTRACE_FIELD_BOOL, PX_FIELD_BOOL);
SAME(TXTRACE_FIELD_CHAR, PX_FIELD_CHAR);
SAME(TXTRACE_FIELD_POINTER, PX_FIELD_POINTER);
SAME(TXTRACE_FIELD_ENUM, PX_FIELD_ENUM);
SAME(TXTRACE_FIELD_STRUCT, PX_FIELD_STRUCT);
SAME(TXTRACE_FIELD_DIMS, PX_FIELDS_DIMS);

struct names {
	const struct px_enum *of;
	struct names *next;
	unsigned int nr;
	struct txtrace_enum_name name[];
};

/* The layout points to names in fields. */
struct layout {
	struct txtrace_layout public; /* first, so that a pointer to it is one to all */
	struct px_fields *fields;
	struct names *names;
	struct txtrace_field *field;
	bool has_our_real; /* a long double has the format of this machine */
};

static void release(struct layout *layout)
{
	struct names *next;

	for (struct names *i = layout->names; i; i = next) {
		next = i->next;
		free(i);
	}
	px_fields_free(layout->fields);
	free(layout->field);
	free(layout);
}

PX_EXPORT void txtrace_free_layout(struct txtrace_layout *layout)
{
	int saved_errno = errno;

	if (layout)
		release((struct layout *)layout);
	errno = saved_errno;
}

/* Return the list of an enum's names, or NULL if there is no memory. */
static const struct names *names_of(struct layout *layout, const struct px_enum *of)
{
	struct names *names = layout->names;
	unsigned int nr = 0;

	while (names && names->of != of)
		names = names->next;
	if (names)
		return names;
	for (const struct px_enum_name *i = of->names; i; i = i->next)
		nr++;
	names = malloc(sizeof(*names) + nr * sizeof(names->name[0]));
	if (!names)
		return NULL;
	*names = (struct names){.of = of, .next = layout->names};
	for (const struct px_enum_name *i = of->names; i; i = i->next)
		names->name[names->nr++] = (struct txtrace_enum_name){.name = i->name, .value = i->value};
	layout->names = names;
	return names;
}

static unsigned int count(const struct px_struct *of)
{
	unsigned int nr = 0;

	for (const struct px_field *i = of->first; i; i = i->next)
		nr += (i->name != NULL) + (i->kind == PX_FIELD_STRUCT ? count(i->of) : 0);
	return nr;
}

/*
 * Append the members of a structure, which begins at this bit of the one around it.  Return 0, ENOMEM, or ENOENT: the
 * caller could not read a long double of another machine.
 */
static int append(struct layout *layout, const struct px_struct *of, unsigned int bit, unsigned int depth)
{
	for (const struct px_field *i = of->first; i; i = i->next) {
		unsigned int at = layout->public.nr_fields;
		struct txtrace_field *field = &layout->field[at];
		const struct names *names;
		int error = 0;

		if (!i->name) {
			error = append(layout, i->of, bit + i->bit, depth);
			if (error)
				return error;
			continue;
		}
		if (i->kind == PX_FIELD_FLOAT && i->size > sizeof(double) && !layout->has_our_real)
			return ENOENT;
		*field = (struct txtrace_field){.name = i->name,
						.kind = (int)i->kind,
						.depth = depth,
						.bit = bit + i->bit,
						.bits = i->bits,
						.size = i->size,
						.nr_dims = i->nr_dims};
		for (unsigned int dim = 0; dim < i->nr_dims; dim++)
			field->dim[dim] = dim == 0 && i->is_rest ? 0 : i->dim[dim];
		layout->public.is_rest |= i->is_rest;
		layout->public.nr_fields++;
		if (i->kind == PX_FIELD_STRUCT)
			error = append(layout, i->of, 0, depth + 1);
		field->nr_members = layout->public.nr_fields - at - 1;
		if (i->kind == PX_FIELD_ENUM) {
			names = names_of(layout, i->names);
			if (!names)
				return ENOMEM;
			field->is_signed = i->names->is_signed;
			field->names = names->name;
			field->nr_names = names->nr;
		}
		if (error)
			return error;
	}
	return 0;
}

/* Return 0, ENOENT or ENOMEM. */
static int make(const char *text, size_t length, const struct px_fields_model *model, struct txtrace_layout **result)
{
	const struct px_fields_model ours = px_fields_native();
	struct layout *layout = calloc(1, sizeof(*layout));
	struct px_fields_error mistake;
	int error = layout ? 0 : ENOMEM;

	if (!error)
		error = px_fields_parse(text, length, model, &layout->fields, &mistake);
	if (!error && !layout->fields->top)
		error = EINVAL;
	if (!error) {
		layout->has_our_real = model->long_double_digits == ours.long_double_digits &&
				       model->is_big == ours.is_big;
		layout->field = calloc(count(layout->fields->top), sizeof(*layout->field));
		error = layout->field ? append(layout, layout->fields->top, 0, 0) : ENOMEM;
	}
	if (error) {
		if (layout)
			release(layout);
		return error == EINVAL ? ENOENT : error;
	}
	layout->public.field = layout->field;
	layout->public.size = layout->fields->top->size;
	layout->public.is_big = layout->fields->is_big;
	*result = &layout->public;
	return 0;
}

/*
 * Get the description of a type, and the model of the machine that recorded its data; the reader converts the data of
 * system events and of calls to that of this machine.  Return 0 or EINVAL.  A length of 0 means that it has none.
 */
static int find(const struct px_handle *handle, unsigned int event, char text[PX_FIELDS_TEXT_MAX], size_t *length,
		struct px_fields_model *model)
{
	bool is_foreign = handle->archive && handle->archive->info.is_foreign;
	const char *fixed = is_foreign ? NULL : px_system_fields(event);
	char name[PX_NAME_MAX + 1];
	enum px_call call;

	*length = 0;
	*model = px_fields_native();
	if (fixed) {
		*length = strlen(fixed);
		memcpy(text, fixed, *length);
	} else if (!is_foreign && px_call_of_event(event, &call)) {
		model->of_pointer = 8;
		*length = px_call_fields(call, text);
	} else if (handle->stream) {
		if (px_stream_type_name(handle->stream, event, name) != 0)
			return EINVAL;
		*length = px_stream_description(handle->stream, event, text);
	} else {
		*model = handle->archive->info.model;
		if (handle->archive->kind->type_name(handle->archive, event, name) != 0)
			return EINVAL;
		*length = px_archive_description(handle->archive, event, text);
	}
	return 0;
}

PX_EXPORT int txtrace_get_layout(trace_id_t trid, trace_event_id_t event, struct txtrace_layout **layout)
{
	char text[PX_FIELDS_TEXT_MAX];
	struct px_fields_model model;
	int error, saved_errno = errno;
	struct px_handle handle;
	struct px_span span;
	size_t length;

	if (!layout || !px_handle_lock_any(trid, &handle))
		return EINVAL;
	error = find(&handle, event, text, &length, &model);
	px_handle_unlock(trid);
	if (!error && (length == 0 || px_span_parse(text, length, &span)))
		error = ENOENT;
	if (!error)
		error = make(text, length, &model, layout);
	errno = saved_errno;
	return error;
}
