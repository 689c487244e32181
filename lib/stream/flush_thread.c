/* SPDX-License-Identifier: MIT */
/* The flush thread of a stream. */
#include "stream/flush.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/kernel_time.h"
#include "base/procfs.h"
#include "registry/registry.h"
#include "ring/growth.h"
#include "ring/wakeup.h"
#include "stream/flush_sched.h"
#include "stream/handle.h"
#include "trace/process.h"

#define AGE_NS 1000000000     /* maximum age of an event that is not flushed */
#define ROUND_NS (AGE_NS / 4) /* longest sleep of the thread, which then checks the age */
#define STACK_BYTES                                                                                \
	(1 << 20) /* a namer may read debugging information, which needs a large stack */
#define TURN_NS 200000 /* how long this thread asks to have its CPU at a time, if others wait for it */
#define CREATE_ATTEMPTS 500 /* on a busy machine, a thread in exec may get no CPU for long */
#define END_ATTEMPTS 10000
#define END_NAP_NS 100000
#define NAP_NS 1000000
#define MEMORY_NS 20000000 /* time between two attempts to get memory */
#define MANY_SLOTS                                                                                 \
	65536 /* flush this many bytes at once, even if no ring is above its mark because the rings grow */

/* FLUSHP-1: return true if an event has waited for AGE_NS.  So no event waits for ever. */
static bool has_waited_long(struct px_stream *stream)
{
	struct px_logging *logging = &stream->logging;
	uint64_t now;

	if (px_view_heads(&stream->view) == logging->heads)
		return false;
	now = px_clock_monotonic_ns();
	if (logging->waiting_ns == 0)
		logging->waiting_ns = now;
	return now - logging->waiting_ns >= AGE_NS;
}

/* Return true if the stream has stopped automatically, and no flush can start it, because a ring lacks memory. */
static bool lacks_memory(const struct px_stream *stream)
{
	return px_state_of(px_load_acquire(&stream->view.segment->state)) == PX_STATE_AUTO_FULL &&
	       !px_growth_make_room_everywhere(&stream->view);
}

/* Return true if a flush is due: by FLUSHP-5, or because events have waited long. */
static bool is_due(struct px_stream *stream)
{
	bool is_full = px_state_of(px_load_acquire(&stream->view.segment->state)) ==
		       PX_STATE_AUTO_FULL;

	if (is_full || px_view_is_high(&stream->view, NULL))
		return true;
	if (stream->view.grows == PX_GROWS_SHARED &&
	    px_view_heads(&stream->view) - stream->logging.heads > MANY_SLOTS)
		return true;
	if (px_flush_sched_is_due(stream, AGE_NS))
		return true;
	return has_waited_long(stream);
}

/* The buffers of the kernel must not become full during a sleep. */
static uint64_t longest_sleep_ns(const struct px_stream *stream)
{
	uint64_t ns = stream->logging.sched ? px_sched_round_ns(stream->logging.sched) : ROUND_NS;

	return ns < ROUND_NS ? ns : ROUND_NS;
}

static struct px_stream *sleep_until_due(unsigned long id, struct px_stream *stream)
{
	uint32_t *waiting = px_stream_waiting(stream);
	uint64_t sleep_ns = longest_sleep_ns(stream);

	/* If the flag is still raised, do not raise it again, because each time costs a barrier on all CPUs. */
	if (px_read_once(waiting) != PX_WAITING_HIGH) {
		px_stream_prepare_wait(stream, PX_WAITING_HIGH);
		if (is_due(stream))
			return stream;
	}
	px_handle_leave(id);
	px_wakeup_doze(waiting, PX_WAITING_HIGH, sleep_ns);
	return px_handle_return(id);
}

/*
 * Return true if all threads of the program have ended.  Then only its first thread, which remains as a zombie, and
 * flush threads are left, and no thread can create another one.  Other copies of this library have flush threads, too:
 * the copy in the preloaded object, for example.  Each flush thread has its log, so there are at most as many flush
 * threads as logs.
 */
static bool has_program_ended(void)
{
	const struct px_process_id us = px_process_id();
	uint32_t nr, own, logs;
	uint64_t before;

	if (px_likely(!px_procfs_may_miss_first_thread()))
		return false;
	before = px_load_acquire(&px_gate.self.flush_threads);
	nr = px_procfs_nr_threads();
	/* If a flush thread has begun or ended in the meantime, do not compare the two numbers. */
	if (nr == 0 || px_load_acquire(&px_gate.self.flush_threads) != before)
		return false;
	own = (uint32_t)before;
	if (nr - 1 <= own)
		return true;
	logs = px_registry_count_logs(&us);
	return logs > own && nr - 1 <= logs && !px_procfs_has_different_threads();
}

static bool is_check_due(uint64_t *last_ns)
{
	uint64_t now = px_clock_monotonic_ns();

	if (now - *last_ns < ROUND_NS / 2)
		return false;
	*last_ns = now;
	return true;
}

/*
 * All threads of the program have ended.  When the last flush thread returns, the C library calls exit(0) in it, as it
 * does in the last thread of any process.  Then the library's destructor completes the log.  So unblock the signals
 * that the program has not blocked.  If a thread has ended by a direct system call, the C library still counts it, and
 * does not call exit().  Then the process ends as by _exit(), with the exit status of its first thread.
 */
static void end_as_last(const sigset_t *mask)
{
	int status = px_procfs_exit_status();

	pthread_sigmask(SIG_SETMASK, mask, NULL);
	if (status != 0)
		syscall(SYS_exit, status);
}

static void flush_until_end(unsigned long id)
{
	uint64_t last_ns = px_clock_monotonic_ns();
	struct px_stream *stream = px_handle_lock(id);

	while (stream) {
		/*
		 * While another thread flushes, wait with the flag lowered.  If it were raised, each dropped event
		 * would wake up this thread.
		 */
		if (!px_flush_wait(id, stream))
			return;
		if (px_unlikely(stream->logging.ends_flusher)) {
			px_handle_unlock(id);
			return;
		}
		px_log_collect_threads(stream->logging.log);
		px_flush_sched_collect(stream);
		if (is_check_due(&last_ns) && has_program_ended()) {
			sigset_t mask = stream->logging.mask;

			px_handle_unlock(id);
			end_as_last(&mask);
			return;
		}
		if (px_unlikely(lacks_memory(stream)) && !has_waited_long(stream)) {
			px_handle_leave(id);
			/* do not raise the flag: each dropped event would wake up this thread */
			px_wakeup_pause(MEMORY_NS);
			stream = px_handle_return(id);
			continue;
		}
		if (stream->view.grows == PX_GROWS_SHARED)
			px_growth_keep_ahead(&stream->view);
		if (!is_due(stream)) {
			stream = sleep_until_due(id, stream);
			continue;
		}
		px_flush(id, stream, NULL);
		stream = px_handle_lock(id);
	}
}

/* The kernel's struct sched_attr in its first version: its header and that of the C library exclude each other. */
struct turns {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * The rings become full while this thread waits for a CPU.  Since Linux 6.12, a thread that asks for short turns waits
 * less for each of them, and gets no more time in all.  Earlier kernels ignore this.
 */
static void ask_for_short_turns(void)
{
	struct turns turns = {0}; /* valgrind does not see that the kernel fills it in */

	if (px_is_confined() || syscall(SYS_sched_getattr, 0, &turns, sizeof(turns), 0) != 0 ||
	    turns.policy != SCHED_OTHER)
		return;
	turns.size = sizeof(turns);
	turns.runtime = TURN_NS;
	syscall(SYS_sched_setattr, 0, &turns, 0);
}

static uint32_t newest; /* tid of the flush thread that began last; 0: it has not run yet */

static void *run_thread(void *argument)
{
	uint64_t *threads = &px_gate.self.flush_threads;

	prctl(PR_SET_NAME, "posixtrace");
	ask_for_short_turns();
	px_fetch_add(threads, UINT64_C(1) << 32 | 1);
	px_write_once(&newest, (uint32_t)syscall(SYS_gettid));
	flush_until_end((unsigned long)(uintptr_t)argument);
	px_fetch_add(threads, UINT64_MAX);
	return NULL;
}

static int add_tls(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

/* The C library takes static TLS from the stack of a thread, and some programs have more than 1 MiB of static TLS. */
static size_t static_tls_bytes(void)
{
	size_t sum = 0;

	dl_iterate_phdr(add_tls, &sum);
	return sum;
}

/*
 * While another thread is in exec, the kernel creates no thread and returns EAGAIN.  That exec may fail, so try
 * again.
 */
static int create_thread(pthread_t *thread, const pthread_attr_t *attr, void *argument)
{
	static const struct timespec nap = {0, NAP_NS};
	int error = EAGAIN;

	for (int i = 0; error == EAGAIN && i < CREATE_ATTEMPTS; i++) {
		if (i > 0)
			nanosleep(&nap, NULL);
		error = pthread_create(thread, attr, run_thread, argument);
	}
	return error;
}

int px_flush_start_thread(unsigned long id, struct px_stream *stream)
{
	sigset_t all, *before = &stream->logging.mask;
	pthread_attr_t attr;
	int error;

	if (pthread_attr_init(&attr) != 0)
		return ENOMEM;
	pthread_attr_setstacksize(&attr, STACK_BYTES + static_tls_bytes());
	px_write_once(&newest, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
	error = create_thread(&stream->logging.flusher, &attr, (void *)(uintptr_t)id);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	pthread_attr_destroy(&attr);
	stream->logging.has_flusher = error == 0;
	return error == EPERM ? EPERM : error ? ENOMEM : 0;
}

bool px_flush_thread_is_alike(void)
{
	uint32_t tid = px_read_once(&newest);

	return tid != 0 && !px_procfs_has_other_rights(tid);
}

/*
 * A signal handler that asks for the same meanwhile would wait for the lock for ever.  A cancelled caller must not
 * leave the log without a flush thread.
 */
struct undisturbed {
	sigset_t mask;
	int state;
};

static void begin_undisturbed(struct undisturbed *undisturbed)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &undisturbed->mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &undisturbed->state);
}

static void end_undisturbed(struct undisturbed *undisturbed)
{
	pthread_setcancelstate(undisturbed->state, &undisturbed->state);
	pthread_sigmask(SIG_SETMASK, &undisturbed->mask, NULL);
}

/* A thread that was joined exists in the kernel for some time more. */
static void await_end(uint32_t tid)
{
	static const struct px_kernel_time nap = {.nanoseconds = END_NAP_NS};

	for (int i = 0; i < END_ATTEMPTS && syscall(SYS_tgkill, syscall(SYS_getpid), tid, 0) == 0; i++)
		px_kernel_sleep(&nap);
}

bool px_flush_pause_thread(unsigned long id)
{
	struct undisturbed undisturbed;
	struct px_stream *stream;
	pthread_t flusher;
	bool has_flusher;

	begin_undisturbed(&undisturbed);
	stream = px_handle_lock(id);
	has_flusher = stream && stream->logging.has_flusher;
	if (has_flusher) {
		flusher = stream->logging.flusher;
		stream->logging.has_flusher = false;
		stream->logging.ends_flusher = true;
		px_wakeup_wake(px_stream_waiting(stream));
	}
	if (stream)
		px_handle_unlock(id);
	if (has_flusher) {
		pthread_join(flusher, NULL);
		await_end(px_read_once(&newest));
	}
	end_undisturbed(&undisturbed);
	return has_flusher;
}

int px_flush_resume_thread(unsigned long id)
{
	struct undisturbed undisturbed;
	struct px_stream *stream;
	int error = EINVAL;

	begin_undisturbed(&undisturbed);
	stream = px_handle_lock(id);
	if (stream) {
		stream->logging.ends_flusher = false;
		error = px_flush_start_thread(id, stream);
		stream->logging.mask = undisturbed.mask;
		px_handle_unlock(id);
	}
	end_undisturbed(&undisturbed);
	return error;
}

void px_flush_join_thread(struct px_stream *stream)
{
	if (stream->logging.has_flusher)
		pthread_join(stream->logging.flusher, NULL);
}
