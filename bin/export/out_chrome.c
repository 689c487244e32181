/* SPDX-License-Identifier: MIT */
/*
 * export --to chrome: write JSON for chrome://tracing, Perfetto and other viewers.
 *
 * Times are microseconds with three decimals.  Times count from the first event.  Viewers store a time as a double, and
 * a double cannot hold nanoseconds since 1970.  otherData has the time of the first event.
 */
#include <stdlib.h>

#include "base/message.h"
#include "cli/options.h"
#include "export/annotations.h"
#include "export/export.h"
#include "export/timeline.h"
#include "trace/payload.h"

#define LARGE_BYTES 200000000 /* viewers fail to open larger files */
#define OWN_TIDS 1000000000   /* tracks that are not threads have tids from this number on */

struct chrome {
	struct export *export;
	struct timeline *timeline;
	bool has_record, has_warned;
};

static void begin_record(struct chrome *chrome, const struct track *track, char phase)
{
	struct text *text = &chrome->export->text;
	int tid = track->kind == TRACK_THREAD ? track->tid : OWN_TIDS + (int)track->id;

	text_string(text, chrome->has_record ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	chrome->has_record = true;
	text_char(text, phase);
	text_string(text, "\",\"pid\":");
	text_signed(text, track->pid);
	text_string(text, ",\"tid\":");
	text_signed(text, tid);
}

static void put_member(struct text *text, const char *name, const char *value)
{
	text_string(text, ",\"");
	text_string(text, name);
	text_string(text, "\":");
	text_json(text, value);
}

static void put_time(struct chrome *chrome, int64_t time_ns)
{
	struct text *text = &chrome->export->text;
	int64_t ns = time_ns - chrome->export->source->first_ns;

	text_string(text, ",\"ts\":");
	if (ns < 0)
		text_char(text, '-');
	text_unsigned(text, (uint64_t)llabs(ns) / 1000, 0, ' ');
	text_char(text, '.');
	text_unsigned(text, (uint64_t)llabs(ns) % 1000, 3, '0');
}

static void put_track(void *arg, const struct track *track)
{
	struct chrome *chrome = arg;
	struct text *text = &chrome->export->text;

	if (track->kind == TRACK_COUNTER)
		return; /* the counter needs no metadata, because each value has the name of the counter */
	begin_record(chrome, track, 'M');
	put_member(text, "name", track->kind == TRACK_PROCESS ? "process_name" : "thread_name");
	text_string(text, ",\"args\":{\"name\":");
	text_json(text, track->name);
	text_string(text, "}}");
}

/* The text is printable, so only quotes and backslashes need an escape. */
static void put_text(struct text *text, const struct annotation *annotation)
{
	text_char(text, '"');
	for (size_t i = 0; i < annotation->text_size; i++) {
		char c = annotation->text[i];

		if (c == '"' || c == '\\')
			text_char(text, '\\');
		text_char(text, c == '\n' || c == '\t' ? ' ' : c);
	}
	text_char(text, '"');
}

static void put_annotation(struct text *text, const struct annotation *annotation, bool is_first)
{
	if (!is_first)
		text_char(text, ',');
	text_char(text, '"');
	text_put(text, annotation->label, annotation->label_size);
	text_string(text, "\":");
	switch (annotation->kind) {
	case ANNOTATION_NUMBER:
		text_unsigned(text, annotation->number, 0, ' ');
		break;
	case ANNOTATION_SIGNED:
		text_signed(text, annotation->number_signed);
		break;
	case ANNOTATION_ADDRESS:
		text_string(text, "\"0x");
		text_hex(text, annotation->number, 0);
		text_char(text, '"');
		break;
	case ANNOTATION_NAME:
		text_json(text, annotation->text);
		break;
	case ANNOTATION_TEXT:
		put_text(text, annotation);
		break;
	case ANNOTATION_HEX:
		text_char(text, '"');
		text_bytes(text, annotation->text, annotation->text_size);
		text_char(text, '"');
		break;
	case ANNOTATION_REAL:
		payload_real(text, annotation->real, annotation->digits, PAYLOAD_JSON);
		break;
	case ANNOTATION_TRUE:
	case ANNOTATION_FALSE:
		text_string(text, annotation->kind == ANNOTATION_TRUE ? "true" : "false");
		break;
	}
}

static void put_annotations(struct chrome *chrome, const struct mark *mark)
{
	struct text *text = &chrome->export->text;
	struct annotation annotations[ANNOTATIONS_MAX];
	int nr_annotations =
		mark->event ? annotations_of(chrome->export->source, mark->event, annotations) : 0;

	if (mark->period && mark->period->state == THREAD_RUNNING) {
		text_string(text, ",\"args\":{\"cpu\":");
		text_unsigned(text, mark->period->cpu, 0, ' ');
		text_char(text, '}');
	}
	if (nr_annotations == 0 && !mark->holder)
		return;
	text_string(text, ",\"args\":{");
	for (int i = 0; i < nr_annotations; i++)
		put_annotation(text, &annotations[i], i == 0);
	if (mark->holder) {
		text_string(text, nr_annotations > 0 ? ",\"holder\":" : "\"holder\":");
		text_json(text, mark->holder);
	}
	text_char(text, '}');
}

/*
 * Put a part of an arrow.  An arrow begins at the wait, goes through the slice of the holder, and ends where the waiter
 * gets the lock.
 */
static void put_flow(struct chrome *chrome, const struct mark *mark)
{
	struct text *text = &chrome->export->text;
	char phase = mark->flow_ends ? 'f' : mark->kind == MARK_BEGIN ? 's' : 't';

	begin_record(chrome, mark->track, phase);
	put_member(text, "cat", "mutex");
	put_member(text, "name", "mutex");
	text_string(text, ",\"id\":");
	text_unsigned(text, mark->flow, 0, ' ');
	put_time(chrome, mark->time_ns);
	text_string(text, ",\"bp\":\"e\"}");
}

static void put_mark(void *arg, const struct mark *mark)
{
	static const char phases[] = {
		[MARK_BEGIN] = 'B', [MARK_END] = 'E', [MARK_INSTANT] = 'i', [MARK_COUNTER] = 'C'};
	struct chrome *chrome = arg;
	struct text *text = &chrome->export->text;

	begin_record(chrome, mark->track, phases[mark->kind]);
	put_time(chrome, mark->time_ns);
	if (mark->kind == MARK_INSTANT)
		text_string(text,
			    mark->track->kind == TRACK_PROCESS ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
	if (mark->kind == MARK_COUNTER)
		put_member(text, "name", mark->track->name);
	else if (mark->kind != MARK_END)
		put_member(text, "name", mark->name);
	if (mark->kind == MARK_COUNTER) {
		text_string(text, ",\"args\":{\"value\":");
		text_signed(text, mark->value);
		text_char(text, '}');
	} else {
		put_annotations(chrome, mark);
	}
	text_char(text, '}');
	if (mark->flow != 0)
		put_flow(chrome, mark);
}

static bool begin(struct export *export)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome) {
		message("there is not enough memory");
		return false;
	}
	chrome->export = export;
	chrome->timeline = timeline_begin(export->source, export->selection, export->spans, put_track, put_mark,
					  chrome);
	export->state = chrome;
	text_string(&export->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return true;
}

static void put_event(struct export *export, const struct event *event)
{
	struct chrome *chrome = export->state;

	timeline_event(chrome->timeline, event);
	if (!chrome->has_warned && text_offset(&export->text) > LARGE_BYTES) {
		chrome->has_warned = true;
		message("this is more JSON than viewers can open; use --to perfetto, or --from and "
			"--until");
	}
}

static bool end(struct export *export, bool is_complete)
{
	struct chrome *chrome = export->state;
	struct text *text = &export->text;

	timeline_end(chrome->timeline, is_complete);
	text_string(text, "\n],\"otherData\":{\"trace\":");
	text_json(text, export->source->path);
	text_string(text, ",\"first_event_ns\":\"");
	text_signed(text, export->source->first_ns);
	text_string(text, "\"}}\n");
	free(chrome);
	return true;
}

static const int options[] = {OPTION_SPAN, 0};

const struct exporter exporter_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.summary = "JSON, for chrome://tracing and others",
	.shows_waits = true,
	.options = options,
	.begin = begin,
	.event = put_event,
	.end = end,
};
