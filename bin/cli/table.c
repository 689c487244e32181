/* SPDX-License-Identifier: MIT */
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/when.h"
#include "base/units.h"
#include "cli/terminal.h"

#define FIRST_CELLS 64
#define USUAL_WIDTH 80

void table_open(struct table *table, struct text *text, enum format format)
{
	*table = (struct table){.text = text, .format = format};
	if (format == FORMAT_JSON)
		json_begin(&table->json, text);
}

int table_usual_width(const struct table *table)
{
	int width = table->text->is_terminal ? terminal_width() : USUAL_WIDTH;

	return width > USUAL_WIDTH ? width : USUAL_WIDTH;
}

static void print_csv_titles(struct table *table)
{
	if (table->has_titles)
		return;
	table->has_titles = true;
	for (int i = 0; i < table->nr_columns; i++) {
		text_string(table->text, i > 0 ? "," : "");
		text_csv(table->text, table->columns[i].key);
	}
	text_string(table->text, "\r\n");
}

void table_close(struct table *table)
{
	if (table->format == FORMAT_JSON)
		json_end(&table->json);
	if (table->format == FORMAT_CSV && table->has_records)
		print_csv_titles(table);
	else if (table->format == FORMAT_CSV)
		csv_rows_print(&table->rows, table->text);
	free(table->cell);
}

void table_begin(struct table *table, const char *title, const char *key,
		 const struct column *columns, int nr_labels)
{
	table->title = title;
	table->key = key;
	table->columns = columns;
	table->nr_labels = nr_labels;
	table->nr_columns = table->nr_cells = 0;
	while (columns[table->nr_columns].title)
		table->nr_columns++;
}

/* Cells. */

static void put_cell(struct table *table, char *string)
{
	if (table->nr_cells == table->room) {
		table->room = table->room ? 2 * table->room : FIRST_CELLS;
		table->cell = must(reallocarray(table->cell, table->room, sizeof(char *)));
	}
	table->cell[table->nr_cells++] = string;
}

void table_string(struct table *table, const char *string)
{
	put_cell(table, must(strdup(string)));
}

void table_number(struct table *table, uint64_t number)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	table_string(table, digits);
}

void table_real(struct table *table, double number)
{
	char digits[48];

	snprintf(digits, sizeof(digits), "%.12g", number);
	table_string(table, digits);
}

void table_seconds(struct table *table, int64_t ns)
{
	char digits[48];

	snprintf(digits, sizeof(digits), "%lld.%09lld", (long long)(ns / NS_PER_S),
		 (long long)(ns % NS_PER_S));
	table_string(table, digits);
}

void table_time(struct table *table, int64_t time_ns, int64_t first_ns)
{
	char text[WHEN_BYTES];

	if (when_is_relative() || first_ns == 0 || table->format != FORMAT_TEXT) {
		table_seconds(table, time_ns - first_ns);
		return;
	}
	when_write(text, time_ns);
	table_string(table, text);
}

void table_duration(struct table *table, int64_t ns)
{
	char text[32];

	if (table->format != FORMAT_TEXT) {
		table_seconds(table, ns);
		return;
	}
	units_duration(text, sizeof(text), ns);
	table_string(table, text);
}

void table_percent(struct table *table, double part, double whole)
{
	char digits[48];

	snprintf(digits, sizeof(digits), "%.2f", whole > 0 ? 100 * part / whole : 0);
	table_string(table, digits);
}

void table_unknown(struct table *table)
{
	put_cell(table, NULL);
}

/* Printing. */

/* Return the width of a column without the blanks before it. */
static size_t width_of(const struct table *table, int column)
{
	size_t width = text_width(table->columns[column].title);

	for (size_t i = (size_t)column; i < table->nr_cells; i += (size_t)table->nr_columns)
		if (table->cell[i] && text_width(table->cell[i]) > width)
			width = text_width(table->cell[i]);
	return width;
}

static void put_padded(struct text *text, const char *string, size_t width, bool is_number,
		       bool is_last)
{
	size_t length = text_width(string);

	for (size_t i = length; is_number && i < width; i++)
		text_char(text, ' ');
	text_plain(text, string, is_number || is_last ? 0 : width);
}

/* Return the number of the column with this key, or nr_columns. */
static int column_of(const struct table *table, const char *key)
{
	int i = 0;

	while (i < table->nr_columns && strcmp(table->columns[i].key, key) != 0)
		i++;
	return i;
}

/*
 * Set widths[] for all columns.  If the lines are too long, leave out minor columns, and set their widths to 0.  Return
 * true if a column is left out.
 */
static bool set_widths(const struct table *table, size_t *widths)
{
	size_t width = 0;
	bool is_cut = false;

	for (int i = 0; i < table->nr_columns; i++) {
		widths[i] = width_of(table, i);
		width += 2 + widths[i];
	}
	if (table->width == 0)
		return false;
	for (const char *const *key = table->minor; key && *key && width > (size_t)table->width; key++) {
		int column = column_of(table, *key);

		if (column == table->nr_columns)
			continue;
		width -= 2 + widths[column];
		widths[column] = 0;
		is_cut = true;
	}
	return is_cut;
}

static bool is_last(const struct table *table, const size_t *widths, int column)
{
	while (++column < table->nr_columns)
		if (widths[column] > 0)
			return false;
	return true;
}

/*
 * Return true if the row belongs to the same group as the previous row.  Then put_text_row() does not print the name of
 * the group again.
 */
static bool is_repeated(const struct table *table, size_t row, int column)
{
	size_t at = row * (size_t)table->nr_columns;

	return column == 0 && table->nr_labels > 1 && row > 0 && table->cell[at] &&
	       table->cell[at - (size_t)table->nr_columns] &&
	       strcmp(table->cell[at], table->cell[at - (size_t)table->nr_columns]) == 0;
}

static void put_text_row(const struct table *table, size_t row, const size_t *widths)
{
	for (int i = 0; i < table->nr_columns; i++) {
		const char *cell = table->cell[row * (size_t)table->nr_columns + (size_t)i];

		if (widths[i] == 0)
			continue;
		text_string(table->text, "  ");
		if (i == 0)
			text_string(table->text, terminal_color(COLOR_NAME));
		put_padded(table->text,
			   is_repeated(table, row, i) ? "" :
			   cell			      ? cell :
							"-",
			   widths[i], table->columns[i].is_number, is_last(table, widths, i));
		if (i == 0)
			text_string(table->text, terminal_color(COLOR_PLAIN));
	}
	text_char(table->text, '\n');
}

static void put_left_out(const struct table *table, const size_t *widths)
{
	const char *separator = "  --wide also shows ";

	for (int i = 0; i < table->nr_columns; i++) {
		if (widths[i] > 0)
			continue;
		text_string(table->text, separator);
		text_string(table->text, table->columns[i].title);
		separator = ", ";
	}
	text_char(table->text, '\n');
}

static void print_text(const struct table *table)
{
	struct text *text = table->text;
	size_t widths[TABLE_COLUMNS];
	bool is_cut;

	text_printf(text, "\n%s", terminal_color(COLOR_BOLD));
	text_plain(text, table->title, 0);
	text_printf(text, "%s\n", terminal_color(COLOR_PLAIN));
	if (table->nr_cells == 0) {
		text_string(text, "  nothing in this trace\n");
		return;
	}
	text_string(text, terminal_color(COLOR_DIM));
	is_cut = set_widths(table, widths);
	for (int i = 0; i < table->nr_columns; i++) {
		if (widths[i] == 0)
			continue;
		text_string(text, "  ");
		put_padded(text, table->columns[i].title, widths[i], table->columns[i].is_number,
			   is_last(table, widths, i));
	}
	text_string(text, terminal_color(COLOR_PLAIN));
	text_char(text, '\n');
	for (size_t row = 0; row < table->nr_cells / (size_t)table->nr_columns; row++)
		put_text_row(table, row, widths);
	if (is_cut)
		put_left_out(table, widths);
}

static void put_json_cell(struct json *json, const struct column *column, const char *cell)
{
	if (!cell)
		json_null(json, column->key);
	else if (column->is_number)
		json_digits(json, column->key, cell);
	else
		json_string(json, column->key, cell);
}

static void print_json(struct table *table)
{
	struct json *json = &table->json;

	json_array(json, table->key);
	for (size_t i = 0; i < table->nr_cells; i++) {
		int column = (int)(i % (size_t)table->nr_columns);

		if (column == 0)
			json_object(json, NULL);
		put_json_cell(json, &table->columns[column], table->cell[i]);
		if (column == table->nr_columns - 1)
			json_close(json);
	}
	json_close_on_line(json);
}

static void print_records(const struct table *table)
{
	for (size_t i = 0; i < table->nr_cells; i++) {
		text_csv(table->text, table->cell[i] ? table->cell[i] : "");
		text_string(table->text, (i + 1) % (size_t)table->nr_columns == 0 ? "\r\n" : ",");
	}
}

static void print_csv(struct table *table)
{
	if (table->has_records) {
		print_csv_titles(table);
		print_records(table);
		return;
	}
	for (int i = 0; i < table->nr_columns; i++)
		csv_rows_column(&table->rows, table->columns[i].key);
	for (size_t i = 0; i < table->nr_cells; i++) {
		int column = (int)(i % (size_t)table->nr_columns);

		if (column == 0)
			csv_rows_begin(&table->rows, table->key);
		csv_rows_put(&table->rows, table->columns[column].key, table->cell[i]);
	}
}

void table_end(struct table *table)
{
	if (table->format == FORMAT_JSON)
		print_json(table);
	else if (table->format == FORMAT_CSV)
		print_csv(table);
	else
		print_text(table);
	for (size_t i = 0; i < table->nr_cells; i++)
		free(table->cell[i]);
	table->nr_cells = 0;
}

void table_note(struct table *table, const char *format, ...)
{
	char line[1024];
	va_list list;

	if (table->format != FORMAT_TEXT)
		return;
	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	text_plain(table->text, line, 0);
	text_char(table->text, '\n');
}
