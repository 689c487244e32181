/* SPDX-License-Identifier: MIT */
#include "cmd/diagnosis.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void diagnosis_add(struct sentences *sentences, const char *format, ...)
{
	va_list arguments;

	if (sentences->nr == SENTENCES)
		return;
	va_start(arguments, format);
	if (vasprintf(&sentences->text[sentences->nr], format, arguments) >= 0)
		sentences->nr++;
	va_end(arguments);
}

static void sentences_free(struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->nr; i++)
		free(sentences->text[i]);
}

/* The result. */

void diagnosis_put_sentences(struct fields *fields, const char *label,
			  const struct sentences *sentences)
{
	if (!fields->is_json) {
		for (size_t i = 0; i < sentences->nr; i++)
			fields_text(fields, label, sentences->text[i]);
		return;
	}
	json_array(&fields->json, label);
	for (size_t i = 0; i < sentences->nr; i++)
		json_string(&fields->json, NULL, sentences->text[i]);
	json_close(&fields->json);
}

static void put_wrapper_json(struct diagnosis *diagnosis, size_t i)
{
	const struct imports *imports = &diagnosis->imports;
	struct json *json = &diagnosis->fields.json;
	struct wrapper wrapper = wrapper_get(i);

	json_object(json, NULL);
	json_string(json, "symbol", wrapper.symbol);
	json_string(json, "call", wrapper.call);
	json_string(json, "group", wrapper.group);
	json_bool(json, "usual", wrapper.is_usual);
	json_array(json, "by");
	for (size_t k = 0; k < imports->nr_files; k++)
		if (imports_has(imports, k, i))
			json_string(json, NULL, imports->file[k]);
	json_close(json);
	json_close(json);
}

static void put_wrapper(const struct diagnosis *diagnosis, size_t i, bool is_first)
{
	const struct imports *imports = &diagnosis->imports;
	struct text *text = diagnosis->fields.text;
	struct wrapper wrapper = wrapper_get(i);
	const char *gap = "";

	if (is_first)
		text_printf(text, "\n%-26s  %-26s  %-8s  %-5s  %s\n", "function", "recorded as",
			    "group", "usual", "called by");
	text_printf(text, "%-26s  %-26s  %-8s  %-5s  ", wrapper.symbol, wrapper.call, wrapper.group,
		    wrapper.is_usual ? "yes" : "no");
	for (size_t k = 0; k < imports->nr_files; k++) {
		if (!imports_has(imports, k, i))
			continue;
		text_string(text, gap);
		text_plain(text, imports->file[k], 0);
		gap = " ";
	}
	text_char(text, '\n');
}

static void put_wrappers(struct diagnosis *diagnosis)
{
	bool is_json = diagnosis->fields.is_json, is_first = true;

	if (is_json)
		json_array(&diagnosis->fields.json, "wrappers");
	for (size_t i = 0; i < nr_wrappers; i++) {
		if (!imports_has_any(&diagnosis->imports, i))
			continue;
		if (is_json)
			put_wrapper_json(diagnosis, i);
		else
			put_wrapper(diagnosis, i, is_first);
		is_first = false;
	}
	if (is_json)
		json_close(&diagnosis->fields.json);
}

void diagnosis_put(struct diagnosis *diagnosis)
{
	struct fields *fields = &diagnosis->fields;

	diagnosis_put_sentences(fields, "note", &diagnosis->annotations);
	if (diagnosis->obstacles.nr == 0)
		fields_text(fields, "trace it by", diagnosis->advice);
	else if (diagnosis->has_switches && diagnosis->lacks_library && diagnosis->obstacles.nr == 1)
		fields_text(fields, "switches by", diagnosis->switches);
	fields_bool(fields, "can be traced", diagnosis->obstacles.nr == 0);
	diagnosis_put_sentences(fields, "because", &diagnosis->obstacles);
	put_wrappers(diagnosis);
}

void diagnosis_free(struct diagnosis *diagnosis)
{
	imports_free(&diagnosis->imports);
	sentences_free(&diagnosis->obstacles);
	sentences_free(&diagnosis->annotations);
}
