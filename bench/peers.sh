#!/bin/sh
# SPDX-License-Identifier: MIT
# peers.sh: compare posix_trace_event() with LTTng-UST, the wrapper of a mutex with that of LTTng's preloaded library,
# and reading a log with babeltrace2 reading a trace of LTTng.  make bench-peers runs it in the build directory, with CC
# and srcdir.  ROUNDS (default 21), MUTEX_ROUNDS (default 9) and RATE_ROUNDS (default 3) set the number of rounds.
#
# peers.sh		all of this, and recording into a file
# peers.sh logs		only recording into a file: bytes, rate without loss, and CPU time
#
# As root, on Debian, it installs missing packages.  All other files are in a temporary directory, which is always
# removed at the end.
set -u

CC=${CC:-cc}
srcdir=${srcdir:-.}
ROUNDS=${ROUNDS:-21}
MUTEX_ROUNDS=${MUTEX_ROUNDS:-9}
RATE_ROUNDS=${RATE_ROUNDS:-3}
packages='lttng-tools liblttng-ust-dev babeltrace2'
read_events=1000000

fail()
{
	echo "peers.sh: $1" >&2
	exit 1
}

is_complete()
{
	command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null &&
		command -v babeltrace2 >/dev/null &&
		echo '#include <lttng/tracepoint.h>' | $CC -E - >/dev/null 2>&1
}

install_packages()
{
	install="apt-get install -y --no-install-recommends $packages"
	if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
		fail "missing: $packages (as root, on Debian: apt-get update && $install)"
	fi
	echo "peers.sh: installing $packages"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq </dev/null || echo 'peers.sh: apt-get update failed, continuing' >&2
	# shellcheck disable=SC2086  # a command and package names
	$install -qq </dev/null >/dev/null || fail "failed: $install"
	is_complete || fail "still missing after the installation: $packages"
}

sessiond=
session=
directory=
left_by_others=$(ls -d /dev/shm/lttng-ust-wait-* /var/run/lttng 2>/dev/null)

was_there()
{
	case "
$left_by_others
" in
	*"
$1
"*) return 0 ;;
	esac
	return 1
}

clean_up()
{
	[ -z "$session" ] || lttng --no-sessiond destroy "$session" >/dev/null 2>&1
	if [ -n "$sessiond" ]; then
		kill "$sessiond" 2>/dev/null
		wait "$sessiond" 2>/dev/null
	fi
	# LTTng does not remove these.
	for file in /dev/shm/lttng-ust-wait-*; do
		was_there "$file" || rm -f "$file"
	done
	was_there /var/run/lttng || rmdir /var/run/lttng 2>/dev/null
	[ -z "$directory" ] || rm -rf "$directory"
}

daemon_answers()
{
	lttng --no-sessiond list >/dev/null 2>&1
}

# Use a running daemon if there is one, because root cannot have two.
start_daemon()
{
	export HOME="$directory" LTTNG_HOME="$directory" LTTNG_UST_REGISTER_TIMEOUT=-1
	daemon_answers && return
	lttng-sessiond --no-kernel >"$directory/sessiond.log" 2>&1 &
	sessiond=$!
	waited=0
	until daemon_answers; do
		waited=$((waited + 1))
		if [ "$waited" -ge 100 ] || ! kill -0 "$sessiond" 2>/dev/null; then
			cat "$directory/sessiond.log" >&2
			fail 'lttng-sessiond does not start'
		fi
		sleep 0.1
	done
}

# start_session CREATE-OPTIONS CHANNEL-OPTIONS [EVENTS]
start_session()
{
	session=posixtrace-peer-$$
	{
		# shellcheck disable=SC2086  # options
		lttng --no-sessiond create "$session" $1 --output="$directory/out" &&
			lttng --no-sessiond enable-channel -s "$session" -u $2 ring &&
			lttng --no-sessiond enable-event -s "$session" -u -c ring \
				"${3:-posixtrace_peer:*}" &&
			lttng --no-sessiond add-context -s "$session" -u -c ring \
				-t vpid -t vtid -t ip &&
			lttng --no-sessiond start "$session"
	} >"$directory/lttng.log" 2>&1 || {
		cat "$directory/lttng.log" >&2
		fail 'cannot create the session'
	}
}

end_session()
{
	lttng --no-sessiond destroy "$session" >/dev/null 2>&1
	session=
}

seconds()
{
	date +%s.%N
}

# Let babeltrace2 read the trace three times, without output, and print the median.
measure_reading()
{
	start_session '' '--discard --subbuf-size=4M --num-subbuf=4'
	"$directory/peer_lttng" --write "$read_events" || fail 'no trace to read'
	end_session
	for _ in 1 2 3; do
		begin=$(seconds)
		babeltrace2 --output-format=dummy "$directory/out" 2>"$directory/reading.log" ||
			fail 'babeltrace2 does not read the trace'
		echo "$begin $(seconds)"
	done | awk -v n="$read_events" '
		{ took[NR] = $2 - $1 }
		END {
			for (i = 1; i <= 3; i++)
				for (k = i + 1; k <= 3; k++)
					if (took[k] < took[i]) { t = took[i]; took[i] = took[k]; took[k] = t }
			printf "babeltrace2, a trace of %d events, no output: %.2f million events/s\n", n, n / took[2] / 1e6
		}'
	! grep -q discarded "$directory/reading.log" || echo 'LTTng lost events: the real rate is lower'
	echo "posix_trace_getnext_event() on a log:"
	TXTRACE_DIR="$directory/trace" bench/logs --reading "$directory"
}

# Measure pairs of lock and unlock in turn: without a tracer, with our preloaded library, with that of LTTng.
measure_mutexes()
{
	ours=$PWD/preload/.libs/libtxtrace-preload.so
	start_session --snapshot '--overwrite --subbuf-size=256k --num-subbuf=4' 'lttng_ust_pthread:*'
	round=0
	while [ "$round" -lt "$MUTEX_ROUNDS" ]; do
		round=$((round + 1))
		bare=$("$directory/peer_mutex") || fail 'the measurement of mutexes failed'
		traced=$(LD_PRELOAD=$ours TXTRACE_DIR="$directory/trace" "$directory/peer_mutex") ||
			fail 'the measurement of mutexes failed with our library'
		peer=$(LD_PRELOAD=liblttng-ust-pthread-wrapper.so "$directory/peer_mutex") ||
			fail "the measurement of mutexes failed with LTTng's library"
		echo "$bare $traced $peer"
	done | awk '
		function median(list, n,   i, k, t) {
			for (i = 1; i <= n; i++)
				for (k = i + 1; k <= n; k++)
					if (list[k] < list[i]) { t = list[i]; list[i] = list[k]; list[k] = t }
			return list[int((n + 1) / 2)]
		}
		function row(what, first, digits) {
			printf "%-32s  %7.*f  %7.*f\n", what, digits, median(one, NR), digits, median(all, NR)
		}
		{
			for (i = 1; i <= 6; i++)
				figure[i, NR] = $i
		}
		function take(column) {
			for (i = 1; i <= NR; i++) {
				one[i] = figure[column, i]
				all[i] = figure[column + 1, i]
			}
		}
		END {
			printf "%-32s  %7s  %7s\n", "mutex lock + unlock, ns", "1 thr", "all"
			take(1); row("bare", 1, 1)
			take(3); row("preloaded, traced", 3, 1)
			take(5); row("LTTng pthread wrapper", 5, 1)
			for (i = 1; i <= NR; i++) {
				one[i] = (figure[5, i] - figure[1, i]) / (figure[3, i] - figure[1, i])
				all[i] = (figure[6, i] - figure[2, i]) / (figure[4, i] - figure[2, i])
			}
			row("added by LTTng / added by us", 0, 2)
		}'
	end_session
}

# Recording into a file.

# Print the CPU time of the consumer daemon in milliseconds.
consumer_ms()
{
	for stat in /proc/[0-9]*/stat; do
		sed -n 's/^[0-9]* (lttng-consumerd) //p' "$stat" 2>/dev/null
	done | awk -v ticks="$(getconf CLK_TCK)" '{ sum += $12 + $13 } END { printf "%.1f\n", sum * 1000 / ticks }'
}

# try_lttng THREADS BYTES RATE: record for a second, and print: events written, rate, lost, CPU in ms, bytes
try_lttng()
{
	start_session '' '--discard --subbuf-size=1M --num-subbuf=8' "posixtrace_peer:bytes$2"
	before=$(consumer_ms)
	said=$("$directory/peer_rate" lttng "$1" "$2" "$3" 1) || fail 'the measurement of LTTng failed'
	lttng --no-sessiond stop "$session" >"$directory/stop.log" 2>&1
	after=$(consumer_ms)
	lost=$(lttng --no-sessiond list "$session" | awk '/Discarded events/ { sum += $3 } END { print sum + 0 }')
	bytes=$(find "$directory/out" -name 'ring_*' -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }')
	end_session
	rm -rf "$directory/out"
	echo "$said $lost $before $after $bytes" | awk '{ print $1, $2, $5, $7 - $6, $8 }'
}

try_ours()
{
	said=$(TXTRACE_DIR="$directory/trace" "$directory/peer_rate" ours "$1" "$2" "$3" 1 "$directory/ours.trx") ||
		fail 'the measurement of posixtrace failed'
	echo "$said $(stat -c %s "$directory/ours.trx")"
	rm -f "$directory/ours.trx"
}

# find_rate TRACER THREADS BYTES: print the highest rate that lost nothing, and bytes and CPU in ns for each event of it
find_rate()
{
	low=0 high=0 rate=1000000 tries=0
	while [ "$tries" -lt 4 ]; do
		"try_$1" "$2" "$3" "$rate" >"$directory/tried" || return 1
		# Threads that cannot write as fast as they should are at the end, too.
		if awk -v rate="$rate" '{ exit !($3 == 0 && $2 > 0.9 * rate) }' "$directory/tried"; then
			low=$rate
			cp "$directory/tried" "$directory/best"
		else
			high=$rate
		fi
		if [ "$high" -eq 0 ]; then
			rate=$((rate * 3 / 2))
			continue
		fi
		tries=$((tries + 1))
		rate=$(((low + high) / 2))
	done
	if [ "$low" -eq 0 ]; then
		echo '0 0 0'
	else
		awk '{ printf "%.0f %.1f %.1f\n", $2, $5 / $1, $4 * 1e6 / $1 }' "$directory/best"
	fi
}

measure_rate()
{
	round=0
	while [ "$round" -lt "$RATE_ROUNDS" ]; do
		round=$((round + 1))
		ours=$(find_rate ours "$1" "$2") || exit 1
		lttng=$(find_rate lttng "$1" "$2") || exit 1
		echo "$ours $lttng"
	done | awk -v threads="$1" -v bytes="$2" '
		function median(list, n,   i, k, t) {
			for (i = 1; i <= n; i++)
				for (k = i + 1; k <= n; k++)
					if (list[k] < list[i]) { t = list[i]; list[i] = list[k]; list[k] = t }
			return list[int((n + 1) / 2)]
		}
		function column(k,   i) {
			for (i = 1; i <= NR; i++)
				one[i] = figure[k, i]
			return median(one, NR)
		}
		{
			for (i = 1; i <= 6; i++)
				figure[i, NR] = $i
			ratio[NR] = $4 > 0 ? $1 / $4 : 0
		}
		END {
			printf "%d thread%s, %d bytes    %7.2f %7.2f %6.2f    %6.1f %6.1f    %6.1f %6.1f\n",
				threads, threads == 1 ? " " : "s", bytes, column(1) / 1e6, column(4) / 1e6,
				median(ratio, NR), column(2), column(5), column(3), column(6)
		}'
}

measure_logs()
{
	echo 'Recording into a file, 8 MiB a CPU; the highest rate at which nothing was lost in a second.'
	echo "Each figure is the median of $RATE_ROUNDS rounds, in turn."
	printf '%-22s  %23s    %13s    %13s\n' '' 'million events/s' 'bytes/event' 'CPU, ns/event'
	printf '%-22s  %7s %7s %6s    %6s %6s    %6s %6s\n' '' ours LTTng ratio ours LTTng ours LTTng
	for bytes in 16 64; do
		for threads in 1 2; do
			measure_rate "$threads" "$bytes"
		done
	done
	echo 'CPU: of the flush thread and of the consumer daemon.'
}

build_programs()
{
	# shellcheck disable=SC2086  # CC may carry options
	$CC -D_GNU_SOURCE -std=gnu11 -O2 -pthread -I"$srcdir/include" -I"$srcdir/bench" \
		-o "$directory/peer_mutex" "$srcdir/bench/peer_mutex.c" "$srcdir/bench/harness.c" -ldl -lm ||
		fail 'cannot build bench/peer_mutex.c'
	# shellcheck disable=SC2086  # CC may carry options
	$CC -D_GNU_SOURCE -std=gnu11 -O2 -pthread -I"$srcdir/include" -I"$srcdir/bench" \
		-o "$directory/peer_lttng" "$srcdir/bench/peer_lttng.c" "$srcdir/bench/harness.c" \
		-Llib/.libs -Wl,-rpath,"$PWD/lib/.libs" -lposixtrace -llttng-ust -ldl -lm ||
		fail 'cannot build bench/peer_lttng.c'
	# shellcheck disable=SC2086  # CC may carry options
	$CC -D_GNU_SOURCE -std=gnu11 -O2 -pthread -I"$srcdir/include" -I"$srcdir/bench" \
		-o "$directory/peer_rate" "$srcdir/bench/peer_rate.c" \
		-Llib/.libs -Wl,-rpath,"$PWD/lib/.libs" -lposixtrace -llttng-ust -ldl ||
		fail 'cannot build bench/peer_rate.c'
}

is_complete || install_packages

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
directory=$(mktemp -d "${TMPDIR:-/tmp}/posixtrace-peers.XXXXXX") || exit 1
build_programs
start_daemon
mkdir -m 700 "$directory/trace"
if [ "${1:-}" = logs ]; then
	measure_logs
	exit
fi
start_session --snapshot '--overwrite --subbuf-size=256k --num-subbuf=4'
TXTRACE_DIR="$directory/trace" "$directory/peer_lttng" "$ROUNDS" || fail 'the measurement failed'
version=$(pkg-config --modversion lttng-ust 2>/dev/null)
echo "LTTng-UST${version:+ }$version: snapshot session, 4 x 256 KiB a CPU, contexts vpid, vtid, ip."
end_session
rm -rf "$directory/out"
echo
measure_mutexes
rm -rf "$directory/out"
echo
measure_reading
echo
measure_logs
