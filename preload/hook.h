/* SPDX-License-Identifier: MIT */
/*
 * What every wrapper stands on: the real functions, whether a call is to be recorded, and how.
 *
 * A wrapper is never in the way.  It calls the real function with the arguments it got, once, and returns what that
 * returned, errno too.  It takes no lock, allocates nothing and makes no system call of its own on its usual way; so
 * where the real function may be called in a signal handler, the wrapper may.  Nothing of it is on a stack that an
 * exception or a cancellation unwinds.
 *
 *	PX_WRAP int sem_post(sem_t *sem)
 *	{
 *		if (PX_NOT_TRACED(sem))
 *			return px_real.sem_post(sem);
 *		return traced_post(sem, PX_CALLER);
 *	}
 *
 * While nothing is traced this is two loads, a branch and a jump.  In a program whose other constructors run ahead of
 * ours, the first call finds the gate open, and looks up all real functions.
 *
 * The library inside this object, and the wrappers themselves, call real functions only (direct.h), so nothing that
 * they do is recorded.
 */
#ifndef PX_PRELOAD_HOOK_H
#define PX_PRELOAD_HOOK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"
#include "trace/callpoint.h"

#define PX_WRAP __attribute__((visibility("default")))
#define PX_CALLER __builtin_return_address(0)

/* Groups of calls, which TXTRACE_EVENTS turns on and off: bits. */
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
	PX_GROUP_READY = 1 << 30, /* the real functions are known */
	PX_GROUPS_DEFAULT = (1 << 19) - 1 - PX_GROUP_heap - PX_GROUP_signal
};

/* Those that are on; 0 until the real functions are known. */
extern uint32_t px_hook_groups __attribute__((visibility("hidden")));

/* Look the real functions up, unless that was done. */
void px_hook_prepare(void);

/* They are wrapped, but record nothing (process.c).  NULL: there is none. */
extern void *px_hook_real_vfork __attribute__((visibility("hidden")));
extern void *px_hook_real_clone __attribute__((visibility("hidden")));

/* This thread is at that: what it allocates then is for the C library's own use (heap.c). */
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

/* Where a call is of two groups: whether this one is on. */
PX_INLINE bool px_hook_is_on(uint32_t group)
{
	return (px_read_once(&px_hook_groups) & group) != 0;
}

#define PX_NOT_TRACED(group) (px_likely(!px_gate_is_open()) || px_hook_is_off(PX_GROUP_##group))

/*
 * True in a child of vfork: it has the memory of a thread that waits for it, and nothing that it would record is that
 * thread's.  A system call: so it is asked where such a child, as a rule, does something ahead of exec.
 */
PX_INLINE bool px_in_vfork_child(void)
{
	uint32_t pid = px_read_once(&px_gate.self.pid);

	return pid != 0 && pid != (uint32_t)syscall(SYS_getpid);
}

#define PX_NOT_TRACED_OR_VFORK(group) (PX_NOT_TRACED(group) || px_in_vfork_child())

/*
 * What a call costs beyond the real function: measured of each 251st of a thread's, a prime, so that it is each call's
 * turn in programs that always do the same few in turn.  The real function stands in PX_REAL().
 */
#define PX_HOOK_SAMPLE_PERIOD 251

struct px_hook_sample {
	uint64_t since; /* 0: this one is not measured */
	uint64_t real;
};

extern __thread uint32_t px_hook_nr_unsampled PX_TLS;

/* True: this call's turn has come. */
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

/* sample: NULL where it is known that this call is not measured. */
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
 * A call in progress: the number of the wrapper (enum px_wrapper, or enum px_no_wrapper), the call that it is recorded
 * as, and the address in the program that it returns to.  Where functions that take it are inlined it costs nothing.
 */
struct px_site {
	uint32_t wrapper;
	enum px_call call;
	void *caller;
};

/* The site in a wrapper itself, of `symbol`, whose call is recorded as `recorded` (calls.def). */
#define PX_SITE(symbol, recorded)                                                                  \
	((struct px_site){PX_WRAPPER_##symbol, PX_CALL_##recorded, PX_CALLER})

/* The site of an event that no wrapper records. */
#define PX_SITE_WITHOUT_WRAPPER(number, recorded, address)                                         \
	((struct px_site){PX_NO_WRAPPER_##number, PX_CALL_##recorded, address})

_Static_assert((int)PX_WRAPPERS <= (int)PX_NO_WRAPPER_FIRST, "the last ones are no wrappers'");

/*
 * Record a call.  All wrappers do it by these functions, one for each layout of the data (calls.h).
 * flags: PX_RECORD_WHOLE, PX_RECORD_BEGINS or PX_RECORD_ENDS.  They keep errno.
 */
#define PX_RECORD_WHOLE 0

/* The layout WORDS. */
PX_INLINE void px_hook_record_words(struct px_site site, uint32_t flags, uint64_t first,
				    uint64_t second)
{
	px_callpoint(site.wrapper, PX_CALL_AT(site.call, flags), first, second, site.caller);
}

/* The layout OBJECT. */
PX_INLINE void px_hook_record(struct px_site site, uint32_t flags, const volatile void *object,
			      uint32_t value, uint32_t count, int result)
{
	px_hook_record_words(
		site, flags, (uint64_t)(uintptr_t)object,
		px_pair_of(value, (uint32_t)(count & 0xFFFF) | (uint32_t)result << 16));
}

/* The layout FD. */
PX_INLINE void px_hook_record_fd(struct px_site site, uint32_t flags, int fd, uint32_t value,
				 int64_t result)
{
	px_hook_record_words(site, flags, px_pair_of((uint32_t)fd, value), (uint64_t)result);
}

/* More than 16 bytes: union px_call_data, and what follows it. */
PX_INLINE void px_hook_record_long(struct px_site site, uint32_t flags, const void *data,
				   size_t length)
{
	px_callpoint_long(site.wrapper, PX_CALL_AT(site.call, flags), data, length, site.caller);
}

/*
 * The body of a wrapper that calls the real function and then records one event.  The macro declares `result`, which
 * is what `real` returned; `record` may use it.  The macro's value is `result`.
 *
 *	return PX_CALL_AND_RECORD(site, result, px_real.pthread_detach(thread),
 *				  px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, 0, 0, result));
 *
 * PX_FD_CALL() and PX_FD_CALL_WAITS() of wrap/descriptor.h do the same for calls on descriptors.
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
