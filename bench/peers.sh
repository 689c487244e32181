#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# posix_trace_event() beside LTTng-UST, A B A B: 16 bytes of data, 1 MiB of buffers a CPU that overwrite,
# and with the peer what every event here carries too: process, thread and address.
# From make bench-peers: $BENCH is bench/bench, $CC the compiler, $srcdir the sources; ROUNDS defaults to 9.
set -eu

: "${BENCH:=bench/bench}" "${CC:=cc}" "${srcdir:=.}" "${ROUNDS:=9}"
cpus=$(nproc)

missing=
command -v lttng-sessiond >/dev/null || missing="$missing lttng-tools"
[ -e /usr/include/lttng/tracepoint.h ] || missing="$missing liblttng-ust-dev"
if [ -n "$missing" ]; then
	if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
		echo "bench-peers: missing:$missing" >&2
		echo "As root, on Debian: apt-get install$missing" >&2
		exit 1
	fi
	echo "bench-peers: installing$missing"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq </dev/null
	# shellcheck disable=SC2086  # package names
	apt-get install -y -qq --no-install-recommends $missing </dev/null >/dev/null
fi

# A session daemon of our own, that leaves nothing behind.
work=$(mktemp -d)
export HOME=$work LTTNG_HOME=$work LTTNG_RUNDIR=$work/run TXTRACE_DIR=$work/segments
mkdir -m 700 "$work/run" "$work/segments"
clean_up()
{
	lttng destroy -a >/dev/null 2>&1 || true
	if [ -e "$work/pid" ]; then
		kill "$(cat "$work/pid")" 2>/dev/null || true
		for _ in $(seq 50); do
			kill -0 "$(cat "$work/pid")" 2>/dev/null || break
			sleep 0.1
		done
	fi
	rm -rf "$work"
}
trap clean_up EXIT

# Segments belong in memory.
if [ -d /dev/shm ]; then
	rmdir "$TXTRACE_DIR"
	TXTRACE_DIR=$(mktemp -d /dev/shm/bench-peers.XXXXXX)
	trap 'clean_up; rm -rf "$TXTRACE_DIR"' EXIT
fi

"$CC" -O2 -D_GNU_SOURCE -I"$srcdir/bench" "$srcdir/bench/peer_lttng.c" -o "$work/peer" -llttng-ust -ldl -pthread
lttng-sessiond --no-kernel --daemonize --pidfile="$work/pid" >/dev/null 2>&1
{
	lttng create bench --snapshot --output="$work/traces"
	lttng enable-channel -u --overwrite --subbuf-size=256k --num-subbuf=4 ch
	lttng enable-event -u -c ch 'peer:*'
	lttng add-context -u -c ch -t vpid -t vtid -t ip
	lttng start
} >/dev/null

# ours MODE: the figure of one round, 1 thread (column 1) or all CPUs (column 4)
ours()
{
	"$BENCH" --rounds 1 --case event-16 | awk -v column="$1" '
		$1 == "event-16" {
			# The figures are the numbers at the end of the line: 3 for 1 thread, 3 for all.
			print $(NF - 6 + column)
		}'
}

for ((i = 0; i < ROUNDS; i++)); do
	echo "$(ours 1) $("$work/peer" 1) $(ours 4) $("$work/peer" "$cpus")"
done | awk -v cpus="$cpus" '
	function median(a, n,    i, j, t) {
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && a[j] < a[j - 1]; j--) {
				t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
			}
		return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
	}
	NF == 4 && $1 > 0 && $3 > 0 {
		n++
		ours[n] = $1; peer[n] = $2; ratio[n] = $2 / $1
		ours_all[n] = $3; peer_all[n] = $4; ratio_all[n] = $4 / $3
	}
	END {
		if (n == 0) {
			print "bench-peers: nothing was measured" > "/dev/stderr"
			exit 1
		}
		printf "16 bytes an event, with process, thread and address; medians of %d rounds\n\n", n
		printf "%-34s %10s %12s %8s\n", "", "posixtrace", "LTTng-UST", "ratio"
		printf "%-34s %7.1f ns %9.1f ns %7.1fx\n", "1 thread", median(ours, n),
			median(peer, n), median(ratio, n)
		printf "%-34s %7.1f ns %9.1f ns %7.1fx\n", "all " cpus " CPUs at once",
			median(ours_all, n), median(peer_all, n), median(ratio_all, n)
		printf "\nto reach: 8x, to beat: 10x\n"
	}'
