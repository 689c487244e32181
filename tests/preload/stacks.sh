#!/bin/sh
# SPDX-License-Identifier: MIT
# Stacks of calls that waited: of a program that knows its own call chains, of invalid stacks, and of modules that are
# loaded and unloaded.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"
CC=${CC:-cc}
CXX=${CXX:-c++}
calls=$programs/stack_calls
machine=$(uname -m)
case $machine in x86_64 | aarch64) ;; *) skip "no stacks on $machine" ;; esac
getconf GNU_LIBC_VERSION 2>/dev/null | awk '{ exit !($2 >= 2.35) }' ||
	skip 'the loader cannot find a module without a lock'
"$tool" doctor --self | grep -q '^process_vm_readv  *no ' && skip 'no process_vm_readv(2), so no tables for stacks'
TXTRACE_PRELOAD=$object
export TXTRACE_PRELOAD
cd "$scratch" || exit 99

# module NAME OPTION...: a shared object that calls back
cat >module.c <<'MODULE'
#ifndef PAD
#define PAD 1
#endif
void pass(void (*call)(void));
void pass(void (*call)(void))
{
	volatile char room[PAD];

	room[0] = 0;
	call();
	room[PAD - 1] = 0;
}
MODULE
module()
{
	name=$1
	shift
	$CC -O2 -shared -fPIC "$@" -o "$name.so" module.c 2>err || complain "$name: $(cat err)"
}
module hopeless -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions
module one
module two -DPAD=400

# stacks_of LOG...: the end and the functions of each stack
stacks_of()
{
	for log in "$@"; do "$tool" print --format jsonl "$log"; done |
		sed -n 's/.*"txtrace_stack".*"end":"\([^"]*\)","stack":"\([^"]*\)".*/\1 | \2/p'
}

# scene NAME [VARIABLE=VALUE...]: run it.  Each chain that it prints must be the end of a stack.  (A recorder may find a
# program that ends at once too late to see its modules, so the object writes these logs itself.)
scene()
{
	scene=$1
	shift
	nr_checks=$((nr_checks + 1))
	env LD_PRELOAD="$object" TXTRACE_STACKS=0 TXTRACE_OUT="$scene-%p.trx" "$@" "$calls" "$scene" >want 2>err ||
		complain "$scene: it exits with $?: $(cat err)"
	stacks_of "$scene"-*.trx >"$scene.stacks"
	[ -s "$scene.stacks" ] || complain "$scene: there are no stacks"
	while read -r chain; do
		nr_checks=$((nr_checks + 1))
		# A C library without local symbols has no name for start_thread.
		pattern=$(echo "$chain" | sed 's/\*/.*/g; s/start_thread/(start_thread|libc[^;]*+0x[0-9a-f]+)/')
		grep -qE "(\| |;)$pattern\$" "$scene.stacks" ||
			complain "$scene: no stack $chain, but $(head -3 "$scene.stacks")"
	done <want
}

# whole: all stacks of the scene go back to where the thread began
whole()
{
	nr_checks=$((nr_checks + 1))
	if grep -v '^whole | ' "$scene.stacks" >cut; then complain "$scene: a stack is not whole: $(head -2 cut)"; fi
}

for name in deep recursion thread small mutex frames handler constructor cancel; do
	scene $name
	whole
done
scene fork TXTRACE_CHILDREN=yes
whole

# More frames than a stack can hold: the log has 32 of them, and marks the stack as cut.
scene abyss
nr_checks=$((nr_checks + 1))
awk -F ' \\| ' \
	'{ n = gsub(/again/, "again"); if ($1 == "there are more frames" && n == 31) found = 1 } END { exit !found }' \
	abyss.stacks || complain "abyss: $(cat abyss.stacks)"

# The stack of a coroutine ends with its first function, and has no functions of the coroutine that switched.
scene coroutine
nr_checks=$((nr_checks + 1))
if grep 'coroutine;outer' coroutine.stacks | grep -q 'main\|switches'; then
	complain "coroutine: a stack goes on in another one: $(cat coroutine.stacks)"
fi

# Code without an unwind table: the stack ends there, and is marked as cut. The unwinder does not guess.
scene hopeless
nr_checks=$((nr_checks + 1))
case $machine in
x86_64)
	grep -q '^the code has no unwind table | \[cut\];[^;]*;inner;wait_here$' hopeless.stacks ||
		complain "hopeless: $(cat hopeless.stacks)"
	;;
esac

# A random value in the frame pointer, and a stack that ends before its tables do.  The program has code of x86-64 for it.
case $machine in
x86_64)
	scene hostile
	scene edge
	nr_checks=$((nr_checks + 1))
	if grep 'wait_with_rbp' hostile.stacks | grep -q '^whole'; then complain "hostile: $(cat hostile.stacks)"; fi
	if grep 'outer;inner;wait_here' edge.stacks | grep -q 'main'; then complain "edge: $(cat edge.stacks)"; fi
	;;
esac

# Without process_vm_readv(2), no table can be read: a stack has the caller only, and says so.
refuse=$(dirname "$calls")/../support/refuse
if "$refuse" 38 process_vm_readv true; then
	nr_checks=$((nr_checks + 1))
	"$refuse" 38 process_vm_readv env LD_PRELOAD="$object" TXTRACE_STACKS=0 TXTRACE_OUT=refused-%p.trx "$calls" deep \
		>want 2>err || complain "deep, refused: it exits with $?: $(cat err)"
	stacks_of refused-*.trx >refused.stacks
	[ -s refused.stacks ] || complain 'refused: there are no stacks'
	if grep -v 'could not be read | \[cut\];wait_here$' refused.stacks >others; then
		complain "refused: $(head -2 others)"
	fi
fi

# Modules that are loaded at the same place in turn: the tables of one are not used for the other.
scene modules
nr_checks=$((nr_checks + 1))
if grep ';wait_here$' modules.stacks | grep -qv ';main;modules;visit;[^;]*;wait_here$'; then
	complain "modules: $(grep ';wait_here$' modules.stacks | grep -v ';main;modules;visit;' | head -3)"
fi
[ "$(grep -c ';main;modules;visit;[^;]*;wait_here$' modules.stacks)" -eq 50 ] ||
	complain "modules: $(grep -c ';wait_here$' modules.stacks) stacks of 50 waits"

# The bound: calls that did not wait have no stacks; with a bound above all waits, no call has one.
scene bound
[ "$(wc -l <bound.stacks)" -eq 1 ] || complain "bound: a call that did not wait has a stack: $(cat bound.stacks)"
nr_checks=$((nr_checks + 2))
"$tool" record -q --force --preload --stacks=32000 -o high.trx -- "$calls" bound >out
[ "$(stacks_of high.trx | wc -l)" -le "$("$tool" waits --over 32ms --format csv high.trx 2>err | tail -n +2 | wc -l)" ] ||
	complain "bound: a wait below the bound has a stack: $("$tool" waits high.trx)"
env LD_PRELOAD="$object" TXTRACE_STACKS=all TXTRACE_OUT=all.trx "$calls" bound >out
[ "$(stacks_of all.trx | grep -c '_start;.*main;bound$')" -eq 20 ] ||
	complain "all: $(stacks_of all.trx | grep -c 'main;bound$') stacks of 20 calls"

# The object alone.
for value in waits all 0 1000; do
	rm -f own.trx
	nr_checks=$((nr_checks + 1))
	env LD_PRELOAD="$object" TXTRACE_OUT=own.trx TXTRACE_STACKS=$value "$calls" deep >out 2>err
	stacks_of own.trx | grep -q ';main;deep;outer;inner;wait_here$' || complain "TXTRACE_STACKS=$value: no stack"
	[ ! -s err ] || complain "TXTRACE_STACKS=$value: $(cat err)"
done
mv own.trx own-deep.trx
env LD_PRELOAD="$object" TXTRACE_OUT=own.trx TXTRACE_STACKS=often "$calls" deep >out 2>err
grep -q 'TXTRACE_STACKS=often is not' err || complain "TXTRACE_STACKS=often: $(cat err)"
[ -z "$(stacks_of own.trx)" ] || complain 'a bad value records stacks'

# C++, with functions that the compiler has inlined.
cat >inlines.cc <<'INLINES'
#include <unistd.h>
namespace bank {
static inline __attribute__((always_inline)) void take(int us) { usleep(us); asm volatile(""); }
struct teller { __attribute__((noinline)) void serve(int us) { take(us); asm volatile(""); } };
}
int main() { bank::teller teller; teller.serve(2000); return 0; }
INLINES
if has_program "$CXX" 'C++' && $CXX -O2 -g -o inlines inlines.cc 2>err; then
	nr_checks=$((nr_checks + 2))
	env LD_PRELOAD="$object" TXTRACE_STACKS=waits TXTRACE_OUT=inlines.trx ./inlines
	stacks_of inlines.trx | grep -qE 'main;bank::teller::serve[^;]*;(bank::)?take[^;]*$' ||
		complain "inlines: $(stacks_of inlines.trx)"
	"$tool" blocked --stacks inlines.trx 2>/dev/null | grep -q 'take.* (inlines.cc:3) \[inlined\]' ||
		complain "inlines: $("$tool" blocked --stacks inlines.trx)"
fi

# Perfetto: the stack of each wait, the outermost function first.
check=$programs/../tool/perfetto_check
if [ -x "$check" ]; then
	nr_checks=$((nr_checks + 2))
	"$tool" export --to perfetto --force -o deep.pf own-deep.trx 2>err || complain "perfetto: $(cat err)"
	"$check" deep.pf >deep.pf.text 2>err || complain "perfetto: $(cat err)"
	grep -q 'txtrace_stack .* callstack=.*main[^;]*;deep[^;]*;outer[^;]*;inner[^;]*;wait_here@stack_calls.c:[0-9]*$' \
		deep.pf.text || complain "perfetto: $(grep callstack deep.pf.text | head -2)"
fi

# The page has the functions of each stack once.
nr_checks=$((nr_checks + 2))
"$tool" export --to html --force -o deep.html own-deep.trx 2>err || complain "html: $(cat err)"
grep -q '"stacks":{"0x[0-9a-f]*":\["whole","[^"]*main;deep;outer;inner;wait_here"\]' deep.html ||
	complain "html: $(grep -o '"stacks":.*' deep.html | cut -c 1-200)"

# Each chapter of a log has its own stacks: a LOOP log that has overwritten its oldest events still has all of them.
cat >many.c <<'MANY'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 30000; i++)
		usleep(1);
	return 0;
}
MANY
if $CC -O1 -o many many.c 2>err; then
	nr_checks=$((nr_checks + 1))
	env LD_PRELOAD="$object" TXTRACE_STACKS=0 TXTRACE_SIZE=256k TXTRACE_OUT=loop.trx ./many
	"$tool" print --format jsonl loop.trx 2>/dev/null | grep -c '"event":"usleep".*"wait":"ends"' >ends
	stacks_of loop.trx | grep -c '^whole | .*;main$' >whole
	[ "$(cat whole)" -gt 100 ] && [ $(($(cat ends) - $(cat whole))) -le 1 ] ||
		complain "loop: $(cat ends) waits and $(cat whole) stacks"
fi
finish
