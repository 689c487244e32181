#!/bin/sh
# SPDX-License-Identifier: MIT
# with-own-dir.sh fails a test of which a checker has a report, and skips the tests in unchecked.txt.  The list names
# only tests that exist, with a reason, and each suppression has its reason, too.
set -u

srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
support=$srcdir/tests/support
. "$support/complain.sh"

# A test whose child, of which it does not read the status, has a report.  valgrind and sanitizers write reports alike.
mkdir -p "$scratch/tests"
cat >"$scratch/tests/reported.sh" <<'END'
path=${UBSAN_OPTIONS:-}
path=${path#*log_path=}
case $path in /*) echo 'runtime error: too large' >"${path%%:*}.1" ;; esac
echo 'it ran'
exit 0
END

# AddressSanitizer warns once about coroutines; the second argument is a report after the warning.
cat >"$scratch/tests/coroutines.sh" <<'END'
path=${ASAN_OPTIONS:-}
path=${path#*log_path=}
{
	echo "==1==WARNING: ASan doesn't fully support makecontext/swapcontext functions and may produce false positives"
	[ $# -eq 0 ] || echo "==1==ERROR: AddressSanitizer: $1"
} >"${path%%:*}.1"
echo 'it ran'
END

# with CHECKERS STATUS TEXT COMMAND...
with()
{
	checkers=$1
	expected=$2
	text=$3
	shift 3
	(
		unset UBSAN_OPTIONS ASAN_OPTIONS TSAN_OPTIONS
		PX_CHECKERS=$checkers sh "$support/with-own-dir.sh" "$@"
	) >"$scratch/out" 2>&1
	status=$?
	[ $status -eq "$expected" ] || complain "with '$checkers', $* has the status $status, not $expected"
	grep -qF "$text" "$scratch/out" || complain "with '$checkers', $* does not print '$text': $(cat "$scratch/out")"
}

with '' 0 'it ran' sh "$scratch/tests/reported.sh"
with 'asan' 0 'it ran' sh "$scratch/tests/reported.sh"
with 'ubsan' 1 'runtime error: too large' sh "$scratch/tests/reported.sh"
with 'asan ubsan' 1 'FAIL: reports of asan ubsan' sh "$scratch/tests/reported.sh"
with 'asan' 0 'it ran' sh "$scratch/tests/coroutines.sh"
with 'asan' 1 'ERROR: AddressSanitizer: heap-use-after-free' sh "$scratch/tests/coroutines.sh" heap-use-after-free
with 'tsan' 77 'SKIP: a sanitizer must be loaded first' sh "$srcdir/tests/tool/growth.sh"
with 'valgrind' 77 'SKIP: it runs programs many times' sh "$srcdir/tests/tool/print.sh"

grep '^[a-z]' "$support/unchecked.txt" | while read -r checkers pattern reason; do
	[ -n "$reason" ] || echo "$checkers $pattern: it has no reason"
	# shellcheck disable=SC2086  # a pattern
	case $pattern in tests/\*.sh) continue ;; esac
	ls "$srcdir"/$pattern >/dev/null 2>&1 || [ -e "$srcdir/$pattern.c" ] || echo "$pattern: there is no such test"
	echo "$checkers" | tr , '\n' | grep -vxE 'asan|ubsan|tsan|valgrind'
done >"$scratch/wrong"
complain_each 'is wrong in unchecked.txt' <"$scratch/wrong"

# An entry of a list for sanitizers is a line, one of valgrind's begins with {.
for list in "$support"/*.supp; do
	awk '/^#/ { reason = 1; next } /^$/ { reason = 0; next }
		/^[a-z]+:/ || /^\{/ { if (!reason) print FILENAME ":" FNR }' "$list"
done >"$scratch/wrong"
complain_each 'has no reason' <"$scratch/wrong"

[ $failed -eq 0 ]
