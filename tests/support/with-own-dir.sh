#!/bin/sh
# SPDX-License-Identifier: MIT
# with-own-dir.sh COMMAND...: run a test with a directory of its own for trace segments, so that suites can run side by
# side.  Remove the directory afterwards, however the test ended.
#
# PX_CHECKERS names the checkers of this build: asan, ubsan, tsan, valgrind.  A test that a checker cannot run is
# skipped: the list is unchecked.txt.  Reports go to files, so a report fails the test even if its process is a child
# whose status nobody reads.
#
# PX_TEST_TIMEOUT: after so many seconds, end the test and all that it started; it failed.  Unset: no limit.
set -u

support=$(cd "$(dirname "$0")" && pwd)
checkers=${PX_CHECKERS:-}

# has CHECKER: the build has it
has()
{
	case " $checkers " in *" $1 "*) return 0 ;; esac
	return 1
}

# Prints the reason why the test cannot run, if there is one.
reason_to_skip()
{
	grep '^[a-z]' "$support/unchecked.txt" | while read -r names pattern reason; do
		# shellcheck disable=SC2254  # a pattern
		case $test in $pattern) ;; *) continue ;; esac
		for name in $(echo "$names" | tr , ' '); do
			has "$name" || continue
			[ "$reason" = - ] || echo "$reason"
			exit
		done
	done
}

# The reports.  With -q, valgrind writes nothing else except notes about signals and system calls.  AddressSanitizer says
# once in a process that it may misunderstand coroutines, which is no report.
print_reports()
{
	for file in "$reports"/*; do
		[ -s "$file" ] || continue
		case $file in
		*/asan.*) grep -qv "WARNING: ASan doesn't fully support makecontext/swapcontext functions" "$file" ||
			continue ;;
		*/valgrind.*) grep -qE 'Invalid|ninitialised|definitely lost|overlap|Mismatched|fishy' "$file" ||
			continue ;;
		esac
		cat "$file"
	done
}

test=
for word in "$@"; do
	case $word in *tests/*) test=tests/${word##*tests/}; break ;; esac
done
if [ -n "$checkers" ] && [ -n "$test" ]; then
	reason=$(reason_to_skip)
	[ -z "$reason" ] || { echo "SKIP: $reason"; exit 77; }
fi

base=/dev/shm
[ -d "$base" ] && [ -w "$base" ] || base=${TMPDIR:-/tmp}
TXTRACE_DIR=$(mktemp -d "$base/posixtrace-check.XXXXXX") || exit 99
reports=$(mktemp -d "$base/posixtrace-reports.XXXXXX") || exit 99
trap 'rm -rf "$TXTRACE_DIR" "$reports"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 1777 "$reports" # tests run programs as other users

if has asan; then
	ASAN_OPTIONS=log_path=$reports/asan${ASAN_OPTIONS:+:$ASAN_OPTIONS}
	export ASAN_OPTIONS
fi
if has ubsan; then
	UBSAN_OPTIONS=log_path=$reports/ubsan:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
	export UBSAN_OPTIONS
fi
if has tsan; then
	# A child of fork() that starts threads would end.
	TSAN_OPTIONS="suppressions='$support/tsan.supp' log_path=$reports/tsan die_after_fork=0${TSAN_OPTIONS:+ $TSAN_OPTIONS}"
	export TSAN_OPTIONS
fi
if has valgrind; then
	PX_VALGRIND="${VALGRIND:-valgrind} -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
--suppressions=$support/valgrind.supp --log-file=$reports/valgrind.%p"
	export PX_VALGRIND # for scripts that run the tool
	# shellcheck disable=SC2086  # a command with options
	case $test in *.sh) ;; *) set -- $PX_VALGRIND "$@" ;; esac
fi
export TXTRACE_DIR

if [ -n "${PX_TEST_TIMEOUT:-}" ]; then
	timeout -k 10 "$PX_TEST_TIMEOUT" "$@"
	status=$?
	case $status in 124 | 137) echo "FAIL: the test took longer than $PX_TEST_TIMEOUT seconds" ;; esac
else
	"$@"
	status=$?
fi
if [ -n "$checkers" ]; then
	print_reports >"$reports/.all"
	if [ -s "$reports/.all" ]; then
		echo "FAIL: reports of $checkers:"
		head -n 400 "$reports/.all"
		[ $status -ne 0 ] || status=1
	fi
fi
exit $status
