/* SPDX-License-Identifier: MIT */
#include "capture/gdb.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"

#define RETRIES 3
#define GARBAGE_MAX 65536 /* bytes outside of packets before a reply */
#define READ_MAX 4096	  /* bytes of memory in one request */
#define REPLIES_MAX 1000  /* other packets before a reply */

__attribute__((format(printf, 2, 3))) static bool fail(struct gdb *gdb, const char *format, ...)
{
	va_list arguments;

	if (gdb->fault[0] == '\0') {
		va_start(arguments, format);
		vsnprintf(gdb->fault, sizeof(gdb->fault), format, arguments);
		va_end(arguments);
	}
	return false;
}

/* Bytes. */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool await(struct gdb *gdb, short events, int64_t until_ms)
{
	struct pollfd fd = {.fd = gdb->fd, .events = events};

	for (;;) {
		int64_t left = until_ms - now_ms();
		int nr = poll(&fd, 1, left > 0 ? (int)left : 0);

		if (nr > 0)
			return true;
		if (nr == 0)
			return fail(gdb, "does not answer");
		if (errno != EINTR)
			return fail(gdb, "cannot be waited for: %s", strerror(errno));
	}
}

static int next_byte(struct gdb *gdb, int64_t until_ms)
{
	ssize_t nr;

	if (gdb->in_from < gdb->in_end)
		return gdb->in[gdb->in_from++];
	do {
		if (gdb->fault[0] != '\0' || !await(gdb, POLLIN, until_ms))
			return -1;
		nr = read(gdb->fd, gdb->in, sizeof(gdb->in));
	} while (nr < 0 && (errno == EINTR || errno == EAGAIN));
	if (nr <= 0) {
		fail(gdb, nr == 0 ? "has closed the connection" : "is gone: %s", strerror(errno));
		return -1;
	}
	gdb->in_from = 1;
	gdb->in_end = (size_t)nr;
	return gdb->in[0];
}

static bool send_bytes(struct gdb *gdb, const char *bytes, size_t size)
{
	int64_t until_ms = now_ms() + gdb->timeout_ms;

	while (size > 0) {
		ssize_t nr;

		if (gdb->fault[0] != '\0' || !await(gdb, POLLOUT, until_ms))
			return false;
		nr = send(gdb->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (nr < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (nr < 0)
			return fail(gdb, "is gone: %s", strerror(errno));
		bytes += nr;
		size -= (size_t)nr;
	}
	return true;
}

/* Packets. */

static int digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool send_packet(struct gdb *gdb, const char *text)
{
	char packet[128];
	unsigned char sum = 0;
	int length;

	for (const char *c = text; *c; c++)
		sum = (unsigned char)(sum + (unsigned char)*c);
	length = snprintf(packet, sizeof(packet), "$%s#%02x", text, sum);
	return length < (int)sizeof(packet) && send_bytes(gdb, packet, (size_t)length);
}

static bool put(struct gdb *gdb, int c)
{
	if (gdb->length == GDB_PACKET_MAX)
		return fail(gdb, "sends a packet of more than %d bytes", GDB_PACKET_MAX);
	gdb->reply[gdb->length++] = (char)c;
	return true;
}

/* Append the last character n times more. */
static bool repeat(struct gdb *gdb, int n)
{
	if (n < 0 || gdb->length == 0)
		return fail(gdb, "sends a repetition of nothing");
	for (char last = gdb->reply[gdb->length - 1]; n > 0; n--)
		if (!put(gdb, last))
			return false;
	return true;
}

/* Read the rest of a packet after its first character.  *is_whole: the checksum is right. */
static bool take_packet(struct gdb *gdb, int64_t until_ms, bool *is_whole)
{
	unsigned char sum = 0;
	int c, high, low;

	gdb->length = 0;
	while ((c = next_byte(gdb, until_ms)) != '#') {
		if (c < 0)
			return false;
		sum = (unsigned char)(sum + c);
		if (c == '}' || c == '*') {
			int next = next_byte(gdb, until_ms);

			if (next < 0)
				return false;
			sum = (unsigned char)(sum + next);
			if (!(c == '}' ? put(gdb, next ^ 0x20) : repeat(gdb, next - 29)))
				return false;
		} else if (!put(gdb, c)) {
			return false;
		}
	}
	high = next_byte(gdb, until_ms);
	low = high < 0 ? -1 : next_byte(gdb, until_ms);
	if (low < 0)
		return false;
	gdb->reply[gdb->length] = '\0';
	*is_whole = digit(high) >= 0 && digit(low) >= 0 && (digit(high) << 4 | digit(low)) == sum;
	return true;
}

/* Receive a packet.  request is sent again if the stub asks for it; NULL: there is none. */
static bool receive(struct gdb *gdb, const char *request)
{
	int64_t until_ms = now_ms() + gdb->timeout_ms;
	unsigned int nr_garbage = 0, nr_retries = 0;
	bool is_whole;
	int c;

	while ((c = next_byte(gdb, until_ms)) >= 0) {
		if (c == '-' && request && !gdb->needs_no_ack) {
			if (++nr_retries > RETRIES)
				return fail(gdb, "refuses a packet again and again");
			if (!send_packet(gdb, request))
				return false;
		} else if (c == '$' || c == '%') {
			if (!take_packet(gdb, until_ms, &is_whole))
				return false;
			if (c == '%')
				continue; /* a notification, which has no acknowledgement */
			if (gdb->needs_no_ack)
				return is_whole || fail(gdb, "sends a packet with a wrong checksum");
			if (!send_bytes(gdb, is_whole ? "+" : "-", 1))
				return false;
			if (is_whole)
				return true;
			if (++nr_retries > RETRIES)
				return fail(gdb, "sends packets with wrong checksums");
		} else if (c != '+' && ++nr_garbage > GARBAGE_MAX) {
			return fail(gdb, "sends no packets of gdb's protocol");
		}
	}
	return false;
}

/*
 * Look at a packet that may come at any time: output of the target, or its new state.  Return true if it is one of
 * these.
 */
static bool note_state(struct gdb *gdb)
{
	switch (gdb->reply[0]) {
	case 'T':
	case 'S':
		gdb->is_running = false;
		return true;
	case 'W':
	case 'X':
		gdb->is_running = false;
		gdb->has_ended = true;
		return true;
	case 'O':
		return strcmp(gdb->reply, "OK") != 0;
	default:
		return false;
	}
}

static bool ended(struct gdb *gdb)
{
	return fail(gdb, "says that the program has ended");
}

/*
 * Send a request and receive its reply.  Some stubs stop a running target when they see a request, say so, and forget
 * the request: then send it once more.
 */
static bool ask(struct gdb *gdb, const char *request)
{
	bool was_running = gdb->is_running;

	if (!send_packet(gdb, request))
		return false;
	for (int i = 0; i < REPLIES_MAX; i++) {
		if (!receive(gdb, request))
			return false;
		if (!note_state(gdb))
			return true;
		if (gdb->has_ended)
			return ended(gdb);
		if (was_running && !gdb->is_running) {
			was_running = false;
			if (!send_packet(gdb, request))
				return false;
		}
	}
	return fail(gdb, "sends other packets than the reply");
}

/* The state of the target. */

static bool await_stop(struct gdb *gdb)
{
	for (int i = 0; i < REPLIES_MAX && gdb->is_running; i++) {
		if (!receive(gdb, NULL))
			return false;
		note_state(gdb);
	}
	if (gdb->has_ended)
		return ended(gdb);
	return !gdb->is_running || fail(gdb, "does not stop the target");
}

bool gdb_halt(struct gdb *gdb)
{
	if (!gdb->is_running)
		return gdb->fault[0] == '\0';
	return send_bytes(gdb, "\003", 1) && await_stop(gdb);
}

bool gdb_continue(struct gdb *gdb)
{
	if (gdb->is_running)
		return true;
	if (!send_packet(gdb, "c"))
		return false;
	gdb->is_running = true;
	return true;
}

bool gdb_continue_live(struct gdb *gdb)
{
	if (gdb->is_running)
		return true;
	if (gdb->can_non_stop && !gdb->is_non_stop) {
		if (!ask(gdb, "QNonStop:1"))
			return false;
		gdb->is_non_stop = strcmp(gdb->reply, "OK") == 0;
	}
	if (!gdb->is_non_stop)
		return gdb_continue(gdb);
	if (!ask(gdb, "vCont;c"))
		return false;
	gdb->is_running = true;
	return true;
}

/* Begin and end. */

static void read_features(struct gdb *gdb)
{
	char *next = gdb->reply, *feature;

	while ((feature = strsep(&next, ";"))) {
		if (strncmp(feature, "PacketSize=", 11) == 0) {
			unsigned long size = strtoul(feature + 11, NULL, 16);

			if (size >= 32)
				gdb->packet_max = size < GDB_PACKET_MAX ? size : GDB_PACKET_MAX;
		}
		gdb->can_non_stop |= strcmp(feature, "QNonStop+") == 0;
		gdb->can_auxv |= strcmp(feature, "qXfer:auxv:read+") == 0;
	}
}

bool gdb_begin(struct gdb *gdb, int fd, int timeout_ms)
{
	*gdb = (struct gdb){.fd = fd, .timeout_ms = timeout_ms, .packet_max = 400};
	if (!send_bytes(gdb, "+", 1) || !ask(gdb, "qSupported"))
		return false;
	read_features(gdb);
	if (!ask(gdb, "QStartNoAckMode"))
		return false;
	gdb->needs_no_ack = strcmp(gdb->reply, "OK") == 0;
	/* A stub answers with the reason why the target stopped; if it runs, with OK or nothing. */
	if (!send_packet(gdb, "?") || !receive(gdb, "?"))
		return false;
	gdb->is_running = true;
	note_state(gdb);
	return !gdb->has_ended || ended(gdb);
}

static int connect_to(const struct addrinfo *to, int timeout_ms)
{
	int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	socklen_t length = sizeof(errno);
	int error = 0, yes = 1;

	if (fd < 0)
		return -1;
	/*
	 * Each request follows an acknowledgement of one byte.  The kernel would keep the request until the other side
	 * has acknowledged that byte, 40 ms later, and the requests to run and to stop would arrive together.
	 */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
		return fd;
	if (errno == EINPROGRESS && poll(&wait, 1, timeout_ms) == 1 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0)
		return fd;
	if (errno == EINPROGRESS)
		errno = error ? error : ETIMEDOUT;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool gdb_open(struct gdb *gdb, const char *address, int timeout_ms)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const char *colon = strrchr(address, ':');
	struct addrinfo *list;
	char host[256];
	int error, fd = -1;

	gdb->fd = -1;
	if (!colon || colon[1] == '\0' || (size_t)(colon - address) >= sizeof(host)) {
		message("--gdb needs HOST:PORT, not %s", address);
		return false;
	}
	snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
	error = getaddrinfo(host[0] ? host : "localhost", colon + 1, &hints, &list);
	if (error != 0) {
		message("cannot find %s: %s", address, gai_strerror(error));
		return false;
	}
	for (const struct addrinfo *i = list; i && fd < 0; i = i->ai_next)
		fd = connect_to(i, timeout_ms);
	error = errno;
	freeaddrinfo(list);
	if (fd < 0) {
		message_error(error, "cannot connect to %s", address);
		return false;
	}
	if (gdb_begin(gdb, fd, timeout_ms))
		return true;
	message("the stub at %s %s", address, gdb->fault);
	gdb_close(gdb);
	return false;
}

void gdb_close(struct gdb *gdb)
{
	if (gdb->fd < 0)
		return;
	if (gdb->fault[0] == '\0' && (gdb->is_non_stop || gdb_halt(gdb)))
		ask(gdb, "D"); /* the target runs on */
	close(gdb->fd);
	gdb->fd = -1;
}

/* Memory. */

/* Convert hex digits to bytes.  Return their number, or SIZE_MAX if the reply has something else. */
static size_t decode(const struct gdb *gdb, unsigned char *to, size_t size)
{
	if (gdb->length % 2 != 0 || gdb->length / 2 > size)
		return SIZE_MAX;
	for (size_t i = 0; i < gdb->length / 2; i++) {
		int high = digit(gdb->reply[2 * i]), low = digit(gdb->reply[2 * i + 1]);

		if (high < 0 || low < 0)
			return SIZE_MAX;
		to[i] = (unsigned char)(high << 4 | low);
	}
	return gdb->length / 2;
}

size_t gdb_read(struct gdb *gdb, uint64_t address, void *to, size_t size)
{
	size_t most = (gdb->packet_max - 8) / 2, done = 0;
	unsigned char *bytes = to;
	char request[64];

	most = most > READ_MAX ? READ_MAX : most;
	while (done < size) {
		size_t wanted = size - done < most ? size - done : most, nr;

		snprintf(request, sizeof(request), "m%llx,%zx", (unsigned long long)(address + done), wanted);
		if (!ask(gdb, request))
			break;
		if (gdb->reply[0] == 'E' && gdb->length == 3) {
			fail(gdb, "cannot read %zu bytes at 0x%llx", wanted, (unsigned long long)(address + done));
			break;
		}
		nr = decode(gdb, bytes + done, wanted);
		if (nr == 0 || nr == SIZE_MAX) {
			fail(gdb, nr == 0 ? "cannot read memory" : "sends something else than the memory");
			break;
		}
		done += nr;
	}
	return done;
}

static uint64_t word_of(const unsigned char *bytes, size_t size, bool is_big)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word = word << 8 | bytes[is_big ? i : size - 1 - i];
	return word;
}

bool gdb_auxv(struct gdb *gdb, uint64_t type, size_t word_size, bool is_big, uint64_t *value)
{
	const unsigned char *bytes = (const unsigned char *)gdb->reply + 1;

	if (!gdb->can_auxv || !ask(gdb, "qXfer:auxv:read::0,1000") || (gdb->reply[0] != 'l' && gdb->reply[0] != 'm'))
		return false;
	for (size_t at = 0; at + 2 * word_size <= gdb->length - 1; at += 2 * word_size) {
		if (word_of(bytes + at, word_size, is_big) != type)
			continue;
		*value = word_of(bytes + at + word_size, word_size, is_big);
		return true;
	}
	return false;
}
