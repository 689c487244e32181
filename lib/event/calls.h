/* SPDX-License-Identifier: MIT */
/*
 * Calls of an unmodified program as events.  The facts come from calls.def.  One part of the code
 * uses them to record calls, another part to show calls as ThreadX would record them.
 *
 * The event types of calls have fixed ids and predefined names.  A program need not open them, and they do not reduce
 * the number of types that it can open.  If a program opens an event type with such a name, it gets the id of the call.
 * If it then records events with this id, these events have the program's own data, and do not have the flag
 * PX_RECORD_CALL.
 *
 * A call that did not wait is one event, which its thread records at the end of the call.  A call
 * that waits is two events of the same type.  The thread records the first event when the call
 * starts to wait (PX_RECORD_BEGINS).  This event has the state of the object at that time, and its
 * result means nothing.  The thread records the second event at the end of the call
 * (PX_RECORD_ENDS).  If the thread is cancelled in the call, or leaves it by longjmp, there is only
 * the first event.
 *
 * Kinds of fields in calls.def:
 *
 *	p	64 bits, shown in hex
 *	n	64 bits, nanoseconds
 *	q	64 bits with a sign
 *	d	32 bits with a sign
 *	u	32 bits without a sign
 *	x	32 bits, shown in hex
 *	t	32 bits, a thread id
 *	h	16 bits
 *	e	16 bits, an error number
 *	w	32 bits, the status of a child as from wait()
 *	k	16 bits, a call (enum px_call), shown as its name
 *	c	16 bits, an error number, shown as the return value of a C11 function
 *	s	text up to the end of the data
 *	a	the address of a socket; for accept and connect perhaps also that of its own end
 *	r	16 bits, why a stack ends (enum px_unwind_end)
 *	f	code addresses of 64 bits, up to the end of the data
 *	-	a field that the call does not use
 *
 * In fork and in the txtrace_process_start of a child of fork(), the second field is not shown: it has the low 32 bits
 * of the ticks when the parent called fork(), without the last PX_FORK_TICKS_SHIFT bits.  0: not known; and if it is 0
 * in txtrace_process_start, the process has executed a program.  Then the third field, which is not shown either, has
 * px_call_hash_path() of the path that it executed.
 *
 * The fields of the layout OBJECT have 64, 32, 16 and 16 bits.  The fields of FD have 32, 32 and 64
 * bits.  Each of the two fields of WORDS has 64 bits.  Further fields follow without padding.
 */
#ifndef PX_EVENT_CALLS_H
#define PX_EVENT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/eventset.h"
#include "txtb/txtb.h"

enum px_call {
#define PX_CALL(name, ...) PX_CALL_##name,
#include "event/calls.def"
	PX_CALLS
};

_Static_assert(PX_EVENT_CALL_FIRST + PX_CALLS <= PX_EVENT_IDS, "each has an id");

PX_INLINE unsigned int px_call_event(enum px_call call)
{
	return PX_EVENT_CALL_FIRST + (unsigned int)call;
}

/*
 * Convert the id of an event type to the call that has this event type.  Return false if the id is not the id of a
 * call.
 */
PX_INLINE bool px_call_of_event(unsigned int id, enum px_call *call)
{
	*call = (enum px_call)(id - PX_EVENT_CALL_FIRST);
	return id >= PX_EVENT_CALL_FIRST && id < PX_EVENT_CALL_FIRST + PX_CALLS;
}

/* Return true for the stack of a call.  Many events have the same stack. */
PX_INLINE bool px_call_is_stack(unsigned int id)
{
	return id == px_call_event(PX_CALL_txtrace_stack);
}

/*
 * What a parent opened in the same interval as its fork() is not known in the child.  So the interval is shorter than
 * a system call, but 2^32 intervals are more than a minute.  A tick of aarch64 takes from 1 to 52 ns, another one less
 * than 1 ns, or 1 ns where the clock is that of the system.
 */
#ifdef __aarch64__
#define PX_FORK_TICKS_SHIFT 4
#else
#define PX_FORK_TICKS_SHIFT 8
#endif

enum px_call_layout { PX_LAYOUT_OBJECT, PX_LAYOUT_FD, PX_LAYOUT_WORDS };

/* The contents of an information word. */
enum px_call_info {
	PX_INFO_ZERO,
	PX_INFO_ONE,
	PX_INFO_FOREVER, /* 0xFFFFFFFF: ThreadX's option to wait forever */
	PX_INFO_SELF,	 /* the handle of the calling thread */
	PX_INFO_OBJECT,	 /* the handle of the object */
	PX_INFO_VALUE,	 /* VALUE, COUNT, RESULT: the field of that name in the layout */
	PX_INFO_COUNT,
	PX_INFO_RESULT,
	PX_INFO_THREAD, /* the handle of the thread with the value as its tid; 0: none */
	PX_INFO_NEXT,	/* the handle of the thread that runs next */
	PX_INFO_POOL,	/* the handle of the heap of the process */
	/* LOW_FIRST, LOW_SECOND: the low half of the first or second word of the data. */
	PX_INFO_LOW_FIRST,
	PX_INFO_LOW_SECOND
};

/* What a call that may be counted does to its object. */
enum px_counted {
	PX_COUNTED_NOT,	    /* the call is not in the list */
	PX_COUNTED_NEITHER, /* neither takes nor gives back a lock */
	PX_COUNTED_TAKES,
	PX_COUNTED_SPINS, /* takes a lock.  If the value is not 0, the thread had to wait */
	PX_COUNTED_GIVES,
	PX_COUNTED_RUNS /* if the value is not 0, the call ran a function of the program */
};

#define PX_CALL_OBJECT_NONE 0
/* A TCP or UDP socket.  The translator finds out from the earlier socket() call which of the two it is. */
#define PX_CALL_OBJECT_SOCKET PX_TXTB_TCP_SOCKET

struct px_call_facts {
	uint16_t native;
	uint8_t layout; /* enum px_call_layout */
	uint8_t object; /* enum px_txtb_object_type, or PX_CALL_OBJECT_... */
	uint8_t state;
	uint8_t info[4]; /* enum px_call_info */
};

extern const struct px_call_facts px_calls[PX_CALLS] __attribute__((visibility("hidden")));

extern const uint8_t px_calls_counted[PX_CALLS] __attribute__((visibility("hidden"))); /* enum px_counted */

#define PX_CALL_PATH_MAX 256 /* bytes of a path in an event */

/*
 * A hash of the path in an execve event, and of the one that a program was executed by: the upper half is of the whole
 * path, the lower half is of what is after its last '/'.  It is not 0.  execvp() finds a program by a name without '/'.
 */
PX_INLINE uint64_t px_call_hash_path(const char *path, size_t length)
{
	uint32_t whole = 2166136261U, last = whole; /* FNV-1a */

	for (size_t i = 0; i < length; i++) {
		whole = (whole ^ (unsigned char)path[i]) * 16777619U;
		last = path[i] == '/' ? 2166136261U : (last ^ (unsigned char)path[i]) * 16777619U;
	}
	return (uint64_t)(whole | 1) << 32 | last;
}

/* Return the name of the event type.  Async-signal-safe. */
const char *px_call_name(enum px_call call);

/* The first 16 bytes of the data of a call. */
union px_call_data {
	uint64_t words[2];
	struct {
		uint64_t object;
		uint32_t value;
		uint16_t count;
		int16_t result;
	} of_object;
	struct {
		int32_t fd;
		uint32_t value;
		int64_t result;
	} of_fd;
};

_Static_assert(sizeof(union px_call_data) == 16, "one slot");

/* The data of the event type txtrace_calls.  In `head`, value is the number of calls, and count is the call. */
struct px_call_counted {
	union px_call_data head;
	uint64_t first_ns, last_ns;
	uint32_t tid;
	uint32_t is_nested; /* 1: the calls took a mutex that the thread had already */
};

#endif
