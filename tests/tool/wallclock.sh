#!/bin/sh
# SPDX-License-Identifier: MIT
# What merge and info make of the readings of the wall clock that logs have: hosts whose clocks a time server synchronized,
# those of which nothing is known, and clocks that were set during the recording.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
cd "$scratch" || exit 99
tests=$(dirname "$tool")/../tests/tool
mklog=$tests/mklog
mkclocks=$tests/mkclocks

# on_host FILE HOST NUMBER: see struct px_log_header
on_host()
{
	at=$(grep -abo 'PXTXLOG1' "$1" | head -1 | cut -d: -f1)
	printf '%016d' "$3" | dd of="$1" bs=1 seek=$((at + 48)) conv=notrunc 2>/dev/null
	printf '00000000-0000-0000-0000-00000000%04d' "$3" | dd of="$1" bs=1 seek=$((at + 112)) conv=notrunc 2>/dev/null
	{ printf '%s' "$2"; head -c $((64 - ${#2})) /dev/zero; } | dd of="$1" bs=1 seek=$((at + 152)) conv=notrunc 2>/dev/null
}

first_ns()
{
	"$tool" print --format csv --columns ns "$@" | tr -d '\r' | sed -n 2p
}

# correction FILE: the times and the uncertainty of each file of a merged log
corrections()
{
	"$tool" info --format json "$1" | tr , '\n' | tr -d ' "}]' | grep -E '^(shift_ns|uncertainty_ns):' | tr '\n' ' '
}

"$mklog" a.trx 100 24 worker || complain 'no log could be written'
cp a.trx b.trx
on_host a.trx alpha 1
on_host b.trx beta 2

# A log has readings of its own.
nr_checks=$((nr_checks + 2))
"$tool" info a.trx >info || complain 'info fails'
grep -Eq '^wall clock +read [0-9]+ times to within [0-9.]+ (ns|us), not set, ' info || complain "info: $(grep wall info)"
"$tool" info --format json a.trx | grep -q '"wall_clock_settings": *0' || complain 'info --format json lacks the wall clock'

# A log of an earlier version has none.
cp a.trx old.trx
on_host old.trx gamma 3
"$mkclocks" old.trx || complain 'mkclocks fails'
nr_checks=$((nr_checks + 1))
"$tool" info old.trx | grep -q '^wall clock' && complain 'info tells of a wall clock that the log does not have'

# Nothing is known of a clock that no time server synchronized.
"$mkclocks" a.trx 0,0,50,-1 && "$mkclocks" b.trx 0,0,50,-1 1000000,0,50,-1 || complain 'mkclocks fails'
nr_checks=$((nr_checks + 3))
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
grep -q 'a.trx, b.trx: how far the times are from those of other hosts is not known' err || complain "unknown clocks: $(cat err)"
[ "$(corrections m.trx)" = 'shift_ns:0 uncertainty_ns:null shift_ns:0 uncertainty_ns:null ' ] ||
	complain "unknown clocks: $(corrections m.trx)"
"$tool" merge --force -o m.trx a.trx old.trx 2>err || complain "merge with an old log: $(cat err)"

# Clocks that were synchronized stay as they are; the error of each is known.
"$mkclocks" a.trx 0,0,50,1000000 1000000000,0,50,1200000 && "$mkclocks" b.trx 0,0,50,30000000 500000000,10,50,2000000 ||
	complain 'mkclocks fails'
nr_checks=$((nr_checks + 3))
"$tool" info b.trx | grep -Eq '^wall clock .* from UTC by at most (2|[3-9])\.?[0-9]* ms' || complain "info: $("$tool" info b.trx | grep wall)"
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
grep -q 'the times of all files are at most .* from UTC' err || complain "known clocks: $(cat err)"
corrections m.trx | awk -F '[: ]' '{ is_right = ($2 == 0 && $4 > 1000000 && $4 < 2300000 && $6 == 0 && $8 >= 2000000 && $8 < 4000000) } END { exit !is_right }' ||
	complain "known clocks: $(corrections m.trx)"

# A clock that was set back, after which it was right: the whole log has the times of the new setting.
"$mkclocks" b.trx 0,0,50,-1 100000000,-1500000000,50,1000000 200000000,-1500000000,50,1000000 || complain 'mkclocks fails'
nr_checks=$((nr_checks + 4))
"$tool" info b.trx | grep -Eq '^wall clock .* set back by 1.5 s, from UTC by at most' ||
	complain "info of a clock that was set: $("$tool" info b.trx | grep wall)"
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
grep -q 'b.trx: its wall clock was set back by 1.5 s during the recording' err || complain "a clock that was set: $(cat err)"
moved=$(($(first_ns -f host=beta m.trx) - $(first_ns b.trx) + 1500000000))
[ "${moved#-}" -le 1200000 ] || complain "a clock that was set back moves the times otherwise: by $moved ns more"
corrections m.trx | awk -F '[: ]' -v moved="${moved#-}" '{ is_right = ($8 != "null" && $8 >= moved && $8 < 3000000) }
	END { exit !is_right }' ||
	complain "a clock that was set: $(corrections m.trx), moved $moved"

# Set without a time server: the newest setting counts, and nothing is known.
"$mkclocks" b.trx 0,0,50,-1 1000,5000000000,50,-1 2000,3600000000000,50,-1 3000,-250000000,50,-1 4000,7000000,50,-1 ||
	complain 'mkclocks fails'
nr_checks=$((nr_checks + 2))
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
[ $(($(first_ns -f host=beta m.trx) - $(first_ns b.trx))) -eq 7000000 ] || complain 'the newest setting does not count'
grep -q 'and before' err && corrections m.trx | grep -q 'uncertainty_ns:null $' || complain "many settings: $(cat err; corrections m.trx)"

# What the user says counts more.
nr_checks=$((nr_checks + 1))
"$tool" merge --force --offset b.trx=1s -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
[ $(($(first_ns -f host=beta m.trx) - $(first_ns b.trx))) -eq 1000000000 ] || complain '--offset is not what counts'

# Errors that contradict each other, and damage, are no reason to say more than is known.
"$mkclocks" b.trx 0,0,50,-1 1000,2000000000,9000000000000000,1 || complain 'mkclocks fails'
nr_checks=$((nr_checks + 2))
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
at=$(grep -abo 'PXTXLOG1' a.trx | head -1 | cut -d: -f1)
for byte in 180 200 250 300 350 400; do
	cp a.trx bad.trx
	for area in 1024 4096; do
		printf '\377' | dd of=bad.trx bs=1 seek=$((at + area + byte)) conv=notrunc 2>/dev/null
	done
	"$tool" info bad.trx >out 2>err
	[ $? -le 2 ] && ! grep -q 'runtime error' err || complain "info of a log with another byte: $(cat err)"
done
finish
