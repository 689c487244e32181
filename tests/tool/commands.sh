#!/bin/sh
# SPDX-License-Identifier: MIT
# Each command and each export reads each kind of trace once, damaged ones too, and ends by itself.  make check-valgrind
# runs only this one of the scripts of the tool, so it has to be short, and has all commands that read.
. "${srcdir:-.}/tests/tool/lib.sh"

build=$(pwd)
samples_2=$top/tests/data/version2
make_samples

# The tool may be a script of libtool, which sets the path of the library.
read_by()
{
	if [ -n "${PX_VALGRIND:-}" ]; then
		# shellcheck disable=SC2086  # a command with options
		"$build/libtool" --mode=execute $PX_VALGRIND "$tool" "$@"
	else
		"$tool" "$@"
	fi
}

# ends COMMAND...: with a status of its own: 0, 1 if it has found something, 2 or 3 if the trace is unfit
ends()
{
	nr_checks=$((nr_checks + 1))
	(cd "$scratch/here" && read_by "$@") >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	[ $code -le 3 ] || complain "txtrace $* exits with $code: $(tail -n 3 "$scratch/err")"
}

# well COMMAND...: with 0
well()
{
	ends "$@"
	[ $code -eq 0 ] || complain "txtrace $* exits with $code: $(tail -n 3 "$scratch/err")"
}

mkdir "$scratch/here" "$scratch/logs"
for kind in whole gap lossy; do
	"$build/tests/tool/make_log" "$scratch/logs/$kind.trx" $kind || complain "make_log $kind fails"
done
for name in calls steps threads; do
	gzip -dc "$samples_2/$name.trx.gz" >"$scratch/logs/$name.trx" || complain "there is no $name"
done
cp "$samples/threadx.trx" "$samples/netx_tcp.trx" "$scratch/logs"
head -c 30000 "$scratch/logs/whole.trx" >"$scratch/logs/cut.trx"
head -c 900 "$samples/threadx.trx" >"$scratch/logs/short.trx"
cp "$scratch/logs/calls.trx" "$scratch/logs/damaged.trx"
dd if=/dev/urandom of="$scratch/logs/damaged.trx" bs=64 count=8 seek=500 conv=notrunc 2>/dev/null

for log in "$scratch"/logs/*.trx; do
	case $log in
	*/cut.trx | */short.trx | */damaged.trx | */lossy.trx | */gap.trx) run=ends ;;
	*) run=well ;;
	esac
	$run print "$log"
	$run print --format json --columns all "$log"
	$run info "$log"
	ends check "$log"
	$run report "$log"
	ends blocked "$log"
	ends locks "$log"
	ends waits "$log"
	ends sql "$log" 'select count(*) from events'
	for format in perfetto chrome clickhouse csv html jsonl ctf sqlite trx trxc; do
		ends export --to $format -o "$scratch/here/out.$format" "$log"
		rm -rf "$scratch/here/out.$format"
	done
done
calls=$scratch/logs/calls.trx
whole=$scratch/logs/whole.trx
cut=$scratch/logs/cut.trx
thread=$(read_by print --format csv --columns thread "$calls" | tr -d '\r' | sed -n 2p)
ends why "$calls" "$thread"
well print --format csv -f "thread:'$thread' and not posix_trace_start" --from 1us "$calls"
second=$calls
case $(uname -m) in
x86_64 | aarch64 | riscv64 | ppc64le) ;;
*) # only a log of a machine with the same words and byte order is merged into a log
	second=$scratch/second.trx
	"$build/tests/tool/make_log" "$second" whole || complain 'make_log fails'
	;;
esac
well merge -o "$scratch/here/merged.trx" "$second" "$whole"
ends diff "$calls" "$scratch/logs/threads.trx"
ends pack "$scratch/logs/steps.trx"
ends recover "$cut"
well version
well help
well help record
finish
