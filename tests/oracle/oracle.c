/* SPDX-License-Identifier: MIT */
#include "oracle/oracle.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 128
#define BYTES (4 << 20)

static struct oracle_thread *threads[THREADS];
static atomic_int nr_threads;
static __thread struct oracle_thread *self;
static char text[BYTES], extra[BYTES / 4];
static size_t used, nr_extra;

int64_t oracle_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void oracle_thread(const char *name)
{
	struct oracle_thread *made = calloc(1, sizeof(*made));
	int i = atomic_fetch_add(&nr_threads, 1);

	if (!made || i >= THREADS)
		abort();
	made->name = name;
	made->tid = (int)syscall(SYS_gettid);
	self = made;
	if (made->tid != (int)getpid())
		pthread_setname_np(pthread_self(), name);
	__atomic_store_n(&threads[i], made, __ATOMIC_RELEASE);
}

void oracle_forked(void)
{
	for (int i = 0; i < THREADS; i++)
		threads[i] = NULL;
	atomic_store(&nr_threads, 0);
	nr_extra = 0;
}

struct oracle_call *oracle_begin(const char *service, const volatile void *object)
{
	int nr = atomic_load(&self->nr_calls);
	struct oracle_call *call = &self->call[nr];

	if (nr == ORACLE_CALLS)
		abort();
	call->service = service;
	call->object = object;
	call->begin_ns = oracle_now();
	atomic_store(&self->nr_calls, nr + 1);
	return call;
}

void oracle_end(struct oracle_call *call)
{
	atomic_store(&call->end_ns, oracle_now());
}

/* The calls here are not recorded. */
bool oracle_sleeps(int tid)
{
	char path[64], stat[256], *end;
	long fd, size;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	size = syscall(SYS_read, fd, stat, sizeof(stat) - 1);
	syscall(SYS_close, fd);
	stat[size > 0 ? size : 0] = '\0';
	end = strrchr(stat, ')');
	return end && end[2] == 'S';
}

static struct oracle_thread *thread_of(const char *name)
{
	for (int i = 0; i < THREADS; i++) {
		struct oracle_thread *thread = __atomic_load_n(&threads[i], __ATOMIC_ACQUIRE);

		if (thread && strcmp(thread->name, name) == 0)
			return thread;
	}
	return NULL;
}

static struct oracle_call *open_call(struct oracle_thread *thread)
{
	int nr = thread ? atomic_load(&thread->nr_calls) : 0;

	return nr > 0 && atomic_load(&thread->call[nr - 1].end_ns) == 0 ? &thread->call[nr - 1] : NULL;
}

void oracle_await_sleep(const char *name, const volatile void *object)
{
	for (;;) {
		struct oracle_thread *thread = thread_of(name);
		struct oracle_call *call = open_call(thread);

		/*
		 * A thread that was to wake may still sleep: musl lets one thread at a barrier go on only after the
		 * others.  The second look at the call shows that the thread slept in this call, and not before it.
		 */
		if (call && call->object == object && atomic_load(&call->awake_ns) == 0 &&
		    oracle_sleeps(thread->tid) && open_call(thread) == call) {
			atomic_store(&call->asleep_ns, oracle_now());
			return;
		}
		syscall(SYS_sched_yield);
	}
}

void oracle_wakes(const char *name)
{
	struct oracle_thread *thread = thread_of(name);

	atomic_store(&thread->call[atomic_load(&thread->nr_calls) - 1].awake_ns, oracle_now());
}

void oracle_slept(int64_t asleep_ns, int64_t awake_ns)
{
	struct oracle_call *call = &self->call[atomic_load(&self->nr_calls) - 1];

	atomic_store(&call->asleep_ns, asleep_ns);
	atomic_store(&call->awake_ns, awake_ns);
}

static void put(char *to, size_t size, size_t *at, const char *format, va_list list)
	__attribute__((format(printf, 4, 0)));

static void put(char *to, size_t size, size_t *at, const char *format, va_list list)
{
	*at += (size_t)vsnprintf(to + *at, size - *at, format, list);
	if (*at >= size)
		abort();
}

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void print(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	put(text, sizeof(text), &used, format, list);
	va_end(list);
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	put(extra, sizeof(extra), &nr_extra, format, list);
	va_end(list);
}

static int64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long switches(void)
{
	struct rusage usage;

	syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/*
 * A longer time between two looks at the clock may have had a switch, and does not count.  A shorter one counts, and
 * each switch takes one of these away.
 */
#define LOOK_NS 20000

void oracle_work(int64_t ns)
{
	long before = switches();
	int64_t last_ns = cpu_ns(), until_ns = last_ns + ns, sure_ns = 0;

	while (last_ns < until_ns) {
		int64_t now_ns = cpu_ns();

		sure_ns += now_ns - last_ns <= LOOK_NS ? now_ns - last_ns : 0;
		last_ns = now_ns;
	}
	self->worked_ns += sure_ns - LOOK_NS * (switches() - before);
}

void oracle_object(const volatile void *object, const char *name)
{
	note("object %lx %s\n", (unsigned long)object, name);
}

void oracle_ran(const char *name, int64_t least_ns, int64_t most_ns)
{
	struct oracle_thread *thread = thread_of(name);

	thread->ran_least_ns = least_ns;
	thread->ran_most_ns = most_ns;
}

void oracle_longest(const volatile void *object, int64_t ns)
{
	note("longest %lx %lld\n", (unsigned long)object, (long long)ns);
}

/* Print "WORD FIRST", the end of the line from the format, and a line feed. */
#define NOTE_LINE(word, first, separator, format)                                                  \
	do {                                                                                       \
		va_list list_;                                                                     \
                                                                                                   \
		note(word " %s" separator, first);                                                 \
		va_start(list_, format);                                                           \
		put(extra, sizeof(extra), &nr_extra, format, list_);                               \
		va_end(list_);                                                                     \
		note("\n");                                                                        \
	} while (0)

void oracle_waits_for(const char *service, const char *format, ...)
{
	NOTE_LINE("waits_for", service, " ", format);
}

void oracle_says(const char *command, const char *format, ...)
{
	NOTE_LINE("says", command, "\t", format);
}

void oracle_says_not(const char *command, const char *format, ...)
{
	NOTE_LINE("says_not", command, "\t", format);
}

void oracle_process(int pid, int parent, const char *status, const char *command)
{
	note("process %d\t%d\t%s\t%s\n", pid, parent, status, command);
}

static void print_thread(struct oracle_thread *thread)
{
	int nr = atomic_load(&thread->nr_calls);

	print("thread %d %d %s\n", (int)getpid(), thread->tid, thread->name);
	if (thread->ran_most_ns != 0)
		print("ran %d %lld %lld\n", thread->tid, (long long)thread->ran_least_ns,
		      (long long)thread->ran_most_ns);
	for (int i = 0; i < nr; i++) {
		struct oracle_call *call = &thread->call[i];

		print("call %d %s %lx %lld %lld %lld %lld\n", thread->tid, call->service,
		      (unsigned long)call->object, (long long)call->begin_ns,
		      (long long)atomic_load(&call->end_ns), (long long)atomic_load(&call->asleep_ns),
		      (long long)atomic_load(&call->awake_ns));
	}
	if (thread->worked_ns)
		print("worked %d %lld\n", thread->tid, (long long)thread->worked_ns);
}

void oracle_report(void)
{
	for (int i = 0; i < THREADS; i++)
		if (threads[i])
			print_thread(threads[i]);
	print("%.*s", (int)nr_extra, extra);
	for (size_t at = 0; at < used;) {
		long written = syscall(SYS_write, 1, text + at, used - at);

		if (written <= 0)
			abort();
		at += (size_t)written;
	}
}
