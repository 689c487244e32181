/* SPDX-License-Identifier: MIT */
#include "base/system.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "base/atomic.h"
#include "base/elf.h"

#ifdef PX_SYSTEM_HAS_CALL

/* Make a system call.  Return its result, or -errno. */
#if defined __x86_64__
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ __volatile__("syscall"
			     : "+a"(nr)
			     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			     : "rcx", "r11", "memory");
	return nr;
}
#elif defined __aarch64__
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ __volatile__("svc 0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			     : "memory");
	return x0;
}
#elif defined __i386__
/* The kernel takes the last argument in the register that may be the frame pointer of this function. */
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	__asm__ __volatile__("pushl %6\n\t"
			     "pushl %%ebp\n\t"
			     "movl 4(%%esp), %%ebp\n\t"
			     "int $0x80\n\t"
			     "popl %%ebp\n\t"
			     "addl $4, %%esp"
			     : "+a"(nr)
			     : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "g"(f)
			     : "memory");
	return nr;
}
#elif defined __arm__
/* In Thumb code, the register of the number may be the frame pointer of this function. */
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	register long r4 __asm__("r4") = e;
	register long r5 __asm__("r5") = f;
	long kept;

	__asm__ __volatile__("mov %0, r7\n\t"
			     "mov r7, %2\n\t"
			     "svc 0\n\t"
			     "mov r7, %0"
			     : "=&r"(kept), "+r"(r0)
			     : "r"(nr), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
			     : "memory");
	return r0;
}
#elif defined __riscv
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ __volatile__("ecall"
			     : "+r"(a0)
			     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			     : "memory");
	return a0;
}
#elif defined __powerpc64__
/* If the call fails, the kernel sets a bit of the condition register, and returns the error number. */
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r0 __asm__("r0") = nr;
	register long r3 __asm__("r3") = a;
	register long r4 __asm__("r4") = b;
	register long r5 __asm__("r5") = c;
	register long r6 __asm__("r6") = d;
	register long r7 __asm__("r7") = e;
	register long r8 __asm__("r8") = f;

	__asm__ __volatile__("sc\n\t"
			     "bns+ 0f\n\t"
			     "neg %1, %1\n"
			     "0:"
			     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7), "+r"(r8)
			     :
			     : "memory", "cr0", "ctr", "xer", "r9", "r10", "r11", "r12");
	return r3;
}
#elif defined __s390x__
static inline long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r1 __asm__("r1") = nr;
	register long r2 __asm__("r2") = a;
	register long r3 __asm__("r3") = b;
	register long r4 __asm__("r4") = c;
	register long r5 __asm__("r5") = d;
	register long r6 __asm__("r6") = e;
	register long r7 __asm__("r7") = f;

	__asm__ __volatile__("svc 0"
			     : "+d"(r2)
			     : "d"(r1), "d"(r3), "d"(r4), "d"(r5), "d"(r6), "d"(r7)
			     : "memory");
	return r2;
}
#endif

static inline long checked(long result)
{
	if (px_likely((unsigned long)result <= -4096UL))
		return result;
	errno = (int)-result;
	return -1;
}

#define CALL(nr, a, b, c, d, e, f)                                                                 \
	checked(raw(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))

/*
 * Like the C library, read the maximum number of arguments.  The kernel uses only the arguments that the system call
 * has.  The others may be bytes around a variable of the caller, which AddressSanitizer guards.
 */
__attribute__((no_sanitize("address"))) long syscall(long nr, ...)
{
	long argument[6];
	va_list list;

	va_start(list, nr);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	return CALL(nr, argument[0], argument[1], argument[2], argument[3], argument[4],
		    argument[5]);
}

#endif

#if defined __x86_64__ || defined __aarch64__

int fstat(int fd, struct stat *status)
{
	return (int)CALL(SYS_fstat, fd, status, 0, 0, 0, 0);
}

uid_t geteuid(void)
{
	return (uid_t)raw(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

pid_t getpid(void)
{
	return (pid_t)raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
{
	return (int)CALL(SYS_getsockopt, fd, level, name, value, length, 0);
}

uid_t getuid(void)
{
	return (uid_t)raw(SYS_getuid, 0, 0, 0, 0, 0, 0);
}

int kill(pid_t pid, int number)
{
	return (int)CALL(SYS_kill, pid, number, 0, 0, 0, 0);
}

/* ThreadSanitizer must know all mappings, so builds with it call its functions. */
#ifdef __SANITIZE_THREAD__
extern void *real_mmap(void *, size_t, int, int, int, off_t) __asm__("mmap");
extern int real_munmap(void *, size_t) __asm__("munmap");

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return real_mmap(address, size, protection, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
	return real_munmap(address, size);
}
#else
void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (void *)CALL(SYS_mmap, address, size, protection, flags, fd, offset);
}

int munmap(void *address, size_t size)
{
	return (int)CALL(SYS_munmap, address, size, 0, 0, 0, 0);
}
#endif

int madvise(void *address, size_t size, int advice)
{
	return (int)CALL(SYS_madvise, address, size, advice, 0, 0, 0);
}

void *shmat(int id, const void *address, int flags)
{
	return (void *)CALL(SYS_shmat, id, address, flags, 0, 0, 0);
}

int shmctl(int id, int command, struct shmid_ds *status)
{
	return (int)CALL(SYS_shmctl, id, command, status, 0, 0, 0);
}

int shmdt(const void *address)
{
	return (int)CALL(SYS_shmdt, address, 0, 0, 0, 0, 0);
}

int shmget(key_t key, size_t size, int flags)
{
	return (int)CALL(SYS_shmget, key, size, flags, 0, 0, 0);
}

/* The clock.  The vDSO has a function that reads it without a system call. */

#ifdef __x86_64__
#define VDSO_CLOCK_GETTIME "__vdso_clock_gettime"
#else
#define VDSO_CLOCK_GETTIME "__kernel_clock_gettime"
#endif

typedef int clock_function(clockid_t clock, struct timespec *now);

static int clock_by_system_call(clockid_t clock, struct timespec *now)
{
	return (int)raw(SYS_clock_gettime, clock, (long)now, 0, 0, 0, 0);
}

/* Without a vDSO, getauxval() sets errno. */
static clock_function *find_clock(void)
{
	int saved_errno = errno;
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	void *found = NULL;
	struct px_elf elf;

	if (image && px_elf_open_image(&elf, image))
		found = px_elf_function(&elf, VDSO_CLOCK_GETTIME);
	errno = saved_errno;
	return found ? (clock_function *)found : clock_by_system_call;
}

PX_REPLACEABLE int clock_gettime(clockid_t clock, struct timespec *now)
{
	static clock_function *function; /* threads that search at the same time find the same function */
	clock_function *to_call = px_read_once(&function);

	if (px_unlikely(!to_call)) {
		to_call = find_clock();
		px_write_once(&function, to_call);
	}
	return (int)checked(to_call(clock, now));
}

#endif
