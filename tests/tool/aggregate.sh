#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace record --aggregate: the log counts calls that do not wait, and each command and export shows the counts.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
tight=${TIGHT:-$(pwd)/tests/tool/tight}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
PYTHONDONTWRITEBYTECODE=1
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export PYTHONDONTWRITEBYTECODE TXTRACE_DIR TXTRACE_PRELOAD
cd "$scratch" || exit 99

# judge WHAT LOG ACCOUNT
judge()
{
	nr_checks=$((nr_checks + 1))
	python3 "$top/tests/tool/aggregate.py" "$tool" "$2" "$3" >said 2>&1 || complain "$1: $(cat said)"
}

for end in exit _exit exec; do
	"$tool" record --preload --aggregate --size auto --force -o log.trx "$tight" $end >account 2>err ||
		complain "$end: $(cat err)"
	grep -q 'none lost' err || complain "$end: $(cat err)"
	judge $end log.trx account
done
"$tool" record --preload --aggregate --inherit --size auto --force -o log.trx "$tight" fork >account 2>err ||
	complain "fork: $(cat err)"
judge fork log.trx account

nr_checks=$((nr_checks + 1))
TXTRACE_AGGREGATE=1 TXTRACE_OUT=alone.trx LD_PRELOAD="$object" "$tight" exit >account ||
	complain 'TXTRACE_AGGREGATE fails'
[ "$("$tool" print alone.trx | grep -c ' txtrace_calls ')" -gt 10 ] || complain 'TXTRACE_AGGREGATE counts nothing'

# With a filter that leaves out the counts, the log has events instead.
nr_checks=$((nr_checks + 1))
"$tool" record --preload --aggregate --no-event txtrace_calls --force -o log.trx "$tight" exit >account 2>err
"$tool" print log.trx >said
! grep -q ' txtrace_calls ' said && grep -q ' pthread_mutex_lock ' said ||
	complain 'calls are neither counted nor recorded'

# A killed program loses the counts that it has not recorded yet, but no more than its calls.
nr_checks=$((nr_checks + 1))
"$tool" record --preload --aggregate --size auto --force -o log.trx "$tight" kill >account 2>err
python3 "$top/tests/tool/aggregate.py" "$tool" log.trx account at-most >said 2>&1 || complain "kill: $(cat said)"

# A count has no times, so the commands say that these are not known.
nr_checks=$((nr_checks + 1))
"$tool" record --preload --aggregate --size auto --force -o log.trx "$tight" exit >account 2>err
"$tool" locks log.trx >said
grep -q 'counted and not recorded: how long their locks were held, and by which threads' said ||
	complain "locks tells nothing of the counts: $(cat said)"
grep -A2 '^Lock Order' said | grep -q 'nothing' || complain "locks has a lock order: $(cat said)"
nr_checks=$((nr_checks + 1))
[ -z "$(findings log.trx)" ] || complain "check: $(findings log.trx)"
"$tool" export --to trx --force -o other.trx log.trx && [ -z "$(findings other.trx)" ] ||
	complain "trx: $(findings other.trx)"
finish
