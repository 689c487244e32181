#!/bin/sh
# SPDX-License-Identifier: MIT
# Logs that another process reads while they are written, and txtrace follow FILE.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
own_account
log=$scratch/log.trx

# warns TEXT ARGUMENT...: the tool exits with 0, and its messages have this text
warns()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	timeout 60 "$tool" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	[ "$code" -eq 0 ] || complain "txtrace $* exits with $code: $(head -3 "$scratch/err")"
	grep -qF -e "$text" "$scratch/err" || complain "txtrace $* does not say '$text': $(cat "$scratch/err")"
}

# LOOP logs that overwrite what the reader wants to read, at full speed and with little loss; and other logs.
for options in '-p loop -s 100000' '-p loop -s 100000 -u 50' '-p loop -s 3000000' '-p append' '-p append -u 20' \
	'-p until-full -s 1000000 -u 10'; do
	# shellcheck disable=SC2086
	recording -l "$log" $options
	for round in 1 2 3; do
		counted -wb "$log"
	done
	counted -wb -f 10 "$log"
	ended
	counted -b "$log"
done

# Each command that reads a file.
recording -l "$log" -u 100
for command in print info report blocked locks check; do
	warns 'is being written' "$command" "$log"
done
warns 'is being written' export --to csv -o "$scratch/copy.csv" "$log"
warns 'is being written' export --to trx -o "$scratch/copy.trx" "$log"
warns 'is being written' merge -o "$scratch/merged.trx" "$log" "$scratch/copy.trx"
warns 'is being written' diff "$log" "$log"
"$tool" info "$log" 2>/dev/null | grep -q '^complete *no: it is being written' ||
	complain 'info does not say that it is written'
"$tool" report "$log" 2>/dev/null | grep -q '^it is being written; later events are missing' ||
	complain 'report does not say that it is written'
"$tool" export --to html -o "$scratch/page.html" "$log" 2>/dev/null
grep -q '"incomplete":"it is being written; later events are missing"' "$scratch/page.html" ||
	complain 'the page does not say that the log is written'
for command in report why blocked locks; do
	"$tool" "$command" "$log" 2>&1 | grep -q 'writer died' && complain "$command says that the writer died"
done
ended
recording -l "$log" -u 1000 -p append
[ "$("$tool" print "$log" 2>&1 >/dev/null | wc -l)" -eq 1 ] || complain 'print says more than one line'
ended
[ -z "$("$tool" print "$log" 2>&1 >/dev/null)" ] || complain 'print says something of a log that is complete'

# follow: all events of the program, until it ends, and also when it is killed.
for signal in TERM KILL; do
	recording -l "$log" -p append -u 200
	"$tool" follow --format csv --columns data "$log" >"$scratch/followed" 2>"$scratch/err" &
	follower=$!
	sleep 1
	kill -s "$signal" "$pid"
	wait "$pid" 2>/dev/null
	wait "$follower" || complain "follow exits with $?: $(cat "$scratch/err")"
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns data "$log" >"$scratch/printed" 2>/dev/null
	cmp -s "$scratch/followed" "$scratch/printed" ||
		complain "follow of a program that ends by $signal: $(wc -l <"$scratch/followed") lines, not $(wc -l <"$scratch/printed")"
	counted -e "$log" # a flushing thread without a CPU loses events, and counts them
done
fails 2 'takes one process or file' follow "$log" "$log"
fails 2 'No such file' follow "$scratch/missing"
finish
