#!/bin/sh
# SPDX-License-Identifier: MIT
# The summary of the tests counts what their logs say, and tells last what failed: with the checks of a
# suite or a script, however much stands behind them, and the end of the log of what has none.
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
} | log told FAIL
log script PASS <<'END'
all is well
END
log none SKIP <<'END'
skipped: it is not there
END

cat >expected <<END

What failed:
bad:
    ../tests/bad.c:12:F:case:one:0: 100% wrong
    ../tests/bad.c:14:E:case:two:3: (after this point) Received signal 11
killed:
    Running suite(s): killed
    Terminated
told:
    FAIL: this one
$(seq 46 60 | sed 's/^/    /')
lost:
    was not run
10 passed, 5 failed, 1 skipped
END
sh "$srcdir/tests/support/summary.sh" fine.log bad.log killed.log told.log script.log none.log lost.log >all
tail -n "$(wc -l <expected)" all >last
diff -u expected last || { echo 'FAIL: this is not the end of the summary'; exit 1; }

sh "$srcdir/tests/support/summary.sh" fine.log script.log >all
printf '%s\n' 'Running suite(s): fine' '100%: Checks: 7, Failures: 0, Errors: 0' 'PASS: script' \
	'8 passed, 0 failed, 0 skipped' >expected
diff -u expected all || { echo 'FAIL: this is not the summary of what is well'; exit 1; }
