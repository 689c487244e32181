/* SPDX-License-Identifier: MIT */
/* Another object before the C library, or an object that a program loads itself and binds past all others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *shim_gives(size_t size);
void shim_takes(void *memory);

void *shim_gives(size_t size)
{
	return malloc(size);
}

void shim_takes(void *memory)
{
	free(memory);
}

#ifdef SHIM_IS_NEWER
/*
 * It claims that the C library has a function that does not exist.  The search for it causes an error and allocates
 * memory.
 */
const char *gnu_get_libc_version(void);

const char *gnu_get_libc_version(void)
{
	return "2.99";
}
#endif

#ifdef SHIM_WRAPS
static unsigned int nr_writes;

ssize_t write(int fd, const void *buffer, size_t size)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	nr_writes++;
	return real(fd, buffer, size);
}

__attribute__((destructor)) static void end(void)
{
	char text[40];

	snprintf(text, sizeof(text), "shim: %u\n", nr_writes);
	syscall(SYS_write, 2, text, strlen(text));
}
#endif
