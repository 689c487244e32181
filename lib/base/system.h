/* SPDX-License-Identifier: MIT */
/*
 * The system calls that trace points make, and the clock.  The library makes them directly, so no other object of the
 * process can change them.
 *
 * An object that comes before the C library, such as libtorsocks, libfaketime or libfakeroot, may define these
 * functions itself.  The functions of such an object may take a lock, so a signal handler must not call them.  They may
 * call a function that the preloaded object wraps, and so call the library again.  They may also return false values,
 * for instance a time that never changes, or another user id.
 *
 * The compiler includes this header first in each file of the library.  The calls of these functions then go to
 * px_system_NAME (system.c), which makes the system call.  All are async-signal-safe, and none is a cancellation
 * point.
 *
 * On machines other than x86-64 and aarch64, this holds for syscall() only.  The preloaded object itself defines that
 * function.  If the library called it there, the wake-up of a reader would be an event, and so the cause of the next
 * wake-up.  On i386 and ARM, the library inside that object calls the other functions in the C library itself
 * (preload/direct.def).
 */
#ifndef PX_BASE_SYSTEM_H
#define PX_BASE_SYSTEM_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Deadlines for waits of the C library need the clock that the program sees, which another object may have changed. */
#ifndef PX_SYSTEM_PROGRAM_CLOCK
#if defined __TIMESIZE && __TIMESIZE == 32 && defined __USE_TIME_BITS64
#define PX_SYSTEM_PROGRAM_CLOCK "__clock_gettime64" /* its name where time_t can have both sizes */
#else
#define PX_SYSTEM_PROGRAM_CLOCK "clock_gettime"
#endif
#endif
extern int px_system_program_clock(clockid_t clock, struct timespec *now) __asm__(
	PX_SYSTEM_PROGRAM_CLOCK);

#define PX_SYSTEM(name)                                                                            \
	extern __typeof__(name) name __asm__("px_system_" #name)                                   \
		__attribute__((visibility("hidden")));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#if defined __x86_64__ || defined __aarch64__ || defined __i386__ || defined __arm__ ||            \
	(defined __riscv && defined __LP64__) || defined __powerpc64__ || defined __s390x__
#define PX_SYSTEM_HAS_CALL
PX_SYSTEM(syscall)
#endif
#if defined __x86_64__ || defined __aarch64__
PX_SYSTEM(clock_gettime)
PX_SYSTEM(fstat)
PX_SYSTEM(geteuid)
PX_SYSTEM(getpid)
PX_SYSTEM(getsockopt)
PX_SYSTEM(getuid)
PX_SYSTEM(kill)
PX_SYSTEM(madvise)
PX_SYSTEM(mmap)
PX_SYSTEM(munmap)
PX_SYSTEM(shmat)
PX_SYSTEM(shmctl)
PX_SYSTEM(shmdt)
PX_SYSTEM(shmget)
#endif
#undef PX_SYSTEM
#pragma GCC diagnostic pop

#endif
