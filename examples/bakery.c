/* SPDX-License-Identifier: MIT */
/*
 * Three bakers share an oven, and a clerk sells the bread.  The program contains no trace points.  To see which thread
 * waits for which, and for how long, run it with the preloaded object:
 *
 *	txtrace record --preload -o bakery.trx ./bakery
 *	txtrace blocked bakery.trx
 */
#define _GNU_SOURCE /* pthread_setname_np() */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NR_BAKERS 3
#define NR_LOAVES 8 /* for each baker */

static pthread_mutex_t oven = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t shelf = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bread_is_there = PTHREAD_COND_INITIALIZER;
static int nr_on_shelf;

static void take_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void *bake(void *unused)
{
	for (int i = 0; i < NR_LOAVES; i++) {
		take_ms(1);
		pthread_mutex_lock(&oven);
		take_ms(2);
		pthread_mutex_unlock(&oven);
		pthread_mutex_lock(&shelf);
		nr_on_shelf++;
		pthread_cond_signal(&bread_is_there);
		pthread_mutex_unlock(&shelf);
	}
	return unused;
}

static void *sell(void *unused)
{
	for (int i = 0; i < NR_BAKERS * NR_LOAVES; i++) {
		pthread_mutex_lock(&shelf);
		while (nr_on_shelf == 0)
			pthread_cond_wait(&bread_is_there, &shelf);
		nr_on_shelf--;
		pthread_mutex_unlock(&shelf);
	}
	return unused;
}

static const struct {
	const char *name;
	void *(*work)(void *);
} staff[] = {{"clerk", sell}, {"anna", bake}, {"bert", bake}, {"carl", bake}};

#define NR_STAFF (sizeof(staff) / sizeof(staff[0]))

int main(void)
{
	pthread_t thread[NR_STAFF];

	for (size_t i = 0; i < NR_STAFF; i++) {
		int error = pthread_create(&thread[i], NULL, staff[i].work, NULL);

		if (error) {
			fprintf(stderr, "bakery: %s\n", strerror(error));
			return 1;
		}
		pthread_setname_np(thread[i], staff[i].name);
	}
	for (size_t i = 0; i < NR_STAFF; i++)
		pthread_join(thread[i], NULL);
	printf("%d loaves were sold\n", NR_BAKERS * NR_LOAVES);
	return 0;
}
