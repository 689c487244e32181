/* SPDX-License-Identifier: MIT */
#include "wrap/descriptor.h"
#include "file_status.h"
#include "wrap/seccomp.h"
#include "wrap/thread_name.h"
#include "wrap/trial.h"

#include <stddef.h>
#include <string.h>
#include <sys/sysmacros.h>

uint8_t px_fd_kinds[PX_FDS_KNOWN];

static uint32_t is_confined;

/*
 * 1 after the program has set the low-water mark of any socket to a value other than one byte.  recv() then waits for
 * that many bytes, but with MSG_DONTWAIT recv() returns fewer bytes.  So a wrapper must not try recv() first.  poll()
 * honours the mark.
 */
static uint32_t has_low_water_marks;

void px_fd_confine(void)
{
	px_write_once(&is_confined, 1U);
}

bool px_fd_is_confined(void)
{
	return px_read_once(&is_confined) != 0;
}

/* Calls on memory devices, such as /dev/null and /dev/zero, never wait. */
static enum px_fd_kind kind_of(const px_status *status)
{
	if (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode) || S_ISBLK(status->st_mode))
		return PX_FD_NEVER_WAITS;
	if (S_ISCHR(status->st_mode) && major(status->st_rdev) == 1)
		return PX_FD_NEVER_WAITS;
	return S_ISSOCK(status->st_mode) ? PX_FD_SOCKET : PX_FD_MAY_WAIT;
}

static void check_low_water_mark(int fd)
{
	int mark = 1;
	socklen_t length = sizeof(mark);

	if (getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &mark, &length) == 0 && mark != 1)
		px_write_once(&has_low_water_marks, 1U);
}

enum px_fd_kind px_fd_find_kind(int fd)
{
	enum px_fd_kind kind = PX_FD_UNKNOWN;
	int saved_errno = errno;
	px_status status;

	if (px_read_once(&is_confined))
		return PX_FD_NEVER_WAITS;
	if (px_status_of(fd, &status) == 0) {
		kind = kind_of(&status);
		if (kind == PX_FD_SOCKET)
			check_low_water_mark(fd);
		if (kind >= PX_FD_MAY_WAIT && px_real.fcntl(fd, F_GETFL) & O_NONBLOCK)
			kind = PX_FD_NEVER_WAITS;
		px_fd_set_kind(fd, kind);
	}
	errno = saved_errno;
	return kind;
}

bool px_fd_is_blocking(int fd)
{
	int saved_errno = errno;
	bool is_blocking = !(px_real.fcntl(fd, F_GETFL) & O_NONBLOCK);

	if (!is_blocking)
		px_fd_set_kind(fd, PX_FD_NEVER_WAITS);
	errno = saved_errno;
	return is_blocking;
}

bool px_fd_is_not_ready(int fd, short events)
{
	struct pollfd of_fd = {.fd = fd, .events = events};
	int saved_errno = errno;
	int nr_ready;

	if (px_read_once(&is_confined))
		return false;
	nr_ready = px_real.poll(&of_fd, 1, 0);
	errno = saved_errno;
	return nr_ready == 0 && px_fd_is_blocking(fd);
}

bool px_fd_may_try(int fd, int flags)
{
	return !(flags & (MSG_WAITALL | MSG_DONTWAIT)) && px_fd_kind(fd) == PX_FD_SOCKET &&
	       !px_read_once(&has_low_water_marks) && !px_read_once(&is_confined);
}

void px_fd_record_more(struct px_site site, uint32_t flags, int fd, uint32_t value, int64_t result,
		       const void *more, size_t length)
{
	struct {
		union px_call_data fixed;
		unsigned char more[PX_FD_MORE_MAX];
	} data;

	data.fixed.of_fd.fd = fd;
	data.fixed.of_fd.value = value;
	data.fixed.of_fd.result = result;
	if (length > sizeof(data.more))
		length = sizeof(data.more);
	if (length > 0)
		memcpy(data.more, more, length);
	px_hook_record_long(site, flags, &data, sizeof(data.fixed) + length);
}

/* Return true if the kernel has read the path.  After EINVAL and ENOSYS it may not have read it. */
static bool was_read(int64_t result)
{
	return result != -EFAULT && result != -EINVAL && result != -ENOSYS;
}

void px_fd_record_path(struct px_site site, uint32_t flags, int fd, uint32_t value, int64_t result,
		       const char *path)
{
	size_t length = path && was_read(result) ? strnlen(path, PX_FD_MORE_MAX) : 0;

	px_fd_record_more(site, flags, fd, value, result, path, length);
}

bool px_fd_open_waits(int directory, const char *path, int flags, enum px_fd_kind *kind)
{
	int saved_errno = errno;
	px_status status;

	*kind = PX_FD_OPENED;
	if ((flags & (O_NONBLOCK | O_DIRECTORY | O_PATH)) || (flags & O_ACCMODE) == O_RDWR ||
	    (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) || px_read_once(&is_confined))
		return false;
	if (px_status_at(directory, path, &status, 0) != 0) {
		errno = saved_errno;
		return false;
	}
	if (kind_of(&status) == PX_FD_NEVER_WAITS)
		*kind = PX_FD_NEVER_WAITS;
	return *kind != PX_FD_NEVER_WAITS;
}

/* A descriptor beyond the table may be one that nobody has opened.  Keeps errno. */
static bool is_open(int fd)
{
	int saved_errno = errno;
	bool is_open = !px_is_confined() && syscall(SYS_fcntl, fd, F_GETFD) >= 0;

	errno = saved_errno;
	return is_open;
}

bool px_fd_record_close(struct px_site site, int fd)
{
	if (!px_fd_is_known(fd) || (fd >= PX_FDS_KNOWN && !is_open(fd)))
		return false;
	px_hook_record_fd(site, PX_RECORD_WHOLE, fd, 0, 0);
	px_fd_set_kind(fd, PX_FD_UNKNOWN);
	return true;
}

uint32_t px_vector_size(const struct iovec *vector, int count, int64_t result)
{
	uint64_t size = 0;

	if (result < 0)
		return 0;
	for (int i = 0; i < count; i++)
		size += vector[i].iov_len;
	return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

/* Read one argument, even if the caller passed none.  The C library does the same. */
static int traced_fcntl(struct px_site site, int fd, int command, void *argument,
			__typeof__(fcntl) *real)
{
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
		site.call = PX_CALL_dup;
		return PX_CALL_AND_RECORD(site, result, px_fd_opened(real(fd, command, argument)),
					  px_hook_record_fd(site, px_fd_flags(command == F_DUPFD_CLOEXEC), fd, 0,
							    px_outcome(result)));
	}
	if (command == F_SETFD)
		return PX_CALL_AND_RECORD(site, result, real(fd, command, argument),
					  px_hook_record_fd(site, px_fd_flags((uintptr_t)argument & FD_CLOEXEC), fd,
							    F_SETFD, px_outcome(result)));
	if (command == F_SETLKW || command == F_OFD_SETLKW)
		return PX_FD_TRIAL_CALL(site, fd, command, true,
					real(fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK,
					     argument),
					errno == EAGAIN || errno == EACCES,
					real(fd, command, argument));
	return PX_FD_CALL(site, fd, result, real(fd, command, argument), command,
			  px_outcome(result));
}

/* Forget the old mode, even while nothing is traced.  The next wrapper that needs the mode reads it again. */
static void forget_mode(int fd)
{
	if (px_fd_is_known(fd))
		px_fd_set_kind(fd, PX_FD_OPENED);
}

#define FCNTL(symbol)                                                                              \
	PX_WRAP int symbol(int fd, int command, ...)                                               \
	{                                                                                          \
		va_list arguments;                                                                 \
		void *argument;                                                                    \
                                                                                                   \
		va_start(arguments, command);                                                      \
		argument = va_arg(arguments, void *);                                              \
		va_end(arguments);                                                                 \
		if (command == F_SETFL)                                                            \
			forget_mode(fd);                                                           \
		if (PX_NOT_TRACED_OR_VFORK(file))                                                  \
			return px_real.symbol(fd, command, argument);                              \
		return traced_fcntl(PX_SITE(symbol, fcntl), fd, command, argument,                 \
				    px_real.symbol);                                               \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

#define IOCTL(symbol)                                                                              \
	PX_WRAP int symbol(int fd, px_ioctl_request request, ...)                                  \
	{                                                                                          \
		struct px_site site;                                                               \
		va_list arguments;                                                                 \
		void *argument;                                                                    \
                                                                                                   \
		va_start(arguments, request);                                                      \
		argument = va_arg(arguments, void *);                                              \
		va_end(arguments);                                                                 \
		if (request == FIONBIO)                                                            \
			forget_mode(fd);                                                           \
		if (PX_NOT_TRACED(file))                                                           \
			return px_real.symbol(fd, request, argument);                              \
		site = PX_SITE(symbol, ioctl);                                                     \
		return PX_FD_CALL(site, fd, result, px_real.symbol(fd, request, argument),         \
				  (unsigned int)request, px_outcome(result));                      \
	}
IOCTL(ioctl)

#define SETSOCKOPT(symbol)                                                                         \
	PX_WRAP int symbol(int fd, int level, int option, const void *value, socklen_t length)     \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (level == SOL_SOCKET && option == SO_RCVLOWAT)                                  \
			px_write_once(&has_low_water_marks, 1U);                                   \
		if (PX_NOT_TRACED(socket))                                                         \
			return px_real.symbol(fd, level, option, value, length);                   \
		site = PX_SITE(symbol, setsockopt);                                                \
		return PX_CALL_AND_RECORD(                                                         \
			site, result, px_real.symbol(fd, level, option, value, length),            \
			px_fd_record_more(site, PX_RECORD_WHOLE, fd, (uint32_t)option,             \
					  px_outcome(result), &level, sizeof(level)));             \
	}
SETSOCKOPT(setsockopt)

/*
 * With one of these two options, a program confines itself to a few system calls.  A program may install its filter in
 * a way that no wrapper sees, but without privileges it must set the second option first.
 */
static bool is_confining(int option, unsigned long argument)
{
	return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS ||
	       (option == PX_SET_DISPATCH && argument != 0);
}

/*
 * Return true if the kernel will deny the clock to the process.  A read of the clock then raises a signal, so this
 * object can record no more events.
 */
static bool takes_clock(int option, unsigned long argument)
{
	return (option == PR_SET_SECCOMP && argument == 1 /* SECCOMP_MODE_STRICT */) ||
	       (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV);
}

/*
 * Record before the call: the first event of a thread needs system calls, and after the call the kernel may refuse
 * them.
 */
static int confine(struct px_site site, int option, const unsigned long argument[4],
		   __typeof__(prctl) *real)
{
	uint32_t groups = px_read_once(&px_hook_groups);
	bool ends = takes_clock(option, argument[0]);
	int result;

	if (is_confining(option, argument[0]))
		px_fd_confine();
	if (!PX_NOT_TRACED(process))
		px_hook_record_fd(site, PX_RECORD_WHOLE, -1, (uint32_t)option, 0);
	if (option == PR_SET_SECCOMP)
		px_seccomp_before(argument[0], 0, (const void *)argument[1]);
	if (option == PX_SET_DISPATCH)
		px_dispatch_before(argument[0]);
	if (ends)
		px_write_once(&px_hook_groups, (uint32_t)PX_GROUP_READY);
	result = real(option, argument[0], argument[1], argument[2], argument[3]);
	if (ends && result != 0)
		px_write_once(&px_hook_groups, groups);
	return result;
}

static void record_thread_name(struct px_site site, const char *name, int result)
{
	char taken[16] = "";

	if (result == 0) /* so the kernel has read the name */
		strncpy(taken, name, sizeof(taken) - 1);
	px_thread_record_name(site, pthread_self(), taken, result == 0 ? 0 : errno);
}

/*
 * Record a name from prctl() as the call pthread_setname_np(), which all readers understand.  The kernel takes at most
 * 15 bytes of it, and prctl() does not refuse a longer one.
 */
static int set_thread_name(struct px_site site, const unsigned long argument[4],
			   __typeof__(prctl) *real)
{
	site.call = PX_CALL_pthread_setname_np;
	return PX_CALL_AND_RECORD(
		site, result,
		real(PR_SET_NAME, argument[0], argument[1], argument[2], argument[3]),
		record_thread_name(site, (const char *)argument[0], result));
}

static int traced_prctl(struct px_site site, int option, const unsigned long argument[4],
			__typeof__(prctl) *real)
{
	if (is_confining(option, argument[0]) || takes_clock(option, argument[0]))
		return confine(site, option, argument, real);
	if (option == PR_SET_NAME && !PX_NOT_TRACED(thread))
		return set_thread_name(site, argument, real);
	if (PX_NOT_TRACED(process))
		return real(option, argument[0], argument[1], argument[2], argument[3]);
	return PX_FD_CALL(site, -1, result,
			  real(option, argument[0], argument[1], argument[2], argument[3]), option,
			  px_outcome(result));
}

#define PRCTL(symbol)                                                                              \
	PX_WRAP int symbol(int option, ...)                                                        \
	{                                                                                          \
		unsigned long argument[4];                                                         \
		va_list arguments;                                                                 \
                                                                                                   \
		va_start(arguments, option);                                                       \
		for (unsigned int i = 0; i < PX_ARRAY_SIZE(argument); i++)                         \
			argument[i] = va_arg(arguments, unsigned long);                            \
		va_end(arguments);                                                                 \
		PX_ENSURE_REAL(symbol);                                                            \
		return traced_prctl(PX_SITE(symbol, prctl), option, argument, px_real.symbol);     \
	}
PRCTL(prctl)

#ifdef HAVE_TIME64_FUNCTIONS
/* These differ from the others only in what some requests pass by pointers. */
FCNTL(__fcntl_time64)
IOCTL(__ioctl_time64)
SETSOCKOPT(__setsockopt64)
PRCTL(__prctl_time64)
#endif
