/* SPDX-License-Identifier: MIT */
/* A process whose children are made, execute programs and end in all the usual ways. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define CROWD 40

static char *self;
static volatile pid_t *grandchild; /* in shared memory */

static void note(pid_t pid, pid_t parent, int code, const char *words)
{
	char status[16], command[512] = "";

	snprintf(status, sizeof(status), "exit %d", code);
	if (words)
		snprintf(command, sizeof(command), "%s %s", self, words);
	oracle_process(pid, parent, status, command);
}

static void wait_for(pid_t pid)
{
	if (waitpid(pid, NULL, 0) != pid)
		abort();
}

static void execute(const char *code)
{
	execl(self, self, "end", code, (char *)NULL);
	_exit(99);
}

static void fork_and_execute(void)
{
	pid_t pid = fork();

	if (pid == 0)
		execute("0");
	wait_for(pid);
	note(pid, getpid(), 0, "end 0");
}

static void vfork_and_execute(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		execute("4");
	wait_for(pid);
	note(pid, getpid(), 4, "end 4");
}

static void spawn(void)
{
	char end[] = "end", code[] = "7";
	char *argv[] = {self, end, code, NULL};
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0)
		abort();
	wait_for(pid);
	note(pid, getpid(), 7, "end 7");
}

static void kill_one(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
		_exit(99);
	}
	wait_for(pid);
	oracle_process(pid, getpid(), "SIGTERM", "");
}

static void have_grandchild(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0) {
		pid_t child = fork();

		if (child == 0)
			_exit(9);
		*grandchild = child;
		if (waitid(P_ALL, 0, &info, WEXITED) != 0)
			abort();
		_exit(2);
	}
	wait_for(pid);
	note(pid, getpid(), 2, NULL);
	note(*grandchild, pid, 9, NULL);
}

/* The grandchild ends after its parent, so no process of this program waits for it. */
static void have_orphan(void)
{
	int before[2], after[2];
	char byte;
	pid_t pid;

	if (pipe(before) != 0 || pipe(after) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		pid_t orphan = fork();

		if (orphan == 0) {
			close(before[1]);
			if (read(before[0], &byte, 1) != 0)
				abort();
			exit(5);
		}
		*grandchild = orphan;
		_exit(0);
	}
	wait_for(pid);
	close(before[1]);
	close(after[1]);
	if (read(after[0], &byte, 1) != 0)
		abort();
	note(pid, getpid(), 0, NULL);
	note(*grandchild, pid, 5, NULL);
}

static void have_crowd(void)
{
	pid_t pid[CROWD];

	for (int i = 0; i < CROWD; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(i);
	}
	for (int i = 0; i < CROWD; i++) {
		wait_for(pid[i]);
		note(pid[i], getpid(), i, NULL);
	}
}

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc == 3)
		return atoi(argv[2]);
	grandchild = mmap(NULL, sizeof(*grandchild), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	oracle_process(getpid(), getppid(), "exit 0", self);
	oracle_thread("main");
	fork_and_execute();
	vfork_and_execute();
	spawn();
	kill_one();
	have_grandchild();
	have_orphan();
	have_crowd();
	oracle_report();
	return 0;
}
