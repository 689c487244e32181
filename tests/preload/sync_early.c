/* SPDX-License-Identifier: MIT */
/*
 * Preloaded after the object, so that its constructor runs before that of the object, like those of all libraries of a
 * program.  Its calls must work.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int nr_done;

static void count(void)
{
	nr_done++;
}

static int give_back(void *value)
{
	return *(int *)value;
}

static int fail_in_c11(void)
{
	static once_flag flag = ONCE_FLAG_INIT;
	const struct timespec moment = {0, 1000}, past = {1, 0};
	int nr_failed = 0, value = 7, result = 0;
	thrd_t thread;
	mtx_t mutex;
	cnd_t cond;

	nr_failed += mtx_init(&mutex, mtx_plain) != thrd_success;
	nr_failed += cnd_init(&cond) != thrd_success;
	nr_failed += mtx_lock(&mutex) != thrd_success;
	nr_failed += cnd_timedwait(&cond, &mutex, &past) != thrd_timedout;
	nr_failed += mtx_unlock(&mutex) != thrd_success;
	call_once(&flag, count);
	nr_failed += nr_done != 2;
	nr_failed += thrd_create(&thread, give_back, &value) != thrd_success ||
		     thrd_join(thread, &result) != thrd_success || result != value;
	nr_failed += thrd_sleep(&moment, NULL) != 0;
	thrd_yield();
	cnd_destroy(&cond);
	mtx_destroy(&mutex);
	return nr_failed;
}

__attribute__((constructor)) static void begin(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static const char good[] = "early: all well\n", bad[] = "early: something failed\n";
	struct timespec moment = {0, 1000}, past = {1, 0};
	pthread_spinlock_t spin;
	int nr_failed = 0;
	sem_t sem;

	nr_failed += pthread_mutex_lock(&mutex) != 0;
	nr_failed += pthread_cond_timedwait(&cond, &mutex, &past) == 0;
	nr_failed += pthread_mutex_unlock(&mutex) != 0;
	nr_failed += pthread_rwlock_rdlock(&rwlock) != 0;
	nr_failed += pthread_rwlock_unlock(&rwlock) != 0;
	nr_failed += pthread_spin_init(&spin, 0) != 0;
	nr_failed += pthread_spin_lock(&spin) != 0;
	nr_failed += pthread_cond_signal(&cond) != 0;
	nr_failed += pthread_once(&once, count) != 0 || nr_done != 1;
	nr_failed += sem_init(&sem, 0, 1) != 0;
	nr_failed += sem_wait(&sem) != 0;
	nr_failed += sem_post(&sem) != 0;
	nr_failed += mq_open("/posixtrace-none", O_RDONLY) != (mqd_t)-1;
	nr_failed += nanosleep(&moment, NULL) != 0;
	nr_failed += sched_yield() != 0;
	nr_failed += fail_in_c11();
	if (nr_failed)
		syscall(SYS_write, 1, bad, sizeof(bad) - 1);
	else
		syscall(SYS_write, 1, good, sizeof(good) - 1);
}
