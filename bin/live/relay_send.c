/* SPDX-License-Identifier: MIT */
#include "live/relay_send.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "input/relay.h"
#include "live/session.h"

#define BLOCK 4096
#define ROUND_MS 250
#define SHARE 10 /* a pass takes at most one of so many parts of the time */

/* Of the log. */
enum phase {
	RUNNING,
	STOPPED, /* it gets no more events, but its parts will move once more */
	COMPLETE
};

struct relay {
	int fd;
	int signals;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	enum phase phase;   /* this and the next member: under the lock */
	bool has_caught_up; /* what the log had when it stopped was sent */
	int error;	    /* of a write: nothing more is sent */
	uint64_t *sums; /* for each block: of what was sent; 0: nothing, so it has zeros */
	size_t nr_sums;
	/* The bytes that were read first. */
	off_t commit;
	size_t commit_size;
	unsigned char commit_bytes[BLOCK];
};

static enum phase get_phase(struct relay *relay)
{
	enum phase phase;

	pthread_mutex_lock(&relay->lock);
	phase = relay->phase;
	pthread_mutex_unlock(&relay->lock);
	return phase;
}

/* Frames. */

static bool is_cancelled(const struct relay *relay)
{
	bool is_sent;
	int number;

	do
		number = session_next_signal(relay->signals, &is_sent);
	while (number == SIGCHLD);
	return number != 0;
}

/*
 * Wait until there is room for PIPE_BUF bytes, so that the reader cannot hold up a write.  Signals are for the main
 * thread while the program runs; afterwards, they end the sending.  Return 0 or an error number.
 */
static int wait_for_room(struct relay *relay)
{
	struct pollfd watched[2] = {{.fd = STDOUT_FILENO, .events = POLLOUT}, {.events = POLLIN}};

	do {
		watched[1].fd = get_phase(relay) == RUNNING ? -1 : relay->signals;
		if (poll(watched, 2, ROUND_MS) < 0) {
			if (errno != EINTR)
				return errno;
			watched[0].revents = watched[1].revents = 0;
		}
		if ((watched[1].revents & POLLIN) && is_cancelled(relay))
			return ECANCELED;
	} while (watched[0].revents == 0);
	return 0;
}

static void send_bytes(struct relay *relay, const void *bytes, size_t size)
{
	for (const char *at = bytes; size > 0 && relay->error == 0;) {
		size_t part = size < PIPE_BUF ? size : PIPE_BUF;

		relay->error = wait_for_room(relay);
		if (relay->error == 0)
			relay->error = write_all(STDOUT_FILENO, at, part);
		at += part;
		size -= part;
	}
}

static void send_frame(struct relay *relay, enum relay_frame what, uint64_t offset, const unsigned char *bytes,
		       uint32_t length)
{
	unsigned char head[RELAY_FRAME] = {(unsigned char)what};
	uint64_t where = htole64(offset);
	uint32_t size = htole32(length);

	memcpy(head + 1, &where, sizeof(where));
	memcpy(head + 9, &size, sizeof(size));
	send_bytes(relay, head, sizeof(head));
	send_bytes(relay, bytes, length);
}

/* A pass over the file. */

static bool is_zero(const unsigned char *block)
{
	return block[0] == 0 && memcmp(block, block + 1, BLOCK - 1) == 0;
}

/* Return a number that another block almost never has.  It is 0 for a block of zeros only. */
static uint64_t sum_of(const unsigned char *block)
{
	uint64_t sum = 14695981039346656037u, word;

	if (is_zero(block))
		return 0;
	for (size_t i = 0; i < BLOCK; i += sizeof(word)) {
		memcpy(&word, block + i, sizeof(word));
		sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
		sum ^= sum >> 29;
	}
	return sum ? sum : 1;
}

static bool find_commit(const struct relay *relay, off_t *offset, size_t *size)
{
	return txtrace_get_commit(relay->fd, offset, size) == 0 && *size <= BLOCK;
}

/* Put the bytes that were read first into the block at this offset. */
static void put_commit(const struct relay *relay, unsigned char *block, off_t at)
{
	off_t begin = relay->commit > at ? relay->commit : at;
	off_t end = relay->commit + (off_t)relay->commit_size;

	end = end < at + BLOCK ? end : at + BLOCK;
	if (begin < end)
		memcpy(block + (begin - at), relay->commit_bytes + (begin - relay->commit), (size_t)(end - begin));
}

static void take_block(struct relay *relay, size_t number, bool is_running)
{
	unsigned char block[BLOCK] = {0};
	off_t at = (off_t)number * BLOCK;
	uint64_t sum;

	if (pread(relay->fd, block, sizeof(block), at) < 0)
		relay->error = errno;
	if (is_running)
		put_commit(relay, block, at);
	sum = sum_of(block);
	if (sum != relay->sums[number])
		send_frame(relay, RELAY_BYTES, (uint64_t)at, block, BLOCK);
	relay->sums[number] = sum;
}

static void make_room(struct relay *relay, size_t nr)
{
	if (nr <= relay->nr_sums)
		return;
	relay->sums = must(reallocarray(relay->sums, nr, sizeof(*relay->sums)));
	memset(relay->sums + relay->nr_sums, 0, (nr - relay->nr_sums) * sizeof(*relay->sums));
	relay->nr_sums = nr;
}

/* Blocks in a hole have zeros, and so has a block that was never sent. */
static void take_blocks(struct relay *relay, uint64_t size, bool is_running)
{
	size_t nr = (size_t)((size + BLOCK - 1) / BLOCK);
	off_t data = 0, hole = 0;

	make_room(relay, nr);
	for (size_t i = 0; i < nr && relay->error == 0; i++) {
		off_t at = (off_t)i * BLOCK;

		if (at >= hole) {
			data = lseek(relay->fd, at, SEEK_DATA);
			data = data < 0 ? (off_t)size : data;
			hole = lseek(relay->fd, data, SEEK_HOLE);
			hole = hole <= data ? (off_t)size : hole;
		}
		if (at + BLOCK > data || relay->sums[i] != 0)
			take_block(relay, i, is_running);
	}
}

/* The blocks of a pass that is dropped have to be sent again. */
static void drop(struct relay *relay)
{
	send_frame(relay, RELAY_DROP, 0, NULL, 0);
	for (size_t i = 0; i < relay->nr_sums; i++)
		relay->sums[i] = 1; /* no block has this sum, but by chance */
}

/* While the log is written, its parts can move: then the bytes that were read first are not those of this file. */
static void send_running(struct relay *relay)
{
	struct stat status;
	off_t offset;
	size_t size;

	if (!find_commit(relay, &relay->commit, &relay->commit_size) ||
	    pread(relay->fd, relay->commit_bytes, relay->commit_size, relay->commit) != (ssize_t)relay->commit_size ||
	    fstat(relay->fd, &status) != 0)
		return;
	take_blocks(relay, (uint64_t)status.st_size, true);
	if (find_commit(relay, &offset, &size) && offset == relay->commit && size == relay->commit_size)
		send_frame(relay, RELAY_STATE, (uint64_t)status.st_size, NULL, 0);
	else
		drop(relay);
}

static void send_complete(struct relay *relay)
{
	struct stat status;

	if (fstat(relay->fd, &status) != 0) {
		relay->error = relay->error ? relay->error : errno;
		return;
	}
	take_blocks(relay, (uint64_t)status.st_size, false);
	send_frame(relay, RELAY_END, (uint64_t)status.st_size, NULL, 0);
}

/* The thread. */

static enum phase wait_for_round(struct relay *relay, int64_t ns)
{
	struct timespec until;
	enum phase phase;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec += (long)(ns % NS_PER_S);
	if (until.tv_nsec >= NS_PER_S) {
		until.tv_sec++;
		until.tv_nsec -= NS_PER_S;
	}
	pthread_mutex_lock(&relay->lock);
	while (relay->phase == RUNNING && pthread_cond_timedwait(&relay->wake, &relay->lock, &until) == 0)
		;
	phase = relay->phase;
	pthread_mutex_unlock(&relay->lock);
	return phase;
}

static int64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The end moves parts of the log, so most of it is sent again.  If the connection ends then, no event is missing. */
static void catch_up(struct relay *relay)
{
	send_running(relay);
	pthread_mutex_lock(&relay->lock);
	relay->has_caught_up = true;
	pthread_cond_broadcast(&relay->wake);
	while (relay->phase != COMPLETE)
		pthread_cond_wait(&relay->wake, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
}

static void *send_rounds(void *argument)
{
	struct relay *relay = argument;
	int64_t pause_ns = ROUND_MS * 1000000LL;
	sigset_t all;

	/* A write to a pipe that nobody reads returns EPIPE, and other signals are for the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	send_bytes(relay, RELAY_MAGIC, RELAY_MAGIC_BYTES);
	while (relay->error == 0 && wait_for_round(relay, pause_ns) == RUNNING) {
		int64_t begin_ns = cpu_now_ns(), took_ns;

		send_running(relay);
		/* Not the time in which the reader was slow. */
		took_ns = cpu_now_ns() - begin_ns;
		pause_ns = took_ns * SHARE > ROUND_MS * 1000000LL ? took_ns * SHARE : ROUND_MS * 1000000LL;
	}
	while (wait_for_round(relay, NS_PER_S) == RUNNING)
		; /* after an error */
	if (get_phase(relay) == STOPPED)
		catch_up(relay);
	send_complete(relay);
	return NULL;
}

struct relay *relay_begin(const char *path, int signals)
{
	struct relay *relay = must(calloc(1, sizeof(*relay)));
	pthread_condattr_t attr;
	int error;

	relay->signals = signals;
	relay->fd = open(path, O_RDONLY | O_CLOEXEC);
	pthread_mutex_init(&relay->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&relay->wake, &attr);
	pthread_condattr_destroy(&attr);
	error = relay->fd < 0 ? errno : pthread_create(&relay->thread, NULL, send_rounds, relay);
	if (error == 0)
		return relay;
	message_error(error, "cannot send %s", path);
	if (relay->fd >= 0)
		close(relay->fd);
	free(relay);
	return NULL;
}

static void enter_phase(struct relay *relay, enum phase phase)
{
	pthread_mutex_lock(&relay->lock);
	relay->phase = phase;
	pthread_cond_broadcast(&relay->wake);
	pthread_mutex_unlock(&relay->lock);
}

void relay_catch_up(struct relay *relay)
{
	bool is_sent;

	/* Those that came with the end of the program do not end the sending. */
	while (session_next_signal(relay->signals, &is_sent) != 0)
		;
	enter_phase(relay, STOPPED);
	pthread_mutex_lock(&relay->lock);
	while (!relay->has_caught_up)
		pthread_cond_wait(&relay->wake, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
}

bool relay_end(struct relay *relay)
{
	int error;

	enter_phase(relay, COMPLETE);
	pthread_join(relay->thread, NULL);
	error = relay->error;
	if (error == ECANCELED)
		message("a signal ended the sending of the log to standard output");
	else if (error)
		message_error(error, "standard output");
	close(relay->fd);
	pthread_cond_destroy(&relay->wake);
	pthread_mutex_destroy(&relay->lock);
	free(relay->sums);
	free(relay);
	return error == 0;
}
