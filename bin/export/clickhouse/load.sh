#!/bin/sh
# SPDX-License-Identifier: MIT
# load.sh [OPTION...]: load the trace of this directory into ClickHouse.  The options are those of clickhouse-client,
# such as --host NAME.  The variable TXTRACE_DATABASE has the name of the database (default: txtrace), and
# CLICKHOUSE_CLIENT the command to call, if it is not clickhouse-client.
#
# Tables that exist are used as they are, whatever their engine.  A trace that is there already is not loaded again.
# The table of files gets its row last, so a trace without a row there is incomplete.  A lock keeps a second load.sh of
# this directory waiting.  It does not reach other machines and copies of the directory: if two of these are loaded at
# the same time, the one that ends last finds two rows in the table of files, and says so.
set -eu
LC_ALL=C
export LC_ALL

usage()
{
	cat <<'END'
usage: load.sh [OPTION...]

Load the trace of this directory into ClickHouse.  The options are those of
clickhouse-client, such as --host NAME, --port NUMBER, --user NAME.

Environment:
  TXTRACE_DATABASE   the database (default: txtrace); it is made if it is missing
  CLICKHOUSE_CLIENT  the command to call (default: clickhouse-client)
END
	exit 0
}

# "-h NAME" is an option of clickhouse-client.
[ "$*" != -h ] || usage
for argument; do
	[ "$argument" != --help ] || usage
done
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

# A descriptor that writes, because some file systems lock no other one.
if [ -w file ]; then
	exec 9<>file
else
	exec 9<file
fi
if ! command -v flock >/dev/null; then
	echo 'load.sh: flock is not installed, so do not load this directory twice at the same time' >&2
elif ! flock -n 9; then
	echo 'load.sh: waiting for another load.sh of this directory' >&2
	flock 9 || fail 'this directory cannot be locked'
fi

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

# removal TABLE...: the statements that remove the rows of this trace
removal()
{
	for table; do
		echo "ALTER TABLE $database.$table DELETE WHERE file = $file"
	done
}

# Print how many times the trace is in the database.
times_loaded()
{
	ask "SELECT count() FROM $database.files WHERE file = $file" "$@" </dev/null
}

# fail_if_double TIMES: end if the trace is there more than once
fail_if_double()
{
	# shellcheck disable=SC2046  # names of tables
	[ "$1" -le 1 ] || fail "this trace is there $1 times, because several loads ran at the same time; remove it, and load it
again:
$(removal $(for list in *.columns; do echo "${list%.columns}"; done))"
}

ask "CREATE DATABASE IF NOT EXISTS $database" "$@" </dev/null
${CLICKHOUSE_CLIENT:-clickhouse-client} "$@" --database "$database" --multiquery <schema.sql
known=$(times_loaded "$@")
fail_if_double "$known"
if [ "$known" -ne 0 ]; then
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
# shellcheck disable=SC2086  # names of tables
[ -z "$rest" ] || fail "an earlier load did not end, or one on another machine still runs; if none runs, remove what is left:
$(removal $rest)"

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
fail_if_double "$(times_loaded "$@")"
