#!/bin/sh
# SPDX-License-Identifier: MIT
# The texts of the tool about itself: help, versions, errors for unknown words. The help of each command fits on one
# screen.
. "${srcdir:-.}/tests/tool/lib.sh"

fails 2 'unknown command nonsense' nonsense
fails 2 'unknown option --nonsense before the command; see txtrace help' --nonsense
fails 2 'unknown command ?[2J??]0;?.' "$(printf '\033[2J\302\233]0;\177.')"
fails 2 'unknown command nonsense' help nonsense
fails 2 'unknown option --nonsense' help --nonsense
fails 2 'takes one command' help print info
fails 2 'takes no argument' version nonsense
"$tool" >"$scratch/out" 2>"$scratch/err" && complain 'txtrace without a command does not fail'
grep -q '^usage:' "$scratch/err" || complain 'txtrace without a command does not tell its usage'
"$tool" --help >"$scratch/help" || complain '--help fails'
for word in $(sed -n 's/^  \([a-z]*\) .*/\1/p' "$scratch/help"); do
	"$tool" "$word" --help >"$scratch/out" 2>&1 </dev/null
	[ $? -eq 0 ] || complain "$word --help fails"
	grep -q "^usage: txtrace $word" "$scratch/out" || complain "$word --help is something else"
	"$tool" help "$word" >"$scratch/out" 2>&1 || complain "help $word fails"
	lines=$(wc -l <"$scratch/out")
	[ "$lines" -le 40 ] || complain "help $word has $lines lines: more than a screen"
	awk 'length > 110 { exit 1 }' "$scratch/out" || complain "help $word has a line too long"
	[ "$word" = help ] || [ "$word" = version ] || [ -r "$top/doc/man/txtrace-$word.1" ] ||
		complain "there is no page txtrace-$word(1)"
	nr_checks=$((nr_checks + 4))
done
# If the output fails, the exit code says so.
if [ -w /dev/full ]; then
	for arguments in --help --version version help 'help print' 'print --help' 'help --completion'; do
		nr_checks=$((nr_checks + 1))
		# shellcheck disable=SC2086
		"$tool" $arguments >/dev/full 2>"$scratch/err"
		[ $? -eq 2 ] && grep -q 'No space' "$scratch/err" ||
			complain "$arguments: no message says that the device is full"
	done
fi
# A descriptor that is closed does not become one of a file.
make_samples
cd "$scratch" || exit 99
a=$samples/threadx.trx b=$samples/filex.trx
"$tool" merge -o expected "$a" "$b" 2>err || complain "merge: $(cat err)"
for name in steps round; do
	gzip -dc "$top/tests/data/version2/$name.trx.gz" >$name.trx
done
for arguments in "merge -o - $a $b" 'merge -o - steps.trx round.trx' "export --to trx -o - $a" "export --to chrome -o - $a" "export --to html -o - $a" \
	"print $a" "info $a" "check $a" "report $a" "blocked $a" 'record -o - true' list version help; do
	nr_checks=$((nr_checks + 1))
	case $arguments in record*) expected=125 ;; *) expected=2 ;; esac
	# shellcheck disable=SC2086
	TMPDIR=$scratch "$tool" $arguments >&- 2>err
	code=$?
	[ $code -eq $expected ] && grep -q '^txtrace: standard output: Bad file descriptor$' err ||
		complain "$arguments without standard output exits with $code: $(cat err)"
done
for closed in 0 2 02 012; do
	case $closed in
	0) "$tool" merge --force -o merged "$a" "$b" <&- ;;
	2) "$tool" merge --force -o merged "$a" "$b" 2>&- ;;
	02) "$tool" merge --force -o - "$a" "$b" <&- 2>&- >merged ;;
	*) "$tool" merge --force -o merged "$a" "$b" <&- >&- 2>&- ;;
	esac
	code=$?
	nr_checks=$((nr_checks + 1))
	[ $code -eq 0 ] && cmp -s expected merged || complain "merge with $closed closed exits with $code, or differs"
	rm -f merged
done
nr_checks=$((nr_checks + 1))
"$tool" print nonsense <&- >&- 2>&-
[ $? -eq 2 ] || complain 'print of a file that is not there does not fail'
"$tool" print - <&- 2>err && complain 'print of a closed standard input does not fail'
grep -q 'Bad file descriptor' err || complain "print - without standard input: $(cat err)"
cd - >/dev/null || exit 99
# The script that loads a trace into ClickHouse describes itself, and calls nothing.
for option in -h --help; do
	nr_checks=$((nr_checks + 1))
	CLICKHOUSE_CLIENT=false sh "$top/bin/export/clickhouse/load.sh" $option >"$scratch/out" 2>"$scratch/err" ||
		complain "load.sh $option fails: $(cat "$scratch/err")"
	grep -q '^usage: load.sh' "$scratch/out" && grep -q TXTRACE_DATABASE "$scratch/out" ||
		complain "load.sh $option prints $(cat "$scratch/out")"
done
nr_checks=$((nr_checks + 1))
CLICKHOUSE_CLIENT=false sh "$top/bin/export/clickhouse/load.sh" -h localhost >"$scratch/out" 2>&1
! grep -q '^usage' "$scratch/out" || complain 'load.sh -h NAME is not the option of the client'
finish
