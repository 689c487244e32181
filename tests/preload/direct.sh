#!/bin/sh
# SPDX-License-Identifier: MIT
# The object and the library call the C library past other preloaded objects. The library inside the object calls no
# wrapped function except under its direct name. A list has each function that the object still calls through the
# dynamic linker, and the reason why that does no harm.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"

quiet=$(dirname "$object")/libquiet.a
[ -e "$quiet" ] || complain "there is no $quiet"
${NM:-nm} -u "$quiet" | awk '$1 == "U" || $1 == "w" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$scratch/called"
[ "$(wc -l <"$scratch/called")" -gt 50 ] || complain "$quiet calls nothing"
wrappers >"$scratch/wrapped"
nr_checks=$((nr_checks + 1))
comm -12 "$scratch/called" "$scratch/wrapped" >"$scratch/both"
[ ! -s "$scratch/both" ] || complain "missing in preload/direct.def: $(tr '\n' ' ' <"$scratch/both")"

# Where a long has 32 bits, it calls functions with offsets of 64 bits. So its log may be larger than 2 GiB.
libc=$(ldd "$object" 2>/dev/null | awk '$1 ~ /^libc\.so/ { print $3 }')
if [ "$(getconf LONG_BIT)" = 32 ] && [ -n "$libc" ]; then
	nr_checks=$((nr_checks + 1))
	${NM:-nm} -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $3); print $3 }' | sed -n 's/64$//p' | sort -u |
		comm -12 - "$scratch/called" >"$scratch/narrow"
	[ ! -s "$scratch/narrow" ] || complain "the object calls the form for 32 bits: $(tr '\n' ' ' <"$scratch/narrow")"
	# Those of direct.def have their own names in the object, and so they are missing above.
	nr_checks=$((nr_checks + 1))
	sed -n 's/^PX_DIRECT(\(.*\))/\1/p' "$top/preload/direct.def" | sort >"$scratch/direct"
	${NM:-nm} -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $3); print $3 }' | sed -n 's/64$//p' | sort -u |
		comm -12 - "$scratch/direct" >"$scratch/narrow"
	[ ! -s "$scratch/narrow" ] ||
		complain "PX_DIRECT_WIDE() in preload/direct.def for $(tr '\n' ' ' <"$scratch/narrow")"
fi

# The library for programs calls no wrapped function except those in unwrapped.def, on machines of lib/base/jump.h.
px=$(dirname "$object")/../../lib/.libs/libpx.a
[ -e "$px" ] || complain "there is no $px"
case $(uname -m) in
x86_64 | aarch64 | i?86 | arm*)
	${NM:-nm} -u "$px" | awk '/:$/ { skips = /unwrapped/ } /^ +[A-Za-z] / && !skips { print $NF }' |
		sort -u >"$scratch/called"
	[ "$(wc -l <"$scratch/called")" -gt 50 ] || complain "$px calls nothing"
	nr_checks=$((nr_checks + 1))
	comm -12 "$scratch/called" "$scratch/wrapped" >"$scratch/both"
	[ ! -s "$scratch/both" ] || complain "missing in lib/base/unwrapped.def: $(tr '\n' ' ' <"$scratch/both")"
	;;
esac

# reason WORD NAME...: these may be called through the dynamic linker
reason()
{
	shift
	printf '%s\n' "$@" >>"$scratch/harmless"
}
: >"$scratch/harmless"
reason 'The linker and the compiler add these.' \
	_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __gmon_start__ __stack_chk_fail \
	__pthread_unwind_next __gcc_personality_v0 _Unwind_Resume __tls_get_addr
reason 'Variables, and functions that return the address of one.' \
	__ctype_b_loc __ctype_toupper_loc __environ environ _environ __errno_location __progname \
	program_invocation_short_name __h_errno_location __rseq_offset __rseq_size stdin stdout _r_debug
reason 'The dynamic linker, which only this object can ask: for the next object that defines a function.' \
	dladdr dlerror dlsym dlvsym
reason 'The dynamic linker finds the module of an address, without a lock; weak, so older systems may lack it.' \
	_dl_find_object
reason 'These only read and write memory that the caller passes: no lock, no system call.' \
	bcmp dirfd dirname memchr memcmp memcpy memmove mempcpy memset snprintf sprintf vsnprintf __isoc99_sscanf \
	__isoc23_sscanf stpcpy strcat strchr strcmp memmem strcpy strcspn strlen strncmp strncpy strnlen \
	strrchr strspn strstr strtol strtoull __isoc23_strtol __isoc23_strtoull qsort __sigsetjmp sigaddset \
	sigdelset sigemptyset sigfillset sigismember sem_getvalue ferror_unlocked fileno fileno_unlocked \
	pthread_attr_getinheritsched pthread_attr_getschedparam pthread_attr_getschedpolicy aio_error \
	aio_error64 pthread_mutexattr_getprotocol pthread_mutexattr_gettype pthread_self __memcpy_chk
reason 'Without optimisation, the compiler also calls what is an inline function in a header.  These only compute.' \
	bsearch gnu_dev_major htonl ntohl ntohs pthread_equal toupper
reason 'Constants of the C library.' strerrordesc_np getauxval gnu_get_libc_version sysconf
reason 'The same, for a constructor of libgcc: whether an aarch64 has atomic instructions.' __getauxval
reason 'Bookkeeping of threads inside the C library.  These must be the functions that the program uses.' \
	__pthread_register_cancel __pthread_unregister_cancel __register_atfork pthread_key_create pthread_setspecific \
	pthread_testcancel pthread_getschedparam
reason 'The list of functions for exit().  Only a constructor adds one.' on_exit
reason 'Attributes of a timer or a clock.  Nothing that traces depends on them.' clock_getres timer_gettime
reason 'A system call that the C library makes under no other name: how far the clock of the system is from UTC.' adjtimex
reason 'Only called where a function of the C library is missing.' abort strerror
reason 'Headers before glibc 2.33 define stat() and its kin as inline functions that call these.' \
	__xstat __fxstat __lxstat __fxstatat
sort -u "$scratch/harmless" >"$scratch/allowed"

# The wrappers belong to the object: the symbol table may have them as defined symbols, but not as undefined ones.
case $(uname -m) in
x86_64 | aarch64)
	${NM:-nm} -D --undefined-only "$object" | awk '{ sub(/@.*/, "", $NF); print $NF }' |
		sort -u >"$scratch/undefined"
	[ "$(wc -l <"$scratch/undefined")" -gt 20 ] || complain "$object needs nothing"
	nr_checks=$((nr_checks + 1))
	comm -23 "$scratch/undefined" "$scratch/allowed" >"$scratch/more"
	[ ! -s "$scratch/more" ] || complain "the object calls through the dynamic linker (add to preload/direct.def or" \
		"lib/base/system.h, or to the list here): $(tr '\n' ' ' <"$scratch/more")"

	# If a program uses the library, the library's own trace points make system calls, too.
	library=$(dirname "$tool")/../lib/.libs/libposixtrace.so
	sed -n 's/^PX_SYSTEM(\(.*\))/\1/p' "$top/lib/base/system.h" | grep -vx clock_gettime |
		sort -u >"$scratch/system"
	[ "$(wc -l <"$scratch/system")" -gt 10 ] || complain 'lib/base/system.h has no functions'
	nr_checks=$((nr_checks + 1))
	${NM:-nm} -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u |
		comm -12 - "$scratch/system" >"$scratch/more"
	[ ! -s "$scratch/more" ] ||
		complain "the library calls through the dynamic linker: $(tr '\n' ' ' <"$scratch/more")"
	;;
*)
	# Neither may call syscall(), which the object defines: its wrapper would record the library's own calls.
	for file in "$object" "$(dirname "$tool")/../lib/.libs/libposixtrace.so"; do
		nr_checks=$((nr_checks + 1))
		! ${OBJDUMP:-objdump} -R "$file" | grep -qE ' syscall(@|$)' ||
			complain "$file calls syscall() through the dynamic linker"
	done
	;;
esac
finish
