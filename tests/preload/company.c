/* SPDX-License-Identifier: MIT */
/*
 * Objects that are preloaded together with ours, and a program for them:
 *
 *	-DLOCKS		as libtorsocks and libuid_wrapper: takes a lock in functions that a tracer may call
 *	-DSTANDS	as libfaketime: the clocks stand still
 *	-DALLOCATES	as an allocator: takes a lock in malloc()
 *	-DPROGRAM	a program with threads, which ends with 5
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined LOCKS || defined ALLOCATES
#define DEPTH_MAX 50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth __attribute__((tls_model("initial-exec")));

/* A thread that enters again and again before it has the lock never ends. */
static void enter(void)
{
	if (++depth > DEPTH_MAX) {
		static const char text[] = "company: recursion\n";

		if (write(2, text, sizeof(text) - 1) < 0)
			_exit(98);
		_exit(97);
	}
	pthread_mutex_lock(&lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
	depth--;
}
#endif

#ifdef LOCKS
#define REAL(result, name, parameters)                                                             \
	static result(*real) parameters;                                                           \
	if (!real)                                                                                 \
		*(void **)&real = dlsym(RTLD_NEXT, #name)

long syscall(long nr, ...)
{
	REAL(long, syscall, (long, ...));
	long argument[6], got;
	va_list list;

	va_start(list, nr);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	enter();
	got = real(nr, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
	leave();
	return got;
}

#define WRAP(result, name, parameters, arguments)                                                  \
	result name parameters                                                                     \
	{                                                                                          \
		REAL(result, name, parameters);                                                    \
		result got;                                                                        \
                                                                                                   \
		enter();                                                                           \
		got = real arguments;                                                              \
		leave();                                                                           \
		return got;                                                                        \
	}

WRAP(int, close, (int fd), (fd))
WRAP(int, fstat, (int fd, struct stat *status), (fd, status))
WRAP(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now))
WRAP(uid_t, geteuid, (void), ())
WRAP(pid_t, getpid, (void), ())
WRAP(void *, mmap, (void *address, size_t size, int protection, int flags, int fd, off_t offset),
     (address, size, protection, flags, fd, offset))
WRAP(int, munmap, (void *address, size_t size), (address, size))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t offset),
     (fd, data, size, offset))
#endif

#ifdef STANDS
int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){1500000000, 0};
	return 0;
}

time_t time(time_t *now)
{
	if (now)
		*now = 1500000000;
	return 1500000000;
}
#endif

#ifdef ALLOCATES
void *__libc_malloc(size_t size);
void __libc_free(void *memory);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
	void *memory;

	enter();
	memory = __libc_malloc(size);
	leave();
	return memory;
}

void free(void *memory)
{
	enter();
	__libc_free(memory);
	leave();
}

void *calloc(size_t count, size_t size)
{
	void *memory;

	enter();
	memory = __libc_calloc(count, size);
	leave();
	return memory;
}

void *realloc(void *memory, size_t size)
{
	enter();
	memory = __libc_realloc(memory, size);
	leave();
	return memory;
}
#endif

#ifdef PROGRAM
#define THREADS 4
#define ROUNDS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int turn;

static void *run(void *number)
{
	for (int i = 0; i < ROUNDS; i++) {
		char *memory = malloc((size_t)i + 1);

		pthread_mutex_lock(&mutex);
		while (i % 100 == 0 && turn % THREADS != (int)(long)number)
			pthread_cond_wait(&cond, &mutex);
		if (i % 100 == 0) {
			turn++;
			pthread_cond_broadcast(&cond);
		}
		pthread_mutex_unlock(&mutex);
		free(memory);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("turns %d\n", turn);
	fprintf(stderr, "the end\n");
	return 5;
}
#endif
