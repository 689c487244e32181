/* SPDX-License-Identifier: MIT */
/*
 * Programs that keep their own account of what they do, for check.py to compare with what txtrace shows of them.
 *
 * Each thread notes its calls: the time before and after, in CLOCK_MONOTONIC.  If another thread has seen that the
 * thread slept in the call, the account also has a period in which it certainly slept.  At the end, the program prints
 * the account: see oracle_report().
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ORACLE_CALLS 2048

struct oracle_call {
	const char *service;
	const volatile void *object;
	int64_t begin_ns;
	_Atomic int64_t end_ns;			   /* 0 while the thread is in the call */
	_Atomic int64_t asleep_ns, awake_ns; /* in this period the thread certainly slept; 0: not known */
};

struct oracle_thread {
	const char *name;
	int tid;
	int64_t worked_ns;   /* 0: not known */
	int64_t ran_least_ns, ran_most_ns; /* 0: not known */
	atomic_int nr_calls; /* the last one may be unfinished */
	struct oracle_call call[ORACLE_CALLS];
};

/* The calling thread has an account from now on.  The name is also the name of the thread in the trace. */
void oracle_thread(const char *name);

/* In a child after fork(): forget the account of the parent. */
void oracle_forked(void);

/* Note a call, and return its result.  `service` is the name of the function, `object` its object or NULL. */
#define ORACLE_CALL(service, object, call)                                                         \
	({                                                                                         \
		struct oracle_call *call_ = oracle_begin(#service, (object));                      \
		__typeof__(call) result_ = (call);                                                 \
		oracle_end(call_);                                                                 \
		result_;                                                                           \
	})
struct oracle_call *oracle_begin(const char *service, const volatile void *object);
void oracle_end(struct oracle_call *call);

/* The usual calls. */
#define LOCK(mutex) ORACLE_CALL(pthread_mutex_lock, mutex, pthread_mutex_lock(mutex))
#define UNLOCK(mutex) ORACLE_CALL(pthread_mutex_unlock, mutex, pthread_mutex_unlock(mutex))
#define POST(semaphore) ORACLE_CALL(sem_post, semaphore, sem_post(semaphore))
#define WAIT(semaphore) ORACLE_CALL(sem_wait, semaphore, sem_wait(semaphore))
#define SLEEP_US(us) ORACLE_CALL(usleep, NULL, usleep(us))

/* Return when the thread with this name sleeps in a call with this object, and note that it does. */
void oracle_await_sleep(const char *name, const volatile void *object);

/* Call this before the call that wakes up a thread which oracle_await_sleep() was called for. */
void oracle_wakes(const char *name);

/* For another process than that of the account: the time of the account, and if a thread of any process sleeps. */
int64_t oracle_now(void);
bool oracle_sleeps(int tid);

/* The calling thread certainly slept in its last call from one time to another. */
void oracle_slept(int64_t asleep_ns, int64_t awake_ns);

/*
 * Use the CPU for about this time.  The account has the part in which the thread certainly had the CPU: not the time in
 * which it was switched. The kernel counts more of a switch than its records show, above all if the host of a virtual
 * machine takes the processor away in it.
 */
void oracle_work(int64_t ns);

/*
 * The thread with this name ran for at least and at most so long.  The execution profile gives the time between two
 * events on a CPU to the thread of the first one.
 */
void oracle_ran(const char *name, int64_t least_ns, int64_t most_ns);

/* Let the account of an object have its name. */
void oracle_object(const volatile void *object, const char *name);

/* The calls of this function without an object in the account wait for an object with this name in the trace. */
void oracle_waits_for(const char *service, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* No thread held or waited for the object longer than this in one call of it. */
void oracle_longest(const volatile void *object, int64_t ns);

/*
 * The tool says, or does not say, this when it is called with this command: a regular expression of Python.  In the
 * command `why THREAD@OBJECT`, the time is one at which the thread certainly slept in a call with this object.
 */
void oracle_says(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
void oracle_says_not(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A process, as wait() tells of its end: "exit 3" or "SIGKILL".  command is "" if it executed no program. */
void oracle_process(int pid, int parent, const char *status, const char *command);

/*
 * Print the account with one write():
 *
 *	process PID<tab>PARENT<tab>STATUS<tab>COMMAND
 *	object ADDRESS NAME
 *	waits_for SERVICE NAME
 *	longest ADDRESS NS
 *	worked TID NS
 *	thread PID TID NAME
 *	ran TID LEAST_NS MOST_NS
 *	call TID SERVICE ADDRESS BEGIN END ASLEEP AWAKE
 *	says COMMAND<tab>EXPRESSION, says_not COMMAND<tab>EXPRESSION
 */
void oracle_report(void);

#endif
