#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace list.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

fails 2 'takes no argument' list x
fails 2 '--format takes' list --format xml
fails 2 'unknown option --nonsense' list --nonsense

# Root also sees processes of other users, which are not part of this test.
[ "$("$tool" list | head -1)" = 'no streams' ] || complain "without streams list prints: $("$tool" list)"
"$tool" list --format json | grep -q '^{"streams":\[\],$' || complain 'without streams the JSON of list is another'

"$subject" -n 100000 -u 1000 &
pid=$!
"$subject" -w "$scratch/never" &
idle=$!
"$tool" record -q --inherit --name 'a "name"' -o "$scratch/log" -p "$pid" &
recorder=$!
await_process "$idle"
await_stream "$pid"
program=$(basename "$(readlink "/proc/$idle/exe")") # an emulator, if one runs it
"$tool" list >"$scratch/text" || complain 'list fails'
"$tool" list --format json >"$scratch/json" || complain 'list --format json fails'
sed -e "s/\<$recorder\>/RECORDER/; s/\<$pid\>/SUBJECT/; s/\<$idle\>/IDLE/" -e 's/  *$//' \
	-e 's/20[0-9-]* [0-9:]\{8\} *[0-9]* *0 /TIME EVENTS 0 /' -e "s/\<$(id -un)\>/USER/" \
	-e "s|[^ ]*/||g" -e 's/   */  /g' "$scratch/text" | grep -v '^  RECORDER USER' >"$scratch/shown"
for line in '  RECORDER  SUBJECT  running  flush  yes  yes  TIME EVENTS 0  a "name"' \
	"  SUBJECT  USER  yes  subject  $program" "  IDLE  USER  no  subject  $program"; do
	nr_checks=$((nr_checks + 1))
	grep -qxF -e "$line" "$scratch/shown" ||
		complain "list has no line '$line': $(cat "$scratch/shown" "$scratch/text")"
done
if has_program python3 'list --format json is JSON'; then
	python3 - "$scratch/json" "$program" "$pid" "$idle" "$recorder" <<'END' || complain "the JSON of list is not right: $(cat "$scratch/json")"
import json, sys
listed = json.load(open(sys.argv[1]))
pid, idle, recorder = map(int, sys.argv[3:])
stream, = listed["streams"]
assert stream["controller"] == recorder and stream["target"] == pid
assert stream["state"] == "running" and stream["policy"] == "flush"
assert stream["inherited"] is True and stream["log"] is True and stream["other_container"] is False
assert stream["name"] == 'a "name"' and stream["dropped"] == 0 and stream["events"] > 0
assert abs(stream["created_ns"] / 1e9 - __import__("time").time()) < 60
processes = {process["pid"]: process for process in listed["processes"]}
assert set(processes) >= {pid, idle, recorder}
assert processes[pid]["traced"] and not processes[idle]["traced"] and not processes[recorder]["traced"]
assert processes[pid]["program"].endswith("/" + sys.argv[2])
END
fi

kill "$pid"
wait "$recorder" 2>/dev/null

# A child that inherits the stream is traced, but is not its target.
"$tool" record -q --inherit -o "$scratch/family" sh -c "'$subject' -n 100000 -u 1000 & wait" &
recorder=$!
await listed "\"name\":\"subject\".*/$program\",\"traced\":true"
"$tool" list --format json >"$scratch/json"
grep -q '"name":"subject".*"traced":true' "$scratch/json" || complain "a child is shown as: $(cat "$scratch/json")"
child=$(sed -n 's/.*{"pid":\([0-9]*\),.*"name":"subject".*"traced":true}.*/\1/p' "$scratch/json")
grep -q "\"target\":$child," "$scratch/json" && complain 'the child is the target'
kill "$child"
wait "$recorder" 2>/dev/null

# A controller that has ended.
"$subject" -n 100000 -u 1000 &
pid=$!
"$tool" record -q -o "$scratch/other" -p "$pid" &
recorder=$!
await_stream "$pid"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
"$tool" list | grep -q ' orphaned ' || complain "a stream of a dead controller is shown as: $("$tool" list)"
kill "$pid" "$idle"
wait 2>/dev/null
finish
