/* SPDX-License-Identifier: MIT */
#include "cli/rows.h"

#include <stdio.h>

#include "cli/terminal.h"

static void put_text(struct text *text, const struct rows_column *column, const char *string)
{
	if (column->is_right)
		text_printf(text, "%*s%*s", column->gap, "", column->width, string);
	else {
		text_printf(text, "%*s", column->gap, "");
		text_plain(text, string, (size_t)column->width);
	}
}

void rows_titles(struct rows *rows)
{
	if (rows->is_json)
		return;
	text_string(rows->text, rows->is_dim ? terminal_color(COLOR_DIM) : "");
	for (const struct rows_column *column = rows->columns; column->title || column->key;
	     column++)
		if (column->title)
			put_text(rows->text, column, column->title);
	text_string(rows->text, rows->is_dim ? terminal_color(COLOR_PLAIN) : "");
	text_char(rows->text, '\n');
}

void rows_begin(struct rows *rows)
{
	rows->next = rows->columns;
	rows->has_cell = false;
	if (!rows->is_json)
		return;
	text_string(rows->text, rows->nr > 0 ? "," : "");
	text_string(rows->text, !rows->is_dense ? "\n    {" : rows->nr > 0 ? "\n{" : "{");
}

/* Print a cell.  In text, print `string`.  In JSON, print `json`, or the quoted string if json is NULL. */
static void put_cell(struct rows *rows, const char *string, const char *json)
{
	const struct rows_column *column = rows->next++;

	if (!rows->is_json) {
		if (column->title)
			put_text(rows->text, column, string);
		return;
	}
	if (!column->key)
		return;
	if (rows->has_cell)
		text_string(rows->text, rows->is_dense ? "," : ", ");
	text_json(rows->text, column->key);
	text_string(rows->text, rows->is_dense ? ":" : ": ");
	if (json)
		text_string(rows->text, json);
	else
		text_json(rows->text, string);
	rows->has_cell = true;
}

void rows_string(struct rows *rows, const char *string)
{
	put_cell(rows, string, NULL);
}

void rows_number(struct rows *rows, unsigned long long number)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%llu", number);
	put_cell(rows, digits, digits);
}

void rows_signed(struct rows *rows, long long number)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%lld", number);
	put_cell(rows, digits, digits);
}

void rows_real(struct rows *rows, double number)
{
	char digits[48];

	snprintf(digits, sizeof(digits), "%.1f", number);
	put_cell(rows, digits, digits);
}

void rows_bool(struct rows *rows, bool value)
{
	put_cell(rows, value ? "yes" : "no", value ? "true" : "false");
}

void rows_unknown(struct rows *rows)
{
	put_cell(rows, "-", "null");
}

void rows_end(struct rows *rows)
{
	text_char(rows->text, rows->is_json ? '}' : '\n');
	rows->nr++;
}
