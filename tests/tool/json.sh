#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON of each command is valid by its schema in doc/json-schema: with logs of calls, of scheduling records and of
# described types, and with trace buffers of ThreadX.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/tool/wait_samples.sh"

command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
python3 -c 'import jsonschema' 2>/dev/null || { echo 'SKIP: the Python module jsonschema is missing'; exit 77; }
own_streams
waits_make
make_samples
cd "$scratch" || exit 99
helpers=$(dirname "$tool")/../tests/tool
"$helpers/orders" orders.trx >/dev/null || complain 'orders fails'
"$helpers/spans" spans.trx || complain 'spans fails'
"$helpers/mklog" lossy.trx 3000 16 worker || complain 'mklog fails'
"$helpers/mksched" core <<'END' || complain 'no log could be written'
0 start
0 thread 1 running hog
0 thread 2 blocked sleeper
1 event 1 0
10 out 1 0 ready
12 in 2 0
15 event 2 0
20 out 2 0 blocked
21 in 1 0
135 event 1 0
136 out 1 0 blocked
180 stop
END
"$helpers/mksched" counted <<'END' || complain 'no log could be written'
0 event 1 0
0 counted 1 5000 700
200 counted 1 5120 730
200 counted 2 50 10
400 event 1 0
END
# What has no names, no threads, no waits, no time, or no events at all.
"$mktrx" >nothing.trx <<'END' || complain 'mktrx fails'
object 0 0 0
event 0 0 0
END
"$mktrx" >one.trx <<'END' || complain 'mktrx fails'
object 0 0 0
event 0x77 4096 10 1 2 3 4
END
"$mktrx" >nameless.trx <<'END' || complain 'mktrx fails'
big
object 0 0 0
event 0xFFFFFFFF 4096 10
event 0xF0F0F0F0 4097 20
event 0x77 57 30 0x1234 0xffffffff
event 0x78 58 40 0x1234
event 0x78 60000 50 0xffffffff
END
"$helpers/mklog" empty.trx 0 16 worker || complain 'mklog fails'
mkdir json
nr=0

# keep SCHEMA ARGUMENT...: keep what a command prints, for this schema
keep()
{
	schema=$1
	shift
	nr=$((nr + 1))
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"json/$schema-$nr" 2>err
	[ $? -lt 2 ] || complain "txtrace $* fails: $(cat err)"
	echo "$*" >"json/$schema-$nr.command"
}

logs='nothing.trx one.trx nameless.trx empty.trx orders.trx spans.trx lossy.trx core counted convoy flags deadlock gate turns lost'
if own_preload; then
	"$tool" record --quiet --preload --stacks -o plain.trx "$plain" 2>err # the program exits with 3
	[ -s plain.trx ] || complain "record fails: $(cat err)"
	logs="$logs plain.trx"
fi
for file in $logs "$samples/threadx.trx" "$samples/filex.trx" "$samples/netx_tcp.trx" "$samples/netx_udp.trx"; do
	keep print print --format json "$file"
	keep print print --format json --columns all --ns string --limit 20 "$file"
	keep print print --format json --reverse --columns number,clock,data.id,data.load,where --limit 20 "$file"
	keep events print --format jsonl --limit 20 "$file"
	keep report report --format json "$file"
	keep report report --format json --spans --span 'one=*..*' --latency --processes --inversions "$file"
	keep waits waits --format json "$file"
	keep blocked blocked --format json "$file"
	keep locks locks --format json "$file"
	for by in --by=site --stacks; do
		keep blocked blocked --format json $by "$file"
		keep locks locks --format json $by "$file"
	done
	keep blocked blocked --format json --by thread "$file"
	keep extract extract --format json "$file"
	keep states states --format json "$file"
	keep info info --format json "$file"
	keep info info --format json --objects --types --modules "$file"
	keep why why --format json "$file"
	keep check check --format json "$file"
	keep diff diff --format json --span 'one=*..*' "$file" orders.trx
	keep diff diff --format json "$file" "$file"
	keep print follow --format json "$file"
	keep events follow --format jsonl "$file"
	keep top top --once --format json "$file"
done
if ! "$tool" sql orders.trx 'SELECT 1' 2>&1 | grep -q 'without SQLite'; then
	for table in events waits holds files type_order; do
		keep sql sql --format json orders.trx "SELECT * FROM $table"
	done
	keep sql sql --format json orders.trx 'SELECT 1 WHERE 0'
fi
"$subject" -n 100000 -u 1000 -l subject.trx &
pid=$!
await_events "$pid"
keep list list --format json
keep doctor doctor --format json "$pid"
kill "$pid"
wait "$pid" 2>/dev/null
keep doctor doctor --format json "$subject"
keep doctor doctor --format json --self
keep list list --format json

cat >valid.py <<'END'
import glob, json, os, re, sys
import jsonschema

failed = 0
directory = sys.argv[1]
validators = {}
for path in glob.glob(os.path.join(directory, "*.json")):
    with open(path) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    name = os.path.basename(path)[:-5]
    assert schema["$id"] == f"urn:posixtrace:json-schema:{name}:1", path
    validators[name] = jsonschema.Draft202012Validator(schema)

def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key != "data":
                yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)

def object_of(members):
    if len(dict(members)) != len(members):
        raise ValueError(f"two members have the same name: {[key for key, _ in members]}")
    return dict(members)

used = set()
for path in sorted(glob.glob("json/*")):
    if path.endswith(".command"):
        continue
    name = os.path.basename(path).rsplit("-", 1)[0]
    with open(path + ".command") as file:
        command = file.read().strip()
    with open(path) as file:
        texts = file.read().splitlines() if name == "events" else [file.read()]
    used.add(name)
    for text in texts:
        value = json.loads(text, object_pairs_hook=object_of)
        for error in list(validators[name].iter_errors(value))[:2]:
            print(f"FAIL: txtrace {command}: {error.json_path}: {error.message[:200]}")
            failed += 1
        for key in set(keys_of(value)) if name != "sql" else ():
            if not re.fullmatch(r"[a-z][a-z0-9_]*|data\.[a-z_.]+", key):
                print(f"FAIL: txtrace {command}: the key {key}")
                failed += 1
for name in sorted(set(validators) - used):
    print(f"FAIL: no command has the schema {name}")
    failed += 1
sys.exit(failed > 0)
END
python3 valid.py "$top/doc/json-schema" >said 2>&1 || complain "not valid: $(head -20 said)"
# A schema that takes everything would be of no use.
nr_checks=$((nr_checks + 1))
mkdir wrong
for path in json/*.command; do
	schema=$(basename "$path" | sed 's/-[0-9]*\.command$//')
	[ "$schema" = events ] || [ "$schema" = sql ] || [ -e "wrong/$schema" ] || echo "$path" >"wrong/$schema"
done
cat >wrong.py <<'END'
import glob, json, os, sys
import jsonschema

def spoil(value):
    """Yields copies with one unknown member."""
    if isinstance(value, dict):
        yield {**value, "nonsense": 1}
        for key, inner in value.items():
            if key != "data":
                for wrong in spoil(inner):
                    yield {**value, key: wrong}
    elif isinstance(value, list) and value:
        for wrong in spoil(value[0]):
            yield [wrong, *value[1:]]

for path in sorted(glob.glob("wrong/*")):
    name = os.path.basename(path)
    with open(os.path.join(sys.argv[1], name + ".json")) as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    with open(path) as file:
        output = file.read().strip()[:-len(".command")]
    with open(output) as file:
        value = json.load(file)
    for wrong in spoil(value):
        assert not validator.is_valid(wrong), name
END
python3 wrong.py "$top/doc/json-schema" >said 2>&1 || complain "a schema takes anything: $(tail -1 said)"
finish
