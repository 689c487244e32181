/* SPDX-License-Identifier: MIT */
/*
 * The parts that a wrapper needs: the pointers to the real functions, the test whether to record a call, and the
 * functions that record a call.
 *
 * A wrapper does not disturb the program.  It calls the real function once, with the program's arguments, and returns
 * its result and its errno.  On its usual path it takes no lock, allocates nothing and makes no system call of its own.
 * So if a signal handler may call the real function, it may also call the wrapper.  An exception or a cancellation may
 * unwind the stack through a wrapper, because the frame of a wrapper has nothing to clean up.
 *
 *	PX_WRAP int sem_trywait(sem_t *sem)
 *	{
 *		if (PX_NOT_TRACED(sem))
 *			return px_real.sem_trywait(sem);
 *		site = PX_SITE(sem_trywait, sem_trywait);
 *		sample = px_hook_begin();
 *		value = value_of(sem);
 *		result = PX_REAL(&sample, px_real.sem_trywait(sem));
 *		px_hook_record(site, PX_RECORD_WHOLE, sem, value, 0, result ? errno : 0);
 *		px_hook_end(&sample, site.wrapper);
 *		return result;
 *	}
 *
 * While the process is not traced, the wrapper costs two loads, a branch and a jump.  A constructor of the program may
 * run before our constructor.  The first call in it finds the gate open, and looks up all real functions.
 *
 * The wrappers, and the copy of the library in this object, call only real functions (direct.h).  So their own calls
 * are not recorded.
 */
#ifndef PX_PRELOAD_HOOK_H
#define PX_PRELOAD_HOOK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "real.h"
#include "trace/callpoint.h"

#define PX_WRAP __attribute__((visibility("default")))
#define PX_CALLER __builtin_return_address(0)

/* The groups of calls.  Each group is one bit.  TXTRACE_EVENTS turns groups on and off. */
enum px_group {
	PX_GROUP_thread = 1 << 0,
	PX_GROUP_mutex = 1 << 1,
	PX_GROUP_spin = 1 << 2,
	PX_GROUP_rwlock = 1 << 3,
	PX_GROUP_barrier = 1 << 4,
	PX_GROUP_once = 1 << 5,
	PX_GROUP_cond = 1 << 6,
	PX_GROUP_sem = 1 << 7,
	PX_GROUP_mq = 1 << 8,
	PX_GROUP_sleep = 1 << 9,
	PX_GROUP_process = 1 << 10,
	PX_GROUP_file = 1 << 11,
	PX_GROUP_stdio = 1 << 12,
	PX_GROUP_socket = 1 << 13,
	PX_GROUP_poll = 1 << 14,
	PX_GROUP_heap = 1 << 15,
	PX_GROUP_timer = 1 << 16,
	PX_GROUP_signal = 1 << 17,
	PX_GROUP_name = 1 << 18,
	PX_GROUP_futex = 1 << 19,
	PX_GROUP_READY = 1 << 30, /* px_hook_prepare() has found the real functions */
	PX_GROUPS_DEFAULT = (1 << 20) - 1 - PX_GROUP_heap - PX_GROUP_signal
};

/* The groups that are on.  This is 0 until px_hook_prepare() has found the real functions. */
extern uint32_t px_hook_groups __attribute__((visibility("hidden")));

/* Look up the real functions, unless they are already known. */
void px_hook_prepare(void);

/* Look up the real function if it is not known yet.  Some wrappers need it even while the process is not traced. */
#define PX_ENSURE_REAL(name)                                                                       \
	do {                                                                                       \
		if (px_unlikely(!px_real.name))                                                    \
			px_hook_prepare();                                                         \
	} while (0)

/* The real functions of wrappers that record nothing (process.c).  NULL: the C library has no such function. */
extern void *px_hook_real_clone __attribute__((visibility("hidden")));
extern void *px_hook_real_syscall __attribute__((visibility("hidden")));

#define PX_IDENTITY(name, parameters, arguments) int(*name) parameters;
#define PX_ALONE PX_IDENTITY
struct px_hook_identity {
#include "identity.def"
};
#undef PX_ALONE
#undef PX_IDENTITY

extern struct px_hook_identity px_hook_real_identity __attribute__((visibility("hidden")));

/*
 * True while this thread is in px_hook_prepare().  The wrappers of the heap then give it memory of their arena
 * (heap.c).
 */
extern __thread bool px_hook_is_preparing PX_TLS;

PX_INLINE bool px_hook_is_off(uint32_t group)
{
	uint32_t groups = px_read_once(&px_hook_groups);

	if (px_likely(groups & group))
		return false;
	if (px_unlikely(groups == 0))
		px_hook_prepare();
	return true;
}

/* Return true if one of these groups is on.  Wrappers of calls that belong to two groups use this function. */
PX_INLINE bool px_hook_is_on(uint32_t group)
{
	return (px_read_once(&px_hook_groups) & group) != 0;
}

#define PX_NOT_TRACED(group) (px_likely(!px_gate_is_open()) || px_hook_is_off(PX_GROUP_##group))

/*
 * Return true in a child of vfork().  The child uses the memory of its parent, and the parent's thread waits for the
 * child.  So a wrapper would record the calls of the child as calls of that thread.  This function makes a system call.
 * Use it only in wrappers of functions that a child of vfork() may call before exec.
 */
PX_INLINE bool px_in_vfork_child(void)
{
	uint32_t pid = px_read_once(&px_gate.self.pid);

	return pid != 0 && !px_is_confined() && pid != (uint32_t)syscall(SYS_getpid);
}

#define PX_NOT_TRACED_OR_VFORK(group) (PX_NOT_TRACED(group) || px_in_vfork_child())

/*
 * The cost of a wrapper, without the time of the real function, which PX_REAL() measures.  Each thread measures one of
 * 251 calls.  251 is a prime, so if a program repeats a few calls in turn, each of these calls is measured at some
 * time.
 */
#define PX_HOOK_SAMPLE_PERIOD 251

struct px_hook_sample {
	uint64_t since; /* 0: this call is not measured */
	uint64_t real;
};

extern __thread uint32_t px_hook_nr_unsampled PX_TLS;

/* Count a call.  Return true if this call should be measured. */
PX_INLINE bool px_hook_takes_sample(void)
{
	if (px_likely(++px_hook_nr_unsampled < PX_HOOK_SAMPLE_PERIOD))
		return false;
	px_hook_nr_unsampled = 0;
	return true;
}

PX_INLINE struct px_hook_sample px_hook_measure(void)
{
	return (struct px_hook_sample){.since = px_callpoint_clock()};
}

PX_INLINE struct px_hook_sample px_hook_begin(void)
{
	struct px_hook_sample sample = {0, 0};

	if (px_hook_takes_sample())
		sample = px_hook_measure();
	return sample;
}

PX_INLINE bool px_hook_is_measured(const struct px_hook_sample *sample)
{
	return sample && px_unlikely(sample->since != 0);
}

PX_INLINE void px_hook_end(const struct px_hook_sample *sample, uint32_t wrapper)
{
	if (px_hook_is_measured(sample))
		px_callpoint_cost(wrapper, px_callpoint_clock() - sample->since - sample->real);
}

/* Call the real function.  sample is NULL if the call is not measured. */
#define PX_REAL(sample, call)                                                                      \
	({                                                                                         \
		__typeof__(call) px_result_;                                                       \
		if (px_hook_is_measured(sample))                                                   \
			(sample)->real -= px_callpoint_clock();                                    \
		px_result_ = (call);                                                               \
		if (px_hook_is_measured(sample))                                                   \
			(sample)->real += px_callpoint_clock();                                    \
		px_result_;                                                                        \
	})

/*
 * A call in progress: the number of the wrapper (enum px_wrapper, or enum px_no_wrapper), the call in the event, and
 * the return address in the program.  In inlined functions, the compiler knows the members of this structure as
 * constants.
 */
struct px_site {
	uint32_t wrapper;
	enum px_call call;
	void *caller;
};

/*
 * The site of the wrapper of `symbol`.  The event shows the call `recorded` (calls.def).  Use this macro in the wrapper
 * itself, because the macro takes the return address.  Use it after PX_NOT_TRACED().  Otherwise the compiler would save
 * registers even while nothing is traced.
 */
#define PX_SITE(symbol, recorded)                                                                  \
	((struct px_site){PX_WRAPPER_OF(symbol), PX_CALL_##recorded, PX_CALLER})

/* The site of an event without a wrapper, from enum px_no_wrapper. */
#define PX_SITE_WITHOUT_WRAPPER(number, recorded, address)                                         \
	((struct px_site){PX_NO_WRAPPER_##number, PX_CALL_##recorded, address})

_Static_assert((int)PX_WRAPPERS <= (int)PX_NO_WRAPPER_FIRST,
	       "the last numbers are for events without a wrapper");

/*
 * Record a call.  There is one function for each layout of the data (calls.h).  All wrappers use these functions.  For
 * a call that does not wait, flags is PX_RECORD_WHOLE.  A call that waits has two events: flags is PX_RECORD_BEGINS for
 * the first event, and PX_RECORD_ENDS for the second.  The flags of the last event may also have
 * PX_RECORD_ENDS_WITH_EXEC.  The functions keep errno.
 */
#define PX_RECORD_WHOLE 0

/* Record a call with the layout WORDS. */
PX_INLINE void px_hook_record_words(struct px_site site, uint32_t flags, uint64_t first,
				    uint64_t second)
{
	px_callpoint(site.wrapper, PX_CALL_AT(site.call, flags), first, second, site.caller);
}

/* Record a call with the layout OBJECT. */
PX_INLINE void px_hook_record(struct px_site site, uint32_t flags, const volatile void *object,
			      uint32_t value, uint32_t count, int result)
{
	px_hook_record_words(
		site, flags, (uint64_t)(uintptr_t)object,
		px_pair_of(value, (uint32_t)(count & 0xFFFF) | (uint32_t)result << 16));
}

/* Record a call with the layout FD. */
PX_INLINE void px_hook_record_fd(struct px_site site, uint32_t flags, int fd, uint32_t value,
				 int64_t result)
{
	px_hook_record_words(site, flags, px_pair_of((uint32_t)fd, value), (uint64_t)result);
}

/* Record a call with more than 16 bytes of data: union px_call_data and the data after it. */
PX_INLINE void px_hook_record_long(struct px_site site, uint32_t flags, const void *data,
				   size_t length)
{
	px_callpoint_long(site.wrapper, PX_CALL_AT(site.call, flags), data, length, site.caller);
}

/*
 * The body of a wrapper that calls the real function and then records one event.  The macro declares a variable with
 * the name `result`, which has the value of `real`.  The expression `record` may use this variable, and the macro
 * returns it.
 *
 *	return PX_CALL_AND_RECORD(site, result, px_real.pthread_detach(thread),
 *				  px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, 0, 0, result));
 *
 * For calls on descriptors, PX_FD_CALL() and PX_FD_CALL_WAITS() do the same (wrap/descriptor.h).
 */
#define PX_CALL_AND_RECORD(site, result, real, record)                                             \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		__typeof__(real) result = PX_REAL(&sample_, real);                                 \
		record;                                                                            \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result;                                                                            \
	})

#endif
