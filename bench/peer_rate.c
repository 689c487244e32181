/* SPDX-License-Identifier: MIT */
/*
 * Records paced events into a file, with this library or with LTTng-UST.  peers.sh builds this program, creates the
 * session that it needs, and looks for the highest rate at which nothing is lost.
 *
 *	peer_rate ours THREADS BYTES RATE SECONDS FILE
 *	peer_rate lttng THREADS BYTES RATE SECONDS
 *
 * THREADS: 1 or 2 threads, which write RATE events a second together.  BYTES: 16 or 64 bytes of data.  It prints the
 * events written, the events written a second, the events lost, and the CPU time of the flush thread in milliseconds.
 * The last two are 0 for LTTng-UST, whose own tools know them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "pacer.h"
#include "peer_lttng.h"

#define STREAM_BYTES ((size_t)8 << 20) /* a ring of each CPU; the same size as in the LTTng session */
#define THREADS_MAX 2

static trace_event_id_t event_id;
static size_t event_bytes;
static bool is_ours;

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "peer_rate: %s: %s\n", what, strerror(error));
	exit(1);
}

static void check(const char *what, int error)
{
	if (error)
		fail(what, error);
}

static void write_events(uint64_t first, uint64_t end)
{
	unsigned char data[64] = {0};

	for (uint64_t i = first; i < end; i++) {
		memcpy(data, &i, sizeof(i));
		if (is_ours)
			posix_trace_event(event_id, data, event_bytes);
		else if (event_bytes == 16)
			lttng_ust_tracepoint(posixtrace_peer, bytes16, data);
		else
			lttng_ust_tracepoint(posixtrace_peer, bytes64, data);
	}
}

/* Return the CPU time of the flush thread of this process in milliseconds. */
static double flusher_ms(void)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *task;
	double ms = 0;

	while (directory && (task = readdir(directory))) {
		char path[300], name[32] = "";
		uint64_t ns = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		if ((file = fopen(path, "re"))) {
			if (fscanf(file, "%31s", name) != 1)
				name[0] = '\0';
			fclose(file);
		}
		if (strcmp(name, "posixtrace") != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", task->d_name);
		if ((file = fopen(path, "re"))) {
			if (fscanf(file, "%" SCNu64, &ns) == 1)
				ms += (double)ns / 1e6;
			fclose(file);
		}
	}
	if (directory)
		closedir(directory);
	return ms;
}

static trace_id_t start_stream(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	trace_attr_t attr;
	trace_id_t trid;

	check("posix_trace_attr_init", posix_trace_attr_init(&attr));
	posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	check("posix_trace_eventid_open", posix_trace_eventid_open("peer", &event_id));
	check("posix_trace_create_withlog", posix_trace_create_withlog(0, &attr, fd, &trid));
	check("posix_trace_start", posix_trace_start(trid));
	close(fd);
	return trid;
}

static uint64_t count_lost(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct txtrace_loss loss;
	uint64_t lost;

	check("txtrace_get_loss", txtrace_get_loss(trid, &loss));
	check("posix_trace_get_status", posix_trace_get_status(trid, &status));
	lost = loss.overwritten + loss.dropped + loss.abandoned;
	return lost == 0 && status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN ? 1 : lost;
}

int main(int argc, char **argv)
{
	struct pacer pacers[THREADS_MAX] = {0};
	unsigned long nr_threads = argc >= 6 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t written = 0, lost = 0;
	double begin, elapsed, cpu_ms = 0;
	trace_id_t trid = 0;

	is_ours = argc == 7 && strcmp(argv[1], "ours") == 0;
	if (nr_threads < 1 || nr_threads > THREADS_MAX || (!is_ours && argc != 6)) {
		fprintf(stderr, "usage: peer_rate ours|lttng THREADS BYTES RATE SECONDS [FILE]\n");
		return 2;
	}
	event_bytes = strtoul(argv[3], NULL, 10) == 64 ? 64 : 16;
	if (is_ours)
		trid = start_stream(argv[6]);
	else if (event_bytes == 16 ? !lttng_ust_tracepoint_enabled(posixtrace_peer, bytes16) :
				     !lttng_ust_tracepoint_enabled(posixtrace_peer, bytes64))
		fail("no session records posixtrace_peer", 0);
	begin = now();
	for (unsigned long i = 0; i < nr_threads; i++) {
		pacers[i].rate = strtod(argv[4], NULL) / (double)nr_threads;
		pacers[i].seconds = strtod(argv[5], NULL);
		pacers[i].write_events = write_events;
		check("pthread_create", pthread_create(&pacers[i].thread, NULL, pace, &pacers[i]));
	}
	for (unsigned long i = 0; i < nr_threads; i++) {
		pthread_join(pacers[i].thread, NULL);
		written += pacers[i].written;
	}
	elapsed = now() - begin;
	if (is_ours) {
		lost = count_lost(trid);
		cpu_ms = flusher_ms();
		check("posix_trace_shutdown", posix_trace_shutdown(trid));
	}
	printf("%" PRIu64 " %.0f %" PRIu64 " %.1f\n", written, (double)written / elapsed, lost, cpu_ms);
	return 0;
}
