#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace capture: from stubs that behave in all ways, and from a program under gdbserver.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
client=$(dirname "$tool")/../tests/threadx/client
"$client" write "$scratch/buffer.trx" || complain "client write exits with $?"
# The buffer is full, so its oldest event may be half overwritten.
columns=thread,event,data
"$tool" print --format csv --columns $columns "$scratch/buffer.trx" | sed 2d >"$scratch/expected"

fails 2 'capture needs --gdb=HOST:PORT' capture -o "$scratch/x.trx" --address 0
fails 2 'capture needs -o FILE' capture --gdb 127.0.0.1:1 --address 0
fails 2 'either --symbol=NAME or --address=A' capture --gdb 127.0.0.1:1 -o "$scratch/x.trx"
fails 2 'either --symbol=NAME or --address=A' capture --gdb 127.0.0.1:1 -o "$scratch/x.trx" --symbol a --address 0
fails 2 '--elf=FILE' capture --gdb 127.0.0.1:1 -o "$scratch/x.trx" --symbol a
fails 2 'is not an address' capture --gdb 127.0.0.1:1 -o "$scratch/x.trx" --address x
fails 2 '--gdb needs HOST:PORT' capture --gdb 127.0.0.1 -o "$scratch/x.trx" --address 0
fails 2 'cannot connect to 127.0.0.1:1' capture --gdb 127.0.0.1:1 -o "$scratch/x.trx" --address 0

# stub MODE: start a stub in this mode; $port is its port
stub()
{
	rm -f "$scratch/port"
	python3 "$top/tests/tool/gdb_stub.py" "$1" "$scratch/buffer.trx" >"$scratch/port" &
	await test -s "$scratch/port"
	port=$(cat "$scratch/port")
	rm -f "$scratch/c.trx"
}

# captures MODE [OPTION...]: the whole buffer arrives
captures()
{
	nr_checks=$((nr_checks + 1))
	stub "$1"
	mode=$1
	shift
	"$tool" capture --gdb "127.0.0.1:$port" --address 0x20000000 -o "$scratch/c.trx" "$@" >"$scratch/out" 2>&1 ||
		complain "capture with the stub '$mode' exits with $?: $(cat "$scratch/out")"
	"$tool" print --format csv --columns $columns "$scratch/c.trx" | cmp -s - "$scratch/expected" ||
		complain "capture with the stub '$mode' writes another buffer"
	"$tool" check --strict "$scratch/c.trx" >"$scratch/out" 2>&1 || complain "check: $(cat "$scratch/out")"
}

# breaks MODE KEPT TEXT: it says one line with the text, exits with 2, and keeps what it has read if KEPT is yes
breaks()
{
	nr_checks=$((nr_checks + 1))
	stub "$1"
	"$tool" capture --gdb "127.0.0.1:$port" --timeout 500 --address 0x20000000 -o "$scratch/c.trx" \
		>"$scratch/out" 2>"$scratch/err"
	code=$?
	[ "$code" -eq 2 ] || complain "the stub '$1' makes capture exit with $code, not 2"
	[ "$(wc -l <"$scratch/err")" -eq 1 ] || complain "the stub '$1' makes capture say: $(cat "$scratch/err")"
	grep -qF -e "$3" "$scratch/err" || complain "the stub '$1': no '$3' in: $(cat "$scratch/err")"
	if [ "$2" = yes ]; then
		"$tool" check --strict "$scratch/c.trx" >"$scratch/out" 2>&1 ||
			complain "the stub '$1' leaves a bad file: $(cat "$scratch/out")"
		# the oldest events of the buffer
		"$tool" print --format csv --columns $columns "$scratch/c.trx" >"$scratch/kept"
		head -n "$(wc -l <"$scratch/kept")" "$scratch/expected" | cmp -s - "$scratch/kept" ||
			complain "the stub '$1' leaves other events than the oldest"
	else
		[ ! -e "$scratch/c.trx" ] || complain "the stub '$1' leaves a file"
	fi
}

if has_program python3 'stubs of the protocol'; then
	for mode in good short small once runs output; do
		captures "$mode"
	done
	# A stub that stops a running target when a request comes.  The oldest event may be half-written.
	nr_checks=$((nr_checks + 1))
	stub stops
	"$tool" capture --live --gdb "127.0.0.1:$port" --timeout 2000 --address 0x20000000 -o "$scratch/c.trx" \
		>"$scratch/out" 2>&1 || complain "capture --live with a stub that stops: $(cat "$scratch/out")"
	"$tool" check --strict "$scratch/c.trx" >"$scratch/out" 2>&1 || complain "check: $(cat "$scratch/out")"
	captures good --length "$(wc -c <"$scratch/buffer.trx")"
	stub good
	fails 2 'and not at most 100' capture --gdb "127.0.0.1:$port" --address 0x20000000 --length 100 \
		-o "$scratch/c.trx"
	stub good
	fails 2 'it does not begin with TXTB' capture --gdb "127.0.0.1:$port" --address 0x20000004 -o "$scratch/c.trx"
	stub good
	echo old >"$scratch/c.trx"
	fails 2 'use --force' capture --gdb "127.0.0.1:$port" --address 0x20000000 -o "$scratch/c.trx"
	breaks error no 'cannot read 48 bytes at 0x20000000'
	breaks more no 'sends something else than the memory'
	breaks text no 'sends something else than the memory'
	breaks empty no 'cannot read memory'
	breaks wrong no 'sends packets with wrong checksums'
	breaks silent no 'does not answer'
	breaks garbage no 'the stub at'
	breaks endless no 'sends a packet of more than'
	breaks closes yes 'has closed the connection; the file has what was read before'
	breaks hangs yes 'does not answer; the file has what was read before'
	breaks ends yes 'says that the program has ended; the file has what was read before'
fi

# A real stub, and a program that fills its buffer.
program=$(binary_of "$client")
LD_LIBRARY_PATH=$(cd "$(dirname "$tool")/.." && pwd)/threadx/.libs:$(cd "$(dirname "$tool")/.." && pwd)/lib/.libs
export LD_LIBRARY_PATH

# serve: gdbserver on a free port stops the program; $server
serve()
{
	rm -f "$scratch/port"
	gdbserver --once --attach 127.0.0.1:0 "$pid" >/dev/null 2>"$scratch/port" &
	server=$!
	await grep -q 'Listening on port' "$scratch/port"
	port=$(sed -n 's/.*Listening on port //p' "$scratch/port")
	rm -f "$scratch/c.trx"
}

# find_gaps: write a line "LAST NEXT" for each gap in the numbers of the user events 4097 in the file
find_gaps()
{
	"$tool" print --format csv --columns data -f TX_TRACE_USER_EVENT_4097 "$scratch/c.trx" >"$scratch/data" \
		2>"$scratch/err" || complain "print: $(cat "$scratch/err")"
	[ "$(wc -l <"$scratch/data")" -gt 100 ] || complain 'there are too few numbered events'
	tail -n +2 "$scratch/data" | cut -c 1-8 | sed 's/\(..\)\(..\)\(..\)\(..\)/0x\4\3\2\1/' |
	while read -r number; do
		number=$((number))
		[ -z "${last:-}" ] || [ "$number" -eq $((last + 1)) ] || echo "$last $number"
		last=$number
	done >"$scratch/gaps"
}

test_lines()
{
	[ "$(wc -l <"$scratch/ready")" -ge "$1" ]
}

test_size()
{
	[ "$(wc -c <"$scratch/c.trx")" -ge "$1" ]
}

# gap_free WHAT: the events have no gap
gap_free()
{
	find_gaps
	[ ! -s "$scratch/gaps" ] || complain "$1: numbers are missing: $(head -3 "$scratch/gaps")"
}

if [ "${PX_SANITIZED:-no}" = no ] && has_program gdbserver 'a program under gdbserver' &&
	has_program setsid 'a program under gdbserver'; then
	mkfifo "$scratch/fifo"
	# gdbserver stops the process group of the program, so the program needs its own.
	setsid "$program" stay <"$scratch/fifo" >"$scratch/ready" &
	pid=$!
	exec 9>"$scratch/fifo"
	await test_lines 2 # the buffer has only numbered events
	nr_checks=$((nr_checks + 4))
	serve
	"$tool" capture --gdb "127.0.0.1:$port" --elf "$program" --symbol trace_buffer -o "$scratch/c.trx" \
		>"$scratch/out" 2>&1 || complain "capture from gdbserver exits with $?: $(cat "$scratch/out")"
	grep -q '^499 events' "$scratch/out" || complain "capture from gdbserver: $(cat "$scratch/out")"
	"$tool" check --strict "$scratch/c.trx" >"$scratch/out" 2>&1 || complain "check: $(cat "$scratch/out")"
	gap_free 'a halted program'
	wait "$server"
	for mode in --live --append '--append --live'; do
		serve
		# shellcheck disable=SC2086  # options
		"$tool" capture --gdb "127.0.0.1:$port" --elf "$program" --symbol trace_buffer -o "$scratch/c.trx" \
			--interval 50 $mode >"$scratch/out" 2>&1 &
		capture=$!
		if [ "$mode" != --live ]; then
			# More than the buffer holds, so the program has gone around it meanwhile.
			await test -s "$scratch/c.trx"
			for round in $(seq 300); do
				[ "$(wc -c <"$scratch/c.trx")" -gt 40000 ] && break
				sleep 0.1
			done
			kill -INT "$capture"
		fi
		wait "$capture" || complain "capture $mode exits with $?: $(cat "$scratch/out")"
		"$tool" check --strict "$scratch/c.trx" >"$scratch/checked" 2>&1 ||
			complain "check after capture $mode: $(cat "$scratch/checked")"
		grep -q 'at least' "$scratch/out" || gap_free "capture $mode"
		wait "$server"
	done
	# The tool sleeps while the program passes the buffer, and afterwards says so.
	nr_checks=$((nr_checks + 2))
	serve
	"$tool" capture --gdb "127.0.0.1:$port" --elf "$program" --symbol trace_buffer -o "$scratch/c.trx" \
		--append --live >"$scratch/out" 2>&1 &
	capture=$!
	await test -s "$scratch/c.trx"
	kill -STOP "$capture"
	lines=$(wc -l <"$scratch/ready")
	await test_lines "$((lines + 2))"
	size=$(wc -c <"$scratch/c.trx")
	kill -CONT "$capture"
	await test_size "$((size + 1))"
	kill -INT "$capture"
	wait "$capture" || complain "capture that slept exits with $?: $(cat "$scratch/out")"
	lost=$(sed -n 's/^at least \([0-9]*\) events were overwritten.*/\1/p' "$scratch/out")
	[ -n "$lost" ] || complain "capture does not say what is missing: $(cat "$scratch/out")"
	find_gaps
	missing=$(awk '{ n += $2 - $1 - 1 } END { print n + 0 }' "$scratch/gaps")
	# The program may also have overwritten events before the first one in the file, while the first look read them.
	[ "${lost:-0}" -le "$((missing + 100))" ] || complain "at least $lost events are missing, but only $missing are"
	[ "$missing" -gt 0 ] || complain 'no event is missing'
	wait "$server"
	kill -0 "$pid" 2>/dev/null || complain 'capture has ended the program'
	nr_checks=$((nr_checks + 2))
	serve
	"$tool" capture --gdb "127.0.0.1:$port" --elf "$program" --symbol no_such -o "$scratch/c.trx" 2>"$scratch/err"
	grep -q 'has no symbol no_such' "$scratch/err" || complain "no symbol: $(cat "$scratch/err")"
	wait "$server"
	exec 9>&-
	wait "$pid"
fi
finish
