/* SPDX-License-Identifier: MIT */
#include "trace/calldata.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/number_names.h"
#include "trace/stack.h"
#include "trace/wait_status.h"

/*
 * In a live stream only the name of an event type identifies a call.  The program may have an event type of its own
 * with the same name.  So check the size too.
 */
bool calldata_is(struct source *source, const struct event *event)
{
	return (event->is_call || source->is_live) && event->size >= LAYOUT_BYTES && event->row;
}

/* Fields. */

static int64_t value_of(const unsigned char *data, size_t bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = (unsigned int)(64 - 8 * bytes);

	/* The data has the byte order of the machine that recorded it.  That is the byte order of this machine. */
	memcpy(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
		       (unsigned char *)&value :
		       (unsigned char *)&value + sizeof(value) - bytes,
	       data, bytes);
	value <<= shift;
	return is_signed ? (int64_t)value >> shift : (int64_t)(value >> shift);
}

/*
 * A result is 0 or an error number.  A result of kind q is the returned value; after an error, it is the negated error
 * number.
 */
static bool is_error(const struct call_field *field)
{
	if (strcmp(field->name, "result") != 0)
		return false;
	return field->kind == 'q' ? field->value < 0 && field->value > -4096 : field->value > 0;
}

/* Return the name of an error number, or of the result of a C11 function. */
static const char *error_name(const struct call_field *field)
{
	int error = (int)(field->value < 0 ? -field->value : field->value);

	const char *c11 = field->kind == 'c' ? calltable_c11_result(error) : NULL;

	return c11 ?: error_number_name(error) ?: "unknown error";
}

static const char *name_of_call(uint64_t number)
{
	const struct call_row *row = calltable_row((unsigned int)number);

	return row ? row->name : "unknown call";
}

static void show_number(struct call_field *field)
{
	uint64_t number = (uint64_t)field->value;

	field->is_number = field->kind != 'p' && field->kind != 'x' && field->kind != 'k';
	if (field->kind == 'k') {
		snprintf(field->text, sizeof(field->text), "%s", name_of_call(number));
	} else if (is_error(field)) {
		field->is_number = false;
		snprintf(field->text, sizeof(field->text), "%s", error_name(field));
	} else if (!field->is_number) {
		snprintf(field->text, sizeof(field->text), "0x%" PRIx64, number);
	} else {
		snprintf(field->text, sizeof(field->text), "%" PRId64, field->value);
	}
}

static void show_address(struct call_field *field, const unsigned char *data, size_t size)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	} address = {.any = {.sa_family = AF_UNSPEC}};
	char text[INET6_ADDRSTRLEN] = "?";

	memcpy(&address, data, size < sizeof(address) ? size : sizeof(address) - 1);
	if (address.any.sa_family == AF_INET && size >= sizeof(address.v4))
		snprintf(field->text, sizeof(field->text), "%s:%u",
			 inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof(text)),
			 ntohs(address.v4.sin_port));
	else if (address.any.sa_family == AF_INET6 && size >= sizeof(address.v6))
		snprintf(field->text, sizeof(field->text), "[%s]:%u",
			 inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof(text)),
			 ntohs(address.v6.sin6_port));
	else if (address.any.sa_family == AF_UNIX && size > sizeof(sa_family_t))
		snprintf(field->text, sizeof(field->text), "%s%.*s",
			 address.local.sun_path[0] ? "" : "@", (int)sizeof(address.local.sun_path),
			 address.local.sun_path + (address.local.sun_path[0] == '\0'));
	else
		snprintf(field->text, sizeof(field->text), "family %u", address.any.sa_family);
}

static void show_status(struct call_field *field)
{
	wait_status_text((int)field->value, field->text, sizeof(field->text));
}

/* A text ends at a null or at the end of the data. */
static void show_text(struct call_field *field, const unsigned char *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);

	if (length >= sizeof(field->text))
		length = sizeof(field->text) - 1;
	memcpy(field->text, data, length);
	field->text[length] = '\0';
}

/* If the text has no room for all functions, the outermost ones are missing. */
static void show_stack(struct call_field *field, struct source *source, const struct event *event)
{
	struct stack stack;
	size_t length;
	char *text;

	if (!stack_read(event, &stack))
		return;
	text = stack_fold(source_symbols(source), &stack);
	length = strlen(text);
	snprintf(field->text, sizeof(field->text), "%s",
		 length < sizeof(field->text) ? text : text + length - sizeof(field->text) + 1);
	free(text);
}

static void show(struct call_field *field, const unsigned char *data, size_t bytes)
{
	field->value = 0;
	field->is_number = false;
	if (field->kind == 's')
		show_text(field, data, bytes);
	else if (field->kind == 'a')
		show_address(field, data, bytes);
	else if (field->kind == 'f')
		field->text[0] = '\0'; /* calldata_at() */
	else
		field->value = value_of(data, bytes, strchr("dqec", field->kind) != NULL);
	if (field->kind == 'w')
		show_status(field);
	else if (field->kind == 'r')
		snprintf(field->text, sizeof(field->text), "%s", stack_cut((unsigned int)field->value) ?: "whole");
	else if (!strchr("saf", field->kind))
		show_number(field);
}

/*
 * Return the name of the object that the field identifies, or NULL if the name is unknown.  The first field may be the
 * object of the call.
 */
static const char *object_of(struct source *source, const struct event *event,
			     const struct call_field *field, bool is_first)
{
	const struct txtrace_object *object = NULL;

	if (source->is_live)
		return NULL;
	if (field->kind == 't' && field->value > 0)
		object = source_thread(source, (pid_t)field->value);
	else if (is_first && event->call.object != 0)
		object = source_object(source, event->call.object);
	else if (field->kind == 'p' && field->value != 0)
		object = source_object_at(source, event->pid, (uint64_t)field->value);
	return object ? object->name : NULL;
}

/* When a call begins to wait, its result is not yet known. */
static bool is_to_come(const struct event *event, const struct call_field *field)
{
	return event->is_call && event->call.phase == TXTRACE_CALL_BEGINS &&
	       strcmp(field->name, "result") == 0;
}

/*
 * `i` counts only the fields that have a value.  It skips words that the call does not use, and a result that is not
 * yet known.  Return false if the field is missing, for example in truncated data.
 */
bool calldata_at(struct source *source, const struct event *event, size_t i,
		 struct call_field *field)
{
	const struct call_row *call = event->row;
	const char *at = call ? call->fields : "";
	size_t offset = 0;

	for (size_t word = 0; *at; word++) {
		size_t length = strcspn(at, " "), bytes = calltable_field_bytes(call->layout, word, at[length - 1]);
		bool is_used = *at != '-';

		field->kind = at[length - 1];
		if (bytes == 0 && event->size > offset)
			bytes = event->size - offset;
		if (offset > event->size || bytes > event->size - offset)
			return false;
		if (is_used) {
			snprintf(field->name, sizeof(field->name), "%.*s", (int)length - 2, at);
			field->label = at;
			is_used = !is_to_come(event, field);
		}
		if (is_used && i-- == 0) {
			show(field, event->data + offset, bytes);
			if (field->kind == 'f')
				show_stack(field, source, event);
			field->object = object_of(source, event, field, word == 0);
			return true;
		}
		offset += bytes;
		at += length + (at[length] == ' ');
	}
	return false;
}

static const char *phase_of(const struct event *event)
{
	if (!event->is_call || event->call.phase == TXTRACE_CALL_WHOLE)
		return NULL;
	return event->call.phase == TXTRACE_CALL_BEGINS ? "begins" : "ends";
}

static const char wait_label[] = CALLDATA_WAIT;

bool calldata_get(struct source *source, const struct event *event, const char *name,
		  struct call_field *field)
{
	const char *phase = phase_of(event);

	for (size_t i = 0; calldata_at(source, event, i, field); i++)
		if (strcmp(field->name, name) == 0)
			return true;
	if (!phase || strcmp(name, CALLDATA_WAIT) != 0)
		return false;
	*field = (struct call_field){.name = CALLDATA_WAIT, .label = wait_label, .kind = 's'};
	strcpy(field->text, phase);
	return true;
}

/* All fields of a call. */

void calldata_print(struct text *text, struct source *source, const struct event *event)
{
	const char *phase = phase_of(event);
	struct call_field field;
	size_t i;

	for (i = 0; calldata_at(source, event, i, &field); i++) {
		const char *quote = strchr("sr", field.kind) ? "\"" : "";

		text_printf(text, "%s%s=%s", i > 0 ? " " : "", field.name, quote);
		text_plain(text, field.object ? field.object : field.text, 0);
		text_string(text, quote);
	}
	if (phase)
		text_printf(text, "%s" CALLDATA_WAIT "=%s", i > 0 ? " " : "", phase);
}

/* Print numbers as JSON numbers, so that a program can search for them.  The object name is a separate member. */
void calldata_json(struct text *text, struct source *source, const struct event *event)
{
	const char *phase = phase_of(event), *object = NULL;
	struct call_field field;
	size_t i;

	text_char(text, '{');
	for (i = 0; calldata_at(source, event, i, &field); i++) {
		text_printf(text, "%s\"%s\":", i > 0 ? "," : "", field.name);
		if (field.is_number)
			text_string(text, field.text);
		else
			text_json(text, field.text);
		object = i == 0 ? field.object : object;
	}
	if (object) {
		text_string(text, ",\"object\":");
		text_json(text, object);
	}
	if (phase)
		text_printf(text, "%s\"" CALLDATA_WAIT "\":\"%s\"", i > 0 ? "," : "", phase);
	text_char(text, '}');
}
