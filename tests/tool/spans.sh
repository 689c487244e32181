#!/bin/sh
# SPDX-License-Identifier: MIT
# Spans, of the program and of --span, are the times between the events that print shows, in each command and format.
. "${srcdir:-.}/tests/tool/lib.sh"

own_streams
spans=$(dirname "$tool")/../tests/tool/spans
log=$scratch/spans.trx
"$spans" "$log" || complain 'spans fails'

# expected: for each span that ended, its name and its length in ns
"$tool" print --format csv --columns ns,event,data.id "$log" | tr -d '\r' | awk -F , '
	$2 == "price begins" { begun[$3] = $1 }
	$2 == "price ends" && $3 in begun { print "price", substr($1, 6) - substr(begun[$3], 6) }
	$2 == "tick" { if (last) print "lap", substr($1, 6) - substr(last, 6); last = $1 }' CONVFMT=%.0f OFMT=%.0f |
	sort >"$scratch/expected"
nr_checks=$((nr_checks + 1))
[ "$(grep -c price "$scratch/expected")" = 300 ] && [ "$(grep -c lap "$scratch/expected")" = 99 ] ||
	complain "the events are not as expected: $(sort "$scratch/expected" | head -3)"

# row NAME: the row of a span in the report, as values with blanks between them
row()
{
	name=$1
	shift
	"$tool" report --format json "$@" "$log" | grep "\"span\": \"$name\", \"times\"" |
		sed -E 's/"[a-z0-9_]*": //g; s/[]{}",]//g; s/^ *//; s/ +/ /g'
}

# sums NAME: the number of these spans, their total, and the longest, in seconds
sums()
{
	awk -v name="$1" '$1 == name { n++; sum += $2; if ($2 > most) most = $2 }
		END { printf "%d %.9f %.9f\n", n, sum / 1e9, most / 1e9 }' "$scratch/expected"
}

nr_checks=$((nr_checks + 5))
for name in price lap; do
	[ "$(row $name --spans | cut -d ' ' -f 2,3,8)" = "$(sums $name)" ] ||
		complain "the spans $name are $(row $name --spans), not $(sums $name)"
done
[ "$(row price --spans | cut -d ' ' -f 9,10)" = '1 1' ] || complain "without an end or a begin: $(row price --spans)"
# An option has the same spans, and replaces a described one of its name.
[ "$(row own --span 'own=price begins..price ends:id')" = "$(row price --spans | sed 's/^price/own/')" ] ||
	complain "the spans of --span are $(row own --span 'own=price begins..price ends:id')"
[ "$(row price --spans --span 'price=tick..tick' | cut -d ' ' -f 2)" = 99 ] ||
	complain 'an option does not replace a span'
# By another field, and one that is not there.
nr_checks=$((nr_checks + 3))
[ -z "$(row lap --span 'own=price begins..price ends:id')" ] || complain '--span alone reports described spans'
"$tool" report --span 'own=price begins..price ends:load' "$log" >"$scratch/out" 2>"$scratch/err"
grep -q 'span own: 301 of its events have no field load, and are left out' "$scratch/err" ||
	complain "a field is missing: $(cat "$scratch/err")"
"$tool" info --types "$log" | grep -q 'price  *span "price begins".."price ends": id' ||
	complain "info --types: $("$tool" info --types "$log")"

if "$tool" sql "$scratch/none" 'SELECT 1' 2>&1 | grep -q 'without SQLite'; then
	echo 'SKIP spans in SQL: txtrace was built without SQLite'
else
	nr_checks=$((nr_checks + 4))
	"$tool" sql --format csv "$log" 'SELECT span, duration_ns FROM spans WHERE duration_ns IS NOT NULL' |
		tr -d '\r' | sed 1d |
		tr , ' ' | sort | cmp -s - "$scratch/expected" || complain 'the table of spans is another'
	[ "$("$tool" sql --format csv "$log" "SELECT ending, count(*) FROM spans WHERE span = 'price' GROUP BY ending" |
		tr -d '\r' |
		sed 1d | tr '\n' ' ')" = 'ended,300 lasts,1 ' ] || complain 'the endings are others'
	# Each begin has the columns of its type.
	[ "$("$tool" sql --format csv "$log" "SELECT count(*), sum(b.load) FROM spans AS s JOIN type_price_begins AS b
		USING (number) WHERE b.id < 300 AND s.ending = 'ended'" | tr -d '\r' | sed 1d)" = '300,14950.0' ] ||
		complain 'spans and fields cannot be joined'
	[ "$("$tool" sql --format csv --span 'own=tick..tick' "$log" "SELECT count(*) FROM spans WHERE span = 'own' AND ending = 'ended'" |
		tr -d '\r' | sed 1d)" = 99 ] || complain 'sql has no spans of --span'
fi

# Slices: those of viewers have the same lengths, and there are three tracks for three at a time.
if has_program python3 'spans in viewers'; then
	"$tool" export --to chrome --force -o "$scratch/chrome.json" "$log" 2>"$scratch/err" ||
		complain "export fails: $(cat "$scratch/err")"
	"$tool" export --to html --force -o "$scratch/page.html" "$log" 2>"$scratch/err" ||
		complain "export fails: $(cat "$scratch/err")"
	cat >"$scratch/slices.py" <<'END'
import json, sys
sys.path.insert(0, sys.argv[3])
import page_data

events = json.load(open(sys.argv[1]))["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
opened, slices = {}, []
for e in events:
    track = names.get((e["pid"], e["tid"]), "") if "tid" in e else ""
    if not track.startswith("span: "):
        continue
    if e["ph"] == "B":
        opened[track] = e
    elif e["ph"] == "E":
        slices.append((opened[track]["name"], round((e["ts"] - opened.pop(track)["ts"]) * 1000)))
assert sorted(names[key] for key in names if names[key].startswith("span: ")) == [
    "span: lap", "span: price", "span: price (2)", "span: price (3)"], names
with open(sys.argv[2]) as file:
    page = file.read()
facts = page_data.facts_of(page)
html = [(facts["names"][name], end - begin) for kind, _, begin, end, name in page_data.spans_of(page) if kind == 7]
print("\n".join(f"chrome {name} {length}" for name, length in sorted(slices)))
print("\n".join(f"html {name} {length}" for name, length in sorted(html)))
END
	PYTHONDONTWRITEBYTECODE=1 python3 "$scratch/slices.py" "$scratch/chrome.json" "$scratch/page.html" \
		"$top/tests/tool" >"$scratch/slices" 2>"$scratch/err" ||
		complain "the slices cannot be read: $(tail -2 "$scratch/err")"
	for viewer in chrome html; do
		nr_checks=$((nr_checks + 1))
		# A span that has not ended lasts until the last event.
		sed -n "s/^$viewer //p" "$scratch/slices" | sort >"$scratch/found"
		[ "$(wc -l <"$scratch/found")" = 401 ] && [ -z "$(comm -23 "$scratch/expected" "$scratch/found")" ] ||
			complain "the slices of $viewer are others: $(diff "$scratch/expected" "$scratch/found" |
				head -4)"
	done
fi

# CTF: an event for each span, at the time and with the number of the event that begins it.
if has_program babeltrace2 'spans in CTF' && "$tool" export --to ctf -o "$scratch/ctf" "$log" 2>"$scratch/err"; then
	nr_checks=$((nr_checks + 3))
	babeltrace2 --clock-seconds --no-delta "$scratch/ctf" >"$scratch/ctf.txt" 2>"$scratch/err" ||
		complain "babeltrace2 fails: $(cat "$scratch/err")"
	sed -n 's/^.* txtrace_span: .*{ span = "\([a-z]*\)", duration_ns = \([0-9]*\), number = [0-9]*, ending = "ended" }$/\1 \2/p' \
		"$scratch/ctf.txt" | sort >"$scratch/found"
	cmp -s "$scratch/expected" "$scratch/found" ||
		complain "the spans of CTF are others: $(diff "$scratch/expected" "$scratch/found" | head -4)"
	[ "$(grep -c 'txtrace_span: .*ending = "open"' "$scratch/ctf.txt")" = 2 ] || complain 'CTF has no open spans'
	"$tool" print --format csv --columns number,ns "$log" 2>/dev/null | tr -d '\r' | sed 1d | sort >"$scratch/times"
	sed -n 's/^\[\([0-9]*\)\.\([0-9]*\)\] txtrace_span: .* number = \([0-9]*\), ending.*/\3,\1\2/p' "$scratch/ctf.txt" | sort -u |
		comm -23 - "$scratch/times" >"$scratch/others"
	[ ! -s "$scratch/others" ] || complain "spans of CTF begin at other times: $(head -2 "$scratch/others")"
	rm -r "$scratch/ctf"
	"$tool" export --to ctf --span 'own=tick..tick' -o "$scratch/ctf" "$log" 2>"$scratch/err" ||
		complain "export --to ctf --span fails: $(cat "$scratch/err")"
	[ "$(babeltrace2 "$scratch/ctf" | grep -c 'span = "own".*ending = "ended"')" = 99 ] || complain '--span has no effect in CTF'
fi
finish
