/* SPDX-License-Identifier: MIT */
/* Lock a mutex, here and in a child, which then executes the program argv[1]. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void outer_takes(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	outer_takes();
	if (argc < 2)
		return 0;
	if (fork() == 0) {
		outer_takes();
		execl(argv[1], argv[1], (char *)NULL);
		_exit(1);
	}
	usleep(300000); /* until the recorder has read the modules, or soon */
	return wait(NULL) < 0;
}
