#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace check: a valid trace buffer, and one with each fault, in both byte orders.
. "${srcdir:-.}/tests/tool/lib.sh"

secondview=$(pwd)/tests/tool/secondview

bad_files check
fails 2 'takes one file' check
fails 2 '--format takes' check --format csv "$scratch/empty"
fails 2 'not a trace' check "$top/README"

# The offsets in the buffer of the next function: objects at 0x30, 0x60, 0x90, events from 0xc0 on.
right()
{
	cat <<-END
	$1
	object 1 0x1001 5 alpha
	object 1 0x1002 6 beta
	object 5 0x5001 0 a mutex
	END
	events
}

events()
{
	i=0
	while [ $i -lt 4 ]; do
		cat <<-END
		event 0x1001 4100 $((i * 100 + 10))
		event 0x1001 52 $((i * 100 + 20)) 0x5001 0 0 0
		event 0x1001 2 $((i * 100 + 30)) 0x1001 4 0 0x1002
		event 0x1002 1 $((i * 100 + 40)) 0x1001 4 0 0x1002
		event 0x1002 4101 $((i * 100 + 50))
		event 0xFFFFFFFF 3 $((i * 100 + 60))
		event 0xFFFFFFFF 4 $((i * 100 + 70))
		event 0x1001 57 $((i * 100 + 80)) 0x5001 0x1001 1 0
		END
		i=$((i + 1))
	done
}

# found FILE [ARGUMENT...]: print the rules that a file breaks, each with its severity and offset
found()
{
	"$tool" check --format json "$@" >"$scratch/json" 2>"$scratch/err"
	echo $? >"$scratch/code"
	sed -n 's/.*"rule": "\([a-z-]*\)", "severity": "\([a-z]*\)".*"offset": \([0-9a-z]*\),.*/\2 \1 \3/p' \
		"$scratch/json"
}

# planted SEVERITY RULE OFFSET LINE...: these lines change the valid file; check must find this fault.
planted()
{
	severity=$1
	rule=$2
	offset=$(($3))
	shift 3
	for order in "" big; do
		nr_checks=$((nr_checks + 1))
		{ right "$order"; printf '%s\n' "$@"; } | "$mktrx" >"$scratch/planted"
		found "$scratch/planted" --strict >"$scratch/found"
		grep -qx "$severity $rule $offset" "$scratch/found" ||
			complain "$rule ($order): no $severity at $offset, but: $(tr '\n' ';' <"$scratch/found")"
		[ "$(cat "$scratch/code")" -eq 1 ] || complain "$rule: check --strict does not exit with 1"
		[ -z "$order" ] || continue
		expected=$(grep -c '^error' "$scratch/found")
		"$tool" check "$scratch/planted" >"$scratch/out"
		[ $? -eq $((expected > 0)) ] || complain "$rule: check does not exit with $((expected > 0))"
		echo "$rule" >>"$scratch/rules"
	done
}

for order in "" big; do
	right "$order" | "$mktrx" >"$scratch/right$order.trx"
	nr_checks=$((nr_checks + 1))
	[ -z "$(found "$scratch/right$order.trx")" ] ||
		complain "what is right ($order): $(found "$scratch/right$order.trx")"
	"$tool" check --strict "$scratch/right$order.trx" >"$scratch/out" ||
		complain "what is right does not pass ($order)"
done

# The header.
planted error header-cut 20 'size 20'
planted error header-cut 47 'size 47'
planted error name-size 18 'poke 18 2 64'
planted error mask 4 'poke 4 4 0xFFFF0000'
planted error mask 4 'poke 4 4 999999999'
planted error registry-size 20 'poke 20 4 0x10030'
planted error registry-size 20 'poke 20 4 0x100'
planted error registry-slack 20 'poke 20 4 0x1003f'
planted error registry-slack 20 'poke 20 4 0x100c8'
planted warning registry-gap 12 'poke 12 4 0x10040'
planted error buffer-size 28 'poke 28 4 0x100c0'
planted error buffer-size 28 'poke 28 4 0x80100c0'
planted warning buffer-slack 28 'poke 28 4 0x104c4'
planted warning buffer-gap 24 'poke 24 4 0x100e0'
planted warning current 32 'poke 32 4 0x100c4'
planted warning current 32 'poke 32 4 0x104c0'
# The registry.
planted error registry-cut 0xb0 'size 0xb0'
planted error handle-reserved 0x64 'poke 0x64 4 0xFFFFFFFF'
planted error handle-reserved 0x64 'poke 0x64 4 0'
planted error thread-twice 0x64 'poke 0x64 4 0x1001'
planted warning handle-twice 0x94 'poke 0x94 4 0x1001'
planted warning name-lost 0x70 'poke 0x70 1 0xC3'
planted warning name-lost 0x70 'poke 0x70 1 0'
planted warning name-character 0x72 'poke 0x72 1 0x28'
planted warning name-character 0x72 'poke 0x72 1 0x5F'
planted warning name-character 0x72 'poke 0x72 1 0xFC'
planted warning name-cut 0x70 'poke 0x70 8 0x4141414141414141' 'poke 0x78 8 0x4141414141414141' \
	'poke 0x80 8 0x4141414141414141' 'poke 0x88 8 0x4141414141414141'
planted warning name-twice 0xa0 'poke 0xa0 8 0x41' 'poke 0x70 8 0x41'
planted warning no-thread 0x30 'poke 0x31 1 2' 'poke 0x61 1 2'
# The events.
planted error buffer-cut 0x4b0 'size 0x4b0'
planted error hole 0x120 'poke 0x120 4 0'
planted error hole 0x120 'poke 0x120 4 0' 'poke 32 4 0x10200'
planted warning current 32 'poke 32 4 0x104a0' 'poke 0x480 4 0' 'poke 0x4a0 4 0'
planted warning no-event 0xc0 'poke 0xc0 4 0'
planted error one-event 0xc0 'poke 0xe0 4 0'
planted error context-no-thread 0x140 'poke 0x140 4 0x5001'
planted warning context-unnamed 0x140 'poke 0x140 4 0x7777'
planted warning context-reserved 0x140 'poke 0x140 4 0xF0F0F0F5'
planted warning id-unknown 0x148 'poke 0x148 4 3000'
planted warning state 0x114 'poke 0x114 4 14'
planted warning next-unnamed 0x11c 'poke 0x11c 4 0x7777'
planted warning mutex-unnamed 0xf0 'poke 0xf0 4 0x7777'
planted warning mutex-unnamed 0xf8 'poke 0xf8 4 0x7777'
# Time: stamps are at 0xcc, 0xec, 0x10c, ...
planted error time-order 0x12c 'poke 0x12c 4 28'
planted warning time-gap 0x48c 'poke 0x48c 4 0x90000000' 'poke 0x4ac 4 0x90000001'
planted warning time-gap 0x20c 'poke 0x1ec 4 0x50000000' 'poke 0x1cc 4 0x4fffffff'
planted warning clock-range 4 'poke 0x1ec 4 999999999' 'poke 0x1cc 4 999999998'
# No clock: all stamps are 0.
planted warning time-static 0xcc 'poke 4 4 0'

# Faults that need other events. The script writes the description to a file, because a pipe would hide failures.
shaped()
{
	severity=$1
	rule=$2
	offset=$(($3))
	nr_checks=$((nr_checks + 1))
	"$mktrx" <"$scratch/description" >"$scratch/shaped"
	found "$scratch/shaped" >"$scratch/found"
	grep -qx "$severity $rule $offset" "$scratch/found" ||
		complain "$rule: no $severity at $offset, but: $(tr '\n' ';' <"$scratch/found")"
	echo "$rule" >>"$scratch/rules"
}

not_shaped()
{
	nr_checks=$((nr_checks + 1))
	"$mktrx" <"$scratch/description" >"$scratch/shaped"
	found "$scratch/shaped" >"$scratch/found"
	! grep -q " $1 " "$scratch/found" || complain "$1: $(tr '\n' ';' <"$scratch/found")"
}

thread='object 1 0x1001 5 alpha'
events_of()
{
	echo "$thread"
	for stamp in "$@"; do
		echo "event 0x1001 4100 $stamp"
	done
}

events_of 100 150 >"$scratch/description"
shaped error time-direction 0x6c
events_of 100 150 150 >"$scratch/description"
shaped error time-direction 0x6c
events_of 900 800 700 600 >"$scratch/description"
shaped warning time-falls 0x6c
events_of 10 20 30 0x90000000 10 0x90000000 10 0x90000000 10 40 50 60 >"$scratch/description"
shaped warning time-doubtful 0x6c
{ events_of 10 20 30; echo 'names 30'; } >"$scratch/description"
shaped warning name-padding 18
{ printf '%s\n' 'object 0 0 0' 'event 0xFFFFFFFF 3 10' 'event 0xFFFFFFFF 4 20' 'event 0xF0F0F0F0 4100 30'; } \
	>"$scratch/description"
shaped error no-object 0x30
{ echo "$thread"; for i in 1 2 3 4; do echo "event 0x1001 2 $((10 * i)) 0x1001 4 0 0x1001"; done; } \
	>"$scratch/description"
shaped error status-overrun 0x30
# TraceX has 4 bytes for each event. It needs 8 for each change, and 8 for the time before the first one: 16 for 3
# events.
{ echo "$thread"; echo 'event 0x1001 4100 1'; echo 'event 0x1001 2 2 0x1001 4 0 0x1001'; echo 'event 0x1001 4100 3'; \
	} >"$scratch/description"
shaped error status-overrun 0x30
echo 'event 0x1001 4100 4' >>"$scratch/description"
not_shaped status-overrun
# A Running event counts, too.
{ echo "$thread"; echo 'object 1 0x1002 6 beta'; echo 'event 0x1001 4100 1'; echo 'event 0x1001 2 2 0x1001 4 0 0'
	echo 'event 0x1002 4100 3'; } >"$scratch/description"
not_shaped status-overrun

# Which thread runs.
{ printf '%s\n' "$thread" 'object 1 0x1002 6 beta' 'object 1 0x1003 6 nobody' 'event 0x1001 4100 1' \
	'event 0x1002 4100 2'
	echo 'event 0x1001 2 3 0x1001 4 0 0x1001'; } >"$scratch/two"
{ cat "$scratch/two"; echo 'event 0x1002 4100 4'; } >"$scratch/description"
shaped warning suspend-self $((0x30 + 3 * 48 + 2 * 32 + 28))
{ cat "$scratch/two"; echo 'event 0x1001 4100 4'; } >"$scratch/description"
not_shaped suspend-self
{ sed 's/0x1001$/0x1002/' "$scratch/two"; echo 'event 0x1001 1 4 0x1002 4 0 0x1002'; echo 'event 0x1002 4100 5'; } \
	>"$scratch/description"
not_shaped resume-sleeper
{ sed 's/0x1001$/0x1002/' "$scratch/two"; echo 'event 0x1002 4100 4'; echo 'event 0x1001 1 5 0x1002 4 0 0x1002'
	echo 'event 0x1002 4100 6'; } >"$scratch/description"
shaped warning resume-sleeper $((0x30 + 3 * 48 + 4 * 32))
{ printf '%s\n' "$thread" 'object 1 0x1003 6 nobody' 'event 0x1001 4100 1' 'event 0x1001 4100 2' 'event 0x1003 4100 3'
	echo 'event 0x1001 4100 4'; } >"$scratch/description"
shaped warning no-thread-time $((0x30 + 2 * 48 + 32 + 12))
sed -i 's/0x1003 4100 3/0x1003 4100 2/' "$scratch/description"
not_shaped no-thread-time
{ i=0; while [ $i -lt 201 ]; do echo "object 1 $((4096 + i)) 5 thread $i"; i=$((i + 1)); done
	for i in 1 2 3; do echo "event 4096 4100 $i"; done; } >"$scratch/description"
shaped warning many-threads 0x30

{ echo "$thread"; echo 'event 0x1001 4100 1'; echo 'repeat 200001'; } >"$scratch/description"
shaped warning many-events 0x60
{ echo "$thread"; echo 'event 0xFFFFFFFF 1 1 0x1001 4 0 0'; echo 'repeat 10001'
	echo 'event 0x1001 4100 10002'; echo 'repeat 10002'; } >"$scratch/description"
shaped warning many-resumes 0x60
{ echo 'names 4'; echo "$thread"; echo 'object 5 0x2000 0 o'; echo 'repeat 131073'
	for i in 1 2 3; do echo "event 0x1001 4100 $i"; done; } >"$scratch/description"
shaped warning many-objects $((48 + 131072 * 20))

# A sparse file that claims 53 million slots: only the first ones are checked.
word()
{
	# shellcheck disable=SC2059  # the format is the word
	printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)))"
}
end=$((48 + 53000000 * 48))
{ printf 'BTXT\377\377\377\377'; word 0; word 48; printf '\0\0\40\0'
	for value in $end $end $((end + 64)) $end 0 0 0; do word "$value"; done; } >"$scratch/sparse.trx"
truncate -s $end "$scratch/sparse.trx"
for stamp in 1 2; do
	for value in 4097 8 4100 $stamp 0 0 0 0; do word "$value"; done
done >>"$scratch/sparse.trx"
[ "$(found "$scratch/sparse.trx" | grep many-objects)" = "warning many-objects $((48 + (1 << 20) * 48))" ] ||
	complain "a sparse file: $(found "$scratch/sparse.trx" | tr '\n' ' ')"
rm -f "$scratch/sparse.trx"

# The file itself.
cp "$scratch/right.trx" "$scratch/$(printf 'r\303\274hrt').trx"
[ "$(found "$scratch/"r*hrt.trx)" = 'warning path null' ] || complain 'path: a name that is not ASCII is not found'
echo path >>"$scratch/rules"

# A log: its images are valid; without the section after them, the file is not a log any more.
TXTRACE_DIR=$scratch
export TXTRACE_DIR
# entries_offset FILE OFFSET, image_size FILE OFFSET: of the image at this offset
entries_offset()
{
	# shellcheck disable=SC2046  # the words of its header
	set -- $(od -An -tu4 -j "$2" -N 48 "$1")
	echo $((48 + $6 - $4))
}
image_size()
{
	# shellcheck disable=SC2046
	set -- $(od -An -tu4 -j "$2" -N 48 "$1")
	echo $((48 + $8 - $4))
}
"$(pwd)/tests/tool/mklog" "$scratch/log" 100 40 worker || complain 'no log could be written'
[ -z "$(found "$scratch/log")" ] || complain "a log: $(found "$scratch/log")"
"$tool" check "$scratch/log" | grep -q 'posixtrace log, .* TraceX shows it correctly' || complain 'a log is not seen as one'
head -c "$(image_size "$scratch/log" 0)" "$scratch/log" >"$scratch/cutlog"
[ "$(found "$scratch/cutlog")" = 'error posix null' ] || complain "a log without its section: $(found "$scratch/cutlog")"
echo posix >>"$scratch/rules"
rm "$scratch/cutlog"

# A log of two volumes: TraceX shows only the first one, and check finds faults in the second one, too. The second
# volume begins on a page, like the first.
nr_checks=$((nr_checks + 4))
"$(pwd)/tests/tool/mklog" "$scratch/log" 1100000 16 worker 90000000 || complain 'no log could be written'
found "$scratch/log" >"$scratch/found"
entries=$(entries_offset "$scratch/log" 0)
printf 'warning many-events %s\nwarning log-volumes null\n' "$entries" | cmp -s - "$scratch/found" ||
	complain "two volumes: $(cat "$scratch/found")"
echo log-volumes >>"$scratch/rules"
of_first=$(sed -n 's/.*"shown": \([0-9]*\),.*/\1/p' "$scratch/json")
of_all=$(sed -n 's/.*"entries": \([0-9]*\),.*/\1/p' "$scratch/json")
"$tool" check "$scratch/log" | grep -q "TraceX shows $of_first of $of_all entries; 0 errors, 2 warnings" &&
	[ "$of_first" -lt "$of_all" ] && [ "$of_all" -gt 1100000 ] ||
	complain "of two volumes: $("$tool" check "$scratch/log")"
volume=$(LC_ALL=C grep -abo BTXT "$scratch/log" | sed -n '2s/:.*//p')
entries=$(entries_offset "$scratch/log" "$volume")
printf '\303' | dd of="$scratch/log" bs=1 seek=$((volume + 48 + 16)) conv=notrunc 2>/dev/null
printf '\0\0\0\0' | dd of="$scratch/log" bs=1 seek=$((volume + entries + 320)) conv=notrunc 2>/dev/null
"$tool" check "$scratch/log" >"$scratch/out"
[ $? -eq 1 ] && grep -q "^error .*0x$(printf %x $((volume + entries + 320)))  volume 2: after an unused slot there are" "$scratch/out" &&
	grep -q "^warning .*0x$(printf %x $((volume + 64)))  volume 2: the name of" "$scratch/out" ||
	complain "the second volume: $(cat "$scratch/out")"
rm "$scratch/log"

# Text: check finds the same faults at the same offsets, and the faults that only a text can have.
hex=$(od -An -v -tx1 <"$scratch/right.trx" | tr -d ' \n')
echo "$hex" >"$scratch/bare"
[ -z "$(found "$scratch/bare")" ] || complain "bare digits: $(found "$scratch/bare")"
echo "$hex" | sed 's/^\(.\{480\}\).*/\1/' >"$scratch/bare"
[ "$(found "$scratch/bare")" = 'error buffer-cut 240' ] || complain "bare digits, cut: $(found "$scratch/bare")"
# 32 bytes a line, with an address and a sum.
records()
{
	od -An -v -tu1 -w32 "$scratch/right.trx" | awk '{
		address = (NR - 1) * 32
		line = sprintf("%02X%04X00", NF, address)
		sum = NF + int(address / 256) + address % 256
		for (i = 1; i <= NF; i++) { line = line sprintf("%02X", $i); sum += $i }
		printf ":%s%02X\n", line, (256 - sum % 256) % 256
	} END { print ":00000001FF" }'
}
records >"$scratch/intel"
[ -z "$(found "$scratch/intel")" ] || complain "Intel HEX: $(found "$scratch/intel")"
records | sed '3s/..$/00/' >"$scratch/intel"
[ "$(found "$scratch/intel")" = 'warning text-checksum null' ] || complain "a wrong checksum: $(found "$scratch/intel")"
"$tool" check "$scratch/intel" | grep -q 'line 3 ' || complain 'no finding has the line of the wrong checksum'
records | sed '5d' >"$scratch/intel"
found "$scratch/intel" | grep -qx 'error text-order null' || complain "a missing line: $(found "$scratch/intel")"
printf '%s\n' text-order text-checksum >>"$scratch/rules"

# The other checker of this project finds the same, with any bytes.
if [ -x "$secondview" ]; then
	seed=0
	while [ $seed -lt 100 ]; do
		seed=$((seed + 1))
		nr_checks=$((nr_checks + 1))
		{ right "$([ $((seed % 2)) -eq 1 ] && echo big)"; echo "scramble $seed"; } | "$mktrx" >"$scratch/scrambled"
		"$secondview" "$scratch/scrambled" >"$scratch/second"
		{ found "$scratch/scrambled" || echo 'error refused -'; grep -q 'not a trace' "$scratch/err" && echo 'error refused -'; } |
			awk '
			$2 ~ /^(refused|header-cut|name-size|registry-size|registry-cut|buffer-size|buffer-cut)$/ { refused = 1 }
			$2 == "thread-twice" { $2 = "handle-twice" }
			$2 == "context-reserved" { $2 = "handle-reserved" }
			$2 ~ /^time-(falls|static|direction)$/ { $2 = "time-falls" }
			$2 ~ /^(context-no-thread|context-unnamed|handle-reserved|handle-twice|mask|name-character|name-lost|name-twice|registry-slack|time-falls)$/ {
				print $2 }
			END { if (refused) print "refused" }' | sort -u >"$scratch/first"
		! grep -q refused "$scratch/first" || echo refused >"$scratch/first"
		cmp -s "$scratch/first" "$scratch/second" || complain "seed $seed: $(tr '\n' ' ' <"$scratch/first"), but the other checker: $(tr '\n' ' ' <"$scratch/second")"
	done
fi

# The tests have broken each rule once, and the manual describes each rule.
sed -n 's/^PX_RULE(\([a-z_]*\),.*/\1/p' "$top/bin/check/rules.def" | tr _ - | while read -r rule; do
	[ "$rule" = log-unnamed ] || [ "$rule" = log-unlisted ] || # unnamed.sh breaks them
		[ "$rule" = log-time ] || # version2.sh breaks it
		[ "$rule" = log-damaged ] || # salvage.sh breaks it
		[ "$rule" = log-sent ] || # pipe.sh breaks it
		grep -qx "$rule" "$scratch/rules" || echo "the rule $rule is not tested"
	grep -q "^\.It Cm $rule\$" "$top/doc/man/txtrace-check.1" || echo "the manual does not tell of the rule $rule"
done >"$scratch/missing"
[ ! -s "$scratch/missing" ] || complain "$(cat "$scratch/missing")"

make_samples
for sample in threadx filex netx_tcp; do
	golden "check-$sample" check "$samples/$sample.trx"
done
golden check-json check --format json "$samples/netx_udp.trx"
if has_program python3 'check --format json is JSON'; then
	python3 -m json.tool "$golden_dir/check-json" >/dev/null || complain 'check --format json is no JSON'
fi
finish
