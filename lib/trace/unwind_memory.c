/* SPDX-License-Identifier: MIT */
#include "trace/unwind_memory.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/confined.h"
#include "trace/frames.h"
#include "trace/process.h"

#define PAGE_BYTES 4096

static long read_own(struct iovec *here, struct iovec *there)
{
	return syscall(SYS_process_vm_readv, (pid_t)px_read_once(&px_gate.self.pid), here, 1UL, there, 1UL, 0UL);
}

int px_unwind_check(void)
{
	int saved_errno = errno, error;
	long from = 1, to = 0;
	struct iovec here = {&to, sizeof(to)}, there = {&from, sizeof(from)};

	error = read_own(&here, &there) == (long)sizeof(to) ? 0 : errno;
	errno = saved_errno;
	return error;
}

bool px_unwind_fill(struct px_unwind_memory *memory, uintptr_t at)
{
	size_t room = PAGE_BYTES - at % PAGE_BYTES;
	struct iovec here = {memory->window.bytes, room < PX_UNWIND_WINDOW_BYTES ? room : PX_UNWIND_WINDOW_BYTES};
	struct iovec there = {(void *)at, here.iov_len};
	long length;

	memory->window.length = 0;
	if (px_is_confined()) {
		memory->end = PX_UNWIND_CONFINED;
		return false;
	}
	length = read_own(&here, &there);
	if (length <= 0) {
		memory->end = PX_UNWIND_UNREADABLE;
		return false;
	}
	memory->window.at = at;
	memory->window.length = (uint32_t)length;
	return true;
}

void px_unwind_enter_stack(struct px_unwind_memory *memory, uintptr_t sp)
{
	memory->low = sp;
	memory->high = px_frames_top_above(sp);
}
