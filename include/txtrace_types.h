/* SPDX-License-Identifier: MIT */
/*
 * <txtrace_types.h>: descriptions of the data of event types, and of spans.  <trace_ext.h> includes this file.
 *
 * All functions are thread-safe.  Those with a result return 0 or an error number.
 */
#ifndef _TXTRACE_TYPES_H
#define _TXTRACE_TYPES_H

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Descriptions of event types.
 *
 * A description says which fields the data of an event type have, so that readers show `id=7 load=0.5` instead of
 * bytes.  It is a list of declarations in one of two forms (txtrace-types(7) has the grammar and the limits):
 *
 *	"u32 id; pad 4; f64 load; char name[24]"	nothing is aligned
 *	"uint32_t id; double load; char name[24];"	as the compiler lays out the members of a structure
 *
 * or the name of a type of the program, such as "struct order", which a reader may find in the debugging information.
 * txtrace shows such data as bytes.
 *
 * txtrace_describe_type() describes a type that this process has opened with posix_trace_eventid_open().  It works
 * before, during and after a trace.  The description belongs to the name, as the identifier does: it is in the logs of
 * all streams that trace this process, controllers of other processes find it, and so do children and the programs that
 * the process executes.  txtrace_trid_describe_type() describes a type in one active stream, for its controller.
 *
 * Return 0, also if the type already has the same description.  EEXIST: it has another one, which stays.  EINVAL: the
 * description is wrong, event is not a type of user events that was opened, trid is not an active stream of this
 * process, or description is NULL.  ENOSPC: the descriptions of all types and spans have more than 32768 bytes.
 * ENOMEM.
 */
int txtrace_describe_type(trace_event_id_t __event, const char *__description);
int txtrace_trid_describe_type(trace_id_t __trid, trace_event_id_t __event,
			       const char *__description);

/* Describe an event type by the name of a type of the program: TXTRACE_TYPE(id, struct order). */
#define TXTRACE_TYPE(event, type) ((void)sizeof(type), txtrace_describe_type((event), #type))

/*
 * Check a description.  Return 0, with *column 0, or EINVAL with the column of the mistake in *column, counted in bytes
 * from 1, and a constant text about it in *mistake.  mistake may be NULL.  EINVAL with *column unchanged: a pointer is
 * NULL.  ENOMEM.
 */
int txtrace_describe_check(const char *__posix_trace_restrict __description,
			   size_t *__posix_trace_restrict __column,
			   const char **__posix_trace_restrict __mistake);

/*
 * Get the description of an event type of an active stream or of a log.  The text has no terminating null.  Store its
 * length in *length; 0: the type has no description.  buffer may be NULL if size is 0.  ENOSPC: size is less than
 * *length; nothing is copied.  EINVAL: trid is not a stream of this process, it has no such type, or a pointer is NULL.
 */
int txtrace_get_type_description(trace_id_t __trid, trace_event_id_t __event, char *__buffer,
				 size_t __size, size_t *__length);

/*
 * Describe a span: the time from an event of the type begin to a later event of the type end.  field is the path of a
 * field in the data of both types, such as "id": events with the same value belong together.  NULL: events of one
 * thread belong together.  This process has opened both types with posix_trace_eventid_open().
 *
 * The span is kept where the descriptions of types are, under its name, which becomes a type of user events.  No event
 * should have this type.  txtrace report --spans shows how long spans take.
 *
 * Return 0, also if the span is described in the same way.  EEXIST: the name has another description.  EINVAL: begin or
 * end is no type of user events that was opened, name is NULL, empty or the name of one of them, or field is no path.
 * ENAMETOOLONG.  ENOSPC: there are too many types, or descriptions.  ENOMEM.
 */
int txtrace_describe_span(const char *__name, trace_event_id_t __begin, trace_event_id_t __end,
			  const char *__field);

/*
 * The layout of the data of an event type.  The fields are in the order of the description.  A structure is followed by
 * its members, which have a greater depth than the structure.  The members of a structure without a name have no
 * structure of their own in the list, they belong to the one around it.
 */
enum txtrace_field_kind {
	TXTRACE_FIELD_UNSIGNED = 0,
	TXTRACE_FIELD_SIGNED = 1,
	TXTRACE_FIELD_FLOAT = 2, /* IEEE 754; more than 8 bytes: the long double of this machine */
	TXTRACE_FIELD_BOOL = 3,
	TXTRACE_FIELD_CHAR = 4, /* a character.  The last dimension of an array is a text, up to its first null byte */
	TXTRACE_FIELD_POINTER = 5,
	TXTRACE_FIELD_ENUM = 6,
	TXTRACE_FIELD_STRUCT = 7 /* also a union */
};

#define TXTRACE_FIELD_DIMS 4

struct txtrace_enum_name {
	const char *name;
	long long value;
};

struct txtrace_field {
	const char *name;
	int kind;
	unsigned int depth;   /* 0: a member of the data */
	unsigned int bit;     /* where it begins, in bits from the beginning of the structure around it */
	unsigned int bits;    /* width of a bit-field, numbered as its bytes are ordered; 0: it is no bit-field */
	unsigned int size;    /* bytes of one element */
	unsigned int nr_dims; /* 0: it is no array */
	unsigned int dim[TXTRACE_FIELD_DIMS]; /* the first 0: as many elements as the rest of the data has whole */
	unsigned int nr_names;		      /* of an enum */
	int is_signed;			      /* of an enum: its numbers have a sign */
	const struct txtrace_enum_name *names;
	unsigned int nr_members; /* of a structure: how many of the next fields are in it, at any depth */
	unsigned int __reserved[3];
};

struct txtrace_layout {
	const struct txtrace_field *field;
	unsigned int nr_fields;
	unsigned int size; /* bytes of the data, without an array that takes their rest */
	int is_big;	   /* 1: the highest byte of a number comes first */
	int is_rest;	   /* 1: the last field is an array that takes the rest of the data */
	unsigned int __reserved[4];
};

/*
 * Get the layout of a user event with a description, of a recorded call, or of a system event with data, in an active
 * stream or a pre-recorded one.  Free it with txtrace_free_layout(), which takes NULL, too.  It stays valid after
 * the end of the stream.  The data of an event may be shorter than its layout; then it lacks the last fields.
 *
 * A field `result` of a call means nothing in an event that begins a wait (TXTRACE_CALL_BEGINS).
 *
 * ENOENT: the type has no description, or one that only names a type of the program, or the description of a span, or
 * it has a long double of another kind of machine.
 * EINVAL: trid is not a stream of this process, it has no such type, or layout is NULL.  ENOMEM.
 */
int txtrace_get_layout(trace_id_t __trid, trace_event_id_t __event, struct txtrace_layout **__layout);
void txtrace_free_layout(struct txtrace_layout *__layout);

#ifdef __cplusplus
}
#endif

#endif
