#!/bin/sh
# SPDX-License-Identifier: MIT
# record --sched-only: the switches of programs that do not use the library, also of one that is linked statically, and
# of one that runs already; what doctor and blocked say of them.
. "${srcdir:-.}/tests/tool/lib.sh"

TXTRACE_DIR=$scratch/shm
export TXTRACE_DIR
cd "$scratch" || exit 99
refuse=$(dirname "$tool")/../tests/support/refuse
cat >sleeps.c <<'END'
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
/* How often this process lost the CPU, as the kernel counts it. */
static long switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? -1 : usage.ru_nvcsw + usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
	long before = switches();

	for (int i = 0; argc > 1 ? access(argv[1], F_OK) != 0 : i < 20; i++)
		usleep(2000);
	if (argc == 1)
		fprintf(stderr, "switches %ld %ld\n", before, switches());
	return puts("done") < 0;
}
END
${CC:-cc} sleeps.c -o sleeps || { echo 'SKIP: there is no compiler'; exit 77; }
${CC:-cc} -static sleeps.c -o static 2>/dev/null || rm -f static

# recorded FILE PROGRAM: the log has switches of the program, and nothing else of it
recorded()
{
	nr_checks=$((nr_checks + 1))
	"$tool" print --columns event "$1" >said 2>/dev/null
	grep -q txtrace_switch_out said || complain "$1 has no switches"
	grep -v -e '^txtrace_s' -e '^posix_trace_' -e '^event' said >more && complain "$1 has more: $(sort -u more)"
	nr_checks=$((nr_checks + 1))
	"$tool" blocked --format csv "$1" 2>err | values thread | awk -F, -v name="$2" '
		$1 == "blocked_unseen" && $2 == name && $3 == "times" && $4 >= 20 { found = 1 } END { exit !found }' ||
		complain "blocked does not list $2: $("$tool" blocked "$1" 2>&1)"
	grep -q 'no calls of the program.*static program, nor of Go' err ||
		complain "blocked does not say what is seen: $(cat err)"
}

"$tool" record --sched-only -o first.trx ./sleeps >out 2>err || complain "record fails: $(cat err)"
if grep -q 'no scheduling records' err; then
	echo "SKIP: $(cat err)"
	exit 77
fi
[ "$(cat out)" = 'done' ] || complain 'the program did not run'
switches=$(sed -n 's/^switches //p' err)
grep -q 'start it by txtrace record --preload' err || complain "record does not say how to get more: $(cat err)"
recorded first.trx sleeps
# The report counts the switches that the kernel counts: all since the program began, and perhaps those before.
nr_checks=$((nr_checks + 1))
read -r before after <<END
$switches
END
"$tool" report --format csv first.trx >report 2>/dev/null
for label in statistic thread; do
	values "$label" <report
done | awk -F, -v least=$((after - before)) -v most=$((after + 2)) '
	$1 == "performance_statistics" && $2 == "Context Switches" && $3 == "occurrences" { all = $4 }
	$1 == "performance_statistics_by_thread" && $2 == "sleeps" && $3 == "switches" { thread = $4 }
	$1 == "execution_profile" && $2 == "sleeps" && $3 == "time_s" { time = $4 }
	END { exit !(all >= least && all <= most && thread == all && time > 0) }' ||
	complain "report does not have the $before to $after switches of the program: $("$tool" report first.trx 2>&1)"
nr_checks=$((nr_checks + 1))
"$tool" report --cpus --format csv first.trx 2>/dev/null | values cpu | awk -F, -v least=$((after - before)) '
	$1 == "cpus" && $3 == "switches" { all += $4 }
	$1 == "cpus_by_thread" && $3 == "thread" { named += $4 == "sleeps" }
	END { exit !(all >= least && named > 0) }' ||
	complain "report does not have the CPUs of the program: $("$tool" report --cpus first.trx 2>&1)"
nr_checks=$((nr_checks + 1))
"$tool" why first.trx 2>/dev/null | grep -q '^sleeps.* was blocked for ' ||
	complain "why does not say that the thread was blocked: $("$tool" why first.trx 2>&1)"

./sleeps end >out & program=$!
"$tool" record --sched-only -o running.trx -p $program 2>err & recorder=$!
await test -s running.trx || complain 'there is no log'
has_switches()
{
	[ "$("$tool" print --columns event running.trx 2>/dev/null | grep -c txtrace_switch_out)" -ge 20 ]
}
await has_switches || complain "a running program has no switches: $(cat err)"
touch end
wait $program
wait $recorder || complain "record -p fails: $(cat err)"
grep -q 'waiting until' err && complain 'record waits for another program'
recorded running.trx sleeps

if [ -x static ]; then
	"$tool" record --sched-only -o static.trx ./static >out 2>err ||
		complain "record of a static program fails: $(cat err)"
	grep -q 'static is linked statically, so its calls cannot be recorded' err ||
		complain "record says nothing: $(cat err)"
	recorded static.trx static
	nr_checks=$((nr_checks + 1))
	"$tool" doctor ./static >out 2>err
	[ $? -eq 1 ] || complain 'a static program can be traced'
	grep -q '^switches by  *txtrace record --sched-only ./static$' out ||
		complain "doctor does not name the command: $(cat out)"
else
	echo 'SKIP: a static program: there is no static C library'
fi

# Refused, or with options for events: nothing is left, and no program runs.
for error in 1 13 38; do
	[ -x "$refuse" ] || continue
	nr_checks=$((nr_checks + 1))
	"$refuse" $error perf_event_open "$tool" record --sched-only -o none.trx ./sleeps >out 2>err &&
		complain "record succeeds with error $error"
	grep -q 'there are no scheduling records: ' err || complain "record does not say why: $(cat err)"
	[ ! -s out ] && [ ! -e none.trx ] || complain 'the program ran, or a log is left'
done
for option in --preload --no-sched --event=x --aggregate '--stream-policy loop'; do
	nr_checks=$((nr_checks + 1))
	"$tool" record --sched-only $option -o none.trx ./sleeps >out 2>err && complain "record takes $option"
	grep -q 'takes no options for events and rings' err || complain "$option: $(cat err)"
done
finish
