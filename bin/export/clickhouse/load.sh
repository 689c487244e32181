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

client()
{
	${CLICKHOUSE_CLIENT:-clickhouse-client} "$@"
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

# The client takes long to begin, so it is called once for all questions.  In the answer, the first word of each row says
# to which question it belongs.
ask_questions()
{
	{
		printf 'CREATE DATABASE IF NOT EXISTS %s;\nUSE %s;\n' "$database" "$database"
		cat schema.sql
		printf '%s;\n' "SELECT 'times', toString(count()) FROM files WHERE file = $file FORMAT TabSeparatedRaw" \
			"SELECT 'column', table, name, type FROM system.columns WHERE database = '$database' FORMAT TabSeparatedRaw"
		union="SELECT 'rest', name FROM ("
		for list in *.columns; do
			table=${list%.columns}
			printf "%sSELECT '%s' AS name, count() AS nr FROM %s WHERE file = %s" "$union" "$table" "$table" "$file"
			union=' UNION ALL '
		done
		echo ') WHERE nr > 0 FORMAT TabSeparatedRaw'
	} >"$work/questions"
	client "$@" --multiquery <"$work/questions" >"$work/answer"
}

# answer QUESTION: its rows
answer()
{
	sed -n "s/^$1$tab//p" "$work/answer"
}

# Print the statements that add the columns that tables lack.  A column of another type would read the bytes of its
# neighbours.
lacking_columns()
{
	answer column >"$work/known"
	awk -F "$tab" -v database="$database" '
		FILENAME == ARGV[1] { known[$1, $2] = $3; next }
		FNR == 1 { table = FILENAME; gsub(/^\.\/|\.columns$/, "", table) }
		!((table, $1) in known) { lacking = lacking "ALTER TABLE " database "." table " ADD COLUMN `" $1 "` " $2 ";\n"; next }
		known[table, $1] != $2 {
			other = "the column " $1 " of " database "." table " is " known[table, $1] ", but here it is " $2 "\n"
			exit
		}
		END { printf "%s", other ? other : lacking; exit other != "" }' "$work/known" ./*.columns
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
	client "$@" --query "SELECT count() FROM $database.files WHERE file = $file" </dev/null
}

# fail_if_double TIMES: end if the trace is there more than once
fail_if_double()
{
	# shellcheck disable=SC2046  # names of tables
	[ "$1" -le 1 ] || fail "this trace is there $1 times, because several loads ran at the same time; remove it, and load it
again:
$(removal $(for list in *.columns; do echo "${list%.columns}"; done))"
}

ask_questions "$@"
known=$(answer times)
fail_if_double "$known"
if [ "$known" -ne 0 ]; then
	printf 'load.sh: this trace is there already: file = %s\n' "$file" >&2
	exit 0
fi
lacking=$(lacking_columns) || fail "$lacking"
rest=$(answer rest)
# shellcheck disable=SC2086  # names of tables
[ -z "$rest" ] || fail "an earlier load did not end, or one on another machine still runs; if none runs, remove what is left:
$(removal $rest)"
[ -z "$lacking" ] || printf '%s\n' "$lacking" | client "$@" --multiquery

load()
{
	table=$1
	shift
	columns=$(awk -F "$tab" '{printf "%s`%s`", separator, $1; separator = ", "}' "$table.columns")
	client "$@" --query "INSERT INTO $database.$table ($columns) FORMAT RowBinary" <"$table.rowbinary"
}

for rows in *.rowbinary; do
	[ "$rows" = files.rowbinary ] || load "${rows%.rowbinary}" "$@"
done
load files "$@"
fail_if_double "$(times_loaded "$@")"
