/* SPDX-License-Identifier: MIT */
/* Two readers hold a lock together, while a writer waits for both.  Then a reader waits for the writer. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "oracle/oracle.h"

static pthread_rwlock_t map_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static atomic_bool is_written;

#define READ() ORACLE_CALL(pthread_rwlock_rdlock, &map_lock, pthread_rwlock_rdlock(&map_lock))
#define WRITE() ORACLE_CALL(pthread_rwlock_wrlock, &map_lock, pthread_rwlock_wrlock(&map_lock))
#define GIVE() ORACLE_CALL(pthread_rwlock_unlock, &map_lock, pthread_rwlock_unlock(&map_lock))

static void *read_map(void *name)
{
	oracle_thread(name);
	READ();
	pthread_barrier_wait(&both);
	oracle_await_sleep("writer", &map_lock);
	SLEEP_US(2000);
	pthread_barrier_wait(&both);
	oracle_wakes("writer");
	GIVE();
	return NULL;
}

static void *write_map(void *unused)
{
	oracle_thread("writer");
	WRITE();
	atomic_store(&is_written, true);
	oracle_await_sleep("main", &map_lock);
	oracle_wakes("main");
	GIVE();
	return unused;
}

int main(void)
{
	pthread_t thread[3];

	oracle_thread("main");
	oracle_object(&map_lock, "map_lock");
	pthread_barrier_init(&both, NULL, 3);
	pthread_create(&thread[0], NULL, read_map, (void *)"reader-1");
	pthread_create(&thread[1], NULL, read_map, (void *)"reader-2");
	pthread_barrier_wait(&both);
	pthread_create(&thread[2], NULL, write_map, NULL);
	pthread_barrier_wait(&both);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	while (!atomic_load(&is_written))
		SLEEP_US(100);
	READ();
	GIVE();
	pthread_join(thread[2], NULL);
	oracle_says("why writer@map_lock", "rwlock map_lock was held by reader-[12]");
	oracle_says("blocked --format csv -f pthread_rwlock_rdlock",
		    "map_lock,holder_did,(?:~ran|ran|had no CPU|was blocked)");
	oracle_report();
	return 0;
}
