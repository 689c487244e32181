#!/bin/sh
# SPDX-License-Identifier: MIT
# readers.sh: how fast the module of Python and the plugin of Babeltrace 2 read a log of a million events with fields,
# in CPU time. The plugin is measured in turn with Babeltrace's own source for the same events in CTF.
set -u

srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
build=$(pwd)
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
LD_LIBRARY_PATH=$build/lib/.libs PYTHONPATH=$top/python BABELTRACE_PLUGIN_PATH=$build/babeltrace2/.libs
PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH PYTHONPATH BABELTRACE_PLUGIN_PATH PYTHONDONTWRITEBYTECODE
log=$scratch/log.trx

echo 'uint32_t id; uint32_t level; double load; char name[16];' | tests/python/described "$log" 1000000 || exit 1
uptime
if /usr/bin/python3 -c 'import cffi, numpy' 2>/dev/null; then
	/usr/bin/python3 - "$log" <<'END'
import sys
import time
import txtrace

def measure(what, function):
    begin = time.process_time()
    function(txtrace.open(sys.argv[1]))
    print(f"python, {what:24} {time.process_time() - begin:5.2f} s")

def fields(trace):
    for event in trace:
        event.data

def everything(trace):
    for event in trace:
        event.ns, event.name, event.thread, event.cpu, event.data

for _ in range(3):
    measure("iteration", lambda trace: [None for event in trace])
    measure("with fields", fields)
    measure("with all properties", everything)
    measure("array", lambda trace: trace.array())
    measure("array with fields", lambda trace: trace.array("type 0"))
END
else
	echo 'python: skipped (Debian: apt-get install python3-cffi python3-numpy)'
fi

# cpu_time COMMAND...: the seconds of CPU time of a command
cpu_time()
{
	{ LC_ALL=C bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null' bash "$@"; } 2>&1 | awk 'END { printf "%.2f s\n", $1 + $2 }'
}

if [ -e "$BABELTRACE_PLUGIN_PATH/babeltrace-plugin-txtrace.so" ] && command -v babeltrace2 >/dev/null; then
	bin/txtrace export --to ctf -o "$scratch/ctf" "$log" 2>/dev/null || exit 1
	for _ in 1 2 3 4 5; do
		for input in "$log" "$scratch/ctf"; do
			printf '%-32s ' "babeltrace2 ${input##*/}"
			cpu_time babeltrace2 "$input" --component=sink.utils.dummy
		done
	done
fi
