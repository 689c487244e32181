/* SPDX-License-Identifier: MIT */
/*
 * Calls on descriptors: how they are recorded, and whether one is going to wait.
 *
 * Files never count as waiting.  A pipe, a socket, a terminal and their like is asked with a poll() of no duration
 * first, and only if it is in blocking mode; what can be had without that question is said where it is.  So a read
 * from a file, or from a socket that does not block, costs no system call more.
 *
 * What a descriptor is, is looked up once, and kept in a byte for each of the first descriptors; it is forgotten when
 * the descriptor is closed, or its mode changes.  It may be wrong where a program does so past the C library: then a
 * wait is not shown, or one more question is asked, and nothing else happens.
 *
 * A program that confines itself to a few system calls (prctl()) is not to die of ours: from then on no question is
 * asked that it did not ask itself.
 *
 * A descriptor that is closed is recorded before it is, since somebody else may be given its number at once; so is not
 * one of which nothing is known, as by a program that closes all that there could be: it is told with its result.
 */
#ifndef PX_PRELOAD_WRAP_DESCRIPTOR_H
#define PX_PRELOAD_WRAP_DESCRIPTOR_H

#include <sys/socket.h>

#include "hook.h"

enum px_fd_kind {
	PX_FD_UNKNOWN,	   /* not seen yet */
	PX_FD_OPENED,	   /* seen, not looked at */
	PX_FD_NEVER_WAITS, /* nothing to wait for: a file, or it does not block */
	PX_FD_MAY_WAIT,
	PX_FD_SOCKET /* one that waits */
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

/* The call gave the program a descriptor, or failed. */
PX_INLINE int px_fd_opened(int fd)
{
	px_fd_set_kind(fd, PX_FD_OPENED);
	return fd;
}

/* Its kind; looks, where that is not known yet, and may be.  Keeps errno. */
enum px_fd_kind px_fd_find_kind(int fd);

PX_INLINE enum px_fd_kind px_fd_kind(int fd)
{
	enum px_fd_kind kind = (unsigned int)fd < PX_FDS_KNOWN ?
				       (enum px_fd_kind)px_read_once(&px_fd_kinds[fd]) :
				       PX_FD_NEVER_WAITS;

	return px_likely(kind >= PX_FD_NEVER_WAITS) ? kind : px_fd_find_kind(fd);
}

/* True: a blocking descriptor, and these events of poll() are not there.  Keeps errno. */
bool px_fd_is_not_ready(int fd, short events);

PX_INLINE bool px_fd_would_wait(int fd, short events)
{
	return px_fd_kind(fd) >= PX_FD_MAY_WAIT && px_fd_is_not_ready(fd, events);
}

/* What failed with EAGAIN was asked not to wait: true if the descriptor itself would.  Keeps errno. */
bool px_fd_is_blocking(int fd);

/* A socket of which recv() may be tried with MSG_DONTWAIT: that returns what it would have returned. */
bool px_fd_may_try(int fd, int flags);

/* No more system calls of ours. */
void px_fd_confine(void);
bool px_fd_is_confined(void);

/* What a call returned, or minus errno. */
#define px_outcome(result) ((int64_t)(result) < 0 ? -(int64_t)errno : (int64_t)(result))

/* Record data of the layout FD and more: at most PX_FD_MORE_MAX bytes. */
#define PX_FD_MORE_MAX 200

void px_fd_record_more(struct px_site site, uint32_t flags, int fd, uint32_t value, int64_t result,
		       const void *more, size_t length);

/*
 * Record a call that closes fd, before it does, and forget what is known of fd.  False: nothing was recorded, and the
 * caller records the call with its result, when it is over.
 */
bool px_fd_record_close(struct px_site site, int fd);

/* Record a whole call with a path, which is left out where the kernel may not have read it. */
void px_fd_record_path(struct px_site site, int fd, uint32_t value, int64_t result,
		       const char *path);

/* Bytes in all of them; only where the real call could read it. */
struct iovec;
uint32_t px_vector_size(const struct iovec *vector, int count, int64_t result);

/*
 * PX_CALL_AND_RECORD() (hook.h) for a call on a descriptor: record `value` and `outcome`, which may use `result`.  `fd` is
 * evaluated before the call.
 */
#define PX_FD_CALL(site, fd, result, real, value, outcome)                                         \
	PX_FD_CALL_WAITS(site, fd, false, 0, result, real, value, outcome)

/* The same for a call that may wait.  If it `waits` it is two events; the first has the value `asked`. */
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
