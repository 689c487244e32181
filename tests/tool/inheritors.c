/* SPDX-License-Identifier: MIT */
/*
 * inheritors DIRECTORY: a server with a child for each "connection", which is a file of its own with the number 3 in
 * all of them.  The children begin to write when the server has closed their files, and opened others with that number.
 * One child executes this program again, with a file that execve() closes and one that it keeps.  A child of vfork()
 * opens another file with the number of one that its parent has, and writes to both.
 *
 * Each write is one line of the account, on stdout: pid, name of the file, bytes.  "?" is no file: nothing told the
 * preloaded object what it is, because this program makes it by a system call, or is a child of vfork().
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/vfork.h"

#define CHILDREN 8

static void writes(int fd, const char *name, size_t bytes)
{
	uint64_t buffer[8] = {1};

	if (write(fd, buffer, bytes) != (ssize_t)bytes)
		_exit(1);
	printf("%d %s %zu\n", (int)getpid(), name, bytes);
}

static int make(const char *directory, const char *name, int number, int flags, char *path, size_t size)
{
	int fd;

	snprintf(path, size, "%s/%s%d", directory, name, number);
	fd = open(path, O_CREAT | O_WRONLY | flags, 0600);
	if (fd < 0)
		_exit(1);
	return fd;
}

/* The program that was executed: `closed` was closed by that, `kept` was not. */
static int go_on(const char *path, int kept, int closed)
{
	int fd = (int)syscall(SYS_eventfd2, 0, 0);

	if (fd != closed)
		return 1;
	writes(fd, "?", 8);
	writes(kept, path, 7);
	return 0;
}

/* The calls of a child of vfork() are recorded as calls of its parent, but not its dup2(). */
static void write_in_vfork(const char *directory)
{
	char path[256];
	const int first = make(directory, "first", 0, 0, path, sizeof(path));
	const int second = make(directory, "second", 0, 0, path, sizeof(path));

	if (px_test_has_vfork()) {
		if (vfork() == 0)
			_exit(dup2(second, first) != first || write(first, path, 11) != 11 ||
			      write(second, path, 12) != 12);
		printf("%d ? 11\n%d ? 12\n", (int)getpid(), (int)getpid());
	}
	writes(first, "first0", 13);
	close(second);
	close(first);
}

int main(int argc, char **argv)
{
	char path[256], numbers[2][16], gate_byte;
	int gate[2], fd;

	if (argc == 4)
		return go_on(argv[1], atoi(argv[2]), atoi(argv[3]));
	if (argc != 2 || dup2(1, 9) < 0 || pipe(gate) != 0 || dup2(gate[0], 7) < 0 || dup2(gate[1], 8) < 0)
		return 1;
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < CHILDREN; i++) {
		fd = make(argv[1], "connection", i, 0, path, sizeof(path));
		if (fork() == 0) {
			close(8);
			if (read(7, &gate_byte, 1) != 0) /* the end of the file: the server has made all children */
				_exit(1);
			for (int k = 0; k <= i; k++)
				writes(fd, path, (size_t)(10 + i));
			if (i == CHILDREN - 1) {
				close(fd);
				fd = make(argv[1], "private", 0, O_CLOEXEC, path, sizeof(path));
				writes(fd, path, 5);
				snprintf(numbers[1], sizeof(numbers[1]), "%d", fd);
				fd = make(argv[1], "kept", 0, 0, path, sizeof(path));
				snprintf(numbers[0], sizeof(numbers[0]), "%d", fd);
				fflush(stdout);
				execl("/proc/self/exe", argv[0], path, numbers[0], numbers[1], NULL);
				_exit(1);
			}
			fflush(stdout);
			_exit(0);
		}
		close(fd);
	}
	fd = make(argv[1], "last", 0, 0, path, sizeof(path));
	close(7);
	close(8);
	writes(fd, path, 3);
#if defined __x86_64__ || defined __i386__ || defined __aarch64__ /* where vfork() is recorded */
	write_in_vfork(argv[1]);
#endif
	while (wait(NULL) > 0)
		;
	return 0;
}
