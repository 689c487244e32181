#!/bin/sh
# SPDX-License-Identifier: MIT
# Scheduling records of real programs, compared by switches.py; what happens if the kernel refuses them, and if the
# recorder is killed.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
programs=$(pwd)/tests/oracle
nr_kills=${PX_KILLS:-20}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
cd "$scratch" || exit 99

# record FILE OPTION... PROGRAM ARGUMENT...
record()
{
	file=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$tool" record --preload --force -o "$file" "$@" >account 2>err || complain "record $*: $(cat err)"
}

# has_records FILE yes|no
has_records()
{
	nr=$("$tool" print --columns event "$1" | grep -c txtrace_switch)
	[ "$2" = yes ] && [ "$nr" -eq 0 ] && complain "$1 has no switches"
	[ "$2" = no ] && [ "$nr" -ne 0 ] && complain "$1 has $nr switches"
}

# log_has FILE WORDS: the log that is being written has this text
log_has()
{
	"$tool" print "$1" 2>/dev/null | grep -q "$2"
}

record first "$programs/switches" share
if grep -q 'without scheduling records' err; then
	echo "SKIP: $(cat err)"
	exit 77
fi

# check_times MODE [OPTION]: 0, 3 if only CPU times differ, 4 if the mode cannot be run, 1 otherwise
check_times()
{
	"$tool" record --preload --force -q -o "$@" "$programs/switches" "$1" >account 2>err
	case $? in
	0) ;;
	77) echo "the system does not permit a policy or a CPU" >said; return 4 ;;
	*) cp err said; return 1 ;;
	esac
	python3 "$top/tests/oracle/switches.py" "$tool" account "$1" >said 2>&1
	case $? in
	0) ;;
	3) return 3 ;;
	77) return 4 ;;
	*) return 1 ;;
	esac
}

# True times.  A host that takes the CPU in the middle of a switch spoils one run, so CPU times that differ are measured
# again.
for mode in share ping_pong moves moved pool storm fifo forks; do
	nr_checks=$((nr_checks + 1))
	for _ in 1 2 3 4 5 6; do
		case $mode in forks) check_times $mode --inherit ;; *) check_times $mode ;; esac
		result=$?
		[ $result -eq 3 ] || break
	done
	case $result in
	0) ;;
	4) echo "SKIP: $mode: $(cat said)" ;;
	*) complain "$mode: $(cat said)" ;;
	esac
done

# The user can switch them off, and the kernel can refuse them: then the program still runs, and the log has all other
# events.
record without --no-sched "$programs/switches" share
has_records without no
[ -s account ] || complain 'a program without records has no account'
# EPERM, EACCES, ENOSYS, EMFILE, ENOMEM
for error in 1 13 38 24 12; do
	nr_checks=$((nr_checks + 1))
	"$programs/../support/refuse" $error perf_event_open "$tool" record --preload --force -o refused "$programs/switches" share >account \
		2>err ||
		complain "record fails with error $error: $(cat err)"
	[ "$(grep -c 'without scheduling records: ' err)" -eq 1 ] ||
		complain "error $error is not said once: $(cat err)"
	[ "$(grep -c thread account)" -eq 2 ] || complain "with error $error the program does not end"
	has_records refused no
	# Then the log has what the kernel counts for each thread.
	nr_checks=$((nr_checks + 1))
	"$tool" print refused | grep -q 'txtrace_cpu_time .*ran_ns=' ||
		complain "the log has no times of threads after error $error"
	nr_checks=$((nr_checks + 1))
	"$tool" report --profile refused | grep -q '~Time/s' || complain 'report does not mark estimates'
	# Each thread says at its end how long it ran.
	nr_checks=$((nr_checks + 1))
	"$tool" report --profile --format csv refused | values thread >said
	awk -F, '
		FNR == NR { split($0, word, " "); cpu[word[2]] = word[5]; next }
		$1 == "execution_profile" && $3 == "time_s" { tid = $2; sub(/.* /, "", tid); ran[tid] = $4 * 1e9 }
		END {
			for (tid in cpu)
				if (ran[tid] < 0.98 * cpu[tid] || ran[tid] > 1.02 * cpu[tid] + 300000)
					printf "thread %d used the CPU for %.0f ns; the profile has %.0f\n", tid, cpu[tid], ran[tid]
		}' account said >wrong
	[ ! -s wrong ] || complain "error $error: $(cat wrong)"
done
nr_checks=$((nr_checks + 1))
"$programs/../support/refuse" 13 perf_event_open "$tool" doctor sh 2>&1 | grep -q 'cannot say which thread has a CPU' ||
	complain 'doctor does not say that the kernel refuses scheduling records'

# Few descriptors: the first thread needs its descriptors only for a moment.
nr_checks=$((nr_checks + 1))
(ulimit -n 16 && "$tool" record --preload --force -o few "$programs/switches" share >account 2>err) ||
	complain "record fails with 16 descriptors: $(cat err)"
grep -q 'without scheduling' err || has_records few yes

# A user without rights: the level of the machine decides, and record says so.
user=$((100000 + $$))
as_user="setpriv --reuid=$user --clear-groups --inh-caps=-all --bounding-set=-all"
if [ "$(id -u)" -eq 0 ] && $as_user "$tool" version >/dev/null 2>&1; then
	nr_checks=$((nr_checks + 1))
	mkdir "$scratch/user" && chmod 755 "$scratch" && chown "$user" "$scratch/user"
	(cd "$scratch/user" &&
		TXTRACE_DIR=$scratch/user/shm $as_user "$tool" record --preload -o log "$programs/switches" share \
		>account 2>err) || complain "record as a user fails: $(cat "$scratch/user/err")"
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
		has_records "$scratch/user/log" yes
		grep 'without scheduling' "$scratch/user/err" && complain 'a user is refused'
	else
		has_records "$scratch/user/log" no
		grep -q 'without scheduling records: .*perf_event_paranoid is' "$scratch/user/err" ||
			complain "record does not say why a user is refused: $(cat "$scratch/user/err")"
	fi
else
	echo 'SKIP: record as a user without rights: needs root and setpriv'
fi

# A recorder that does not read for a while loses scheduling records.  It counts them, and each command says so.
rm -f enough go flooded flood
LD_PRELOAD=$object "$programs/switches" flood >account &
program=$!
"$tool" record -q --force -o flood -p $program 2>err &
recorder=$!
nr_checks=$((nr_checks + 1))
if await log_has flood txtrace_switch_in; then
	kill -STOP $recorder
	touch go
	await test -e flooded || complain 'the program does not flood the buffers'
	kill -CONT $recorder
	await log_has flood 'txtrace_sched_gap .*ends' ||
		complain 'the kernel lost no records, or the log does not say so'
else
	complain "no switches of the program come: $(cat err)"
fi
touch enough
wait $recorder $program
nr_checks=$((nr_checks + 1))
"$tool" info flood >said 2>said.err || complain "info of a log with a gap: $(cat said.err)"
lost=$(awk '/^lost: scheduling/ { print $3 }' said)
[ "${lost:-0}" -gt 0 ] || complain "lost records are not counted: $(grep sched said)"
grep -q "the kernel lost .*$lost scheduling records" said.err || complain "info does not say so: $(cat said.err)"
nr_checks=$((nr_checks + 1))
"$tool" report --profile flood 2>/dev/null | grep -q 'scheduling records are missing in' ||
	complain 'report hides the gap'

# Two recorders of one program have its switches.
rm -f enough go
LD_PRELOAD=$object "$programs/switches" flood >account &
program=$!
"$tool" record -q --force -o one -p $program &
first=$!
"$tool" record -q --force -o two -p $program &
second=$!
nr_checks=$((nr_checks + 1))
await log_has one txtrace_switch_in
await log_has two txtrace_switch_in
touch enough
wait $first $second $program
has_records one yes
has_records two yes

# A recorder that is killed leaves a log that can be completed, says that scheduling ended, and leaves nothing behind.
for i in $(seq "$nr_kills"); do
	rm -f killed enough
	LD_PRELOAD=$object "$programs/switches" flood >account &
	program=$!
	"$tool" record -q --force -o killed -p $program 2>/dev/null &
	recorder=$!
	await test -s killed
	sleep 0.0$((i % 10))
	kill -9 $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	was_killed=$?
	touch enough
	wait $program || complain "the program of a killed recorder exits with $?"
	nr_checks=$((nr_checks + 1))
	"$tool" print --columns event,data killed >said 2>err || complain "the log of a killed recorder: $(cat err)"
	[ $was_killed -eq 137 ] || complain "the recorder has ended before it was killed: $was_killed"
	if grep -q txtrace_sched_start said; then
		grep -q 'txtrace_sched_stop  *the recorder died' said ||
			complain 'scheduling does not end with the recorder'
		"$tool" info killed | grep -q 'scheduling .*the recorder died' ||
			complain 'info does not say when scheduling ends'
	fi
done
"$tool" recover >/dev/null 2>&1
nr_checks=$((nr_checks + 1))
left=$(find "$scratch/shm" -type f | grep -vc registry)
[ "$left" -le 1 ] || complain "$left files are left: $(find "$scratch/shm" -type f)"
finish
