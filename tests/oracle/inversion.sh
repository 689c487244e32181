#!/bin/sh
# SPDX-License-Identifier: MIT
# A holder of a mutex that was preempted by a third thread, while a more urgent thread waits: report --inversions, why
# and locks say so, from the scheduling records of a real program (inversion.c).
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
program=$(pwd)/tests/oracle/inversion
[ "${PX_SANITIZED:-no}" = no ] || { echo 'SKIP: a sanitizer must be loaded first'; exit 77; }
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
cd "$scratch" || exit 99

"$program" >/dev/null
case $? in
0) ;;
77) echo 'SKIP: the policy SCHED_FIFO is not permitted, or CPU 0 is not'; exit 77 ;;
*) complain 'the program fails' ;;
esac
"$tool" record --preload --force -o log "$program" >account 2>err || complain "record fails: $(cat err)"
if grep -q 'without scheduling records' err; then
	echo "SKIP: $(cat err)"
	exit 77
fi
mid_ns=$(cat account)
nr_checks=$((nr_checks + 1))
"$tool" report --inversions --format csv log >csv 2>err || complain "report fails: $(cat err)"
values thread <csv >said
awk -F, -v mid="$mid_ns" '
	$1 == "priority_inversions" && $2 ~ /^high/ { of[$3] = $4 }
	END {
		if (of["owner"] !~ /^low/ || of["ran_meanwhile"] !~ /^mid/)
			print "the owner is " of["owner"] ", and " of["ran_meanwhile"] " preempted it"
		if (of["owner_without_cpu_s"] * 1e9 < mid || of["length_s"] * 1e9 < of["owner_without_cpu_s"] * 1e9)
			printf "the owner had no CPU for %s of %s s, mid ran for %s ns\n", of["owner_without_cpu_s"], of["length_s"], mid
	}' said >wrong
[ ! -s wrong ] || complain "$(cat wrong; cat said)"
nr_checks=$((nr_checks + 1))
"$tool" why log high >said 2>&1 || complain 'why fails'
grep -q 'Priority inversion: high.* is more urgent' said || complain "why does not name the inversion: $(cat said)"
grep -q 'low.* held it for .* of it without a CPU' said ||
	complain "why does not say that the holder had no CPU: $(cat said)"
nr_checks=$((nr_checks + 1))
"$tool" locks --format csv log 2>/dev/null | values lock | grep -q '^holders_without_cpu,lock,holder,low' ||
	complain "locks does not list the holder: $("$tool" locks --format csv log 2>&1)"
"$tool" locks --format csv log 2>/dev/null | values lock | grep -q '^holders_without_cpu,lock,preempted_by,mid' ||
	complain "locks does not say who preempted the holder: $("$tool" locks --format csv log 2>&1)"
grep -q 'for longest, for .*, mid.* took its CPU' said || complain "why does not say who preempted the holder: $(cat said)"
finish
