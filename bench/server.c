/* SPDX-License-Identifier: MIT */
/*
 * server [REQUESTS]: makes calls in the mix of a server with an event loop, which answers small requests of 20 clients:
 * of ten calls four are read, four write, one is epoll_wait and one locks, from about 40 sites, nearly all in the first
 * of six threads.  The clients are a child process.  bench/server.sh measures the size of its log.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 20
#define HELPERS 5
#define REQUESTS 40000
#define LOCKS 8

static pthread_mutex_t lock[LOCKS];
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t stop_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stop = PTHREAD_COND_INITIALIZER;
static int is_stopped;
static int server_end[CLIENTS], client_end[CLIENTS];

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Send requests to the server, one for each client at a time, and read the answers. */
static void be_clients(unsigned long nr_requests)
{
	char request[64] = "SET key value", answer[64];

	for (unsigned long i = 0; i < nr_requests; i += CLIENTS) {
		for (int k = 0; k < CLIENTS; k++)
			if (write(client_end[k], request, 20 + (i + (unsigned long)k) % 30) < 0)
				_exit(1);
		for (int k = 0; k < CLIENTS; k++)
			if (read(client_end[k], answer, sizeof(answer)) <= 0)
				_exit(1);
	}
	_exit(0);
}

static void *help(void *unused)
{
	pthread_mutex_lock(&stop_lock);
	while (!is_stopped)
		pthread_cond_wait(&stop, &stop_lock);
	pthread_mutex_unlock(&stop_lock);
	return unused;
}

/* Each case is a site of its own. */
static void answer_one(int fd, unsigned long number)
{
	char bytes[64];
	ssize_t size = read(fd, bytes, sizeof(bytes));

	if (size <= 0)
		return;
	switch (number % 5) {
	case 0:
		size = write(fd, "+OK\r\n", 5);
		break;
	case 1:
		size = write(fd, "$3\r\nabc\r\n", 9);
		break;
	case 2:
		size = write(fd, ":1234\r\n", 7);
		break;
	default:
		size = write(fd, bytes, (size_t)size);
	}
	if (size <= 0)
		fail("write");
	if (number % 10 == 3 && pthread_mutex_trylock(&lock[number % LOCKS]) == 0)
		pthread_mutex_unlock(&lock[number % LOCKS]);
	if (number % 13 == 5) {
		pthread_rwlock_rdlock(&table);
		pthread_rwlock_unlock(&table);
	}
	if (number % 25 == 7) {
		pthread_rwlock_wrlock(&table);
		pthread_rwlock_unlock(&table);
	}
}

static void serve(unsigned long nr_requests)
{
	struct epoll_event event = {.events = EPOLLIN}, ready[CLIENTS];
	int epoll = epoll_create1(0);
	unsigned long done = 0;

	for (int k = 0; k < CLIENTS; k++) {
		event.data.fd = server_end[k];
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, server_end[k], &event) != 0)
			fail("epoll_ctl");
	}
	while (done < nr_requests) {
		int n = epoll_wait(epoll, ready, 3, -1);

		for (int i = 0; i < n; i++)
			answer_one(ready[i].data.fd, done++);
	}
	close(epoll);
}

int main(int argc, char **argv)
{
	unsigned long nr_requests = argc > 1 ? strtoul(argv[1], NULL, 10) : REQUESTS;
	pthread_t helper[HELPERS];
	int status = 0;
	pid_t clients;

	nr_requests -= nr_requests % CLIENTS;
	for (int k = 0; k < CLIENTS; k++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			fail("socketpair");
		server_end[k] = pair[0];
		client_end[k] = pair[1];
	}
	clients = fork();
	if (clients < 0)
		fail("fork");
	if (clients == 0)
		be_clients(nr_requests);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&lock[i], NULL);
	for (int i = 0; i < HELPERS; i++)
		if (pthread_create(&helper[i], NULL, help, NULL) != 0)
			fail("pthread_create");
	serve(nr_requests);
	pthread_mutex_lock(&stop_lock);
	is_stopped = 1;
	pthread_cond_broadcast(&stop);
	pthread_mutex_unlock(&stop_lock);
	for (int i = 0; i < HELPERS; i++)
		pthread_join(helper[i], NULL);
	return waitpid(clients, &status, 0) == clients && status == 0 ? 0 : 1;
}
