/* SPDX-License-Identifier: MIT */
#include "wrap/probe.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wrap/descriptor.h"

/* The size of a page is this number or a multiple of it. */
#define PAGE 4096

/*
 * Return false for values such as (void *)-1.  The highest bit of an address of a program is always 0, but not on a
 * machine of 32 bits: there, a program may have everything but the last page.
 */
static bool is_address(uintptr_t address)
{
	return address >= PAGE && address < (sizeof(address) == 8 ? UINTPTR_MAX / 2 : UINTPTR_MAX - PAGE);
}

/*
 * Test eight bytes that do not cross a page.  The system call passes them as a signal mask, with an unknown first
 * argument.  The kernel reads the mask before it refuses that argument.
 */
static bool can_read_word(uintptr_t address)
{
	int saved_errno = errno;
	bool can = is_address(address);

	/* Many arguments are in a variable of the caller: this page of the stack can be read. */
	if ((address ^ (uintptr_t)__builtin_frame_address(0)) < PAGE)
		return true;
	if (can && !px_fd_is_confined())
		can = syscall(SYS_rt_sigprocmask, -1, address & ~(uintptr_t)7, NULL, 8) == 0 ||
		      errno != EFAULT;
	errno = saved_errno;
	return can;
}

bool px_probe_can_read(const void *memory, size_t size)
{
	uintptr_t address = (uintptr_t)memory, last = address + size - 1;

	if (size == 0)
		return true;
	if (last < address)
		return false;
	for (; address / PAGE < last / PAGE; address = (address / PAGE + 1) * PAGE)
		if (!can_read_word(address))
			return false;
	return can_read_word(last);
}

size_t px_probe_length(const char *text, size_t most)
{
	size_t length = 0, piece;

	while (length < most) {
		size_t room = PAGE - ((uintptr_t)text + length) % PAGE;

		if (room > most - length)
			room = most - length;
		if (!px_probe_can_read(text + length, 1))
			return 0;
		piece = strnlen(text + length, room);
		length += piece;
		if (piece < room)
			break;
	}
	return length;
}
