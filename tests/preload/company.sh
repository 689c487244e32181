#!/bin/sh
# SPDX-License-Identifier: MIT
# Other preloaded objects together with ours: each program prints the same and ends in the same way as with the other
# object alone. The script tries both orders, with a log and without. `company.sh all` (make check-company) also tries
# real objects; it reports and counts those that are not installed.
. "${srcdir:-.}/tests/preload/acts.sh"

nr_skipped=0
own=$top/tests/preload/company.c
for variant in LOCKS STANDS ALLOCATES; do
	${CC:-cc} -shared -fPIC -fno-builtin -D$variant "$own" -o "lib$variant.so" -ldl -pthread ||
		complain "$variant is not compiled"
done
${CC:-cc} -fno-builtin -DPROGRAM "$own" -o threads -pthread || complain 'the program is not compiled'
mkdir files logs
for name in some files to list; do echo $name $name >files/$name; done
seq 2000 | sort -R --random-source="$own" >numbers

# before: words before the command, such as the daemon of fakeroot.
before=
recorder=

# program NAME ENVIRONMENT...: run it; stdout, stderr and status in NAME.out, NAME.err, NAME.status
program()
{
	name=$1
	shift
	case $which in
	true) set -- "$@" true ;;
	ls) set -- "$@" ls -n --time-style=+%s files ;;
	sort) set -- "$@" sort -n numbers ;;
	shell) set -- "$@" sh -c 'echo a | cat; (exit 3); echo $?; ls files/none; cat numbers | wc -l; exit 4' ;;
	threads) set -- "$@" ./threads ;;
	esac
	timeout -k 1 30 $before $recorder env "$@" >"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.status"
}

# alike WHAT: the two runs must be alike
alike()
{
	nr_checks=$((nr_checks + 1))
	for part in status out err; do
		cmp -s alone.$part both.$part || complain "$1: $part differs:
$(diff alone.$part both.$part | head -4)"
	done
}

# company NAME FILE [VARIABLE=VALUE...]: run with this object
company()
{
	company=$1
	other=$2
	shift 2
	for which in true ls sort shell threads; do
		program alone LD_PRELOAD="$other" "$@"
		for order in "$object:$other" "$other:$object"; do
			# The runtime of a sanitizer must be the first object.
			case $company,$order in asan,"$object"*) continue ;; esac
			program both LD_PRELOAD="$order" "$@"
			alike "$which with $company, LD_PRELOAD=$order"
			rm -f logs/*
			program both LD_PRELOAD="$order" TXTRACE_OUT="$scratch/logs/%e.%p.trx" "$@"
			alike "$which with $company and a log, LD_PRELOAD=$order"
			for log in logs/*; do
				accepted "$log"
			done
			program both LD_PRELOAD="$order" TXTRACE_OUT="$scratch/logs/%e.%p.trx" TXTRACE_CHILDREN=yes "$@"
			alike "$which with $company, a log and children, LD_PRELOAD=$order"
			recorder="$tool record --force --inherit -o $scratch/recorded.trx --"
			program both LD_PRELOAD="$order" "$@"
			recorder=
			# The recorder prints lines of its own.
			grep -v '^txtrace\|^recorded\|^warning\|^note' both.err >both.own
			mv both.own both.err
			alike "$which with $company, recorded, LD_PRELOAD=$order"
		done
	done
	case $company in
	asan)
		# The recorder preloads the objects in the order that the runtime needs.
		which=ls
		before="env LD_PRELOAD=$other $* $tool record --force --preload -o $scratch/recorded.trx --"
		program both "$@"
		before=
		nr_checks=$((nr_checks + 1))
		[ "$(cat both.status)" -eq 0 ] || complain "record --preload with $company: $(head -3 both.err)"
		;;
	esac
}

# library NAME: the path of an installed library, or skip it
library()
{
	found=$(find /lib /usr/lib /usr/local/lib -name "$1" 2>/dev/null | sort | head -1)
	[ -n "$found" ] && return
	echo "SKIP $1: not installed"
	nr_skipped=$((nr_skipped + 1))
	return 1
}

company locks "$scratch/libLOCKS.so"
company stands "$scratch/libSTANDS.so"
company allocates "$scratch/libALLOCATES.so"
if [ "${1:-}" = all ]; then
	library libtorsocks.so && company torsocks "$found"
	library libfaketime.so.1 && company faketime "$found" FAKETIME='2020-01-01 00:00:00'
	library libfaketime.so.1 && company faketime-offset "$found" FAKETIME=+1y
	library libuid_wrapper.so && company uid_wrapper "$found" UID_WRAPPER=1 UID_WRAPPER_ROOT=1
	mkdir -p sockets
	library libsocket_wrapper.so && company socket_wrapper "$found" SOCKET_WRAPPER_DIR="$scratch/sockets"
	if library libfakeroot-sysv.so; then
		if command -v fakeroot-sysv >/dev/null; then before='fakeroot-sysv --'; fi
		company fakeroot "$found"
		before=
	fi
	library libeatmydata.so && company eatmydata "$found"
	library 'libjemalloc.so.2' && company jemalloc "$found"
	library 'libtcmalloc_minimal.so.4' && company tcmalloc "$found"
	library libheaptrack_preload.so && company heaptrack "$found"
	library 'libasan.so.*' && company asan "$found" ASAN_OPTIONS=detect_leaks=0
	echo "$nr_skipped objects are not installed"
fi
finish
