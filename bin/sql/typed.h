/* SPDX-License-Identifier: MIT */
/*
 * A table for each described event type: type_order_received has the events of the type "order_received", and a column
 * for each field of their data.  If files describe the type in different ways, the table has the fields of all of them.
 *
 * Such a column has the name of the field.  If the table has such a column already, also in ClickHouse, its name begins
 * with "data.".
 *
 * The name of the table is made from that of the event.  An underscore replaces each character that is no letter or
 * digit of ASCII.  Then a hash of the event's name follows, so that "order new" and "order-new" have different tables;
 * it is left out if no other event of the database would have the same name.
 */
#ifndef TXTRACE_SQL_TYPED_H
#define TXTRACE_SQL_TYPED_H

#include "sql/table.h"

/* Make the tables of all files: database->typed.  The caller frees them with sql_typed_free(). */
void sql_typed_make(struct sql_database *database);
void sql_typed_free(struct sql_database *database);

const struct sql_table *sql_typed_table(const struct sql_typed *typed);

/*
 * Return the name that depends on the event alone.  That of the struct sql_table can be another one: without the hash,
 * or if the database has types that differ only in the case of letters, which SQLite does not tell apart, or in nothing
 * but their hash.
 */
const char *sql_typed_name(const struct sql_typed *typed);

/*
 * Take a row of the table database->typed[index].  `cells` has the values of its columns, and is valid during the call.
 * Return a code of SQLite; a code other than SQLITE_OK ends sql_typed_each().
 */
typedef int sql_typed_row(void *argument, size_t index, const struct sql_cell *cells, size_t nr_cells);

/*
 * Call row() for the rows of all these tables, in the order of the events.  This reads each file once, however many
 * types it has.  Return a code of SQLite.
 */
int sql_typed_each(struct sql_database *database, sql_typed_row *row, void *argument);

#endif
