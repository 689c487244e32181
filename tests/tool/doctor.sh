#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace doctor.
. "${srcdir:-.}/tests/tool/lib.sh"
own_streams

# doctor CODE ARGUMENT...: doctor exits with this code, and prints nothing on stderr
doctor()
{
	expected=$1
	shift
	what="doctor $*"
	nr_checks=$((nr_checks + 1))
	"$tool" doctor "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
	code=$?
	[ "$code" -eq "$expected" ] || complain "$what exits with $code, not $expected: $(cat "$scratch/out")"
	[ ! -s "$scratch/err" ] || complain "$what says: $(cat "$scratch/err")"
}

# shows LABEL TEXT: a line of the last result has this label and text
shows()
{
	nr_checks=$((nr_checks + 1))
	grep "^$1  *" "$scratch/out" | grep -qF -e "$2" ||
		complain "$what does not show '$1: $2': $(cat "$scratch/out")"
}

shows_not()
{
	nr_checks=$((nr_checks + 1))
	grep -q "^$1  *" "$scratch/out" && complain "$what shows $1: $(cat "$scratch/out")"
}

fails 2 'needs one program or one process' doctor
fails 2 'needs one program or one process' doctor true false
fails 2 'nonsense: No such file' doctor nonsense
fails 2 'is no regular file' doctor /tmp
fails 2 'is not a process id' doctor 0
fails 2 'there is no process 999999999' doctor 999999999
fails 2 '--format takes' doctor --format csv true
fails 2 'unknown option --nonsense' doctor --nonsense true

# Processes, and programs that use the library.
doctor 0 "$(binary_of "$subject")"
shows 'uses libposixtrace' yes
"$subject" -w "$scratch/gate" -n 1 &
pid=$!
await_process "$pid"
doctor 0 "$pid"
shows 'uses libposixtrace' yes
shows 'is traced' no
shows 'seccomp' off
shows 'trace it by' "txtrace record -p $pid"
# Beside rings for the CPUs, there is a shared one.
nr_rings=$(getconf _NPROCESSORS_CONF)
! grep -q '^kind of rings  *one for each CPU' "$scratch/out" || nr_rings=$((nr_rings + 1))
shows 'rings take' "$((nr_rings * 1048576))"
: >"$scratch/gate"
wait "$pid"
sleep 60 &
pid=$!
emulator=$(emulator_of "$pid")
[ -z "$emulator" ] || echo "SKIP the program of another process: it is seen as $emulator, which runs it"
doctor 1 "$pid"
[ -n "$emulator" ] || shows 'because' 'it does not use libposixtrace'
kill "$pid"
# A user id of this run only, because all processes of a user share a directory.
user=$((100000 + $$))
as_user="env -u TXTRACE_DIR setpriv --reuid=$user --clear-groups"
# Without restartable sequences, doctor tells why events cost more.  These variables are for glibc only.
if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
	doctor 0 true
	ring_size=$(($(sed -n 's/^rings take  *//p' "$scratch/out") / nr_rings))
	GLIBC_TUNABLES=glibc.pthread.rseq=0
	export GLIBC_TUNABLES
	doctor 0 true
	shows 'kind of rings' 'shared by the CPUs'
	shows 'rings take' "$(($(getconf _NPROCESSORS_CONF) * ring_size))"
	shows 'note' 'an event costs about twice as much as it could'
	unset GLIBC_TUNABLES
fi

if [ "$(id -u)" -eq 0 ] && $as_user "$tool" version >/dev/null 2>&1; then
	sleep 60 &
	pid=$!
	what='doctor of a process of root'
	nr_checks=$((nr_checks + 1))
	$as_user "$tool" doctor "$pid" >"$scratch/out" 2>&1
	[ $? -eq 1 ] || complain "$what does not exit with 1"
	shows 'because' "another user's"
	kill "$pid"
fi

# Directories for shared memory that the library refuses: doctor says so before record fails, and both say why.
# refused_directory DIRECTORY TEXT RUN...: in this directory; the tool is run by RUN
refused_directory()
{
	refused=$1 text=$2
	shift 2
	for arguments in --self true; do
		what="doctor $arguments with $refused"
		nr_checks=$((nr_checks + 1))
		"$@" "$tool" doctor "$arguments" >"$scratch/out" 2>&1
		[ $? -eq 1 ] || complain "$what does not exit with 1: $(cat "$scratch/out")"
		shows 'because' "$text"
	done
	nr_checks=$((nr_checks + 1))
	"$@" "$tool" record --quiet -o - true >"$scratch/out" 2>"$scratch/err"
	[ $? -eq 125 ] || complain "record with $refused does not exit with 125"
	grep -qF -e "$refused" "$scratch/err" && grep -qF -e "$text" "$scratch/err" ||
		complain "record with $refused says: $(cat "$scratch/err")"
}
mkdir -m 755 "$scratch/open"
refused_directory "$scratch/open" 'its mode is 0755, not 0700' env TXTRACE_DIR="$scratch/open"
: >"$scratch/file"
refused_directory "$scratch/file" 'is no directory' env TXTRACE_DIR="$scratch/file"
refused_directory "$scratch/no/such" 'cannot be made: No such file' env TXTRACE_DIR="$scratch/no/such"
if [ "$(id -u)" -eq 0 ] && $as_user "$tool" version >/dev/null 2>&1; then
	rm -rf "/dev/shm/posixtrace-$user"
	mkdir -m 700 "/dev/shm/posixtrace-$user"
	refused_directory "/dev/shm/posixtrace-$user" "belongs to root, not to user $user" $as_user
	rmdir "/dev/shm/posixtrace-$user"
fi

own_preload || finish

# A program that could be preloaded: which wrapped functions it calls, and which it does not.
doctor 0 "$plain"
shows 'can be traced' yes
shows 'trace it by' "txtrace record --preload $plain"
shows 'pthread_mutex_lock' 'mutex     yes    plain'
shows 'pthread_mutex_unlock' plain
shows 'usleep' plain
shows_not 'pthread_cond_wait'
# What this kernel, or an emulator, does not have, has a note; nothing else has.
cat >"$scratch/lacks.c" <<'END'
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	if (syscall(SYS_rseq, NULL, 0, 0, 0) == -1 && errno == ENOSYS)
		puts("rseq");
	if (syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0) == -1 && errno == ENOSYS)
		puts("perf_event_open");
	return 0;
}
END
${CC:-cc} -D_GNU_SOURCE "$scratch/lacks.c" -o "$scratch/lacks" || complain 'lacks.c is not compiled'
"$scratch/lacks" >"$scratch/lacking"
sequences=
case $(uname -m) in
x86_64 | aarch64)
	# glibc registers them from 2.35 on, where the kernel has them.
	getconf GNU_LIBC_VERSION 2>/dev/null | awk '$2 >= 2.35 { found = 1 } END { exit !found }' &&
		! grep -qx rseq "$scratch/lacking" ||
		sequences='the C library has registered no restartable sequences'
	# A virtual machine may have another clock than this.
	clocks=/sys/devices/system/clocksource/clocksource0
	[ -n "$sequences" ] || grep -qxE 'tsc|arch_sys_counter' "$clocks/current_clocksource" ||
		sequences='the kernel does not use the counter of the processor as its clock'
	;;
*) sequences='libposixtrace has no restartable sequences (rseq) for this machine' ;;
esac
# noted TEXT: there is such a note; remove it
noted()
{
	shows 'note' "$1"
	grep -vF "$1" "$scratch/out" >"$scratch/rest"
	mv "$scratch/rest" "$scratch/out"
}
[ -z "$sequences" ] || noted "an event costs about twice as much as it could: $sequences"
! grep -qx perf_event_open "$scratch/lacking" || noted 'perf_event_open is missing'
shows_not 'note'
doctor 0 --format json "$plain"
if has_program python3 'doctor --format json is JSON'; then
	python3 - "$scratch/out" <<'END' || complain "$what: $(cat "$scratch/out")"
import json, sys
result = json.load(open(sys.argv[1]))
assert result["can_be_traced"] is True and result["because"] == [], result
lock = [row for row in result["wrappers"] if row["symbol"] == "pthread_mutex_lock"]
assert lock == [{"symbol": "pthread_mutex_lock", "call": "pthread_mutex_lock", "group": "mutex", "usual": True,
                 "by": ["plain"]}], lock
END
fi
env TXTRACE_DISABLE=1 LD_PRELOAD=libdl.so.2 "$tool" doctor "$plain" >"$scratch/out" 2>&1
what='doctor with other preloads'
shows 'LD_PRELOAD' libdl.so.2
shows 'note' 'TXTRACE_DISABLE is set'
TXTRACE_PRELOAD=$scratch/none.so "$tool" doctor "$plain" >"$scratch/out" 2>&1
what='doctor without the object'
shows 'because' 'none.so: No such file'

# A tool that is not installed, which libtool may have linked without a script: it takes the object of its build.
real=$(binary_of "$tool")
built=$(cd "$(dirname "$tool")/../preload/.libs" && pwd)/libtxtrace-preload.so
for place in bin bin/.libs; do
	mkdir -p "$scratch/built/$place" "$scratch/built/preload/.libs"
	cp "$real" "$scratch/built/$place/txtrace"
	cp "$built" "$scratch/built/preload/.libs"
	LD_LIBRARY_PATH=$(dirname "$tool")/../lib/.libs "$scratch/built/$place/txtrace" doctor "$plain" >"$scratch/out" 2>&1
	what="doctor of a build with the tool in $place"
	shows 'object to preload' "$scratch/built/preload/.libs/libtxtrace-preload.so"
	rm -r "$scratch/built"
done

# An installation that was moved as a whole: the object is where it is relative to the tool.
libdir=$(sed -n 's/^libdir = //p' Makefile)
if [ "$libdir" = '${exec_prefix}/lib' ]; then
	mkdir -p "$scratch/moved/bin" "$scratch/moved/lib"
	cp "$real" "$scratch/moved/bin/txtrace"
	cp "$built" "$scratch/moved/lib"
	LD_LIBRARY_PATH=$(dirname "$tool")/../lib/.libs "$scratch/moved/bin/txtrace" doctor "$plain" >"$scratch/out" 2>&1
	what='doctor of an installation that was moved'
	shows 'object to preload' "$scratch/moved/lib/libtxtrace-preload.so"
	rm "$scratch/moved/lib/libtxtrace-preload.so"
	LD_LIBRARY_PATH=$(dirname "$tool")/../lib/.libs "$scratch/moved/bin/txtrace" doctor "$plain" >"$scratch/out" 2>&1
	grep '^object to preload' "$scratch/out" | grep -q "$scratch" && complain "$what finds an object that is not there"
fi

# build NAME FLAG...: $scratch/NAME from the C program on standard input
build()
{
	name=$1
	shift
	cat >"$scratch/$name.c"
	${CC:-cc} "$scratch/$name.c" -o "$scratch/$name" "$@"
}

# A library of the program calls wrapped functions, too.
build liblocks.so -shared -fPIC -pthread <<'END'
#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int use(void);
int use(void) { return pthread_rwlock_rdlock(&lock); }
END
build user -L"$scratch" -llocks -Wl,-rpath,"$scratch" <<'END'
int use(void);
int main(void) { return use(); }
END
doctor 0 "$scratch/user"
shows 'pthread_rwlock_rdlock' 'yes    liblocks.so'
shows_not 'pthread_mutex_lock'
mv "$scratch/liblocks.so" "$scratch/libgone.so"
doctor 1 "$scratch/user"
shows 'because' 'a library is missing: liblocks.so'

# Locks that are not those of pthreads.
build futexes <<'END'
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
int word;
int main(void) { return (int)syscall(SYS_futex, &word, FUTEX_WAKE, 1); }
END
doctor 0 "$scratch/futexes"
shows 'note' 'no lock of pthreads is called, but futexes calls syscall()'
for language in Go:.go.buildinfo:x Rust:.comment:'rustc version 1.70'; do
	section=${language#*:}
	build language <<END
__asm__(".section ${section%%:*},\"\",@progbits\n.string \"${section#*:}\"\n.text\n");
int main(void) { return 0; }
END
	doctor 0 "$scratch/language"
	shows 'note' "is written in ${language%%:*}: its own locks and waits are not recorded"
done
# Rust calls syscall(), and its futexes are recorded.
build language <<'END'
#include <unistd.h>
__asm__(".section .comment,\"\",@progbits\n.string \"rustc version 1.70\"\n.text\n");
int main(void) { return (int)syscall(0, -1, 0, 0) == 0; }
END
doctor 0 "$scratch/language"
shows 'note' 'its own locks use futexes, of which waits and wake-ups are recorded'
# A library that makes system calls itself.
build liburing.so.2 -shared -fPIC <<'END'
int wait_for_ring(void);
int wait_for_ring(void) { return 0; }
END
build ring -L"$scratch" -l:liburing.so.2 -Wl,-rpath,"$scratch" <<'END'
int wait_for_ring(void);
int main(void) { return wait_for_ring(); }
END
doctor 0 "$scratch/ring"
shows 'note' 'it uses liburing.so.2, which makes its system calls itself'
build nothing <<'END'
int main(void) { return 0; }
END
doctor 0 "$scratch/nothing"
shows 'note' 'no lock of pthreads is called'

# Calls that go past the wrappers.
build own -rdynamic -ldl <<'END'
#include <dlfcn.h>
int sem_post(void *sem);
int sem_post(void *sem) { return sem != 0; }
int main(void) { return dlopen("nothing.so", RTLD_NOW | RTLD_DEEPBIND) != 0; }
END
doctor 0 "$scratch/own"
shows 'note' 'has its own sem_post'
shows 'note' 'RTLD_DEEPBIND are not recorded'

# A program finds the libraries beside its file, also if it is executed through a link from elsewhere.
mkdir -p "$scratch/app/lib" "$scratch/bin"
echo 'int beside(void) { return 0; }' >"$scratch/beside.c"
echo 'int beside(void); int main(void) { return beside(); }' >"$scratch/uses.c"
if ${CC:-cc} -shared -fPIC "$scratch/beside.c" -o "$scratch/app/lib/libbeside.so" &&
	${CC:-cc} "$scratch/uses.c" -L"$scratch/app/lib" -lbeside -Wl,-rpath,'$ORIGIN/lib' -o "$scratch/app/uses"; then
	ln -s ../app/uses "$scratch/bin/uses"
	"$tool" doctor "$scratch/bin/uses" >"$scratch/out" 2>&1
	what='doctor with a library beside the program'
	grep -q 'a library is missing' "$scratch/out" && complain "$what: $(cat "$scratch/out")"
	nr_checks=$((nr_checks + 1))
fi

# What cannot be.
if build static -static <"$scratch/nothing.c" 2>/dev/null; then
	doctor 1 "$scratch/static"
	shows 'loader' static
	shows 'because' 'linked statically'
	printf '#!/usr/bin/env %s\n' "$scratch/static" >"$scratch/script"
	chmod +x "$scratch/script"
	doctor 1 "$scratch/script"
	shows 'is a script of' "$scratch/static"
fi
is_static()
{
	"$tool" doctor "$1" | grep -q 'linked statically'
}
# A program ends, and takes long to release its memory: doctor shows it as it was, or says that it has ended.
if build large -static 2>/dev/null <<'END'
#include <string.h>
#include <unistd.h>
static char much[128 << 20];
int main(int argc, char **argv)
{
	memset(much, argc, sizeof(much));
	while (access(argv[1], F_OK) != 0)
		usleep(1000);
	return 0;
}
END
then
	rm -f "$scratch/gate"
	"$scratch/large" "$scratch/gate" &
	pid=$!
	await is_static "$pid"
	: >"$scratch/gate"
	what='doctor of a process that ends'
	while
		"$tool" doctor "$pid" >"$scratch/out" 2>&1
		[ $? -eq 1 ]
	do
		shows 'because' 'linked statically'
	done
	wait "$pid"
fi
printf '#! %s -x\n' "$plain" >"$scratch/script"
chmod +x "$scratch/script"
doctor 0 "$scratch/script"
shows 'is a script of' "$plain"
chmod -x "$scratch/script"
doctor 1 "$scratch/script"
shows 'because' 'Permission denied'
printf '#!%s\n' "$scratch/endless" >"$scratch/endless"
chmod +x "$scratch/endless"
doctor 1 "$scratch/endless"
shows 'because' 'too many scripts'
build musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 <"$scratch/nothing.c"
doctor 1 "$scratch/musl"
shows 'because' 'of another C library'
# A complete header of 52 bytes, and nothing else.
{
	printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0'
	head -c 28 /dev/zero
} >"$scratch/narrow"
chmod +x "$scratch/narrow"
doctor 1 "$scratch/narrow"
shows 'kind' '32-bit x86'
# The object has 32 bits, too, on a machine of 32 bits.
[ "$(getconf LONG_BIT)" = 32 ] || shows 'because' 'is 32-bit x86, and libtxtrace-preload.so is '
# A sparse file with 400 MiB for the name of its loader: Linux refuses such a name, and doctor does not read it.
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1\0\0\0'
	printf '\0\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\100\0\70\0\1\0\100\0\0\0\0\0'
	printf '\3\0\0\0\4\0\0\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\0\0\0\0\0\0\0\31\0\0\0\0\0\0\0\31\0\0\0\0\1\0\0\0\0\0\0\0'
} >"$scratch/sparse"
dd if=/dev/null of="$scratch/sparse" bs=1048576 seek=401 2>/dev/null
chmod +x "$scratch/sparse"
doctor 1 "$scratch/sparse"
shows 'kind' '64-bit x86-64'
shows 'loader' 'none'
rm -f "$scratch/sparse"
# A program that needs 262144 libraries: each entry is read once.
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\76\0\1\0\0\0'
	printf '\0\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\100\0\70\0\2\0\100\0\0\0\0\0'
	# PT_LOAD: the whole file.  PT_DYNAMIC: 262148 entries at 176.
	printf '\1\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\0\0\0\0\0\1\100\0\0\0\0\0\0\1\100\0\0\0\0\0\10\0\0\0\0\0\0\0'
	printf '\2\0\0\0\4\0\0\0\260\0\0\0\0\0\0\0\260\0\0\0\0\0\0\0'
	printf '\260\0\0\0\0\0\0\0\40\0\100\0\0\0\0\0\40\0\100\0\0\0\0\0\10\0\0\0\0\0\0\0'
	# DT_STRTAB is the ELF magic, DT_STRSZ 8: "ELF\2\1\1" and a 0.
	printf '\5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0'
	printf '\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0' >"$scratch/entries"
	for i in 1 2 3 4 5 6 7 8 9; do
		cat "$scratch/entries" "$scratch/entries" "$scratch/entries" "$scratch/entries" >"$scratch/more"
		mv "$scratch/more" "$scratch/entries"
	done
	cat "$scratch/entries"
	head -c 64 /dev/zero
} >"$scratch/needs"
chmod +x "$scratch/needs"
nr_checks=$((nr_checks + 1))
timeout 30 "$tool" doctor "$scratch/needs" >"$scratch/out" 2>&1
[ $? -eq 1 ] || complain "doctor of a program that needs many libraries does not end: $(cat "$scratch/out")"
# Files that are cut anywhere, or have random bytes in their headers, get an answer, and do no harm.
for size in 20 24 60 64 100 300 1000 5000; do
	head -c "$size" "$plain" >"$scratch/cut"
	chmod +x "$scratch/cut"
	"$tool" doctor "$scratch/cut" >"$scratch/out" 2>&1
	code=$?
	nr_checks=$((nr_checks + 1))
	[ "$code" -le 1 ] || complain "doctor of a program of $size bytes exits with $code"
done
# overwrite WHAT PLACE [COUNT]: a copy of the program with random bytes there; doctor must end without a signal
overwrite()
{
	cp "$plain" "$scratch/odd"
	printf '\377\376\375\374\373\372\371\370' | head -c "${3:-8}" |
		dd of="$scratch/odd" bs=1 seek="$2" conv=notrunc 2>/dev/null
	"$tool" doctor "$scratch/odd" >"$scratch/out" 2>&1
	code=$?
	nr_checks=$((nr_checks + 1))
	[ "$code" -le 1 ] || complain "doctor of a program with nonsense in $1 exits with $code"
}
for place in 32 40 54 56 58 60 62 90 120 160 200 240 280; do
	overwrite "the headers, at $place" "$place"
done
# number BYTES PLACE: a number in the program
number()
{
	od -An -t "u$1" -j "$2" -N "$1" "$plain" | tr -d ' '
}
# The header of each section that doctor reads: its name, offset, size and link; and the contents of some. The offsets
# are those of a 64-bit file.
sections=$(number 8 40)
nr_sections=0
[ "$(number 1 4)" -ne 2 ] || nr_sections=$(number 2 60)
i=0
while [ "$i" -lt "$nr_sections" ]; do
	header=$((sections + 64 * i))
	for field in 'name 0 4' 'offset 24 8' 'offset 24 1' 'size 32 8' 'size 32 2' 'link 40 4'; do
		set -- $field
		case $(number 4 $((header + 4))) in
		2 | 3 | 6 | 7 | 11) overwrite "section $i, $1" $((header + $2)) "$3" ;;
		esac
	done
	case $(number 4 $((header + 4))) in
	3 | 6 | 7 | 11)
		for entry in 0 8 16 24 64 72; do
			overwrite "the contents of section $i, at $entry" $(($(number 8 $((header + 24))) + entry))
		done
		;;
	esac
	i=$((i + 1))
done

# A process with the preloaded object.
env LD_PRELOAD="$(cd "$(dirname "$tool")/../preload/.libs" && pwd)/libtxtrace-preload.so" "$plain" 1 "$scratch/never" &
pid=$!
await_process "$pid"
doctor 0 "$pid"
shows 'uses libposixtrace' preloaded
shows 'LD_PRELOAD' libtxtrace-preload.so
[ -n "$emulator" ] || shows 'pthread_mutex_lock' plain
kill "$pid"

# A process that still runs with a library of another layout maps that library's registry.
cat >"$scratch/older.c" <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	return argc != 2 || ftruncate(fd, 4096) ||
	       mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED || pause();
}
END
${CC:-cc} -o "$scratch/older" "$scratch/older.c" || complain 'older.c is not compiled'
for name in registry registry.1; do
	"$scratch/older" "$scratch/$name" &
	pid=$!
	await grep -q "/$name" "/proc/$pid/maps"
	doctor 1 "$pid"
	shows 'because' 'another version of libposixtrace'
	kill "$pid"
done
"$scratch/older" "$scratch/registry.old" & # no registry
pid=$!
await grep -q '/registry.old' "/proc/$pid/maps"
doctor 1 "$pid"
[ -n "$emulator" ] || shows 'because' 'does not use libposixtrace'
kill "$pid"

# A program with capabilities from its file.
if [ "$(id -u)" -eq 0 ] && $as_user "$tool" version >/dev/null 2>&1; then
	chmod 711 "$scratch"
	cp "$scratch/nothing" "$scratch/raised"
	chmod 4755 "$scratch/raised"
	what='doctor of a set-user-ID file'
	nr_checks=$((nr_checks + 1))
	$as_user "$tool" doctor "$scratch/raised" >"$scratch/out" 2>&1
	[ $? -eq 1 ] || complain "$what does not exit with 1"
	shows 'because' 'rights from its file'
fi
rm -rf "/dev/shm/posixtrace-$user"
finish
