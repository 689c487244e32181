#!/bin/sh
# SPDX-License-Identifier: MIT
# --names: names of user events from TraceX's file.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
client=$(dirname "$tool")/../tests/threadx/client
"$client" write "$scratch/buffer.trx" || complain "client write exits with $?"

# names LINE...: write a file with these definitions
names()
{
	{
		printf 'a comment, of any form\nStart\n'
		printf '%s\n' "$@"
		printf 'End\nno event\n'
	} >"$scratch/names.trxc"
}

# prints TEXT: print --names shows a line with this text
prints()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --names "$scratch/names.trxc" "${2:-$scratch/buffer.trx}" >"$scratch/out" 2>"$scratch/err" ||
		complain "print --names fails: $(cat "$scratch/err")"
	grep -q -e "$1" "$scratch/out" || complain "print --names does not show '$1': $(head -5 "$scratch/out")"
}

names '4096, motor started, MS, (0, 0, 0), (255, 10, 3), round, Square of it, Info 3, Info 4' \
	'3, not this, NT, (0, 0, 0), (1, 2, 3), a, b, c, d'
prints 'motor started .*round=99 Square_of_it=9801'
prints 'TX_TRACE_ISR_ENTER'
# Equal labels, and labels that begin with a digit.
names '4096, motor, MS, (0, 0, 0), (255, 10, 3), x, x, 3rd, -'
prints 'motor .*x=99 x_2=9801 _3rd=0'
# The names are those of filters and reports, too, and of events that the services recorded in a log.
names '4096, motor, MS, (0, 0, 0), (255, 10, 3), a, b, c, d'
nr_checks=$((nr_checks + 1))
"$tool" print --names "$scratch/names.trxc" -f 'event=motor and data.a=99' "$scratch/buffer.trx" |
	grep -q 'motor .*a=99' || complain 'a filter does not know the name'
nr_checks=$((nr_checks + 1))
"$tool" report --names "$scratch/names.trxc" "$scratch/buffer.trx" | grep -q motor ||
	complain 'report does not know the name'
"$tool" record -o "$scratch/log.trx" "$client" record 2>"$scratch/err" || complain "record fails: $(cat "$scratch/err")"
prints 'motor .*a=4 b=16' "$scratch/log.trx"

# Mistakes.
for line in 'x, y' '70000, n, A, (0,0,0), (0,0,0), a, b, c, d' '-1, n, A, (0,0,0), (0,0,0), a, b, c, d' \
	'5000, , A, (0,0,0), (0,0,0), a, b, c, d' '5000, n, A, (0,0,0), (0,0,0), a, b, c, d, e' ''; do
	names "$line"
	fails 2 'names.trxc:3: the line ' print --names "$scratch/names.trxc" "$scratch/buffer.trx"
done
echo 'no begin' >"$scratch/names.trxc"
fails 2 'there is no line "Start"' print --names "$scratch/names.trxc" "$scratch/buffer.trx"
echo 'Start' >"$scratch/names.trxc"
fails 2 'there is no line "End"' print --names "$scratch/names.trxc" "$scratch/buffer.trx"
fails 2 'No such file' print --names "$scratch/missing" "$scratch/buffer.trx"
fails 2 'cannot read' print --names "$scratch" "$scratch/buffer.trx"

# Each command that takes a tick takes names.
for command in print report blocked locks waits why info diff export merge sql; do
	nr_checks=$((nr_checks + 1))
	"$tool" help "$command" | grep -q -e '--names=FILE\|--names FILE' || complain "$command has no option --names"
done
finish
