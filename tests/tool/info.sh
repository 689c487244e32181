#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace info.
. "${srcdir:-.}/tests/tool/lib.sh"

bad_files info
fails 2 'takes one file' info
fails 2 '--format takes' info --format csv "$scratch/empty"

# Which calls of a preloaded program the wrappers saw, and how often.
own_streams
if own_preload; then
	"$tool" record --preload -q -o "$scratch/calls.trx" -- "$plain" 600
	"$tool" info --wrappers "$scratch/calls.trx" >"$scratch/out"
	for line in 'calls of pthread locks *1200' 'wrappers that call another wrapper  [0-9]*' 'wrappers called *[1-9]' 'wrappers missing *[0-9]' \
		'pthread_mutex_lock  .*installed *600  *[-0-9.]*' 'pthread_mutex_unlock  .*installed *600  *[-0-9.]*' \
		'pthread_mutex_trylock  .*installed *0  *-'; do
		nr_checks=$((nr_checks + 1))
		grep -q "^$line\$" "$scratch/out" || complain "info --wrappers has no $line: $(cat "$scratch/out")"
	done
	grep -q '0 pthread locks recorded' "$scratch/out" && complain 'info says that there were no locks'
	if has_program python3 'info --format json of a preloaded program'; then
		"$tool" info --format json "$scratch/calls.trx" >"$scratch/json"
		python3 - "$scratch/json" <<'END' || complain 'info --format json of a preloaded program'
import json, sys
info = json.load(open(sys.argv[1]))
rows = {row["symbol"]: row for row in info["wrappers"]}
lock = rows["pthread_mutex_lock"]
assert lock["calls"] == 600 and lock["state"] == "installed" and lock["version"].startswith("GLIBC_"), lock
measured = [row for row in rows.values() if row["samples"] > 0]
assert measured and all(row["mean_ns"] >= 0 and row["samples"] <= row["calls"] for row in measured), measured
assert info["calls_of_pthread_locks"] == 1200 and len(rows) == len(info["wrappers"])
END
	fi
	# Without a recorded call, info does not know which calls were possible.
	"$tool" record --preload -q -o "$scratch/none.trx" -- sleep 0
	nr_checks=$((nr_checks + 1))
	"$tool" info "$scratch/none.trx" >"$scratch/out"
	if grep -q '^wrappers called *[1-9]' "$scratch/out"; then
		grep -q '0 pthread locks recorded' "$scratch/out" ||
			complain "no locks were seen, and info does not say so: $(cat "$scratch/out")"
	fi
fi

make_samples
for sample in threadx filex netx_tcp netx_udp; do
	golden "info-$sample" info --objects "$samples/$sample.trx"
done
golden info-json info --format json "$samples/filex.trx"
golden info-json-lists info --format json --objects --types --modules "$samples/threadx.trx"
golden info-types info --types "$samples/threadx.trx"
if has_program python3 'info --format json is JSON'; then
	python3 -m json.tool "$golden_dir/info-json" >/dev/null || complain 'info --format json is no JSON'
fi
finish
