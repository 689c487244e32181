/* SPDX-License-Identifier: MIT */
/*
 * Calls on descriptors: functions that record such calls, and find out whether a call is going to wait.
 *
 * Files never count as waiting.  For a pipe, a socket or a terminal in blocking mode, the wrapper first asks poll()
 * with a zero timeout.  So a read from a file, or from a socket in nonblocking mode, costs no extra system call.  Some
 * wrappers need no poll(): their comments explain why.
 *
 * A wrapper finds the kind of a descriptor only once.  A table has a byte with the kind for each of the first
 * PX_FDS_KNOWN descriptors, until the descriptor is closed or its mode changes.  If a program closes a descriptor or
 * changes its mode with a direct system call, the table is wrong.  Then the trace may not show a wait, or a wrapper may
 * make an unneeded poll().  A wrong table has no other effect.
 *
 * If a program confines itself to a few system calls (prctl()), the kernel may kill it for any other system call.  From
 * then on, the wrappers make only the system calls that the program asked for.
 *
 * A wrapper records a close before the call, because another thread may get the number at once.  If the call then
 * fails, which still closes the descriptor, a second event has its result.  Some programs close all possible numbers.
 * So if no call has returned the descriptor, the wrapper records the close after the call, with its result.
 */
#ifndef PX_PRELOAD_WRAP_DESCRIPTOR_H
#define PX_PRELOAD_WRAP_DESCRIPTOR_H

#include <sys/socket.h>

#include "hook.h"

enum px_fd_kind {
	PX_FD_UNKNOWN,	   /* no call has returned this descriptor, or the program has closed it */
	PX_FD_OPENED,	   /* a call returned it; its kind is not known yet */
	PX_FD_NEVER_WAITS, /* the descriptor is a file, or is in nonblocking mode */
	PX_FD_MAY_WAIT,
	PX_FD_SOCKET /* the descriptor is a socket in blocking mode */
};

#define PX_FDS_KNOWN 4096

extern uint8_t px_fd_kinds[PX_FDS_KNOWN] __attribute__((visibility("hidden")));

PX_INLINE void px_fd_set_kind(int fd, enum px_fd_kind kind)
{
	if (px_likely((unsigned int)fd < PX_FDS_KNOWN))
		px_write_once(&px_fd_kinds[fd], (uint8_t)kind);
}

PX_INLINE bool px_fd_is_known(int fd)
{
	return (unsigned int)fd >= PX_FDS_KNOWN ? fd > 0 :
						  px_read_once(&px_fd_kinds[fd]) != PX_FD_UNKNOWN;
}

/*
 * Store in the table that a call has returned fd to the program.  Return fd.  A negative fd means that the call failed.
 */
PX_INLINE int px_fd_opened(int fd)
{
	px_fd_set_kind(fd, PX_FD_OPENED);
	return fd;
}

PX_INLINE int px_fd_opened_as(int fd, enum px_fd_kind kind)
{
	px_fd_set_kind(fd, kind);
	return fd;
}

/*
 * Find the kind of fd and store it in the table.  Once the program is confined, return PX_FD_NEVER_WAITS.  Keeps errno.
 */
enum px_fd_kind px_fd_find_kind(int fd);

PX_INLINE enum px_fd_kind px_fd_kind(int fd)
{
	enum px_fd_kind kind = (unsigned int)fd < PX_FDS_KNOWN ?
				       (enum px_fd_kind)px_read_once(&px_fd_kinds[fd]) :
				       PX_FD_NEVER_WAITS;

	return px_likely(kind >= PX_FD_NEVER_WAITS) ? kind : px_fd_find_kind(fd);
}

/* Return true if fd is in blocking mode and poll() reports none of these events.  Keeps errno. */
bool px_fd_is_not_ready(int fd, short events);

PX_INLINE bool px_fd_would_wait(int fd, short events)
{
	return px_fd_kind(fd) >= PX_FD_MAY_WAIT && px_fd_is_not_ready(fd, events);
}

/*
 * Return true if fd is in blocking mode.  Then a call that failed with EAGAIN failed only because of MSG_DONTWAIT.
 * Keeps errno.
 */
bool px_fd_is_blocking(int fd);

/*
 * Return true if a wrapper may first try recv() with MSG_DONTWAIT.  This is so if such a try returns EAGAIN or the same
 * result as the call without the flag.
 */
bool px_fd_may_try(int fd, int flags);

/* From now on, make no system calls of our own. */
void px_fd_confine(void);
bool px_fd_is_confined(void);

/* The result of a call, or minus errno if the call failed. */
#define px_outcome(result) ((int64_t)(result) < 0 ? -(int64_t)errno : (int64_t)(result))

/* The flags of an event that is no part of a wait, of a call that opens descriptors or sets their flags. */
PX_INLINE uint32_t px_fd_flags(bool ends_with_exec)
{
	return ends_with_exec ? PX_RECORD_ENDS_WITH_EXEC : PX_RECORD_WHOLE;
}

/* Record data of the layout FD and `length` bytes of `more`, at most PX_FD_MORE_MAX. */
#define PX_FD_MORE_MAX 200

void px_fd_record_more(struct px_site site, uint32_t flags, int fd, uint32_t value, int64_t result,
		       const void *more, size_t length);

/*
 * Call this function before a call that closes fd.  Record the call, and forget the kind of fd.  If the call must be
 * recorded with its result, record nothing and return false.  Then the caller records it after the call.
 */
bool px_fd_record_close(struct px_site site, int fd);

/*
 * The body of a wrapper that closes fd: `real` returns 0, or fails.  The event comes before the call if that is
 * possible; if the call then fails, a second event has its error.  The macro evaluates `fd` before the call.
 */
#define PX_FD_CLOSE(site, fd, real)                                                                \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		const int fd_ = (fd);                                                              \
		bool is_recorded_ = px_fd_record_close(site, fd_);                                 \
		int result_ = PX_REAL(&sample_, real);                                             \
                                                                                                   \
		if (!is_recorded_ || result_ != 0)                                                 \
			px_hook_record_fd(site, PX_RECORD_WHOLE, fd_, 0, px_outcome(result_));     \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result_;                                                                           \
	})

/* Record a call with its path.  If the kernel may not have read the path, record no path. */
void px_fd_record_path(struct px_site site, uint32_t flags, int fd, uint32_t value, int64_t result,
		       const char *path);

/*
 * Return true if an open() with these flags may wait for another process: the path is a FIFO, or a terminal line.  Then
 * the kernel has read the path.  Keeps errno.
 *
 * This takes a system call.  Set *kind to the kind of the descriptor that the open() will return, so that the first
 * read from a file does not need two more system calls.
 */
bool px_fd_open_waits(int directory, const char *path, int flags, enum px_fd_kind *kind);

/* Return the sum of the sizes in bytes.  Return 0 if the call failed, because then the vector may be unreadable. */
struct iovec;
uint32_t px_vector_size(const struct iovec *vector, int count, int64_t result);

/*
 * PX_CALL_AND_RECORD() (hook.h) for a call on a descriptor: record `value` and `outcome`, which may use `result`.  The
 * macro evaluates `fd` before the call.
 */
#define PX_FD_CALL(site, fd, result, real, value, outcome)                                         \
	PX_FD_CALL_WAITS(site, fd, false, 0, result, real, value, outcome)

/*
 * Do the same as PX_FD_CALL() for a call that may wait.  If `waits` is true, record two events.  The first event has
 * the value `asked`.
 */
#define PX_FD_CALL_WAITS(site, fd, waits, asked, result, real, value, outcome)                     \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		const int fd_ = (fd);                                                              \
		const bool waits_ = (waits);                                                       \
		int64_t outcome_;                                                                  \
                                                                                                   \
		if (px_unlikely(waits_))                                                           \
			px_hook_record_fd(site, PX_RECORD_BEGINS, fd_, (uint32_t)(asked), 0);      \
		__typeof__(real) result = PX_REAL(&sample_, real);                                 \
		outcome_ = (outcome);                                                              \
		px_hook_record_fd(site, px_unlikely(waits_) ? PX_RECORD_ENDS : PX_RECORD_WHOLE,    \
				  fd_, (uint32_t)(value), outcome_);                               \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result;                                                                            \
	})

#endif
