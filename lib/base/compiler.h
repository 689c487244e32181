/* SPDX-License-Identifier: MIT */
/* Macros for visibility, inlining, branch hints, test points, and array sizes. */
#ifndef PX_BASE_COMPILER_H
#define PX_BASE_COMPILER_H

#include <stddef.h>

#define PX_EXPORT __attribute__((visibility("default")))
#define PX_INLINE static inline __attribute__((always_inline))
#define PX_TLS __attribute__((tls_model("initial-exec"), visibility("hidden")))
#define PX_NOINLINE __attribute__((noinline))
/*
 * A function of the interface that records the address behind its call.  With -flto, the program could have its code
 * inside a caller, and the address would be that of another call.
 */
#define PX_EXPORT_CALL PX_EXPORT PX_NOINLINE
/*
 * In test builds, a test can define the function itself.  With -flto, the linker could not replace it with --wrap,
 * because the function can be inside its callers.
 */
#ifdef PX_TESTPOINTS
#define PX_REPLACEABLE __attribute__((weak))
#else
#define PX_REPLACEABLE
#endif
#define PX_COLD __attribute__((cold, noinline))
#define px_likely(condition) __builtin_expect(!!(condition), 1)
#define px_unlikely(condition) __builtin_expect(!!(condition), 0)
#define PX_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define PX_CACHE_LINE 64

/* GCC before version 11 does not have the builtin on x86. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ < 11 && (defined __x86_64__ || defined __i386__)
PX_INLINE void *px_thread_pointer(void)
{
	void *pointer;

#ifdef __x86_64__
	__asm__("movq %%fs:0, %0" : "=r"(pointer));
#else
	__asm__("movl %%gs:0, %0" : "=r"(pointer));
#endif
	return pointer;
}
#elif defined __powerpc64__
/* GCC does not have the builtin there.  The register points 0x7000 behind the end of the thread's control block. */
PX_INLINE void *px_thread_pointer(void)
{
	char *pointer;

	__asm__("mr %0, 13" : "=r"(pointer));
	return pointer - 0x7000;
}
#else
#define px_thread_pointer() __builtin_thread_pointer()
#endif

/*
 * A test point follows every step that another thread can observe.  In test builds the macro calls
 * a hook, which may sleep, kill the thread, or run a signal handler.  In other builds the macro is
 * empty.
 */
#ifdef PX_TESTPOINTS
extern void (*px_testpoint_hook)(const char *name);
#define PX_TESTPOINT(name)                                                                         \
	do {                                                                                       \
		void (*hook)(const char *) = __atomic_load_n(&px_testpoint_hook,                   \
							     __ATOMIC_ACQUIRE);                    \
		if (hook)                                                                          \
			hook(name);                                                                \
	} while (0)
#else
#define PX_TESTPOINT(name) ((void)0)
#endif

#endif
