#!/bin/bash
# SPDX-License-Identifier: MIT
# What the kernel or a container refuses: recording works with all that remains, the events are those of the program's
# own account, and doctor --self says what is refused, and what happens instead.
. "${srcdir:-.}/tests/tool/lib.sh"

build=$(pwd)
refuse=$build/tests/support/refuse
object=${PRELOAD:-$build/preload/.libs/libtxtrace-preload.so}
[ -x "$refuse" ] || { echo "FAIL: there is no $refuse"; exit 99; }
command -v python3 >/dev/null || { echo 'SKIP: python3 is missing'; exit 77; }
"$refuse" 38 membarrier true || { echo 'SKIP: the kernel has no seccomp filters'; exit 77; }
own_streams
own_account
TXTRACE_PRELOAD=$object
PYTHONDONTWRITEBYTECODE=1
export TXTRACE_PRELOAD PYTHONDONTWRITEBYTECODE
cd "$scratch" || exit 99

# as_usual [COMMAND...]: the command, with nothing refused
as_usual()
{
	"$@"
}

# self CODE WHAT EXPRESSION RUN...: doctor --self, run by RUN, exits with this code, and the expression of Python is true:
# `unused` is the set of mechanisms that are not used, `reason` tells why, by name; result is the whole object
self()
{
	expected=$1 what=$2 expression=$3
	shift 3
	nr_checks=$((nr_checks + 1))
	"$@" "$tool" doctor --self --format json >self.json 2>err </dev/null
	code=$?
	[ $code -eq $expected ] || complain "$what: doctor --self exits with $code: $(cat self.json err)"
	[ ! -s err ] || complain "$what: doctor --self says: $(cat err)"
	python3 - "$expression" self.json >said 2>&1 <<'END' || complain "$what: not so: $expression: $(cat said self.json)"
import json, re, sys
result = json.load(open(sys.argv[2]))
rows = {row["name"]: row for row in result["mechanisms"]}
assert len(rows) == 8, rows
reason = {name: row["reason"] for name, row in rows.items()}
unused = {name for name, row in rows.items() if not row["used"]}
assert all((reason[name] is None) == (name not in unused) for name in rows), result
assert all(row["cost_ns"] is not None and row["cost_ns"] > 0 for row in rows.values()), result
assert result["traces_itself"], result
assert ("its own ring" in rows["rseq"]["way"]) == (result["rings"] > result["cpus"]), result
sys.exit(not eval(f"({sys.argv[1]})"))
END
}

has_object()
{
	[ -e "$object" ] && [ "${PX_SANITIZED:-no}" = no ]
}

# records WHAT RUN...: a program without trace points, and one with them, are recorded by RUN as they say
records()
{
	what=$1
	shift
	nr_checks=$((nr_checks + 1))
	"$@" "$tool" record --force -o own.trx "$account" record -t 4 -n 2000 own.account >out 2>err ||
		complain "$what: record fails: $(cat err)"
	judge_own -a
	has_object || return
	for program in rwlock ping_pong; do
		nr_checks=$((nr_checks + 1))
		"$@" "$tool" record --preload --force -o calls.trx "$build/tests/oracle/$program" >calls.account 2>err ||
			complain "$what: record --preload fails: $(cat err)"
		[ -s calls.account ] || complain "$what: $program has no account"
		python3 "$top/tests/oracle/check.py" "$tool" calls.account calls.trx >said 2>&1 ||
			complain "$what: $program: $(cat said)"
	done
}

# refuses WHAT TEXT RUN...: record says this, in one line, and does not run the program
refuses()
{
	what=$1 text=$2
	shift 2
	nr_checks=$((nr_checks + 1))
	rm -f own.account
	"$@" "$tool" record --force -o own.trx "$account" record -n 10 own.account >out 2>err && complain "$what: record does not fail"
	[ "$(wc -l <err)" -eq 1 ] && grep -q "$text" err || complain "$what: record says: $(cat err)"
	[ ! -e own.account ] || complain "$what: record fails, but runs the program"
}

# judge_own OPTION: the log of the program with trace points is what it says
judge_own()
{
	nr_checks=$((nr_checks + 2))
	"$account" check "$1" own.trx own.account >said 2>&1 || complain "$what: $(cat said)"
	"$tool" check own.trx >said 2>&1 || complain "$what: check: $(cat said)"
}

# alone WHAT RUN...: both programs trace themselves
alone()
{
	what=$1
	shift
	nr_checks=$((nr_checks + 1))
	rm -f own.trx alone.trx
	"$@" "$account" record -t 4 -n 2000 -r 1048576 -l own.trx own.account >out 2>&1 || complain "$what: a program fails: $(cat out)"
	judge_own -a
	has_object || return
	# Each call of these functions is one event.
	nr_checks=$((nr_checks + 1))
	TXTRACE_OUT=$PWD/alone.trx "$@" env LD_PRELOAD="$object" "$build/tests/tool/mixture" counts >out 2>err ||
		complain "$what: the preloaded program fails: $(cat err)"
	"$tool" print --format csv --columns event alone.trx >events 2>err || complain "$what: print: $(cat err)"
	for function in pthread_mutex_trylock pthread_mutex_unlock pthread_cond_signal pthread_rwlock_unlock sem_post; do
		[ "$(grep -c "^$function" events)" -eq "$(sed -n "s/^$function //p" counts)" ] ||
			complain "$what: without the tool, the log has other calls of $function than $(grep "^$function " counts)"
	done
}

# What is refused without our filter, such as perf_event_open in a container, is not our matter.
self 0 'as usual' True as_usual
usual=$(python3 -c 'import json; print({row["name"] for row in json.load(open("self.json"))["mechanisms"] if not row["used"]} or "set()")')
own=$(python3 -c '
import json
used = {row["name"]: row["used"] for row in json.load(open("self.json"))["mechanisms"]}
print(int(used["rseq"] and used["membarrier"] and used["counter"]))')
cpus=$(getconf _NPROCESSORS_CONF)
nr_checks=$((nr_checks + 1))
[ "$(python3 -c 'import json; print(json.load(open("self.json"))["rings"])')" -eq $((cpus + own)) ] ||
	complain "doctor --self shows other rings than $((cpus + own)): $(cat self.json)"

# refused CODE NAMES MECHANISMS: each error of a filter; MECHANISMS is a set of Python.  With code 1, no process can trace
# another one.
refused()
{
	for error in 38 1; do
		case $error in 38) said='does not have it|is missing' ;; *) said='not permitted' ;; esac
		self $1 "$2 fails with $error" "unused == $usual | $3 and result['seccomp'] == 'filter' and
			all(re.search('$said', reason[name]) for name in $3 - $usual) and
			result['rings'] == $cpus + (not unused & {'rseq', 'membarrier', 'counter'})" "$refuse" $error "$2"
		if [ $1 -eq 0 ]; then
			records "$2 fails with $error" "$refuse" $error "$2"
		else
			refuses "$2 fails with $error" 'there is no System V memory here' "$refuse" $error "$2"
		fi
		alone "$2 fails with $error" "$refuse" $error "$2"
	done
}

refused 0 rseq "{'rseq'}"
refused 0 membarrier "{'membarrier'}"
refused 0 futex_waitv "{'futex_waitv'}"
refused 0 perf_event_open "{'perf_event_open'}"
refused 0 process_vm_readv "{'process_vm_readv'}"
refused 1 shmget "{'System V memory'}"
refused 1 shmctl "{'System V memory'}"
# What no stream can be without, or no log: it is not the fault of the process.
for name in fallocate madvise ftruncate; do
	for error in 38 1; do
		refuses "$name fails with $error" 'a system call .* a system call filter' "$refuse" $error $name
		nr_checks=$((nr_checks + 1))
		"$refuse" $error $name "$tool" doctor --self >out 2>&1
		code=$?
		[ $code -eq 1 ] && grep -q '^traces others *no' out && grep -q '^because .* a system call filter' out ||
			complain "$name fails with $error: doctor --self exits with $code: $(cat out)"
	done
done
# glibc makes threads by clone3(2) from 2.34 on.
if getconf GNU_LIBC_VERSION 2>/dev/null | awk '$2 >= 2.34 { found = 1 } END { exit !found }'; then
	refuses 'clone3 fails with 1' 'a system call filter' "$refuse" 1 clone3
	self 1 'clone3 fails with 1' "not result['traces_others'] and
		any('the thread that writes a log' in reason for reason in result['because'])" "$refuse" 1 clone3
fi
# What only a check asks, and not a recording: doctor says the same as record.
for name in statfs access; do
	for error in 38 1; do
		self 0 "$name fails with $error" "unused == $usual and result['traces_others']" "$refuse" $error $name
		records "$name fails with $error" "$refuse" $error $name
		has_object || continue
		nr_checks=$((nr_checks + 1))
		"$refuse" $error $name "$tool" doctor "$build/tests/oracle/rwlock" >out 2>err ||
			complain "$name fails with $error: doctor says: $(cat out err)"
	done
done
refuses 'pipe2 fails with 1' 'pipe: Operation not permitted' "$refuse" 1 pipe2
nr_checks=$((nr_checks + 1))
"$refuse" 1 pipe2 "$tool" doctor "$account" >out 2>&1
grep -q '^because .*cannot start a program: pipe2: Operation not permitted' out || complain "pipe2 fails: doctor says: $(cat out)"
self 1 'pipe2 fails with 1' "not result['traces_others'] and
	any('cannot start a program' in reason and 'pipe2: Operation' in reason for reason in result['because'])" \
	"$refuse" 1 pipe2
# The child of doctor --self ends without a signal.
self 0 'kill fails with 1' "unused == $usual and result['traces_others']" timeout 60 "$refuse" 1 kill
# As in a container that forwards only old system calls.
all=rseq,membarrier,futex_waitv,perf_event_open,process_vm_readv,openat2,renameat2,memfd_create
refused 0 $all "{'rseq', 'membarrier', 'futex_waitv', 'perf_event_open', 'process_vm_readv'}"
refused 1 $all,shmget,shmat,shmctl "{'rseq', 'membarrier', 'futex_waitv', 'perf_event_open', 'process_vm_readv',
	'System V memory'}"

# Name spaces.  The streams are in /dev/shm here, as usual.
spaces='unshare -m'
[ "$(id -u)" -eq 0 ] || spaces='unshare -U -r -m'
if ! $spaces mount --make-rprivate / 2>/dev/null; then
	echo 'SKIP mounts: there are no mount name spaces'
	finish
fi
# The user may have other streams: this directory is new, and so must be the one in the directory of the machine.
unset TXTRACE_DIR

# mounted SCRIPT COMMAND...: after this script
mounted()
{
	script=$1
	shift
	$spaces sh -c "mount --make-rprivate / && $script && exec \"\$@\"" - "$@"
}

# The default of Docker; a place for fewer rings than there are CPUs; one for no ring.
small()
{
	size=$1
	shift
	mounted "mount -t tmpfs -o size=$size,mode=1777 tmpfs /dev/shm" "$@"
}
self 0 '/dev/shm of 64 MB' "result['shared_memory_size'] == 64 << 20 and result['traces_others'] and
	result['rings'] == $cpus + $own" small 64m
records '/dev/shm of 64 MB' small 64m
self 0 '/dev/shm of 3 MB' "result['shared_memory_size'] == 3 << 20 and result['traces_others'] and
	1 <= result['rings'] < $cpus + $own and any('no room for more' in note for note in result['note'])" small 3m
# Room for all rings, but not for the larger ones of record --preload; then not for one of these.  Each size is measured.
rings=$((cpus + own))
self 0 'as usual, in the directory of the machine' "result['rings_take'] > 0" as_usual
preload_ring=$(python3 -c '
import json
result = json.load(open("self.json"))
print(result["preload_rings_take"] // result["preload_rings"])')
if [ $preload_ring -ge $((2 << 20)) ]; then
	self 0 'room for the rings without --preload' "result['rings'] == $rings and 1 <= result['preload_rings'] < $rings and
		result['preload_rings_take'] == result['preload_rings'] * $preload_ring and
		not any('fewer' in note for note in result['note']) and
		any('record --preload makes %d of %d' % (result['preload_rings'], $rings) in note for note in result['note'])" \
		small $((preload_ring * 2 > (rings + 1) << 20 ? preload_ring * 2 : (rings + 1) << 20))
	if has_object && [ "$(python3 -c 'import json; print(json.load(open("self.json"))["preload_rings"])')" -lt "$cpus" ]; then
		nr_checks=$((nr_checks + 1))
		small $((preload_ring * 2 > (rings + 1) << 20 ? preload_ring * 2 : (rings + 1) << 20)) \
			"$tool" record --preload --force -o own.trx true >out 2>err || complain "record --preload fails: $(cat err)"
		grep -q "there is room for .* only, which $cpus CPUs share" err || complain "record --preload with fewer rings says: $(cat err)"
	fi
	self 0 'no room for a ring with --preload' "result['rings'] >= 1 and result['preload_rings'] >= 1 and result['traces_itself'] and
		any(re.search('record --preload makes rings of %d bytes' % ($preload_ring / 2), note) for note in result['note'])" \
		small $preload_ring
fi
# No room for a ring of the usual size: the rings are smaller, and record, doctor and the object say so.  A size that the
# user has chosen stays.
smaller='no room in the shared memory for rings of [0-9]* bytes, so they have [0-9]*: events are lost'
for size in 3m 1500k 1m; do
	self 0 "/dev/shm of $size" "result['traces_others'] and result['preload_rings'] >= 1 and
		any('makes rings of' in note for note in result['note']) and
		0 < result['rings_take'] <= result['shared_memory_size'] and
		result['shared_memory_size'] >= result['preload_rings_take'] > 0" small $size
	nr_checks=$((nr_checks + 1))
	small $size "$tool" record --force --size 4M -o own.trx true >out 2>err && complain "$size: --size 4M has room"
	grep -q 'no room in the shared memory for rings of 4194304 bytes' err || complain "$size: --size 4M: $(cat err)"
	has_object || continue
	nr_checks=$((nr_checks + 2))
	small $size "$tool" record --preload --force -o own.trx true >out 2>err || complain "$size: record --preload: $(cat err)"
	grep -q "$smaller" err || complain "$size: record --preload says: $(cat err)"
	small $size "$tool" record -q --preload --force -o own.trx true >out 2>err || complain "$size: record -q: $(cat err)"
	[ ! -s err ] || complain "$size: record -q says: $(cat err)"
	rm -f alone.trx
	TXTRACE_OUT=$PWD/alone.trx small $size env LD_PRELOAD="$object" "$build/tests/tool/mixture" counts >out 2>err ||
		complain "$size: a preloaded program: $(cat err)"
	grep -q "$smaller" err || complain "$size: the object says: $(cat err)"
	"$tool" check alone.trx >said 2>&1 || complain "$size: check: $(cat said)"
done
nr_checks=$((nr_checks + 1))
small 1m "$tool" record --force -o own.trx "$account" record -n 10 own.account >out 2>err || complain "1m: record: $(cat err)"
grep -q "$smaller" err || complain "1m: record says: $(cat err)"
nr_checks=$((nr_checks + 1))
small 100k "$tool" doctor --self --format json >self.json 2>err
[ $? -eq 1 ] || complain "doctor --self does not find that there is no room: $(cat self.json err)"
grep -q '"traces_others": false' self.json && grep -q 'there is no room for a ring' self.json || complain "no room: $(cat self.json)"
refuses '/dev/shm of 100 kB' 'no room in the shared memory' small 100k
# With --size auto, the rings have no room to grow: it is not named as what helps.
if has_object; then
	nr_checks=$((nr_checks + 1))
	small 3m "$tool" record --size auto --preload --force -o own.trx "$build/tests/tool/burst" 100000 >out 2>err
	! grep -q 'with --size auto' err || complain "record --size auto says: $(cat err)"
fi
# Other things that run out: inodes, and addresses.
few_inodes()
{
	mounted "mount -t tmpfs -o nr_inodes=3,mode=1777 tmpfs /dev/shm" "$@"
}
refuses '/dev/shm without inodes' 'no inodes left in the shared memory' few_inodes
if has_object && [ "${PX_SANITIZED:-no}" = no ]; then
	nr_checks=$((nr_checks + 1))
	rm -f alone.trx
	(ulimit -v 14000 && TXTRACE_OUT=$PWD/alone.trx LD_PRELOAD=$object exec true) >out 2>err
	! grep -q 'no room in the shared memory' err || complain "ulimit -v: the object says: $(cat err)"
	nr_checks=$((nr_checks + 1))
	timeout 60 "$tool" record --preload --force -o own.trx sh -c 'ulimit -v 14000; exec true' >out 2>err
	grep -q 'own.trx lacks the events of process [0-9]*, which could not map the trace: Cannot allocate memory' err &&
		grep -q 'none lost of the traced processes' err || complain "ulimit -v: record says: $(cat err)"
fi
# A process that has set a filter finds no trace that begins later, and record says why.
cat >filtered.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_chroot, 0, 1),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
				     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {4, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 6000 && access("done", F_OK); i++)
		usleep(10000);
	return 0;
}
END
is_recorded()
{
	"$tool" list 2>/dev/null | awk -v pid="$filtered" '$2 == pid && $3 == "running" { found = 1 } END { exit !found }'
}
if has_object && ${CC:-cc} filtered.c -o filtered 2>err; then
	nr_checks=$((nr_checks + 1))
	rm -f done
	LD_PRELOAD=$object ./filtered >ready &
	filtered=$!
	await grep -q ready ready
	timeout 60 "$tool" record --force -o own.trx -p "$filtered" >out 2>err &
	recorder=$!
	await is_recorded
	: >done
	wait "$filtered" "$recorder"
	grep -q 'filtered uses libposixtrace, but recorded no event. A system call filter is active' err ||
		complain "a process with a filter: record says: $(cat err)"
fi

# A /dev/shm that is read-only: the message names the directory, and the variable for another one.
readonly_shm()
{
	mounted "mount -t tmpfs -o ro tmpfs /dev/shm" "$@"
}
refuses 'a read-only /dev/shm' '/dev/shm/posixtrace-.*Read-only.*TXTRACE_DIR' readonly_shm
nr_checks=$((nr_checks + 1))
readonly_shm "$tool" doctor --self >out 2>&1 && complain 'doctor --self finds no fault in a read-only /dev/shm'
grep -q '^because .*/dev/shm/posixtrace-.*Read-only.*TXTRACE_DIR' out || complain "a read-only /dev/shm: doctor --self says $(cat out)"
if has_object; then
	nr_checks=$((nr_checks + 1))
	TXTRACE_OUT=$PWD/none.trx readonly_shm env LD_PRELOAD="$object" true >out 2>&1
	grep -q '/dev/shm/posixtrace-.*Read-only.*TXTRACE_DIR' out || complain "a read-only /dev/shm: the object says $(cat out)"
fi

# A root directory that is read-only, but for the directory of the output and /dev/shm.
readonly_root()
{
	mounted "mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount --bind '$scratch' '$scratch' &&
		mount -o remount,bind,ro / && cd '$scratch' && ! touch /var/tmp/here 2>/dev/null" "$@"
}
if readonly_root true; then
	self 0 'a read-only root' "unused == $usual and result['traces_others']" readonly_root
	records 'a read-only root' readonly_root
else
	echo 'SKIP a read-only root: it cannot be mounted so'
fi

# No /proc at all.
without_proc()
{
	mounted "mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount -t tmpfs tmpfs /proc" "$@"
}
if without_proc true; then
	self 1 'no /proc' "{'/proc'} <= unused and result['seccomp'] == 'not known' and not result['traces_others'] and
		('perf_event_open' in $usual or 'there is no /proc' in reason['perf_event_open'])" without_proc
	refuses 'no /proc' 'there is no /proc here' without_proc
	alone 'no /proc' without_proc
else
	echo 'SKIP no /proc: it cannot be hidden'
fi

# No /sys: the CPUs are those of /proc/stat.
without_sys()
{
	mounted "mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount -t tmpfs -o ro tmpfs /sys" "$@"
}
if without_sys true; then
	self 0 'no /sys' "('perf_event_open' in unused) == ('perf_event_open' in $usual)" without_sys
else
	echo 'SKIP no /sys: it cannot be hidden'
fi

# A new pid name space with the /proc of the old one.
with_foreign_proc()
{
	unshare -p -f "$@"
}
if with_foreign_proc true 2>/dev/null; then
	nr_checks=$((nr_checks + 1))
	with_foreign_proc "$tool" doctor --self >out 2>&1
	grep -q '^because .*another pid name space' out || complain "a foreign /proc: doctor --self says $(cat out)"
	refuses 'a foreign /proc' 'another pid name space' with_foreign_proc
fi

# A user name space, in which this user is root.
in_user_space()
{
	unshare -U -r -m sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"' - "$@"
}
if in_user_space true 2>/dev/null; then
	self 0 'a user name space' "unused <= $usual | {'perf_event_open'} and result['traces_others']" in_user_space
	records 'a user name space' in_user_space
else
	echo 'SKIP a user name space: the kernel gives none'
fi
finish
