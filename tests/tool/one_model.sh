#!/bin/sh
# SPDX-License-Identifier: MIT
# All commands and exports show the same waits and holds: the same objects, and for each object the same numbers and
# times.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
program=${SCENARIOS:-$(pwd)/tests/preload/scenarios}/handover
check=${PERFETTO_CHECK:-$(pwd)/tests/tool/perfetto_check}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
[ -x "$program" ] || { echo "FAIL: $program is missing"; exit 99; }
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
cd "$scratch" || exit 99

# run FILE ARGUMENT...: write what the tool prints into the file
run()
{
	to=$1
	shift
	"$tool" "$@" >"shown/$to" 2>err || complain "txtrace $* fails: $(cat err)"
}

mkdir shown
"$tool" record --preload --force --size 64M -o log.trx "$program" >shown/addresses 2>err ||
	complain "handover fails: $(cat err)"
run blocked blocked --format json log.trx
run locks locks --format json log.trx
run chrome export --to chrome -o - log.trx
run html export --to html -o - log.trx
run jsonl export --to jsonl -o - log.trx
"$tool" export --to trx -o threadx.trx log.trx 2>err || complain "export --to trx fails: $(cat err)"
run trx-blocked blocked --format json threadx.trx
run trx-locks locks --format json threadx.trx
run trx-info info --format json threadx.trx
if command -v babeltrace2 >/dev/null && "$tool" export --to ctf -o ctf log.trx 2>err; then
	nr_checks=$((nr_checks + 1))
	babeltrace2 --clock-seconds ctf >shown/ctf 2>err || complain "babeltrace2: $(cat err)"
else
	echo 'SKIP the waits in CTF: babeltrace2 is missing'
fi
if [ -x "$check" ] && "$tool" export --to perfetto -o log.pf log.trx 2>err; then
	nr_checks=$((nr_checks + 1))
	"$check" log.pf >shown/perfetto 2>err || complain "perfetto: $(cat err)"
fi

# The longest wait of each thread that waited, and that of main for the rwlock.
"$tool" blocked --by thread --format csv log.trx >csv 2>err || complain "blocked --by thread fails: $(cat err)"
values thread <csv | cut -d, -f2 | sort -u >threads
[ -s threads ] || complain "no thread waited: $(cat csv)"
while read -r thread; do
	run "why-$thread" why log.trx "$thread"
done <threads
begin=$("$tool" print --format csv --columns time -f 'pthread_rwlock_wrlock' log.trx | tr -d '\r"' | sed -n 2p)
run why-table why log.trx "$(grep '^handover ' threads)@${begin}s"

nr_checks=$((nr_checks + 1))
PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/tool/one_model.py" shown ||
	complain 'the commands show different waits or holds'
finish
