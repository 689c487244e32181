/* SPDX-License-Identifier: MIT */
/*
 * logs [--reading] [DIRECTORY]...: measures flushing a log, compared with plain writes of the same size to the same
 * directory, and reading a log.  The default directories are /dev/shm, which is memory, and the working directory.
 *
 * Plain writes and flushes alternate, and the output is the median of the rounds.  The sustained rate is the highest
 * rate at which paced threads lost no event in one second.  It depends on the load of the CPUs.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "pacer.h"

#define ROUNDS 5
#define FLUSH_EVENTS 400000
#define READ_EVENTS UINT64_C(4000000)
#define RING_BYTES ((size_t)32 << 20)
#define CHUNK_BYTES ((size_t)256 << 10)
#define STEP_SECONDS 1.0
#define RATE_FIRST 250000.0 /* events per second, of all threads together */
#define RATE_FACTOR 1.25
#define THREADS_MAX 2

static trace_event_id_t event_id;
static size_t event_bytes; /* size of an event with 16 bytes of data, in a stream and in a log */
static char path[4096];

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "logs: %s: %s\n", what, strerror(error));
	unlink(path);
	exit(1);
}

static void check(const char *what, int error)
{
	if (error)
		fail(what, error);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *figures, size_t n)
{
	qsort(figures, n, sizeof(*figures), compare);
	return n % 2 ? figures[n / 2] : (figures[n / 2 - 1] + figures[n / 2]) / 2;
}

static int open_file(int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		fail(path, errno);
	return fd;
}

/* Truncate the file first, because a flush too has to allocate the blocks of its file. */
static double time_plain_write(size_t size)
{
	static char chunk[CHUNK_BYTES];
	int fd = open_file(O_WRONLY | O_CREAT | O_TRUNC);
	double begin, elapsed;

	memset(chunk, 1, sizeof(chunk));
	begin = now();
	for (size_t done = 0; done < size; done += sizeof(chunk))
		if (pwrite(fd, chunk, sizeof(chunk), (off_t)done) != (ssize_t)sizeof(chunk))
			fail("write", errno);
	elapsed = now() - begin;
	close(fd);
	return elapsed;
}

static trace_id_t create(int policy, size_t ring_bytes, int *fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	*fd = open_file(O_WRONLY | O_CREAT | O_TRUNC);
	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, policy);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	posix_trace_attr_setstreamsize(&attr, ring_bytes);
	check("posix_trace_create_withlog", posix_trace_create_withlog(0, &attr, *fd, &trid));
	check("posix_trace_start", posix_trace_start(trid));
	return trid;
}

static void write_events(uint64_t first, uint64_t end)
{
	unsigned char data[16] = {0};

	for (uint64_t i = first; i < end; i++) {
		memcpy(data, &i, sizeof(i));
		posix_trace_event(event_id, data, sizeof(data));
	}
}

static double time_flush(void)
{
	int fd;
	trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, RING_BYTES + (RING_BYTES / 4), &fd);
	double begin, elapsed;

	write_events(0, FLUSH_EVENTS);
	begin = now();
	check("posix_trace_flush", posix_trace_flush(trid));
	elapsed = now() - begin;
	check("posix_trace_shutdown", posix_trace_shutdown(trid));
	close(fd);
	return elapsed;
}

static double measure_flush(void)
{
	double plain[ROUNDS], flush[ROUNDS], ratio[ROUNDS];
	size_t size = FLUSH_EVENTS * event_bytes;
	double bytes;

	time_plain_write(size); /* warm up */
	time_flush();
	for (int i = 0; i < ROUNDS; i++) {
		plain[i] = time_plain_write(size);
		flush[i] = time_flush();
		ratio[i] = plain[i] / flush[i];
	}
	bytes = (double)size / median(plain, ROUNDS);
	printf("  plain write              %8.0f MB/s\n", bytes / 1e6);
	printf("  flush                    %8.0f MB/s  %6.2f million events/s  %.2f of plain\n",
	       (double)size / median(flush, ROUNDS) / 1e6,
	       FLUSH_EVENTS / median(flush, ROUNDS) / 1e6, median(ratio, ROUNDS));
	return bytes;
}

/* The sustained rate. */

static uint64_t count_lost(trace_id_t trid)
{
	struct txtrace_loss loss;

	check("txtrace_get_loss", txtrace_get_loss(trid, &loss));
	return loss.overwritten + loss.dropped + loss.abandoned;
}

/* Return true if no event was lost. */
static bool is_sustained(unsigned int nr_threads, double rate, double *achieved)
{
	struct pacer pacers[THREADS_MAX];
	struct posix_trace_status_info status;
	uint64_t written = 0, lost;
	double begin;
	int fd;
	trace_id_t trid = create(POSIX_TRACE_FLUSH, RING_BYTES, &fd);

	begin = now();
	for (unsigned int i = 0; i < nr_threads; i++) {
		pacers[i] = (struct pacer){.rate = rate / nr_threads,
					   .seconds = STEP_SECONDS,
					   .write_events = write_events};
		check("pthread_create", pthread_create(&pacers[i].thread, NULL, pace, &pacers[i]));
	}
	for (unsigned int i = 0; i < nr_threads; i++) {
		pthread_join(pacers[i].thread, NULL);
		written += pacers[i].written;
	}
	*achieved = (double)written / (now() - begin);
	lost = count_lost(trid);
	check("posix_trace_get_status", posix_trace_get_status(trid, &status));
	check("posix_trace_shutdown", posix_trace_shutdown(trid));
	close(fd);
	return lost == 0 && status.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN;
}

static void measure_rate(unsigned int nr_threads, double plain_bytes)
{
	double best = 0, achieved;

	for (double rate = RATE_FIRST; is_sustained(nr_threads, rate, &achieved);
	     rate *= RATE_FACTOR) {
		if (achieved <= best)
			break; /* the threads cannot write faster */
		best = achieved;
	}
	printf("  %u thread%s, nothing lost  %8.0f MB/s  %6.2f million events/s  %.2f of plain\n",
	       nr_threads, nr_threads == 1 ? "" : "s", best * (double)event_bytes / 1e6, best / 1e6,
	       best * (double)event_bytes / plain_bytes);
}

/* Reading. */

static void write_log(uint64_t nr_events)
{
	int fd;
	trace_id_t trid = create(POSIX_TRACE_UNTIL_FULL, RING_BYTES + (RING_BYTES / 4), &fd);

	for (uint64_t done = 0; done < nr_events; done += FLUSH_EVENTS) {
		write_events(0, FLUSH_EVENTS);
		check("posix_trace_flush", posix_trace_flush(trid));
	}
	check("posix_trace_shutdown", posix_trace_shutdown(trid));
	close(fd);
}

static uint64_t read_log(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	uint64_t n = 0;
	size_t length;
	int unavailable;

	for (;;) {
		check("posix_trace_getnext_event",
		      posix_trace_getnext_event(trid, &info, data, sizeof(data), &length,
						&unavailable));
		if (unavailable)
			return n;
		n += info.posix_event_id == event_id;
	}
}

static void measure_reading(void)
{
	double figures[ROUNDS];
	struct stat status;
	double begin, opening;
	uint64_t n = 0;
	trace_id_t trid;
	int fd;

	write_log(READ_EVENTS);
	fd = open_file(O_RDONLY);
	if (fstat(fd, &status) != 0)
		fail(path, errno);
	begin = now();
	check("posix_trace_open", posix_trace_open(fd, &trid));
	opening = now() - begin;
	for (int i = 0; i < ROUNDS; i++) {
		begin = now();
		check("posix_trace_rewind", posix_trace_rewind(trid));
		n = read_log(trid);
		figures[i] = now() - begin;
	}
	posix_trace_close(trid);
	close(fd);
	printf("  opening                  %8.3f ms\n", opening * 1e3);
	printf("  reading                  %8.1f million events/s  (%" PRIu64
	       " events; target: 20)\n",
	       (double)n / median(figures, ROUNDS) / 1e6, n);
	printf("  on disk                  %8.1f bytes per event of 16 bytes\n",
	       (double)status.st_blocks * 512 / (double)n);
}

static void measure(const char *directory, bool only_reading)
{
	double plain_bytes;

	snprintf(path, sizeof(path), "%s/posixtrace-bench.%ld.trx", directory, (long)getpid());
	printf("%s\n", directory);
	if (!only_reading) {
		plain_bytes = measure_flush();
		for (unsigned int n = 1; n <= THREADS_MAX; n++)
			measure_rate(n, plain_bytes);
	}
	measure_reading();
	unlink(path);
}

int main(int argc, char **argv)
{
	bool only_reading = argc > 1 && strcmp(argv[1], "--reading") == 0;
	trace_attr_t attr;

	argc -= only_reading;
	argv += only_reading;
	if (argc > 1 && argv[1][0] == '-') {
		printf("usage: logs [--reading] [DIRECTORY]...   (default: /dev/shm .)\n");
		return strcmp(argv[1], "--help") == 0 ? 0 : 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	posix_trace_attr_init(&attr);
	posix_trace_attr_getmaxusereventsize(&attr, 16, &event_bytes);
	check("posix_trace_eventid_open", posix_trace_eventid_open("bench", &event_id));
	if (argc == 1) {
		measure("/dev/shm", only_reading);
		measure(".", only_reading);
	}
	for (int i = 1; i < argc; i++)
		measure(argv[i], only_reading);
	return 0;
}
