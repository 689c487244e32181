# SPDX-License-Identifier: MIT
# For the tests of the preloaded object: sourced, not run.
#
#	$object $tool $acts $scenes	the object, the tool, the programs that are traced
#	run NAME=VALUE... PROGRAM...	with the object; stdout, stderr and exit code in $scratch/out, err, $code
#	bare PROGRAM...			the same without it, in $scratch/bare.out, bare.err, $bare
#	same WHAT			both behaved alike
#	accepted LOG			a log that `txtrace check` has nothing against, but that there is much in it
#	events LOG NAME			how many there are of this type
#	complain TEXT...		a failure of the script's own
#	finish				the end
set -u

srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
here=$(pwd)
LC_ALL=C
TZ=UTC
NO_COLOR=1
export LC_ALL TZ NO_COLOR
object=$here/preload/.libs/libtxtrace-preload.so
tool=${TXTRACE:-$here/bin/txtrace}
acts=$here/tests/preload/acts
scenes=$here/tests/preload/scenes
[ -x "$tool" ] || { echo "FAIL: there is no $tool"; exit 99; }
[ -e "$object" ] || { echo "SKIP: there is no $object"; exit 77; }
. "$srcdir/tests/support/complain.sh"
TXTRACE_DIR=$(mktemp -d /dev/shm/posixtrace-check.XXXXXX) || TXTRACE_DIR=$scratch/streams
[ -d "$TXTRACE_DIR" ] || mkdir -m 700 "$TXTRACE_DIR"
export TXTRACE_DIR
trap 'rm -rf "$scratch" "$TXTRACE_DIR"' EXIT
cd "$scratch" || exit 99
nr_checks=0

run()
{
	timeout -k 1 120 env LD_PRELOAD="$object" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
}

bare()
{
	timeout -k 1 120 "$@" >"$scratch/bare.out" 2>"$scratch/bare.err" </dev/null
	bare=$?
}

same()
{
	nr_checks=$((nr_checks + 1))
	[ "$code" -eq "$bare" ] || complain "$1: exits with $code, and with $bare without the object"
	cmp -s "$scratch/out" "$scratch/bare.out" || complain "$1: prints something else:
$(diff "$scratch/bare.out" "$scratch/out" | head -5)"
	cmp -s "$scratch/err" "$scratch/bare.err" || complain "$1: says something else:
$(diff "$scratch/bare.err" "$scratch/err" | head -5)"
}

accepted()
{
	nr_checks=$((nr_checks + 1))
	"$tool" check "$1" >"$scratch/check" 2>&1 || complain "$1 is not accepted: $(head -3 "$scratch/check")"
	allowed='many-\(threads\|events\)'
	# The image has object slots for 4,096 threads. A program that starts more has threads without a name in TraceX.
	! grep -qE 'there are [0-9]{4,} threads' "$scratch/check" ||
		allowed="$allowed\\|context-unnamed\\|next-unnamed\\|log-unlisted"
	! grep '^warning' "$scratch/check" | grep -qv "(\\($allowed\\))$" || complain "$1: $(cat "$scratch/check")"
}

events()
{
	"$tool" print "$1" 2>/dev/null | grep -v txtrace_process_start | grep -cw "$2"
}

# is WHAT EXPECTED FOUND
is()
{
	nr_checks=$((nr_checks + 1))
	[ "$2" = "$3" ] || complain "$1: $3, not $2"
}

finish()
{
	echo "$nr_checks checks, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
