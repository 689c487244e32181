#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace locks.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

bad_files locks
fails 2 'takes one file' locks
fails 2 'takes one file' locks a b
fails 2 '--format takes text, json or csv' locks --format jsonl "$scratch/empty"
fails 2 '--sort takes' locks --sort total "$scratch/empty"

waits_make
cd "$scratch" || exit 99
golden locks-deadlock locks deadlock
golden locks-gate locks --sort name gate
golden locks-convoy locks convoy
golden locks-csv locks --format csv convoy
golden locks-json locks --format json gate

# has TEXT FILE: and hasnot
has() { nr_checks=$((nr_checks + 1)); "$tool" locks "$2" >out; grep -qE "$1" out || complain "$2: no '$1'"; }
hasnot() { nr_checks=$((nr_checks + 1)); "$tool" locks "$2" >out; ! grep -qE "$1" out || complain "$2: '$1'"; }

# A cycle without a gate is a danger, a cycle with a gate is none, and locks does not report the cycle of a single
# thread.
has 'potential deadlock +(alpha|beta) +[CD] ' gate
has 'no danger, gate lock G +(alpha|beta) +[AB] ' gate
"$tool" locks gate | sed -n '/^Lock Order/,/^Lock Convoys/p' | grep -q gamma && complain 'a thread waits for itself'
has 'potential deadlock' deadlock
hasnot 'potential deadlock' convoy

# If the event of an unlock is missing, it is not known which locks the thread took while it held this one.
hasnot 'potential deadlock|no danger' lost

# locks reports a convoy if three threads wait for turn after turn, but not if two threads wait for ever, or no thread
# waits.
"$tool" locks convoy | sed -n '/^Lock Convoys/,$p' | grep -q '^  A  *1 ' || complain 'no convoy is reported'
for kind in deadlock gate; do
	"$tool" locks $kind | sed -n '/^Lock Convoys/,$p' | grep -q 'nothing in this trace' ||
		complain "$kind has a convoy"
done

# waits.py makes trace buffers, and uses no code of the tool. Its threads take locks in one order, so there is no cycle.
seeds=
if has_program python3 'boards of which waits.py knows the waits'; then
	seeds='1 2 3 4 5 6 7 8'
fi
for seed in $seeds; do
	nr_checks=$((nr_checks + 1))
	python3 "$top/tests/tool/waits.py" $seed board >expected || complain "board $seed was not made"
	"$tool" blocked --format json board >blocked && "$tool" locks --format json board >locks ||
		complain "board $seed cannot be read"
	python3 "$top/tests/tool/waits.py" check expected blocked locks 2>err ||
		complain "board $seed: $(tail -1 err | cut -c1-400)"
done

make_samples
for sample in threadx filex netx_tcp netx_udp; do
	golden "locks-$sample" locks "$samples/$sample.trx"
done
golden locks-range locks --from 100ms --until 200ms --tick 2000 "$samples/netx_tcp.trx"
finish
