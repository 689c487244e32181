/* SPDX-License-Identifier: MIT */
/*
 * Connections between two programs that keep their own addresses:
 *
 *	connections server ADDRESS PORT NR		accept NR connections, and send 4 bytes over each
 *	connections blind-server ADDRESS PORT NR	the same, without asking who connects
 *	connections client ADDRESS PORT NR OWN		ask for NR connections from the address OWN, one after the other
 *	connections late-server ADDRESS PORT NR		answer each only after the first attempt to reach it was lost
 *	connections late-client ADDRESS PORT NR OWN	a signal handler runs while the connection is made, and longer
 *
 * The late ones make the file full.N in the working directory when client N shall connect.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&left, NULL);
}

static struct sockaddr_in address_of(const char *text, int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	if (inet_pton(AF_INET, text, &address.sin_addr) != 1)
		exit(1);
	return address;
}

static int bound_socket(const char *text, int port)
{
	struct sockaddr_in address = address_of(text, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		exit(1);
	return fd;
}

static int accept_one(int listening)
{
	struct sockaddr_in peer;
	socklen_t length = sizeof(peer);
	int fd = accept(listening, (struct sockaddr *)&peer, &length);

	if (fd < 0)
		exit(1);
	return fd;
}

static int accept_anyone(int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		exit(1);
	return fd;
}

static void serve(int fd)
{
	if (send(fd, "text", 4, MSG_NOSIGNAL) != 4)
		exit(1);
	close(fd);
}

static const char *name_of_round(int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "full.%d", i);
	return name;
}

/* With one connection that waits to be accepted, the kernel drops the next attempt, which is repeated after 1 s. */
static void serve_late(const char *text, int port, int i)
{
	struct sockaddr_in address = address_of(text, port + i);
	int listening = bound_socket(text, port + i), first = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listen(listening, 0) != 0 || connect(first, (struct sockaddr *)&address, sizeof(address)) != 0)
		exit(1);
	close(open(name_of_round(i), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	sleep_ms(600);
	close(accept_one(listening));
	serve(accept_one(listening));
	close(first);
	close(listening);
}

static void handle(int number)
{
	(void)number;
	sleep_ms(1300);
}

static void ask(const char *text, int port, const char *own)
{
	struct sockaddr_in address = address_of(text, port);
	int fd = bound_socket(own, 0);
	char bytes[4];

	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    recv(fd, bytes, sizeof(bytes), MSG_WAITALL) != sizeof(bytes))
		exit(1);
	close(fd);
}

static void ask_late(const char *text, int port, const char *own, int i)
{
	const struct itimerval soon = {.it_value.tv_usec = 200000};

	while (access(name_of_round(i), F_OK) != 0)
		sleep_ms(10);
	setitimer(ITIMER_REAL, &soon, NULL);
	ask(text, port + i, own);
}

int main(int argc, char **argv)
{
	int port = argc > 4 ? atoi(argv[3]) : 0, nr = argc > 4 ? atoi(argv[4]) : 0, listening;

	sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);
	if (argc == 5 && (strcmp(argv[1], "server") == 0 || strcmp(argv[1], "blind-server") == 0)) {
		listening = bound_socket(argv[2], port);
		if (listen(listening, 16) != 0)
			return 1;
		close(open("full.0", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
		for (int i = 0; i < nr; i++)
			serve(*argv[1] == 'b' ? accept_anyone(listening) : accept_one(listening));
	} else if (argc == 6 && strcmp(argv[1], "client") == 0) {
		while (access("full.0", F_OK) != 0)
			sleep_ms(10);
		for (int i = 0; i < nr; i++)
			ask(argv[2], port, argv[5]);
	} else if (argc == 5 && strcmp(argv[1], "late-server") == 0) {
		for (int i = 0; i < nr; i++)
			serve_late(argv[2], port, i);
	} else if (argc == 6 && strcmp(argv[1], "late-client") == 0) {
		for (int i = 0; i < nr; i++)
			ask_late(argv[2], port, argv[5], i);
	} else {
		return 1;
	}
	return 0;
}
