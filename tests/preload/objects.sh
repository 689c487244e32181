# SPDX-License-Identifier: MIT
# For the tests of the preloaded object: sourced, behind tests/tool/lib.sh.
#
#	$object				the object, as it was built
#	$programs			the directory of the test programs
#	traced FILE COMMAND...		run it under the object, and record what it does
#	names_and_data FILE		the events of a trace: their names, and their data in hex
#	events_of FILE NAME		how many of them there are
#	skip WHY			the script is skipped
#	wrappers			the symbols that have a wrapper on this machine, sorted
object=$(dirname "$tool")/../preload/.libs/libtxtrace-preload.so
[ -e "$object" ] || { echo 'SKIP: no shared object was built'; exit 77; }
object=$(cd "$(dirname "$object")" && pwd)/libtxtrace-preload.so
programs=$(cd "$(dirname "$tool")/.." && pwd)/tests/preload
TXTRACE_DIR=$scratch/shm
export TXTRACE_DIR

skip()
{
	echo "SKIP: $*"
	exit 77
}

wrappers()
{
	(cd "$programs/../.." && srcdir=$top sh "$top/tests/preload/wrappers.sh") |
		sed -n 's/^PX_WRAPPER(\([^,]*\),.*/\1/p' | sort -u
}

traced()
{
	trace=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" record --force --size 4M -o "$trace" -- env LD_PRELOAD="${ahead:-}$object${behind:-}" "$@" \
		2>"$scratch/record.err"
	status=$?
	[ -s "$trace" ] || complain "no trace of $*: $(cat "$scratch/record.err")"
	return "$status"
}

names_and_data()
{
	"$tool" print --format jsonl "$1" | sed -n 's/.*"event":"\([^"]*\)".*"hex":"\([^"]*\)".*/\1 \2/p'
}

events_of()
{
	names_and_data "$1" | awk -v name="$2" '$1 == name { n++ } END { print n + 0 }'
}
