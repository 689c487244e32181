#!/bin/sh
# SPDX-License-Identifier: MIT
# A log of another machine, with other word sizes or another byte order, shows here what it shows there.
# tests/data/machines has logs of some machines (tests/arch/samples.sh writes them): of tests/tool/machine, with what that
# program says of its data, and of a program of tests/oracle, with its account; and what txtrace printed on that machine.
. "${srcdir:-.}/tests/tool/lib.sh"

data=$top/tests/data/machines
programs=${MACHINE_PROGRAMS:-$(pwd)/tests}
TXTRACE_DIR=$scratch/shm
export TXTRACE_DIR
mkdir -m 700 "$TXTRACE_DIR"

readings=event,data.letter,data.number,data.place,data.little,data.flags,data.level,data.balance,data.load,data.share
readings=$readings,data.exact,data.colour,data.after_enum,data.large,data.row[0][1],data.row[1][0],data.at.x,data.at.y
readings=$readings,data.size,data.is_last,data.name
all=number,ns,cpu,pid,thread,context,priority,event,type,address,size,data

# plain FILE: its CSV table without the header and with simple ends of lines
plain()
{
	sed '1d; s/\r$//' "$1"
}

# same NAME WHAT EXPECTED COMMAND...: the tool prints what is in the file
same()
{
	name=$1 what=$2 expected=$3
	shift 3
	nr_checks=$((nr_checks + 1))
	"$@" >"$scratch/out" 2>"$scratch/err" || complain "$name: $what fails: $(cat "$scratch/err")"
	tr -d '\r' <"$scratch/out" >"$scratch/seen"
	cmp -s "$expected" "$scratch/seen" ||
		complain "$name: $what differs: $(diff "$expected" "$scratch/seen" | head -4)"
}

# judge_readings NAME ACCOUNT LOG: the events "reading" have the data that the program says
judge_readings()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv --columns "$readings" --filter 'event == "reading"' "$3" >"$scratch/out" \
		2>"$scratch/err" || complain "$1: print: $(cat "$scratch/err")"
	plain "$scratch/out" | cmp -s "$2" - ||
		complain "$1: the data differ: $(plain "$scratch/out" | diff "$2" - | head -4)"
}

# judge_plain NAME LOG: numbers without a description, in filters and spans
judge_plain()
{
	nr_checks=$((nr_checks + 2))
	nr=$("$tool" print --format csv --columns number --filter 'u32[4]==70003' "$2" 2>"$scratch/err" | wc -l)
	[ "$nr" = 3 ] || complain "$1: $nr lines, not 3, of a number in the data: $(cat "$scratch/err")"
	nr=$("$tool" report --span 'pair=plain begins..plain ends:u32[4]' "$2" 2>"$scratch/err" | grep -c '^  pair  *6 ')
	[ "$nr" -ge 1 ] || complain "$1: no 6 spans by numbers in the data: $(cat "$scratch/err")"
}

# judge_merged NAME: a merged log of both has the events and the waits of both.  Data that cannot become those of this
# machine are as many bytes.
judge_merged()
{
	nr_checks=$((nr_checks + 3))
	own='reading|plain [a-z]*'
	# A machine of 32 bits has no addresses of 64 bits.
	[ "$(getconf LONG_BIT)" = 64 ] || own="$own|packet"
	"$tool" merge --force -o "$scratch/merged.trx" "$scratch/machine.trx" "$scratch/oracle.trx" 2>"$scratch/err" ||
		complain "$1: merge fails: $(cat "$scratch/err")"
	for log in machine oracle merged; do
		"$tool" print --format csv --columns size,ns,cpu,pid,thread,priority,event,address,data "$scratch/$log.trx" |
			sed '1d; s/\r$//' >"$scratch/$log.rows"
		grep -E ",($own)," "$scratch/$log.rows" >"$scratch/$log.readings"
		grep -vE ",($own)," "$scratch/$log.rows" | cut -d, -f2- >"$scratch/$log.others"
	done
	sort "$scratch/machine.others" "$scratch/oracle.others" >"$scratch/expected"
	sort "$scratch/merged.others" | cmp -s "$scratch/expected" - ||
		complain "$1: the merged log differs: $(sort "$scratch/merged.others" | diff "$scratch/expected" - | head -4)"
	# The size is that of the data of this machine.
	paste -d '\n' "$scratch/machine.readings" "$scratch/merged.readings" |
		awk -F , -v exact="$(uname -m)-$1" '
		{ data = $0; for (i = 1; i <= 8; i++) sub(/^[^,]*,/, "", data) }
		NR % 2 == 1 { told = data; bytes = $1; next }
		data == told { next }
		{ nr = gsub(/[0-9]+/, "&", data) }
		exact == "x86_64-i386" || data !~ /^data=\[[0-9 ]*\]$/ || nr != bytes { print "differs: " $0 }
		END { if (NR == 0 || NR % 2) print "other events: " NR }' >"$scratch/seen"
	[ ! -s "$scratch/seen" ] || complain "$1: data in the merged log: $(head -4 "$scratch/seen")"
	"$tool" waits --format csv "$scratch/merged.trx" | cut -d, -f3-7,9- | sort >"$scratch/seen"
	cut -d, -f3-7,9- "$scratch/oracle.waits" | sort >"$scratch/expected"
	tr -d '\r' <"$scratch/seen" | cmp -s "$scratch/expected" - ||
		complain "$1: waits in the merged log: $(diff "$scratch/expected" "$scratch/seen" | head -4)"
}

# This machine first.
"$programs/tool/machine" "$scratch/own.trx" >"$scratch/own.account" || complain 'machine fails'
judge_readings 'this machine' "$scratch/own.account" "$scratch/own.trx"
judge_plain 'this machine' "$scratch/own.trx"

for packed in "$data"/*.machine.trx.gz; do
	name=$(basename "$packed" .machine.trx.gz)
	for part in machine.trx machine.account machine.csv oracle.trx oracle.account oracle.csv oracle.waits; do
		gzip -dc "$data/$name.$part.gz" >"$scratch/$part" || complain "$name: no $part"
	done
	judge_readings "$name" "$scratch/machine.account" "$scratch/machine.trx"
	judge_plain "$name" "$scratch/machine.trx"
	same "$name" 'print machine' "$scratch/machine.csv" \
		"$tool" print --format csv --columns $all "$scratch/machine.trx"
	same "$name" 'print oracle' "$scratch/oracle.csv" \
		"$tool" print --format csv --columns $all "$scratch/oracle.trx"
	# Without the sites: their names are in the program, which is on that machine.
	cut -d, -f1-7,9- "$scratch/oracle.waits" >"$scratch/waits"
	"$tool" waits --format csv "$scratch/oracle.trx" | cut -d, -f1-7,9- >"$scratch/waits.shown"
	same "$name" 'waits' "$scratch/waits" cat "$scratch/waits.shown"
	nr_checks=$((nr_checks + 2))
	for log in machine oracle; do
		"$tool" check "$scratch/$log.trx" >"$scratch/out" 2>&1 || complain "$name: check $log: $(cat "$scratch/out")"
	done
	if command -v python3 >/dev/null; then
		nr_checks=$((nr_checks + 1))
		PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/oracle/check.py" "$tool" "$scratch/oracle.account" \
			"$scratch/oracle.trx" >"$scratch/out" 2>&1 || complain "$name: the account: $(cat "$scratch/out")"
	fi
	judge_merged "$name"
	# A log that is packed stays one of that machine.
	nr_checks=$((nr_checks + 1))
	"$tool" info "$scratch/machine.trx" >"$scratch/out" 2>&1 || complain "$name: info fails: $(cat "$scratch/out")"
	! grep -q "^byte order .*other than this machine's" "$scratch/out" ||
		grep -qE '^data of machine  *[a-z0-9_]+, (32|64) bits, the (high|low)est byte first$' "$scratch/out" ||
		complain "$name: info does not say the machine: $(cat "$scratch/out")"
	nr_checks=$((nr_checks + 1))
	if "$tool" pack -o "$scratch/packed.trx" "$scratch/machine.trx" \
		>"$scratch/out" 2>&1; then # only of the same byte order
		judge_readings "$name, packed" "$scratch/machine.account" "$scratch/packed.trx"
		rm "$scratch/packed.trx"
	else
		grep -q 'is a log of a machine with another byte order; pack it' "$scratch/out" ||
			complain "$name: pack does not say why not: $(cat "$scratch/out")"
	fi
done
finish
