/* SPDX-License-Identifier: MIT */
/*
 * client write FILE: fill a buffer with the services, in several threads, until it has wrapped, and write it.
 * client stay: the same, and then record an event each millisecond until standard input ends; a line for each 600.
 * client record: record events without a buffer, for a POSIX stream.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tx_trace_posix.h>
#include <unistd.h>

#define NR_THREADS 3

unsigned char trace_buffer[48 + 16 * 48 + 500 * 32] __attribute__((aligned(64)));
static int mutex, queue, semaphore;

static void *work(void *argument)
{
	unsigned int rounds = *(unsigned int *)argument;

	for (unsigned int i = 0; i < rounds; i++) {
		TX_TRACE_IN_LINE_INSERT(TX_TRACE_MUTEX_GET, &mutex, 0xFFFFFFFF, 0, 0, TX_TRACE_MUTEX_EVENTS)
		TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, &queue, &i, 0, 10, TX_TRACE_QUEUE_EVENTS)
		TX_TRACE_IN_LINE_INSERT(TX_TRACE_MUTEX_PUT, &mutex, TX_POINTER_TO_ULONG_CONVERT(pthread_self()), 1, 0,
					TX_TRACE_MUTEX_EVENTS)
		tx_trace_user_event_insert(4096, i, i * i, 0, 0);
		tx_trace_isr_enter_insert(1);
		TX_TRACE_IN_LINE_INSERT(TX_TRACE_SEMAPHORE_PUT, &semaphore, i, 0, 0, TX_TRACE_SEMAPHORE_EVENTS)
		tx_trace_isr_exit_insert(1);
	}
	return NULL;
}

static void run(unsigned int rounds)
{
	pthread_t thread[NR_THREADS];

	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_MUTEX, &mutex, "the mutex", 1, 0)
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &queue, "the queue", 10, 4)
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_SEMAPHORE, &semaphore, "the semaphore", 0, 0)
	for (int i = 0; i < NR_THREADS; i++) {
		if (pthread_create(&thread[i], NULL, work, &rounds) != 0)
			exit(1);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void begin(void)
{
	if (tx_trace_enable(trace_buffer, sizeof(trace_buffer), 16) != TX_SUCCESS)
		exit(1);
}

static int write_file(const char *path)
{
	FILE *file = fopen(path, "w");

	return file && fwrite(trace_buffer, sizeof(trace_buffer), 1, file) == 1 && fclose(file) == 0 ? 0 : 1;
}

static int stay(void)
{
	struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned int n = 0;

	printf("ready\n");
	fflush(stdout);
	while (poll(&end, 1, 1) == 0) {
		tx_trace_user_event_insert(4097, n++, 0, 0, 0);
		if (n % 600 == 0) {
			printf("%u\n", n); /* more than the buffer holds */
			fflush(stdout);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "write") == 0) {
		begin();
		run(100);
		if (tx_trace_disable() != TX_SUCCESS)
			return 1;
		return write_file(argv[2]);
	}
	if (argc == 2 && strcmp(argv[1], "stay") == 0) {
		begin();
		run(100);
		return stay();
	}
	if (argc == 2 && strcmp(argv[1], "record") == 0) {
		run(5);
		return 0;
	}
	fprintf(stderr, "usage: client write FILE | stay | record\n");
	return 2;
}
