#!/bin/sh
# SPDX-License-Identifier: MIT
# The tool reads what the services of ThreadX write: the buffer, and the events in a POSIX stream.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
client=$(dirname "$tool")/../tests/threadx/client
[ -x "$client" ] || { echo "FAIL: there is no $client"; exit 99; }

# The buffer has wrapped, and no rule of the viewer is broken.
"$client" write "$scratch/buffer.trx" || complain "client write exits with $?"
nr_checks=$((nr_checks + 1))
"$tool" check --strict "$scratch/buffer.trx" >"$scratch/out" 2>&1 ||
	complain "check --strict finds faults: $(head -20 "$scratch/out")"
nr_checks=$((nr_checks + 1))
"$tool" print --format csv "$scratch/buffer.trx" >"$scratch/out" || complain 'print fails'
[ "$(grep -c TX_TRACE_ "$scratch/out")" -ge 400 ] || complain "print shows too few events: $(head -5 "$scratch/out")"
grep TX_TRACE_QUEUE_SEND "$scratch/out" | grep -q 'the queue' || complain 'print does not name the queue'
grep -q TX_TRACE_ISR_ENTER "$scratch/out" || complain 'print shows no interrupts'

# The same events in a log.
nr_checks=$((nr_checks + 1))
"$tool" record -o "$scratch/log.trx" "$client" record 2>"$scratch/err" || complain "record fails: $(cat "$scratch/err")"
"$tool" print --format csv "$scratch/log.trx" >"$scratch/out" || complain 'print of the log fails'
# In an interrupt, the first events of a type have the type TX_TRACE_EVENT.
for name in TX_TRACE_MUTEX_GET TX_TRACE_QUEUE_SEND TX_TRACE_MUTEX_PUT TX_TRACE_USER_EVENT_4096 TX_TRACE_ISR_ENTER \
	'\(TX_TRACE_SEMAPHORE_PUT\|TX_TRACE_EVENT\)' TX_TRACE_ISR_EXIT; do
	nr_checks=$((nr_checks + 1))
	[ "$(grep -c "$name\\>" "$scratch/out")" -eq 15 ] ||
		complain "the log has $(grep -c "$name\\>" "$scratch/out") events $name, not 15"
done
# The registration says which object a word stands for.
nr_checks=$((nr_checks + 1))
handle=$("$tool" print --format csv --columns data.mutex_ptr -f TX_TRACE_MUTEX_GET "$scratch/log.trx" | tr -d '\r' |
	sed -n 2p)
"$tool" print --format csv --columns data -f TX_TRACE_OBJECT_REGISTER "$scratch/log.trx" |
	grep -q "object=$handle type=MUTEX parameter1=1 parameter2=0 name=\"\"*the mutex" ||
	complain "the log does not name the mutex $handle: $(grep OBJECT_REGISTER "$scratch/out")"
nr_checks=$((nr_checks + 1))
grep -q TX_TRACE_SEMAPHORE_PUT "$scratch/out" || complain 'the type of an event in interrupts is never opened'

finish
