/* SPDX-License-Identifier: MIT */
#include "streams.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace_ext.h>
#include <tx_trace_posix.h>

#include "txtb/native.h"

#undef posix_trace_event

#define IDS 65536u
#define TYPE_FAILED 0xFFFFu
#define NR_WANTED 8
#define WORDS PX_NATIVE_WORDS
#define TYPE_ANY_NAME "TX_TRACE_EVENT"
#define REGISTER_NAME "TX_TRACE_OBJECT_REGISTER"
#define UNREGISTER_NAME "TX_TRACE_OBJECT_UNREGISTER"
#define REGISTER_FIELDS                                                                                                \
	"uint32_t object; enum { THREAD = 1, TIMER, QUEUE, SEMAPHORE, MUTEX, EVENT_FLAGS, BLOCK_POOL, BYTE_POOL } type; " \
	"uint32_t parameter1; uint32_t parameter2; char name[32];"
#define UNREGISTER_FIELDS "uint32_t object;"

static uint16_t type_of[IDS]; /* 0: not opened yet; only the pages of ids in use take memory */
static trace_event_id_t type_any, type_register, type_unregister; /* 0: not opened yet */
static uint32_t wanted[NR_WANTED]; /* ids; 0: none */
static __thread uint32_t is_opening __attribute__((tls_model("initial-exec")));

static void name_type(uint32_t id, char *name, size_t size)
{
	const char *native = px_native_name(id);

	if (native)
		snprintf(name, size, "%s", native);
	else if (id >= TX_TRACE_USER_EVENT_START)
		snprintf(name, size, "TX_TRACE_USER_EVENT_%u", id);
	else
		snprintf(name, size, TYPE_ANY_NAME "_%u", id);
}

/* Two words of an event may have the same label: then the second has a number. */
static void describe(uint32_t id, char *text, size_t size)
{
	const char *label[WORDS];
	size_t length = 0;

	for (unsigned int i = 0; i < WORDS; i++) {
		label[i] = px_native_label(id, i);
		if (label[i] && strcmp(label[i], "none") == 0)
			label[i] = NULL;
		for (unsigned int j = 0; j < i && label[i]; j++)
			if (label[j] && strcmp(label[j], label[i]) == 0)
				label[i] = NULL;
		if (label[i])
			length += (size_t)snprintf(text + length, size - length, "uint32_t %s;", label[i]);
		else
			length += (size_t)snprintf(text + length, size - length, "uint32_t info%u;", i + 1);
	}
}

static trace_event_id_t open_type(const char *name, const char *description)
{
	trace_event_id_t type;

	if (posix_trace_eventid_open(name, &type) != 0 || type == POSIX_TRACE_UNNAMED_USEREVENT)
		return TYPE_FAILED;
	txtrace_describe_type(type, description);
	return type;
}

static trace_event_id_t open_id(uint32_t id)
{
	char name[64], text[256];
	trace_event_id_t type;

	is_opening = 1;
	name_type(id, name, sizeof(name));
	describe(id, text, sizeof(text));
	type = open_type(name, text);
	px_store_release(&type_of[id], (uint16_t)type);
	is_opening = 0;
	return type;
}

void px_tx_streams_prepare(void)
{
	int saved_errno = errno;
	trace_event_id_t type;

	if (px_load_acquire(&type_any) != 0 || is_opening)
		return;
	open_id(TX_TRACE_ISR_ENTER);
	open_id(TX_TRACE_ISR_EXIT);
	is_opening = 1;
	type = open_type(TYPE_ANY_NAME, "uint32_t id; uint32_t info1; uint32_t info2; uint32_t info3; uint32_t info4;");
	is_opening = 0;
	px_store_release(&type_any, type);
	errno = saved_errno;
}

/* Open the types of events that were recorded in interrupts. */
static void open_wanted(void)
{
	for (size_t i = 0; i < NR_WANTED; i++) {
		uint32_t id = px_exchange(&wanted[i], 0);

		if (id != 0 && px_load_acquire(&type_of[id]) == 0)
			open_id(id);
	}
}

static void want(uint32_t id)
{
	for (size_t i = 0; i < NR_WANTED; i++)
		if (px_read_once(&wanted[i]) == id || px_compare_exchange(&wanted[i], 0, id))
			return;
}

static trace_event_id_t find_type(const struct px_tx_event *event)
{
	trace_event_id_t type;

	if (event->id >= IDS)
		return TYPE_FAILED;
	type = px_load_acquire(&type_of[event->id]);
	/* A handler may have interrupted the C library, or this function: then it opens nothing. */
	if (event->nesting != 0 || is_opening) {
		if (type == 0)
			want(event->id);
		return type != 0 ? type : TYPE_FAILED;
	}
	if (px_read_once(&wanted[0]) != 0)
		open_wanted();
	return type != 0 ? type : open_id(event->id);
}

void px_tx_streams_record(const struct px_tx_event *event)
{
	int saved_errno = errno;
	trace_event_id_t type;
	uint32_t data[1 + WORDS] = {event->id};

	if (event->nesting == 0)
		px_tx_streams_prepare();
	type = find_type(event);
	if (type != TYPE_FAILED) {
		posix_trace_event(type, event->info, sizeof(event->info));
	} else {
		type = px_load_acquire(&type_any);
		memcpy(data + 1, event->info, sizeof(event->info));
		if (type != 0 && type != TYPE_FAILED)
			posix_trace_event(type, data, sizeof(data));
	}
	errno = saved_errno;
}

/* Return the type, opened at the first call. */
static trace_event_id_t find_object_type(trace_event_id_t *type, const char *name, const char *fields)
{
	trace_event_id_t found = px_load_acquire(type);

	if (found != 0)
		return found;
	is_opening = 1;
	found = open_type(name, fields);
	is_opening = 0;
	px_store_release(type, found);
	return found;
}

void px_tx_streams_register(const struct px_tx_object *object)
{
	struct {
		uint32_t handle, type, parameter[2];
		char name[PX_TX_NAME_SIZE];
	} data = {object->handle, object->type, {object->parameter[0], object->parameter[1]}, ""};
	int saved_errno = errno;
	trace_event_id_t type;

	if (is_opening || px_tx_self.nesting != 0)
		return;
	type = find_object_type(&type_register, REGISTER_NAME, REGISTER_FIELDS);
	memcpy(data.name, object->name, sizeof(data.name));
	if (type != TYPE_FAILED)
		posix_trace_event(type, &data, sizeof(data));
	errno = saved_errno;
}

void px_tx_streams_unregister(uint32_t handle)
{
	int saved_errno = errno;
	trace_event_id_t type;

	if (is_opening || px_tx_self.nesting != 0)
		return;
	type = find_object_type(&type_unregister, UNREGISTER_NAME, UNREGISTER_FIELDS);
	if (type != TYPE_FAILED)
		posix_trace_event(type, &handle, sizeof(handle));
	errno = saved_errno;
}
