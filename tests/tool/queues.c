/* SPDX-License-Identifier: MIT */
/* A program with a message queue: sends, receives, waits of both kinds, and calls that fail.  It knows no tracing. */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define NR_MESSAGES 20

static mqd_t queue;

static void *receive(void *argument)
{
	char text[8];

	for (int i = 0; i < NR_MESSAGES; i++)
		if (mq_receive(queue, text, sizeof(text), NULL) < 0)
			return argument;
	return NULL;
}

int main(void)
{
	struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = 8};
	const struct timespec past = {0};
	pthread_t thread;
	char name[32], text[8];
	void *failed;

	snprintf(name, sizeof(name), "/px-queues-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	if (queue == (mqd_t)-1)
		return 1;
	mq_unlink(name);
	for (int i = 0; i < 3; i++)
		mq_send(queue, "text", 4, 0);
	for (int i = 0; i < 3; i++)
		mq_receive(queue, text, sizeof(text), NULL);
	mq_timedreceive(queue, text, sizeof(text), NULL, &past); /* ETIMEDOUT */
	mq_send(queue, "too long for it", 15, 0);		  /* EMSGSIZE */
	if (pthread_create(&thread, NULL, receive, &attr) != 0)
		return 1;
	for (int i = 0; i < NR_MESSAGES; i++)
		mq_send(queue, "text", 4, 0);
	pthread_join(thread, &failed);
	mq_send(queue, "left", 4, 0);
	return failed != NULL;
}
