/* SPDX-License-Identifier: MIT */
/* A process with two children, and a child of the first of them.  A semaphore in shared memory ends their waits. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle/oracle.h"

struct shared {
	sem_t go, here;
};

static void be_child(struct shared *shared, int depth)
{
	int status;

	do {
		oracle_forked();
		oracle_thread("child");
		POST(&shared->here);
		WAIT(&shared->go);
		SLEEP_US(1000);
	} while (depth-- > 0 && fork() == 0);
	while (wait(&status) > 0)
		;
	oracle_report();
	_exit(0);
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	oracle_thread("main");
	sem_init(&shared->go, 1, 0);
	sem_init(&shared->here, 1, 0);
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			be_child(shared, 1 - i);
	for (int i = 0; i < 3; i++) {
		WAIT(&shared->here);
		SLEEP_US(1000);
		POST(&shared->go);
	}
	while (wait(&status) > 0)
		;
	oracle_says_not("why", "during it\\.\\n(?!\\s*If the object is in shared memory)");
	oracle_report();
	return 0;
}
