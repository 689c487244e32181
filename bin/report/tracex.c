/* SPDX-License-Identifier: MIT */
#include "report/tracex.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/native.h"

#define SYSTEM "General Summary - Entire System"
#define NAME_BYTES 192
#define CELLS_MAX 5

/* A table of a dialog: the rows are collected first, because the widths of the columns depend on them. */
struct dialog {
	struct text *text;
	bool is_html;
	const char *head[CELLS_MAX];
	size_t nr_columns;
	char *(*row)[CELLS_MAX];
	size_t nr_rows, room;
};

static void put_escaped(struct text *text, const char *string)
{
	for (; *string; string++) {
		if (*string == '<')
			text_string(text, "&lt;");
		else if (*string == '>')
			text_string(text, "&gt;");
		else if (*string == '&')
			text_string(text, "&amp;");
		else
			text_char(text, (unsigned char)*string < ' ' || *string == 0x7F ? '?' : *string);
	}
}

static void begin_page(struct text *text, const char *path, bool is_html)
{
	if (is_html) {
		text_string(text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
		put_escaped(text, path);
		text_string(text, "</title>\n<style>\nbody { font-family: sans-serif; }\n"
				  "table { border-collapse: collapse; }\n"
				  "td, th { padding: 0.1em 0.8em; border: 1px solid #ccc; text-align: right; }\n"
				  "td:first-child, th:first-child { text-align: left; white-space: pre; }\n"
				  "</style>\n</head>\n<body>\n");
	}
}

static void put_title(struct text *text, const char *title, int level, bool is_html)
{
	if (is_html) {
		text_printf(text, "<h%d>", level);
		put_escaped(text, title);
		text_printf(text, "</h%d>\n", level);
		return;
	}
	if (text_offset(text) > 0)
		text_char(text, '\n');
	text_plain(text, title, 0);
	text_char(text, '\n');
	if (level == 2) {
		for (size_t i = text_width(title); i > 0; i--)
			text_char(text, '=');
		text_char(text, '\n');
	}
}

static void begin_dialog(struct dialog *dialog, struct text *text, bool is_html, size_t nr, const char *const *heads)
{
	*dialog = (struct dialog){.text = text, .is_html = is_html, .nr_columns = nr};
	memcpy(dialog->head, heads, nr * sizeof(*heads));
}

__attribute__((format(printf, 3, 4)))
static void put_cell(struct dialog *dialog, size_t column, const char *format, ...)
{
	va_list arguments;
	char *cell = NULL;

	if (column == 0) {
		if (dialog->nr_rows == dialog->room) {
			dialog->room = dialog->room ? 2 * dialog->room : 32;
			dialog->row = must(reallocarray(dialog->row, dialog->room, sizeof(*dialog->row)));
		}
		memset(dialog->row[dialog->nr_rows++], 0, sizeof(*dialog->row));
	}
	va_start(arguments, format);
	if (vasprintf(&cell, format, arguments) < 0)
		cell = NULL;
	va_end(arguments);
	dialog->row[dialog->nr_rows - 1][column] = must(cell);
}

static void put_line(const struct dialog *dialog, const char *const *cells, const size_t *width)
{
	for (size_t i = 0; i < dialog->nr_columns; i++) {
		if (i == 0) {
			text_plain(dialog->text, cells[0], width[0]);
			continue;
		}
		for (size_t n = text_width(cells[i]); n < width[i] + 2; n++)
			text_char(dialog->text, ' ');
		text_plain(dialog->text, cells[i], 0);
	}
	text_char(dialog->text, '\n');
}

static void put_html_line(const struct dialog *dialog, const char *const *cells, const char *tag)
{
	text_string(dialog->text, "<tr>");
	for (size_t i = 0; i < dialog->nr_columns; i++) {
		text_printf(dialog->text, "<%s>", tag);
		put_escaped(dialog->text, cells[i]);
		text_printf(dialog->text, "</%s>", tag);
	}
	text_string(dialog->text, "</tr>\n");
}

static void end_dialog(struct dialog *dialog)
{
	size_t width[CELLS_MAX];

	for (size_t i = 0; i < dialog->nr_columns; i++) {
		width[i] = text_width(dialog->head[i]);
		for (size_t k = 0; k < dialog->nr_rows; k++)
			width[i] = text_width(dialog->row[k][i]) > width[i] ? text_width(dialog->row[k][i]) : width[i];
	}
	if (dialog->is_html) {
		text_string(dialog->text, "<table>\n");
		put_html_line(dialog, dialog->head, "th");
	} else {
		put_line(dialog, dialog->head, width);
	}
	for (size_t k = 0; k < dialog->nr_rows; k++) {
		const char *cells[CELLS_MAX];

		memcpy(cells, dialog->row[k], sizeof(cells));
		if (dialog->is_html)
			put_html_line(dialog, cells, "td");
		else
			put_line(dialog, cells, width);
		for (size_t i = 0; i < dialog->nr_columns; i++)
			free(dialog->row[k][i]);
	}
	if (dialog->is_html)
		text_string(dialog->text, "</table>\n");
	free(dialog->row);
}

/* Names. */

/* TraceX names a thread with its address. */
static void name_context(const struct context *ctx, char name[NAME_BYTES])
{
	if (!ctx->is_thread)
		snprintf(name, NAME_BYTES, "%s", ctx->name);
	else if (ctx->object)
		snprintf(name, NAME_BYTES, "%s (0x%08X)", ctx->object->name, ctx->context);
	else
		snprintf(name, NAME_BYTES, "Un-named Thread (0x%08X)", ctx->context);
}

static void name_service(const struct report *report, unsigned int type, char name[NAME_BYTES])
{
	unsigned int native = type >= FOREIGN_TYPES ? type - FOREIGN_TYPES : 0;
	const char *title = native < NATIVE_USER ? native_title(native) : NULL;

	snprintf(name, NAME_BYTES, "%s", title ? title : source_type_name(report->source, type));
}

/* Contexts, the busiest first. */
static int compare_times(const void *a, const void *b)
{
	const struct context *left = *(struct context *const *)a, *right = *(struct context *const *)b;

	if (left->time != right->time)
		return left->time > right->time ? -1 : 1;
	return left->context < right->context ? -1 : left->context > right->context;
}

static struct context **sort_contexts(const struct report *report)
{
	size_t nr = report->contexts.nr_contexts;
	struct context **sorted = must(reallocarray(NULL, nr + 1, sizeof(*sorted)));

	memcpy(sorted, report->contexts.ctx, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_times);
	sorted[nr] = NULL;
	return sorted;
}

static double share(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* The dialogs. */

static void put_profile(const struct report *report, struct context *const *sorted, struct dialog *dialog)
{
	double whole = (double)report_events_duration(&report->events);
	char name[NAME_BYTES];

	for (; *sorted; sorted++) {
		name_context(*sorted, name);
		put_cell(dialog, 0, "%s", name);
		put_cell(dialog, 1, "%.2f%%", share((double)(*sorted)->time, whole));
	}
}

static void put_number(struct dialog *dialog, const char *name, uint64_t number)
{
	put_cell(dialog, 0, "%s", name);
	put_cell(dialog, 1, "%" PRIu64, number);
}

static void put_system(const struct report *report, struct dialog *dialog)
{
	const struct statistics *statistics = &report->statistics;
	const struct inversions *inversions = report->inversions;

	put_number(dialog, "Context Switches", statistics->nr_switches);
	put_number(dialog, "Time Slices", statistics->nr_time_slices);
	put_number(dialog, "Thread Preemptions", statistics->nr_preemptions);
	put_number(dialog, "Thread Suspensions", statistics->nr_suspensions);
	put_number(dialog, "Thread Resumptions", statistics->nr_resumptions);
	put_number(dialog, "Interrupts", statistics->nr_interrupts);
	put_number(dialog, "Priority Inversions", inversions->nr_deterministic + inversions->nr_other);
	put_number(dialog, "     Deterministic", inversions->nr_deterministic);
	put_number(dialog, "     Non-deterministic", inversions->nr_other);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* The services of one context, or of all of them (NULL). */
static void put_services(const struct report *report, const struct context *ctx, struct dialog *dialog)
{
	const struct count_map *services = &report->services;
	char name[NAME_BYTES];
	struct pair *list;
	uint64_t all = 0;
	size_t nr = 0;

	if (!ctx) {
		list = counts_sum(services, &nr);
	} else {
		list = must(reallocarray(NULL, services->nr_pairs + 1, sizeof(*list)));
		for (size_t i = 0; i < services->nr_pairs; i++)
			if (services->pair[i]->ctx == ctx)
				list[nr++] = *services->pair[i];
	}
	if (nr > 0)
		qsort(list, nr, sizeof(*list), compare_pairs);
	for (size_t i = 0; i < nr; i++)
		all += list[i].count;
	for (size_t i = 0; i < nr; i++) {
		name_service(report, list[i].number, name);
		put_cell(dialog, 0, "%s", name);
		put_cell(dialog, 1, "%" PRIu64, list[i].count);
		put_cell(dialog, 2, "%.2f%%", share((double)list[i].count, (double)all));
	}
	free(list);
}

static void put_stacks(struct context *const *sorted, struct dialog *dialog)
{
	char name[NAME_BYTES];
	unsigned int size;

	for (; *sorted; sorted++) {
		const struct context *ctx = *sorted;

		if (!ctx->is_thread || !ctx->object || ctx->object->parameter[1] == 0)
			continue;
		name_context(ctx, name);
		put_cell(dialog, 0, "%s", name);
		size = ctx->object->parameter[1];
		put_cell(dialog, 1, "%u", size);
		if (ctx->has_stack) {
			put_cell(dialog, 2, "%" PRIu32, ctx->stack_left);
			put_cell(dialog, 3, "%.2f%%", share((double)size - ctx->stack_left, size));
			put_cell(dialog, 4, "%" PRIu64, ctx->stack_event);
		} else {
			put_cell(dialog, 2, "not known");
			put_cell(dialog, 3, "-");
			put_cell(dialog, 4, "-");
		}
	}
}

static void put_counters(const struct report *report, enum counters_of of, struct dialog *dialog)
{
	for (size_t i = 0; i < nr_counters; i++)
		if (counters[i].of == of)
			put_number(dialog, counters[i].name, report->counts.value[i]);
}

static const char *const heads_profile[] = {"Context", "Usage"};
static const char *const heads_statistic[] = {"Statistic", "Occurrences"};
static const char *const heads_services[] = {"Service", "Occurrences", "Percent used"};
static const char *const heads_stacks[] = {"Thread Name", "Stack Size", "Availability", "Usage", "Event ID"};

static void print_threads(struct context *const *sorted, struct text *text, bool is_html)
{
	struct dialog dialog;
	char name[NAME_BYTES];

	for (; *sorted; sorted++) {
		if (!(*sorted)->is_thread)
			continue;
		name_context(*sorted, name);
		put_title(text, name, 3, is_html);
		begin_dialog(&dialog, text, is_html, 2, heads_statistic);
		put_number(&dialog, "Thread Suspensions", (*sorted)->nr_suspensions);
		put_number(&dialog, "Thread Resumptions", (*sorted)->nr_resumptions);
		end_dialog(&dialog);
	}
}

static void print_services(const struct report *report, struct context *const *sorted, struct text *text, bool is_html)
{
	struct dialog dialog;
	char name[NAME_BYTES];

	put_title(text, "TraceX Popular Services", 2, is_html);
	put_title(text, SYSTEM, 3, is_html);
	begin_dialog(&dialog, text, is_html, 3, heads_services);
	put_services(report, NULL, &dialog);
	end_dialog(&dialog);
	for (; *sorted; sorted++) {
		begin_dialog(&dialog, text, is_html, 3, heads_services);
		put_services(report, *sorted, &dialog);
		if (dialog.nr_rows == 0)
			continue;
		name_context(*sorted, name);
		put_title(text, name, 3, is_html);
		end_dialog(&dialog);
	}
}

static void print_counters(const struct report *report, enum counters_of of, const char *title, struct text *text,
			   bool is_html)
{
	struct dialog dialog;

	if (report->counts.nr_events[of] == 0)
		return;
	put_title(text, title, 2, is_html);
	begin_dialog(&dialog, text, is_html, 2, heads_statistic);
	put_counters(report, of, &dialog);
	end_dialog(&dialog);
}

static void put_note(struct text *text, bool is_html, const char *note)
{
	text_string(text, is_html ? "<p>" : "\n");
	text_string(text, note);
	text_string(text, is_html ? "</p>\n" : "\n");
}

void tracex_print(struct report *report, struct text *text, bool is_html)
{
	struct context **sorted = sort_contexts(report);
	struct dialog dialog;

	begin_page(text, report->source->path, is_html);
	put_title(text, "TraceX Execution Profile", 2, is_html);
	begin_dialog(&dialog, text, is_html, 2, heads_profile);
	put_profile(report, sorted, &dialog);
	end_dialog(&dialog);
	put_title(text, "TraceX Performance Statistics", 2, is_html);
	put_title(text, SYSTEM, 3, is_html);
	begin_dialog(&dialog, text, is_html, 2, heads_statistic);
	put_system(report, &dialog);
	end_dialog(&dialog);
	print_threads(sorted, text, is_html);
	print_services(report, sorted, text, is_html);
	put_title(text, "TraceX Thread Stack Usage", 2, is_html);
	begin_dialog(&dialog, text, is_html, 5, heads_stacks);
	put_stacks(sorted, &dialog);
	end_dialog(&dialog);
	print_counters(report, COUNTERS_FILEX, "TraceX: FileX Statistics", text, is_html);
	print_counters(report, COUNTERS_NETX, "TraceX: NetX Statistics", text, is_html);
	put_note(text, is_html,
		 "TraceX itself shows 0 time slices for most files, counts non-deterministic inversions twice, and "
		 "shows a stack without events as unused. See txtrace-tracex(1).");
	if (is_html)
		text_string(text, "</body>\n</html>\n");
	free(sorted);
}
