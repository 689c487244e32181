/* SPDX-License-Identifier: MIT */
#include "cmd/doctor_self.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/message.h"
#include "base/units.h"
#include "base/unnamed.h"
#include "cmd/doctor_machine.h"
#include "live/preload.h"
#include "live/sched_refusal.h"
#include "live/session.h"

#define EVENT "txtrace doctor"
#define CHECKED 1000  /* events that must come back */
#define MEASURED 2000 /* events of a round */
#define ROUNDS 5

/* A line of the table. */
struct way {
	const char *name;
	const char *cost_of; /* what the measured time is the time of */
	const char *used;    /* what the library does with it, */
	const char *unused;  /* and without it */
};

static const struct way ways[TXTRACE_MECHANISMS] = {
	[TXTRACE_MECHANISM_RSEQ] = {"rseq", "an event", "each CPU has its own ring, which needs no locked instruction",
				    "all rings are shared, and an event takes locked instructions"},
	[TXTRACE_MECHANISM_MEMBARRIER] = {"membarrier", "a stop of a stream", "a reader sleeps until it is woken up",
					  "all rings are shared, and a reader that waits wakes up each 50 ms"},
	[TXTRACE_MECHANISM_COUNTER] = {"counter", "a time", "times are those of the processor's counter",
				       "all rings are shared, and times come from CLOCK_MONOTONIC"},
	[TXTRACE_MECHANISM_FUTEX_WAITV] = {"futex_waitv", "the start of a wait",
					   "a handler with SA_RESTART does not end a wait for events",
					   "any handler ends a wait for events with a time limit"},
	[TXTRACE_MECHANISM_SYSV] = {"System V memory", "a name table", "other processes can trace each program",
				    "no process can trace another one, but a program can trace itself"},
	[TXTRACE_MECHANISM_PROC] = {"/proc", "a look at a process", "a reader knows at once that a writer was killed",
				    "no process can trace another one, but a program can trace itself"},
	[TXTRACE_MECHANISM_VM_READ] = {"process_vm_readv", "a read of a stack",
				       "stacks of calls are walked to their ends, also those of coroutines",
				       "a stack of a call has only the function that makes the call"},
	[TXTRACE_MECHANISM_SCHED] = {"perf_event_open", "the start of a recording",
				     "the kernel reports each switch of threads",
				     "a trace does not tell which thread had a CPU"},
};

static void describe_reason(enum txtrace_mechanism_kind kind, int error, char reason[SCHED_REFUSAL_BYTES])
{
	struct utsname system;

	reason[0] = '\0';
	if (error == 0)
		return;
	if (kind == TXTRACE_MECHANISM_SCHED)
		sched_refusal(error, reason);
	else if (kind == TXTRACE_MECHANISM_COUNTER)
		snprintf(reason, SCHED_REFUSAL_BYTES,
			 "the kernel does not use the counter itself, or hides that it does");
	else if (kind == TXTRACE_MECHANISM_RSEQ && error == ENOTSUP && uname(&system) == 0)
		snprintf(reason, SCHED_REFUSAL_BYTES, "the C library, or this one on %s, does not use it",
			 system.machine);
	else if (kind == TXTRACE_MECHANISM_RSEQ && error == ENOTRECOVERABLE)
		snprintf(reason, SCHED_REFUSAL_BYTES,
			 "the kernel does not restart a sequence whose thread loses its CPU");
	else if (kind == TXTRACE_MECHANISM_RSEQ && error == EAGAIN)
		snprintf(reason, SCHED_REFUSAL_BYTES,
			 "a trial could not find out whether the kernel restarts a sequence");
	else if (error == ENOSYS)
		snprintf(reason, SCHED_REFUSAL_BYTES, "the kernel does not have it, or a system call filter hides it");
	else if (error == EPERM)
		snprintf(reason, SCHED_REFUSAL_BYTES, "it is not permitted: a system call filter, or a container");
	else
		snprintf(reason, SCHED_REFUSAL_BYTES, "%s", strerror(error));
}

/* A stream of this process. */

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* log: a descriptor, or -1. */
static int create_of_size(pid_t pid, size_t ring_size, int log, trace_id_t *trace)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, ring_size);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, log < 0 ? POSIX_TRACE_LOOP : POSIX_TRACE_FLUSH);
	if (!error && log < 0)
		error = posix_trace_create(pid, &attr, trace);
	else if (!error)
		error = posix_trace_create_withlog(pid, &attr, log, trace);
	return error;
}

/* As the recorder does, make rings smaller that do not fit.  Store in *lack what they do not fit into. */
static int create(pid_t pid, size_t *ring_size, int log, trace_id_t *trace, const char **lack)
{
	int error = create_of_size(pid, *ring_size, log, trace);
	size_t smaller;

	if (error == ENOMEM)
		*lack = session_lack(*ring_size);
	while (error == ENOMEM && (smaller = session_smaller_size(*ring_size)) > 0) {
		*ring_size = smaller;
		error = create_of_size(pid, smaller, log, trace);
	}
	return error;
}

/* Count the events that come back in the order in which they were recorded. */
static unsigned int read_back(trace_id_t trace, trace_event_id_t type)
{
	struct posix_trace_event_info event;
	unsigned int nr = 0, number;
	size_t length;
	int none;

	while (posix_trace_trygetnext_event(trace, &event, &number, sizeof(number), &length, &none) == 0 && !none)
		if (event.posix_event_id == type && length == sizeof(number) && number == nr)
			nr++;
	return nr;
}

static double measure(trace_event_id_t type)
{
	long long least = LLONG_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		long long begin = now_ns();

		for (unsigned int i = 0; i < MEASURED; i++)
			posix_trace_event(type, &i, sizeof(i));
		begin = now_ns() - begin;
		if (begin < least)
			least = begin;
	}
	return (double)least / MEASURED;
}

static unsigned int count_rings(trace_id_t trace)
{
	unsigned int nr_rings = 0;
	trace_attr_t attr;

	if (posix_trace_get_attr(trace, &attr) == 0)
		txtrace_attr_getrings(&attr, &nr_rings);
	return nr_rings;
}

static unsigned int wanted_rings(bool is_own)
{
	return (unsigned int)sysconf(_SC_NPROCESSORS_CONF) + (is_own ? 1 : 0);
}

/* Is_own: the mechanisms let each CPU have its own ring.  Return whether there was also room for these rings. */
static bool put_rings(struct diagnosis *diagnosis, trace_id_t trace, bool is_own, size_t size)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned int nr_rings = count_rings(trace), nr_wanted = wanted_rings(is_own);

	fields_number(&diagnosis->fields, "CPUs", (unsigned long long)nr_cpus);
	fields_number(&diagnosis->fields, "rings", nr_rings);
	fields_number(&diagnosis->fields, "rings take", (unsigned long long)size * nr_rings);
	if (nr_rings < nr_wanted)
		diagnosis_add(&diagnosis->annotations,
			      "a stream has %u of %u rings, which all CPUs share: there is no room for more", nr_rings,
			      nr_wanted);
	return is_own && nr_rings >= nr_wanted;
}

static void note_size(struct diagnosis *diagnosis, const char *who, size_t size, size_t usual_size, const char *lack)
{
	if (size < usual_size)
		diagnosis_add(&diagnosis->annotations,
			      "%s makes rings of %zu bytes, instead of %zu: %s, so events are lost more easily", who,
			      size, usual_size, lack);
}

/* The rings of record --preload are larger, so there may be room for fewer. */
static void try_preload_rings(struct diagnosis *diagnosis, bool is_own)
{
	size_t usual_size = session_ring_size(true), size = usual_size;
	unsigned int nr_rings = 0, nr_wanted = wanted_rings(is_own);
	const char *lack = "";
	trace_id_t trace;
	int error = create(0, &size, -1, &trace, &lack);

	if (!error) {
		nr_rings = count_rings(trace);
		posix_trace_shutdown(trace);
	}
	fields_number(&diagnosis->fields, "preload rings", nr_rings);
	fields_number(&diagnosis->fields, "preload rings take", (unsigned long long)size * nr_rings);
	if (error)
		diagnosis_add(&diagnosis->annotations,
			      "record --preload cannot make a ring of %zu bytes: %s", size,
			      error == ENOMEM ? lack : strerror(error));
	else
		note_size(diagnosis, "record --preload", size, usual_size, lack);
	if (!error && nr_rings < nr_wanted)
		diagnosis_add(&diagnosis->annotations,
			      "record --preload makes %u of %u rings, of %zu bytes each: there is no room for more, so "
			      "all CPUs share them; see record --size",
			      nr_rings, nr_wanted, size);
}

/*
 * Record events, read them back, and return the time of one in nanoseconds; 0: it is not known.  Store in *is_own
 * whether each CPU has its own ring.
 */
static double try_stream(struct diagnosis *diagnosis, bool *is_own)
{
	trace_event_id_t type;
	unsigned int nr = 0;
	double cost_ns = 0;
	trace_id_t trace;
	size_t usual_size = session_ring_size(false), size = usual_size;
	const char *lack = "";
	int error = create(0, &size, -1, &trace, &lack);

	if (error) {
		diagnosis_add(&diagnosis->obstacles, "a stream cannot be created: %s",
			      error == ENOMEM ? lack : session_error_text(error));
		return 0;
	}
	note_size(diagnosis, "record", size, usual_size, lack);
	*is_own = put_rings(diagnosis, trace, *is_own, size);
	error = posix_trace_eventid_open(EVENT, &type);
	if (!error)
		error = posix_trace_start(trace);
	for (unsigned int i = 0; !error && i < CHECKED; i++)
		posix_trace_event(type, &i, sizeof(i));
	if (!error && (nr = read_back(trace, type)) == CHECKED)
		cost_ns = measure(type);
	posix_trace_shutdown(trace);
	if (error)
		diagnosis_add(&diagnosis->obstacles, "a stream cannot be started: %s", session_error_text(error));
	else if (nr != CHECKED)
		diagnosis_add(&diagnosis->obstacles, "of %d events, %u came back in order", CHECKED, nr);
	return cost_ns;
}

static void *end_at_once(void *argument)
{
	return argument;
}

/* The log of a stream is written by a thread. */
static bool try_thread(struct diagnosis *diagnosis)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, end_at_once, NULL);

	if (!error)
		pthread_join(thread, NULL);
	else
		diagnosis_add(&diagnosis->obstacles, "the thread that writes a log cannot be made: %s",
			      strerror(error));
	return error == 0;
}

/*
 * The child ends when *gate, a pipe, is closed: a system call filter may refuse kill(2).  Return its process id, or -1
 * with errno.
 */
static pid_t start_child(int *gate)
{
	int ends[2], error;
	pid_t child;
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	child = fork();
	error = errno;
	if (child == 0) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(ends[0]);
	if (child < 0)
		close(ends[1]);
	*gate = ends[1];
	errno = error;
	return child;
}

/* Try to trace a child into a log, as record traces a program. */
static bool try_child(struct diagnosis *diagnosis)
{
	size_t size = session_ring_size(false);
	int log = unnamed_open_temporary(), gate = -1;
	char why[SESSION_REFUSAL_BYTES];
	const char *lack = "";
	trace_id_t trace;
	pid_t child;
	int error;

	fflush(NULL);
	child = start_child(&gate);
	if (child > 0)
		error = create(child, &size, log, &trace, &lack);
	else
		error = errno;
	if (!error)
		posix_trace_shutdown(trace);
	if (log >= 0)
		close(log);
	if (child > 0) {
		close(gate);
		waitpid(child, NULL, 0);
	}
	if (child < 0)
		diagnosis_add(&diagnosis->obstacles,
			      "record cannot start a program: %s: %s",
			      gate < 0 ? "pipe2" : "fork", strerror(error));
	else if (error && session_is_refused(why))
		diagnosis_add(&diagnosis->obstacles, "%s", why);
	else if (error)
		diagnosis_add(&diagnosis->obstacles, "another process cannot be traced: %s",
			      error == ENOMEM ? lack : session_error_text(error));
	return error == 0;
}

/* The result. */

static void cost_text(char text[32], double cost_ns)
{
	char duration[24];

	if (cost_ns <= 0)
		snprintf(text, 32, "?");
	else if (cost_ns < 1000)
		snprintf(text, 32, "~%.1f ns", cost_ns);
	else {
		units_duration(duration, sizeof(duration), (int64_t)cost_ns);
		snprintf(text, 32, "~%s", duration);
	}
}

static void put_way(struct fields *fields, enum txtrace_mechanism_kind kind, const struct txtrace_mechanism *mechanism,
		    bool is_own)
{
	const struct way *way = &ways[kind];
	const char *so = mechanism->error ? way->unused : way->used;
	char reason[SCHED_REFUSAL_BYTES], cost[32];

	if (kind == TXTRACE_MECHANISM_RSEQ && !mechanism->error && !is_own)
		so = "all rings are shared for another reason, and an event takes locked instructions";
	describe_reason(kind, mechanism->error, reason);
	if (!fields->is_json) {
		cost_text(cost, mechanism->cost_ns);
		text_printf(fields->text, "%-16s  %-4s  %-10s  %-24s  %s\n", way->name,
			    mechanism->error ? "no" : "yes", cost, way->cost_of, so);
		if (reason[0])
			text_printf(fields->text, "%-62s%s\n", "", reason);
		return;
	}
	json_object(&fields->json, NULL);
	json_string(&fields->json, "name", way->name);
	json_bool(&fields->json, "used", mechanism->error == 0);
	if (reason[0])
		json_string(&fields->json, "reason", reason);
	else
		json_null(&fields->json, "reason");
	json_string(&fields->json, "way", so);
	json_string(&fields->json, "cost_of", way->cost_of);
	snprintf(cost, sizeof(cost), "%.1f", mechanism->cost_ns);
	if (mechanism->cost_ns > 0)
		json_digits(&fields->json, "cost_ns", cost);
	else
		json_null(&fields->json, "cost_ns");
	json_close(&fields->json);
}

static void put_ways(struct fields *fields, const struct txtrace_mechanism mechanism[TXTRACE_MECHANISMS], bool is_own)
{
	if (fields->is_json)
		json_array(&fields->json, "mechanisms");
	else
		text_printf(fields->text, "\n%-16s  %-4s  %-10s  %-24s  %s\n", "mechanism", "used", "cost", "of", "so");
	for (unsigned int i = 0; i < TXTRACE_MECHANISMS; i++)
		put_way(fields, (enum txtrace_mechanism_kind)i, &mechanism[i], is_own);
	if (fields->is_json)
		json_close(&fields->json);
}

static void put_system(struct fields *fields)
{
	char object[PATH_MAX], why_not[PATH_MAX + 128], release[sizeof(((struct utsname *)0)->release) + 80];
	struct utsname system;

	if (uname(&system) == 0) {
		snprintf(release, sizeof(release), "%s, %s", system.release, system.machine);
		fields_text(fields, "kernel", release);
	}
#ifdef __GLIBC__
	snprintf(release, sizeof(release), "glibc %s", gnu_get_libc_version());
	fields_text(fields, "C library", release);
#endif
	fields_text(fields, "object to preload", preload_find(object, why_not, sizeof(why_not)) ? object : why_not);
}

/* A ring of a CPU needs all three. */
static bool has_own_rings(const struct txtrace_mechanism *mechanism)
{
	return mechanism[TXTRACE_MECHANISM_RSEQ].error == 0 && mechanism[TXTRACE_MECHANISM_MEMBARRIER].error == 0 &&
	       mechanism[TXTRACE_MECHANISM_COUNTER].error == 0;
}

void doctor_self(struct diagnosis *diagnosis)
{
	struct txtrace_mechanism mechanism[TXTRACE_MECHANISMS] = {0};
	struct fields *fields = &diagnosis->fields;
	bool is_itself, is_others, is_own;
	int error = 0;

	fields_begin(fields);
	put_system(fields);
	doctor_check_seccomp(diagnosis, getpid());
	doctor_check_machine(diagnosis, geteuid(), 0, false, true);
	for (unsigned int i = 0; !error && i < TXTRACE_MECHANISMS; i++)
		error = txtrace_check_mechanism((enum txtrace_mechanism_kind)i, &mechanism[i]);
	is_own = !error && has_own_rings(mechanism);
	if (!error)
		try_preload_rings(diagnosis, is_own);
	if (error && diagnosis->obstacles.nr == 0)
		diagnosis_add(&diagnosis->obstacles, "shared memory cannot be used: %s", session_error_text(error));
	else if (!error)
		mechanism[TXTRACE_MECHANISM_RSEQ].cost_ns = try_stream(diagnosis, &is_own);
	is_itself = diagnosis->obstacles.nr == 0;
	is_others = !error && try_thread(diagnosis) && try_child(diagnosis);
	diagnosis_put_sentences(fields, "note", &diagnosis->annotations);
	fields_bool(fields, "traces itself", is_itself);
	fields_bool(fields, "traces others", is_others);
	diagnosis_put_sentences(fields, "because", &diagnosis->obstacles);
	if (!error)
		put_ways(fields, mechanism, is_own);
}
