/* SPDX-License-Identifier: MIT */
/*
 * The program that outer.c executes: its functions are at addresses at which that program has others.  Their names look
 * like those of a Rust compiler.
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void lock_one(void) __asm__("_RNvMNtCsjrHSEGnQ3l9_4bank7accountNtB2_5Vault4open");
static __attribute__((noinline)) void lock_other(void)
	__asm__("_RINvXs1_NtCsjrHSEGnQ3l9_4bank7accountINtB6_4KeysRShENtB6_4Give4giveAyj10_EB8_");

static void lock_one(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void lock_other(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
}

/* With an argument, it lives until the recorder has read its modules, or soon. */
int main(int argc, char **argv)
{
	(void)argv;
	lock_one();
	lock_one();
	lock_other();
	usleep(argc > 1 ? 300000 : 1000);
	return 0;
}
