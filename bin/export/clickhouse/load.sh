#!/bin/sh
# SPDX-License-Identifier: MIT
# load.sh [OPTION...]: load the trace of this directory into ClickHouse.  The options are those of clickhouse-client,
# such as --host NAME.  The variable TXTRACE_DATABASE has the name of the database (default: txtrace), and
# CLICKHOUSE_CLIENT the command to call, if it is not clickhouse-client.
#
# Tables that exist are used as they are, whatever their engine.  A trace that is there already is not loaded again.
# The table of files gets its row last, so a trace without a row there is incomplete.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")"
database=${TXTRACE_DATABASE:-txtrace}
file=$(cat file)
tab=$(printf '\t')

fail()
{
	printf 'load.sh: %s\n' "$*" >&2
	exit 2
}

case $database in
'' | *[!A-Za-z0-9_]*) fail "TXTRACE_DATABASE: a name has letters, digits and underscores: $database" ;;
esac

# ask QUERY OPTION...: run a query, with the options of the user
ask()
{
	query=$1
	shift
	${CLICKHOUSE_CLIENT:-clickhouse-client} "$@" --query "$query"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# Add the columns that a table lacks.  A column of another type would read the bytes of its neighbours.
fit_columns()
{
	table=$1
	shift
	while IFS=$tab read -r name type; do
		known=$(awk -F "$tab" -v table="$table" -v name="$name" '$1 == table && $2 == name { print $3 }' \
			"$work/known")
		if [ -z "$known" ]; then
			ask "ALTER TABLE $database.$table ADD COLUMN \`$name\` $type" "$@" </dev/null
		elif [ "$known" != "$type" ]; then
			fail "the column $name of $database.$table is $known, but here it is $type"
		fi
	done <"$table.columns"
}

ask "CREATE DATABASE IF NOT EXISTS $database" "$@" </dev/null
${CLICKHOUSE_CLIENT:-clickhouse-client} "$@" --database "$database" --multiquery <schema.sql
if [ "$(ask "SELECT count() FROM $database.files WHERE file = $file" "$@" </dev/null)" != 0 ]; then
	printf 'load.sh: this trace is there already: file = %s\n' "$file" >&2
	exit 0
fi
ask "SELECT table, name, type FROM system.columns WHERE database = '$database' FORMAT TabSeparatedRaw" "$@" \
	</dev/null >"$work/known"
for list in *.columns; do
	table=${list%.columns}
	fit_columns "$table" "$@"
	printf "%sSELECT '%s' AS name, count() AS nr FROM %s.%s WHERE file = %s" "${union-}" "$table" "$database" \
		"$table" "$file" >>"$work/count"
	union=' UNION ALL '
done
rest=$(ask "SELECT name FROM ($(cat "$work/count")) WHERE nr > 0" "$@" </dev/null)
[ -z "$rest" ] || fail "an earlier load did not end; first remove what it has left:
$(for table in $rest; do echo "ALTER TABLE $database.$table DELETE WHERE file = $file"; done)"

load()
{
	table=$1
	shift
	columns=$(awk -F "$tab" '{printf "%s`%s`", separator, $1; separator = ", "}' "$table.columns")
	ask "INSERT INTO $database.$table ($columns) FORMAT RowBinary" "$@" <"$table.rowbinary"
}

for rows in *.rowbinary; do
	[ "$rows" = files.rowbinary ] || load "${rows%.rowbinary}" "$@"
done
load files "$@"
