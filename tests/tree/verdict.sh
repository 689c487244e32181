#!/bin/sh
# SPDX-License-Identifier: MIT
# The summary of the tests counts what their logs contain: tests of a suite that were skipped do not count
# as passed.  Last it prints what failed: the checks of a suite or a script, however long the log is after
# them, and the end of the log if it has none.
set -u

srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99

# log NAME RESULT: a test with that result, and standard input as its log
log()
{
	cat >"$1.log"
	echo ":test-result: $2" >"$1.trs"
}

log fine PASS <<'END'
Running suite(s): fine
100%: Checks: 7, Failures: 0, Errors: 0
END
{
	echo 'Running suite(s): bad'
	echo '50%: Checks: 4, Failures: 1, Errors: 1'
	echo '../tests/bad.c:12:F:case:one:0: 100% wrong'
	echo '../tests/bad.c:14:E:case:two:3: (after this point) Received signal 11'
	seq 1 60
} | log bad FAIL
log killed FAIL <<'END'
Running suite(s): killed
Terminated
END
{
	echo 'one of its checks'
	echo 'FAIL: this one'
	seq 1 60
} | log script_fails FAIL
log script PASS <<'END'
all is well
END
log partly PASS <<'END'
Running suite(s): partly
SKIP first: needs root
SKIP looped: one CPU: no other ring
SKIP looped: one CPU: no other ring
100%: Checks: 5, Failures: 0, Errors: 0
PASS tests/partly (exit status: 0)
END
log both FAIL <<'END'
Running suite(s): both
SKIP one: needs root
SKIP other: needs root
66%: Checks: 3, Failures: 1, Errors: 0
../tests/both.c:12:F:case:other:0: wrong after all
END
log none SKIP <<'END'
SKIP: it is not there
END

cat >expected <<END

What failed:
bad:
    ../tests/bad.c:12:F:case:one:0: 100% wrong
    ../tests/bad.c:14:E:case:two:3: (after this point) Received signal 11
killed:
    Running suite(s): killed
    Terminated
script_fails:
    FAIL: this one
$(seq 46 60 | sed 's/^/    /')
lost:
    was not run
10 passed, 5 failed, 1 skipped
END
sh "$srcdir/tests/support/summary.sh" fine.log bad.log killed.log script_fails.log script.log none.log lost.log >all
tail -n "$(wc -l <expected)" all >last
diff -u expected last || { echo 'FAIL: this is not the end of the summary'; exit 1; }

{
	echo 'SKIP the page: chromium is missing'
	echo 'SKIP: also this'
	echo 'all is well'
} | log part PASS
sh "$srcdir/tests/support/summary.sh" fine.log script.log part.log >all
printf '%s\n' 'Running suite(s): fine' '100%: Checks: 7, Failures: 0, Errors: 0' 'PASS: script' 'PASS: part' \
	'    SKIP the page: chromium is missing' '    SKIP: also this' '9 passed, 0 failed, 2 skipped' >expected
diff -u expected all || { echo 'FAIL: this is not the summary of what is well'; exit 1; }

sh "$srcdir/tests/support/summary.sh" partly.log >all
printf '%s\n' 'Running suite(s): partly' '100%: Checks: 5, Failures: 0, Errors: 0' '    SKIP first: needs root' \
	'    SKIP looped: one CPU: no other ring (2 times)' '2 passed, 0 failed, 3 skipped' >expected
diff -u expected all || { echo 'FAIL: this is not the summary of a suite that skips tests'; exit 1; }

sh "$srcdir/tests/support/summary.sh" both.log | tail -n 1 >all
echo '1 passed, 1 failed, 1 skipped' >expected
diff -u expected all || { echo 'FAIL: a test that failed does not count as skipped'; exit 1; }
