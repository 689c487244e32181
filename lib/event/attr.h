/* SPDX-License-Identifier: MIT */
/*
 * The attributes object of a stream.  It has only plain values: no pointers, no resources.
 *
 * Setters store the values that they get.  At its creation, a stream rounds the sizes up and
 * reports the sizes that it really uses (ATTR-3).  The object is in the caller's memory
 * (trace_attr_t).  The functions check only its magic word, which px_attr_init() sets and
 * px_attr_destroy() clears.
 */
#ifndef PX_EVENT_ATTR_H
#define PX_EVENT_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

/* Maximum bytes of a name or version, with the null byte (AMB-10). */
#define PX_TRACE_NAME_MAX 63
#define PX_RINGS_MAX 1024		/* maximum number of rings of one stream */
#define PX_ATTR_DATA_SIZE_MAX (1 << 20) /* maximum of the attribute max-data-size (SETMDS-3) */

/*
 * The calls whose stacks are recorded: none, all, or those that waited at least as long as a bound.  Only calls that
 * the preloaded object records have stacks.
 */
#define PX_STACKS_NONE 0
#define PX_STACKS_ALL 0xFFFF
#define PX_STACKS_BOUND_MAX_US 32000
#define PX_STACKS_USUAL_US 20 /* a shorter wait is over before anyone would ask for its stack */
#define PX_STACK_BYTES 272 /* the data of an event with a stack of 32 frames (trace/unwind.h) */

enum px_full_policy {
	PX_POLICY_DEFAULT = 0, /* LOOP without a log, FLUSH with a log (INIT-8) */
	PX_POLICY_LOOP = 1,
	PX_POLICY_UNTIL_FULL = 2,
	PX_POLICY_FLUSH = 3,
	PX_POLICY_APPEND = 4
};

/* A time as all machines and all builds have it; the C library may have times of 32 bits. */
struct px_attr_time {
	int64_t s;
	int64_t ns;
};

struct px_attr {
	uint64_t magic;
	char version[PX_TRACE_NAME_MAX + 1];
	char name[PX_TRACE_NAME_MAX + 1];
	struct px_attr_time create_time; /* time of CLOCK_REALTIME; zero before a stream exists */
	struct px_attr_time clock_resolution;
	/* Bytes for records: as requested, or as guaranteed by the stream. */
	uint64_t stream_size;
	uint64_t max_data_size; /* maximum bytes of user data of an event */
	uint64_t log_size;	/* size of the log in bytes */
	uint32_t stream_policy; /* enum px_full_policy */
	uint32_t log_policy;
	/* Older logs have `inherited` and `nr_rings` in 32 bits, and the other members are 0 in them. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	uint8_t aggregates, grows, sched, inherited;
	uint16_t stacks, nr_rings;
#else
	uint8_t inherited;  /* 1: the stream also traces children of its target; 0: it does not */
	uint8_t sched;	    /* 1: the log has scheduling records */
	uint8_t grows;	    /* 1: rings get their memory when they need it */
	uint8_t aggregates; /* 1: calls that do not wait are counted (trace/counted.h) */
	uint16_t nr_rings;  /* 0: one ring for each CPU, and a shared ring if threads need one */
	uint16_t stacks;    /* PX_STACKS_NONE, PX_STACKS_ALL, or 1 + the bound in microseconds */
#endif
} __attribute__((may_alias)); /* the memory may be declared as a trace_attr_t */

/* Each log has these attributes in its header, and a log with another size of them cannot be read. */
_Static_assert(sizeof(struct px_attr) == 8 + 2 * (PX_TRACE_NAME_MAX + 1) +
						 2 * sizeof(struct px_attr_time) + 3 * 8 + 4 * 4,
	       "all logs have attributes of this size");

PX_INLINE struct px_attr_time px_attr_time_of(uint64_t ns)
{
	return (struct px_attr_time){.s = (int64_t)(ns / 1000000000), .ns = (int64_t)(ns % 1000000000)};
}

PX_INLINE struct timespec px_attr_timespec(const struct px_attr_time *time)
{
	return (struct timespec){.tv_sec = (time_t)time->s, .tv_nsec = (long)time->ns};
}

/* Set the defaults.  This cannot fail (INIT-5). */
void px_attr_init(struct px_attr *attr);

/* Make the object unusable until it is initialised again (DESTROY-3). */
void px_attr_destroy(struct px_attr *attr);

/* Return false for NULL, and for an object that was never initialised or was destroyed. */
bool px_attr_is_valid(const struct px_attr *attr);

/* Store at most PX_TRACE_NAME_MAX - 1 bytes of name and a null byte (SETNAME-2, SETNAME-3). */
void px_attr_set_name(struct px_attr *attr, const char *name);

#endif
