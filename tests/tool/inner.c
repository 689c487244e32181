/* SPDX-License-Identifier: MIT */
/* The program that outer.c executes: its functions are where that program has others. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}
