/* SPDX-License-Identifier: MIT */
/*
 * Sockets.
 *
 * To find out whether a receive will wait, a wrapper first tries it with MSG_DONTWAIT.  If such a try may return
 * something else than EAGAIN or the result of the call, the wrapper asks poll() instead.  For a send, the wrapper
 * always asks poll(), because a try might send only a part of the data.  If a blocking socket connects to another
 * machine, the wrapper records a wait.
 */
#include "wrap/descriptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfs.h"
#include "event/addresses.h"
#include "wrap/probe.h"

PX_INLINE const struct sockaddr *input_address(__CONST_SOCKADDR_ARG address)
{
	return px_sockaddr(address);
}

PX_INLINE const struct sockaddr *output_address(__SOCKADDR_ARG address)
{
	return px_sockaddr(address);
}

static uint32_t port_of(const struct sockaddr *address, size_t length)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (length >= sizeof(in4) && address->sa_family == AF_INET) {
		memcpy(&in4, address, sizeof(in4));
		return ntohs(in4.sin_port);
	}
	if (length >= sizeof(in6) && address->sa_family == AF_INET6) {
		memcpy(&in6, address, sizeof(in6));
		return ntohs(in6.sin6_port);
	}
	return 0;
}

/* The size of the program's buffer for an address, which the call replaces.  0: there is none. */
static socklen_t room_for(const struct sockaddr *address, const socklen_t *length)
{
	return address && length && px_probe_can_read(length, sizeof(*length)) ? *length : 0;
}

/*
 * The call has filled in the address, and the length that it has, which may exceed the room.  Return how many bytes of
 * it to record; 0: the address is not whole.
 */
static size_t length_filled_in(const struct sockaddr *address, socklen_t room, const socklen_t *length)
{
	socklen_t filled = room == 0 ? 0 : *length < room ? *length : room;
	size_t most = sizeof(address->sa_family);

	if (filled < most)
		return 0;
	if (address->sa_family == AF_INET)
		most = sizeof(struct sockaddr_in);
	else if (address->sa_family == AF_INET6)
		most = sizeof(struct sockaddr_in6);
	return filled < most ? 0 : most;
}

/*
 * The program passed the address.  Return how many bytes of it to record.  Return 0 if the kernel may not have read the
 * address.
 */
static size_t length_given(const struct sockaddr *address, socklen_t length, int64_t outcome)
{
	if (!address || outcome == -EFAULT || outcome == -EINVAL || outcome == -EBADF ||
	    outcome == -ENOTSOCK)
		return 0;
	return length > sizeof(struct sockaddr_storage) ? 0 : length;
}

static void record_address(struct px_site site, uint32_t flags, int fd, int64_t outcome,
			   const struct sockaddr *address, size_t length)
{
	px_fd_record_more(site, flags, fd, length > 0 ? port_of(address, length) : 0, outcome,
			  address, length);
}

/*
 * A filter that the program inherited, or installed before, may kill it for a system call that it does not make itself.
 * Filters cannot be removed.
 */
static bool may_not_ask(void)
{
	enum { UNKNOWN, FREE, FILTERED };
	static uint32_t found;
	uint32_t known = px_read_once(&found);

	if (px_fd_is_confined())
		return true;
	if (known == UNKNOWN) {
		known = px_procfs_is_filtered() ? FILTERED : FREE;
		px_write_once(&found, known);
	}
	return known == FILTERED;
}

/*
 * The address of a connection as the program knows it, and that of this end of it.  txtrace merge finds by both which
 * calls of two machines are those of one connection.  The kernel tells the second one, and the first one if the program
 * did not ask for it; this costs little beside a connection.
 */
struct both_ends {
	size_t length;
	unsigned char bytes[2 * sizeof(struct sockaddr_in6)];
};

/* Return false if the connection has no such addresses. */
static bool find_both_ends(int fd, const struct sockaddr *address, size_t length, struct both_ends *ends)
{
	size_t whole = length >= sizeof(address->sa_family) ? px_address_bytes(address->sa_family) : 0;
	socklen_t own = (socklen_t)whole;
	int saved_errno = errno;
	int result;

	if (whole == 0 || length < whole || may_not_ask())
		return false;
	memcpy(ends->bytes, address, whole);
	result = (int)syscall(SYS_getsockname, fd, ends->bytes + whole, &own);
	errno = saved_errno;
	if (result != 0 || own != whole)
		return false;
	ends->length = 2 * whole;
	return true;
}

static void record_connection(struct px_site site, uint32_t flags, int fd, int connected, int64_t outcome,
			      const struct sockaddr *address, size_t length)
{
	struct both_ends ends;

	if ((outcome >= 0 || outcome == -EINPROGRESS) && find_both_ends(connected, address, length, &ends))
		px_fd_record_more(site, flags, fd, port_of(address, length), outcome, ends.bytes, ends.length);
	else
		record_address(site, flags, fd, outcome, address, length);
}

PX_WRAP int socket(int domain, int type, int protocol)
{
	struct px_site site;
	uint32_t more[2] = {(uint32_t)domain, (uint32_t)protocol};

	if (PX_NOT_TRACED(socket))
		return px_real.socket(domain, type, protocol);
	site = PX_SITE(socket, socket);
	return PX_CALL_AND_RECORD(site, result,
				  px_fd_opened(px_real.socket(domain, type, protocol)),
				  px_fd_record_more(site, PX_RECORD_WHOLE, result, (uint32_t)type,
						    px_outcome(result), more, sizeof(more)));
}

static void record_socketpair(struct px_site site, int type, const int ends[2], int result)
{
	int64_t outcome = px_outcome(result);
	uint32_t other = 0;
	int fd = -1;

	if (result == 0) {
		fd = px_fd_opened(ends[0]);
		other = (uint32_t)px_fd_opened(ends[1]);
	}
	px_fd_record_more(site, PX_RECORD_WHOLE, fd, (uint32_t)type, outcome, &other,
			  sizeof(other));
}

PX_WRAP int socketpair(int domain, int type, int protocol, int ends[2])
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.socketpair(domain, type, protocol, ends);
	site = PX_SITE(socketpair, socketpair);
	return PX_CALL_AND_RECORD(site, result, px_real.socketpair(domain, type, protocol, ends),
				  record_socketpair(site, type, ends, result));
}

static void record_bind(struct px_site site, int fd, const struct sockaddr *address,
			socklen_t length, int result)
{
	int64_t outcome = px_outcome(result);

	record_address(site, PX_RECORD_WHOLE, fd, outcome, address,
		       length_given(address, length, outcome));
}

PX_WRAP int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.bind(fd, address, length);
	site = PX_SITE(bind, bind);
	return PX_CALL_AND_RECORD(site, result, px_real.bind(fd, address, length),
				  record_bind(site, fd, input_address(address), length, result));
}

PX_WRAP int listen(int fd, int backlog)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.listen(fd, backlog);
	site = PX_SITE(listen, listen);
	return PX_FD_CALL(site, fd, result, px_real.listen(fd, backlog), backlog,
			  px_outcome(result));
}

/* The kernel refuses unknown flags at once, so such a call never waits. */
static bool accept_waits(int fd, int flags)
{
	return !(flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) && px_fd_would_wait(fd, POLLIN);
}

static int really_accept(uint32_t wrapper, int fd, __SOCKADDR_ARG address, socklen_t *length,
			 int flags)
{
	return wrapper == PX_WRAPPER_accept ? px_real.accept(fd, address, length) :
					      px_real.accept4(fd, address, length, flags);
}

/*
 * Ask the kernel who has connected.  Return how many bytes of the address to record; 0: the kernel does not tell, for
 * example because the connection is reset.
 */
static size_t find_peer(int fd, struct sockaddr_in6 *peer)
{
	socklen_t length = sizeof(*peer);
	int saved_errno = errno;
	int result = may_not_ask() ? -1 : (int)syscall(SYS_getpeername, fd, peer, &length);

	errno = saved_errno;
	return result == 0 ? length_filled_in((const struct sockaddr *)peer, sizeof(*peer), &length) : 0;
}

/* Many programs, such as those with libuv, do not ask accept for the address, and some have no room for all of it. */
static void record_accept(struct px_site site, uint32_t flags, int fd, int accepted, int64_t outcome,
			  const struct sockaddr *address, size_t length)
{
	struct sockaddr_in6 peer;

	if (accepted < 0)
		record_address(site, flags, fd, outcome, NULL, 0);
	else if (length > 0)
		record_connection(site, flags, fd, accepted, outcome, address, length);
	else
		record_connection(site, flags, fd, accepted, outcome, (const struct sockaddr *)&peer,
				  find_peer(accepted, &peer));
}

static int traced_accept(struct px_site site, int fd, __SOCKADDR_ARG address, socklen_t *length,
			 int flags)
{
	struct px_hook_sample sample = px_hook_begin();
	const struct sockaddr *peer = output_address(address);
	bool waits = accept_waits(fd, flags);
	socklen_t room = room_for(peer, length);
	int result;

	if (waits)
		px_hook_record_fd(site, PX_RECORD_BEGINS, fd, 0, 0);
	result = PX_REAL(&sample, really_accept(site.wrapper, fd, address, length, flags));
	px_fd_opened(result);
	record_accept(site, (waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE) | px_fd_flags(flags & SOCK_CLOEXEC), fd, result,
		      px_outcome(result), peer,
		      result >= 0 ? length_filled_in(peer, room, length) : 0);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int accept(int fd, __SOCKADDR_ARG address, socklen_t *length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.accept(fd, address, length);
	return traced_accept(PX_SITE(accept, accept), fd, address, length, 0);
}

PX_WRAP int accept4(int fd, __SOCKADDR_ARG address, socklen_t *length, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.accept4(fd, address, length, flags);
	return traced_accept(PX_SITE(accept4, accept), fd, address, length, flags);
}

/* Return true for addresses of this machine: 127.0.0.0/8, ::1, and families without ports. */
static bool is_local(const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (length >= sizeof(in6) && address->sa_family == AF_INET6) {
		memcpy(&in6, address, sizeof(in6));
		return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
	}
	if (length >= sizeof(in4) && address->sa_family == AF_INET) {
		memcpy(&in4, address, sizeof(in4));
		return ntohl(in4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	return true;
}

static bool is_stream(int fd)
{
	int type = 0, saved_errno = errno;
	socklen_t length = sizeof(type);
	int result = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length);

	errno = saved_errno;
	return result == 0 && type == SOCK_STREAM;
}

/* Return true if the call waits.  px_fd_kind() returns PX_FD_SOCKET only for a blocking socket. */
static bool connect_waits(int fd, const struct sockaddr *address, socklen_t length)
{
	return px_fd_kind(fd) == PX_FD_SOCKET && length <= sizeof(struct sockaddr_storage) &&
	       px_probe_can_read(address, length) && !is_local(address, length) && is_stream(fd);
}

static int traced_connect(struct px_site site, int fd, __CONST_SOCKADDR_ARG address,
			  socklen_t length)
{
	struct px_hook_sample sample = px_hook_begin();
	bool waits = connect_waits(fd, input_address(address), length);
	int64_t outcome;
	int result;

	if (waits)
		record_address(site, PX_RECORD_BEGINS, fd, 0, input_address(address),
			       length_given(input_address(address), length, 0));
	result = PX_REAL(&sample, px_real.connect(fd, address, length));
	outcome = px_outcome(result);
	record_connection(site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, fd, fd, outcome, input_address(address),
			  length_given(input_address(address), length, outcome));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.connect(fd, address, length);
	return traced_connect(PX_SITE(connect, connect), fd, address, length);
}

PX_WRAP int shutdown(int fd, int how)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.shutdown(fd, how);
	site = PX_SITE(shutdown, shutdown);
	return PX_FD_CALL(site, fd, result, px_real.shutdown(fd, how), how, px_outcome(result));
}

static bool send_waits(int fd, int flags)
{
	return !(flags & MSG_DONTWAIT) && px_fd_would_wait(fd, POLLOUT);
}

PX_WRAP ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.send(fd, buffer, size, flags);
	site = PX_SITE(send, send);
	return PX_FD_CALL_WAITS(site, fd, send_waits(fd, flags), size, result,
				px_real.send(fd, buffer, size, flags), size, px_outcome(result));
}

static ssize_t traced_sendto(struct px_site site, int fd, const void *buffer, size_t size,
			     int flags, __CONST_SOCKADDR_ARG address, socklen_t length)
{
	struct px_hook_sample sample = px_hook_begin();
	bool waits = send_waits(fd, flags);
	int64_t outcome;
	ssize_t result;

	if (waits)
		px_hook_record_fd(site, PX_RECORD_BEGINS, fd, (uint32_t)size, 0);
	result = PX_REAL(&sample, px_real.sendto(fd, buffer, size, flags, address, length));
	outcome = px_outcome(result);
	px_fd_record_more(site, waits ? PX_RECORD_ENDS : PX_RECORD_WHOLE, fd, (uint32_t)size,
			  outcome, input_address(address),
			  result < 0 ? 0 : length_given(input_address(address), length, outcome));
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
		       __CONST_SOCKADDR_ARG address, socklen_t length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.sendto(fd, buffer, size, flags, address, length);
	return traced_sendto(PX_SITE(sendto, sendto), fd, buffer, size, flags, address, length);
}

static uint32_t message_size(const struct msghdr *message, int64_t result)
{
	return result < 0 ? 0 : px_vector_size(message->msg_iov, (int)message->msg_iovlen, result);
}

#define SENDMSG(symbol)                                                                            \
	PX_WRAP ssize_t symbol(int fd, const struct msghdr *message, int flags)                    \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(socket))                                                         \
			return px_real.symbol(fd, message, flags);                                 \
		site = PX_SITE(symbol, sendmsg);                                                   \
		return PX_FD_CALL_WAITS(site, fd, send_waits(fd, flags), 0, result,                \
					px_real.symbol(fd, message, flags),                        \
					message_size(message, result), px_outcome(result));        \
	}
SENDMSG(sendmsg)

#define SENDMMSG(symbol)                                                                           \
	PX_WRAP int symbol(int fd, struct mmsghdr *messages, unsigned int count,                   \
			   px_messages_flags flags)                                                \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(socket))                                                         \
			return px_real.symbol(fd, messages, count, flags);                         \
		site = PX_SITE(symbol, sendmmsg);                                                  \
		return PX_FD_CALL_WAITS(site, fd, send_waits(fd, flags), count, result,            \
					px_real.symbol(fd, messages, count, flags), count,         \
					px_outcome(result));                                       \
	}
SENDMMSG(sendmmsg)

/* Return true if a try failed only because of MSG_DONTWAIT, and the socket itself is in blocking mode. */
static bool must_wait(int fd, int64_t result)
{
	return result < 0 && errno == EAGAIN && px_fd_is_blocking(fd);
}

/*
 * Such a call returns at once what the kernel tells of data that this end sent: of errors, times, or zero-copy.  It is
 * not recorded, because it receives nothing from the other end.
 */
#define IS_OWN(flags) ((flags) & MSG_ERRQUEUE)

/*
 * PX_FD_CALL_WAITS() for a call that receives.  `real` uses the variable `flags`.  If possible, first set MSG_DONTWAIT
 * in `flags` and try `real`.  A failed try sets errno.  Restore errno, because a call that succeeds must not change it.
 */
#define RECEIVE(site, fd, flags, asked, result, real, value, address, length)                      \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		const int flags_ = flags;                                                          \
		const struct sockaddr *const address_ = address;                                   \
		const socklen_t room_ = room_for(address_, length);                                \
		const int saved_errno_ = errno;                                                    \
		const bool tries_ = px_fd_may_try(fd, flags_);                                     \
		bool waits_ = !tries_ && !(flags_ & MSG_DONTWAIT) && px_fd_would_wait(fd, POLLIN); \
		__typeof__(real) result = 0;                                                       \
		int64_t outcome_;                                                                  \
                                                                                                   \
		if (tries_) {                                                                      \
			flags = flags_ | MSG_DONTWAIT;                                             \
			result = PX_REAL(&sample_, real);                                          \
			flags = flags_;                                                            \
			waits_ = must_wait(fd, result);                                            \
			if (waits_)                                                                \
				errno = saved_errno_;                                              \
		}                                                                                  \
		if (px_unlikely(waits_))                                                           \
			px_hook_record_fd(site, PX_RECORD_BEGINS, fd, (uint32_t)(asked), 0);       \
		if (!tries_ || waits_)                                                             \
			result = PX_REAL(&sample_, real);                                          \
		outcome_ = px_outcome(result);                                                     \
		px_fd_record_more(site, px_unlikely(waits_) ? PX_RECORD_ENDS : PX_RECORD_WHOLE,    \
				  fd, (uint32_t)(value), outcome_, address_,                       \
				  result > 0 ? length_filled_in(address_, room_, length) : 0);     \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result;                                                                            \
	})

PX_WRAP ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket) || IS_OWN(flags))
		return px_real.recv(fd, buffer, size, flags);
	site = PX_SITE(recv, recv);
	return RECEIVE(site, fd, flags, size, result, px_real.recv(fd, buffer, size, flags), size,
		       NULL, NULL);
}

PX_WRAP ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket) || IS_OWN(flags))
		return px_real.__recv_chk(fd, buffer, size, room, flags);
	site = PX_SITE(__recv_chk, recv);
	return RECEIVE(site, fd, flags, size, result,
		       px_real.__recv_chk(fd, buffer, size, room, flags), size, NULL, NULL);
}

PX_WRAP ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG address,
			 socklen_t *length)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket) || IS_OWN(flags))
		return px_real.recvfrom(fd, buffer, size, flags, address, length);
	site = PX_SITE(recvfrom, recvfrom);
	return RECEIVE(site, fd, flags, size, result,
		       px_real.recvfrom(fd, buffer, size, flags, address, length), size,
		       output_address(address), length);
}

PX_WRAP ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
			       __SOCKADDR_ARG address, socklen_t *length)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket) || IS_OWN(flags))
		return px_real.__recvfrom_chk(fd, buffer, size, room, flags, address, length);
	site = PX_SITE(__recvfrom_chk, recvfrom);
	return RECEIVE(site, fd, flags, size, result,
		       px_real.__recvfrom_chk(fd, buffer, size, room, flags, address, length), size,
		       output_address(address), length);
}

#define RECVMSG(symbol)                                                                            \
	PX_WRAP ssize_t symbol(int fd, struct msghdr *message, int flags)                          \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(socket) || IS_OWN(flags))                                        \
			return px_real.symbol(fd, message, flags);                                 \
		site = PX_SITE(symbol, recvmsg);                                                   \
		return RECEIVE(site, fd, flags, 0, result, px_real.symbol(fd, message, flags),     \
			       message_size(message, result), NULL, NULL);                         \
	}
RECVMSG(recvmsg)

/* The call waits for `count` messages, and a try might return fewer, so ask poll() instead. */
#define RECVMMSG(symbol)                                                                           \
	PX_WRAP int symbol(int fd, struct mmsghdr *messages, unsigned int count,                   \
			   px_messages_flags flags, struct timespec *timeout)                      \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (PX_NOT_TRACED(socket) || IS_OWN(flags))                                        \
			return px_real.symbol(fd, messages, count, flags, timeout);                \
		site = PX_SITE(symbol, recvmmsg);                                                  \
		return PX_FD_CALL_WAITS(                                                           \
			site, fd, !(flags & MSG_DONTWAIT) && px_fd_would_wait(fd, POLLIN), count,  \
			result, px_real.symbol(fd, messages, count, flags, timeout), count,        \
			px_outcome(result));                                                       \
	}
RECVMMSG(recvmmsg)

#ifdef HAVE_TIME64_FUNCTIONS
/* These differ from the others only in the times that control data and a timeout have.  The wrappers pass them on. */
SENDMSG(__sendmsg64)
SENDMMSG(__sendmmsg64)
RECVMSG(__recvmsg64)
RECVMMSG(__recvmmsg64)
#endif
