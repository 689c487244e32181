/* SPDX-License-Identifier: MIT */
/* The table has no pointers, as in calls.c. */
#include "event/call_fields.h"

#include <stdio.h>
#include <string.h>

struct fields {
#define PX_CALL(name, group, layout, object, native, state, info1, info2, info3, info4, fields) \
	char of_##name[sizeof(fields)];
#include "event/calls.def"
};

static const struct fields fields = {
#define PX_CALL(name, group, layout, object, native, state, info1, info2, info3, info4, fields) .of_##name = fields,
#include "event/calls.def"
};

static const uint16_t offset[PX_CALLS] = {
#define PX_CALL(name, ...) offsetof(struct fields, of_##name),
#include "event/calls.def"
};

_Static_assert(sizeof(struct fields) <= UINT16_MAX, "offsets have 16 bits");

/* Return the size of word i of a layout; 0: the kind of the field says its size. */
static unsigned int bytes_of_word(unsigned int layout, unsigned int i)
{
	static const uint8_t bytes[][4] = {
#define PX_CALL_LAYOUT(name, ...) [PX_LAYOUT_##name] = {__VA_ARGS__},
#include "event/calls.def"
	};

	return i < 4 ? bytes[layout][i] : 0;
}

static void set_kind(struct px_call_field *field, char kind)
{
	field->kind = kind;
	switch (kind) {
#define PX_FIELD_KIND(kind, size, rest) \
	case kind:                      \
		field->bytes = size;    \
		field->is_rest = rest;  \
		break;
#include "event/calls.def"
	default: /* '-', which has the size of its word */
		break;
	}
}

static const char *type_of(char kind, unsigned int bytes)
{
	static const char *const with_sign[] = {"i8", "i16", "i32", "i64"};
	static const char *const without[] = {"u8", "u16", "u32", "u64"};
	unsigned int i = bytes == 8 ? 3 : bytes / 2;

	if (kind == 's')
		return "char";
	if (strchr("pf", kind) && bytes == 8)
		return "ptr";
	return (strchr("dqect", kind) ? with_sign : without)[i];
}

bool px_call_next_field(enum px_call call, unsigned int i, const char **place, struct px_call_field *field)
{
	const char *at = *place ? *place : (const char *)&fields + offset[call];
	size_t word = strcspn(at, " ");
	unsigned int bytes;

	if (*at == '\0')
		return false;
	bytes = bytes_of_word(px_calls[call].layout, i);
	*field = (struct px_call_field){.name = at, .name_length = word - (*at != '-' ? 2 : 0)};
	set_kind(field, at[word - 1]);
	if (bytes > 0)
		field->bytes = bytes;
	*place = at + word + (at[word] == ' ');
	return true;
}

size_t px_call_fields(enum px_call call, char text[PX_CALL_FIELDS_MAX + 1])
{
	struct px_call_field field;
	const char *place = NULL;
	size_t length = 0;
	bool is_any = false;

	text[0] = '\0';
	for (unsigned int i = 0; px_call_next_field(call, i, &place, &field); i++) {
		int more;

		if (*field.name == '-')
			more = snprintf(text + length, PX_CALL_FIELDS_MAX + 1 - length, "pad %u; ", field.bytes);
		else
			more = snprintf(text + length, PX_CALL_FIELDS_MAX + 1 - length, "%s %.*s%s; ",
					type_of(field.kind, field.bytes), (int)field.name_length, field.name,
					field.is_rest ? "[]" : "");
		is_any |= *field.name != '-';
		length += (size_t)more;
		if (length > PX_CALL_FIELDS_MAX)
			return 0;
	}
	return is_any ? length : 0;
}

#define SCHED_STATE \
	"enum : u32 { unknown, running, ready, blocked, ended, runnable } state"

const char *px_system_fields(unsigned int id)
{
	switch (id) {
	case PX_EVENT_STOP:
		return "i32 auto";
	case PX_EVENT_ERROR:
		return "i32 error";
	case PX_EVENT_SWITCH_IN:
	case PX_EVENT_SWITCH_OUT:
		return "i32 tid; i32 pid; u32 cpu; " SCHED_STATE;
	case PX_EVENT_SCHED_THREAD:
		return "i32 tid; i32 pid; u32 cpu; " SCHED_STATE "; char name[16]";
	case PX_EVENT_SCHED_GAP:
		return "u64 lost; u32 cpu; enum : u32 { begins, ends } phase";
	case PX_EVENT_SCHED_STOP:
		return "enum : i32 { stopped, controller, cpus } reason";
	case PX_EVENT_CPU_TIME:
		return "i32 tid; i32 pid; u64 ran_ns; u64 ready_ns; char name[16]";
	default:
		return NULL;
	}
}
