#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace extract: buffers in plain memory, core files, minidumps, records of text, archives and compressed files; what
# is no buffer, what is cut, and what is hostile.
. "${srcdir:-.}/tests/tool/lib.sh"
make_samples
little=$samples/threadx.trx
big=$scratch/big.trx
sed '1i big' "$top/tests/data/threadx.txt" | "$mktrx" >"$big"

: >"$scratch/empty"
fails 2 'No such file' extract "$scratch/missing"
fails 2 'is a directory' extract "$scratch"
fails 2 'file required' extract
fails 2 'is not a directory' extract -o "$scratch/empty" "$little"
fails 2 'cannot make the directory' extract -o "$scratch/missing/directory" "$little"
fails 2 'is not an address' extract --at here "$little"
fails 2 'at least 1' extract --ratio 0 "$little"

# found FILE [OPTION...]: the columns offset, address, order, slots, used and objects of each buffer, and its grade
found()
{
	file=$1
	shift
	"$tool" extract "$@" "$file" 2>"$scratch/err" | awk 'NR > 1 { print $1, $2, $3, $4, $5, $6, $7 }'
}

# is EXPECTED WHAT: what standard input has.  It runs in a pipeline, so the script complains at its end.
is()
{
	echo >>"$scratch/compared"
	seen=$(cat)
	[ "$seen" = "$1" ] || echo "$2: $seen, not $1; $(cat "$scratch/err")" | tr '\n' ' ' >>"$scratch/differ"
	[ "$seen" = "$1" ] || echo >>"$scratch/differ"
}

nothing()
{
	nr_checks=$((nr_checks + 1))
	"$tool" extract "$@" >"$scratch/out" 2>"$scratch/err"
	code=$?
	[ "$code" -eq 1 ] || complain "extract $* exits with $code"
	grep -q 'has no trace buffer' "$scratch/err" || complain "extract $* says: $(cat "$scratch/err")"
}
nothing "$scratch/empty"
nothing "$top/README"

# Plain memory: each offset near the end of a read, both orders, two that touch, and letters that are no buffer.
facts='223 223 15 good:'
found "$little" | is "0x0 - little $facts" 'a trace buffer'
for offset in 1 2 3 47 262096 262097 262140 262141 262142 262143 262144 262191; do
	(head -c "$offset" /dev/zero; cat "$little" "$big"; printf 'TXTBTXTB') >"$scratch/raw"
	next=$((offset + $(stat -c %s "$little")))
	found "$scratch/raw" | is "$(printf '0x%x - little %s\n0x%x - big %s' "$offset" "$facts" "$next" "$facts")" \
		"offset $offset"
	found - <"$scratch/raw" | is "$(printf '0x%x - little %s\n0x%x - big %s' "$offset" "$facts" "$next" "$facts")" \
		"offset $offset of standard input"
	cat "$scratch/raw" | found - --largest |
		is "$(printf '0x%x - little %s' "$offset" "$facts")" "offset $offset of a pipe"
done

# What is written is the buffer, byte for byte, and all files or none.
# The directory is made.
nr_checks=$((nr_checks + 4))
"$tool" extract -o "$scratch/files" "$scratch/raw" >"$scratch/out" || complain 'extract -o fails'
cmp -s "$scratch/files/raw-4002f.trx" "$little" || complain 'the first file is not the buffer'
cmp -s "$scratch/files/raw-41fff.trx" "$big" || complain "the second file is not the buffer: $(ls "$scratch/files")"
grep -q 'written to .*raw-4002f.trx' "$scratch/out" || complain "the list has no names: $(cat "$scratch/out")"
"$tool" extract -o "$scratch/files" "$scratch/raw" >"$scratch/out" 2>&1
[ $? -eq 2 ] || complain 'extract overwrites files'
"$tool" extract --force -o "$scratch/files" "$scratch/raw" >"$scratch/out" || complain 'extract --force fails'
nr_checks=$((nr_checks + 1))
mkdir "$scratch/one"
"$tool" extract --largest -o "$scratch/one" "$scratch/raw" >"$scratch/out" || complain 'extract --largest fails'
[ "$(ls -A "$scratch/one")" = raw-4002f.trx ] || complain "extract --largest writes $(ls -A "$scratch/one")"

# A header whose arithmetic is wrong is no buffer, and -v says why.
while read -r offset bytes value reason; do
	nr_checks=$((nr_checks + 1))
	(cat "$top/tests/data/threadx.txt"; echo "poke $offset $bytes $value") | "$mktrx" >"$scratch/bad"
	"$tool" extract -v "$scratch/bad" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 1 ] || complain "a header with $value at $offset is a buffer"
	grep -qF "0x0 has BTXT, but $reason" "$scratch/err" || complain "$value at $offset: $(cat "$scratch/err")"
done <<'END'
4 4 0 the time mask is 0
8 4 0x20000 the registry does not begin 48 bytes after the base
18 2 64 a name has more than 63 bytes
20 4 0x10029 the registry ends before it begins
20 4 0x10050 the registry is not a whole number of objects
24 4 0x10000 the entries do not begin where the registry ends
28 4 0x10000 the entries end before they begin
28 4 0x7FFFFFF1 the entries are not a whole number of 32 bytes
32 4 0x10001 the current entry is none of its entries
END
head -c 40 "$little" >"$scratch/bad"
nothing "$scratch/bad"
"$tool" extract -v "$scratch/bad" 2>&1 | grep -q 'the data end within its header' ||
	complain 'a cut header has another reason'

# A false header in front of a buffer does not hide it.
(head -c 48 "$little"; cat "$little") >"$scratch/raw"
found "$scratch/raw" | head -1 | is "0x0 - little 223 221 16 poor:" 'a false header'
found "$scratch/raw" | tail -1 | is "0x30 - little $facts" 'a buffer within another'

# A buffer that is cut is there as far as it goes, and the other commands read it.
head -c 5000 "$little" >"$scratch/cut"
found "$scratch/cut" | is '0x0 - little 223 124 15 fair:' 'a buffer that is cut'
nr_checks=$((nr_checks + 2))
"$tool" extract -o "$scratch/files" "$scratch/cut" | grep -q 'cut: 124 of 223 slots' || complain 'a cut buffer is whole'
"$tool" check "$scratch/files/cut-0.trx" | grep -q '124 events' || complain 'check does not read a cut buffer'
head -c 500 "$little" >"$scratch/cut"
"$tool" extract --force -o "$scratch/files" "$scratch/cut" | grep -q 'not written' ||
	complain 'a buffer without entries is written'

# Records of text have addresses.  What is wrong in them is told.
if has_program objcopy 'records of text'; then
	objcopy -I binary -O ihex --change-addresses 0x2000FF00 "$little" "$scratch/hex"
	objcopy -I binary -O srec --change-addresses 0x10000 "$little" "$scratch/srec"
	found "$scratch/hex" | is '- 0x2000ff00 little 223 223 15 fair:' 'Intel HEX'
	found "$scratch/srec" | is "- 0x10000 little $facts" 'S-records'
	found "$scratch/hex" --at 0x2000FF00 | is '- 0x2000ff00 little 223 223 15 fair:' 'an address'
	found "$scratch/hex" --at 0x2000FF01 | is '' 'another address'
	sed 's/$/\r/' "$scratch/srec" >"$scratch/dos"
	found "$scratch/dos" | is "- 0x10000 little $facts" 'S-records with other line ends'
	sed '300d' "$scratch/hex" >"$scratch/gap"
	found "$scratch/gap" | cut -d ' ' -f 7 | is 'fair:' 'Intel HEX with a gap'
	nr_checks=$((nr_checks + 1))
	(cat "$scratch/hex"; echo nonsense) >"$scratch/odd"
	"$tool" extract "$scratch/odd" 2>&1 >"$scratch/out" | grep -q '1 lines are no records' ||
		complain 'odd lines are ignored'
fi

# Core files and minidumps.
if has_program python3 'core files and minidumps'; then
	make_file()
	{
		python3 "$top/tests/tool/containers.py" "$@"
	}
	make_file core64 "$little" >"$scratch/core"
	found "$scratch/core" |
		is "$(printf '0x1d08 0x20000000 little 223 223 15 fair:\n0x20f4 0x40000004 little 223 223 15 fair:')" \
		'a core file'
	make_file core32be "$big" >"$scratch/core"
	found "$scratch/core" | cut -d ' ' -f 2- |
		is "$(printf '0x20000000 big 223 223 15 fair:\n0x40000004 big 223 223 15 fair:')" \
		'a core file of another machine'
	# In a pipe the two parts come in the wrong order.
	cat "$scratch/core" | found - | cut -d ' ' -f 2- |
		is "$(printf '0x20000000 big 223 0 15 fair:\n0x40000004 big 223 223 15 fair:')" \
		'a core file in a pipe'
	found "$scratch/core" --at 0x20000000 | cut -d ' ' -f 2,3 | is '0x20000000 big' 'an address of a core file'
	nr_checks=$((nr_checks + 1))
	head -c 9000 "$scratch/core" >"$scratch/cut"
	"$tool" extract "$scratch/cut" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] || complain 'a core file that was cut is complete'
	grep -q 'the file was cut' "$scratch/err" || complain "a core file that was cut: $(cat "$scratch/err")"
	make_file physical "$little" >"$scratch/core"
	found "$scratch/core" | cut -d ' ' -f 2 | is 0x80000064 'physical addresses'
	make_file overlap "$little" "$big" >"$scratch/core"
	found "$scratch/core" | cut -d ' ' -f 2,3,7 | sort |
		is "$(printf '0x20000040 little fair:\n0x200000e8 big fair:')" \
		'segments with the same addresses'
	# A table of segments can name the same bytes very often.
	nr_checks=$((nr_checks + 2))
	make_file repeated "$little" >"$scratch/core"
	"$tool" extract "$scratch/core" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] || complain 'segments without end are fine'
	grep -q 'far more bytes than the file' "$scratch/err" || complain "repeated segments: $(cat "$scratch/err")"
	for kind in mdmp mdmp64; do
		make_file $kind "$little" >"$scratch/dump"
		found "$scratch/dump" | cut -d ' ' -f 2- | is '0x7ff600000008 little 223 223 15 fair:' "$kind"
		found - <"$scratch/dump" | cut -d ' ' -f 2 | is 0x7ff600000008 "$kind, standard input"
		cat "$scratch/dump" | found - | cut -d ' ' -f 2 | is 0x7ff600000008 "$kind, a pipe"
	done
	head -c 40 "$scratch/dump" >"$scratch/cut"
	nr_checks=$((nr_checks + 1))
	"$tool" extract "$scratch/cut" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] || complain 'a minidump that was cut is complete'
fi

# Archives and compressed files.  Parts of a compressed file follow each other.
(head -c 100 /dev/zero; cat "$little") >"$scratch/raw"
line='0x64 - little 223 223 15 good:'
if has_program tar archives; then
	(cd "$scratch" && tar -cf tar empty raw "$(basename "$big")")
	found "$scratch/tar" | is "$(printf '%s\n0x0 - big %s' "$line" "$facts")" 'a tar archive'
	cat "$scratch/tar" | found - | is "$(printf '%s\n0x0 - big %s' "$line" "$facts")" 'a tar archive in a pipe'
	"$tool" extract "$scratch/tar" | grep -q 'in big.trx$' || complain 'the member has no name'
	nr_checks=$((nr_checks + 1))
	gzip -c "$scratch/tar" >"$scratch/tgz"
fi
for program in gzip xz zstd; do
	has_program $program "compressed files" || continue
	(head -c 3000 "$scratch/raw" | $program -c; tail -c +3001 "$scratch/raw" | $program -c) >"$scratch/packed"
	if "$tool" extract "$scratch/packed" 2>&1 | grep -q 'built without'; then
		echo "SKIP $program: txtrace was built without it"
		continue
	fi
	found "$scratch/packed" | is "$line" "$program"
	found - <"$scratch/packed" | is "$line" "$program, standard input"
	nr_checks=$((nr_checks + 3))
	head -c 500 "$scratch/packed" >"$scratch/cut"
	"$tool" extract "$scratch/cut" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] || complain "$program: a file that was cut is complete"
	grep -q 'compressed data end early' "$scratch/err" || complain "$program: $(cat "$scratch/err")"
	# A bomb is stopped, and what was before it is kept.
	(cat "$little"; head -c 120000000 /dev/zero) | $program -c >"$scratch/bomb"
	"$tool" extract --ratio 100 "$scratch/bomb" >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 2 ] || complain "$program: a bomb is not stopped"
	grep -q 'far more than memory' "$scratch/err" || complain "$program, a bomb: $(cat "$scratch/err")"
	grep -q good "$scratch/out" || complain "$program: what was before the bomb is lost"
	found "$scratch/bomb" --ratio 1000000 | is "0x0 - little $facts" "$program with a ratio"
	[ ! -s "$scratch/err" ] || complain "$program with a ratio: $(cat "$scratch/err")"
done
[ ! -e "$scratch/tgz" ] ||
	found "$scratch/tgz" | is "$(printf '%s\n0x0 - big %s' "$line" "$facts")" 'an archive in gzip'

# JSON has all of it.
nr_checks=$((nr_checks + 1))
"$tool" extract --format json "$scratch/raw" >"$scratch/out"
grep -q '"offset": "0x64", "address": null, "base": "0x10000", "order": "little", "bytes": 8144, "slots": 223' \
	"$scratch/out" ||
	complain "JSON: $(cat "$scratch/out")"

nr_checks=$((nr_checks + $(wc -l <"$scratch/compared")))
touch "$scratch/differ"
while read -r line; do
	complain "$line"
done <"$scratch/differ"
finish
