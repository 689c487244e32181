/* SPDX-License-Identifier: MIT */
/*
 * Threads.  While the process is traced, a created thread starts in a function of ours.  That function gives the thread
 * the handle that its creator recorded, and records the first event of the thread.  The destructor of a pthread key
 * records the last event of the thread.  It does so in the last round of destructors, and so after the other
 * destructors.  So a thread always has a last event: if it returns, if it calls pthread_exit(), and if it is cancelled.
 *
 * The data for our start function are in an entry of a small table, or in a separate page if the table is full.  So the
 * wrapper calls no allocator, because the allocator might belong to the program.  The entry is free when both the
 * creator and the thread have released it.
 */
#include "c11.h"
#include "hook.h"

#include <limits.h>
#include <sys/mman.h>

#include "trace/counted.h"
#include "wrap/priority.h"
#include "wrap/text_arg.h"
#include "wrap/thread_name.h"

enum { END_RETURNED = 1, END_CANCELLED = 2 };

/* The calling thread has returned, or called pthread_exit() or thrd_exit(). */
static __thread uint32_t has_returned __attribute__((tls_model("initial-exec")));

/* Created threads. */

union start {
	void *(*of_posix)(void *);
	thrd_start_t of_c11;
	uintptr_t address;
};

struct creation {
	uint32_t nr_users; /* 0: the entry is free */
	uint32_t handle;
	union start start;
	void *argument;
	pthread_t self; /* valid once has_begun is not 0 */
	uint32_t has_begun;
	bool is_page;
};

#define CREATIONS 64

static struct creation creations[CREATIONS];

static struct creation *take_creation(void)
{
	struct creation *page;

	for (unsigned int i = 0; i < CREATIONS; i++)
		if (px_read_once(&creations[i].nr_users) == 0 &&
		    px_compare_exchange(&creations[i].nr_users, 0U, 2U))
			return &creations[i];
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return NULL;
	page->nr_users = 2;
	page->is_page = true;
	return page;
}

/* Read is_page before the release, because after the release the entry may belong to another thread. */
static void release_creation(struct creation *creation, uint32_t users)
{
	bool is_page = creation->is_page;

	if (px_fetch_add(&creation->nr_users, 0U - users) == users && is_page)
		munmap(creation, sizeof(*creation));
}

static pthread_key_t end_key;
static bool has_end_key;

/*
 * If a destructor sets the value of its key again, the C library calls the destructor again, at most
 * PTHREAD_DESTRUCTOR_ITERATIONS times.
 */
static void end_thread(void *round)
{
	uintptr_t next = (uintptr_t)round + 1;

	if (next <= PTHREAD_DESTRUCTOR_ITERATIONS &&
	    pthread_setspecific(end_key, (void *)next) == 0 && next < PTHREAD_DESTRUCTOR_ITERATIONS)
		return;
	pthread_setspecific(end_key, NULL);
	if (px_likely(px_gate_is_open()))
		px_counted_end_thread();
	if (PX_NOT_TRACED(thread))
		return;
	px_callpoint_thread_time(NULL);
	px_hook_record(PX_SITE_WITHOUT_WRAPPER(THREAD_END, txtrace_thread_end, NULL),
		       PX_RECORD_WHOLE, (void *)pthread_self(),
		       has_returned ? END_RETURNED : END_CANCELLED, 0, 0);
}

/* When the main thread returns from main(), the process ends, and the main thread has no last event. */
__attribute__((constructor(103))) static void begin(void)
{
	has_end_key = pthread_key_create(&end_key, end_thread) == 0;
	if (has_end_key)
		pthread_setspecific(end_key, (void *)1);
}

static void record_start(union start start)
{
	struct {
		union px_call_data head;
		uint64_t start;
	} data = {.head.of_object = {.object = (uint64_t)(uintptr_t)pthread_self(),
				     .value = px_thread_tid()},
		  .start = start.address};

	px_hook_record_long(
		PX_SITE_WITHOUT_WRAPPER(THREAD_START, txtrace_thread_start, (void *)start.address),
		PX_RECORD_WHOLE, &data, sizeof(data));
}

/* Begin a thread: return its function and argument, and release the entry. */
static union start begin_thread(struct creation *creation, void **argument)
{
	union start start = creation->start;

	*argument = creation->argument;
	px_thread_take_handle(creation->handle);
	creation->self = pthread_self();
	px_store_release(&creation->has_begun, 1U);
	release_creation(creation, 1);
	if (has_end_key)
		pthread_setspecific(end_key, (void *)1);
	if (!PX_NOT_TRACED(thread))
		record_start(start);
	return start;
}

static void *run_thread(void *creation)
{
	void *argument, *result;
	union start start = begin_thread(creation, &argument);

	result = start.of_posix(argument);
	has_returned = true;
	return result;
}

static int run_c11_thread(void *creation)
{
	void *argument;
	union start start = begin_thread(creation, &argument);
	int result = start.of_c11(argument);

	has_returned = true;
	return result;
}

/*
 * Return the created thread.  The new thread may already have freed the memory to which `thread` points.  If it has, it
 * has set has_begun before.
 */
static pthread_t created_thread(const struct creation *creation, const pthread_t *thread)
{
	return px_load_acquire(&creation->has_begun) ? creation->self : *thread;
}

/* A new thread has the priority of its creator, unless the attributes set one. */
static uint32_t priority_of_new(const pthread_attr_t *attr)
{
	struct sched_param param = {0};
	int policy, inherits = PTHREAD_INHERIT_SCHED;

	if (attr && pthread_attr_getinheritsched(attr, &inherits) == 0 &&
	    inherits == PTHREAD_EXPLICIT_SCHED && pthread_attr_getschedpolicy(attr, &policy) == 0 &&
	    pthread_attr_getschedparam(attr, &param) == 0)
		return px_kernel_priority(policy, param.sched_priority, true);
	return px_thread.epoch ? px_thread.priority & 0x3FF : PX_PRIORITY_NORMAL;
}

static void record_create(struct px_site site, const struct creation *creation, pthread_t thread,
			  const pthread_attr_t *attr, int error)
{
	struct {
		union px_call_data head;
		uint64_t start;
	} data = {.head.of_object = {.object = (uint64_t)(uintptr_t)thread,
				     .value = creation->handle,
				     .count = (uint16_t)priority_of_new(attr),
				     .result = (int16_t)error},
		  .start = creation->start.address};

	px_hook_record_long(site, PX_RECORD_WHOLE, &data, sizeof(data));
}

/*
 * True while this thread is in thrd_create().  If another object implements thrd_create(), it may call our
 * pthread_create() for the same thread.
 */
static __thread bool creates_c11 __attribute__((tls_model("initial-exec")));

static int create_c11(thrd_t *thread, thrd_start_t start, void *argument)
{
	int result;

	creates_c11 = true;
	result = px_real.thrd_create(thread, start, argument);
	creates_c11 = false;
	return result;
}

static int really_create(enum px_call call, pthread_t *thread, const pthread_attr_t *attr,
			 struct creation *creation)
{
	if (px_c11_is(call))
		return create_c11(thread, run_c11_thread, creation);
	return px_real.pthread_create(thread, attr, run_thread, creation);
}

static int create_unrecorded(enum px_call call, pthread_t *thread, const pthread_attr_t *attr,
			     union start start, void *argument)
{
	if (px_c11_is(call))
		return px_real.thrd_create(thread, start.of_c11, argument);
	return px_real.pthread_create(thread, attr, start.of_posix, argument);
}

static int traced_create(struct px_site site, pthread_t *thread, const pthread_attr_t *attr,
			 union start start, void *argument)
{
	struct px_hook_sample sample = px_hook_begin();
	struct creation *creation = take_creation();
	int result;

	if (!creation)
		return create_unrecorded(site.call, thread, attr, start, argument);
	creation->handle = px_thread_reserve_handle();
	creation->start = start;
	creation->argument = argument;
	creation->has_begun = 0;
	result = PX_REAL(&sample, really_create(site.call, thread, attr, creation));
	record_create(site, creation, result ? 0 : created_thread(creation, thread), attr,
		      px_c11_error_of(site.call, result));
	release_creation(creation, result ? 2 : 1);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			   void *argument)
{
	if (PX_NOT_TRACED(thread) || creates_c11)
		return px_real.pthread_create(thread, attr, start, argument);
	return traced_create(PX_SITE(pthread_create, pthread_create), thread, attr,
			     (union start){.of_posix = start}, argument);
}

PX_WRAP int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	if (PX_NOT_TRACED(thread))
		return px_real.thrd_create(thread, start, argument);
	return traced_create(PX_SITE(thrd_create, thrd_create), thread, NULL,
			     (union start){.of_c11 = start}, argument);
}

/* The end of a thread. */

PX_WRAP void pthread_exit(void *value)
{
	struct px_site site = PX_SITE(pthread_exit, pthread_exit);

	has_returned = true;
	if (!PX_NOT_TRACED(thread))
		px_hook_record(site, PX_RECORD_WHOLE, (void *)pthread_self(), 0, 0, 0);
	px_real.pthread_exit(value);
	__builtin_unreachable();
}

PX_WRAP void thrd_exit(int value)
{
	struct px_site site = PX_SITE(thrd_exit, thrd_exit);

	has_returned = true;
	if (!PX_NOT_TRACED(thread))
		px_hook_record(site, PX_RECORD_WHOLE, (void *)pthread_self(), 0, 0, 0);
	px_real.thrd_exit(value);
	__builtin_unreachable();
}

PX_WRAP int pthread_detach(pthread_t thread)
{
	struct px_site site;

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_detach(thread);
	site = PX_SITE(pthread_detach, pthread_detach);
	return PX_CALL_AND_RECORD(
		site, result, px_real.pthread_detach(thread),
		px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, 0, 0, result));
}

PX_WRAP int thrd_detach(thrd_t thread)
{
	struct px_site site;

	if (PX_NOT_TRACED(thread))
		return px_real.thrd_detach(thread);
	site = PX_SITE(thrd_detach, thrd_detach);
	return PX_CALL_AND_RECORD(
		site, result, px_real.thrd_detach(thread),
		px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, 0, 0, px_c11_error(result)));
}

/*
 * The call affects another thread, so record it before the call.  Then its event comes before the events that it causes
 * in the other thread.  If the cancellation fails, a second event has the result.
 */

PX_WRAP int pthread_cancel(pthread_t thread)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_cancel(thread);
	site = PX_SITE(pthread_cancel, pthread_cancel);
	sample = px_hook_begin();
	px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, 0, 0, 0);
	result = PX_REAL(&sample, px_real.pthread_cancel(thread));
	if (result != 0)
		px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, 0, 0, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

static int traced_kill(struct px_site site, pthread_t thread, int number)
{
	struct px_hook_sample sample = px_hook_begin();
	bool sends = number > 0 && number < NSIG;
	int result;

	if (sends)
		px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, (uint32_t)number, 0, 0);
	result = PX_REAL(&sample, px_real.pthread_kill(thread, number));
	if (!sends)
		px_hook_record(site, PX_RECORD_WHOLE, (void *)thread, (uint32_t)number, 0, result);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int pthread_kill(pthread_t thread, int number)
{
	if (PX_NOT_TRACED(thread))
		return px_real.pthread_kill(thread, number);
	return traced_kill(PX_SITE(pthread_kill, pthread_kill), thread, number);
}

void px_thread_record_name(struct px_site site, pthread_t thread, const char *name, int result)
{
	struct px_text_arg data = {.data.of_object = {.object = (uint64_t)(uintptr_t)thread,
						      .result = (int16_t)result}};

	px_text_arg_record(site, PX_RECORD_WHOLE, &data, name);
}

PX_WRAP int pthread_setname_np(pthread_t thread, const char *name)
{
	struct px_site site;

	if (PX_NOT_TRACED(thread))
		return px_real.pthread_setname_np(thread, name);
	site = PX_SITE(pthread_setname_np, pthread_setname_np);
	return PX_CALL_AND_RECORD(site, result, px_real.pthread_setname_np(thread, name),
				  px_thread_record_name(site, thread, name, result));
}
