#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace why.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

waits_make
cd "$scratch" || exit 99
fails 2 'takes a file and at most one thread' why
fails 2 'takes a file and at most one thread' why deadlock alpha beta
fails 2 'No such file' why missing alpha
fails 2 'is a directory' why . alpha
fails 2 'is not a time' why deadlock alpha@soon
fails 2 'there is no thread omega' why deadlock omega
fails 2 'there is no thread ' why deadlock @1ms
fails 2 'unknown option --nonsense' why --nonsense deadlock alpha

golden why-deadlock why deadlock alpha
golden why-outside why deadlock gamma
golden why-nothing why deadlock delta
golden why-before why deadlock alpha@1ms
golden why-convoy why convoy beta@2ms
golden why-turns why turns delta
golden why-queue why flags beta
golden why-flags why flags delta

# The handle names the same thread; with a time at which it waits, the answer is about the same wait.
for question in '' 00001000 00001000@0.5s alpha@10ms; do
	nr_checks=$((nr_checks + 1))
	"$tool" why deadlock ${question:+"$question"} >out 2>err
	cmp -s out "$golden_dir/why-deadlock" || complain "$question has another answer: $(cat out err)"
done

# Several threads have one name: the question must say which thread it means.
{ make_flags; } | sed 's/ alpha$/ beta/' | "$mktrx" >twins
fails 2 'several threads are named beta' why twins beta
"$tool" why twins 00002000 | grep -q 'beta (00001000) was .* asleep' ||
	complain 'why does not distinguish threads of one name'

make_samples
golden why-mutex why "$samples/threadx.trx" logger@42ms
golden why-semaphore why "$samples/threadx.trx" control@15ms
golden why-netx why "$samples/netx_tcp.trx" server
finish
