#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands and exports agree on all kinds of logs, and an exported file that is read again has the same content.
# truth.py compares.
. "${srcdir:-.}/tests/tool/lib.sh"

build=$(pwd)
object=${PRELOAD:-$build/preload/.libs/libtxtrace-preload.so}
check=${PERFETTO_CHECK:-$build/tests/tool/perfetto_check}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
for program in make_log mklog mixture tight; do
	[ -x "$build/tests/tool/$program" ] || { echo "FAIL: there is no $program"; exit 99; }
done
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
TXTRACE=$tool
PERFETTO_CHECK=$([ ! -x "$check" ] || echo "$check")
export TXTRACE_DIR TXTRACE_PRELOAD TXTRACE PERFETTO_CHECK
corpus=$scratch/corpus
mkdir "$corpus"
cd "$scratch" || exit 99

# quietly COMMAND...: the command must succeed
quietly()
{
	"$@" >"$scratch/out" 2>"$scratch/err" || complain "$* fails: $(cat "$scratch/err")"
}

# record NAME [OPTION...] -- COMMAND...
record()
{
	name=$1
	shift
	quietly "$tool" record --preload --quiet -o "$corpus/$name.trx" "$@"
}

# Buffers of other recorders, also with another tick, and merged ones.
make_samples
cp "$samples"/*.trx "$corpus"
quietly "$tool" export --to trx --tick 250 -o "$corpus/fast.trx" "$samples/threadx.trx"
quietly "$tool" merge -o "$corpus/boards.trx" "$samples/filex.trx" "$samples/netx_udp.trx"

# Logs of a program that uses the library: complete, with gaps, and wrapped.
for kind in whole lossy; do
	quietly "$build/tests/tool/make_log" "$kind.trx" $kind
done
mv whole.trx "$corpus"
"$tool" print --format csv --columns number lossy.trx >out 2>&1
mv lossy.trx "$corpus"
quietly "$build/tests/tool/mklog" "$corpus/plain.trx" 100 24 worker
quietly "$build/tests/tool/mklog" "$corpus/wrapped.trx" 20000 16 'work_(er)' 100000

# Programs that know nothing of tracing: calls that fail and that wait, deadlocks, locks inside waits, processes.
record mixture "$build/tests/tool/mixture" "$corpus/mixture.account"
record again "$build/tests/tool/mixture" "$corpus/again.account"
record counted --aggregate "$build/tests/tool/tight" exit
record looped --stream-policy loop --size 4k "$build/tests/tool/mixture" out
record family --children=yes sh -c "'$build/tests/tool/mixture' one; '$build/tests/tool/mixture' two"
for scenario in deadlock handover c11 lost_wakeup convoy foretold; do
	program=$build/tests/preload/scenarios/$scenario
	"$tool" record --preload --quiet -o "$corpus/$scenario.trx" "$program" >out 2>err
	[ -s "$corpus/$scenario.trx" ] || complain "$scenario: $(cat err)"
done

# Files that were exported or merged before.
quietly "$tool" export --to trx -o "$corpus/exported.trx" "$corpus/mixture.trx"
quietly "$tool" merge -o "$corpus/merged.trx" "$corpus/mixture.trx" "$corpus/plain.trx"
gunzip -c "$top/tests/data/version2/calls.trx.gz" >"$corpus/version2.trx"

nr_checks=$((nr_checks + 1))
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/tool/truth.py" "$corpus" >found 2>&1 || complain "$(cat found)"
tail -1 found
finish
