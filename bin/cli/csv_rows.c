/* SPDX-License-Identifier: MIT */
#include "cli/csv_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/format.h"

struct csv_row {
	const char *table;
	char **value; /* index: number of the column; NULL: empty */
	size_t nr_values;
};

static size_t place_of(struct csv_rows *rows, const char *key)
{
	bool is_new;

	return (size_t)intern_number(&rows->columns, key, strlen(key), &is_new) - 1;
}

void csv_rows_column(struct csv_rows *rows, const char *key)
{
	place_of(rows, key);
}

void csv_rows_begin(struct csv_rows *rows, const char *table)
{
	if (rows->nr_rows == rows->room) {
		rows->room = rows->room ? 2 * rows->room : 64;
		rows->row = must(reallocarray(rows->row, rows->room, sizeof(*rows->row)));
	}
	rows->row[rows->nr_rows++] = (struct csv_row){.table = table};
}

void csv_rows_put(struct csv_rows *rows, const char *key, const char *value)
{
	struct csv_row *row = &rows->row[rows->nr_rows - 1];
	size_t at = place_of(rows, key);

	if (!value)
		return;
	if (at >= row->nr_values) {
		row->value = must(reallocarray(row->value, at + 1, sizeof(char *)));
		memset(row->value + row->nr_values, 0, (at + 1 - row->nr_values) * sizeof(char *));
		row->nr_values = at + 1;
	}
	free(row->value[at]);
	row->value[at] = must(strdup(value));
}

static void print_row(const struct csv_rows *rows, const struct csv_row *row, struct text *text)
{
	text_csv(text, row->table);
	for (size_t i = 0; i < rows->columns.nr_texts; i++) {
		text_char(text, ',');
		if (i < row->nr_values && row->value[i])
			text_csv(text, row->value[i]);
	}
	text_string(text, "\r\n");
}

void csv_rows_print(struct csv_rows *rows, struct text *text)
{
	text_string(text, "report");
	for (size_t i = 0; i < rows->columns.nr_texts; i++) {
		text_char(text, ',');
		text_csv(text, intern_text(&rows->columns, i + 1));
	}
	text_string(text, "\r\n");
	for (size_t i = 0; i < rows->nr_rows; i++) {
		print_row(rows, &rows->row[i], text);
		for (size_t k = 0; k < rows->row[i].nr_values; k++)
			free(rows->row[i].value[k]);
		free(rows->row[i].value);
	}
	free(rows->row);
	intern_free(&rows->columns);
	*rows = (struct csv_rows){.nr_rows = 0};
}
