#!/bin/sh
# SPDX-License-Identifier: MIT
# --type EVENT=STRUCT: the fields come from the debugging information of the traced program.
. "${srcdir:-.}/tests/tool/lib.sh"

own_streams
goods=$(binary_of "$(dirname "$tool")/../tests/tool/goods")
LD_LIBRARY_PATH=$(dirname "$tool")/../lib/.libs
export LD_LIBRARY_PATH
program=$scratch/goods
log=$scratch/goods.trx
cp "$goods" "$program"
"$program" "$log" || complain 'goods fails'
if "$tool" print '--type=goods=struct goods' "$log" 2>&1 | grep -q 'it has no libdw'; then
	echo 'SKIP: the tool has no libdw'
	exit 77
fi

# has LINE ARGUMENT...: the tool prints this line, and no error
has()
{
	line=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>&1
	sed 's/[ \r]*$//' "$scratch/out" | grep -qxF -- "$line" ||
		{ complain "no line \"$line\" in: $*"; head -5 "$scratch/out"; }
}

# says TEXT ARGUMENT...: the tool prints the text once, and succeeds
says()
{
	text=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>"$scratch/err" || complain "fails: $*"
	[ "$(grep -cF -- "$text" "$scratch/err")" -eq 1 ] ||
		{ complain "does not say \"$text\" once: $*"; head -5 "$scratch/err"; }
}

whole='id=7 load=0.375 state=BUSY at=[{x=-1 y=-2} {x=3 y=4}] low=21 high=2000 lean=-3 urgent=true kind='"'k'"' name="customer-7" word=67305985 byte=[1 2 3 4] part=0.1 where=0x1234 call=0x0 grid=[[1 2 3] [4 5 6]] exact=1.25 next=0x0 secret=0x0'
if [ "$(uname -m)" = x86_64 ]; then
	has "$whole" print --columns data -f goods '--type=goods=struct goods' "$log"
	has "$whole" print --columns data -f goods '--type=goods=goods_t' "$log"
	# The program has named the type itself.
	has "$whole" print --columns data -f named "$log"
	has 'id=7 load=0.375 state=BUSY (140 of 160 bytes are missing)' print --columns data -f cut \
		'--type=cut=struct goods' "$log"
fi
has 'from=5 text="hello"' print --columns data -f letter '--type=letter=struct letter' "$log"
has '{"data":{"from":5,"text":"hello"}}' print --format jsonl --columns data -f letter '--type=letter=struct letter' \
	"$log"
has '7,BUSY,-1' print --format csv --columns 'data.id,data.state,data.at[0].x' -f goods '--type=goods=struct goods' \
	"$log"
has '7,BUSY,-1' print --format csv --columns 'data.id,data.state,data.at[0].x' -f \
	'data.load > 0.3 and data.name ~ customer-* and goods' \
	'--type=goods=struct goods' "$log"
odd='number=[1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0] complex=[0.5 0] tail=[0 0]'
[ "$(getconf LONG_BIT)" = 64 ] || odd='number=1 complex=[0.5 0] tail=[]' # no integer of 128 bits, and no padding
has "$odd" print --columns data -f odd '--type=odd=struct odd' "$log"

# If the fields are not known, the tool says so once, and shows the data as bytes.
says "struct goods_of of goods is not in the debugging information of $program" print '--type=goods=struct goods_of' \
	"$log"
says 'union goods of goods is not in the debugging information' print '--type=goods=union goods' "$log"
says 'struct hidden of goods is incomplete: the program only declares it' print '--type=goods=struct hidden' "$log"
says 'struct huge of goods is larger than 1 MiB' print '--type=goods=struct huge' "$log"
says 'an event large has 8 bytes of data, and its description 404' print '--type=large=struct large' "$log"
has '09000000 00000000' print --columns data -f large '--type=large=struct huge' "$log"

# A program without debugging information, and with a separate file that has it.
if has_program objcopy 'a separate file'; then
	objcopy --only-keep-debug "$program" "$scratch/apart"
	objcopy --strip-debug "$program"
	says "struct letter of letter is not known: $program has no debugging information" print \
		'--type=letter=struct letter' "$log"
	(cd "$scratch" && objcopy --add-gnu-debuglink=apart goods)
	has 'from=5 text="hello"' print --columns data -f letter '--type=letter=struct letter' "$log"
	rm "$scratch/apart"
	cp "$goods" "$program"
fi

# record puts the fields into the log, so the program is not needed any more.
nr_checks=$((nr_checks + 1))
"$tool" record --quiet -o "$scratch/recorded.trx" '--type=letter=struct letter' --type='goods=struct goods' \
	'--type=large=u32 id; u32 zero' -- "$program" 2>"$scratch/err" ||
		complain "record --type fails: $(cat "$scratch/err")"
[ ! -s "$scratch/err" ] || complain "record --type says: $(cat "$scratch/err")"
mv "$program" "$scratch/away"
has 'from=5 text="hello"' print --columns data -f letter "$scratch/recorded.trx"
has 'id=9 zero=0' print --columns data -f large "$scratch/recorded.trx"
has '7,BUSY,-1' print --format csv --columns 'data.id,data.state,data.at[0].x' -f goods "$scratch/recorded.trx"
finish
