/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "support/common.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "ring/cpuring.h"
#include "stream/own_rings.h"

int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

void skip_program(const char *reason)
{
	printf("skipped: %s\n", reason);
	exit(77);
}

void px_test_skip_in(const char *function, const char *reason)
{
	size_t length = strlen(function);

	/* Check may append this to the name of the test. */
	if (length > 3 && strcmp(function + length - 3, "_fn") == 0)
		length -= 3;
	printf("SKIP %.*s: %s\n", (int)length, function, reason);
	fflush(stdout);
}

bool px_test_filter(long number, uint32_t action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {PX_ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool px_test_has_fork_advice(void)
{
	size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
	char *page[2];
	int status;
	pid_t child;

	for (int i = 0; i < 2; i++) {
		page[i] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(page[i], MAP_FAILED);
		*page[i] = 1;
		if (madvise(page[i], size, i == 0 ? MADV_WIPEONFORK : MADV_DONTFORK) != 0)
			return false;
	}
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) { /* a child without the second page ends here */
		signal(SIGSEGV, SIG_DFL);
		_exit(*page[0] == 0 ? *page[1] : 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	for (int i = 0; i < 2; i++)
		munmap(page[i], size);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sleep_ms(unsigned int milliseconds)
{
	struct timespec left = {(time_t)(milliseconds / 1000),
				(long)(milliseconds % 1000) * 1000000};

	while (nanosleep(&left, &left) == -1 && errno == EINTR)
		;
}

uint64_t test_seed(void)
{
	const char *given = getenv("PX_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : monotonic_ns();

	printf("PX_SEED=%" PRIu64 "\n", seed);
	return seed;
}

bool px_test_is_whole(void)
{
	const char *given = getenv("PX_WHOLE");

	return given && strcmp(given, "yes") == 0;
}

uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static trace_attr_t make_attr(const struct px_test_stream *wanted)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	if (wanted->policy)
		ok(posix_trace_attr_setstreamfullpolicy(&attr, wanted->policy));
	if (wanted->size)
		ok(posix_trace_attr_setstreamsize(&attr, wanted->size));
	if (wanted->max_data)
		ok(posix_trace_attr_setmaxdatasize(&attr, wanted->max_data));
	if (wanted->log_policy)
		ok(posix_trace_attr_setlogfullpolicy(&attr, wanted->log_policy));
	if (wanted->log_size)
		ok(posix_trace_attr_setlogsize(&attr, wanted->log_size));
	ok(txtrace_attr_setrings(&attr, wanted->nr_rings));
	return attr;
}

trace_id_t px_test_create(const struct px_test_stream *wanted)
{
	trace_attr_t attr = make_attr(wanted);
	trace_id_t trid;

	ok(posix_trace_create(0, &attr, &trid));
	return trid;
}

trace_event_id_t px_test_open_type(const char *name)
{
	trace_event_id_t id = 0;

	ok(posix_trace_eventid_open(name, &id));
	return id;
}

trace_id_t px_test_create_log(const struct px_test_stream *wanted, int fd)
{
	trace_attr_t attr = make_attr(wanted);
	trace_id_t trid;

	ok(posix_trace_create_withlog(0, &attr, fd, &trid));
	return trid;
}

int px_test_file(void)
{
	int fd = memfd_create("posixtrace test", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

int px_test_disk_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/posixtrace-test.XXXXXX", folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	unlink(path);
	return fd;
}

int px_test_reopen(int fd, int flags)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	ck_assert_int_ge(again, 0);
	return again;
}

void px_test_damage(const char *path, enum px_test_damage how)
{
	char garbage[4096];
	int fd;

	if (how == PX_REMOVED || how == PX_BECAME_A_LINK)
		ck_assert_int_eq(unlink(path), 0);
	if (how == PX_CUT)
		ck_assert_int_eq(truncate(path, 0), 0);
	if (how == PX_BECAME_A_LINK)
		ck_assert_int_eq(symlink("/dev/null", path), 0);
	if (how != PX_OVERWRITTEN)
		return;
	memset(garbage, 0xee, sizeof(garbage));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(write(fd, garbage, sizeof(garbage)), sizeof(garbage));
	close(fd);
}

uint64_t px_test_file_size(int fd)
{
	struct stat status;

	ck_assert_int_eq(fstat(fd, &status), 0);
	return (uint64_t)status.st_size;
}

trace_id_t px_test_open(int fd)
{
	trace_id_t trid;

	ok(posix_trace_open(fd, &trid));
	return trid;
}

trace_event_id_t px_test_take_recorded(trace_id_t trid, struct px_test_event *event)
{
	int unavailable = -1;

	ok(posix_trace_getnext_event(trid, &event->info, event->data, sizeof(event->data),
				     &event->length, &unavailable));
	return unavailable ? 0 : event->info.posix_event_id;
}

static void set_file_limit(rlim_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
		abort();
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		abort();
}

void px_test_limit_files(uint64_t size)
{
	set_file_limit(size);
}

void px_test_unlimit_files(void)
{
	set_file_limit(RLIM_INFINITY);
}

trace_event_id_t px_test_take(trace_id_t trid, struct px_test_event *event)
{
	int unavailable = -1;

	ok(posix_trace_trygetnext_event(trid, &event->info, event->data, sizeof(event->data),
					&event->length, &unavailable));
	return unavailable ? 0 : event->info.posix_event_id;
}

const char *px_test_directory(void)
{
	const char *path = getenv("TXTRACE_DIR");

	if (!path)
		ck_abort_msg("TXTRACE_DIR is not set: run the suite by make check or "
			     "tests/support/with-own-dir.sh");
	return path;
}

struct posix_trace_status_info px_test_status(trace_id_t trid)
{
	struct posix_trace_status_info status;

	ok(posix_trace_get_status(trid, &status));
	return status;
}

void px_test_expect_status(trace_id_t trid, int status, int full, int overrun)
{
	struct posix_trace_status_info got = px_test_status(trid);

	ck_assert_int_eq(got.posix_stream_status, status);
	ck_assert_int_eq(got.posix_stream_full_status, full);
	ck_assert_int_eq(got.posix_stream_overrun_status, overrun);
	ck_assert_int_eq(got.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(got.posix_stream_flush_error, 0);
	ck_assert_int_eq(got.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(got.posix_log_full_status, POSIX_TRACE_NOT_FULL);
}

void px_test_expect_made(trace_id_t trid, trace_event_id_t type, struct px_test_event *event)
{
	px_test_expect(trid, type, event);
	ck_assert_int_eq(event->info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	ck_assert_int_eq(event->info.posix_pid, getpid());
	ck_assert_ptr_null(event->info.posix_prog_address);
	ck_assert_uint_eq((unsigned long)event->info.posix_thread_id, 0);
}

void px_test_trace(trace_event_id_t type, uint32_t number)
{
	posix_trace_event(type, &number, sizeof(number));
}

uint32_t px_test_number(const struct px_test_event *event)
{
	uint32_t number;

	ck_assert_uint_eq(event->length, sizeof(number));
	memcpy(&number, event->data, sizeof(number));
	return number;
}

/* Return a different byte for each position, also for positions that are 256 apart. */
static unsigned char byte_at(size_t i, uint32_t seed)
{
	uint32_t x = ((uint32_t)i + seed * 0x9e3779b1u) * 0x85ebca6bu;

	return (unsigned char)(x >> 24);
}

void px_test_fill(void *data, size_t length, uint32_t seed)
{
	unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		bytes[i] = byte_at(i, seed);
}

bool px_test_is_filled(const void *data, size_t length, uint32_t seed)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		if (bytes[i] != byte_at(i, seed))
			return false;
	return true;
}

uint64_t px_test_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void px_test_wait_asleep(pid_t tid)
{
	char path[64], text[512];
	const char *state;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	do {
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		length = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[length] = '\0';
		state = strrchr(text, ')');
		ck_assert_ptr_nonnull(state);
	} while (state[2] != 'S');
}

void px_test_bad_trids(trace_id_t bad[PX_TEST_BAD_TRIDS])
{
	const struct px_test_stream wanted = {.nr_rings = 1};
	trace_id_t stale = px_test_create(&wanted);
	trace_id_t live, reused;

	live = px_test_create(&wanted);
	ok(posix_trace_shutdown(stale));
	reused = px_test_create(&wanted); /* the place of the old stream is used again */
	bad[0] = 0;
	bad[1] = (trace_id_t)-1;
	bad[2] = stale;
	bad[3] = live ^ (trace_id_t)1 << (sizeof(trace_id_t) > 4 ? 40 : 30);
	bad[4] = live + 256000;
	bad[5] = reused + 256000;
	bad[6] = (trace_id_t)(uintptr_t)bad;
	bad[7] = live;
	bad[8] = 255;
	ok(posix_trace_shutdown(live)); /* its place stays free */
}

const char *px_test_accepting(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	struct timespec past = {0, 0};
	struct txtrace_wrapper wrapper;
	struct txtrace_call call;
	struct txtrace_layout *layout;
	struct txtrace_event one;
	struct txtrace_loss loss;
	trace_event_set_t set;
	trace_event_id_t id;
	trace_attr_t attr;
	char name[TRACE_EVENT_NAME_MAX + 1];
	size_t length;
	double tick;
	int end;

	posix_trace_eventset_empty(&set);
#define REFUSES(call)                                                                              \
	if ((call) != EINVAL)                                                                      \
	return #call
	REFUSES(posix_trace_start(trid));
	REFUSES(posix_trace_stop(trid));
	REFUSES(posix_trace_clear(trid));
	REFUSES(posix_trace_get_attr(trid, &attr));
	REFUSES(posix_trace_get_status(trid, &status));
	REFUSES(posix_trace_get_filter(trid, &set));
	REFUSES(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	REFUSES(posix_trace_trid_eventid_open(trid, "accepting", &id));
	REFUSES(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name));
	REFUSES(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
	REFUSES(posix_trace_eventtypelist_rewind(trid));
	REFUSES(posix_trace_trygetnext_event(trid, &info, NULL, 0, &length, &end));
	REFUSES(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &length, &end, &past));
	REFUSES(posix_trace_getnext_event(trid, &info, NULL, 0, &length, &end));
	REFUSES(txtrace_get_loss(trid, &loss));
	REFUSES(txtrace_copy_ring(trid, 0, NULL, 0, &length, &tick));
	REFUSES(txtrace_get_call(trid, &info, &call));
	REFUSES(txtrace_get_layout(trid, POSIX_TRACE_STOP, &layout));
	REFUSES(txtrace_getnext_events(trid, &one, 1, NULL, 0, &length));
	REFUSES(txtrace_set_namer(trid, NULL, NULL));
	REFUSES(txtrace_getnext_wrapper(trid, &wrapper, &end));
	REFUSES(txtrace_rewind_wrappers(trid));
	REFUSES(posix_trace_shutdown(trid));
#undef REFUSES
	return NULL;
}

int px_test_in_child(int (*function)(void *argument), void *argument)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(function(argument));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "child ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* What the calling thread does at its test points. */
static __thread const char *action_point;
static __thread void (*action)(void);
static __thread struct px_test_writer *writer_self;

static void at_point(const char *name)
{
	struct px_test_writer *self = writer_self;

	if (action_point && strcmp(name, action_point) == 0) {
		action_point = NULL;
		action();
	}
	if (self && !self->was_held && strcmp(name, self->point) == 0) {
		self->was_held = true;
		sem_post(&self->arrived);
		while (sem_wait(&self->released) != 0)
			;
	}
}

void px_test_at_point(const char *point, void (*function)(void))
{
	action = function;
	action_point = point;
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
}

static __thread void (*handler_action)(void);

static void run_in_handler(int signal)
{
	(void)signal;
	handler_action();
}

static void interrupt(void)
{
	raise(SIGUSR2);
}

void px_test_in_handler_at_point(const char *point, void (*function)(void))
{
	const struct sigaction handler = {.sa_handler = run_in_handler, .sa_flags = SA_NODEFER};

	ck_assert_int_eq(sigaction(SIGUSR2, &handler, NULL), 0);
	handler_action = function;
	px_test_at_point(point, interrupt);
}

static void *write_held(void *argument)
{
	writer_self = argument;
	posix_trace_event(writer_self->type, writer_self->data, writer_self->length);
	if (!writer_self->was_held)
		sem_post(&writer_self->arrived);
	return NULL;
}

void px_test_hold_data(struct px_test_writer *writer, const char *point, trace_event_id_t type,
		       const void *data, size_t length)
{
	writer->point = point;
	writer->type = type;
	writer->data = data;
	writer->length = length;
	writer->was_held = false;
	sem_init(&writer->arrived, 0, 0);
	sem_init(&writer->released, 0, 0);
	__atomic_store_n(&px_testpoint_hook, at_point, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_create(&writer->thread, NULL, write_held, writer), 0);
	while (sem_wait(&writer->arrived) != 0)
		;
}

void px_test_hold(struct px_test_writer *writer, const char *point, trace_event_id_t type,
		  uint32_t number)
{
	writer->number = number;
	px_test_hold_data(writer, point, type, &writer->number, sizeof(writer->number));
}

bool px_test_has_cpu_rings(void)
{
	return px_own_rings_obstacle(px_clock_best().source) == 0;
}

#define TRIALS 50

/* Each child tries anew, because only a process of its own has no result yet. */
void px_test_try_sequences(void)
{
	int status = TXTRACE_RINGS_NOT_TESTED << 8;
	pid_t child;

	for (int i = 0; i < TRIALS && WIFEXITED(status) && WEXITSTATUS(status) == TXTRACE_RINGS_NOT_TESTED; i++) {
		child = fork();
		if (child == 0)
			_exit(px_own_rings_obstacle(px_clock_best().source));
		if (child < 0 || waitpid(child, &status, 0) != child)
			return;
	}
}

bool px_test_passes(unsigned int nr_rings, const char *point)
{
	return nr_rings != 0 || !px_test_has_cpu_rings() ||
	       (strcmp(point, "ring.reserve.loaded") != 0 && strcmp(point, "ring.claim.loaded") != 0);
}

void px_test_release(struct px_test_writer *writer)
{
	if (!writer->point)
		return;
	writer->point = NULL;
	sem_post(&writer->released);
	pthread_join(writer->thread, NULL);
}

#define PACE_EVENTS 30 /* a call */

static uint64_t pace_written, pace_allowed;
static bool pace_finished;

void px_test_pace_control(void)
{
	uint64_t before = __atomic_fetch_add(&pace_allowed, PACE_EVENTS, __ATOMIC_RELAXED);

	/* Half of the limit for this call: earlier data may have been written while the caller did something else. */
	while (__atomic_load_n(&pace_written, __ATOMIC_RELAXED) < before + PACE_EVENTS / 2)
		sched_yield();
}

bool px_test_pace_writer(void)
{
	uint64_t mine = __atomic_fetch_add(&pace_written, 1, __ATOMIC_RELAXED);

	while (!__atomic_load_n(&pace_finished, __ATOMIC_RELAXED)) {
		if (mine < __atomic_load_n(&pace_allowed, __ATOMIC_RELAXED))
			return true;
		sched_yield();
	}
	return false;
}

void px_test_pace_finish(void)
{
	__atomic_store_n(&pace_finished, true, __ATOMIC_RELAXED);
}

struct cancelled {
	void (*function)(void);
	bool returned;
};

static void *call_cancelled(void *argument)
{
	struct cancelled *self = argument;

	pthread_cancel(pthread_self());
	self->function();
	self->returned = true;
	pthread_testcancel();
	return NULL;
}

void px_test_with_cancellation_pending(void (*function)(void))
{
	struct cancelled call = {function, false};
	pthread_t thread;
	void *end;

	ck_assert_int_eq(pthread_create(&thread, NULL, call_cancelled, &call), 0);
	pthread_join(thread, &end);
	ck_assert(call.returned);
	ck_assert_ptr_eq(end, PTHREAD_CANCELED);
}

size_t px_test_make_trace(const char *name, unsigned char *bytes, size_t size)
{
	const char *srcdir = getenv("srcdir");
	char command[4096];
	size_t nr_bytes;
	FILE *pipe;

	snprintf(command, sizeof(command), "tests/tool/mktrx <'%s/tests/data/%s.txt'",
		 srcdir ? srcdir : ".", name);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	nr_bytes = fread(bytes, 1, size, pipe);
	ck_assert_int_eq(pclose(pipe), 0);
	return nr_bytes;
}

static int forgives_leaks;

void px_test_forgive_leaks(void)
{
	forgives_leaks = 1;
}

#if defined __SANITIZE_ADDRESS__
/* The sanitizer calls this function before it looks for leaks.  Its library finds only a visible function. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return forgives_leaks;
}
#endif
