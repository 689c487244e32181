#!/bin/sh
# SPDX-License-Identifier: MIT
# The module txtrace of Python reads what the tool prints, and survives files that are damaged.
. "${srcdir:-.}/tests/tool/lib.sh"

if [ "${PX_SANITIZED:-no}" != no ]; then
	echo 'SKIP: a sanitizer must be loaded before Python'
	exit 77
fi
python=
for modules in 'cffi, numpy' cffi; do
	for program in python3 /usr/bin/python3; do
		[ -n "$python" ] || ! "$program" -c "import $modules" 2>/dev/null || python=$program
	done
done
[ -n "$python" ] || { echo 'SKIP: Python has no cffi (Debian: apt-get install python3-cffi)'; exit 77; }
libraries=$(cd "$(dirname "$tool")/../lib/.libs" 2>/dev/null && pwd)
[ -e "$libraries/libposixtrace.so.0" ] || { echo 'SKIP: no shared library was built'; exit 77; }
tests=$(dirname "$tool")/../tests
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/python LD_LIBRARY_PATH=$libraries TXTRACE=$tool
export PYTHONDONTWRITEBYTECODE PYTHONPATH LD_LIBRARY_PATH TXTRACE

own_streams

# check COMMAND FILE...: tests/python/check.py
check()
{
	nr_checks=$((nr_checks + 1))
	"$python" -W ignore "$top/tests/python/check.py" "$@" || complain "check.py $1 fails, with $?"
}

make_samples
"$tests/python/described" "$scratch/described.trx" 60 "$(date +%s)" <"$top/tests/python/descriptions.txt" ||
	complain 'described fails'
"$tests/tool/orders" "$scratch/orders.trx" >"$scratch/account" || complain 'orders fails'
for kind in whole gap lossy; do
	"$tests/tool/make_log" "$scratch/$kind.trx" "$kind" || complain 'make_log fails'
done
"$tests/tool/make_log" "$scratch/large.trx" large 30000 100 || complain 'make_log fails'
# A log of another machine: its boot id is another one.
cp "$scratch/whole.trx" "$scratch/other.trx"
at=$(grep -abo 'PXTXLOG1' "$scratch/other.trx" | head -1 | cut -d: -f1)
for place in 48 112; do
	printf 'another-machine-' | dd of="$scratch/other.trx" bs=1 seek=$((at + place)) conv=notrunc 2>/dev/null
done
"$tool" merge -o "$scratch/merged.trx" "$scratch/whole.trx" "$scratch/other.trx" 2>"$scratch/err" ||
	complain "merge fails: $(cat "$scratch/err")"
check hosts "$scratch/merged.trx"
for old in version2/calls version3/calls version3/steps; do
	gzip -dc "$top/tests/data/$old.trx.gz" >"$scratch/${old%/*}-${old#*/}.trx"
done
set -- "$scratch/described.trx" "$scratch/orders.trx" "$scratch/whole.trx" "$scratch/gap.trx" "$scratch/lossy.trx"
# A long double of another machine, if this one has the same: of 12 and of 16 bytes.
case $(uname -m) in
x86_64 | i?86)
	for machine in amd64 i386; do
		gzip -dc "$top/tests/data/machines/$machine.machine.trx.gz" >"$scratch/$machine.trx"
	done
	check events "$scratch/amd64.trx" "$scratch/i386.trx"
	;;
esac
! make_mixture "$scratch/mixture.trx" || set -- "$@" "$scratch/mixture.trx"
check events "$@" "$scratch"/version*.trx "$samples"/*.trx
[ ! -e "$scratch/mixture.trx" ] || check waits "$scratch/mixture.trx"
check waits "$samples/threadx.trx"
check errors "$scratch/large.trx"
check closed "$scratch/described.trx"
# What a log lacks: it was cut, it was full and overwrote its first events, or one of those that were merged was.
printf '20 event 1 0\n' | "$tests/tool/mksched" "$scratch/looped.trx" 1000 300 || complain 'mksched fails'
head -c $(($(stat -c %s "$scratch/large.trx") / 2)) "$scratch/large.trx" >"$scratch/half.trx"
"$tool" merge -o "$scratch/loops.trx" "$scratch/whole.trx" "$scratch/looped.trx" 2>"$scratch/err" ||
	complain "merge fails: $(cat "$scratch/err")"
"$tool" export --to trx -o "$scratch/buffer.trx" "$scratch/large.trx" 2>"$scratch/err" ||
	complain "export fails: $(cat "$scratch/err")"
check facts "$@" "$scratch/looped.trx" "$scratch/half.trx" "$scratch/loops.trx" "$scratch/buffer.trx"
check damage "$scratch/large.trx"
check damage "$scratch/buffer.trx"
if "$python" -c 'import numpy' 2>/dev/null; then
	"$tests/python/described" "$scratch/none.trx" 0 <"$top/tests/python/descriptions.txt" || complain 'described fails'
	check arrays "$@" "$scratch/none.trx"
else
	echo 'SKIP arrays: Python has no numpy (Debian: apt-get install python3-numpy)'
fi

# Files that others made to do harm, and copies of good files with random damage.
mkdir "$scratch/hostile"
"$tests/fuzz/seeds" "$scratch/hostile" || complain 'seeds fails'
cp "$top"/tests/fuzz/findings/* "$scratch/hostile"
seed=$(date +%s)
echo "seed $seed"
"$python" "$top/tests/python/damage.py" "$seed" "$scratch/hostile" "$@" "$samples/threadx.trx" || complain 'damage.py fails'
check hostile "$scratch"/hostile/*

if "$python" -m mypy --version >/dev/null 2>&1; then
	nr_checks=$((nr_checks + 1))
	(cd "$scratch" && "$python" -m mypy --strict --ignore-missing-imports --cache-dir="$scratch/mypy" \
		"$top/python/txtrace") >"$scratch/types" || complain "the types of the module: $(cat "$scratch/types")"
else
	echo 'SKIP types: mypy is missing (Debian: apt-get install mypy)'
fi
finish
