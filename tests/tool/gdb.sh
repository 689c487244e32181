#!/bin/sh
# SPDX-License-Identifier: MIT
# The commands of txtrace-gdb.py, in gdb's batch mode.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
has_program gdb 'commands of gdb' || finish
if ! gdb -batch -ex 'python print("py" + "thon")' 2>/dev/null | grep -q python; then
	echo 'SKIP commands of gdb: gdb has no Python'
	finish
fi
[ "${PX_SANITIZED:-no}" = no ] || { echo 'SKIP commands of gdb: a sanitizer'; finish; }
client=$(dirname "$tool")/../tests/threadx/client
program=$(binary_of "$client")
build=$(cd "$(dirname "$tool")/.." && pwd)
TXTRACE=$tool
LD_LIBRARY_PATH=$build/threadx/.libs:$build/lib/.libs
export TXTRACE LD_LIBRARY_PATH

# in_gdb COMMAND...: run the client under gdb until it writes its buffer, then these commands
in_gdb()
{
	for command; do
		set -- "$@" -ex "$command"
		shift
	done
	timeout 60 gdb -q -batch -nx -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' \
		-ex "source $top/gdb/txtrace-gdb.py" -ex 'break write_file' -ex "run write $scratch/buffer.trx" \
		"$@" -ex continue "$program" >"$scratch/out" 2>&1 </dev/null
}

in_gdb "txtrace save $scratch/default.trx" "txtrace save $scratch/named.trx trace_buffer" \
	"txtrace save $scratch/address.trx &trace_buffer[0]" 'txtrace print 3'
if grep -q 'Operation not permitted\|ptrace' "$scratch/out"; then
	echo 'SKIP commands of gdb: a process may not be traced'
	finish
fi
for saved in default named address; do
	nr_checks=$((nr_checks + 1))
	cmp -s "$scratch/$saved.trx" "$scratch/buffer.trx" ||
		complain "txtrace save ($saved) writes something else: $(tail -5 "$scratch/out")"
done
nr_checks=$((nr_checks + 2))
"$tool" check --strict "$scratch/default.trx" >/dev/null 2>&1 || complain 'check finds faults'
"$tool" print --tail 3 "$scratch/buffer.trx" >"$scratch/expected"
[ "$(grep -cF -f "$scratch/expected" "$scratch/out")" -ge 3 ] || complain "txtrace print 3: $(tail -8 "$scratch/out")"

# says COMMAND TEXT: it says this
says()
{
	nr_checks=$((nr_checks + 1))
	in_gdb "$1"
	grep -qF -e "$2" "$scratch/out" || complain "$1 does not say '$2': $(tail -5 "$scratch/out")"
}
says 'txtrace save' 'file required'
says "txtrace save $scratch/no/file" 'cannot write'
says "txtrace save $scratch/x no_such" 'no_such'
says "txtrace save $scratch/x 0" 'Cannot access memory'
says "txtrace print 3 &mutex" 'there is no trace buffer at'
finish
