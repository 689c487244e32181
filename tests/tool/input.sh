#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands that read a file: standard input, compressed files, and files that were cut.
. "${srcdir:-.}/tests/tool/lib.sh"
make_samples
own_streams
buffer=$samples/threadx.trx
log=$scratch/log.trx
"$(dirname "$tool")/../tests/tool/mklog" "$log" 5000 16 worker || complain 'there is no log'

# same FILE ARGUMENT...: what the command prints for standard input is what it prints for the file
same()
{
	file=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" "$file" 2>/dev/null | sed "s|$file|NAME|" >"$scratch/expected"
	"$tool" "$@" "$input" <"$file$suffix" 2>"$scratch/err" | sed "s|^-|NAME|; s|$file$suffix|NAME|" >"$scratch/out"
	[ -s "$scratch/expected" ] || complain "$* prints nothing"
	cmp -s "$scratch/expected" "$scratch/out" ||
		complain "$* of $input $suffix: $(diff "$scratch/expected" "$scratch/out" |
			head -3) $(cat "$scratch/err")"
}

for suffix in '' .gz .xz .zst; do
	case $suffix in
	.gz) program=gzip ;;
	.xz) program=xz ;;
	.zst) program=zstd ;;
	*) program=true ;;
	esac
	has_program "$program" "$suffix" || continue
	if [ -n "$suffix" ]; then
		$program -c "$buffer" >"$buffer$suffix"
		$program -c "$log" >"$log$suffix"
		if "$tool" print "$buffer$suffix" 2>&1 >/dev/null | grep -q 'built without'; then
			echo "SKIP $suffix: txtrace was built without it"
			continue
		fi
	fi
	for file in "$buffer" "$log"; do
		for input in - "$file$suffix"; do
			same "$file" print
			same "$file" print --format csv
			same "$file" export --to jsonl -o -
			same "$file" check --format text
		done
	done
	input=-
	same "$log" blocked
done

# merge opens each file twice, but standard input can be read only once.
nr_checks=$((nr_checks + 1))
"$tool" merge -o "$scratch/merged.trx" - "$log" <"$buffer" >"$scratch/out" 2>&1 ||
	complain "merge -: $(cat "$scratch/out")"

# A buffer that was cut is there as far as it goes, and so is a compressed file.
nr_checks=$((nr_checks + 6))
head -c 5000 "$buffer" >"$scratch/cut.trx"
"$tool" print "$scratch/cut.trx" >"$scratch/all" 2>"$scratch/err" || complain "print of a cut buffer exits with $?"
[ "$(wc -l <"$scratch/all")" -eq 125 ] || complain "a cut buffer has $(wc -l <"$scratch/all") lines"
grep -q 'cut after 124 of 223 slots' "$scratch/err" || complain "a cut buffer: $(cat "$scratch/err")"
sed '1i big' "$top/tests/data/threadx.txt" | "$mktrx" | head -c 5000 >"$scratch/cut.trx"
"$tool" print "$scratch/cut.trx" 2>/dev/null | cmp -s - "$scratch/all" ||
	complain 'a cut buffer of the other order differs'
head -c 500 "$buffer" >"$scratch/cut.trx"
fails 2 'not a trace' print "$scratch/cut.trx"
gzip -c "$log" | head -c 20000 >"$scratch/cut.gz"
"$tool" print "$scratch/cut.gz" >"$scratch/all" 2>"$scratch/err" || complain "print of a cut .gz exits with $?"
[ "$(wc -l <"$scratch/all")" -gt 100 ] || complain "a cut .gz has $(wc -l <"$scratch/all") lines"
grep -q 'compressed data end early; what is before that is read' "$scratch/err" ||
	complain "a cut .gz: $(cat "$scratch/err")"
# Nobody knows whether the missing bytes would have completed the log.
nr_checks=$((nr_checks + 2))
("$subject" -l "$scratch/killed" -n 200 -k 9) 2>/dev/null
gzip -c "$scratch/killed" | head -c -9 >"$scratch/cut.gz"
"$tool" info "$scratch/cut.gz" 2>/dev/null | grep -q '^complete  *no: its compressed data end early$' ||
	complain "info of a cut .gz: $("$tool" info "$scratch/cut.gz" 2>&1 | grep complete)"
"$tool" report "$scratch/cut.gz" 2>/dev/null | grep -q '^its compressed data end early; later events are missing$' ||
	complain "report of a cut .gz: $("$tool" report "$scratch/cut.gz" 2>&1 | head -5)"
finish
