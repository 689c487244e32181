#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures how much the preloaded library slows down common programs, and prints medians.  Each round runs a program in
# four ways:
#	without		without the library
#	loaded		with the library, not traced
#	usual		with a log of the default groups
#	everything	with a log of all groups, also the heap
# Percentages are relative to "without".
#
#	programs.sh [ROUNDS]		default: 5
set -u

object=$(pwd)/preload/.libs/libtxtrace-preload.so
rounds=${1:-5}
ways='without loaded usual everything'
[ -e "$object" ] || { echo "there is no $object" >&2; exit 1; }
scratch=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$scratch"' EXIT
LC_ALL=C
export LC_ALL
cd "$scratch" || exit 1

# under WAY COMMAND...: replace this shell by the command, set up for WAY
under()
{
	way=$1
	shift
	rm -f "$scratch"/log.trx*
	case $way in
	without) exec "$@" ;;
	loaded) exec env LD_PRELOAD="$object" "$@" ;;
	usual) exec env LD_PRELOAD="$object" TXTRACE_OUT="$scratch/log.trx" "$@" ;;
	everything) exec env LD_PRELOAD="$object" TXTRACE_EVENTS=all TXTRACE_OUT="$scratch/log.trx" "$@" ;;
	esac
}

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

# The CPU time of this shell's children, in ms.  Other load disturbs it less than the elapsed time.
cpu_ms()
{
	times >"$scratch/times_of_children"
	tail -1 "$scratch/times_of_children" | tr 'ms' '  ' |
		awk '{ printf "%.0f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }'
}

# measure NAME COMMAND...: write lines "NAME WAY MS" with the elapsed time, and "NAME_cpu WAY MS" with the CPU time
measure()
{
	name=$1
	shift
	command -v "$1" >/dev/null || { echo "$name: there is no $1" >&2; return; }
	("$@" <input >/dev/null)
	for round in $(seq "$rounds"); do
		for way in $ways; do
			since=$(now_ms)
			cpu=$( (under $way "$@") <input >/dev/null; cpu_ms)
			echo "$name $way $(($(now_ms) - since))"
			echo "${name}_cpu $way $cpu"
		done
	done >>times
}

# ask NAME OPTION...: print lines with the time that the server needs for a request, in ns
ask()
{
	name=$1
	shift
	redis-benchmark -s "$scratch/redis" -c 20 --csv "$@" 2>/dev/null |
		awk -F '[",]+' -v name="$name" -v way="$way" \
			'$3 + 0 > 0 { printf "%s_%s %s %.0f\n", name, $2, way, 1e9 / $3 }'
}

measure_redis()
{
	command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null ||
		{ echo 'redis: there is no redis-server' >&2; return; }
	for round in $(seq "$rounds"); do
		for way in $ways; do
			(under $way redis-server --port 0 --unixsocket "$scratch/redis" --save '' --daemonize no) \
				>/dev/null &
			server=$!
			until [ -S redis ]; do sleep 0.05; done
			ask redis -n 20000 -t set,get
			ask redis_P16 -n 200000 -P 16 -t set,get
			redis-cli -s "$scratch/redis" shutdown nosave >/dev/null 2>&1
			wait $server
			server=
			rm -f redis
		done
	done >>times
}

seq 1 400000 | awk '{ print ($1 * 7919) % 400009, "a line of input", $1 }' >input
: >times
measure sort_parallel sort --parallel=2 -S 16M
measure xz_T2 xz -T2 -2 --block-size=1000000 -c
measure_redis

echo "medians of $rounds rounds: ms per run, ns per request"
sort -k 1,1 -k 2,2 -k 3,3n times | awk '
	{ key = $1 " " $2; value[key, ++n[key]] = $3; names[$1] }
	function median(key) {
		return n[key] % 2 ? value[key, (n[key] + 1) / 2] : (value[key, n[key] / 2] + value[key, n[key] / 2 + 1]) / 2
	}
	END {
		printf "%-16s %10s %10s %9s %10s %9s %10s %9s\n", "program", "without", "loaded", "", "usual", "", "everything", ""
		for (name in names) {
			base = median(name " without")
			printf "%-16s %10.0f", name, base
			split("loaded usual everything", ways, " ")
			for (i = 1; i <= 3; i++)
				printf " %10.0f %+7.1f %%", median(name " " ways[i]), base ? (median(name " " ways[i]) / base - 1) * 100 : 0
			printf "\n"
		}
	}' | sort -k 1,1 |
		awk '/^program/ { print; next } { lines[++n] = $0 } END { for (i = 1; i <= n; i++) print lines[i] }'
