/* SPDX-License-Identifier: MIT */
#include "trace/native.h"

#include <stddef.h>
#include <string.h>

static const struct native {
	const char *title;
	const char *label[4];
} natives[1024] = {
#define PX_NATIVE(id, name, group, label1, label2, label3, label4, viewer_name)                    \
	[id] = {sizeof(viewer_name) > 1 ? viewer_name : #name,                                     \
		{#label1, #label2, #label3, #label4}},
#include "../lib/txtb/txtb-events.def"
};

const char *native_title(unsigned int native)
{
	return native < 1024 ? natives[native].title : NULL;
}

const char *native_label(unsigned int native, int i)
{
	const char *label = native < 1024 ? natives[native].label[i] : NULL;

	return label && strcmp(label, "none") != 0 ? label : NULL;
}

bool label_is_object(const char *label)
{
	static const char *const labels[] = {
		"thread_ptr",	   "next_thread_ptr", "owning_thread_ptr",
		"queue_ptr",	   "semaphore_ptr",   "mutex_ptr",
		"event_flags_ptr", "timer_ptr",	      "media_ptr",
		"file_ptr",	   "ip_ptr",	      "tcp_socket_ptr",
		"udp_socket_ptr",  "socket_ptr",      "block_pool_ptr",
		"byte_pool_ptr",   "pool_ptr",	      "packet_pool_ptr"};

	for (size_t i = 0; label && i < sizeof(labels) / sizeof(labels[0]); i++)
		if (strcmp(label, labels[i]) == 0)
			return true;
	return false;
}

const char *object_type_name(int type)
{
	static const char *const names[] = {[OBJECT_THREAD] = "thread",
					    [OBJECT_TIMER] = "timer",
					    [OBJECT_QUEUE] = "queue",
					    [OBJECT_SEMAPHORE] = "semaphore",
					    [OBJECT_MUTEX] = "mutex",
					    [OBJECT_EVENT_FLAGS] = "event flags",
					    [OBJECT_BLOCK_POOL] = "block pool",
					    [OBJECT_BYTE_POOL] = "byte pool",
					    [9] = "media",
					    [10] = "file",
					    [11] = "IP",
					    [12] = "packet pool",
					    [OBJECT_TCP_SOCKET] = "TCP socket",
					    [OBJECT_UDP_SOCKET] = "UDP socket",
					    [OBJECT_EVENT_TYPE] = "event type"};

	return type > 0 && (size_t)type < sizeof(names) / sizeof(names[0]) && names[type] ?
		       names[type] :
		       "object";
}
