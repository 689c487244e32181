/* SPDX-License-Identifier: MIT */
/*
 * A program that uses the library itself and records three events.  With the name of a file, it has a log, and ends
 * with its last thread.  With "drain", it reads its own stream until it is empty.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <trace.h>

static trace_event_id_t id;

static void *record(void *unused)
{
	for (int i = 0; i < 3; i++)
		posix_trace_event(id, &i, sizeof(i));
	return unused;
}

static int end_with_last_thread(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	trace_id_t trid;
	pthread_t thread;

	if (fd < 0 || posix_trace_create_withlog(0, NULL, fd, &trid) != 0 ||
	    posix_trace_start(trid) != 0 || pthread_create(&thread, NULL, record, NULL) != 0)
		return 2;
	pthread_exit(NULL);
}

#define EVENTS_MAX 1000

/* 0: the stream became empty, and had the three events and the call of this function, but no call of the library. */
static int drain(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int nr_own = 0, nr_locks = 0, nr_other = 0, unavailable = 0;
	struct posix_trace_event_info info;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid;
	size_t length;

	if (posix_trace_create(0, NULL, &trid) != 0 || posix_trace_start(trid) != 0)
		return 2;
	record(NULL);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	while (nr_own + nr_locks + nr_other < EVENTS_MAX) {
		if (posix_trace_trygetnext_event(trid, &info, NULL, 0, &length, &unavailable) !=
			    0 ||
		    (!unavailable &&
		     posix_trace_eventid_get_name(trid, info.posix_event_id, name) != 0))
			return 3;
		if (unavailable)
			break;
		nr_own += strcmp(name, "three times") == 0;
		nr_locks += strncmp(name, "pthread_mutex_", 14) == 0;
		nr_other += strcmp(name, "three times") != 0 &&
			    strncmp(name, "pthread_mutex_", 14) != 0;
	}
	/* START, and the event that the preloaded object adds at the first event */
	return !unavailable		      ? 4 :
	       nr_own != 3		      ? 5 :
	       nr_locks != 0 && nr_locks != 2 ? 6 :
	       nr_other > 1		      ? 7 :
						0;
}

int main(int argc, char **argv)
{
	if (posix_trace_eventid_open("three times", &id) != 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "drain") == 0)
		return drain();
	if (argc > 1)
		return end_with_last_thread(argv[1]);
	record(NULL);
	return 0;
}
