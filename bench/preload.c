/* SPDX-License-Identifier: MIT */
/*
 * preload LIBRARY [OPTION...]: measures what the preloaded library adds to the calls that it wraps.
 *
 * The program makes the same calls directly to the C library and through the wrappers: while nothing is traced, and
 * while this process traces itself into a stream that loops.  It makes all calls by pointers, and has several threads,
 * because the C library has a faster path for programs with one thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trace.h>
#include <trace_ext.h>

#include "floor.h"
#include "harness.h"

#define STREAM_BYTES (1 << 20) /* a ring */
#define WARM_UP 20000	       /* more than a lap */
#define ROUNDS 15
#define ROUNDS_QUICK 7

static trace_id_t stream;
static unsigned int nr_rounds = ROUNDS;

struct calls {
	int (*mutex_lock)(pthread_mutex_t *);
	int (*mutex_unlock)(pthread_mutex_t *);
	int (*rwlock_rdlock)(pthread_rwlock_t *);
	int (*rwlock_unlock)(pthread_rwlock_t *);
	int (*sem_wait)(sem_t *);
	int (*sem_post)(sem_t *);
	int (*cond_signal)(pthread_cond_t *);
};

static struct calls bare, wrapped = {pthread_mutex_lock,
				     pthread_mutex_unlock,
				     pthread_rwlock_rdlock,
				     pthread_rwlock_unlock,
				     sem_wait,
				     sem_post,
				     pthread_cond_signal};

/* Find the functions of the C library, in the versions that a newly linked program gets. */
static void find_bare(void)
{
	void *c = dlopen("libc.so.6", RTLD_LAZY);

	if (!c)
		return;
	*(void **)&bare.mutex_lock = dlsym(c, "pthread_mutex_lock");
	*(void **)&bare.mutex_unlock = dlsym(c, "pthread_mutex_unlock");
	*(void **)&bare.rwlock_rdlock = dlsym(c, "pthread_rwlock_rdlock");
	*(void **)&bare.rwlock_unlock = dlsym(c, "pthread_rwlock_unlock");
	*(void **)&bare.sem_wait = dlsym(c, "sem_wait");
	*(void **)&bare.sem_post = dlsym(c, "sem_post");
	*(void **)&bare.cond_signal = dlsym(c, "pthread_cond_signal");
}

/* The loops.  Each thread has its own object. */

#define KEEP(value) __asm__ __volatile__("" : : "r"(value) : "memory")
#define LOOP(name, declaration, statement)                                                         \
	static void name(size_t n)                                                                 \
	{                                                                                          \
		declaration;                                                                       \
		while (n-- > 0) {                                                                  \
			statement;                                                                 \
			KEEP(n);                                                                   \
		}                                                                                  \
	}
#define LOOPS(name, declaration, statement)                                                        \
	LOOP(name##_bare, const struct calls *c = &bare; declaration, statement)                   \
	LOOP(name##_wrapped, const struct calls *c = &wrapped; declaration, statement)

LOOP(run_nothing, (void)0, (void)0)
LOOP(run_counter, (void)0, KEEP(bench_counter()))
LOOPS(mutex, pthread_mutex_t mutex;
      pthread_mutex_init(&mutex, NULL), (c->mutex_lock(&mutex), c->mutex_unlock(&mutex)))
LOOPS(rwlock, pthread_rwlock_t lock;
      pthread_rwlock_init(&lock, NULL), (c->rwlock_rdlock(&lock), c->rwlock_unlock(&lock)))
LOOPS(sem, sem_t sem; sem_init(&sem, 0, 1), (c->sem_wait(&sem), c->sem_post(&sem)))
LOOPS(cond, pthread_cond_t cond; pthread_cond_init(&cond, NULL), c->cond_signal(&cond))

static int begin_traced(void)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setstreamsize(&attr, STREAM_BYTES);
	if (!error)
		error = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!error)
		error = posix_trace_create(0, &attr, &stream);
	return error ? error : posix_trace_start(stream);
}

static void end_traced(void)
{
	posix_trace_shutdown(stream);
}

#define ROWS(row, text)                                                                            \
	{.name = #row "-bare", .run = row##_bare, .what = text ", without a wrapper"},             \
		{.name = #row "-off", .run = row##_wrapped, .what = text ", not traced"},          \
	{                                                                                          \
		.name = #row "-on", .run = row##_wrapped, .begin = begin_traced,                   \
		.end = end_traced, .warm_up = WARM_UP, .what = text ", traced"                     \
	}

static struct harness_case cases[] = {
	{.name = "loop", .run = run_nothing, .what = "the empty loop around all cases below"},
	{.name = "rdtsc", .run = run_counter, .what = "the counter, inlined (RDTSC on x86-64)"},
	ROWS(mutex, "mutex lock + unlock"),
	ROWS(rwlock, "rwlock rdlock + unlock"),
	ROWS(sem, "sem wait + post"),
	ROWS(cond, "cond signal, no waiter"),
};

#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static struct harness_case *find_case(const char *name)
{
	return harness_find(cases, NR_CASES, name);
}

static const struct added {
	const char *name;
	double nr_calls;
	const char *target_on, *target_off;
} added[] = {{"mutex", 2, "at most 7; goal: below 5", "at most 3"},
	     {"rwlock", 2, "", "at most 3"},
	     {"sem", 2, "", "at most 3"},
	     {"cond", 1, "", "at most 3"}};

/* The cost of tracing, divided by that of RDTSC.  Both are taken from the same round. */
static bool in_counters(const struct added *row, struct harness_figure *figure)
{
	static double quotients[HARNESS_ROUNDS_MAX];
	struct harness_case in_rounds = {.figure = {quotients}};
	char on[32], off[32];

	snprintf(on, sizeof(on), "%s-on", row->name);
	snprintf(off, sizeof(off), "%s-bare", row->name);
	for (unsigned int i = 0; i < nr_rounds; i++)
		quotients[i] = (find_case(on)->figure[HARNESS_ONE][i] -
				find_case(off)->figure[HARNESS_ONE][i]) /
			       find_case("rdtsc")->figure[HARNESS_ONE][i];
	return harness_figure(&in_rounds, HARNESS_ONE, figure);
}

static void print_added(void)
{
	struct harness_figure figure;
	char a[32], b[32];

	printf("\n%-44s %8s %7s %7s   target\n", "Within a round", "median", "min", "max");
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		if (in_counters(&added[i], &figure))
			printf("%-6s  traced - bare, in RDTSCs                %8.2f %7.2f %7.2f   "
			       "%s\n",
			       added[i].name, figure.median, figure.min, figure.max,
			       added[i].target_on);
		snprintf(a, sizeof(a), "%s-off", added[i].name);
		snprintf(b, sizeof(b), "%s-bare", added[i].name);
		if (harness_compare(find_case(a), HARNESS_ONE, '-', find_case(b), HARNESS_ONE,
				    &figure))
			printf("%-6s  not traced - bare, ns per call         %8.2f %7.2f %7.2f   "
			       "%s\n",
			       added[i].name, figure.median / added[i].nr_calls,
			       figure.min / added[i].nr_calls, figure.max / added[i].nr_calls,
			       added[i].target_off);
	}
}

static __attribute__((noreturn)) void refuse(const char *what)
{
	fprintf(stderr, "preload: %s\nusage: preload LIBRARY [--quick] [--rounds N]\n", what);
	exit(2);
}

static void read_options(char **argv)
{
	for (; *argv; argv++) {
		if (strcmp(*argv, "--quick") == 0)
			nr_rounds = ROUNDS_QUICK;
		else if (strcmp(*argv, "--rounds") == 0 && argv[1])
			nr_rounds = (unsigned int)strtoul(*++argv, NULL, 10);
		else
			refuse("unknown option");
	}
	if (nr_rounds < 1 || nr_rounds > HARNESS_ROUNDS_MAX)
		refuse("not a number of rounds");
}

int main(int argc, char **argv)
{
	int error;

	if (argc < 2)
		refuse("library required");
	read_options(argv + 2);
	if (!getenv("LD_PRELOAD")) {
		setenv("LD_PRELOAD", argv[1], 1);
		execv("/proc/self/exe", argv);
		refuse(strerror(errno));
	}
	find_bare();
	if (!bare.mutex_lock || bare.mutex_lock == wrapped.mutex_lock)
		refuse("the library does not wrap the functions of the C library");
	for (size_t i = 0; i < NR_CASES; i++)
		cases[i].selected = true;
	error = harness_init();
	if (!error)
		error = harness_run(cases, NR_CASES, nr_rounds);
	if (error) {
		fprintf(stderr, "preload: %s\n", strerror(error));
		return 1;
	}
	harness_print(cases, NR_CASES);
	print_added();
	return 0;
}
