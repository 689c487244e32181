#!/bin/sh
# SPDX-License-Identifier: MIT
# Logs that were cut or damaged, and logs of a newer version.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams
own_account
log=$scratch/log.trx
cut=$scratch/cut.trx

"$account" record -l "$log" -p append -r 4000000 -n 3000 -u 1 "$record" || complain "the program exits with $?"
counted -a "$log"
size=$(stat -c %s "$log")

# said TEXT
said()
{
	grep -qF -e "$1" "$scratch/said" || complain "$what does not say '$1': $(cat "$scratch/said")"
}

# word OFFSET: a word of the header of the image
word()
{
	od -An -tu4 -j "$1" -N 4 "$log" | tr -d ' '
}

# The end of the registry of the image.  The number of its slots differs from log to log.
registry_end=$(($(word 20) - $(word 8)))
head -c $((registry_end - 1)) "$log" >"$cut"
fails 2 'not a trace' print "$cut"

# The log is cut at any place after the image: the commands show all that is complete, and their messages are true.
state=$(date +%s)
echo "seed $state"
for round in $(seq 40); do
	state=$(((state * 1103515245 + 12345) % 2147483648))
	bytes=$((registry_end + state % (size - registry_end - 1)))
	head -c "$bytes" "$log" >"$cut"
	counted -d "$cut"
	what="print of $bytes bytes of $size"
	nr_checks=$((nr_checks + 1))
	"$tool" print --format csv "$cut" >"$scratch/out" 2>"$scratch/said" || complain "$what fails"
	[ "$(wc -l <"$scratch/said")" -eq 1 ] || complain "$what says: $(cat "$scratch/said")"
	grep -q 'POSIX section is lost' "$scratch/said" || said "cut after $bytes bytes of"
	# The image has the tick, so times are not 10 times too long.
	"$tool" info "$scratch/cut.trx" 2>/dev/null | grep -q '^tick  *100 ns$' ||
		complain "cut after $bytes bytes: another tick"
	said "$(($(wc -l <"$scratch/out") - 1)) events shown"
	said 'the rest is lost'
done

# Half of the frames: each command reports this, also info and recover.
frames=$((size * 85 / 100))
head -c "$frames" "$log" >"$cut"
what=print
"$tool" print --format csv "$cut" 2>"$scratch/said" | tail -n +2 | wc -l >"$scratch/shown"
said "cut after $frames bytes of $size: $(cat "$scratch/shown") events shown, the rest is lost; at least "
for command in info report blocked locks; do
	nr_checks=$((nr_checks + 1))
	what=$command
	"$tool" "$command" "$cut" >/dev/null 2>"$scratch/said" || complain "$command fails"
	said 'the rest is lost'
done
"$tool" info "$cut" 2>/dev/null | grep -q '^complete *no: it is cut' || complain 'info does not say that it is cut'
"$tool" check "$cut" >/dev/null 2>&1 && complain 'check finds nothing in a log that was cut'
# No command takes it for whole.
nr_checks=$((nr_checks + 5))
"$tool" report "$cut" 2>/dev/null | grep -q 'lost: nothing$' && complain 'report says of a log that was cut that nothing is lost'
"$tool" report "$cut" 2>/dev/null | grep -q ' events could not be read$' || complain 'report does not tell what cannot be read'
"$tool" report --format csv "$cut" 2>/dev/null | grep '^losses,' | grep -q ',no,' ||
	complain 'report --format csv takes a log for complete that was cut'
"$tool" diff --fail-if 'lost>0' "$log" "$cut" >/dev/null 2>&1
[ $? -eq 1 ] || complain 'diff --fail-if does not count what cannot be read'
timeout 20 "$tool" follow "$cut" 2>"$scratch/said" >/dev/null
grep -q 'events could not be read: the file is damaged there' "$scratch/said" ||
	complain "follow of a log that was cut says $(cat "$scratch/said")"

what=recover
"$tool" recover "$cut" >"$scratch/said" 2>&1
[ $? -eq 1 ] || complain "recover does not exit with 1"
said "cut after $frames bytes of $size: $(cat "$scratch/shown") events are in $scratch/cut.whole.trx"
counted -d "$scratch/cut.whole.trx"
[ "$("$tool" print --format csv "$scratch/cut.whole.trx" 2>"$scratch/said" | tail -n +2 |
	wc -l)" -eq "$(cat "$scratch/shown")" ] ||
	complain 'recover loses events'
[ "$(wc -l <"$scratch/said")" -eq 1 ] && grep -q 'it lacks at least [1-9][0-9]* events that were recorded' "$scratch/said" ||
	complain "a recovered log says something else: $(cat "$scratch/said")"
"$tool" check "$scratch/cut.whole.trx" | grep -q 'shows it correctly' ||
	complain 'TraceX would not show a recovered log'
fails 2 'exists' recover "$cut"
# If no event of those that are in the file is missing, there may have been others.
nr_checks=$((nr_checks + 2))
head -c $((size - 10)) "$log" >"$scratch/end.trx"
"$tool" recover --force -o "$scratch/other.trx" "$scratch/end.trx" >/dev/null 2>&1
"$tool" info "$scratch/other.trx" 2>/dev/null | grep -q '^lost: log *0$' || complain 'an end without events had some'
"$tool" report "$scratch/other.trx" 2>/dev/null | grep -q 'the log lacks events that were recorded, it is not known how many' ||
	complain 'a recovered log whose end was cut does not say that it may lack events'
"$tool" recover --force -o "$scratch/other.trx" "$cut" >/dev/null
cmp -s "$scratch/other.trx" "$scratch/cut.whole.trx" || [ -s "$scratch/other.trx" ] ||
	complain 'recover -o writes nothing'

# at OFFSET BYTES FILE: write these bytes at this offset
at()
{
	printf '%b' "$2" | dd of="$3" bs=1 seek="$1" conv=notrunc 2>/dev/null
}

# Damage in a frame, in the commit, and in the header of the image.  Both logs are tight (lib/log/format.h): the header
# takes 1024 bytes, and the commit 512.
section=$(grep -abo PXTXLOG1 "$log" | head -1 | cut -d: -f1)
cp "$log" "$cut"
at $((section + 1536 + 20000)) '\377\377\377\377\377\377\377\377' "$cut"
counted -d "$cut"
what='print of a damaged frame'
"$tool" print "$cut" 2>"$scratch/said" >/dev/null
said 'events could not be read: the file is damaged there'
fails_check=0
"$tool" check "$cut" >"$scratch/said" 2>/dev/null || fails_check=$?
[ "$fails_check" -eq 1 ] || complain "check of a damaged frame ends with $fails_check"
said 'events of the log cannot be read: their part of the file is damaged (log-damaged)'
cp "$log" "$cut"
at $((section + 1024 + 8)) '\377\377\377\377\377\377\377\377' "$cut"
counted -d "$cut"
what='print of a damaged commit'
"$tool" print --format csv "$cut" 2>"$scratch/said" >"$scratch/out"
said 'damaged: '
"$tool" print --format csv "$log" | cmp -s - "$scratch/out" ||
	complain 'a log whose commit is damaged is read as something else'

# Damage in the middle of a log of several chapters: the commands show the rest, and count the missing events.
short_record=$record short_section=$section
record=$scratch/long
"$account" record -l "$scratch/long.trx" -p append -n 40000 -u 1 "$record" || complain "the program exits with $?"
total=$("$tool" print --format csv "$scratch/long.trx" | tail -n +2 | wc -l)
frames=$(grep -abo PXF1 "$scratch/long.trx" | cut -d: -f1)
nr_frames=$(echo "$frames" | wc -l)
[ "$nr_frames" -ge 20 ] || complain "only $nr_frames frames"
zeros='\000\000\000\000\000\000\000\000'
# The parts of a header: its magic number, its position, its sizes; the whole header; and a byte of the body.
for part in "0 \\377" "8 \\377\\377" "32 \\377\\017" "24 \\001\\000" "0 $zeros$zeros$zeros$zeros$zeros$zeros" \
	"60 \\252\\125\\252"; do
	nr_checks=$((nr_checks + 1))
	at_frame=$(echo "$frames" | sed -n "$((nr_frames / 3))p")
	cp "$scratch/long.trx" "$cut"
	at $((at_frame + ${part%% *})) "${part#* }" "$cut"
	what="print with damage at $part"
	"$tool" print --format csv "$cut" 2>"$scratch/said" >"$scratch/out" || complain "$what fails"
	shown=$(($(wc -l <"$scratch/out") - 1))
	said "$((total - shown)) events could not be read: the file is damaged there"
	[ "$shown" -ge $((total - 9000)) ] && [ "$shown" -lt "$total" ] || complain "$what shows $shown of $total"
	counted -d "$cut"
	what="recover with damage at $part"
	rm -f "$scratch/cut.whole.trx"
	"$tool" recover "$cut" >"$scratch/said" 2>&1
	[ $? -eq 1 ] || complain "$what does not exit with 1"
	said "damaged: $shown events are in $scratch/cut.whole.trx, the rest is lost; at least $((total - shown))"
	[ "$("$tool" print --format csv "$scratch/cut.whole.trx" 2>/dev/null | tail -n +2 | wc -l)" -eq "$shown" ] ||
		complain "$what loses events"
done

# What is written has the number, too.
nr_checks=$((nr_checks + 4))
"$tool" export --to html -o - "$cut" 2>/dev/null | grep -q "\"missing\":$((total - shown)),\$" ||
	complain 'export --to html does not tell what could not be read'
"$tool" info "$cut" 2>/dev/null | grep -q "^not readable  *$((total - shown))\$" ||
	complain 'info has no number of missing events'
"$tool" export --to chrome -o - "$cut" 2>/dev/null | grep -q "\"lost in all: .*, $((total - shown)) not readable\"" ||
	complain 'export --to chrome does not tell what could not be read'
if has_program babeltrace2 'missing events in CTF' &&
	"$tool" export --to ctf -o "$scratch/ctf" "$cut" 2>"$scratch/err"; then
	babeltrace2 "$scratch/ctf" 2>&1 >/dev/null | grep -q "discarded $((total - shown)) events" ||
		complain 'export --to ctf does not tell what could not be read'
fi

# The commit, and a frame.
cp "$scratch/long.trx" "$cut"
at $((at_frame + 8)) '\377\377' "$cut"
section=$(grep -abo PXTXLOG1 "$cut" | head -1 | cut -d: -f1)
at $((section + 1024 + 8)) '\377\377\377\377\377\377\377\377' "$cut"
[ "$("$tool" print --format csv "$cut" 2>/dev/null | tail -n +2 | wc -l)" -ge $((total - 9000)) ] ||
	complain 'a log without commit ends at its first damaged frame'
record=$short_record section=$short_section

# A newer version: each command that reads logs reports both version numbers, and changes nothing.
cp "$log" "$cut"
at $((section + 8)) '\377\000\000\000' "$cut"
newer='written by a newer posixtrace (format 255); this one reads formats up to 3'
cp "$cut" "$scratch/newer.trx"
for command in print info blocked locks why report follow pack recover 'export --to ctf' 'diff -q' merge; do
	case $command in
	diff*) fails 2 "$newer" diff "$log" "$cut" ;;
	merge) fails 2 "$newer" merge -o "$scratch/merged.trx" "$log" "$cut" ;;
	*) fails 2 "$newer" $command "$cut" ;;
	esac
done
"$tool" check "$cut" | grep -qF "$newer" || complain 'check does not know a newer version'
cmp -s "$cut" "$scratch/newer.trx" || complain 'a command changes a log of a newer version'
finish
