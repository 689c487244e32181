/* SPDX-License-Identifier: MIT */
/* Rows of a query as text, JSON or CSV.  Text measures its columns by the first rows. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/terminal.h"
#include "sql/database.h"

#define MEASURED 1000 /* rows */

/* A blob is shown in hexadecimal digits. */
static void put_blob(struct text *text, sqlite3_stmt *statement, int column)
{
	const void *bytes = sqlite3_column_blob(statement, column);

	if (bytes)
		text_bytes(text, bytes, (size_t)sqlite3_column_bytes(statement, column));
}

static void put_json(struct text *text, sqlite3_stmt *statement, int column)
{
	const char *digits;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL:
		text_string(text, "null");
		break;
	case SQLITE_INTEGER:
		text_signed(text, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		digits = (const char *)sqlite3_column_text(statement, column);
		text_string(text, strpbrk(digits, "In") ? "null" : digits); /* JSON has no infinity */
		break;
	case SQLITE_BLOB:
		text_char(text, '"');
		put_blob(text, statement, column);
		text_char(text, '"');
		break;
	default:
		text_json(text, (const char *)sqlite3_column_text(statement, column));
		break;
	}
}

/* A query that fails at its first row prints nothing. */
static int print_json(sqlite3_stmt *statement, struct text *text)
{
	bool has_row = false;
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW || code == SQLITE_DONE)
		text_string(text, "[");
	for (; code == SQLITE_ROW && !text->error; code = sqlite3_step(statement)) {
		text_string(text, has_row ? ",\n{" : "\n{");
		for (int i = 0; i < sqlite3_data_count(statement); i++) {
			text_string(text, i > 0 ? "," : "");
			text_json(text, sqlite3_column_name(statement, i));
			text_char(text, ':');
			put_json(text, statement, i);
		}
		text_char(text, '}');
		has_row = true;
	}
	if (code == SQLITE_DONE)
		text_string(text, has_row ? "\n]\n" : "]\n");
	return code;
}

static int print_csv(sqlite3_stmt *statement, struct text *text)
{
	int code = sqlite3_step(statement);

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return code;
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		text_string(text, i > 0 ? "," : "");
		text_csv(text, sqlite3_column_name(statement, i));
	}
	text_string(text, "\r\n");
	for (; code == SQLITE_ROW && !text->error; code = sqlite3_step(statement)) {
		for (int i = 0; i < sqlite3_data_count(statement); i++) {
			text_string(text, i > 0 ? "," : "");
			if (sqlite3_column_type(statement, i) == SQLITE_BLOB)
				put_blob(text, statement, i);
			else if (sqlite3_column_type(statement, i) != SQLITE_NULL)
				text_csv(text, (const char *)sqlite3_column_text(statement, i));
		}
		text_string(text, "\r\n");
	}
	return code;
}

/* Text. */

struct cell {
	char *text;
	bool is_number;
};

struct grid {
	struct text *text;
	int nr_columns;
	size_t *width;
	struct cell *cell; /* of the rows that are not printed yet */
	size_t nr_cells, room;
	bool is_measured;
};

static char *cell_text(sqlite3_stmt *statement, int column)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes;
	size_t size;
	char *text;

	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return must(strdup("-"));
	if (sqlite3_column_type(statement, column) != SQLITE_BLOB)
		return must(strdup((const char *)sqlite3_column_text(statement, column)));
	bytes = sqlite3_column_blob(statement, column);
	size = (size_t)sqlite3_column_bytes(statement, column);
	text = must(calloc(2 * size + 1, 1));
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return text;
}

static void put_blanks(struct text *text, size_t nr)
{
	while (nr-- > 0)
		text_char(text, ' ');
}

static void put_cell(struct grid *grid, int column, const char *cell, bool is_right)
{
	size_t width = text_width(cell), fill = grid->width[column] > width ? grid->width[column] - width : 0;
	bool is_last = column + 1 == grid->nr_columns;

	if (column > 0)
		put_blanks(grid->text, 2);
	if (is_right)
		put_blanks(grid->text, fill);
	text_plain(grid->text, cell, 0);
	if (!is_right && !is_last)
		put_blanks(grid->text, fill);
}

/* Print the titles, before the first rows. */
static void measure(struct grid *grid, sqlite3_stmt *statement)
{
	grid->is_measured = true;
	for (int i = 0; i < grid->nr_columns; i++)
		grid->width[i] = text_width(sqlite3_column_name(statement, i));
	for (size_t i = 0; i < grid->nr_cells; i++) {
		size_t width = text_width(grid->cell[i].text);
		int column = (int)(i % (size_t)grid->nr_columns);

		if (width > grid->width[column])
			grid->width[column] = width;
	}
	text_string(grid->text, terminal_color(COLOR_DIM));
	for (int i = 0; i < grid->nr_columns; i++)
		put_cell(grid, i, sqlite3_column_name(statement, i),
			 (size_t)i < grid->nr_cells && grid->cell[i].is_number);
	text_string(grid->text, terminal_color(COLOR_PLAIN));
	text_char(grid->text, '\n');
}

static void flush(struct grid *grid, sqlite3_stmt *statement)
{
	if (!grid->is_measured)
		measure(grid, statement);
	for (size_t i = 0; i < grid->nr_cells; i++) {
		int column = (int)(i % (size_t)grid->nr_columns);

		put_cell(grid, column, grid->cell[i].text, grid->cell[i].is_number);
		if (column + 1 == grid->nr_columns)
			text_char(grid->text, '\n');
		free(grid->cell[i].text);
	}
	grid->nr_cells = 0;
}

static int print_text(sqlite3_stmt *statement, struct text *text)
{
	struct grid grid = {.text = text, .nr_columns = sqlite3_column_count(statement)};
	int code;

	if (grid.nr_columns == 0)
		return sqlite3_step(statement);
	grid.width = must(calloc((size_t)grid.nr_columns, sizeof(*grid.width)));
	grid.room = (size_t)grid.nr_columns * MEASURED;
	grid.cell = must(calloc(grid.room, sizeof(*grid.cell)));
	while ((code = sqlite3_step(statement)) == SQLITE_ROW && !text->error) {
		for (int i = 0; i < grid.nr_columns; i++) {
			int type = sqlite3_column_type(statement, i);

			grid.cell[grid.nr_cells++] = (struct cell){
				.text = cell_text(statement, i),
				.is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL};
		}
		if (grid.nr_cells == grid.room || grid.is_measured)
			flush(&grid, statement);
	}
	if (code == SQLITE_DONE || grid.nr_cells > 0)
		flush(&grid, statement);
	free(grid.cell);
	free(grid.width);
	return code;
}

int sql_print_rows(sqlite3_stmt *statement, struct text *text, enum format format)
{
	if (format == FORMAT_JSON)
		return print_json(statement, text);
	return format == FORMAT_CSV ? print_csv(statement, text) : print_text(statement, text);
}
