# SPDX-License-Identifier: MIT
# For the tests of the tool, one script a command: sourced, not run.
#
#	golden NAME ARGUMENT...		what the tool prints is tests/tool/golden/NAME, and it exits with 0
#	golden_file NAME FILE		a file that the script made is tests/tool/golden/NAME
#	fails CODE TEXT ARGUMENT...	it exits so, says one line on stderr that holds the text, and prints nothing
#	complain TEXT...		a failure of the script's own
#	make_samples			make the traces $samples/threadx.trx, filex.trx, netx_tcp.trx and netx_udp.trx from
#					tests/data; $mktrx makes others, and $mksched makes logs with scheduling records
#	make_mixture FILE		make a log of a program with calls of many kinds; 1: it cannot be preloaded here
#	make_preloaded FILE PROGRAM...	the same of another program
#	has_preload			whether programs can be preloaded here
#	need_browser			skip this script if there is no Chromium
#	has_program PROGRAM WHAT	whether it is installed; options behind it do not count; if not, print that this part is
#					skipped
#	own_streams			streams of this script are its own; $subject is a program to trace
#	own_account			$account is a program that keeps account of its events, $record its account;
#					recording OPTION... starts it as $pid, and waits until its stream has events;
#					ended ends it
#	counted OPTION... FILE		a trace agrees with the account: account check
#	own_preload			$plain [ROUNDS [FILE]] knows nothing of posixtrace, and waits until there is the
#					file; 1: it cannot be preloaded here
#	await COMMAND...		wait until it succeeds; what never does is a failure, after two minutes
#	await_process PID		wait until it is a process that could be traced
#	emulator_of PID			if an emulator runs this process, as which others see it: its name
#	findings FILE			what check says of a trace, but for the time of threads of an emulator, which is a time
#					of no thread
#	await_stream PID		wait until a stream of this process runs
#	await_events PID		wait until a stream that this process has or makes has a hundred events
#	header_at FILE			the offset of the header of a log, struct px_log_header
#	set_bytes FILE OFFSET TEXT SIZE	put TEXT into the header of a log, and zeros up to SIZE bytes
#	other_recording FILE TEXT NUMBER	the log becomes that of another stream, with a uuid of this text; NUMBER < 1000
#	on_host FILE HOST NUMBER	the log becomes that of another recording on another machine
#	of_host FILE HOST NUMBER	the same recording, but on another machine
#	values COLUMN			turn CSV of reports into lines REPORT,LABEL,COLUMN,VALUE; the label is the value of the
#					given column, and rows without one are left out
#	binary_of PROGRAM		what a program of the build is, if it is not a script of libtool
#	finish				the end
#
# UPDATE_GOLDEN=1 writes the golden files anew: look at the difference before it is committed.
set -u

srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
LC_ALL=C
TZ=UTC
NO_COLOR=1
export LC_ALL TZ NO_COLOR
unset PAGER
tool=${TXTRACE:-bin/txtrace}
case $tool in /*) ;; *) tool=$(pwd)/$tool ;; esac
[ -x "$tool" ] || { echo "FAIL: there is no $tool"; exit 99; }
mktrx=${MKTRX:-$(dirname "$tool")/../tests/tool/mktrx}
[ -x "$mktrx" ] || { echo "FAIL: there is no $mktrx"; exit 99; }
mksched=${MKSCHED:-$(dirname "$tool")/../tests/tool/mksched}
[ -x "$mksched" ] || { echo "FAIL: there is no $mksched"; exit 99; }
golden_dir=$top/tests/tool/golden
. "$srcdir/tests/support/complain.sh"
nr_checks=0

golden()
{
	name=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	# The directory of the samples does not matter.
	[ -z "${samples:-}" ] || sed -i "s|$samples/||g" "$scratch/out"
	if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
		cp "$scratch/out" "$golden_dir/$name"
		return
	fi
	if [ "$code" -ne 0 ]; then
		complain "$name: txtrace $* exits with $code: $(head -3 "$scratch/err")"
	elif ! cmp -s "$scratch/out" "$golden_dir/$name"; then
		complain "$name: txtrace $* prints something else:"
		diff -u "$golden_dir/$name" "$scratch/out" | head -20
	fi
}

golden_file()
{
	nr_checks=$((nr_checks + 1))
	if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
		cp "$2" "$golden_dir/$1"
	elif ! cmp -s "$2" "$golden_dir/$1"; then
		complain "$1 is something else:"
		diff -u "$golden_dir/$1" "$2" | head -20
	fi
}

fails()
{
	expected=$1
	text=$2
	shift 2
	nr_checks=$((nr_checks + 1))
	"$tool" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	[ "$code" -eq "$expected" ] || complain "txtrace $* exits with $code, not $expected"
	[ "$(wc -l <"$scratch/err")" -eq 1 ] || complain "txtrace $* does not say one line: $(cat "$scratch/err")"
	grep -qF -e "$text" "$scratch/err" || complain "txtrace $* does not say '$text': $(cat "$scratch/err")"
	[ ! -s "$scratch/out" ] || complain "txtrace $* prints something"
}

make_samples()
{
	samples=$scratch/samples
	mkdir "$samples"
	for sample in threadx filex netx_tcp netx_udp; do
		"$mktrx" <"$top/tests/data/$sample.txt" >"$samples/$sample.trx" || complain "mktrx fails on $sample.txt"
	done
}

has_preload()
{
	[ -r "$(dirname "$tool")/../preload/.libs/libtxtrace-preload.so" ] && [ "${PX_SANITIZED:-no}" = no ]
}

# make_preloaded FILE PROGRAM [ARGUMENT...]: a log of a program that knows nothing of posixtrace
make_preloaded()
{
	log=$1
	shift
	if ! has_preload; then
		echo 'SKIP preloaded programs: the object was not built, or a sanitizer must be loaded first'
		return 1
	fi
	TXTRACE_PRELOAD=$(dirname "$tool")/../preload/.libs/libtxtrace-preload.so sh "$top/tests/support/with-own-dir.sh" \
		"$tool" record --preload --quiet -o "$log" "$@" && return
	complain "$1 fails"
	return 1
}

# make_mixture FILE: a log of tests/tool/mixture
make_mixture()
{
	make_preloaded "$1" "$(dirname "$tool")/../tests/tool/mixture" "$scratch/account"
}

values()
{
	tr -d '\r' | awk -F, -v label="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[column[i] = $i] = i; next }
	$at[label] != "" {
		for (i = 2; i <= NF; i++)
			if (i != at[label])
				print $1 "," $at[label] "," column[i] "," $i
	}'
}

# need_browser: skip the script if there is no Chromium, or no Python to drive it
need_browser()
{
	command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
	(cd "$top/tests/tool" && PYTHONDONTWRITEBYTECODE=1 python3 -c 'import browser, sys; sys.exit(not browser.find_browser())') &&
		return
	echo 'SKIP: there is no Chromium (Debian: apt-get install chromium)'
	exit 77
}

has_program()
{
	command -v "${1%% *}" >/dev/null && return
	echo "SKIP $2: $1 is missing"
	return 1
}

# bad_files COMMAND [ARGUMENT...]: the message of each command with a file that is no trace
bad_files()
{
	: >"$scratch/empty"
	printf abc >"$scratch/three"
	head -c 5000 /dev/urandom >"$scratch/random"
	mkfifo "$scratch/pipe"
	fails 2 'No such file' "$@" "$scratch/missing"
	fails 2 'is a directory' "$@" "$scratch"
	fails 2 'is empty; if it is a log, its writer ended before the log began' "$@" "$scratch/empty"
	fails 2 'not a trace' "$@" "$scratch/three"
	fails 2 'not a trace' "$@" "$scratch/random"
	fails 2 'not a file' "$@" "$scratch/pipe"
	if [ "$(id -u)" -ne 0 ]; then
		chmod 0 "$scratch/random"
		fails 2 'Permission denied' "$@" "$scratch/random"
	fi
	fails 2 'unknown option --nonsense' "$@" --nonsense "$scratch/empty"
	rm -rf "$scratch/pipe" "$scratch/random"
}

own_streams()
{
	TXTRACE_DIR=$scratch/shm
	export TXTRACE_DIR
	subject=$(dirname "$tool")/../tests/tool/subject
	[ -x "$subject" ] || { echo "FAIL: there is no $subject"; exit 99; }
	subject=$(cd "$(dirname "$subject")" && pwd)/subject
}

own_account()
{
	account=$(dirname "$tool")/../tests/tool/account
	[ -x "$account" ] || { echo "FAIL: there is no $account"; exit 99; }
	account=$(cd "$(dirname "$account")" && pwd)/account
	record=$scratch/account
}

recording()
{
	"$account" record "$@" "$record" &
	pid=$!
	await_events "$pid"
}

ended()
{
	kill "$pid"
	wait "$pid" || complain "the program that keeps account exits with $?"
}

counted()
{
	nr_checks=$((nr_checks + 1))
	"$account" check "$@" "$record" >"$scratch/out" 2>"$scratch/err" ||
		complain "account check $*: $(cat "$scratch/err" "$scratch/out")"
}

own_preload()
{
	if ! has_preload; then
		echo 'SKIP preloaded programs: the object was not built, or a sanitizer must be loaded first'
		return 1
	fi
	cat >"$scratch/plain.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	while (argc > 2 && access(argv[2], F_OK) != 0)
		usleep(1000);
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&queue_lock);
		pthread_mutex_unlock(&queue_lock);
	}
	return 3;
}
END
	plain=$scratch/plain
	# Where addresses have 32 bits, a shell and the program that it executes often lie at the same ones. A program at an
	# address of its own lies elsewhere, so these tests do not depend on chance.
	set --
	[ "$(getconf LONG_BIT)" != 32 ] || set -- -no-pie
	${CC:-cc} -g "$@" -pthread "$scratch/plain.c" -o "$plain"
}

header_at()
{
	grep -abo 'PXTXLOG1' "$1" | head -1 | cut -d: -f1
}

set_bytes()
{
	{ printf '%s' "$3"; head -c $(($4 - ${#3})) /dev/zero; } |
		dd of="$1" bs=1 seek=$(($(header_at "$1") + $2)) conv=notrunc 2>/dev/null
}

# The other stream was created some nanoseconds later: the number is in their lowest bytes.
other_recording()
{
	set_bytes "$1" 48 "$2" 16
	case $(printf '\1\0' | od -An -tu2 | tr -d ' ') in
	1) set_bytes "$1" 360 "$(printf %03d "$3")" 8 ;;
	*) set_bytes "$1" 365 "$(printf %03d "$3")" 3 ;;
	esac
}

on_host()
{
	set_bytes "$1" 48 "$(printf '%016d' "$3")" 16
	of_host "$@"
}

of_host()
{
	set_bytes "$1" 112 "00000000-0000-0000-0000-00000000$(printf '%04d' "$3")" 40
	set_bytes "$1" 152 "$2" 64
}

await()
{
	deadline=$(($(date +%s) + 120)) # a time: on a slow machine a round takes seconds
	while [ "$(date +%s)" -lt "$deadline" ]; do
		"$@" && return
		sleep 0.1
	done
	complain "after two minutes it is not so yet: $*: $("$tool" list)"
	return 1
}

# listed REGEX: list prints it, as JSON
listed()
{
	"$tool" list --format json | grep -qE -e "$1"
}

await_process()
{
	await listed "\\{\"pid\":$1,"
}

emulator_of()
{
	case $(readlink "/proc/$1/exe") in */qemu-*) basename "$(readlink "/proc/$1/exe")" ;; esac
}

findings()
{
	"$tool" check "$1" >"$scratch/checked" 2>&1 || { cat "$scratch/checked"; return; }
	if [ "$(ls /proc/self/task | wc -l)" -gt 1 ]; then # ls has no threads
		grep '^warning' "$scratch/checked" | grep -v '(no-thread-time)$'
	else
		grep '^warning' "$scratch/checked"
	fi
}

# A script is run by a shell, which has other libraries and loads them itself.
binary_of()
{
	if [ -x "${1%/*}/.libs/${1##*/}" ]; then
		echo "${1%/*}/.libs/${1##*/}"
	else
		echo "$1"
	fi
}

await_stream()
{
	await listed "\"target\":$1,\"state\":\"running\""
}

await_events()
{
	await listed "\"(target|controller)\":$1,.*\"events\":[0-9]{3}"
}

finish()
{
	echo "$nr_checks checks, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
