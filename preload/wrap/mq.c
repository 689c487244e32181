/* SPDX-License-Identifier: MIT */
/*
 * Message queues.  A wrapper first tries a transfer with a deadline in the past.  If the transfer would have to wait,
 * the kernel returns ETIMEDOUT.  Otherwise the deadline has no effect.  So a transfer that does not wait takes one
 * system call, as without this object.  If the caller passes a deadline, the wrapper makes one more system call, to
 * test whether it can read the memory of the deadline (probe.h).  If the deadline is invalid, the wrapper tries
 * nothing, and only makes the caller's call.
 */
#include <fcntl.h>
#include <stdarg.h>

#include "deadline.h"
#include "hook.h"
#include "wrap/probe.h"
#include "wrap/text_arg.h"

/* Not const: qemu-user stores the deadline again after a transfer, and returns EFAULT if it cannot. */
static struct timespec long_past = {0, 0};

struct transfer {
	mqd_t queue;
	/* Of a receive: buffer for the message; of a send: the message, which does not change. */
	char *buffer;
	size_t size;
	unsigned int *received_priority; /* of a receive: the wrapper stores the priority here */
	unsigned int priority;		 /* of a send: its priority */
};

PX_INLINE bool sends(enum px_call call)
{
	return call == PX_CALL_mq_send || call == PX_CALL_mq_timedsend;
}

PX_INLINE ssize_t transfer_until(enum px_call call, const struct transfer *transfer,
				 const struct timespec *deadline)
{
	if (sends(call))
		return px_real.mq_timedsend(transfer->queue, transfer->buffer, transfer->size,
					    transfer->priority, deadline);
	return px_real.mq_timedreceive(transfer->queue, transfer->buffer, transfer->size,
				       transfer->received_priority, deadline);
}

/* Try the transfer without waiting.  Return false if it has to wait. */
static bool try_transfer(enum px_call call, const struct transfer *transfer, ssize_t *result)
{
	int saved_errno = errno;

	*result = transfer_until(call, transfer, &long_past);
	if (*result >= 0 || errno != ETIMEDOUT)
		return true;
	errno = saved_errno;
	return false;
}

static ssize_t traced_transfer(struct px_site site, const struct transfer *transfer,
			       const struct timespec *deadline)
{
	bool is_valid = !deadline || (px_probe_can_read(deadline, sizeof(*deadline)) &&
				      px_deadline_is_time(deadline));
	struct px_hook_sample sample = px_hook_begin();
	uint32_t size = transfer->size > UINT32_MAX ? UINT32_MAX : (uint32_t)transfer->size;
	uint32_t flags = PX_RECORD_WHOLE;
	ssize_t result;

	if (!is_valid) {
		result = PX_REAL(&sample, transfer_until(site.call, transfer, deadline));
	} else if (!PX_REAL(&sample, try_transfer(site.call, transfer, &result))) {
		px_hook_record_fd(site, PX_RECORD_BEGINS, transfer->queue, size, 0);
		flags = PX_RECORD_ENDS;
		result = PX_REAL(&sample, transfer_until(site.call, transfer, deadline));
	}
	px_hook_record_fd(site, flags, transfer->queue, size, result < 0 ? -errno : result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

#ifndef PX_TIME64
PX_WRAP int mq_send(mqd_t queue, const char *message, size_t size, unsigned int priority)
{
	struct transfer transfer = {queue, (char *)(uintptr_t)message, size, NULL, priority};

	if (PX_NOT_TRACED(mq))
		return px_real.mq_send(queue, message, size, priority);
	return (int)traced_transfer(PX_SITE(mq_send, mq_send), &transfer, NULL);
}
#endif

PX_WRAP int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned int priority,
			 const struct timespec *deadline)
{
	struct transfer transfer = {queue, (char *)(uintptr_t)message, size, NULL, priority};

	if (PX_NOT_TRACED(mq))
		return px_real.mq_timedsend(queue, message, size, priority, deadline);
	return (int)traced_transfer(PX_SITE(mq_timedsend, mq_timedsend), &transfer, deadline);
}

#ifndef PX_TIME64
PX_WRAP ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned int *priority)
{
	struct transfer transfer = {queue, message, size, priority, 0};

	if (PX_NOT_TRACED(mq))
		return px_real.mq_receive(queue, message, size, priority);
	return traced_transfer(PX_SITE(mq_receive, mq_receive), &transfer, NULL);
}
#endif

PX_WRAP ssize_t mq_timedreceive(mqd_t queue, char *message, size_t size, unsigned int *priority,
				const struct timespec *deadline)
{
	struct transfer transfer = {queue, message, size, priority, 0};

	if (PX_NOT_TRACED(mq))
		return px_real.mq_timedreceive(queue, message, size, priority, deadline);
	return traced_transfer(PX_SITE(mq_timedreceive, mq_timedreceive), &transfer, deadline);
}

#ifndef PX_TIME64
static void record_open(struct px_site site, const char *name, const struct mq_attr *attr,
			mqd_t queue)
{
	struct px_text_arg arg = {
		.data.of_fd = {.fd = queue, .result = queue < 0 ? -errno : queue}};

	if (queue >= 0 && attr)
		arg.data.of_fd.value = (uint32_t)attr->mq_msgsize;
	px_text_arg_record(site, PX_RECORD_WHOLE, &arg, queue < 0 && errno == EFAULT ? "" : name);
}

PX_WRAP mqd_t mq_open(const char *name, int flags, ...)
{
	struct px_site site = PX_SITE(mq_open, mq_open);
	bool is_traced = !PX_NOT_TRACED(mq);
	struct mq_attr *attr = NULL;
	mode_t mode = 0;
	va_list list;
	mqd_t queue;

	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		attr = va_arg(list, struct mq_attr *);
		va_end(list);
	}
	queue = px_real.mq_open(name, flags, mode, attr);
	if (is_traced)
		record_open(site, name, attr, queue);
	return queue;
}

PX_WRAP mqd_t __mq_open_2(const char *name, int flags)
{
	struct px_site site;
	mqd_t queue;

	if (PX_NOT_TRACED(mq))
		return px_real.__mq_open_2(name, flags);
	site = PX_SITE(__mq_open_2, mq_open);
	queue = px_real.__mq_open_2(name, flags);
	record_open(site, name, NULL, queue);
	return queue;
}

/*
 * Record before the call, because another thread may get the number of the queue at once.  If the call fails, a second
 * event has the result.
 */
PX_WRAP int mq_close(mqd_t queue)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(mq))
		return px_real.mq_close(queue);
	site = PX_SITE(mq_close, mq_close);
	px_hook_record_fd(site, PX_RECORD_WHOLE, queue, 0, 0);
	result = px_real.mq_close(queue);
	if (result != 0)
		px_hook_record_fd(site, PX_RECORD_WHOLE, queue, 0, -errno);
	return result;
}

PX_WRAP int mq_notify(mqd_t queue, const struct sigevent *event)
{
	struct px_site site;
	int result;

	if (PX_NOT_TRACED(mq))
		return px_real.mq_notify(queue, event);
	site = PX_SITE(mq_notify, mq_notify);
	result = px_real.mq_notify(queue, event);
	px_hook_record_fd(site, PX_RECORD_WHOLE, queue, 0, result < 0 ? -errno : result);
	return result;
}
#endif
