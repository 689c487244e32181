/* SPDX-License-Identifier: MIT */
#include "export/annotations.h"

#include <string.h>

#include "trace/calldata.h"
#include "trace/data_text.h"
#include "trace/payload.h"

#define FIELDS_MAX (ANNOTATIONS_MAX - 3) /* after them: fields_left_out, cpu, cut */
#define CALL_FIELDS_MAX 9		  /* of a call, with CALLDATA_WAIT */
#define TEXT_BYTES 1024

static struct annotation labelled(enum annotation_kind kind, const char *label)
{
	return (struct annotation){.kind = kind, .label = label, .label_size = strlen(label)};
}

static struct annotation word_annotation(const struct source *source, const char *label, uint32_t word)
{
	struct annotation annotation = labelled(ANNOTATION_NUMBER, label);
	bool is_pointer = annotation.label_size > 4 && memcmp(label + annotation.label_size - 4, "_ptr", 4) == 0;
	const struct txtrace_object *object = label_is_object(label) ? source_object(source, word) :
								       NULL;

	annotation.number = word;
	if (object) {
		annotation.kind = ANNOTATION_NAME;
		annotation.text = object->name;
		if (is_pointer)
			annotation.label_size -= 4; /* remove "_ptr", because the value is a name and not a pointer */
	} else if (is_pointer) {
		annotation.kind = ANNOTATION_ADDRESS;
	}
	return annotation;
}

/* Texts of fields must be printable; each other byte becomes a blank. */
static void set_text(struct annotation *annotation, const char *text, size_t length)
{
	static char shown[ANNOTATIONS_MAX][TEXT_BYTES];
	static unsigned int turn;
	char *to = shown[turn++ % ANNOTATIONS_MAX];

	annotation->kind = ANNOTATION_TEXT;
	annotation->text = to;
	annotation->text_size = length < TEXT_BYTES ? length : TEXT_BYTES;
	for (size_t i = 0; i < annotation->text_size; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ';
}

static struct annotation value_annotation(const char *label, const struct px_field_value *value)
{
	struct annotation annotation = labelled(value->is_signed ? ANNOTATION_SIGNED : ANNOTATION_NUMBER, label);
	char character = (char)value->number;

	annotation.number = value->number;
	annotation.number_signed = (int64_t)value->number;
	if (value->is_text) {
		set_text(&annotation, value->text, value->length);
	} else if (value->kind == PX_FIELD_CHAR) {
		set_text(&annotation, &character, value->number != 0);
	} else if (value->kind == PX_FIELD_FLOAT) {
		annotation.kind = ANNOTATION_REAL;
		annotation.real = value->real;
		annotation.digits = value->digits;
	} else if (value->kind == PX_FIELD_BOOL) {
		annotation.kind = value->number ? ANNOTATION_TRUE : ANNOTATION_FALSE;
	} else if (value->kind == PX_FIELD_POINTER) {
		annotation.kind = ANNOTATION_ADDRESS;
	} else if (value->name) {
		annotation.kind = ANNOTATION_NAME;
		annotation.text = value->name;
	}
	return annotation;
}

static int payload_annotations(struct source *source, const struct event *event, struct annotation *annotations)
{
	int nr_annotations = 0, nr_left = 0;
	struct px_field_value value;
	size_t nr;
	const struct payload_field *fields = payload_list(source, event->type, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!payload_value_at(source, event, &fields[i], &value))
			continue;
		if (nr_annotations < FIELDS_MAX)
			annotations[nr_annotations++] = value_annotation(fields[i].label, &value);
		else
			nr_left++;
	}
	if (nr_left > 0) {
		annotations[nr_annotations] = labelled(ANNOTATION_NUMBER, "fields_left_out");
		annotations[nr_annotations++].number = (uint64_t)nr_left;
	}
	return nr_annotations;
}

static int data_annotations(struct source *source, const struct event *event, struct annotation *annotations)
{
	static char filters[DATA_FILTERS_BYTES];

	if (event->size == 0)
		return 0;
	if (payload_is(source, event))
		return payload_annotations(source, event, annotations);
	if (data_filters(filters, sizeof(filters), source, event)) {
		bool is_one = strncmp(filters, "filter=", strlen("filter=")) == 0;

		annotations[0] = labelled(ANNOTATION_NAME, is_one ? "filter" : "filters");
		annotations[0].text = filters + (is_one ? strlen("filter=") : 0);
		return 1;
	}
	annotations[0] = labelled(ANNOTATION_HEX, "hex");
	annotations[0].text = (const char *)event->data;
	annotations[0].text_size = event->size;
	return 1;
}

static struct annotation field_annotation(const struct call_field *field)
{
	struct annotation annotation = {.kind = ANNOTATION_NAME,
					.label = field->label,
					.label_size = strlen(field->name),
					.text = field->object ? field->object : field->text};

	if (field->is_number && !field->object) {
		annotation.kind = ANNOTATION_SIGNED;
		annotation.number_signed = field->value;
	} else if (field->kind == 'p' && !field->object) {
		annotation.kind = ANNOTATION_ADDRESS;
		annotation.number = (uint64_t)field->value;
	}
	return annotation;
}

/* A call has at most 7 fields. */
static int call_annotations(struct source *source, const struct event *event, struct annotation *annotations)
{
	static struct call_field field[CALL_FIELDS_MAX + 1];
	int nr = 0;

	while (nr < CALL_FIELDS_MAX && calldata_at(source, event, (size_t)nr, &field[nr])) {
		annotations[nr] = field_annotation(&field[nr]);
		nr++;
	}
	if (calldata_get(source, event, CALLDATA_WAIT, &field[nr])) {
		annotations[nr] = field_annotation(&field[nr]);
		nr++;
	}
	return nr;
}

int annotations_of(struct source *source, const struct event *event, struct annotation annotations[ANNOTATIONS_MAX])
{
	unsigned int native = event_native(event);
	int nr_annotations = 0;

	if (calldata_is(source, event)) {
		nr_annotations = call_annotations(source, event, annotations);
	} else if (native != 0 && native_title(native)) {
		for (int i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label)
				annotations[nr_annotations++] = word_annotation(source, label, event_word(event, i));
		}
	} else {
		nr_annotations = data_annotations(source, event, annotations);
	}
	if (!source->file.foreign || event->cpu > 0) {
		annotations[nr_annotations] = labelled(ANNOTATION_NUMBER, "cpu");
		annotations[nr_annotations++].number = event->cpu;
	}
	if (event->is_truncated)
		annotations[nr_annotations++] = labelled(ANNOTATION_TRUE, "cut");
	return nr_annotations;
}
