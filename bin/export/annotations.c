/* SPDX-License-Identifier: MIT */
#include "export/annotations.h"

#include <string.h>

#include "trace/calldata.h"
#include "trace/payload.h"
#include "trace/columns.h"

static struct note labelled(enum note_kind kind, const char *label)
{
	return (struct note){.kind = kind, .label = label, .label_size = strlen(label)};
}

static struct note word_note(const struct source *source, const char *label, uint32_t word)
{
	struct note note = labelled(NOTE_NUMBER, label);
	bool is_pointer = note.label_size > 4 &&
			  memcmp(label + note.label_size - 4, "_ptr", 4) == 0;
	const struct txtrace_object *object = label_is_object(label) ? source_object(source, word) :
								       NULL;

	note.number = word;
	if (object) {
		note.kind = NOTE_NAME;
		note.text = object->name;
		if (is_pointer)
			note.label_size -= 4; /* remove "_ptr", because the value is a name and not a pointer */
	} else if (is_pointer) {
		note.kind = NOTE_ADDRESS;
	}
	return note;
}

/* If the data have the size of an integer, also show them as a number. */
static int number_note(const struct event *event, struct note *note)
{
	int8_t small;
	int16_t medium;
	int32_t usual;
	int64_t large;

	*note = labelled(NOTE_SIGNED, "number");
	switch (event->size) {
	case sizeof(small):
		memcpy(&small, event->data, sizeof(small));
		note->number_signed = small;
		return 1;
	case sizeof(medium):
		memcpy(&medium, event->data, sizeof(medium));
		note->number_signed = medium;
		return 1;
	case sizeof(usual):
		memcpy(&usual, event->data, sizeof(usual));
		note->number_signed = usual;
		return 1;
	case sizeof(large):
		memcpy(&large, event->data, sizeof(large));
		note->number_signed = large;
		return 1;
	default:
		return 0;
	}
}

static int data_notes(struct source *source, const struct event *event, struct note *annotations)
{
	static char filters[DATA_FILTERS_BYTES];
	bool is_text = data_is_text(event);
	int nr_annotations = 0;

	if (event->size == 0)
		return 0;
	if (payload_is(source, event)) {
		static struct text fields;

		fields.used = 0;
		fields.fd = -1;
		payload_print(&fields, source, event);
		annotations[0] = labelled(NOTE_TEXT, "data");
		annotations[0].text = fields.bytes;
		annotations[0].text_size = fields.used;
		return 1;
	}
	if (data_filters(filters, sizeof(filters), source, event)) {
		bool is_one = strncmp(filters, "filter=", strlen("filter=")) == 0;

		annotations[0] = labelled(NOTE_NAME, is_one ? "filter" : "filters");
		annotations[0].text = filters + (is_one ? strlen("filter=") : 0);
		return 1;
	}
	if (!is_text)
		nr_annotations = number_note(event, annotations);
	annotations[nr_annotations] = labelled(is_text ? NOTE_TEXT : NOTE_HEX,
					       is_text ? "text" : "hex");
	annotations[nr_annotations].text = (const char *)event->data;
	annotations[nr_annotations].text_size = event->size -
						(is_text && event->data[event->size - 1] == '\0');
	return nr_annotations + 1;
}

static struct note field_note(const struct call_field *field)
{
	struct note note = {.kind = NOTE_NAME,
			    .label = field->label,
			    .label_size = strlen(field->name),
			    .text = field->object ? field->object : field->text};

	if (field->is_number && !field->object) {
		note.kind = NOTE_SIGNED;
		note.number_signed = field->value;
	} else if (field->kind == 'p' && !field->object) {
		note.kind = NOTE_ADDRESS;
		note.number = (uint64_t)field->value;
	}
	return note;
}

/* A call has at most 7 fields. */
static int call_notes(struct source *source, const struct event *event, struct note *annotations)
{
	static struct call_field field[ANNOTATIONS_MAX];
	int nr = 0;

	while (nr < ANNOTATIONS_MAX - 3 && calldata_at(source, event, (size_t)nr, &field[nr])) {
		annotations[nr] = field_note(&field[nr]);
		nr++;
	}
	if (calldata_get(source, event, CALLDATA_WAIT, &field[nr])) {
		annotations[nr] = field_note(&field[nr]);
		nr++;
	}
	return nr;
}

int annotations_of(struct source *source, const struct event *event,
		   struct note annotations[ANNOTATIONS_MAX])
{
	unsigned int native = event_native(event);
	int nr_annotations = 0;

	if (calldata_is(source, event)) {
		nr_annotations = call_notes(source, event, annotations);
	} else if (native != 0 && native_title(native)) {
		for (int i = 0; i < 4; i++) {
			const char *label = native_label(native, i);

			if (label)
				annotations[nr_annotations++] = word_note(source, label,
									  event_word(event, i));
		}
	} else {
		nr_annotations = data_notes(source, event, annotations);
	}
	if (!source->file.foreign || event->cpu > 0) {
		annotations[nr_annotations] = labelled(NOTE_NUMBER, "cpu");
		annotations[nr_annotations++].number = event->cpu;
	}
	if (event->is_truncated)
		annotations[nr_annotations++] = labelled(NOTE_TRUE, "cut");
	return nr_annotations;
}
