/* SPDX-License-Identifier: MIT */
#include "export/annotations.h"

#include <string.h>

#include "trace/calldata.h"
#include "trace/columns.h"
#include "trace/payload.h"

#define FIELDS_MAX (ANNOTATIONS_MAX - 3) /* after them: fields_left_out, cpu, cut */
#define CALL_FIELDS_MAX 9		  /* of a call, with CALLDATA_WAIT */
#define TEXT_BYTES 1024

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

/* Texts of fields must be printable; each other byte becomes a blank. */
static void set_text(struct note *note, const char *text, size_t length)
{
	static char shown[ANNOTATIONS_MAX][TEXT_BYTES];
	static unsigned int turn;
	char *to = shown[turn++ % ANNOTATIONS_MAX];

	note->kind = NOTE_TEXT;
	note->text = to;
	note->text_size = length < TEXT_BYTES ? length : TEXT_BYTES;
	for (size_t i = 0; i < note->text_size; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ';
}

static struct note value_note(const char *label, const struct px_field_value *value)
{
	struct note note = labelled(value->is_signed ? NOTE_SIGNED : NOTE_NUMBER, label);
	char character = (char)value->number;

	note.number = value->number;
	note.number_signed = (int64_t)value->number;
	if (value->is_text) {
		set_text(&note, value->text, value->length);
	} else if (value->kind == PX_FIELD_CHAR) {
		set_text(&note, &character, value->number != 0);
	} else if (value->kind == PX_FIELD_FLOAT) {
		note.kind = NOTE_REAL;
		note.real = value->real;
		note.digits = value->digits;
	} else if (value->kind == PX_FIELD_BOOL) {
		note.kind = value->number ? NOTE_TRUE : NOTE_FALSE;
	} else if (value->kind == PX_FIELD_POINTER) {
		note.kind = NOTE_ADDRESS;
	} else if (value->name) {
		note.kind = NOTE_NAME;
		note.text = value->name;
	}
	return note;
}

static int payload_notes(struct source *source, const struct event *event, struct note *annotations)
{
	int nr_notes = 0, nr_left = 0;
	struct px_field_value value;
	size_t nr;
	const struct payload_field *fields = payload_list(source, event->type, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!payload_value_at(source, event, &fields[i], &value))
			continue;
		if (nr_notes < FIELDS_MAX)
			annotations[nr_notes++] = value_note(fields[i].label, &value);
		else
			nr_left++;
	}
	if (nr_left > 0) {
		annotations[nr_notes] = labelled(NOTE_NUMBER, "fields_left_out");
		annotations[nr_notes++].number = (uint64_t)nr_left;
	}
	return nr_notes;
}

static int data_notes(struct source *source, const struct event *event, struct note *annotations)
{
	static char filters[DATA_FILTERS_BYTES];

	if (event->size == 0)
		return 0;
	if (payload_is(source, event))
		return payload_notes(source, event, annotations);
	if (data_filters(filters, sizeof(filters), source, event)) {
		bool is_one = strncmp(filters, "filter=", strlen("filter=")) == 0;

		annotations[0] = labelled(NOTE_NAME, is_one ? "filter" : "filters");
		annotations[0].text = filters + (is_one ? strlen("filter=") : 0);
		return 1;
	}
	annotations[0] = labelled(NOTE_HEX, "hex");
	annotations[0].text = (const char *)event->data;
	annotations[0].text_size = event->size;
	return 1;
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
	static struct call_field field[CALL_FIELDS_MAX + 1];
	int nr = 0;

	while (nr < CALL_FIELDS_MAX && calldata_at(source, event, (size_t)nr, &field[nr])) {
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
