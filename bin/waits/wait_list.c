/* SPDX-License-Identifier: MIT */
#include "waits/wait_list.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/number_names.h"
#include "trace/programs.h"
#include "trace/symbols.h"

enum ending { ENDED, LASTS, MISSING };

struct row {
	const struct waiter *thread, *holder, *waker;
	const struct awaited *object;
	const char *service, *waker_service;
	uint64_t number;
	int64_t begin_ns, length_ns; /* length_ns is negative if it is not known */
	uint64_t address;
	int result;
	enum ending ending;
};

struct wait_list {
	const struct wait_list_options *options;
	struct waits waits;
	struct symbols *symbols; /* NULL: the file is a ThreadX buffer */
	struct row *row;
	size_t nr_rows, room;
	uint64_t nr_waits; /* number of waits, also of those beyond the limit */
};

static const char *const sort_words[] = {"start", "duration", "object"};

bool wait_list_parse_sort(const char *word, enum wait_list_sort *order)
{
	for (size_t i = 0; i < sizeof(sort_words) / sizeof(sort_words[0]); i++) {
		if (strcmp(word, sort_words[i]) == 0) {
			*order = (enum wait_list_sort)i;
			return true;
		}
	}
	message("--sort takes start, duration or object, not %s", word);
	return false;
}

/* Order. */

static int compare_starts(const struct row *left, const struct row *right)
{
	return (left->number > right->number) - (left->number < right->number);
}

static int by_start(const void *a, const void *b)
{
	return compare_starts(a, b);
}

/* The longest wait comes first.  Waits of an unknown length come last. */
static int by_duration(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->length_ns != right->length_ns)
		return left->length_ns > right->length_ns ? -1 : 1;
	return compare_starts(left, right);
}

static int by_object(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int names = strcmp(left->object->name, right->object->name);

	if (names != 0)
		return names;
	if (left->object != right->object)
		return left->object->index < right->object->index ? -1 : 1;
	return by_duration(left, right);
}

static void sort_rows(struct wait_list *list)
{
	static int (*const compare[])(const void *, const void *) = {
		[WAIT_LIST_START] = by_start,
		[WAIT_LIST_DURATION] = by_duration,
		[WAIT_LIST_OBJECT] = by_object,
	};

	if (list->nr_rows > 0)
		qsort(list->row, list->nr_rows, sizeof(list->row[0]), compare[list->options->order]);
}

/* Collecting. */

/* Return room for one more row.  With a limit, first drop the rows that are beyond it. */
static struct row *new_row(struct wait_list *list)
{
	uint64_t limit = list->options->limit;

	if (limit > 0 && list->nr_rows == 2 * limit) {
		sort_rows(list);
		list->nr_rows = limit;
	}
	if (list->nr_rows == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->row = must(reallocarray(list->row, list->room, sizeof(list->row[0])));
	}
	return &list->row[list->nr_rows++];
}

static void add_row(struct wait_list *list, const struct wait *wait, int64_t length_ns,
		    enum ending ending)
{
	int64_t over_ns = list->options->over_ns;

	if (!wait->counts || (over_ns != WAIT_LIST_ALL && length_ns <= over_ns))
		return;
	list->nr_waits++;
	*new_row(list) = (struct row){
		.thread = wait->thread,
		.holder = wait->holder,
		.waker = ending == ENDED ? wait->waker : NULL,
		.waker_service = wait->waker_service,
		.object = wait->object,
		.service = wait->service,
		.number = wait->number,
		.begin_ns = wait->begin_ns,
		.length_ns = length_ns,
		.address = wait->address,
		.result = wait->result,
		.ending = ending,
	};
}

static void take_wait(void *arg, const struct wait *wait)
{
	int64_t length_ns = wait->end_ns - wait->begin_ns;

	/* The times of a damaged file may fall. */
	add_row(arg, wait, length_ns < 0 ? 0 : length_ns, wait->has_ended ? ENDED : LASTS);
}

static void take_broken(void *arg, const struct wait *wait, int64_t at_ns)
{
	(void)at_ns;
	add_row(arg, wait, -1, MISSING);
}

/* Columns.  Each function puts the cell of one column. */

static void put_number(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	table_number(table, row->number);
}

static void put_start(const struct wait_list *list, struct table *table, const struct row *row)
{
	table_time(table, row->begin_ns, list->waits.source->first_ns);
}

static void put_duration(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	if (row->ending != MISSING)
		table_duration(table, row->length_ns);
	else
		table_unknown(table);
}

static void put_name(struct table *table, const char *name)
{
	if (name && *name)
		table_string(table, name);
	else
		table_unknown(table);
}

static void put_thread(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->thread->name);
}

static void put_object(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->object->name);
}

static void put_type(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->object->kind);
}

static void put_call(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->service);
}

static void put_site(const struct wait_list *list, struct table *table, const struct row *row)
{
	const char *name = list->symbols && row->address ? symbols_code(list->symbols, row->address) : NULL;
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)code_address(row->address));
	put_name(table, name || row->address == 0 ? name : text);
}

static void put_holder(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->holder ? row->holder->name : NULL);
}

static void put_waker(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->waker ? row->waker->name : NULL);
}

static void put_waker_call(const struct wait_list *list, struct table *table, const struct row *row)
{
	(void)list;
	put_name(table, row->waker ? row->waker_service : NULL);
}

static void put_ending(const struct wait_list *list, struct table *table, const struct row *row)
{
	const char *error = row->result != 0 ? error_number_name(row->result) : NULL;
	char text[32];

	(void)list;
	snprintf(text, sizeof(text), "error %d", row->result);
	switch (row->ending) {
	case LASTS:
		table_string(table, "lasts");
		return;
	case MISSING:
		table_string(table, "end missing");
		return;
	default:
		table_string(table, row->result == 0 ? "ended" : error ? error : text);
	}
}

static const struct {
	struct column column;
	void (*put)(const struct wait_list *list, struct table *table, const struct row *row);
} columns[] = {
	{{"Event", "number", true}, put_number},
	{{"Start", "start_s", true}, put_start},
	{{"Duration", "duration_s", true}, put_duration},
	{{"Thread", "thread", false}, put_thread},
	{{"Object", "object", false}, put_object},
	{{"Type", "type", false}, put_type},
	{{"Call", "call", false}, put_call},
	{{"Call Site", "site", false}, put_site},
	{{"Holder", "holder", false}, put_holder},
	{{"Woken By", "woken_by", false}, put_waker},
	{{"With", "woken_with", false}, put_waker_call},
	{{"End", "end", false}, put_ending},
};

#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *const minor[] = {"woken_with", "type", "number", "site", "call", "woken_by", "end", "holder", NULL};

static void print(struct wait_list *list, struct table *table)
{
	struct column titles[NR_COLUMNS + 1] = {{0}};

	for (size_t i = 0; i < NR_COLUMNS; i++)
		titles[i] = columns[i].column;
	table->minor = minor;
	table->has_records = true;
	table_begin(table, "Waits", "waits", titles, 1);
	for (size_t i = 0; i < list->nr_rows; i++)
		for (size_t k = 0; k < NR_COLUMNS; k++)
			columns[k].put(list, table, &list->row[i]);
	table_end(table);
	if (list->nr_waits > list->nr_rows)
		table_note(table, "  the first %zu of %llu waits", list->nr_rows, (unsigned long long)list->nr_waits);
	if (list->waits.nr_broken > 0)
		table_note(table,
			   "  %llu wait%s of the trace ha%s no end: the event is missing, or the program left the call "
			   "by longjmp()",
			   (unsigned long long)list->waits.nr_broken, list->waits.nr_broken == 1 ? "" : "s",
			   list->waits.nr_broken == 1 ? "s" : "ve");
}

void wait_list_print(struct source *source, const struct selection *selection,
		     const struct wait_list_options *options, struct table *table)
{
	struct wait_list list = {.options = options};
	const struct waits_listener listener = {.arg = &list, .ended = take_wait, .broken = take_broken};

	if (!source->file.foreign)
		list.symbols = symbols_of_log(source->trace);
	waits_read(&list.waits, source, selection, &listener);
	waits_report_no_calls(&list.waits);
	sort_rows(&list);
	if (options->limit > 0 && list.nr_rows > options->limit)
		list.nr_rows = options->limit;
	print(&list, table);
	free(list.row);
	symbols_free(list.symbols);
	waits_free(&list.waits);
}
