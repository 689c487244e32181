/* SPDX-License-Identifier: MIT */
#include "waits/stack_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/units.h"

/* All waits for an object with the same stack. */
struct row {
	struct stack stack;
	const struct awaited *object;
	const char *service;
	uint64_t nr;
	int64_t total_ns, longest_ns;
	struct row *next;
};

struct stack_waits {
	bool only_locks;
	struct waits waits;
	struct map row_of; /* key: stack and object */
	struct row *first;
	size_t nr_rows;
	uint64_t nr, nr_with_stack;
	int64_t total_ns, total_with_stack_ns;
	uint64_t nr_stacks, nr_cut;
};

static bool is_taken(const struct stack_waits *all, const struct wait *wait)
{
	return wait->counts && wait->end_ns >= wait->begin_ns && (!all->only_locks || wait->object->is_lock);
}

static void take_end(void *arg, const struct wait *wait)
{
	struct stack_waits *all = arg;

	if (!is_taken(all, wait))
		return;
	all->nr++;
	units_add(&all->total_ns, wait->end_ns - wait->begin_ns);
}

static struct row *row_of(struct stack_waits *all, const struct wait *wait, const struct stack *stack)
{
	uint64_t *known = map_get(&all->row_of, stack->id * 31 + wait->object->index + 1);
	struct row *row = (struct row *)(uintptr_t)*known;

	if (row)
		return row;
	row = must(calloc(1, sizeof(*row)));
	row->stack = *stack;
	row->object = wait->object;
	row->service = wait->service;
	row->next = all->first;
	all->first = row;
	all->nr_rows++;
	*known = (uintptr_t)row;
	return row;
}

static void take_stack(void *arg, const struct wait *wait, const struct stack *stack)
{
	int64_t ns = wait->end_ns - wait->begin_ns;
	struct stack_waits *all = arg;
	struct row *row;

	if (!is_taken(all, wait))
		return;
	row = row_of(all, wait, stack);
	row->nr++;
	units_add(&row->total_ns, ns);
	if (ns > row->longest_ns)
		row->longest_ns = ns;
	all->nr_with_stack++;
	units_add(&all->total_with_stack_ns, ns);
	all->nr_stacks++;
	all->nr_cut += stack_cut(stack->end) != NULL;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = *(struct row *const *)a, *right = *(struct row *const *)b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return (left->stack.id > right->stack.id) - (left->stack.id < right->stack.id);
}

static void report_none(const struct stack_waits *all, struct source *source)
{
	int bound_us = TXTRACE_STACKS_NONE;

	if (all->nr_with_stack > 0 || all->waits.nr_calls == 0)
		return;
	txtrace_attr_getstacks(&source->attr, &bound_us);
	if (bound_us == TXTRACE_STACKS_NONE)
		message("%s has no stacks; record --preload --stacks records them", source->path);
	else
		message("%s has no stacks of these waits", source->path);
}

/* Read the file, and return the rows in their order. */
static struct row **read_rows(struct stack_waits *all, struct source *source, const struct selection *selection)
{
	const struct waits_listener listener = {.arg = all, .ended = take_end, .stack = take_stack};
	struct row **rows;
	size_t nr = 0;

	waits_read(&all->waits, source, selection, &listener);
	waits_report_no_calls(&all->waits);
	report_none(all, source);
	rows = must(calloc(all->nr_rows + 1, sizeof(*rows)));
	for (struct row *row = all->first; row; row = row->next)
		rows[nr++] = row;
	qsort(rows, nr, sizeof(*rows), compare_rows);
	return rows;
}

static void free_rows(struct stack_waits *all, struct row **rows)
{
	for (size_t i = 0; i < all->nr_rows; i++)
		free(rows[i]);
	free(rows);
	map_free(&all->row_of);
	waits_free(&all->waits);
}

static void put_line(void *arg, const char *line)
{
	struct text *text = arg;

	text_string(text, "      ");
	text_plain(text, line, 0);
	text_char(text, '\n');
}

/* In text, a stack has several lines. */
static void print_text(struct row *row, struct symbols *symbols, struct text *text)
{
	struct stack shown = row->stack;
	char object[160], total[32], longest[32];

	waits_describe(row->object, object, sizeof(object));
	units_duration(total, sizeof(total), row->total_ns);
	units_duration(longest, sizeof(longest), row->longest_ns);
	text_printf(text, "  %s in %" PRIu64 " wait%s, the longest %s: ", total, row->nr, row->nr == 1 ? "" : "s",
		    longest);
	text_plain(text, object, 0);
	text_printf(text, "%s%s%s\n", *row->service && row->object->kind ? " (" : "",
		    row->object->kind ? row->service : "", *row->service && row->object->kind ? ")" : "");
	stack_trim(symbols, &shown);
	stack_lines(symbols, &shown, put_line, text);
	text_char(text, '\n');
}

static void put_cells(struct row *row, struct symbols *symbols, struct table *table)
{
	char *folded = stack_fold(symbols, &row->stack);
	const char *cut = stack_cut(row->stack.end);
	char id[24];

	table_string(table, row->object->name);
	snprintf(id, sizeof(id), "0x%" PRIx64, row->stack.id);
	table_string(table, id);
	if (row->object->kind)
		table_string(table, row->object->kind);
	else
		table_unknown(table);
	table_number(table, row->nr);
	table_duration(table, row->total_ns);
	table_duration(table, row->longest_ns);
	if (cut)
		table_string(table, cut);
	else
		table_unknown(table);
	table_string(table, folded);
	free(folded);
}

static void print_rest(const struct stack_waits *all, struct table *table)
{
	char total[32];

	units_duration(total, sizeof(total), all->total_ns - all->total_with_stack_ns);
	if (all->nr > all->nr_with_stack)
		table_note(table,
			   "  and %" PRIu64
			   " wait%s without a stack, %s in all: shorter than the bound, not over, or the "
			   "stack was lost",
			   all->nr - all->nr_with_stack, all->nr - all->nr_with_stack == 1 ? "" : "s", total);
	if (all->nr_cut > 0)
		table_note(table, "  %" PRIu64 " of %" PRIu64 " stacks are cut", all->nr_cut, all->nr_stacks);
}

void stack_waits_print(struct source *source, const struct selection *selection, bool only_locks, struct table *table)
{
	static const struct column columns[] = {{"Object", "object", false}, {"Stack", "id", false},
						{"Type", "type", false},     {"Waits", "waits", true},
						{"Total", "total_s", true},  {"max", "max_s", true},
						{"Cut", "cut", false},	     {"Functions", "stack", false},
						{0}};
	const char *title = only_locks ? "Locks by Stack" : "Blocked by Stack";
	struct stack_waits all = {.only_locks = only_locks};
	struct row **rows = read_rows(&all, source, selection);
	struct symbols *symbols = source_symbols(source);

	if (table->format == FORMAT_TEXT) {
		text_printf(table->text, "%s\n\n", title);
		for (size_t i = 0; i < all.nr_rows; i++)
			print_text(rows[i], symbols, table->text);
	} else {
		table_begin(table, title, only_locks ? "locks_by_stack" : "blocked_by_stack", columns, 2);
		for (size_t i = 0; i < all.nr_rows; i++)
			put_cells(rows[i], symbols, table);
		table_end(table);
	}
	print_rest(&all, table);
	free_rows(&all, rows);
}

void stack_waits_fold(struct source *source, const struct selection *selection, bool only_locks, struct text *text)
{
	struct stack_waits all = {.only_locks = only_locks};
	struct row **rows = read_rows(&all, source, selection);
	struct symbols *symbols = source_symbols(source);

	for (size_t i = 0; i < all.nr_rows; i++) {
		char *folded = stack_fold(symbols, &rows[i]->stack), object[160];

		waits_describe(rows[i]->object, object, sizeof(object));
		for (char *at = object; *at; at++)
			if (*at == ';')
				*at = ':';
		text_plain(text, folded, 0);
		text_char(text, ';');
		text_plain(text, object, 0);
		text_printf(text, " %" PRId64 "\n", rows[i]->total_ns);
		free(folded);
	}
	free_rows(&all, rows);
}
