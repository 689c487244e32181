#!/bin/sh
# SPDX-License-Identifier: MIT
# Logs and trace buffers with times that no clock has: each command ends, and no sum of durations is negative. In a
# build with --enable-ubsan, a sum that overflows ends the command.
. "${srcdir:-.}/tests/tool/lib.sh"
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:exitcode=99
export UBSAN_OPTIONS

has_program python3 'hostile times' || exit 77

# Logs of 0.1.0 have no check sums, so the script can replace each time in the file.
cat >"$scratch/replace.py" <<'EOP'
import random, re, sys
name, seed, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
random.seed(seed)
data = bytearray(open(name, 'rb').read())
hostile = [0, 1, 999999999, 2**31, 2**32, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]
replaced = 0
line_of = {int(line).to_bytes(8, 'little'): i for i, line in enumerate(sys.stdin)}
whole = bytes(data)
# Hardly any times differ in their high bytes, so these are looked for.
ends = b'|'.join(re.escape(end) for end in {value[5:] for value in line_of})
for found in re.finditer(ends, whole):
    at = found.start() - 5
    i = line_of.get(whole[max(at, 0):at + 8])
    if i is None:
        continue
    if kind == 'rising':	# as many steps as there are events, from the first time to the last one
        new = (i * (2**64 // 4000)) % 2**64
    elif kind == 'ends':	# from the one end to the other and back
        new = [0, 2**63 - 1, 2**63, 2**64 - 1][i % 4]
    else:
        new = random.choice(hostile)
    data[at:at + 8] = new.to_bytes(8, 'little')
    replaced += 1
open(name, 'wb').write(data)
sys.exit(replaced < 10)
EOP

# damage NAME SEED KIND: $trace is the log of this name with other times
damage()
{
	trace=$scratch/$1.$2.trx
	gzip -dc "$top/tests/data/version2/$1.trx.gz" >"$trace" || complain "no log $1"
	cp "$trace" "$scratch/whole.trx"
	"$tool" print --format csv --columns ns "$scratch/whole.trx" 2>/dev/null | tail -n +2 | tr -d '\r"' | sort -u |
		python3 "$scratch/replace.py" "$trace" "$2" "$3" || complain "few times of $1 were replaced"
}

# ends COMMAND...: the command exits by itself, within a minute
ends()
{
	nr_checks=$((nr_checks + 1))
	timeout -k 1 60 "$tool" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	[ "$code" -le 2 ] || complain "txtrace $* on $trace exits with $code: $(tail -3 "$scratch/err")"
}

# No duration of a report is negative. A column of `print` may be: the time before the first event.
not_negative()
{
	grep -E '(^| |,|:)-[0-9]' "$scratch/out" >"$scratch/negative" &&
		complain "$* prints a negative duration: $(head -2 "$scratch/negative")"
}

try_all()
{
	ends print "$@" "$trace"
	ends print "$@" --format csv --from 1us --until 100s "$trace"
	for format in json jsonl csv; do
		ends print "$@" --format $format --columns all "$trace"
	done
	ends info "$@" "$trace"
	ends info "$@" --format json "$trace"
	ends check "$trace"
	for command in report blocked locks; do
		ends $command "$@" --format json "$trace"
		for format in text csv; do
			ends $command "$@" --format $format "$trace"
			not_negative "$command --format $format"
		done
	done
	for option in --performance --services --stacks --inversions --cpus --processes; do
		ends report "$@" $option "$trace"
		not_negative "report $option"
	done
	ends why "$@" "$trace"
	"$tool" print "$@" --format csv --columns thread "$trace" 2>/dev/null | tail -n +2 | tr -d '\r"' | sort -u |
		head -2 >"$scratch/threads"
	while read -r thread; do
		ends why "$@" "$trace" "$thread"
	done <"$scratch/threads"
	ends merge "$@" --force -o "$scratch/merged.trx" "$trace" "$scratch/whole.trx"
	ends merge "$@" --force --offset "$trace=9000000000s" -o "$scratch/merged.trx" "$trace" "$scratch/whole.trx"
	ends diff "$@" "$trace" "$scratch/whole.trx"
	ends diff "$@" "$scratch/whole.trx" "$trace"
	for to in $formats; do
		ends export "$@" --to "$to" --force -o "$scratch/exported.$to" "$trace"
		rm -rf "$scratch/exported.$to"
	done
}

formats=$("$tool" export --help | sed -n 's/^ *--to=//p' | tr '|' ' ')
[ "$(echo "$formats" | wc -w)" -ge 7 ] || complain "the formats are $formats"

seed=$(date +%s)
echo "seed $seed"
while read -r name kind; do
	damage "$name" "$seed" "$kind"
	try_all
	ends pack --force -o "$scratch/packed.trx" "$trace"
	ends recover --force -o "$scratch/recovered.trx" "$trace"
done <<'EOL'
steps random
calls random
calls ends
round rising
EOL

# Buffers of ThreadX: each step is as long as the mask allows, and a tick is as long as the option allows.
make_samples
for name in threadx filex; do
	trace=$samples/$name.trx
	cp "$trace" "$scratch/whole.trx"
	try_all --tick 1000000000000000000
done
finish
