/* SPDX-License-Identifier: MIT */
/*
 * Sockets.
 *
 * Receiving is tried with MSG_DONTWAIT where that cannot return anything else than the call itself would, and where it
 * is not sure, the socket is asked.  Sending is never tried, since it might send a part: the socket is asked.  A
 * connection that is made to another machine by a blocking socket waits; to this one, it does not.
 */
#include "wrap/descriptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "wrap/probe.h"

PX_INLINE const struct sockaddr *sent(__CONST_SOCKADDR_ARG address)
{
	return address.__sockaddr__;
}

PX_INLINE const struct sockaddr *received(__SOCKADDR_ARG address)
{
	return address.__sockaddr__;
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

/*
 * How much of an address to take that a call has filled in.  Its length says how long it is, not how much room there
 * was, so no more than what its family has.
 */
static size_t filled(const struct sockaddr *address, const socklen_t *length)
{
	size_t most = sizeof(address->sa_family);

	if (!address || !length || *length < most)
		return 0;
	if (address->sa_family == AF_INET)
		most = sizeof(struct sockaddr_in);
	else if (address->sa_family == AF_INET6)
		most = sizeof(struct sockaddr_in6);
	return *length < most ? *length : most;
}

/* An address as the program gave it, where the kernel has read it. */
static size_t given(const struct sockaddr *address, socklen_t length, int64_t outcome)
{
	if (!address || outcome == -EFAULT || outcome == -EINVAL || outcome == -EBADF ||
	    outcome == -ENOTSOCK)
		return 0;
	return length > sizeof(struct sockaddr_storage) ? 0 : length;
}

static void told_address(enum px_wrapper wrapper, uint32_t call_at, int fd, int64_t outcome,
			 const struct sockaddr *address, size_t length, void *caller)
{
	px_hook_more(wrapper, call_at, fd, length > 0 ? port_of(address, length) : 0, outcome,
		     address, length, caller);
}

PX_WRAP int socket(int domain, int type, int protocol)
{
	struct px_hook_sample sample;
	uint32_t more[2] = {(uint32_t)domain, (uint32_t)protocol};
	int64_t outcome;
	int fd;

	if (PX_NOT_TRACED(socket))
		return px_real.socket(domain, type, protocol);
	sample = px_hook_begin();
	fd = PX_REAL(&sample, px_real.socket(domain, type, protocol));
	outcome = px_outcome(fd);
	px_hook_more(PX_WRAPPER_socket, PX_WHOLE(socket), px_fd_opened(fd), (uint32_t)type, outcome,
		     more, sizeof(more), PX_CALLER);
	px_hook_end(&sample, PX_WRAPPER_socket);
	return fd;
}

PX_WRAP int socketpair(int domain, int type, int protocol, int ends[2])
{
	struct px_hook_sample sample;
	uint32_t other = 0;
	int64_t outcome;
	int result, fd = -1;

	if (PX_NOT_TRACED(socket))
		return px_real.socketpair(domain, type, protocol, ends);
	sample = px_hook_begin();
	result = PX_REAL(&sample, px_real.socketpair(domain, type, protocol, ends));
	outcome = px_outcome(result);
	if (result == 0) {
		fd = px_fd_opened(ends[0]);
		other = (uint32_t)px_fd_opened(ends[1]);
	}
	px_hook_more(PX_WRAPPER_socketpair, PX_WHOLE(socketpair), fd, (uint32_t)type, outcome,
		     &other, sizeof(other), PX_CALLER);
	px_hook_end(&sample, PX_WRAPPER_socketpair);
	return result;
}

PX_WRAP int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
	struct px_hook_sample sample;
	int64_t outcome;
	int result;

	if (PX_NOT_TRACED(socket))
		return px_real.bind(fd, address, length);
	sample = px_hook_begin();
	result = PX_REAL(&sample, px_real.bind(fd, address, length));
	outcome = px_outcome(result);
	told_address(PX_WRAPPER_bind, PX_WHOLE(bind), fd, outcome, sent(address),
		     given(sent(address), length, outcome), PX_CALLER);
	px_hook_end(&sample, PX_WRAPPER_bind);
	return result;
}

PX_WRAP int listen(int fd, int backlog)
{
	if (PX_NOT_TRACED(socket))
		return px_real.listen(fd, backlog);
	return PX_FD_TOLD(listen, listen, fd, backlog, px_real.listen(fd, backlog));
}

/* Flags that there are not are refused at once. */
static uint32_t accept_begins(enum px_wrapper wrapper, int fd, int flags, void *caller)
{
	if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC) || !px_fd_would_wait(fd, POLLIN))
		return PX_WHOLE(accept);
	px_hook_fd(wrapper, PX_BEGINS(accept), fd, 0, 0, caller);
	return PX_ENDS(accept);
}

#define ACCEPTS(symbol, flags, real)                                                               \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		uint32_t call_at_ = accept_begins(PX_WRAPPER_##symbol, fd, flags, PX_CALLER);      \
		int result_ = px_fd_opened(PX_REAL(&sample_, real));                               \
		int64_t outcome_ = px_outcome(result_);                                            \
		told_address(PX_WRAPPER_##symbol, call_at_, fd, outcome_, received(address),       \
			     result_ >= 0 ? filled(received(address), length) : 0, PX_CALLER);     \
		px_hook_end(&sample_, PX_WRAPPER_##symbol);                                        \
		result_;                                                                           \
	})

PX_WRAP int accept(int fd, __SOCKADDR_ARG address, socklen_t *length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.accept(fd, address, length);
	return ACCEPTS(accept, 0, px_real.accept(fd, address, length));
}

PX_WRAP int accept4(int fd, __SOCKADDR_ARG address, socklen_t *length, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.accept4(fd, address, length, flags);
	return ACCEPTS(accept4, flags, px_real.accept4(fd, address, length, flags));
}

/* 127.0.0.0/8, ::1 and what has no port. */
static bool is_here(const struct sockaddr *address, socklen_t length)
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

/* The socket is one that blocks, so its kind was looked up. */
static bool will_wait(int fd, const struct sockaddr *address, socklen_t length)
{
	return px_fd_kind(fd) == PX_FD_SOCKET && length <= sizeof(struct sockaddr_storage) &&
	       px_probe_can_read(address, length) && !is_here(address, length) && is_stream(fd);
}

static int traced_connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t length, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	bool waits = will_wait(fd, sent(address), length);
	int64_t outcome;
	int result;

	if (waits)
		told_address(PX_WRAPPER_connect, PX_BEGINS(connect), fd, 0, sent(address),
			     given(sent(address), length, 0), caller);
	result = PX_REAL(&sample, px_real.connect(fd, address, length));
	outcome = px_outcome(result);
	told_address(PX_WRAPPER_connect, waits ? PX_ENDS(connect) : PX_WHOLE(connect), fd, outcome,
		     sent(address), given(sent(address), length, outcome), caller);
	px_hook_end(&sample, PX_WRAPPER_connect);
	return result;
}

PX_WRAP int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.connect(fd, address, length);
	return traced_connect(fd, address, length, PX_CALLER);
}

PX_WRAP int shutdown(int fd, int how)
{
	if (PX_NOT_TRACED(socket))
		return px_real.shutdown(fd, how);
	return PX_FD_TOLD(shutdown, shutdown, fd, how, px_real.shutdown(fd, how));
}

static bool sending_waits(int fd, int flags)
{
	return !(flags & MSG_DONTWAIT) && px_fd_would_wait(fd, POLLOUT);
}

#define SENDS(symbol, asked, value, real)                                                          \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		bool waits_ = sending_waits(fd, flags);                                            \
		if (px_unlikely(waits_))                                                           \
			px_hook_fd(PX_WRAPPER_##symbol, PX_BEGINS(symbol), fd, (uint32_t)(asked),  \
				   0, PX_CALLER);                                                  \
		__typeof__(real) result = PX_REAL(&sample_, real);                                 \
		int64_t outcome_ = px_outcome(result);                                             \
		px_hook_fd(PX_WRAPPER_##symbol,                                                    \
			   px_unlikely(waits_) ? PX_ENDS(symbol) : PX_WHOLE(symbol), fd,           \
			   (uint32_t)(value), outcome_, PX_CALLER);                                \
		px_hook_end(&sample_, PX_WRAPPER_##symbol);                                        \
		result;                                                                            \
	})

PX_WRAP ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.send(fd, buffer, size, flags);
	return SENDS(send, size, size, px_real.send(fd, buffer, size, flags));
}

static ssize_t traced_sendto(int fd, const void *buffer, size_t size, int flags,
			     __CONST_SOCKADDR_ARG address, socklen_t length, void *caller)
{
	struct px_hook_sample sample = px_hook_begin();
	bool waits = sending_waits(fd, flags);
	int64_t outcome;
	ssize_t result;

	if (waits)
		px_hook_fd(PX_WRAPPER_sendto, PX_BEGINS(sendto), fd, (uint32_t)size, 0, caller);
	result = PX_REAL(&sample, px_real.sendto(fd, buffer, size, flags, address, length));
	outcome = px_outcome(result);
	px_hook_more(PX_WRAPPER_sendto, waits ? PX_ENDS(sendto) : PX_WHOLE(sendto), fd,
		     (uint32_t)size, outcome, sent(address),
		     result < 0 ? 0 : given(sent(address), length, outcome), caller);
	px_hook_end(&sample, PX_WRAPPER_sendto);
	return result;
}

PX_WRAP ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
		       __CONST_SOCKADDR_ARG address, socklen_t length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.sendto(fd, buffer, size, flags, address, length);
	return traced_sendto(fd, buffer, size, flags, address, length, PX_CALLER);
}

static uint32_t message_size(const struct msghdr *message, int64_t result)
{
	return result < 0 ? 0 : px_vector_size(message->msg_iov, (int)message->msg_iovlen, result);
}

PX_WRAP ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.sendmsg(fd, message, flags);
	return SENDS(sendmsg, 0, message_size(message, result),
		     px_real.sendmsg(fd, message, flags));
}

PX_WRAP int sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.sendmmsg(fd, messages, count, flags);
	return SENDS(sendmmsg, count, count, px_real.sendmmsg(fd, messages, count, flags));
}

/* What was tried has failed because it was not to wait, and the socket itself would. */
static bool must_wait(int fd, int64_t result)
{
	return result < 0 && errno == EAGAIN && px_fd_is_blocking(fd);
}

/*
 * flags: the call's, in which MSG_DONTWAIT is set for the try.  A failed one may have set errno, which a call that
 * succeeds leaves alone.
 */
#define RECEIVES(symbol, call, asked, value, address, length, real)                                \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		const int flags_ = flags;                                                          \
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
			px_hook_fd(PX_WRAPPER_##symbol, PX_BEGINS(call), fd, (uint32_t)(asked), 0, \
				   PX_CALLER);                                                     \
		if (!tries_ || waits_)                                                             \
			result = PX_REAL(&sample_, real);                                          \
		outcome_ = px_outcome(result);                                                     \
		px_hook_more(PX_WRAPPER_##symbol,                                                  \
			     px_unlikely(waits_) ? PX_ENDS(call) : PX_WHOLE(call), fd,             \
			     (uint32_t)(value), outcome_, address,                                 \
			     result > 0 ? filled(address, length) : 0, PX_CALLER);                 \
		px_hook_end(&sample_, PX_WRAPPER_##symbol);                                        \
		result;                                                                            \
	})

PX_WRAP ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.recv(fd, buffer, size, flags);
	return RECEIVES(recv, recv, size, size, NULL, NULL, px_real.recv(fd, buffer, size, flags));
}

PX_WRAP ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.__recv_chk(fd, buffer, size, room, flags);
	return RECEIVES(__recv_chk, recv, size, size, NULL, NULL,
			px_real.__recv_chk(fd, buffer, size, room, flags));
}

PX_WRAP ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG address,
			 socklen_t *length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.recvfrom(fd, buffer, size, flags, address, length);
	return RECEIVES(recvfrom, recvfrom, size, size, received(address), length,
			px_real.recvfrom(fd, buffer, size, flags, address, length));
}

PX_WRAP ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
			       __SOCKADDR_ARG address, socklen_t *length)
{
	if (PX_NOT_TRACED(socket))
		return px_real.__recvfrom_chk(fd, buffer, size, room, flags, address, length);
	return RECEIVES(__recvfrom_chk, recvfrom, size, size, received(address), length,
			px_real.__recvfrom_chk(fd, buffer, size, room, flags, address, length));
}

PX_WRAP ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	if (PX_NOT_TRACED(socket))
		return px_real.recvmsg(fd, message, flags);
	return RECEIVES(recvmsg, recvmsg, 0, message_size(message, result), NULL, NULL,
			px_real.recvmsg(fd, message, flags));
}

/* Several at once: a try might return fewer than it would have waited for, so the socket is asked. */
PX_WRAP int recvmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags,
		     struct timespec *timeout)
{
	if (PX_NOT_TRACED(socket))
		return px_real.recvmmsg(fd, messages, count, flags, timeout);
	return PX_FD_WAITS(recvmmsg, recvmmsg, fd,
			   !(flags & MSG_DONTWAIT) && px_fd_would_wait(fd, POLLIN), count, count,
			   px_real.recvmmsg(fd, messages, count, flags, timeout));
}
