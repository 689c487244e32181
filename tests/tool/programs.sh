#!/bin/sh
# SPDX-License-Identifier: MIT
# The symbols of one program do not name code of another program at the same addresses. Symbols of Rust have the names
# in the source.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
setarch -R true 2>/dev/null || { echo 'SKIP: setarch -R cannot give all programs the same addresses'; exit 77; }
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
log=$scratch/programs.trx

# sites THREAD: the places from which threads with this name called
sites()
{
	"$tool" print --columns where --format csv -f "thread:'$1 *' pthread_mutex_*" "$log" | tr -d '\r' | sed 1d |
		sort -u
}

# record_named PROGRAM COMMAND...: record until the recorder was fast enough to read the modules of the program
record_named()
{
	name=$1
	shift
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$@" >"$scratch/out" 2>"$scratch/err" || complain "$* fails: $(cat "$scratch/err")"
		! "$tool" info --modules "$log" 2>"$scratch/err" | grep -q "/$name\$" || return
	done
	complain "no log has the modules of $name"
}

record_named outer setarch -R "$tool" record --preload --inherit --quiet --force -o "$log" tests/tool/outer \
	"$(pwd)/tests/tool/inner"
nr_checks=$((nr_checks + 3))
[ "$("$tool" print -f "thread:'inner *' pthread_mutex_lock" --format jsonl "$log" | wc -l)" -eq 4 ] ||
	complain 'inner did not lock its mutex 4 times'
[ -z "$(sites inner)" ] || complain "code of inner is named $(sites inner)"
sites outer | grep -q outer || complain "code of outer is named $(sites outer)"

# Stacks, too.
record_named outer setarch -R "$tool" record --preload --stacks --inherit --quiet --force -o "$log" tests/tool/outer \
	"$(pwd)/tests/tool/inner"
"$tool" print --columns data -f "thread:'inner *' txtrace_stack" "$log" >"$scratch/inner_stacks"
"$tool" print --columns data -f "thread:'outer *' txtrace_stack" "$log" >"$scratch/outer_stacks"
nr_checks=$((nr_checks + 2))
grep -q 0x "$scratch/inner_stacks" && ! grep -qE 'main|outer' "$scratch/inner_stacks" ||
	complain "stacks of inner are named $(cat "$scratch/inner_stacks")"
grep -qE 'main|outer' "$scratch/outer_stacks" || complain "stacks of outer are named $(cat "$scratch/outer_stacks")"

# After an exec, the modules are those of the new program.
setarch -R "$tool" record --preload --inherit --quiet --force -o "$log" sh -c "exec tests/tool/outer" \
	2>"$scratch/err" ||
	complain "sh fails: $(cat "$scratch/err")"
nr_checks=$((nr_checks + 1))
[ -z "$("$tool" print --columns where --format csv -f "thread:'sh *'" "$log" | grep outer)" ] ||
	complain 'code of sh is named by outer'

# A process that executes another program has objects of both.  Each is called by the name that its program gives it, or,
# where both have something at its address, by none.  The programs print their pid, and name and address of each object.
cat >"$scratch/first.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t LOCKS[4];
int main(int argc, char **argv)
{
	int nr = argc < 2 ? 1 : 4;

	for (int i = 0; i < nr; i++)
		if (argc < 2 || fork() == 0) {
			for (int k = 0; k < 4; k++) {
				pthread_mutex_lock(&LOCKS[k]);
				pthread_mutex_unlock(&LOCKS[k]);
				printf("%d %s %p\n", (int)getpid(), NAME, (void *)&LOCKS[k]);
			}
			fflush(stdout);
			if (argc < 2)
				return 0;
			usleep(300000); /* the recorder reads the modules of this program */
			execv(argv[1], argv + 1);
			_exit(1);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
# names_of_two TITLE COMMAND...: what the log calls them, as the account does
names_of_two()
{
	title=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$@" "$tool" record --preload --inherit --quiet --force -o "$log" "$scratch/first" "$scratch/second" \
		>"$scratch/account" 2>"$scratch/err" || complain "$title: record fails: $(cat "$scratch/err")"
	"$tool" info --objects "$log" | awk '$2 == "mutex" { print $4, $6, $NF }' >"$scratch/told"
	awk 'NR == FNR { name[$1 " " $3] = $2; next }
		{ sub(/[+].*/, "", $2); key = $1 " " $3 }
		!(key in name) { print "is in no account: " $0; next }
		$2 != "mutex" && $2 != name[key] { print "is " name[key] ": " $0 }
		{ nr += $2 == name[key] }
		END { print nr + 0 }' "$scratch/account" "$scratch/told" >"$scratch/found"
	[ "$(wc -l <"$scratch/account")" -eq 32 ] || complain "$title: the account has $(wc -l <"$scratch/account") lines"
	[ "$(wc -l <"$scratch/found")" -eq 1 ] || complain "$title: $(head -3 "$scratch/found")"
}
# The second one has its locks behind other data, so each address is that of something else in the first one.
if ${CC:-cc} -g -pthread -DLOCKS=locks_of_first -DNAME='"locks_of_first"' "$scratch/first.c" -o "$scratch/first" 2>"$scratch/err" &&
	{ echo 'int data_of_second[200] = {1};'; cat "$scratch/first.c"; } >"$scratch/second.c" &&
	${CC:-cc} -g -pthread -DLOCKS=locks_of_second -DNAME='"locks_of_second"' "$scratch/second.c" -o "$scratch/second" 2>"$scratch/err"; then
	names_of_two 'two programs at the same addresses' setarch -R
	for _ in 1 2 3 4 5 6 7 8 9 10; do # until the recorder was fast enough
		names_of_two 'two programs at any addresses' env
		[ "$(tail -1 "$scratch/found")" -lt 32 ] || break
	done
	[ "$(tail -1 "$scratch/found")" -eq 32 ] || complain "names of two programs: $(tail -1 "$scratch/found") of 32"
else
	echo "SKIP names of two programs: $(cat "$scratch/err")"
fi

# The names of inner, which needs symbols.
record_named inner "$tool" record --preload --quiet --force -o "$log" tests/tool/inner wait
if sites inner | grep -q 'inner+0x'; then
	echo 'SKIP: the tool has no library for symbols'
else
	nr_checks=$((nr_checks + 2))
	sites inner | grep -qF '<bank::account::Vault>::open+0x' || complain "names of inner: $(sites inner)"
	sites inner | grep -qF '<bank::account::Keys<&[u8]> as bank::account::Give>::give::<[u64; 16]>+0x' ||
		complain "names of inner: $(sites inner)"
fi

# The names of C++ contain blanks.  If such a name is too long, the parameters of the function are left out.
if has_program "${CXX:-c++}" 'names of C++'; then
	cat >"$scratch/names.cc" <<'END'
#include <pthread.h>
#include <unistd.h>
struct queue {
	pthread_mutex_t *mutex;
	__attribute__((noinline)) int push(unsigned long number, bool last) const { pthread_mutex_lock(mutex); pthread_mutex_unlock(mutex); return (int)number + last; }
	__attribute__((noinline)) int push_several(unsigned long number, unsigned long long other, bool last) const { pthread_mutex_lock(mutex); pthread_mutex_unlock(mutex); return (int)(number + other) + last; }
};
int main()
{
	pthread_mutex_t *mutexes = new pthread_mutex_t[2]();
	queue first = {&mutexes[0]}, second = {&mutexes[1]};
	usleep(100000); // the recorder reads the modules
	return first.push(1, true) + second.push_several(1, 2, true) == 0;
}
END
	if "${CXX:-c++}" -g -pthread "$scratch/names.cc" -o "$scratch/names" 2>"$scratch/err"; then
		record_named names "$tool" record --preload --quiet --force -o "$log" "$scratch/names"
		"$tool" info --objects "$log" >"$scratch/objects"
		nr_checks=$((nr_checks + 2))
		grep -q ' queue::push(unsigned long, bool) const+0x' "$scratch/objects" ||
			complain "names of C++: $(grep mutex "$scratch/objects")"
		grep -q ' queue::push_several+0x' "$scratch/objects" ||
			complain "long names of C++: $(grep mutex "$scratch/objects")"
	else
		echo 'SKIP names of C++: it does not compile'
	fi
fi
finish
