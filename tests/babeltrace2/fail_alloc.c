/* SPDX-License-Identifier: MIT */
/*
 * An object for LD_PRELOAD: the allocation number FAIL_ALLOC that the plugin of Babeltrace 2 makes itself fails, and so
 * do all that follow.  Those of other objects succeed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static long nr;

static int fails(const void *caller)
{
	const char *text = getenv("FAIL_ALLOC");
	Dl_info info;

	if (!text || !dladdr(caller, &info) || !strstr(info.dli_fname, "babeltrace-plugin-txtrace"))
		return 0;
	if (++nr < atol(text))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t number, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, number * size);
}
