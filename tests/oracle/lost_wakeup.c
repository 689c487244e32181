/* SPDX-License-Identifier: MIT */
/* A thread waits at a condition that was signalled before, and another one at a semaphore that no thread posts. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_mutex_t job_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job_done = PTHREAD_COND_INITIALIZER;
static sem_t permit;

static void *wait_for_job(void *unused)
{
	oracle_thread("late");
	LOCK(&job_lock);
	ORACLE_CALL(pthread_cond_wait, &job_done, pthread_cond_wait(&job_done, &job_lock));
	return unused;
}

static void *wait_for_permit(void *unused)
{
	oracle_thread("forgotten");
	WAIT(&permit);
	return unused;
}

int main(void)
{
	pthread_t thread;

	oracle_thread("main");
	oracle_object(&job_lock, "job_lock");
	oracle_object(&job_done, "job_done");
	oracle_object(&permit, "permit");
	sem_init(&permit, 0, 0);
	ORACLE_CALL(pthread_cond_signal, &job_done, pthread_cond_signal(&job_done));
	pthread_create(&thread, NULL, wait_for_job, NULL);
	pthread_create(&thread, NULL, wait_for_permit, NULL);
	oracle_await_sleep("late", &job_done);
	oracle_await_sleep("forgotten", &permit);
	SLEEP_US(1000);
	oracle_says("why late", "Lost wake-up:");
	oracle_says("why forgotten", "No thread of this trace signalled semaphore permit");
	oracle_says_not("why forgotten", "may lack a signal");
	oracle_says_not("why", "Deadlock");
	oracle_report();
	return 0;
}
