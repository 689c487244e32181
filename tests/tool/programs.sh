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

# A process that executes other programs has objects of each, also if it does so before the recorder can read anything.
# Each object is called by the name that its program gives it.  The programs print their pid, and name and address of each
# object.
cat >"$scratch/chain.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef MOVED
int moved[MOVED] = {1};
#endif
static pthread_mutex_t LOCKS[4];
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
int main(int argc, char **argv)
{
	int is_child = getenv("IS_CHILD") != NULL, nr = is_child ? 1 : 4;

	for (int i = 0; i < nr; i++)
		if (is_child || fork() == 0) {
			for (int k = 0; k < 4; k++) {
				pthread_mutex_lock(&LOCKS[k]);
				pthread_mutex_unlock(&LOCKS[k]);
				printf("%d %s %p\n", (int)getpid(), TEXT(LOCKS), (void *)&LOCKS[k]);
			}
			fflush(stdout);
			if (argc < 2)
				return 0;
			setenv("IS_CHILD", "1", 1);
			execv(argv[1], argv + 1);
			_exit(1);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
# compile_chain OPTION...: three programs.  moved: the locks of one are where another one has other data
compile_chain()
{
	for n in 1 2 3; do
		moved=
		[ "$1" != moved ] || moved=-DMOVED=$((100 * n))
		# shellcheck disable=SC2086 # no word or one
		${CC:-cc} -g -pthread $moved "-DLOCKS=locks_of_$n" "$scratch/chain.c" -o "$scratch/chain_$n" "$2" 2>"$scratch/err" ||
			return
	done
}
# names_of_chain TITLE COMMAND...: the log calls all objects as the programs do
names_of_chain()
{
	title=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$@" "$tool" record --preload --inherit --quiet --force -o "$log" "$scratch/chain_1" "$scratch/chain_2" \
		"$scratch/chain_3" >"$scratch/account" 2>"$scratch/err" || complain "$title: record fails: $(cat "$scratch/err")"
	[ "$(wc -l <"$scratch/account")" -eq 48 ] || complain "$title: the account has $(wc -l <"$scratch/account") lines"
	sort "$scratch/account" >"$scratch/account.sorted"
	"$tool" info --objects "$log" | awk '$2 == "mutex" { sub(/[+].*/, "", $6); print $4, $6, $NF }' | sort >"$scratch/told"
	cmp -s "$scratch/account.sorted" "$scratch/told" ||
		complain "$title: $(diff "$scratch/account.sorted" "$scratch/told" | head -5)"
}
if compile_chain usual -no-pie; then
	names_of_chain 'programs at fixed addresses that have locks at the same ones' env
	names_of_chain 'the same with all libraries at the same addresses' setarch -R
	compile_chain moved -pie || complain "no program: $(cat "$scratch/err")"
	names_of_chain 'programs at any addresses' env
	names_of_chain 'programs whose locks are where others have data' setarch -R
else
	echo "SKIP names of several programs: $(cat "$scratch/err")"
fi

# Programs at fixed addresses, each in a log of its own: a merged log names the functions of both.
cat >"$scratch/fixed.c" <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void FUNCTION(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}
int main(void)
{
	FUNCTION();
	return 0;
}
END
fixed()
{
	${CC:-cc} -g -no-pie -pthread "-DFUNCTION=function_of_$1" "$scratch/fixed.c" -o "$scratch/fixed_$1" 2>"$scratch/err" ||
		return
	log=$scratch/fixed_$1.trx
	record_named "fixed_$1" "$tool" record --preload --quiet --force -o "$log" "$scratch/fixed_$1"
	log=$scratch/programs.trx
}
if fixed 1 && fixed 2; then
	nr_checks=$((nr_checks + 1))
	"$tool" merge --force -o "$log" "$scratch/fixed_1.trx" "$scratch/fixed_2.trx" 2>"$scratch/err" ||
		complain "merge fails: $(cat "$scratch/err")"
	"$tool" print --columns where "$log" >"$scratch/places"
	for number in 1 2; do
		grep -q "function_of_$number.*fixed.c:5" "$scratch/places" ||
			complain "function_of_$number is not named in a merged log: $(sort -u "$scratch/places" | tail -5)"
	done
	# Without descriptors, there are no names, and a message.
	for limit in 6 7 8 9 10 11 12; do
		(ulimit -n $limit && exec "$tool" print --columns where "$log") >"$scratch/places" 2>"$scratch/said" || continue
		nr_checks=$((nr_checks + 1))
		{ grep -q function_of_1 "$scratch/places" && grep -q function_of_2 "$scratch/places"; } ||
			grep -q 'ulimit -n' "$scratch/said" ||
			complain "with $limit descriptors, names are missing without a word: $(cat "$scratch/said")"
	done
	# The second process has the pid of the first one: its functions are not those of the first program.
	cat >"$scratch/reuse.sh" <<'END'
for number in 1 2; do
	echo 20007 >/proc/sys/kernel/ns_last_pid || exit 77
	"$1" record --preload --quiet --force -o "$2/reused_$number.trx" "$2/fixed_$number" || exit 1
done
END
	# Only root can choose a pid, and only where there are PID name spaces.
	if unshare -pf --mount-proc sh "$scratch/reuse.sh" "$tool" "$scratch" 2>"$scratch/err"; then
		nr_checks=$((nr_checks + 1))
		"$tool" merge --force -o "$log" "$scratch/reused_1.trx" "$scratch/reused_2.trx" 2>"$scratch/err" ||
			complain "merge of two processes with one pid fails: $(cat "$scratch/err")"
		"$tool" print --columns thread,where "$log" | grep '^fixed_2 ' >"$scratch/places"
		! grep function_of_1 "$scratch/places" || complain "a program is named by another one with its pid"
	else
		echo "SKIP two processes with one pid: $(cat "$scratch/err")"
	fi
else
	echo "SKIP programs at fixed addresses: $(cat "$scratch/err")"
fi

# Programs that name a type of theirs alike, which is not alike.
cat >"$scratch/typed.c" <<'END'
#include <stdint.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>
struct order {
#if NUMBER == 1
	uint32_t id, price;
	uint64_t amount;
#else
	uint64_t amount;
	uint32_t price, id;
#endif
};
int main(int argc, char **argv)
{
	struct order order = {.id = NUMBER, .price = 100, .amount = 1000};
	trace_event_id_t type;

	if (posix_trace_eventid_open("order", &type) != 0 || TXTRACE_TYPE(type, struct order) != 0)
		return 1;
	posix_trace_event(type, &order, sizeof(order));
	if (argc > 1 && fork() == 0) {
		posix_trace_event(type, &order, sizeof(order));
		execv(argv[1], argv + 1);
		_exit(1);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
END
typed()
{
	# shellcheck disable=SC2086 # words
	${CC:-cc} -g -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 "-DNUMBER=$1" "-I$top/include" "$scratch/typed.c" -o "$scratch/typed_$1" \
		-Llib/.libs -lposixtrace 2>"$scratch/err"
}
orders()
{
	"$tool" print --columns data -f 'order*' "$log" 2>"$scratch/said" | sed 1d | tr '\n' ';'
}
LD_LIBRARY_PATH=$(pwd)/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
if typed 1 && typed 2; then
	nr_checks=$((nr_checks + 5))
	for number in 1 2; do
		"$tool" record --quiet --force -o "$scratch/typed_$number.trx" "$scratch/typed_$number" 2>"$scratch/err" ||
			complain "record of typed_$number fails: $(cat "$scratch/err")"
	done
	"$tool" merge --force -o "$log" "$scratch/typed_1.trx" "$scratch/typed_2.trx" 2>"$scratch/err"
	[ "$(orders)" = 'id=1 price=100 amount=1000;amount=1000 price=100 id=2;' ] ||
		complain "a merged log mistakes types: $(orders)"
	# Merged again, the types are still two.
	mv "$log" "$scratch/merged.trx"
	"$tool" record --quiet --force -o "$scratch/typed_3.trx" "$scratch/typed_2" 2>"$scratch/err" ||
		complain "record of typed_2 fails: $(cat "$scratch/err")"
	"$tool" merge --force -o "$log" "$scratch/typed_3.trx" "$scratch/merged.trx" 2>"$scratch/err" ||
		complain "a merged log is not merged: $(cat "$scratch/err")"
	"$tool" print --columns event -f 'order*' "$log" | sed 1d | sort | uniq -c | tr -s ' \n' ' ' >"$scratch/got"
	[ "$(cat "$scratch/got")" = ' 2 order 1 order (2) ' ] || complain "types of logs merged again: $(cat "$scratch/got")"
	"$tool" record --inherit --quiet --force -o "$log" "$scratch/typed_1" "$scratch/typed_2" 2>"$scratch/err" ||
		complain "record of typed_1 and typed_2 fails: $(cat "$scratch/err")"
	orders >"$scratch/got"
	grep -qE '^id=1 price=100 amount=1000;id=1 price=100 amount=1000;[0-9a-f ]+;$' "$scratch/got" &&
		grep -q 'perhaps of another one, are shown as bytes' "$scratch/said" ||
		complain "after an exec, types are mistaken: $(cat "$scratch/got" "$scratch/said")"
	# The same where both programs are at the same addresses, and nothing but their threads tells of the exec.
	for number in 1 2; do
		${CC:-cc} -g -no-pie -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 "-DNUMBER=$number" "-I$top/include" \
			"$scratch/typed.c" -o "$scratch/fixed_$number" -Llib/.libs -lposixtrace 2>"$scratch/err" ||
			cp "$scratch/typed_$number" "$scratch/fixed_$number"
	done
	mv "$log" "$scratch/inherited.trx"
	"$tool" record --inherit --quiet --force -o "$log" "$scratch/fixed_1" "$scratch/fixed_2" 2>"$scratch/err" ||
		complain "record of fixed_1 and fixed_2 fails: $(cat "$scratch/err")"
	orders >"$scratch/got"
	grep -qE '^id=1 price=100 amount=1000;id=1 price=100 amount=1000;[0-9a-f ]+;$' "$scratch/got" ||
		complain "after an exec of a program at the same addresses, types are mistaken: $(cat "$scratch/got")"
	"$tool" merge --force -o "$log" "$scratch/inherited.trx" "$scratch/typed_3.trx" 2>"$scratch/err"
	[ "$("$tool" print --columns data -f 'order*' "$log" | grep -c '^data=\[')" -eq 3 ] &&
		[ "$(orders | tr ';' '\n' | grep -c 'amount=1000 price=100 id=2')" -eq 1 ] &&
		grep -q 'perhaps of another one, has recorded order, too' "$scratch/err" ||
		complain "merged after an exec, types are mistaken: $(orders; cat "$scratch/err")"
	# A filter takes the same events as print does, also if their data are bytes in the merged log.
	"$tool" merge --force -f 'order and data.price=100' -o "$log" "$scratch/inherited.trx" "$scratch/typed_3.trx" \
		2>"$scratch/err" || complain "merge -f fails: $(cat "$scratch/err")"
	for file in inherited typed_3; do
		"$tool" print --columns event -f 'order and data.price=100' "$scratch/$file.trx" 2>"$scratch/err" | sed 1d
	done | wc -l >"$scratch/wanted"
	[ "$("$tool" print --columns event -f 'order*' "$log" 2>"$scratch/err" | sed 1d | wc -l)" -eq "$(cat "$scratch/wanted")" ] ||
		complain "merge -f takes other events than print -f: $("$tool" print "$log" 2>&1 | grep order)"
	mv "$scratch/typed_1" "$scratch/typed_away"
	"$tool" merge --force -o "$log" "$scratch/typed_1.trx" "$scratch/typed_2.trx" 2>"$scratch/err"
	case $(orders) in
	'data=['*'];amount=1000 price=100 id=2;') ;;
	*) complain "without the program, a merged log mistakes its type: $(orders)" ;;
	esac
else
	echo "SKIP types of several programs: $(cat "$scratch/err")"
fi

# Equal addresses on the stacks of two programs are two stacks.
cat >"$scratch/sleeps.c" <<'END'
#include <unistd.h>
__attribute__((noinline)) void FUNCTION(void)
{
	for (int i = 0; i < 3; i++)
		usleep(1000);
}
int main(void)
{
	FUNCTION();
	return 0;
}
END
sleeps()
{
	${CC:-cc} -g -O0 -fno-pie -no-pie "-DFUNCTION=function_of_$1" "$scratch/sleeps.c" -o "$scratch/sleeps_$1" \
		2>"$scratch/err" &&
		setarch -R "$tool" record --preload --stacks=all --quiet --force -o "$scratch/sleeps_$1.trx" \
			"$scratch/sleeps_$1" 2>"$scratch/err"
}
if sleeps 1 && sleeps 2; then
	"$tool" blocked --stacks "$scratch/sleeps_1.trx" >"$scratch/said" 2>&1
	if grep -q function_of_1 "$scratch/said"; then
		nr_checks=$((nr_checks + 1))
		"$tool" merge --force -o "$log" "$scratch/sleeps_1.trx" "$scratch/sleeps_2.trx" 2>"$scratch/err" ||
			complain "merge of stacks fails: $(cat "$scratch/err")"
		"$tool" blocked --stacks "$log" >"$scratch/said" 2>&1
		[ "$(grep -c 'in 3 waits' "$scratch/said")" -eq 2 ] && grep -q function_of_2 "$scratch/said" ||
			complain "stacks of two programs are one: $(cat "$scratch/said")"
	else
		echo "SKIP stacks of two programs: none has a function here"
	fi
else
	echo "SKIP stacks of two programs: $(cat "$scratch/err")"
fi

# While it records, the tool asks no server for debugging information: the events would wait for the answer.
cat >"$scratch/server.py" <<'END'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "a") as asked:
            print(self.path, file=asked)
        self.send_error(404)
    def log_message(self, *arguments):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[2], "w") as port:
    print(server.server_port, file=port)
server.serve_forever()
END
if command -v python3 >/dev/null && [ -e "$scratch/fixed_1" ] && command -v strip >/dev/null; then
	: >"$scratch/asked"
	python3 "$scratch/server.py" "$scratch/asked" "$scratch/port" &
	server=$!
	await test -s "$scratch/port"
	strip -s -o "$scratch/stripped" "$scratch/fixed_1"
	nr_checks=$((nr_checks + 1))
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$scratch/port") DEBUGINFOD_CACHE_PATH=$scratch/cache \
		"$tool" record --preload --quiet --force -o "$log" "$scratch/stripped" 2>"$scratch/err" ||
		complain "record of a stripped program fails: $(cat "$scratch/err")"
	kill "$server"
	[ ! -s "$scratch/asked" ] || complain "record asks a server: $(cat "$scratch/asked")"
else
	echo 'SKIP servers of debugging information: there is no Python, no compiler or no strip'
fi

# A child of vfork() that tries several programs, as execvp() does, is one process with the program that it executes.
cat >"$scratch/tries.c" <<'END'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	if (vfork() == 0) {
		execl("/nonexistent/true", "true", (char *)0);
		execl("/nonexistent/other/true", "true", (char *)0);
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)0);
		_exit(1);
	}
	return wait(0) < 0;
}
END
if ${CC:-cc} "$scratch/tries.c" -o "$scratch/tries" 2>"$scratch/err"; then
	nr_checks=$((nr_checks + 2))
	"$tool" record --preload --inherit --quiet --force -o "$log" "$scratch/tries" 2>"$scratch/err" ||
		complain "tries fails: $(cat "$scratch/err")"
	found=$("$tool" report "$log" 2>/dev/null | sed -n '/^Processes$/,/^$/p' | sed 1,2d | grep -c '[0-9]')
	[ "$found" -eq 2 ] || complain "$found processes of a child that tries three programs"
	"$tool" report "$log" 2>/dev/null | grep -q 'exit 3 *sh -c exit 3' || complain 'its program is not told'
else
	echo "SKIP a child that tries several programs: $(cat "$scratch/err")"
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
	if ${CXX:-c++} -g -pthread "$scratch/names.cc" -o "$scratch/names" 2>"$scratch/err"; then
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
