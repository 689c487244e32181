/* SPDX-License-Identifier: MIT */
#include "live/describe.h"

#include <string.h>
#include <trace_ext.h>

#include "base/message.h"
#include "trace/symbols.h"
#include "trace/type_lines.h"

/* Return the name of a type that the description consists of, or NULL. */
static const char *reference_of(const char *text, struct px_fields **fields)
{
	const struct px_fields_model model = px_fields_native();
	struct px_fields_error error;

	if (px_fields_parse(text, strlen(text), &model, fields, &error) != 0)
		*fields = NULL;
	return *fields && !(*fields)->top ? (*fields)->reference : NULL;
}

static void describe(trace_id_t trace, const struct type_line *line, struct symbols *symbols)
{
	char text[PX_FIELDS_TEXT_MAX + 1], why[SYMBOLS_WHY_BYTES] = "is not known: the process has ended";
	const char *description = line->text, *reference;
	const struct px_fields_model model = px_fields_native();
	struct px_fields *fields;
	trace_event_id_t type;
	int error;

	reference = reference_of(line->text, &fields);
	if (reference && symbols && symbols_type(symbols, reference, &model, text, why))
		description = text;
	else if (reference)
		message("%s: %s of %s %s; the log has only its name", line->origin, reference, line->event, why);
	error = posix_trace_trid_eventid_open(trace, line->event, &type);
	if (!error)
		error = txtrace_trid_describe_type(trace, type, description);
	if (error)
		message_error(error, "%s: cannot describe %s", line->origin, line->event);
	px_fields_free(fields);
}

void describe_types(trace_id_t trace, pid_t pid, const char *program)
{
	struct symbols *symbols;

	if (!type_lines_given.first)
		return;
	symbols = program ? symbols_of_file(program) : symbols_of_process(pid, false);
	for (const struct type_line *i = type_lines_given.first; i; i = i->next)
		if (type_lines_find(&type_lines_given, i->event) == i)
			describe(trace, i, symbols);
	symbols_free(symbols);
}
