#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace pack: logs of 0.1.0, logs that another process has completed, and what happens to the file.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

: >"$scratch/empty"
fails 2 'No such file' pack "$scratch/missing"
fails 2 'is not a regular file' pack "$scratch"
fails 2 'is not a posixtrace log' pack "$scratch/empty"
fails 2 'is not a posixtrace log' pack "$top/README"
fails 2 'file required' pack
if [ "$(id -u)" -eq 0 ]; then
	what='a file that the user may not read'
	: >"$scratch/locked"
	chmod 0 "$scratch/locked"
	chmod 711 "$scratch"
	for option in '' "-o $scratch/x"; do
		nr_checks=$((nr_checks + 1))
		# shellcheck disable=SC2086  # an option with its argument, or nothing
		setpriv --reuid=65534 --regid=65534 --clear-groups "$tool" pack $option "$scratch/locked" \
			>"$scratch/out" 2>"$scratch/err"
		code=$?
		[ $code -eq 2 ] && grep -q 'locked: Permission denied$' "$scratch/err" ||
			complain "$what: pack $option exits with $code: $(cat "$scratch/err")"
	done
	rm "$scratch/locked"
else
	fails 2 'Permission denied' pack /proc/1/mem
fi
fails 2 'takes one file' pack -o "$scratch/x" "$scratch/empty" "$scratch/missing"

# If a log cannot be packed, it stays as it was, and no other file is left.
cmp -s "$scratch/empty" /dev/null || complain 'a file that is no log is changed'
[ "$(find "$scratch" -name '.*' -type f | wc -l)" -eq 0 ] || complain 'a temporary file is left'

size()
{
	stat -c %s "$1"
}

# contents FILE: the output of the commands that read it
contents()
{
	"$tool" print --format csv --columns ns,event,cpu,thread,address,hex "$1" 2>&1
	"$tool" report "$1" 2>&1
	"$tool" blocked "$1" 2>&1
	# TraceX shows the same entries.
	"$tool" export --to jsonl -o - "$1" 2>&1
	"$tool" info --wrappers "$1" 2>&1 | sed -n '/^wrapper/,$p'
	"$tool" info "$1" 2>&1 | grep -E '^(lost|complete|recovered|events|pauses|loss|full)'
	# The entries are the same, and are at other offsets.
	"$tool" check "$1" 2>&1 | grep -vE '^warning|: ' | sed 's/, the last at 0x.*//'
}

# Logs of 0.1.0 become logs of this version, with the same events, threads and objects.
for name in steps round calls threads; do
	nr_checks=$((nr_checks + 5))
	old=$scratch/$name.trx
	gzip -dc "$top/tests/data/version2/$name.trx.gz" >"$old"
	cp "$old" "$scratch/kept"
	contents "$old" >"$scratch/before"
	was=$(size "$old")
	"$tool" pack "$old" >"$scratch/out" 2>&1 || complain "pack $name: $(cat "$scratch/out")"
	contents "$old" >"$scratch/after"
	cmp -s "$scratch/before" "$scratch/after" ||
		complain "$name is not what it was: $(diff "$scratch/before" "$scratch/after" | head -5)"
	[ "$(size "$old")" -lt "$was" ] || complain "$name has $(size "$old") bytes, before $was"
	"$tool" check "$old" | grep -q 'posixtrace log' || complain "$name is no log any more"
	# A call has one or two entries, and an event of 0.1.0 has one for each 56 bytes of data beyond the first 16.
	nr_entries=$("$tool" info "$old" | awk '$1 == "event" && $2 == "entries" { print $3 }')
	nr_bytes=$("$tool" print --format csv --columns hex "$old" | tr -d '\r\n' | wc -c)
	[ "$(size "$old")" -le $((131072 + 40 * nr_entries + nr_bytes / 2)) ] ||
		complain "$name: $(size "$old") bytes for $nr_entries entries and $nr_bytes digits of data"
	# With -o, the log stays.
	"$tool" pack -o "$scratch/packed" --force "$scratch/kept" >"$scratch/out" 2>&1 ||
		complain "pack -o $name: $(cat "$scratch/out")"
	cmp -s "$old" "$scratch/packed" || complain "pack -o writes something else than pack"
	[ "$(size "$scratch/kept")" -eq "$was" ] || complain 'pack -o changes the log'
done
fails 2 'already exists' pack -o "$scratch/packed" "$scratch/kept"
fails 2 'the log itself' pack --force -o "$scratch/kept" "$scratch/kept"

# A log that is already compact stays the same file.
for name in steps calls; do
	nr_checks=$((nr_checks + 1))
	inode=$(stat -c %i "$scratch/$name.trx")
	"$tool" pack "$scratch/$name.trx" | grep -q 'compact already' || complain "$name: a packed log is packed again"
	[ "$(stat -c %i "$scratch/$name.trx")" -eq "$inode" ] || complain "$name: a compact log becomes another file"
done

# The log of a killed program is completed, and packed.  The name may be a link, and the mode stays.
nr_checks=$((nr_checks + 4))
("$subject" -l "$scratch/killed" -n 200 -k 9) 2>/dev/null
[ $? -eq 137 ] || complain 'the program was not killed'
chmod 640 "$scratch/killed"
ln -s killed "$scratch/link"
"$tool" pack "$scratch/link" >"$scratch/out" 2>&1 || complain "pack killed: $(cat "$scratch/out")"
[ -h "$scratch/link" ] || complain 'the link has become a file'
[ "$(stat -c %a "$scratch/killed")" = 640 ] || complain "the mode is $(stat -c %a "$scratch/killed")"
[ "$("$tool" print --format csv -f 'tick or tock' "$scratch/killed" | tail -n +2 | wc -l)" -eq 200 ] ||
	complain 'the log of a killed program has not all events'
"$tool" info "$scratch/killed" | grep -q '^complete *yes' || complain 'the log is not complete'
[ "$(size "$scratch/killed")" -le $((65536 + 40 * 220)) ] || complain "the log has $(size "$scratch/killed") bytes"

# If pack is killed, the log is as it was, or it is packed.
gzip -dc "$top/tests/data/version2/calls.trx.gz" >"$scratch/whole"
contents "$scratch/whole" >"$scratch/before"
for delay in 0 1 2 3 4 5 7 9 12 16 22; do
	nr_checks=$((nr_checks + 1))
	cp "$scratch/whole" "$scratch/victim"
	("$tool" pack "$scratch/victim" >"$scratch/out" 2>&1 &
		sleep "$(printf '0.%03d' "$delay")"
		kill -9 $!) 2>/dev/null
	contents "$scratch/victim" >"$scratch/after"
	sed -i 's/victim/whole/' "$scratch/after"
	cmp -s "$scratch/before" "$scratch/after" || complain "the log of a killed txtrace pack is not what it was"
done
rm -f "$scratch"/.victim.*

# A log that is being written stays.
nr_checks=$((nr_checks + 2))
"$tool" record -o "$scratch/live" "$subject" -n 10 -w "$scratch/go" >/dev/null 2>&1 &
recorder=$!
await test -s "$scratch/live"
inode=$(stat -c %i "$scratch/live")
"$tool" pack "$scratch/live" >"$scratch/out" 2>&1
[ $? -eq 1 ] || complain "pack of a log that is written: $(cat "$scratch/out")"
[ "$(stat -c %i "$scratch/live")" -eq "$inode" ] || complain 'a log that is written is replaced'
touch "$scratch/go"
wait "$recorder" 2>/dev/null
[ "$(find "$scratch" -name '.*' -type f | wc -l)" -eq 0 ] || complain 'a temporary file is left'
finish
