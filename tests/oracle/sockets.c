/* SPDX-License-Identifier: MIT */
/*
 * A client asks a server through a pair of sockets.  The server sleeps before each answer, so the client waits for it.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oracle/oracle.h"

#define ROUNDS 20

static int ends[2]; /* of the client, of the server */

static const volatile void *object_of(int fd)
{
	return (const volatile void *)(uintptr_t)fd;
}

#define RECV(fd, data) ORACLE_CALL(recv, object_of(fd), recv(fd, data, sizeof(data), 0))
#define SEND(fd, data) ORACLE_CALL(send, object_of(fd), send(fd, data, sizeof(data), 0))

static void *serve(void *unused)
{
	char question[64], answer[32];

	oracle_thread("server");
	memset(answer, 'a', sizeof(answer));
	while (RECV(ends[1], question) > 0) {
		oracle_await_sleep("client", object_of(ends[0]));
		SLEEP_US(2000);
		oracle_wakes("client");
		SEND(ends[1], answer);
	}
	return unused;
}

static void *ask(void *unused)
{
	char question[64], answer[32];

	oracle_thread("client");
	memset(question, 'q', sizeof(question));
	for (int i = 0; i < ROUNDS; i++) {
		SEND(ends[0], question);
		RECV(ends[0], answer);
	}
	shutdown(ends[0], SHUT_WR);
	return unused;
}

int main(void)
{
	pthread_t server, client;

	oracle_thread("main");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	oracle_object(object_of(ends[0]), "client_end");
	oracle_object(object_of(ends[1]), "server_end");
	pthread_create(&server, NULL, serve, NULL);
	oracle_await_sleep("server", object_of(ends[1]));
	oracle_wakes("server");
	pthread_create(&client, NULL, ask, NULL);
	pthread_join(client, NULL);
	pthread_join(server, NULL);
	oracle_says("why client",
		    "client [0-9]+ was [0-9.]+ ms in all in recv of .*, in [0-9]+ waits");
	oracle_report();
	return 0;
}
