#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace record --size=auto: rings that grow while the recorder cannot keep up.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
burst=${BURST:-$(pwd)/tests/tool/burst}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
cd "$scratch" || exit 99

fails 125 '--size auto needs --stream-policy flush' record --size auto --stream-policy loop -o none "$burst"
fails 125 '--flight-recorder takes no options' record --flight-recorder 1M --size auto -o none "$burst"

# The rings of all CPUs have to be large enough for twice as many events as the usual rings have room for.
nr_cpus=$(getconf _NPROCESSORS_CONF)
mib=$(($(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo) / 1024))
if [ "$nr_cpus" -gt 16 ] || [ $((mib / 8 / (nr_cpus + 1))) -lt 22 ]; then
	echo 'SKIP rings that grow: there is not enough memory'
	finish
	exit
fi

# burst OPTION...: print the numbers of events and of lost events
burst()
{
	nr_checks=$((nr_checks + 1))
	"$tool" record --preload --force --log-size 512M "$@" -o log.trx "$burst" 100000 >said 2>&1 ||
		complain "burst is not recorded: $(cat said)"
	"$tool" info --format json log.trx >info 2>&1 || complain 'no info'
}

burst
grep -q 'none lost' said && complain 'the usual rings have room for all, so this is no test'
grep -q 'lacks [0-9]* events, .* --size auto ' said || complain "no remedy is named: $(cat said)"
burst --size=auto
if ! grep -q 'none lost' said; then
	case $(uname -r) in
	[0-4].* | 5.[0-9].* | 5.1[0-3].*) echo 'SKIP rings that grow: this kernel cannot populate memory' ;;
	*) complain "rings do not grow: $(cat said)" ;;
	esac
else
	"$tool" locks --format json log.trx >locks
	grep -q '"taken": *100000\b' locks || complain "locks are missing: $(cat locks)"

	# The recorder is killed while the rings hold all events: they stay in memory, and the next process finds them
	# there.
	nr_checks=$((nr_checks + 1))
	"$tool" record --preload --force --log-size 512M --size=auto -o log.trx "$burst" 100000 kill >said 2>&1 &&
		complain 'the recorder was not killed'
	await "$tool" recover log.trx
	"$tool" locks --format json log.trx >locks
	grep -q '"taken": *100000\b' locks || complain "locks of a killed recorder are missing: $(cat locks)"
fi
finish
