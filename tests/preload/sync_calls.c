/* SPDX-License-Identifier: MIT */
/*
 * sync_calls [FAMILY...]: calls of the synchronisation functions, with each possible outcome; print results and errno.
 * The program knows nothing of tracing: with and without the preloaded object it must print the same.  Threads wait
 * for each other with words in memory and plain system calls, which have no wrapper, so the trace has exactly the calls
 * in this file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* The functions that headers declare and call if _FORTIFY_SOURCE is defined. */
#if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL == 0
mqd_t __mq_open_2(const char *name, int flags);
#endif

#define UNTOUCHED 77 /* in errno */

/* The output of the main thread, and of the others, of which one runs at a time; printed at the end. */
static struct text {
	char text[1 << 15];
	size_t length;
} said[2];
static __thread bool is_main;

static void say(const char *what, long long result, int error)
{
	struct text *text = &said[is_main];
	size_t room = sizeof(text->text) - text->length;
	int n;

	if (error == UNTOUCHED)
		n = snprintf(text->text + text->length, room, "%s = %lld\n", what, result);
	else
		n = snprintf(text->text + text->length, room, "%s = %lld, errno %d\n", what, result,
			     error);
	if (n < 0 || (size_t)n >= room)
		abort();
	text->length += (size_t)n;
}

/* Make a call, and print its result. */
#define CALL(expression)                                                                           \
	do {                                                                                       \
		long long said_;                                                                   \
		errno = UNTOUCHED;                                                                 \
		said_ = (long long)(expression);                                                   \
		say(#expression, said_, errno);                                                    \
	} while (0)

/* Make a call that returns a pointer. */
#define CALL_OF_POINTER(variable, expression)                                                      \
	do {                                                                                       \
		errno = UNTOUCHED;                                                                 \
		(variable) = (expression);                                                         \
		say(#expression, (variable) != (void *)0, errno);                                  \
	} while (0)

/* Waiting unseen. */

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void rest(void)
{
	const long time[2] = {0, 200000}; /* as the kernel wants it */

	syscall(SYS_nanosleep, time, NULL);
}

static void await(const int *word, int value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
		rest();
}

static void set(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Return the number of the system call in which the thread is, as the kernel shows it; -1: in none; -2: not shown. */
static long shown_call(pid_t tid)
{
	char path[64], text[32];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	if (fd >= 0) {
		n = (ssize_t)syscall(SYS_read, fd, text, sizeof(text) - 1);
		syscall(SYS_close, fd);
	}
	if (n <= 0)
		return -2;
	text[n] = '\0';
	return text[0] == 'r' ? -1 : strtol(text, NULL, 10);
}

/*
 * The same of a thread that sleeps; -2: not known.  Below an emulator of system calls, the kernel has the numbers of
 * another machine, as this thread sees by its own read().
 */
static long sleeps_in(pid_t tid)
{
	static int has_numbers = -1;

	if (has_numbers < 0)
		has_numbers = shown_call(own_tid()) == SYS_read;
	return has_numbers ? shown_call(tid) : -2;
}

/* Wait until the thread sleeps in one of these system calls.  If the kernel does not show it, wait for some time. */
static void await_sleep(pid_t tid, const long *numbers, size_t nr_numbers)
{
	const long while_[2] = {0, 50000000}; /* as the kernel wants it */

	for (;;) {
		long number = sleeps_in(tid);

		if (number == -2) {
			syscall(SYS_nanosleep, while_, NULL);
			return;
		}
		for (size_t i = 0; i < nr_numbers; i++)
			if (number == numbers[i])
				return;
		rest();
	}
}

static void await_waiter(pid_t tid)
{
	static const long futex[] = {SYS_futex};

	await_sleep(tid, futex, 1);
}

static struct timespec long_past = {1, 0}, no_time = {1, 1000000000};

static struct timespec soon(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_sec += 30;
	return time;
}

static pid_t main_tid;

static void with_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, argument) != 0)
		abort();
	pthread_join(thread, NULL);
}

static void *begin_thread(pthread_t *thread, void *(*function)(void *), void *argument)
{
	if (pthread_create(thread, NULL, function, argument) != 0)
		abort();
	return NULL;
}

static int stage; /* for steps that need two threads */

/* Mutexes. */

static pthread_mutex_t mutex;

static void init_mutex(int type, int protocol, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	CALL(pthread_mutex_init(&mutex, &attr));
	pthread_mutexattr_destroy(&attr);
}

static void *lock_and_leave(void *unused)
{
	CALL(pthread_mutex_lock(&mutex));
	return unused;
}

static void *unlock_and_leave(void *unused)
{
	CALL(pthread_mutex_unlock(&mutex));
	return unused;
}

/* Hold the lock until the main thread waits. */
static void *hold_mutex(void *unused)
{
	CALL(pthread_mutex_lock(&mutex));
	set(&stage, 1);
	await_waiter(main_tid);
	CALL(pthread_mutex_unlock(&mutex));
	return unused;
}

static void normal_mutex(void)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);

	CALL(pthread_mutex_init(&mutex, NULL));
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &long_past));
	CALL(pthread_mutex_timedlock(&mutex, &no_time));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &long_past));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &long_past));
	CALL(pthread_mutex_destroy(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &later));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &no_time));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later_here));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &later));
	CALL(pthread_mutex_destroy(&mutex));
}

static void contended_mutex(void)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);

	CALL(pthread_mutex_init(&mutex, NULL));
	for (int i = 0; i < 3; i++) {
		pthread_t thread;

		set(&stage, 0);
		begin_thread(&thread, hold_mutex, NULL);
		await(&stage, 1);
		if (i == 0)
			CALL(pthread_mutex_lock(&mutex));
		else if (i == 1)
			CALL(pthread_mutex_timedlock(&mutex, &later));
		else
			CALL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later_here));
		pthread_join(thread, NULL);
		CALL(pthread_mutex_unlock(&mutex));
	}
	CALL(pthread_mutex_destroy(&mutex));
}

static void checking_mutex(void)
{
	init_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_timedlock(&mutex, &long_past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	with_thread(lock_and_leave, NULL);
	CALL(pthread_mutex_unlock(&mutex));
}

static void recursive_mutex(void)
{
	init_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	with_thread(unlock_and_leave, NULL);
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_destroy(&mutex));
}

static void robust_mutex(int protocol)
{
	init_mutex(PTHREAD_MUTEX_NORMAL, protocol, PTHREAD_MUTEX_ROBUST);
	with_thread(lock_and_leave, NULL);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_consistent(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	with_thread(lock_and_leave, NULL);
	CALL(pthread_mutex_trylock(&mutex));
	with_thread(unlock_and_leave, NULL);
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_destroy(&mutex));
}

static void inheriting_mutex(void)
{
	init_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_mutex_trylock(&mutex));
	with_thread(unlock_and_leave, NULL);
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_destroy(&mutex));
}

/* Without it, as below an emulator of system calls, the next owner of a robust mutex waits for ever. */
static bool has_robust_lists(void)
{
	void *head;
	size_t length;

	return syscall(SYS_get_robust_list, 0, &head, &length) == 0;
}

static void run_mutex(void)
{
	normal_mutex();
	contended_mutex();
	checking_mutex();
	recursive_mutex();
	if (has_robust_lists()) {
		robust_mutex(PTHREAD_PRIO_NONE);
		robust_mutex(PTHREAD_PRIO_INHERIT);
	}
	inheriting_mutex();
}

/* Spin locks. */

static pthread_spinlock_t spin;

/* Hold the lock long enough for the main thread to find it taken. */
static void *hold_spin(void *unused)
{
	const long time[2] = {0, 20000000}; /* as the kernel wants it */

	CALL(pthread_spin_lock(&spin));
	set(&stage, 1);
	await(&stage, 2);
	syscall(SYS_nanosleep, time, NULL);
	CALL(pthread_spin_unlock(&spin));
	return unused;
}

static void run_spin(void)
{
	pthread_t thread;

	CALL(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	CALL(pthread_spin_lock(&spin));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_unlock(&spin));
	CALL(pthread_spin_trylock(&spin));
	CALL(pthread_spin_unlock(&spin));
	set(&stage, 0);
	begin_thread(&thread, hold_spin, NULL);
	await(&stage, 1);
	set(&stage, 2);
	CALL(pthread_spin_lock(&spin));
	CALL(pthread_spin_unlock(&spin));
	pthread_join(thread, NULL);
	CALL(pthread_spin_destroy(&spin));
}

/* Read-write locks. */

static pthread_rwlock_t rwlock;

static void *hold_rwlock(void *writes)
{
	if (writes)
		CALL(pthread_rwlock_wrlock(&rwlock));
	else
		CALL(pthread_rwlock_rdlock(&rwlock));
	set(&stage, 1);
	await_waiter(main_tid);
	CALL(pthread_rwlock_unlock(&rwlock));
	return writes;
}

static void read_rwlock(void)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);

	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &later));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &later_here));
	CALL(pthread_rwlock_timedrdlock(&rwlock, &no_time));
	CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &later));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &long_past));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &long_past));
	for (int i = 0; i < 4; i++)
		CALL(pthread_rwlock_unlock(&rwlock));
}

static void write_rwlock(void)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);

	CALL(pthread_rwlock_wrlock(&rwlock));
	CALL(pthread_rwlock_wrlock(&rwlock));
	CALL(pthread_rwlock_rdlock(&rwlock));
	CALL(pthread_rwlock_tryrdlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &later));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_trywrlock(&rwlock));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &later));
	CALL(pthread_rwlock_unlock(&rwlock));
	CALL(pthread_rwlock_timedwrlock(&rwlock, &no_time));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &later));
	CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &later_here));
	CALL(pthread_rwlock_unlock(&rwlock));
}

static void contended_rwlock(void)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);

	for (int i = 0; i < 6; i++) {
		pthread_t thread;

		set(&stage, 0);
		begin_thread(&thread, hold_rwlock, i < 3 ? &rwlock : NULL);
		await(&stage, 1);
		switch (i) {
		case 0:
			CALL(pthread_rwlock_rdlock(&rwlock));
			break;
		case 1:
			CALL(pthread_rwlock_timedrdlock(&rwlock, &later));
			break;
		case 2:
			CALL(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &later_here));
			break;
		case 3:
			CALL(pthread_rwlock_wrlock(&rwlock));
			break;
		case 4:
			CALL(pthread_rwlock_timedwrlock(&rwlock, &later));
			break;
		default:
			CALL(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &later_here));
		}
		pthread_join(thread, NULL);
		CALL(pthread_rwlock_unlock(&rwlock));
	}
}

static void run_rwlock(void)
{
	CALL(pthread_rwlock_init(&rwlock, NULL));
	read_rwlock();
	write_rwlock();
	contended_rwlock();
	CALL(pthread_rwlock_destroy(&rwlock));
}

/* Barriers, once. */

static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT, slow_once = PTHREAD_ONCE_INIT;
static pid_t helper_tid;

static void *meet(void *unused)
{
	set(&helper_tid, own_tid());
	CALL(pthread_barrier_wait(&barrier));
	return unused;
}

static void do_at_once(void)
{
	say("once", 0, UNTOUCHED);
}

static void do_slowly(void)
{
	set(&stage, 1);
	await_waiter(main_tid);
	say("slow once", 0, UNTOUCHED);
}

static void *run_slow_once(void *unused)
{
	CALL(pthread_once(&slow_once, do_slowly));
	return unused;
}

static void run_barrier(void)
{
	pthread_t thread;

	CALL(pthread_barrier_init(&barrier, NULL, 0));
	CALL(pthread_barrier_init(&barrier, NULL, 1));
	CALL(pthread_barrier_wait(&barrier));
	CALL(pthread_barrier_wait(&barrier));
	CALL(pthread_barrier_destroy(&barrier));
	CALL(pthread_barrier_init(&barrier, NULL, 2));
	for (int i = 0; i < 2; i++) {
		set(&helper_tid, 0);
		begin_thread(&thread, meet, NULL);
		while (__atomic_load_n(&helper_tid, __ATOMIC_ACQUIRE) == 0)
			rest();
		await_waiter(helper_tid);
		CALL(pthread_barrier_wait(&barrier));
		pthread_join(thread, NULL);
	}
	CALL(pthread_barrier_destroy(&barrier));
	CALL(pthread_once(&once, do_at_once));
	CALL(pthread_once(&once, do_at_once));
	set(&stage, 0);
	begin_thread(&thread, run_slow_once, NULL);
	await(&stage, 1);
	CALL(pthread_once(&slow_once, do_slowly));
	pthread_join(thread, NULL);
}

/* Condition variables. */

static pthread_cond_t cond;
static int is_ready;

enum way { WAIT, TIMED, BY_CLOCK };

static void *wait_for_it(void *argument)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);
	enum way way = *(enum way *)argument;

	CALL(pthread_mutex_lock(&mutex));
	set(&helper_tid, own_tid());
	while (!is_ready) {
		if (way == WAIT)
			CALL(pthread_cond_wait(&cond, &mutex));
		else if (way == TIMED)
			CALL(pthread_cond_timedwait(&cond, &mutex, &later));
		else
			CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &later_here));
	}
	CALL(pthread_mutex_unlock(&mutex));
	return NULL;
}

static void contended_cond(void)
{
	for (enum way way = WAIT; way <= BY_CLOCK; way++) {
		pthread_t thread;

		is_ready = 0;
		set(&helper_tid, 0);
		begin_thread(&thread, wait_for_it, &way);
		while (__atomic_load_n(&helper_tid, __ATOMIC_ACQUIRE) == 0)
			rest();
		await_waiter(helper_tid);
		CALL(pthread_mutex_lock(&mutex));
		is_ready = 1;
		CALL(pthread_mutex_unlock(&mutex));
		if (way == WAIT)
			CALL(pthread_cond_signal(&cond));
		else
			CALL(pthread_cond_broadcast(&cond));
		pthread_join(thread, NULL);
	}
}

static void refused_cond(void)
{
	CALL(pthread_mutex_lock(&mutex));
	CALL(pthread_cond_timedwait(&cond, &mutex, &long_past));
	CALL(pthread_cond_timedwait(&cond, &mutex, &no_time));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &long_past));
	CALL(pthread_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &long_past));
	CALL(pthread_mutex_unlock(&mutex));
	CALL(pthread_mutex_destroy(&mutex));
	init_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	CALL(pthread_cond_wait(&cond, &mutex));
	CALL(pthread_mutex_destroy(&mutex));
}

static void run_cond(void)
{
	CALL(pthread_cond_init(&cond, NULL));
	CALL(pthread_mutex_init(&mutex, NULL));
	CALL(pthread_cond_signal(&cond));
	CALL(pthread_cond_broadcast(&cond));
	contended_cond();
	refused_cond();
	CALL(pthread_cond_destroy(&cond));
}

/* Semaphores. */

static sem_t sem;

static void on_signal(int number)
{
	(void)number;
}

/* Send SIGUSR1.  The C library does not restart calls after its handler. */
static void take_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
}

static void *post_later(void *unused)
{
	await_waiter(main_tid);
	CALL(sem_post(&sem));
	return unused;
}

static void *interrupt_later(void *unused)
{
	static const long waits[] = {
		SYS_futex, SYS_clock_nanosleep, SYS_ppoll, SYS_mq_timedreceive, SYS_nanosleep,
#ifdef SYS_pause
		SYS_pause
#endif
	};

	await_sleep(main_tid, waits, sizeof(waits) / sizeof(waits[0]));
	syscall(SYS_tgkill, getpid(), main_tid, SIGUSR1);
	return unused;
}

static void contended_sem(void)
{
	struct timespec later = soon(CLOCK_REALTIME), later_here = soon(CLOCK_MONOTONIC);

	for (enum way way = WAIT; way <= BY_CLOCK; way++) {
		pthread_t thread;

		begin_thread(&thread, post_later, NULL);
		if (way == WAIT)
			CALL(sem_wait(&sem));
		else if (way == TIMED)
			CALL(sem_timedwait(&sem, &later));
		else
			CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &later_here));
		pthread_join(thread, NULL);
	}
}

static void named_sem(void)
{
	char name[64];
	sem_t *named, *again;

	snprintf(name, sizeof(name), "/posixtrace-test-%d", getpid());
	CALL_OF_POINTER(named, sem_open(name, O_CREAT | O_EXCL, 0600, 3));
	CALL_OF_POINTER(again, sem_open(name, 0));
	CALL(again == named);
	CALL(sem_wait(named));
	CALL_OF_POINTER(again, sem_open(name, O_CREAT | O_EXCL, 0600, 3));
	sem_unlink(name);
	CALL(sem_close(named));
	CALL(sem_close(named));
	CALL(sem_close(&sem));
	CALL_OF_POINTER(again, sem_open(name, 0));
}

static void run_sem(void)
{
	pthread_t thread;

	CALL(sem_init(&sem, 0, (unsigned int)SEM_VALUE_MAX + 1));
	CALL(sem_init(&sem, 0, 2));
	CALL(sem_wait(&sem));
	CALL(sem_trywait(&sem));
	CALL(sem_trywait(&sem));
	CALL(sem_timedwait(&sem, &long_past));
	CALL(sem_timedwait(&sem, &no_time));
	CALL(sem_clockwait(&sem, CLOCK_MONOTONIC, &long_past));
	CALL(sem_post(&sem));
	CALL(sem_timedwait(&sem, &no_time));
	CALL(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &long_past));
	CALL(sem_timedwait(&sem, &long_past));
	contended_sem();
	begin_thread(&thread, interrupt_later, NULL);
	CALL(sem_wait(&sem));
	pthread_join(thread, NULL);
	CALL(sem_destroy(&sem));
	CALL(sem_init(&sem, 0, SEM_VALUE_MAX));
	CALL(sem_post(&sem));
	named_sem();
	CALL(sem_destroy(&sem));
}

/* Message queues. */

static mqd_t queue;
static char queue_name[64], message[16];

static void *send_later(void *unused)
{
	static const long receive[] = {SYS_mq_timedreceive};

	await_sleep(main_tid, receive, 1);
	CALL(mq_send(queue, "later", 6, 1));
	return unused;
}

static void *receive_later(void *unused)
{
	static const long transfer[] = {SYS_mq_timedsend};

	await_sleep(main_tid, transfer, 1);
	CALL(mq_receive(queue, message, sizeof(message), NULL));
	return unused;
}

static void contended_mq(void)
{
	struct timespec later = soon(CLOCK_REALTIME);

	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		begin_thread(&thread, i < 2 ? send_later : receive_later, NULL);
		if (i == 0)
			CALL(mq_receive(queue, message, sizeof(message), NULL));
		else if (i == 1)
			CALL(mq_timedreceive(queue, message, sizeof(message), NULL, &later));
		else if (i == 2)
			CALL(mq_send(queue, "", 1, 0));
		else
			CALL(mq_timedsend(queue, "", 1, 0, &later));
		pthread_join(thread, NULL);
		if (i == 1)
			CALL(mq_send(queue, "fill", 5, 0));
	}
}

static void transfer_mq(void)
{
	struct timespec later = soon(CLOCK_REALTIME);
	unsigned int priority;

	CALL(mq_send(queue, "one", 4, 3));
	CALL(mq_timedsend(queue, "two", 4, 3, &long_past));
	CALL(mq_timedsend(queue, "two", 4, 3, &no_time));
	CALL(mq_send(queue, "too long for this", 18, 3));
	CALL(mq_send(queue, "", 1, UINT_MAX));
	CALL(mq_receive(queue, message, 3, NULL));
	CALL(mq_receive(queue, message, sizeof(message), &priority));
	CALL(priority);
	CALL(mq_timedreceive(queue, message, sizeof(message), NULL, &long_past));
	CALL(mq_timedreceive(queue, message, sizeof(message), NULL, &no_time));
	CALL(mq_timedsend(queue, "two", 4, 3, &later));
	CALL(mq_timedreceive(queue, message, sizeof(message), NULL, &no_time));
	CALL(mq_timedreceive(queue, message, sizeof(message), NULL, &later));
}

static volatile sig_atomic_t nr_signals;

static void count_signal(int number)
{
	nr_signals += number == SIGUSR2;
}

/* The queue notifies once, when a message arrives for which no thread waits. */
static void tell_mq(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};

	signal(SIGUSR2, count_signal);
	CALL(mq_notify(queue, NULL));
	CALL(mq_notify(queue, &event));
	CALL(mq_notify(queue, &event));
	for (int i = 0; i < 2; i++) {
		CALL(mq_send(queue, "news", 5, 0));
		CALL(nr_signals);
		CALL(mq_receive(queue, message, sizeof(message), NULL));
	}
	event.sigev_notify = -1;
	CALL(mq_notify(queue, &event));
}

static void run_mq(void)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = sizeof(message)};
	pthread_t thread;

	snprintf(queue_name, sizeof(queue_name), "/posixtrace-test-%d", getpid());
	CALL((queue = mq_open(queue_name, O_RDWR)) >= 0);
	CALL((queue = mq_open(queue_name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr)) >= 0);
	transfer_mq();
	contended_mq();
	begin_thread(&thread, interrupt_later, NULL);
	CALL(mq_receive(queue, message, sizeof(message), NULL));
	pthread_join(thread, NULL);
	tell_mq();
	CALL(mq_close(queue));
	CALL((queue = __mq_open_2(queue_name, O_RDWR | O_NONBLOCK)) >= 0);
	CALL(mq_receive(queue, message, sizeof(message), NULL));
	CALL(mq_send(queue, "full", 5, 0));
	CALL(mq_send(queue, "full", 5, 0));
	mq_unlink(queue_name);
	CALL(mq_close(queue));
	CALL(mq_close(queue));
	CALL(mq_receive(queue, message, sizeof(message), NULL));
	CALL(mq_notify(queue, NULL));
}

/* Sleep. */

static void run_sleep(void)
{
	const struct timespec moment = {0, 1500000}, long_time = {30, 0};
	struct timespec then;
	pthread_t thread;

	CALL(nanosleep(&moment, NULL));
	CALL(nanosleep(&no_time, NULL));
	CALL(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL));
	CALL(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &long_past, NULL));
	CALL(clock_nanosleep(CLOCK_MONOTONIC, 0, &no_time, NULL));
	CALL(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &moment, NULL));
	CALL(usleep(1500));
	CALL(sleep(0));
	for (int i = 0; i < 5; i++) {
		begin_thread(&thread, interrupt_later, NULL);
		if (i == 0)
			CALL(nanosleep(&long_time, &then));
		else if (i == 1)
			CALL(clock_nanosleep(CLOCK_REALTIME, 0, &long_time, &then));
		else if (i == 2)
			CALL(usleep(30000000));
		else if (i == 3)
			CALL(sleep(3000) > 2900);
		else
			CALL(pause());
		pthread_join(thread, NULL);
		if (i < 2)
			CALL(then.tv_sec <= 30 && then.tv_sec > 20);
	}
	CALL(sched_yield());
}

/* C11: the same objects with other names and other results. */

static mtx_t mtx;
static cnd_t cnd;
static once_flag flag = ONCE_FLAG_INIT, slow_flag = ONCE_FLAG_INIT;

static void *hold_mtx(void *unused)
{
	CALL(mtx_lock(&mtx));
	set(&stage, 1);
	await_waiter(main_tid);
	CALL(mtx_unlock(&mtx));
	return unused;
}

static void plain_mtx(void)
{
	struct timespec later = soon(CLOCK_REALTIME);

	CALL(mtx_init(&mtx, mtx_timed));
	CALL(mtx_lock(&mtx));
	CALL(mtx_trylock(&mtx));
	CALL(mtx_timedlock(&mtx, &long_past));
	CALL(mtx_timedlock(&mtx, &no_time));
	CALL(mtx_unlock(&mtx));
	CALL(mtx_trylock(&mtx));
	CALL(mtx_unlock(&mtx));
	CALL(mtx_timedlock(&mtx, &no_time));
	CALL(mtx_unlock(&mtx));
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		set(&stage, 0);
		begin_thread(&thread, hold_mtx, NULL);
		await(&stage, 1);
		if (i == 0)
			CALL(mtx_lock(&mtx));
		else
			CALL(mtx_timedlock(&mtx, &later));
		pthread_join(thread, NULL);
		CALL(mtx_unlock(&mtx));
	}
	CALL((mtx_destroy(&mtx), 0));
}

static void *try_other_mtx(void *unused)
{
	CALL(mtx_trylock(&mtx));
	CALL(mtx_unlock(&mtx));
	CALL(cnd_wait(&cnd, &mtx));
	return unused;
}

static void recursive_mtx(void)
{
	CALL(mtx_init(&mtx, mtx_timed | mtx_recursive));
	CALL(mtx_lock(&mtx));
	CALL(mtx_lock(&mtx));
	CALL(mtx_trylock(&mtx));
	CALL(mtx_timedlock(&mtx, &long_past));
	with_thread(try_other_mtx, NULL);
	for (int i = 0; i < 5; i++)
		CALL(mtx_unlock(&mtx));
	CALL((mtx_destroy(&mtx), 0));
}

static void *wait_for_cnd(void *argument)
{
	struct timespec later = soon(CLOCK_REALTIME);
	enum way way = *(enum way *)argument;

	CALL(mtx_lock(&mtx));
	set(&helper_tid, own_tid());
	while (!is_ready) {
		if (way == WAIT)
			CALL(cnd_wait(&cnd, &mtx));
		else
			CALL(cnd_timedwait(&cnd, &mtx, &later));
	}
	CALL(mtx_unlock(&mtx));
	return NULL;
}

static void contended_cnd(void)
{
	for (enum way way = WAIT; way <= TIMED; way++) {
		pthread_t thread;

		is_ready = 0;
		set(&helper_tid, 0);
		begin_thread(&thread, wait_for_cnd, &way);
		while (__atomic_load_n(&helper_tid, __ATOMIC_ACQUIRE) == 0)
			rest();
		await_waiter(helper_tid);
		CALL(mtx_lock(&mtx));
		is_ready = 1;
		CALL(mtx_unlock(&mtx));
		if (way == WAIT)
			CALL(cnd_signal(&cnd));
		else
			CALL(cnd_broadcast(&cnd));
		pthread_join(thread, NULL);
	}
}

static void timed_cnd(void)
{
	CALL(mtx_lock(&mtx));
	CALL(cnd_timedwait(&cnd, &mtx, &long_past));
	CALL(cnd_timedwait(&cnd, &mtx, &no_time));
	CALL(mtx_unlock(&mtx));
	CALL((mtx_destroy(&mtx), 0));
}

static void do_at_call(void)
{
	say("call_once", 0, UNTOUCHED);
}

static void do_slow_call(void)
{
	set(&stage, 1);
	await_waiter(main_tid);
	say("slow call_once", 0, UNTOUCHED);
}

static void *run_slow_call(void *unused)
{
	CALL((call_once(&slow_flag, do_slow_call), 0));
	return unused;
}

static void call_functions(void)
{
	pthread_t thread;

	CALL((call_once(&flag, do_at_call), 0));
	CALL((call_once(&flag, do_at_call), 0));
	set(&stage, 0);
	begin_thread(&thread, run_slow_call, NULL);
	await(&stage, 1);
	CALL((call_once(&slow_flag, do_slow_call), 0));
	pthread_join(thread, NULL);
}

static void sleep_thrd(void)
{
	const struct timespec moment = {0, 1500000}, long_time = {30, 0};
	struct timespec then;
	pthread_t thread;

	CALL(thrd_sleep(&moment, NULL));
	CALL(thrd_sleep(&no_time, NULL));
	begin_thread(&thread, interrupt_later, NULL);
	CALL(thrd_sleep(&long_time, &then));
	pthread_join(thread, NULL);
	CALL(then.tv_sec <= 30 && then.tv_sec > 20);
	CALL((thrd_yield(), 0));
}

static void run_c11(void)
{
	plain_mtx();
	CALL(cnd_init(&cnd));
	recursive_mtx();
	CALL(mtx_init(&mtx, mtx_plain));
	CALL(cnd_signal(&cnd));
	CALL(cnd_broadcast(&cnd));
	contended_cnd();
	timed_cnd();
	CALL((cnd_destroy(&cnd), 0));
	call_functions();
	sleep_thrd();
}

static const struct family {
	const char *name;
	void (*run)(void);
} families[] = {{"mutex", run_mutex},	  {"spin", run_spin},	{"rwlock", run_rwlock},
		{"barrier", run_barrier}, {"cond", run_cond},	{"sem", run_sem},
		{"mq", run_mq},		  {"sleep", run_sleep}, {"c11", run_c11}};

int main(int argc, char **argv)
{
	main_tid = own_tid();
	take_signals();
	is_main = true;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		bool is_wanted = argc < 2;

		for (int j = 1; j < argc; j++)
			is_wanted |= strcmp(argv[j], families[i].name) == 0;
		if (is_wanted)
			families[i].run();
	}
	printf("%sothers:\n%s", said[true].text, said[false].text);
	return 0;
}
