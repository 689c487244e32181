/* SPDX-License-Identifier: MIT */
/* A controller's thread: it traces any process, and knows about it only what is on the board. */
#include "stress/verify.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#define DRAIN_ROUNDS 3
#define DRAIN_MOST_NS UINT64_C(20000000000)
#define DRAIN_NAP_US 60000 /* longer than a reader waits for a sleeping writer */

struct owner {
	unsigned int index;
	uint64_t random;
	uint32_t nr_logs;
	char path[300]; /* of the log */
	int fd;
	enum { FAST, SLOW, STALLING, NOT_AT_ALL } pace;
};

static uint64_t pick(struct owner *owner, uint64_t limit)
{
	return next_random(&owner->random) % limit;
}

static void says(const struct owner *owner, enum deed deed)
{
	doing(NR_WRITERS + owner->index, deed);
}

/* exit() has ended all streams, so what the thread finds now proves nothing. */
static void stay_if_exiting(void)
{
	while (px_load_acquire(&board->life[my_number].beat[0].deed) == EXITS)
		pause();
}

/* Return a target, sometimes this process itself; 0: there is none. */
static uint32_t pick_target(struct owner *owner)
{
	uint32_t number = my_number;

	if (pick(owner, 6) != 0)
		number = px_load_acquire(&board->seat[pick(owner, NR_SEATS)]);
	return px_load_acquire(&board->life[number].state) == ALIVE ? number : 0;
}

static void choose_attr(struct owner *owner, struct stream *stream, trace_attr_t *attr)
{
	static const int log_policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					   POSIX_TRACE_APPEND};
	static const char *const policies[] = {"LOOP", "UNTIL_FULL", "FLUSH"};
	static const size_t sizes[] = {0, 8192, 65536, 262144};
	static const size_t max_data[] = {64, 200, LENGTH_MAX};
	size_t size = sizes[pick(owner, 4)];
	int policy, log_policy = log_policies[pick(owner, 3)];

	stream->has_log = pick(owner, 2);
	policy = (int)pick(owner, stream->has_log ? 3 : 2) + POSIX_TRACE_LOOP;
	stream->is_bounded = policy != POSIX_TRACE_LOOP;
	stream->log_loops = stream->has_log && log_policy == POSIX_TRACE_LOOP;
	stream->log_fills = stream->has_log && log_policy == POSIX_TRACE_UNTIL_FULL;
	stream->is_inherited = pick(owner, 4) != 0;
	stream->max_data = max_data[pick(owner, 3)];
	owner->pace = pick(owner, 4);
	posix_trace_attr_init(attr);
	posix_trace_attr_setstreamfullpolicy(attr, policy);
	posix_trace_attr_setlogfullpolicy(attr, log_policy);
	posix_trace_attr_setlogsize(attr, (pick(owner, 2) ? 100000 : 1000000));
	posix_trace_attr_setinherited(attr, stream->is_inherited ? POSIX_TRACE_INHERITED :
								   POSIX_TRACE_CLOSE_FOR_CHILD);
	posix_trace_attr_setstreamsize(attr, size);
	posix_trace_attr_setmaxdatasize(attr, stream->max_data);
	txtrace_attr_setrings(attr, (unsigned int)pick(owner, 3));
	snprintf(stream->name, sizeof(stream->name), "%s%s of life %u, %zu bytes, data %zu, log %d",
		 policies[policy - POSIX_TRACE_LOOP], stream->is_inherited ? ", inherited," : "",
		 stream->target, size, stream->max_data, stream->has_log ? log_policy : 0);
}

/*
 * The kernel uses pids again, and another process may at this moment recover the log of the earlier process: use
 * another name.
 */
static void open_log(struct owner *owner)
{
	do {
		snprintf(owner->path, sizeof(owner->path), "%s/log.%d.%u.%u", board->directory,
			 (int)getpid(), owner->index, ++owner->nr_logs);
		owner->fd = open(owner->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (owner->fd < 0 && errno == EEXIST);
	if (owner->fd < 0)
		violation("%s: error %d", owner->path, errno);
}

static void close_log(struct owner *owner)
{
	unlink(owner->path);
	close(owner->fd);
}

/* For create, a process that is about to end counts as dead, although it exists a moment longer. */
static bool is_there_after(int error, const struct life *target)
{
	for (int i = 0; error == ESRCH && i < 1000 && life_is_there(target); i++)
		sleep_us(1000);
	return life_is_there(target);
}

/* Return false if there is no stream, because the target has gone. */
static bool create(struct owner *owner, struct stream *stream)
{
	const struct life *target = &board->life[stream->target];
	trace_attr_t attr;
	int error;

	choose_attr(owner, stream, &attr);
	if (stream->has_log)
		open_log(owner);
	says(owner, CREATES);
	stream->ordered_ns = monotonic_ns();
	error = stream->has_log ? posix_trace_create_withlog((pid_t)target->pid, &attr, owner->fd,
							     &stream->trid) :
				  posix_trace_create((pid_t)target->pid, &attr, &stream->trid);
	stream->made_ns = monotonic_ns();
	stay_if_exiting();
	if (is_there_after(error, target)) {
		if (!error)
			return true;
		violation("%s: create gives error %d", stream->name, error);
	} else if (!error) {
		posix_trace_shutdown(stream->trid); /* a new process may have the pid now */
	}
	if (stream->has_log)
		close_log(owner);
	count(nr_refused, 1);
	return false;
}

/* Return false if there is nothing to read. */
static bool read_event(struct owner *owner, struct stream *stream)
{
	struct posix_trace_event_info info;
	unsigned char data[2048];
	struct timespec until;
	int error, unavailable = 0;
	size_t size;

	if (pick(owner, 8) == 0) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 2000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		error = posix_trace_timedgetnext_event(stream->trid, &info, data, sizeof(data),
						       &size, &unavailable, &until);
	} else {
		error = posix_trace_trygetnext_event(stream->trid, &info, data, sizeof(data), &size,
						     &unavailable);
	}
	stay_if_exiting();
	if (error && error != ETIMEDOUT)
		violation("%s: reading gives error %d", stream->name, error);
	if (error || unavailable)
		return false;
	check_event(stream, &info, data, size);
	return true;
}

static void read_for(struct owner *owner, struct stream *stream, uint64_t ns)
{
	uint64_t until = monotonic_ns() + ns;

	while (monotonic_ns() < until) {
		says(owner, READS);
		if (owner->pace == NOT_AT_ALL || !read_event(owner, stream))
			sleep_us(500);
		if (owner->pace == SLOW && pick(owner, 64) == 0)
			sleep_us(pick(owner, 3000));
		if (owner->pace == STALLING && pick(owner, 2000) == 0)
			sleep_us(pick(owner, 100000));
	}
}

/*
 * The reader skips a stopped writer in time, even if this process itself is stopped for long.  It waits for a writer
 * that has no CPU, which a busy machine may not give it for long.
 */
static void drain(struct owner *owner, struct stream *stream)
{
	uint64_t latest = monotonic_ns() + DRAIN_MOST_NS;

	for (int rounds = 0; rounds < DRAIN_ROUNDS; rounds++) {
		says(owner, DRAINS);
		while (read_event(owner, stream))
			rounds = 0;
		if (!window_is_quiet(stream) && monotonic_ns() < latest)
			rounds = 0;
		sleep_us(DRAIN_NAP_US);
	}
}

static uint64_t losses(struct stream *stream)
{
	struct txtrace_loss loss = {.overwritten = 0};
	int error = txtrace_get_loss(stream->trid, &loss);

	stay_if_exiting();
	if (error)
		violation("%s: no losses", stream->name);
	return loss.overwritten + loss.dropped + loss.abandoned;
}

static void expect(const struct stream *stream, const char *what, int error)
{
	stay_if_exiting();
	if (error)
		violation("%s: %s gives error %d", stream->name, what, error);
}

static void watch_window(struct owner *owner, struct stream *stream)
{
	says(owner, STARTS);
	expect(stream, "start", posix_trace_start(stream->trid));
	window_begin(stream);
	read_for(owner, stream, pick(owner, 400) * 1000000);
	window_end(stream);
	says(owner, STOPS);
	expect(stream, "stop", posix_trace_stop(stream->trid));
	window_stopped(stream);
	drain(owner, stream);
	window_settle(stream, losses(stream), true);
}

static void watch(struct owner *owner, struct stream *stream)
{
	for (uint64_t n = 1 + pick(owner, 3); n > 0 && !run_is_over(); n--) {
		watch_window(owner, stream);
		if (pick(owner, 4) != 0)
			continue;
		count(nr_lost, losses(stream));
		says(owner, CLEARS);
		expect(stream, "clear", posix_trace_clear(stream->trid));
		stream->missing = 0;
	}
	count(nr_lost, losses(stream));
	if (pick(owner, 3) == 0) { /* at a random moment */
		expect(stream, "start", posix_trace_start(stream->trid));
		sleep_us(pick(owner, 5000));
	}
	says(owner, SHUTS_DOWN);
	expect(stream, "shutdown", posix_trace_shutdown(stream->trid));
}

/* In a separate process, because of the checkers. */
static void look_at_it(struct owner *owner, struct stream *stream)
{
	pid_t child;

	says(owner, LOOKS_AT_LOG);
	child = fork();
	if (child == 0) {
		look_at_log(stream, owner->fd);
		_exit(0);
	}
	while (child > 0 && reap(child, 0) < 0 && errno == EINTR)
		;
	count(nr_logs, 1);
}

static void log_window(struct owner *owner, struct stream *stream)
{
	uint64_t until = monotonic_ns() + pick(owner, 400) * 1000000;

	says(owner, STARTS);
	expect(stream, "start", posix_trace_start(stream->trid));
	window_begin(stream);
	while (monotonic_ns() < until) {
		says(owner, FLUSHES);
		if (pick(owner, 10) == 0)
			expect(stream, "flush", posix_trace_flush(stream->trid));
		sleep_us(pick(owner, 10000));
	}
	window_end(stream);
	says(owner, STOPS);
	if (pick(owner, 2))
		expect(stream, "stop", posix_trace_stop(stream->trid));
	says(owner, SHUTS_DOWN);
	expect(stream, "shutdown", posix_trace_shutdown(stream->trid));
	unlink(owner->path); /* a process that dies from here on leaves no cut log */
	look_at_it(owner, stream);
	close_log(owner);
}

void own_streams(unsigned int index)
{
	struct owner owner = {.index = index,
			      .random = board->seed ^ (my_number * 64 + 32 + index) *
							      UINT64_C(0x9e3779b97f4a7c15)};
	struct stream stream;

	while (!run_is_over()) {
		stream_init(&stream);
		stream.target = pick_target(&owner);
		if (stream.target != 0 && create(&owner, &stream)) {
			count(nr_streams, 1);
			if (stream.has_log)
				log_window(&owner, &stream);
			else
				watch(&owner, &stream);
		}
		stream_destroy(&stream);
		says(&owner, NAPS);
		sleep_us(pick(&owner, 20000));
	}
	says(&owner, NOTHING);
}
