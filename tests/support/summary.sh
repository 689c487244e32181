#!/bin/sh
# SPDX-License-Identifier: MIT
# summary.sh LOG...: summarise the tests with these logs: the last lines of each suite, a line for each other test, and
# the end of the log of each failed test. Then list all failures once more, because a reader may keep only the end of a
# long output. The last line has only the totals. A suite counts as many tests as it checked, a script counts as one. A
# test of a suite that printed "SKIP name: reason" counts as skipped, and so does each part of a script that the script
# reports as skipped.
set -u

passed=0
failed=0
skipped=0
failed_logs=

# The failed checks of a suite. For a script, or a suite that was killed: the failures that it printed, and the end of
# its log.
print_failure()
{
	echo "${1%.log}:"
	if [ ! -r "$1" ]; then
		echo '    was not run'
		return
	fi
	checks=$(grep -aE '^[^ ]+:[0-9]+:[FE]:' "$1" | tail -n 50)
	if [ -n "$checks" ]; then
		printf '%s\n' "$checks"
	else
		{
			grep -a '^FAIL: ' "$1" | tail -n 50
			tail -n 15 "$1"
		} | awk '!seen[$0]++'
	fi | sed 's/^/    /'
}

# The tests of a suite that were skipped and did not fail. A failure is FILE:LINE:KIND:CASE:TEST:NUMBER: ...
skipped_tests()
{
	grep -aE '^([^ ]+:[0-9]+:[FE]:|SKIP [A-Za-z0-9_]+: )' "$1" | awk -F: '
		/^SKIP / { line[++n] = $0; next }
		{ failed["SKIP " $5] = 1 }
		END { for (i = 1; i <= n; i++) if (!(substr(line[i], 1, index(line[i], ":") - 1) in failed)) print line[i] }
	'
}

for log in "$@"; do
	trs=${log%.log}.trs
	name=${log%.log}
	result=
	[ -r "$trs" ] && result=$(sed -n 's/^:test-result: *//p' "$trs" | head -n 1)

	bad=0
	suite=no
	if [ -r "$log" ]; then
		# "Running suite(s): ..." and "NN%: Checks: N, Failures: N, Errors: N"
		lines=$(grep -aE '^Running suite|^[0-9]+%: Checks: ' "$log")
		counts=$(sed -nE 's/^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+).*/\1 \2 \3/p' \
			"$log" | awk '{ c += $1; b += $2 + $3 } END { if (NR) print c, b }')
		if [ -n "$counts" ]; then
			suite=yes
			bad=${counts#* }
			left_out=$(skipped_tests "$log" | wc -l)
			passed=$((passed + ${counts% *} - bad - left_out))
			failed=$((failed + bad))
			skipped=$((skipped + left_out))
			printf '%s\n' "$lines"
			skipped_tests "$log" | uniq -c | awk '{
				times = $1 > 1 ? " (" $1 " times)" : ""
				sub(/^ *[0-9]+ /, "")
				print "    " $0 times
			}'
		fi
	fi

	case $result in
	PASS)
		if [ "$suite" = no ]; then
			passed=$((passed + 1))
			echo "PASS: $name"
			skipped=$((skipped + $(grep -ac '^SKIP[ :]' "$log")))
			grep -a '^SKIP[ :]' "$log" | sed 's/^/    /'
		fi
		;;
	SKIP)
		skipped=$((skipped + 1))
		echo "SKIP: $name: $(grep -av '^SKIP tests/' "$log" | grep -a . | tail -n 1 | sed 's/^SKIP:* //')"
		;;
	'')
		failed=$((failed + 1))
		failed_logs="$failed_logs $log"
		echo "FAIL: $name: was not run"
		;;
	*)
		# Killed, or failed after its last check: count at least one failure.
		[ "$bad" -gt 0 ] || failed=$((failed + 1))
		failed_logs="$failed_logs $log"
		echo "$result: $name, the end of its log:"
		tail -n 25 "$log" | sed 's/^/    /'
		;;
	esac
done

[ -z "$failed_logs" ] || printf '\nWhat failed:\n'
for log in $failed_logs; do
	print_failure "$log"
done
echo "$passed passed, $failed failed, $skipped skipped"
