#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace recover.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

: >"$scratch/empty"
mkfifo "$scratch/pipe"
fails 2 'No such file' recover "$scratch/missing"
fails 2 'is a directory' recover "$scratch"
fails 2 'is empty; if it is a log, its writer ended before the log began' recover "$scratch/empty"
fails 2 'is not a posixtrace log' recover "$scratch/pipe"
fails 2 'is not a posixtrace log' recover "$top/README"
fails 2 'unknown option --nonsense' recover --nonsense

# prints CODE LINE ARGUMENT...: the output of recover, without the directory of the file
prints()
{
	expected=$1
	line=$2
	shift 2
	nr_checks=$((nr_checks + 1))
	"$tool" recover "$@" >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ "$code" -eq "$expected" ] || complain "recover $* exits with $code, not $expected"
	sed "s|.*/||" "$scratch/out" | grep -qxF -e "$line" ||
		complain "recover $* says $(cat "$scratch/out" "$scratch/err"), not '$line'"
}

# die FILE: a program that traces itself into this file is killed
die()
{
	"$subject" -l "$1" -n 200 -k 9 2>/dev/null
	[ $? -eq 137 ] || complain 'the program was not killed'
}

whole()
{
	nr_checks=$((nr_checks + 1))
	[ "$("$tool" print --format csv -f 'tick or tock' "$1" | tail -n +2 | wc -l)" -eq 200 ] ||
		complain "$1 has not all events"
	"$tool" info "$1" | grep -q '^complete *yes' || complain "$1 is not complete"
}

prints 0 'there is no log to complete'
die "$scratch/one"
prints 0 'one: completed' "$scratch/one"
prints 0 'one: complete already' "$scratch/one"
whole "$scratch/one"
prints 0 'there is no log to complete'

# All logs of the user. The second controller completes the log that the first one has left, when it creates its stream.
die "$scratch/two"
prints 0 'two: completed'
whole "$scratch/two"
die "$scratch/three"
rm "$scratch/three"
prints 1 'three: it was removed, or shared memory does not contain its missing events any more'
prints 0 'there is no log to complete'

# Without the shared memory that recover needs.
die "$scratch/four"
rm -rf "$TXTRACE_DIR"
prints 1 'four: shared memory does not contain its missing events any more; the part that was written can be read' \
	"$scratch/four"

# The writer of the log lives. The exit code is that of the worst file.
"$subject" -l "$scratch/five" -n 100000 -u 1000 &
pid=$!
await_stream "$pid"
prints 1 'five: its writer is still running, or another process is completing it' "$scratch/five"
prints 1 'five: its writer is still running, or another process is completing it' "$scratch/one" "$scratch/five"
prints 2 'one: complete already' "$scratch/one" "$scratch/missing"
kill "$pid"
wait "$pid" 2>/dev/null
prints 0 'five: completed' "$scratch/five"
finish
