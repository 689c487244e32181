/* SPDX-License-Identifier: MIT */
/*
 * Three processes that send messages to each other, for the tests of the tool: talkers LOG0 LOG1 LOG2 MESSAGES.  Each
 * process has its own log, with an event "sent" before it sends a message and an event "received" after it has received
 * one.  Both have the number of the message as their data.
 *
 * talkers SELF ADDRESS0 ADDRESS1 ADDRESS2 MESSAGES is only one of the three, which may be on three machines.  Another
 * process traces it.  Before the messages, each of these asks the others over connections.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define PROCESSES 3
#define CONNECTIONS 20

static int sockets[PROCESSES];
static struct sockaddr_in addresses[PROCESSES];

static int open_socket(struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(*address)) != 0 ||
	    getsockname(fd, (struct sockaddr *)address, &size) != 0)
		exit(1);
	return fd;
}

/* Receive what has arrived.  If wait_ms is 0, do not wait. */
static void receive(int self, trace_event_id_t received, int wait_ms)
{
	struct timeval limit = {.tv_usec = wait_ms * 1000};
	uint32_t number;

	setsockopt(sockets[self], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	while (recv(sockets[self], &number, sizeof(number), wait_ms > 0 ? 0 : MSG_DONTWAIT) == sizeof(number))
		posix_trace_event(received, &number, sizeof(number));
}

static int send_all(int self, uint32_t nr_messages)
{
	trace_event_id_t sent, received;

	if (posix_trace_eventid_open("sent", &sent) != 0 || posix_trace_eventid_open("received", &received) != 0 ||
	    txtrace_describe_type(sent, "u32 number") != 0 || txtrace_describe_type(received, "u32 number") != 0)
		return 1;
	for (uint32_t i = 0; i < nr_messages; i++) {
		int to = (self + 1 + (int)(i % (PROCESSES - 1))) % PROCESSES;
		uint32_t number = i * PROCESSES + (uint32_t)self;

		posix_trace_event(sent, &number, sizeof(number));
		if (sendto(sockets[self], &number, sizeof(number), 0, (struct sockaddr *)&addresses[to],
			   sizeof(addresses[to])) != sizeof(number))
			return 1;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		receive(self, received, 0);
	}
	receive(self, received, 300);
	return 0;
}

static int talk(int self, const char *path, uint32_t nr_messages)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	trace_attr_t attr;
	trace_id_t trace;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (fd < 0 || posix_trace_create_withlog(0, &attr, fd, &trace) != 0 || posix_trace_start(trace) != 0)
		return 1;
	return send_all(self, nr_messages) == 0 && posix_trace_shutdown(trace) == 0 ? 0 : 1;
}

/* Answer what the others ask over connections. */
static void *answer(void *listening)
{
	for (int i = 0; i < (PROCESSES - 1) * CONNECTIONS; i++) {
		struct sockaddr_in peer;
		socklen_t length = sizeof(peer);
		int fd = accept(*(int *)listening, (struct sockaddr *)&peer, &length);
		uint32_t number;

		if (fd < 0 || recv(fd, &number, sizeof(number), MSG_WAITALL) != sizeof(number) ||
		    send(fd, &number, sizeof(number), 0) != sizeof(number))
			exit(1);
		close(fd);
	}
	return NULL;
}

/* Ask another machine, which perhaps does not listen yet. */
static void ask(const struct sockaddr_in *address)
{
	uint32_t number = 1;
	int fd;

	while ((fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0 &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		close(fd);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	if (send(fd, &number, sizeof(number), 0) != sizeof(number) ||
	    recv(fd, &number, sizeof(number), MSG_WAITALL) != sizeof(number))
		exit(1);
	close(fd);
}

static void talk_over_connections(int self)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t thread;

	if (fd < 0 || bind(fd, (struct sockaddr *)&addresses[self], sizeof(addresses[self])) != 0 ||
	    listen(fd, 64) != 0 || pthread_create(&thread, NULL, answer, &fd) != 0)
		exit(1);
	for (int i = 0; i < CONNECTIONS; i++)
		for (int other = 0; other < PROCESSES; other++)
			if (other != self)
				ask(&addresses[other]);
	pthread_join(thread, NULL);
	close(fd);
}

/* One of three machines.  Messages to a machine that has no socket yet are lost. */
static int talk_alone(char **argv)
{
	int self = atoi(argv[0]);

	for (int i = 0; i < PROCESSES; i++) {
		addresses[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(7777)};
		if (inet_pton(AF_INET, argv[1 + i], &addresses[i].sin_addr) != 1)
			return 1;
	}
	if (self < 0 || self >= PROCESSES)
		return 1;
	sockets[self] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sockets[self] < 0 || bind(sockets[self], (struct sockaddr *)&addresses[self], sizeof(addresses[self])) != 0)
		return 1;
	talk_over_connections(self);
	return send_all(self, (uint32_t)strtoul(argv[1 + PROCESSES], NULL, 10));
}

int main(int argc, char **argv)
{
	int status, result = 0;

	if (argc == PROCESSES + 3)
		return talk_alone(argv + 1);
	if (argc != PROCESSES + 2)
		return 1;
	for (int i = 0; i < PROCESSES; i++)
		sockets[i] = open_socket(&addresses[i]);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			_exit(talk(i, argv[1 + i], (uint32_t)strtoul(argv[PROCESSES + 1], NULL, 10)));
	while (wait(&status) > 0)
		result |= status != 0;
	return result;
}
