/* SPDX-License-Identifier: MIT */
/*
 * pread() and pwrite() as system calls, which no other object of the process can change.  The kernel takes an offset of
 * 64 bits in two words on machines of 32 bits, and some of them need an even number for the first.
 */
#ifndef PX_BASE_FILE_AT_H
#define PX_BASE_FILE_AT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"

#if __SIZEOF_LONG__ == 8
#define PX_TWO_WORDS(offset) (long)(offset)
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PX_TWO_WORDS(offset) (long)((offset) >> 32), (long)(offset)
#else
#define PX_TWO_WORDS(offset) (long)(offset), (long)((offset) >> 32)
#endif
/* After one other argument or three. */
#if __SIZEOF_LONG__ == 4 && (defined __arm__ || defined __mips__ || defined __powerpc__)
#define PX_OFFSET_WORDS(offset) 0L, PX_TWO_WORDS(offset)
#else
#define PX_OFFSET_WORDS(offset) PX_TWO_WORDS(offset)
#endif

/* Return the number of bytes, or -1 with errno.  Async-signal-safe. */
PX_INLINE long px_read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return syscall(SYS_pread64, fd, to, size, PX_OFFSET_WORDS(offset));
}

PX_INLINE long px_write_at(int fd, const void *from, size_t size, uint64_t offset)
{
	return syscall(SYS_pwrite64, fd, from, size, PX_OFFSET_WORDS(offset));
}

#endif
