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

first_ns()
{
	"$tool" print --format csv --columns ns "$@" | tr -d '\r' | sed -n 2p
}

# corrections FILE: what was added to the times and the uncertainty of each file of a merged log
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
grep -q 'a.trx, b.trx: how far the times are from those of other hosts is not known, because these files do not' err || complain "unknown clocks: $(cat err)"
[ "$(corrections m.trx)" = 'shift_ns:0 uncertainty_ns:null shift_ns:0 uncertainty_ns:null ' ] ||
	complain "unknown clocks: $(corrections m.trx)"
"$tool" merge --force -o m.trx a.trx old.trx 2>err || complain "merge with an old log: $(cat err)"

# Clocks that were synchronized stay as they are; the error of each is known.
"$mkclocks" a.trx 0,0,50,1000000 1000000000,0,50,1200000 && "$mkclocks" b.trx 0,0,50,30000000 500000000,10,50,2000000 ||
	complain 'mkclocks fails'
nr_checks=$((nr_checks + 3))
"$tool" info b.trx | grep -Eq '^wall clock .* at most (2|[3-9])\.?[0-9]* ms from UTC' || complain "info: $("$tool" info b.trx | grep wall)"
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
grep -q 'the times of all files are at most .* from UTC' err || complain "known clocks: $(cat err)"
corrections m.trx | awk -F '[: ]' '{ is_right = ($2 == 0 && $4 > 1000000 && $4 < 2300000 && $6 == 0 && $8 >= 2000000 && $8 < 4000000) } END { exit !is_right }' ||
	complain "known clocks: $(corrections m.trx)"

# A clock that was set back, after which it was right: the whole log has the times of the new setting.
"$mkclocks" b.trx 0,0,50,-1 100000000,-1500000000,50,1000000 200000000,-1500000000,50,1000000 || complain 'mkclocks fails'
nr_checks=$((nr_checks + 4))
"$tool" info b.trx | grep -Eq '^wall clock .* set back by 1.5 s, at most .* from UTC' ||
	complain "info of a clock that was set: $("$tool" info b.trx | grep wall)"
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
grep -q 'b.trx: its wall clock was set back by 1.5 s during the recording' err || complain "a clock that was set: $(cat err)"
moved=$(($(first_ns -f host=beta m.trx) - $(first_ns b.trx) + 1500000000))
[ "${moved#-}" -le 1200000 ] || complain "a clock that was set back moves the times otherwise: by $moved ns more"
corrections m.trx | awk -F '[: ]' -v moved="${moved#-}" '{ is_right = ($8 != "null" && $8 >= moved && $8 < 3000000) }
	END { exit !is_right }' ||
	complain "a clock that was set: $(corrections m.trx), moved $moved"

# Another log of that host may have seen no setting.  It ended before the setting, began after it, or nobody knows.
cp a.trx c.trx
on_host c.trx beta 2
other_recording c.trx another-recordin 3
"$mkclocks" b.trx 0,0,50,-1 10000000000,0,50,-1 10000001000,9000000000,50,-1 || complain 'mkclocks fails'
for case in 0:9000000000 19000002000:0 15000000000:null; do
	cp c.trx other.trx
	"$mkclocks" other.trx "${case%:*},0,50,-1" "$((${case%:*} + 500)),0,50,-1" || complain 'mkclocks fails'
	nr_checks=$((nr_checks + 2))
	"$tool" merge --force -o m.trx b.trx other.trx 2>err || complain "merge: $(cat err)"
	moved=$(corrections m.trx | sed 's/.*shift_ns:\([-0-9]*\) .*/\1/')
	if [ "${case#*:}" = null ]; then
		grep -q 'other.trx: its wall clock was set before or after' err && [ "$moved" -eq 0 ] ||
			complain "a log that may be of before or after a setting: moved $moved, $(cat err)"
	else
		[ "$moved" -eq "${case#*:}" ] || complain "another log of a host whose clock was set, from ${case%:*} ns: moved $moved"
	fi
done

# Set without a time server: the newest setting counts, and nothing is known.
"$mkclocks" b.trx 0,0,50,-1 1000,5000000000,50,-1 2000,3600000000000,50,-1 3000,-250000000,50,-1 4000,7000000,50,-1 ||
	complain 'mkclocks fails'
nr_checks=$((nr_checks + 2))
"$tool" merge --force -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
[ $(($(first_ns -f host=beta m.trx) - $(first_ns b.trx))) -eq 7000000 ] || complain 'the newest setting does not count'
grep -q 'and before' err && corrections m.trx | grep -q 'uncertainty_ns:null $' || complain "many settings: $(cat err; corrections m.trx)"

# What the user says counts more, so nothing is said of that clock.
nr_checks=$((nr_checks + 2))
"$tool" merge --force --offset b.trx=1s -o m.trx a.trx b.trx 2>err || complain "merge: $(cat err)"
[ $(($(first_ns -f host=beta m.trx) - $(first_ns b.trx))) -eq 1000000000 ] || complain '--offset is not what counts'
grep -q 'the times of the files without --offset are at most .* from UTC' err && ! grep -q 'b.trx' err ||
	complain "the clock of a file with --offset is told of: $(cat err)"

# Readings that are damaged are none, and the log can be read without them.
at=$(header_at a.trx)
for byte in 180 200 250 300 350 400; do
	cp a.trx bad.trx
	for area in 1024 4096; do
		printf '\377' | dd of=bad.trx bs=1 seek=$((at + area + byte)) conv=notrunc 2>/dev/null
	done
	nr_checks=$((nr_checks + 2))
	"$tool" info bad.trx >out 2>err || complain "info of a log with another byte at $byte: $(cat err)"
	! grep '^wall clock' out || complain "info believes readings with another byte at $byte"
done
finish
