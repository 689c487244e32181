/* SPDX-License-Identifier: MIT */
/*
 * export --to html: write a self-contained page that shows a trace as a timeline.
 *
 * The page is bin/export/html/page.html with page.css and the scripts. The events are between the parts of the page, as
 * blocks of records (pack.h). The comment at the top of records.js describes a record. Some data, such as names, are
 * known only at the end. They follow the blocks as JSON. So memory use depends on the number of threads, objects and
 * event types, not on the number of events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/number_names.h"
#include "cli/options.h"
#include "export/export.h"
#include "export/html/page.h"
#include "export/html_fields.h"
#include "export/html_spans.h"
#include "export/html_why.h"
#include "export/pack.h"
#include "export/timeline.h"
#include "trace/calldata.h"
#include "trace/data_text.h"
#include "trace/payload.h"

/* The page gets at most this number of bytes of the data of an event, and of data with fields. */
#define KEPT_BYTES 64
#define KEPT_DESCRIBED_BYTES 256

struct origin {
	uint32_t context;
	int32_t pid, priority;
};

struct site_key {
	uint64_t type, address;
	uint32_t object; /* handle of the object of a call in a log, or 0 */
	int32_t phase;	 /* TXTRACE_CALL_..., or NO_CALL */
};

#define NO_CALL (-1)

struct html {
	struct export *export;
	struct pack events;
	struct html_spans spans;
	struct timeline *timeline;
	struct filters {
		uint64_t number; /* of the event */
		char text[DATA_FILTERS_BYTES];
	} * filters; /* of the events that have filters as data */
	size_t nr_filters;
	/* The stacks of calls, of which the page gets the text once.  The index is the number of the id, from 0. */
	struct intern stack_ids;
	struct stack_text {
		char *end, *functions;
	} * stack_texts;
	struct intern origins, sites; /* in the page, the numbers of these begin at 0 */
	unsigned char (*last_data)[KEPT_DESCRIBED_BYTES]; /* the index is the number of a site */
	size_t nr_last_data;
	uint64_t nr_events, nr_left_out, last_number;
	int64_t last_ns, end_ns;
	size_t page_used;
};

/* Events. */

/*
 * Compare the data with the last event of this site. For each group of eight bytes, pack a bit mask of the bytes that
 * differ, and then these bytes.
 */
static void pack_data(struct html *html, uint32_t site, const unsigned char *data, size_t size)
{
	unsigned char *last;

	if (site >= html->nr_last_data) {
		size_t nr = 2 * (size_t)site + 64;

		html->last_data = must(reallocarray(html->last_data, nr, KEPT_DESCRIBED_BYTES));
		memset(html->last_data[html->nr_last_data], 0,
		       (nr - html->nr_last_data) * KEPT_DESCRIBED_BYTES);
		html->nr_last_data = nr;
	}
	last = html->last_data[site];
	for (size_t i = 0; i < size; i += 8) {
		size_t end = size - i < 8 ? size - i : 8;
		unsigned char differ = 0;

		for (size_t j = 0; j < end; j++)
			differ |= (unsigned char)((data[i + j] != last[i + j]) << j);
		pack_byte(&html->events, differ);
		for (size_t j = 0; j < end; j++)
			if (differ >> j & 1)
				pack_byte(&html->events, data[i + j]);
	}
	memcpy(last, data, size);
}

/* Return the number of a key, counted from 0. */
static uint32_t number_of(struct intern *intern, const void *key, size_t size)
{
	bool is_new;

	return (uint32_t)intern_number(intern, key, size, &is_new) - 1;
}

static void note_filters(struct html *html, const struct event *event)
{
	struct filters filters = {.number = event->number};

	if (!data_filters(filters.text, sizeof(filters.text), html->export->source, event))
		return;
	html->filters =
		must(reallocarray(html->filters, html->nr_filters + 1, sizeof(*html->filters)));
	html->filters[html->nr_filters++] = filters;
}

static void note_stack(struct html *html, const struct event *event)
{
	struct source *source = html->export->source;
	struct stack_text texts = {NULL, NULL};
	struct call_field field;
	bool is_new;

	if (!calldata_is(source, event) || event->size < sizeof(uint64_t) || !event->row ||
	    strcmp(event->row->name, "txtrace_stack") != 0)
		return;
	intern_number(&html->stack_ids, (const char *)event->data, sizeof(uint64_t), &is_new);
	if (!is_new)
		return;
	for (size_t i = 0; calldata_at(source, event, i, &field); i++) {
		if (field.kind == 'r')
			texts.end = must(strdup(field.text));
		else if (field.kind == 'f')
			texts.functions = must(strdup(field.text));
	}
	html->stack_texts = must(reallocarray(html->stack_texts, html->stack_ids.nr_texts, sizeof(texts)));
	html->stack_texts[html->stack_ids.nr_texts - 1] = texts;
}

static void pack_event(struct html *html, const struct event *event)
{
	struct origin origin = {event->context, event->pid, event->priority};
	struct source *source = html->export->source;
	bool is_call = calldata_is(source, event), is_described = !is_call && payload_is(source, event);
	size_t kept = is_described ? KEPT_DESCRIBED_BYTES : KEPT_BYTES;
	struct site_key key = {event->type, event->address, is_call ? event->call.object : 0,
			       is_call ? event->call.phase : NO_CALL};
	uint32_t site = number_of(&html->sites, &key, sizeof(key));
	struct pack *pack = &html->events;

	pack_signed(pack, event->time_ns - html->last_ns);
	pack_number(pack, event->number - html->last_number);
	pack_number(pack, number_of(&html->origins, &origin, sizeof(origin)));
	pack_number(pack, site);
	pack_number(pack, event->cpu);
	pack_number(pack, (uint64_t)event->size << 2 | (unsigned int)is_described << 1 | event->is_truncated);
	pack_data(html, site, is_described ? payload_bytes(source, event) : event->data,
		  event->size < kept ? event->size : kept);
	pack_record(pack);
	html->last_ns = event->time_ns;
	html->last_number = event->number;
}

/* The page. */

static void put_names(struct html *html)
{
	struct text *text = &html->export->text;

	text_string(text, "\"names\":[");
	for (size_t i = 0; i < html->spans.names.nr_texts; i++) {
		if (i > 0)
			text_char(text, ',');
		text_json(text, intern_text(&html->spans.names, i + 1));
	}
	text_string(text, "],\n\"origins\":[");
	for (size_t i = 0; i < html->origins.nr_texts; i++) {
		struct origin origin;

		memcpy(&origin, intern_text(&html->origins, i + 1), sizeof(origin));
		text_printf(text, "%s[%" PRIu32 ",%" PRId32 ",%" PRId32 ",", i > 0 ? ",\n" : "",
			    origin.context, origin.pid, origin.priority);
		text_json(text, source_context_name(html->export->source, origin.context));
		text_char(text, ']');
	}
	text_string(text, "],\n");
}

/*
 * Write the labels of the words of a type. After each label, write 1 if the word is the handle of an object, and
 * otherwise 0.
 */
static void put_labels(struct text *text, const struct site_key *key)
{
	struct event event = {.type = (trace_event_id_t)key->type};
	unsigned int native = event_native(&event);

	if (native == 0 || !native_title(native)) {
		text_string(text, "null");
		return;
	}
	text_char(text, '[');
	for (int i = 0; i < 4; i++) {
		const char *label = native_label(native, i);

		text_string(text, i > 0 ? ",[" : "[");
		text_json(text, label ? label : "");
		text_string(text, label_is_object(label) ? ",1]" : ",0]");
	}
	text_char(text, ']');
}

/* Write the layout and the fields of a call, as in lib/event/calls.def. */
static void put_fields(struct text *text, const char *name)
{
	const struct call_row *row = calltable_find(name);

	if (!row) {
		text_string(text, ",null");
		return;
	}
	text_printf(text, ",[%d,", (int)row->layout);
	text_json(text, row->fields);
	text_char(text, ']');
}

/*
 * Write all sites.  The first site of a type also has the name of the type, the labels of its words, and the fields of
 * its call.
 */
static void put_sites(struct html *html)
{
	struct text *text = &html->export->text;
	struct intern types = {0};

	text_string(text, "\"sites\":[");
	for (size_t i = 0; i < html->sites.nr_texts; i++) {
		struct site_key key;
		bool is_new;

		memcpy(&key, intern_text(&html->sites, i + 1), sizeof(key));
		intern_number(&types, (const char *)&key.type, sizeof(key.type), &is_new);
		text_printf(text, "%s[%" PRIu64 ",\"0x%" PRIx64 "\",%" PRIu32 ",%" PRId32,
			    i > 0 ? ",\n" : "", key.type, key.address, key.object, key.phase);
		if (is_new) {
			text_char(text, ',');
			text_json(text, source_type_name(html->export->source, key.type));
			text_char(text, ',');
			put_labels(text, &key);
			put_fields(text, source_type_name(html->export->source, key.type));
		}
		text_char(text, ']');
	}
	intern_free(&types);
	text_string(text, "],\n");
}

static void put_objects(struct html *html)
{
	const struct source *source = html->export->source;
	struct text *text = &html->export->text;

	text_string(text, "\"objects\":[");
	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		text_printf(text, "%s[%u,", i > 0 ? ",\n" : "", object->handle);
		text_json(text, object->name);
		text_printf(text, ",\"%s\",%d,%d,\"0x%llx\"]", source_object_type(source, object->type),
			    (int)object->pid, (int)object->tid,
			    (unsigned long long)object->address);
	}
	for (size_t i = 0; i < html->spans.nr_nameless; i++) {
		const struct html_nameless *nameless = &html->spans.nameless[i];

		text_printf(text, "%s[%zu,", i + source->nr_objects > 0 ? ",\n" : "", HTML_FIRST_NAMELESS + i);
		text_json(text, nameless->name);
		text_printf(text, ",\"%s\",%d,%d,\"0x0\"]", source_object_type(source, OBJECT_THREAD), nameless->pid,
			    nameless->tid);
	}
	text_string(text, "],\n");
}

/* Write the names of error numbers, and of the results of C11 functions.  Only calls of a log need them. */
static void put_errors(struct html *html)
{
	struct text *text = &html->export->text;
	bool has_calls = !html->export->source->file.foreign;
	const char *separator = "";

	text_string(text, "\"errors\":{");
	for (int error = 1; has_calls && error < 4096; error++) {
		const char *name = error_number_name(error);

		if (!name)
			continue;
		text_printf(text, "%s\"%d\":\"%s\"", separator, error, name);
		separator = ",";
	}
	text_string(text, "},\"c11\":{");
	separator = "";
	for (int error = 1; has_calls && error < 4096; error++) {
		const char *name = calltable_c11_result(error);

		if (!name)
			continue;
		text_printf(text, "%s\"%d\":\"%s\"", separator, error, name);
		separator = ",";
	}
	text_string(text, "},\n");
}

static void put_filters(const struct html *html)
{
	struct text *text = &html->export->text;

	text_string(text, "\"filters\":{");
	for (size_t i = 0; i < html->nr_filters; i++) {
		text_printf(text, "%s\"%" PRIu64 "\":", i > 0 ? "," : "", html->filters[i].number);
		text_json(text, html->filters[i].text);
	}
	text_string(text, "},\n");
}

static void put_stacks(const struct html *html)
{
	struct text *text = &html->export->text;

	text_string(text, "\"stacks\":{");
	for (size_t i = 0; i < html->stack_ids.nr_texts; i++) {
		uint64_t id;

		memcpy(&id, intern_text(&html->stack_ids, i + 1), sizeof(id));
		text_printf(text, "%s\"0x%" PRIx64 "\":[", i > 0 ? "," : "", id);
		text_json(text, html->stack_texts[i].end ? html->stack_texts[i].end : "");
		text_char(text, ',');
		text_json(text, html->stack_texts[i].functions ? html->stack_texts[i].functions : "");
		text_char(text, ']');
	}
	text_string(text, "},\n");
}

static void put_recorder(struct text *text, const struct source *source)
{
	char recorder[TRACE_NAME_MAX + 1] = "";

	if (!source->file.foreign)
		posix_trace_attr_getgenversion(&source->attr, recorder);
	text_string(text, "\"recorder\":");
	text_json(text, recorder);
	text_string(text, ",\n");
}

static bool is_little_endian(void)
{
	return *(const unsigned char *)&(const uint16_t){1} == 1;
}

static void put_facts(struct html *html)
{
	struct source *source = html->export->source;
	const struct txtrace_loss *loss = &source->loss;
	char lacks[SOURCE_LOSS_BYTES];
	struct text *text = &html->export->text;

	text_string(text, "{\"file\":");
	text_json(text, name_of(source->path));
	text_printf(text, ",\"foreign\":%d,\"complete\":%d,\"little\":%d,\n", source->file.foreign,
		    source->file.foreign || source->file.complete, is_little_endian());
	if (source_log_loss(source, lacks, sizeof(lacks))) {
		text_string(text, "\"logLacks\":");
		text_json(text, lacks);
		text_string(text, ",");
	}
	if (source_incomplete(source)) {
		text_string(text, "\"incomplete\":");
		text_json(text, source_incomplete(source));
		text_string(text, ",");
	}
	text_printf(text, "\"first\":\"%" PRId64 "\",\"tick\":%.17g,\"version\":\"%s\",\n",
		    source->first_ns, source->file.tick_ns, PACKAGE_VERSION);
	text_printf(text, "\"events\":%" PRIu64 ",\"read\":%" PRIu64 ",\"leftOut\":%" PRIu64 ",\n",
		    html->nr_events, source->nr_read, html->nr_left_out);
	text_printf(text, "\"overwritten\":%llu,\"dropped\":%llu,\"abandoned\":%llu,\"byLog\":%d,", loss->overwritten,
		    loss->dropped, loss->abandoned, source->file.nr_log_lost);
	text_printf(text, "\"missing\":%" PRIu64 ",\n", source_missing(source));
	put_recorder(text, source);
	put_objects(html);
	put_errors(html);
	put_filters(html);
	put_stacks(html);
	html_put_fields(text, html->export->source);
	put_sites(html);
	put_names(html);
	html_put_why(text, html->export->source, html->export->selection, html->nr_events);
	text_printf(text, "\"end\":%" PRId64 "}", html->end_ns - source->first_ns);
}

/* Write the next part of the page, up to this mark. If mark is NULL, write up to the end of the page. */
static void put_page(struct html *html, const char *mark)
{
	const unsigned char *from = page_html + html->page_used;
	size_t rest = page_html_size - html->page_used;
	const unsigned char *at = mark ? memmem(from, rest, mark, strlen(mark)) : NULL;
	size_t size = at ? (size_t)(at - from) : rest;

	text_put(&html->export->text, from, size);
	html->page_used += size + (at ? strlen(mark) : 0);
}

static bool begin(struct export *export)
{
	struct html *html = must(calloc(1, sizeof(*html)));

	export->state = html;
	html->export = export;
	html->events.text = &export->text;
	html->events.kind = "events";
	html_spans_begin(&html->spans, &export->text);
	html->timeline = timeline_begin(export->source, export->selection, export->spans, html_spans_track,
					html_spans_mark, &html->spans);
	put_page(html, "@CSS@");
	text_put(&export->text, page_css, page_css_size);
	put_page(html, "@EVENTS@");
	return true;
}

static void put_event(struct export *export, const struct event *event)
{
	struct html *html = export->state;

	if (event->is_made) { /* the span of the wait shows an event that is not in the file */
		if (html->nr_left_out == 0)
			timeline_event(html->timeline, event);
		return;
	}
	if (html->nr_events == export->limit) {
		html->nr_left_out++;
		return;
	}
	if (html->nr_events++ == 0) {
		html->last_ns = html->spans.last_ns = export->source->first_ns;
		html->end_ns = event->time_ns;
	}
	if (event->time_ns > html->end_ns)
		html->end_ns = event->time_ns;
	note_filters(html, event);
	note_stack(html, event);
	pack_event(html, event);
	timeline_event(html->timeline, event);
}

static void put_tail(struct html *html)
{
	pack_flush(&html->events);
	pack_flush(&html->spans.pack);
	put_page(html, "@FACTS@");
	put_facts(html);
	put_page(html, "@JS@");
	text_put(&html->export->text, page_js, page_js_size);
	put_page(html, NULL);
}

static bool end(struct export *export, bool is_complete)
{
	struct html *html = export->state;

	timeline_end(html->timeline, is_complete);
	if (is_complete)
		put_tail(html);
	if (html->nr_left_out > 0)
		message("%s: the page has the first %" PRIu64 " events; %" PRIu64
			" more were left out: --limit allows more, --from and --until choose others",
			export->source->path, html->nr_events, html->nr_left_out);
	intern_free(&html->origins);
	intern_free(&html->sites);
	for (size_t i = 0; i < html->stack_ids.nr_texts; i++) {
		free(html->stack_texts[i].end);
		free(html->stack_texts[i].functions);
	}
	free(html->stack_texts);
	intern_free(&html->stack_ids);
	free(html->filters);
	html_spans_free(&html->spans);
	free(html->last_data);
	free(html);
	return true;
}

static const int options[] = {OPTION_LIMIT, OPTION_SPAN, 0};

const struct exporter exporter_html = {
	.name = "html",
	.suffix = ".html",
	.summary = "a page for a browser with an interactive timeline",
	.options = options,
	.shows_waits = true,
	.begin = begin,
	.event = put_event,
	.end = end,
};
