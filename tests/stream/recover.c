/* SPDX-License-Identifier: MIT */
/*
 * Controllers of streams with logs die at every step, or at random moments; recovering processes die, too; and some
 * logs cannot be recovered.  After a recovery, the log has each recorded event once, in order and complete.
 */
#include "support/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "log/checkpoint.h"
#include "registry/registry.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/kernel.h"
#include "support/log_checker.h"

#define MAX_EVENTS 4096
#define LONGEST 200

static trace_event_id_t type;
static int file = -1;
static char path[PATH_MAX];
static trace_id_t stream;
static struct px_test_event seen;
static struct px_test_log_facts facts;

/* Shared with children. */
struct progress {
	uint32_t nr_begun, nr_returned; /* events */
	uint32_t base;			/* a clear has removed those before */
	bool is_created, is_clearing, is_stopping, is_done;
	bool flushes;	     /* a controller in another process flushes again and again, */
	uint32_t nr_flushes; /* and has done so this often */
	uint64_t dead_ns;    /* when the controller was known to be dead; 0: it lives, or is not a child */
	uint64_t before_ns[MAX_EVENTS], after_ns[MAX_EVENTS];
};

static struct progress *progress;

static const char *segments(void)
{
	return px_test_directory();
}

/* Count the files with this prefix in the directory of segments. */
static int count_files(const char *prefix)
{
	DIR *directory = opendir(segments());
	struct dirent *entry;
	int count = 0;

	ck_assert_ptr_nonnull(directory);
	while ((entry = readdir(directory)))
		count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(directory);
	return count;
}

static void expect_clean(void)
{
	ck_assert_int_eq(count_files("log."), 0);
	ck_assert_int_eq(count_files("stream."), 0);
}

static void make_file(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/posixtrace-test.XXXXXX", folder ? folder : "/tmp");
	file = mkostemp(path, O_CLOEXEC);
	ck_assert_int_ge(file, 0);
}

static void setup(void)
{
	type = px_test_open_type("recovered");
	make_file();
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	ck_assert_ptr_ne(progress, MAP_FAILED);
	signal(SIGXFSZ, SIG_IGN);
}

static void teardown(void)
{
	unsigned int nr_recovered, nr_left;

	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	unlink(path);
	close(file);
	munmap(progress, sizeof(*progress));
	txtrace_recover_all(&nr_recovered, &nr_left); /* remove what a failed test has left */
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return px_test_ns(now);
}

/* Dying. */

static uint64_t nr_steps, fatal_step;
static bool (*counts)(const char *name);

static bool is_write(const char *name)
{
	return strcmp(name, "log.write.before") == 0;
}

static bool is_any(const char *name)
{
	(void)name;
	return true;
}

/* The thread that flushes comes to test points, too. */
static void step(const char *name)
{
	if (counts(name) && __atomic_add_fetch(&nr_steps, 1, __ATOMIC_RELAXED) == fatal_step)
		kill(getpid(), SIGKILL);
}

/* Die at this step of those that count; 0: never. */
static void die_at(bool (*which)(const char *name), uint64_t number)
{
	counts = which;
	nr_steps = 0;
	fatal_step = number;
	__atomic_store_n(&px_testpoint_hook, step, __ATOMIC_RELEASE);
}

/* Run the function in a child.  Return true if it ran to its end. */
static bool run_in_child(void (*function)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		function();
		kill(getpid(), SIGKILL); /* a controller that has done all its steps ends like this */
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
	if (progress->dead_ns == 0)
		progress->dead_ns = realtime_ns();
	return progress->is_done;
}

/* Scripts: the steps of the controller. */

struct script {
	struct px_test_stream stream;
	uint32_t nr_events;
	uint32_t flush_every; /* 0: never */
	uint32_t clear_at;    /* 0: never */
	uint32_t stop_every;  /* 0: never */
	bool filters_stop;
	uint32_t longest;
};

#define BOUNDED POSIX_TRACE_UNTIL_FULL
#define LOOPING POSIX_TRACE_LOOP
#define FLUSHED POSIX_TRACE_FLUSH
#define APPENDED POSIX_TRACE_APPEND

static const struct script scripts[] = {
	{{BOUNDED, 20000, LONGEST, 2, APPENDED, 0}, 300, 50, 0, 70, false, LONGEST},
	{{BOUNDED, 20000, LONGEST, 1, LOOPING, 20000}, 500, 40, 0, 0, false, LONGEST},
	{{BOUNDED, 20000, LONGEST, 2, BOUNDED, 30000}, 400, 40, 0, 90, false, LONGEST},
	{{BOUNDED, 4000, 16, 1, APPENDED, 0}, 600, 150, 0, 0, false, 16}, /* it fills */
	{{BOUNDED, 4000, LONGEST, 2, LOOPING, 40000}, 400, 60, 0, 50, true, LONGEST},
	{{FLUSHED, 4000, LONGEST, 2, APPENDED, 0}, 500, 0, 0, 0, false, LONGEST},
	{{FLUSHED, 4000, 16, 1, LOOPING, 20000}, 500, 200, 0, 0, false, 16},
	{{LOOPING, 4000, LONGEST, 2, APPENDED, 0}, 400, 90, 0, 100, false, LONGEST},
	{{LOOPING, 4000, 16, 1, LOOPING, 20000}, 500, 130, 0, 0, false, 16},
	{{BOUNDED, 20000, LONGEST, 2, LOOPING, 20000}, 400, 50, 220, 0, false, LONGEST},
	{{FLUSHED, 4000, 16, 2, APPENDED, 0}, 400, 90, 200, 0, false, 16},
};
#define NR_SCRIPTS ((int)PX_ARRAY_SIZE(scripts))

static const struct script *script;

static uint32_t length_of(uint32_t number)
{
	return 4 + number * 37 % (script->longest - 3);
}

static void record(uint32_t number)
{
	unsigned char data[4 + LONGEST];

	memcpy(data, &number, sizeof(number));
	px_test_fill(data + 4, LONGEST, number);
	progress->before_ns[number] = realtime_ns();
	__atomic_store_n(&progress->nr_begun, number + 1, __ATOMIC_RELEASE);
	posix_trace_event(type, data, length_of(number));
	__atomic_store_n(&progress->nr_returned, number + 1, __ATOMIC_RELEASE);
	progress->after_ns[number] = realtime_ns();
}

static void control(uint32_t number)
{
	if (script->flush_every && number % script->flush_every == script->flush_every - 1)
		posix_trace_flush(stream);
	if (script->stop_every && number % script->stop_every == script->stop_every - 1) {
		progress->is_stopping = true;
		posix_trace_stop(stream);
		posix_trace_start(stream);
		progress->is_stopping = false;
	}
	if (script->clear_at && number == script->clear_at) {
		progress->is_clearing = true;
		posix_trace_clear(stream);
		progress->base = number + 1;
		progress->is_clearing = false;
		posix_trace_start(stream);
	}
}

/* It makes no Check assertions, because it may run in a child. */
static void control_stream(void)
{
	trace_event_set_t set;

	stream = px_test_create_log(&script->stream, file);
	if (script->filters_stop) {
		posix_trace_eventset_empty(&set);
		posix_trace_eventset_add(POSIX_TRACE_STOP, &set);
		posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET);
	}
	progress->is_stopping = true;
	posix_trace_start(stream);
	progress->is_stopping = false;
	progress->is_created = true;
	for (uint32_t number = 0; number < script->nr_events; number++) {
		record(number);
		control(number);
	}
	progress->is_done = true;
}

static bool (*which_die)(const char *name);
static uint64_t when_die;

static void control_and_die(void)
{
	die_at(which_die, when_die);
	control_stream();
}

static void begin_anew(void)
{
	memset(progress, 0, sizeof(*progress));
	ck_assert_int_eq(ftruncate(file, 0), 0);
}

static bool run_script(bool (*which)(const char *name), uint64_t when)
{
	begin_anew();
	which_die = which;
	when_die = when;
	return run_in_child(control_and_die);
}

/* Reading. */

struct tale {
	uint64_t nr_read, nr_events, nr_gaps, last_ns;
	uint32_t next;	  /* number */
	bool knows, runs; /* from the first START or STOP in the log */
	bool misses, in_gap, ends_with_start;
};

/* START and STOP alternate; between a filtered STOP and a START the order is not known. */
static void read_system_event(struct tale *tale, trace_event_id_t id)
{
	switch (id) {
	case POSIX_TRACE_START:
		ck_assert_msg(!tale->knows || !tale->runs || script->filters_stop, "started twice");
		tale->knows = tale->runs = true;
		break;
	case POSIX_TRACE_STOP:
		ck_assert_msg(!tale->knows || tale->runs, "stopped twice");
		tale->knows = true;
		tale->runs = false;
		break;
	case POSIX_TRACE_OVERFLOW:
		ck_assert_msg(!tale->in_gap, "two gaps at once");
		tale->in_gap = true;
		tale->nr_gaps++;
		break;
	case POSIX_TRACE_RESUME:
		/* The log may have overwritten its beginning. */
		ck_assert_msg(tale->in_gap || tale->nr_read == 0,
			      "a gap that ends without having begun");
		tale->in_gap = false;
		tale->misses = true;
		tale->knows = false; /* a START may have been lost */
		break;
	default:
		break;
	}
}

static void read_number(struct tale *tale, bool may_miss)
{
	uint32_t number;
	uint64_t ns = px_test_ns(seen.info.posix_timestamp);

	memcpy(&number, seen.data, sizeof(number));
	if (number < tale->next || number >= progress->nr_begun ||
	    (number > tale->next && !may_miss && !tale->misses && tale->nr_events > 0))
		ck_abort_msg("event %u instead of %u", number, tale->next);
	if (seen.length != length_of(number) ||
	    !px_test_is_filled(seen.data + 4, seen.length - 4, number))
		ck_abort_msg("event %u is torn", number);
	if (ns < tale->last_ns)
		ck_abort_msg("the time of event %u falls", number);
	/*
	 * CLOCK_REALTIME as at the beginning.  The kernel may have slewed it since: allow 100 ns, and 10 us for each
	 * second.
	 */
	if (ns + 2000 < progress->before_ns[number] ||
	    (number < progress->nr_returned && progress->after_ns[number] != 0 &&
	     ns > progress->after_ns[number] + 2000))
		ck_abort_msg("the time of event %u is %lld ns from when it was recorded", number,
			     (long long)(ns - progress->before_ns[number]));
	tale->last_ns = ns;
	tale->next = number + 1;
	tale->misses = false;
	tale->nr_events++;
}

static struct tale read_log(bool may_miss)
{
	trace_id_t trid = px_test_open(file);
	struct tale tale = {0};
	trace_event_id_t id;

	while ((id = px_test_take_recorded(trid, &seen)) != 0) {
		if (id == type)
			read_number(&tale, may_miss);
		else
			read_system_event(&tale, id);
		/* The STOP of a recovery is not later than the program.  Slack: as in read_number(). */
		ck_assert_msg(progress->dead_ns == 0 ||
				      px_test_ns(seen.info.posix_timestamp) <= progress->dead_ns + 2000,
			      "event %d is %lld ns after the end of the program", (int)id,
			      (long long)(px_test_ns(seen.info.posix_timestamp) - progress->dead_ns));
		tale.nr_read++;
		tale.ends_with_start = id == POSIX_TRACE_START;
	}
	ok(posix_trace_close(trid));
	return tale;
}

static struct txtrace_loss loss_of_log(void)
{
	trace_id_t trid = px_test_open(file);
	struct txtrace_file_info info;
	struct txtrace_loss loss;

	ok(txtrace_get_loss(trid, &loss));
	ok(txtrace_get_file_info(trid, &info));
	ck_assert_int_eq(info.complete, 1);
	ck_assert_int_eq(info.recovered, 1);
	ok(posix_trace_close(trid));
	return loss;
}

static bool log_loses(void)
{
	return script->stream.log_policy != APPENDED;
}

/*
 * Each recorded event is in the log or is counted as lost.  An event that was being written may be either, or neither.
 */
static void expect_all_or_loss(const struct txtrace_loss *loss)
{
	struct tale tale = read_log(script->stream.log_policy == LOOPING);
	uint64_t base = progress->base;
	uint64_t arg = tale.nr_events + loss->overwritten + loss->dropped;

	if (script->stream.policy != LOOPING)
		ck_assert_uint_eq(loss->overwritten, 0); /* the stream keeps what is not in the log */
	if (!log_loses() || (script->stream.log_policy == LOOPING && !progress->is_clearing)) {
		if (script->stream.log_policy == LOOPING)
			arg = tale.nr_events + facts.commit.nr_lost + loss->overwritten +
			      loss->dropped; /* system events too */
		ck_assert_msg(progress->is_clearing || arg + base + 1 >= progress->nr_returned,
			      "%llu events, %llu overwritten, %llu dropped of %u since %llu",
			      (unsigned long long)tale.nr_events,
			      (unsigned long long)loss->overwritten,
			      (unsigned long long)loss->dropped, progress->nr_returned,
			      (unsigned long long)base);
	}
	if (!log_loses() && !progress->is_clearing && !script->clear_at) {
		ck_assert_uint_ge(arg, progress->nr_returned);
		if (loss->overwritten == 0) /* a START may be this one */
			ck_assert_uint_le(arg, progress->nr_begun);
	}
	/* The newest event is never missing, unless it found no room. */
	if (script->stream.log_policy != BOUNDED && loss->dropped == 0 && !progress->is_clearing &&
	    progress->nr_returned > base)
		ck_assert_msg(tale.next >= progress->nr_returned, "%u is the last of %u", tale.next,
			      progress->nr_returned);
	/* If events after the last one in the log are lost, the log says so. */
	if (script->stream.log_policy != BOUNDED && !progress->is_clearing && tale.next < progress->nr_returned &&
	    progress->nr_returned > base)
		ck_assert_msg(tale.in_gap || tale.misses, "no gap after event %u, %u were recorded", tale.next - 1,
			      progress->nr_returned);
	/* A call that had begun to stop or start the stream may have done half of its work; a restart may, too. */
	if (!progress->is_stopping && !progress->is_clearing && !script->filters_stop)
		ck_assert_msg(!tale.runs || tale.ends_with_start,
			      "runs %d, %llu events, last %u of %u, dropped %llu", tale.runs,
			      (unsigned long long)tale.nr_events, tale.next, progress->nr_begun,
			      (unsigned long long)loss->dropped);
}

static void expect_all(void)
{
	struct txtrace_loss loss = loss_of_log();

	px_test_check_log(file, 0, &facts);
	ck_assert_int_eq(facts.commit.is_complete, PX_LOG_RECOVERED);
	expect_all_or_loss(&loss);
}

/* The log is recovered, and equals in all respects one that was shut down. */
static void expect_recovered(void)
{
	ok(txtrace_recover(file));
	expect_clean();
	expect_all();
}

static uint64_t count_steps(bool (*which)(const char *name))
{
	uint64_t n;

	/* Recover in this process, so that it gets the number. */
	begin_anew();
	die_at(which, 0);
	control_stream();
	n = __atomic_load_n(&nr_steps, __ATOMIC_RELAXED);
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
	ok(posix_trace_shutdown(stream));
	return n;
}

/* A stream and a log with the policy UNTIL_FULL; both become full. */
static void fill_stream_and_log(size_t log_size, int nr_flushes, uint64_t fatal)
{
	const struct px_test_stream wanted = {.policy = POSIX_TRACE_UNTIL_FULL,
					      .size = 4000,
					      .max_data = 16,
					      .nr_rings = 1,
					      .log_policy = POSIX_TRACE_UNTIL_FULL,
					      .log_size = log_size};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stream = px_test_create_log(&wanted, file);
	posix_trace_start(stream);
	__atomic_store_n(&progress->is_created, true, __ATOMIC_RELEASE);
	die_at(is_any, fatal);
	for (int i = 0; i < 8; i++) {
		for (uint32_t j = 0; j < 100; j++)
			px_test_trace(type, j);
		if (i < nr_flushes)
			posix_trace_flush(stream);
	}
	kill(getpid(), SIGKILL);
}

/*
 * LOGP-2 EXIT-4: a recovered log never has two STOPs in a row, wherever its controller died, and however much room is
 * after STOP.
 */
START_TEST(recover_of_a_full_stream_with_a_full_log_ends_in_one_stop)
{
	uint64_t random = test_seed();

	for (size_t size = _i == 1 ? 32400 : 36400, end = size + 2000; size < end; size += 80) {
		uint64_t fatal = _i == 2 ? 1 + next_random(&random) % 20000 : 0;
		struct px_test_event seen_before;
		int last = 0;
		pid_t child;

		ck_assert_int_eq(ftruncate(file, 0), 0);
		progress->is_created = false;
		fflush(NULL);
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0)
			fill_stream_and_log(size, _i == 1 ? 7 : 8, fatal);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		if (!progress->is_created)
			continue;
		ok(txtrace_recover(file));
		stream = px_test_open(file);
		while (px_test_take_recorded(stream, &seen_before) != 0) {
			int id = (int)seen_before.info.posix_event_id;

			ck_assert_msg(id != POSIX_TRACE_STOP || last != POSIX_TRACE_STOP,
				      "two STOPs in a log of %zu bytes, death at step %llu", size,
				      (unsigned long long)fatal);
			if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP || id == (int)type)
				last = id;
		}
		ok(posix_trace_close(stream));
	}
}
END_TEST

/* How many of the cases a test tries. */
static int nr_rounds(int whole, int sample, int sanitized)
{
	return px_test_is_whole() ? whole : getenv("PX_SANITIZED") ? sanitized : sample;
}

/*
 * EXIT-1 EXIT-4: at writes from the first to the last, and after the last one: the test takes a random write of each
 * piece.
 */
START_TEST(recover_after_death_at_any_write_has_everything)
{
	uint64_t random = test_seed() + (uint64_t)_i, n, stride;
	int nr_tried = 0;

	script = &scripts[_i];
	n = count_steps(is_write) + 4;
	stride = px_test_is_whole() ? 1 : 1 + n / (uint64_t)nr_rounds(1, 15, 10);
	for (uint64_t begin = 1; begin <= n; begin += stride) {
		run_script(is_write, begin + next_random(&random) % stride);
		if (!progress->is_created)
			continue;
		expect_recovered();
		nr_tried++;
	}
	ck_assert_int_gt(nr_tried, 0);
}
END_TEST

/* The same at every step that other processes can see. */
START_TEST(recover_after_death_at_any_step_has_everything)
{
	uint64_t random = test_seed() + (uint64_t)_i, n;
	int nr_tried = 0;

	script = &scripts[_i];
	n = count_steps(is_any);
	for (int round = 0; round < nr_rounds(60, 8, 8); round++) {
		run_script(is_any, 1 + next_random(&random) % n);
		if (!progress->is_created)
			continue;
		expect_recovered();
		nr_tried++;
	}
	ck_assert_int_gt(nr_tried, 0);
}
END_TEST

static void recover_and_die(void)
{
	die_at(which_die, when_die);
	txtrace_recover(file);
}

/* EXIT-4: recovery is killed at every write, again and again, and still comes to its end. */
START_TEST(recover_killed_at_any_step_is_gone_on_with)
{
	uint64_t random = test_seed() + (uint64_t)_i;
	int nr_tried = 0;

	script = &scripts[_i];
	for (int round = 0; round < nr_rounds(25, 5, 3); round++) {
		run_script(round % 2 ? is_write : is_any,
			   100 + next_random(&random) % (round % 2 ? 300 : 5000));
		if (!progress->is_created)
			continue;
		for (int death = 0; death < 6; death++) {
			which_die = death % 2 ? is_write : is_any;
			when_die = 1 + next_random(&random) % (death % 2 ? 12 : 400);
			run_in_child(recover_and_die);
			px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
		}
		expect_recovered();
		nr_tried++;
	}
	ck_assert_int_gt(nr_tried, 0);
}
END_TEST

/* In order, at each write of the recovery. */
START_TEST(recover_killed_at_each_write_in_turn_is_gone_on_with)
{
	uint64_t step = px_test_is_whole() ? 1 : 8, first = 1 + test_seed() % step;

	script = &scripts[_i];
	for (uint64_t call = first; call < 40; call += step) {
		run_script(is_write, 150);
		which_die = is_write;
		when_die = call;
		run_in_child(recover_and_die);
		px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
		expect_recovered();
	}
}
END_TEST

/*
 * A writer finds the stream full, and sleeps before it counts its event as dropped.  Meanwhile the flush thread starts
 * the stream again: START knows nothing of this loss.  The next event is recorded, and the controller dies when the
 * flush thread comes to this test point.
 */
static const struct {
	const char *point;
	bool before; /* the event is recorded before the flush thread goes on from the state RUNNING */
} late_deaths[] = {{"stream.start.running", true},
		   {"reader.snapshot.taken", false},
		   {"log.write.before", true},
		   {"log.write.before", false}};

static pid_t main_tid;
static const char *fatal_point;
static struct {
	bool is_dated, is_restarted, is_counted, is_running, may_go_on, is_there;
} race;
static int nr_to_date; /* drops until the one at which the writer sleeps */

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void await(const bool *flag)
{
	while (!is_set(flag))
		sched_yield();
}

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

static void step_of_flush_thread(const char *name)
{
	await(&race.is_dated);
	if (is_set(&race.may_go_on) && strcmp(name, fatal_point) == 0) {
		set(&race.is_there);
		pause();
	} else if (strcmp(name, "stream.start.recorded") == 0 && !is_set(&race.is_restarted)) {
		set(&race.is_restarted);
		await(&race.is_counted);
	} else if (strcmp(name, "stream.start.running") == 0 && !is_set(&race.is_running)) {
		set(&race.is_running);
		await(&race.may_go_on);
	}
}

/* The writer sleeps until the flush thread has set this flag. */
static void step_of_writer(const char *name, const bool *flag)
{
	if (strcmp(name, "point.drop.dated") == 0 && --nr_to_date == 0) {
		set(&race.is_dated);
		await(flag);
	} else if (strcmp(name, "point.drop.counted") == 0 && is_set(&race.is_dated)) {
		set(&race.is_counted);
	}
}

static void step_of_late_drop(const char *name)
{
	if ((pid_t)syscall(SYS_gettid) != main_tid)
		step_of_flush_thread(name);
	else
		step_of_writer(name, &race.is_restarted);
}

static uint32_t record_until_dropped(void (*hook)(const char *name))
{
	uint32_t number = 0;

	main_tid = (pid_t)syscall(SYS_gettid);
	memset(&race, 0, sizeof(race));
	stream = px_test_create_log(&script->stream, file);
	posix_trace_start(stream);
	__atomic_store_n(&px_testpoint_hook, hook, __ATOMIC_RELEASE);
	while (!is_set(&race.is_counted))
		record(number++);
	return number;
}

static void drop_late_and_die(void)
{
	uint32_t number = record_until_dropped(step_of_late_drop);

	await(&race.is_running);
	if (late_deaths[when_die].before) {
		record(number++);
		if (strcmp(fatal_point, "stream.start.running") == 0)
			return;
		set(&race.may_go_on);
		await(&race.is_there);
	} else {
		set(&race.may_go_on);
		await(&race.is_there);
		record(number++);
	}
}

/*
 * EXIT-1 EVENT-12: the gap is told by the process that completes the log.  In the second half of the cases, START has a
 * gap of its own: the later loss is another one, after START.
 */
START_TEST(recover_tells_a_loss_that_START_did_not_know)
{
	const int nr_dropped = 1 + _i / (int)PX_ARRAY_SIZE(late_deaths);
	struct tale tale;

	script = &scripts[5];
	begin_anew();
	nr_to_date = nr_dropped;
	when_die = (uint64_t)_i % PX_ARRAY_SIZE(late_deaths);
	fatal_point = late_deaths[when_die].point;
	run_in_child(drop_late_and_die);
	ok(txtrace_recover(file));
	tale = read_log(false);
	ck_assert_int_eq((int)tale.nr_events, (int)progress->nr_returned - nr_dropped);
	ck_assert_int_eq((int)tale.nr_gaps, nr_dropped);
	ck_assert_int_eq((int)loss_of_log().dropped, nr_dropped);
}
END_TEST

/* The same, but the writer sleeps until the stream runs, and marks its loss itself. */
static void step_of_stale_drop(const char *name)
{
	if ((pid_t)syscall(SYS_gettid) != main_tid) {
		await(&race.is_dated);
		if (strcmp(name, "stream.start.running") == 0)
			set(&race.is_running);
		else if (is_set(&race.is_running) && strcmp(name, "reader.snapshot.taken") == 0)
			set(&race.is_there);
	} else {
		step_of_writer(name, &race.is_there);
	}
}

static void drop_stale(void)
{
	uint32_t number = record_until_dropped(step_of_stale_drop);

	record(number++);
	posix_trace_flush(stream);
	record(number++);
	if (when_die)
		posix_trace_shutdown(stream);
}

/* EXIT-1 EVENT-12: a loss is told once, by a process that completes the log, and by the controller. */
START_TEST(recover_tells_a_loss_once)
{
	struct tale tale;

	script = &scripts[5];
	begin_anew();
	nr_to_date = 1;
	when_die = (uint64_t)_i;
	run_in_child(drop_stale);
	ok(txtrace_recover(file));
	tale = read_log(false);
	ck_assert_uint_eq(tale.nr_events, progress->nr_returned - 1);
	ck_assert_uint_eq(tale.nr_gaps, 1);
	ck_assert(!tale.in_gap);
}
END_TEST

/* The OVERFLOW at the end of a log is written by a recovery, too, that goes on with one that was killed there. */
START_TEST(recover_killed_at_the_last_gap_tells_it)
{
	script = &scripts[4];
	for (uint64_t call = 14; call < 24; call++) {
		run_script(is_write, 150);
		which_die = is_write;
		when_die = call;
		run_in_child(recover_and_die);
		expect_recovered();
	}
}
END_TEST

/* Entries behind the commit, as a write of many events leaves them. */
static void forge_entries(uint64_t position, uint64_t count)
{
	const struct px_txtb_entry entry = {
		.context = px_txtb_handle(PX_TXTB_THREAD, 77), .id = PX_TXTB_USER_EVENT + 600, .stamp = 1};

	for (uint64_t i = position; i < position + count; i++)
		ck_assert_int_eq(pwrite(file, &entry, sizeof(entry),
					(off_t)(facts.layout.entries +
						i % facts.capacity * sizeof(entry))),
				 sizeof(entry));
}

/* One controller that has done all its steps, and was killed. */

static void leave_log(const struct script *which)
{
	script = which;
	ck_assert(run_script(is_any, 0));
	ck_assert_int_eq(count_files("log."), 1);
	ck_assert_int_eq(count_files("stream."), 1);
}

/* EXIT-4 OPEN-10: a descriptor for reading is enough; the library finds the file by its log, and not by its name. */
START_TEST(recover_by_open_through_a_descriptor_for_reading)
{
	int reading;

	leave_log(&scripts[_i]);
	reading = px_test_reopen(file, O_RDONLY);
	ck_assert_int_eq(unlink(path), 0);
	close(file);
	file = reading;
	expect_all();
	expect_clean();
}
END_TEST

/*
 * EXIT-1: the next create by the same user completes logs that other processes left, with any policy, before it makes
 * its own stream.
 */
START_TEST(recover_by_the_next_create)
{
	leave_log(&scripts[_i]);
	ok(posix_trace_create(0, NULL, &stream));
	ck_assert_int_eq(count_files("log."), 0);
	ck_assert_int_eq(count_files("stream."), 1);
	expect_all();
	ok(posix_trace_shutdown(stream));
}
END_TEST

/* The same file again: its old content is no log any more. */
START_TEST(recover_of_a_file_that_has_become_another_log_gives_up)
{
	unsigned int nr_recovered, nr_left;

	leave_log(&scripts[0]);
	stream = px_test_create_log(&scripts[0].stream, file);
	ck_assert_int_eq(count_files("log."), 1);
	fails(txtrace_recover(file), EBUSY);
	ok(posix_trace_start(stream));
	record(0);
	ok(posix_trace_shutdown(stream));
	ok(txtrace_recover(file));
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_uint_eq(nr_recovered + nr_left, 0);
	px_test_check_log(file, 0, &facts);
	ck_assert_int_eq(facts.commit.is_complete, PX_LOG_COMPLETE);
	expect_clean();
}
END_TEST

static void become_another_program(void)
{
	control_stream();
	execl("/proc/self/exe", "check_recover", "--helper", (char *)NULL);
	_exit(7);
}

/* EXEC-4: the constructor of the new program completes the log of the previous one. */
START_TEST(recover_after_exec_by_the_new_image)
{
	int status;
	pid_t child;

	script = &scripts[_i];
	begin_anew();
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		become_another_program();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	expect_clean();
	expect_all();
}
END_TEST

/* EXEC-4: a program without this library lives, but does not map the segment. */
START_TEST(recover_after_exec_of_a_stranger)
{
	int ready[2];
	pid_t child;
	char byte;

	script = &scripts[0];
	begin_anew();
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		control_stream();
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(7);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0); /* closed by the exec */
	close(ready[0]);
	ok(posix_trace_open(file, &stream));
	ok(posix_trace_close(stream));
	expect_clean();
	expect_all();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

/* What is answered. */

START_TEST(recover_of_what_is_no_log_gives_einval)
{
	static const char text[] = "no log";
	unsigned int number;
	int ends[2];

	fails(txtrace_recover(-1), EINVAL);
	fails(txtrace_recover(file), EINVAL); /* empty */
	ck_assert_int_eq(write(file, text, sizeof(text)), sizeof(text));
	fails(txtrace_recover(file), EINVAL);
	ck_assert_int_eq(pipe(ends), 0);
	fails(txtrace_recover(ends[0]), EINVAL);
	close(ends[0]);
	close(ends[1]);
	fails(txtrace_recover(ends[0]), EINVAL);
	fails(txtrace_recover_all(NULL, &number), EINVAL);
	fails(txtrace_recover_all(&number, NULL), EINVAL);
}
END_TEST

static int reported_error;
static unsigned int nr_reports;
static char reported_path[PATH_MAX];

static void on_log(const char *log_path, int error, void *argument)
{
	snprintf(reported_path, sizeof(reported_path), "%s", log_path);
	reported_error = error;
	++*(unsigned int *)argument;
}

/* A log is completed, is not available now, or was removed: then recover reports it once, and never again. */
START_TEST(recover_each_reports_the_outcome_of_a_log)
{
	static const int errors[] = {0, EFBIG, ENOENT};
	char real[PATH_MAX];
	int error;

	fails(txtrace_recover_each(NULL, NULL), EINVAL);
	leave_log(&scripts[0]);
	ck_assert_ptr_nonnull(realpath(path, real));
	if (_i == 1)
		px_test_limit_files(1);
	if (_i == 2)
		unlink(path);
	error = txtrace_recover_each(on_log, &nr_reports);
	px_test_unlimit_files();
	ok(error);
	ck_assert_uint_eq(nr_reports, 1);
	ck_assert_int_eq(strncmp(reported_path, real, strlen(real)), 0);
	ck_assert_int_eq(reported_error, errors[_i]);
	ck_assert_int_eq(count_files("log."), _i == 1);
	ok(txtrace_recover_each(on_log, &nr_reports));
	ck_assert_uint_eq(nr_reports, _i == 1 ? 2 : 1);
	expect_clean();
}
END_TEST

START_TEST(recover_of_a_log_whose_writer_lives_gives_ebusy)
{
	unsigned int nr_recovered = 7, nr_left = 7;

	script = &scripts[0];
	stream = px_test_create_log(&script->stream, file);
	fails(txtrace_recover(file), EBUSY);
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_uint_eq(nr_recovered + nr_left, 0);
	ck_assert_int_eq(count_files("log."), 1);
	ok(posix_trace_shutdown(stream));
	ok(txtrace_recover(file));
	expect_clean();
}
END_TEST

/* Without the segment, the log stays as at its last commit, and is not marked as complete. */
static void expect_as_committed(void)
{
	struct txtrace_file_info info;
	uint64_t nr_events = facts.commit.nr_events, n = 0;

	fails(txtrace_recover(file), ENOENT);
	stream = px_test_open(file);
	ok(txtrace_get_file_info(stream, &info));
	ck_assert_int_eq(info.complete, 0);
	ck_assert_int_eq(info.recovered, 0);
	while (px_test_take_recorded(stream, &seen) != 0)
		n++;
	ck_assert_uint_eq(n, nr_events);
	ck_assert_uint_gt(n, 0);
	ok(posix_trace_close(stream));
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	ck_assert_int_eq(facts.commit.is_complete, PX_LOG_OPEN);
}

/* Return the name of the only file with this prefix. */
static void find_file(const char *prefix, char found[PATH_MAX])
{
	DIR *directory = opendir(segments());
	struct dirent *entry;

	found[0] = '\0';
	while ((entry = readdir(directory)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			snprintf(found, PATH_MAX, "%s/%s", segments(), entry->d_name);
	closedir(directory);
	ck_assert_int_ne(found[0], '\0');
}

static struct px_checkpoint_content *map_checkpoint_file(size_t *size)
{
	struct px_checkpoint_content *mapped;
	char name[PATH_MAX];
	struct stat status;
	int fd;

	find_file("log.", name);
	fd = open(name, O_RDWR);
	ck_assert_int_eq(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	mapped = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	close(fd);
	return mapped;
}

START_TEST(recover_without_the_segment_leaves_what_was_committed)
{
	char name[PATH_MAX];

	leave_log(&scripts[0]);
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	find_file("stream.", name);
	ck_assert_int_eq(unlink(name), 0);
	expect_as_committed();
	expect_clean();
}
END_TEST

/* The machine was restarted, and the segment is on a disk. */
START_TEST(recover_after_another_boot_leaves_what_was_committed)
{
	struct px_checkpoint_content *checkpoint_file;
	size_t size;

	leave_log(&scripts[0]);
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	checkpoint_file = map_checkpoint_file(&size);
	checkpoint_file->boot_id[0] ^= 1;
	munmap(checkpoint_file, size);
	expect_as_committed();
	expect_clean();
}
END_TEST

/*
 * EXIT-4: the controller died while it wrote more entries than the recovery writes.  In a LOOP log that goes round, the
 * viewer still finds all that is in the log, also the older events behind those entries.
 */
START_TEST(recover_behind_entries_of_an_unfinished_write_shows_all)
{
	struct px_checkpoint_content *checkpoint_file;
	size_t size;

	leave_log(&scripts[1]);
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	ck_assert_uint_gt(facts.commit.end, facts.capacity);
	ck_assert_uint_lt(facts.commit.end % facts.capacity + 200, facts.capacity);
	forge_entries(facts.commit.end, 200);
	checkpoint_file = map_checkpoint_file(&size);
	checkpoint_file->spoiled = facts.commit.end + 200;
	munmap(checkpoint_file, size);
	expect_recovered();
}
END_TEST

/* Another version of the library may need the checkpoint file of its version. */
START_TEST(recover_leaves_a_checkpoint_file_that_it_does_not_know)
{
	struct px_checkpoint_content *checkpoint_file;
	unsigned int nr_recovered, nr_left;
	size_t size;

	leave_log(&scripts[0]);
	checkpoint_file = map_checkpoint_file(&size);
	checkpoint_file->magic++;
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_int_eq(count_files("log."), 1);
	checkpoint_file->magic--;
	munmap(checkpoint_file, size);
	expect_recovered();
}
END_TEST

/* The controller dies after it has created the file and before the file is valid: create had not returned. */
START_TEST(recover_removes_a_checkpoint_file_that_was_never_valid)
{
	struct px_checkpoint_content *checkpoint_file;
	size_t size;

	leave_log(&scripts[0]);
	checkpoint_file = map_checkpoint_file(&size);
	checkpoint_file->magic = 0;
	munmap(checkpoint_file, size);
	ok(posix_trace_create(0, NULL, &stream)); /* it frees the slot, then cleans up */
	ck_assert_int_eq(count_files("log."), 0);
	ok(posix_trace_shutdown(stream));
	expect_clean();
}
END_TEST

static void die(void)
{
	raise(SIGKILL);
}

/* EXIT-5: the process that removes it is killed before it ends, and another stream has used its slot since */
START_TEST(recover_killed_at_an_invalid_checkpoint_file_leaves_nothing_behind)
{
	struct px_checkpoint_content *checkpoint_file;
	size_t size;
	pid_t child;
	int status;

	leave_log(&scripts[0]);
	checkpoint_file = map_checkpoint_file(&size);
	checkpoint_file->magic = 0;
	munmap(checkpoint_file, size);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		px_test_at_point("checkpoint.segment.removed", die);
		_exit(posix_trace_create(0, NULL, &stream));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ok(posix_trace_create(0, NULL, &stream));
	ok(posix_trace_shutdown(stream));
	expect_clean();
}
END_TEST

/* All content is untrusted: with any content nothing fails, and in the end no file is left. */
START_TEST(recover_with_random_damage_never_breaks)
{
	uint64_t random = test_seed();

	for (int round = 0; round < nr_rounds(120, 20, 20); round++) {
		unsigned int nr_recovered, nr_left;
		/* Do not change the pid of the controller, because it could become that of a living process. */
		size_t spared = round % 3 ? 0 : sizeof(struct px_checkpoint_content);
		unsigned char *bytes;
		size_t size;
		int fd;
		char name[PATH_MAX];
		struct stat status;

		leave_log(&scripts[round % NR_SCRIPTS]);
		find_file(round % 3 ? "stream." : "log.", name);
		fd = round % 3 == 2 ? px_test_reopen(file, O_RDWR) : open(name, O_RDWR);
		ck_assert_int_eq(fstat(fd, &status), 0);
		size = (size_t)status.st_size;
		bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		ck_assert_ptr_ne(bytes, MAP_FAILED);
		for (int i = 0; i < 200; i++) {
			size_t at = spared + next_random(&random) % (size - spared);

			bytes[at] = (unsigned char)next_random(&random);
		}
		munmap(bytes, size);
		txtrace_recover(file);
		ok(txtrace_recover_all(&nr_recovered, &nr_left));
		unlink(path);
		ok(txtrace_recover_all(&nr_recovered, &nr_left));
		expect_clean();
		close(file);
		make_file();
	}
}
END_TEST

/* Logs that were moved. */

START_TEST(recover_of_a_log_that_was_removed_cleans_up)
{
	unsigned int nr_recovered, nr_left;

	leave_log(&scripts[0]);
	ck_assert_int_eq(unlink(path), 0);
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_uint_eq(nr_recovered + nr_left, 0);
	expect_clean();
}
END_TEST

/* EXIT-1 EXIT-4: its new name is not known, and in one case its old name belongs to another file */
START_TEST(recover_of_a_log_that_was_renamed_completes_it)
{
	unsigned int nr_recovered, nr_left;
	char moved[PATH_MAX + 8];

	leave_log(&scripts[0]);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	ck_assert_int_eq(rename(path, moved), 0);
	if (_i)
		close(open(path, O_CREAT | O_WRONLY, 0600));
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	unlink(moved);
	ck_assert_uint_eq(nr_recovered, 1);
	ck_assert_uint_eq(nr_left, 0);
	expect_all();
	expect_clean();
}
END_TEST

/* Like a service whose /tmp is a private folder: for the controller, the path of the log begins in another place. */
static void control_in_a_place_of_its_own(const char *folder)
{
	char inner[PATH_MAX];

	snprintf(inner, sizeof(inner), "%s/inner", folder);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount(inner, folder, NULL, MS_BIND, NULL) != 0)
		_exit(77);
	snprintf(inner, sizeof(inner), "%s/log", folder);
	file = open(inner, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		_exit(1);
	control_stream();
	_exit(0);
}

/* EXIT-1 EXIT-4: a missing log in this place does not prove that it was removed */
START_TEST(recover_where_the_path_means_another_place_leaves_the_log)
{
	unsigned int nr_recovered, nr_left;
	char folder[] = "/tmp/posixtrace-place.XXXXXX", inner[PATH_MAX];
	int status;
	pid_t child;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(inner, sizeof(inner), "%s/inner", folder);
	ck_assert_int_eq(mkdir(inner, 0700), 0);
	script = &scripts[0];
	begin_anew();
	fflush(NULL);
	child = fork();
	if (child == 0)
		control_in_a_place_of_its_own(folder);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status) == 77) {
		px_test_skip("no right to mount a file system");
	} else {
		ck_assert_int_eq(status, 0);
		ok(txtrace_recover_all(&nr_recovered, &nr_left));
		ck_assert_uint_eq(nr_recovered, 0);
		ck_assert_uint_eq(nr_left, 1);
		close(file);
		strcat(inner, "/log");
		file = open(inner, O_RDWR | O_CLOEXEC);
		unlink(inner);
		expect_recovered();
		*strrchr(inner, '/') = '\0';
	}
	rmdir(inner);
	rmdir(folder);
}
END_TEST

/* The library follows neither a link to the log nor another file in its place. */
START_TEST(recover_follows_no_link_and_takes_no_other_file)
{
	unsigned int nr_recovered, nr_left;
	char moved[PATH_MAX + 8];

	leave_log(&scripts[0]);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(symlink(moved, path), 0);
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_uint_eq(nr_recovered, 0);
	ck_assert_uint_eq(nr_left, 1);
	ck_assert_int_eq(count_files("log."), 1);
	unlink(path);
	if (_i) { /* the log is there again */
		ck_assert_int_eq(rename(moved, path), 0);
		ok(txtrace_recover_all(&nr_recovered, &nr_left));
		ck_assert_uint_eq(nr_recovered, 1);
		ck_assert_uint_eq(nr_left, 0);
		expect_all();
	} else { /* by its descriptor it is still the log */
		expect_recovered();
		unlink(moved);
	}
	expect_clean();
}
END_TEST

/* A file of another user that this process may write to: recover completes it if it gets the file, but does not search
 * for it. */
START_TEST(recover_looks_for_no_log_of_another_user)
{
	unsigned int nr_recovered, nr_left;
	struct px_checkpoint_content *checkpoint_file;
	size_t size;

	if (geteuid() != 0) {
		px_test_skip("needs root, to give a file away");
		return;
	}
	leave_log(&scripts[0]);
	ck_assert_int_eq(fchown(file, 12345, 12345), 0);
	fails(txtrace_recover(file), ENOENT);
	checkpoint_file = map_checkpoint_file(&size);
	checkpoint_file->owner = 12345;
	munmap(checkpoint_file, size);
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_uint_eq(nr_recovered, 0);
	ck_assert_uint_eq(nr_left, 1);
	expect_recovered();
}
END_TEST

START_TEST(recover_without_room_for_the_log_can_be_tried_again)
{
	uint64_t size;
	int error;

	leave_log(&scripts[0]);
	px_test_check_log(file, PX_TEST_LOG_IS_CUT, &facts);
	size = facts.layout.frames + facts.commit.end_frame;
	px_test_limit_files(size);
	error = txtrace_recover(file);
	px_test_unlimit_files();
	ck_assert_int_eq(error, EFBIG);
	px_test_check_log(file, PX_TEST_LOG_IS_CUT | PX_TEST_LOG_WAS_BROKEN, &facts);
	ck_assert_int_eq(facts.commit.is_complete, PX_LOG_OPEN);
	expect_recovered();
}
END_TEST

static void record_and_die(void)
{
	for (uint32_t number = 40; number < 400; number++)
		record(number);
	kill(getpid(), SIGKILL);
}

/* While events that were read are being written, writers have no more room than before. */
static void fill_while_writing(void)
{
	static const struct px_test_stream small = {BOUNDED, 4000, 16, 1, APPENDED, 0};

	stream = px_test_create_log(&small, file);
	posix_trace_start(stream);
	progress->is_created = true;
	for (uint32_t number = 0; number < 40; number++)
		record(number);
	px_test_at_point("log.write.begin", record_and_die);
	posix_trace_flush(stream);
}

START_TEST(recover_has_what_was_read_and_not_written)
{
	static const struct script small = {
		{BOUNDED, 4000, 16, 1, APPENDED, 0}, 400, 0, 0, 0, false, 16};

	script = &small;
	begin_anew();
	run_in_child(fill_while_writing);
	ck_assert_uint_eq(progress->nr_returned, 400);
	expect_recovered();
	ck_assert_uint_eq(loss_of_log().overwritten, 0);
	ck_assert_uint_ge(loss_of_log().dropped, 200);
	ck_assert_uint_eq(read_log(false).nr_gaps, 1); /* UFULL-8: they are lost at the end */
}
END_TEST

static uint64_t fatal_write;
static sem_t is_ready, goes_on;

static void *record_one_then_many(void *unused)
{
	record(1);
	sem_post(&is_ready);
	while (sem_wait(&goes_on) != 0)
		;
	for (uint32_t number = 40; number < 400; number++)
		record(number);
	sem_post(&is_ready);
	return unused;
}

/* The other thread overwrites all events.  Then the process dies in the middle of its write. */
static void overwrite_and_die(const char *name)
{
	if (!is_write(name) || ++nr_steps != fatal_write)
		return;
	sem_post(&goes_on);
	while (sem_wait(&is_ready) != 0)
		;
	kill(getpid(), SIGKILL);
}

static void overwrite_while_writing(void)
{
	pthread_t thread;

	stream = px_test_create_log(&script->stream, file);
	posix_trace_start(stream);
	progress->is_created = true;
	record(0);
	sem_init(&is_ready, 0, 0);
	sem_init(&goes_on, 0, 0);
	if (pthread_create(&thread, NULL, record_one_then_many, NULL) != 0)
		return;
	while (sem_wait(&is_ready) != 0)
		;
	nr_steps = 0;
	__atomic_store_n(&px_testpoint_hook, overwrite_and_die, __ATOMIC_RELEASE);
	posix_trace_flush(stream);
	progress->is_done = true;
}

/* EXIT-4: the first write had objects, and it was not committed; the events that are left have other threads */
START_TEST(recover_after_a_first_write_lists_each_thread_once)
{
	static const struct script looping = {
		{LOOPING, 4000, 16, 1, BOUNDED, 100000}, 400, 0, 0, 0, false, 16};
	bool is_done = false;

	script = &looping;
	for (fatal_write = 1; !is_done; fatal_write++) {
		begin_anew();
		is_done = run_in_child(overwrite_while_writing);
		if (progress->is_created)
			ok(txtrace_recover(file));
		px_test_check_log(file, 0, &facts);
		ck_assert_int_eq(facts.commit.is_complete, PX_LOG_RECOVERED);
	}
	ck_assert_uint_ge(fatal_write, 6);
}
END_TEST

static void fail_and_go_on(void)
{
	stream = px_test_create_log(&script->stream, file);
	posix_trace_start(stream);
	progress->is_created = true;
	for (uint32_t number = 0; number < script->nr_events; number++) {
		record(number);
		if (number == 40)
			posix_trace_flush(stream);
		if (number % 40 == 39 && number > 100) {
			px_test_limit_files(4096);
			posix_trace_flush(stream);
			px_test_unlimit_files();
		}
	}
	progress->is_done = true;
}

/* LOGP-8: events of a failed write may be lost; then there is a gap, and no other damage. */
START_TEST(recover_behind_writes_that_failed_tells_the_gap)
{
	static const struct script failing = {
		{BOUNDED, 4000, 16, 2, APPENDED, 0}, 400, 0, 0, 0, false, 16};
	struct txtrace_loss loss;
	struct tale tale;

	script = &failing;
	begin_anew();
	ck_assert(run_in_child(fail_and_go_on));
	ok(txtrace_recover(file));
	px_test_check_log(file, 0, &facts);
	loss = loss_of_log();
	tale = read_log(false);
	ck_assert_uint_eq(tale.nr_gaps, 1);
	ck_assert_uint_eq(tale.next, 400);
	ck_assert_uint_gt(loss.overwritten, 0);
	ck_assert_msg(tale.nr_events + loss.overwritten + loss.dropped >= 400,
		      "%llu events, %llu overwritten, %llu dropped, %llu abandoned",
		      (unsigned long long)tale.nr_events, loss.overwritten, loss.dropped,
		      loss.abandoned);
	expect_clean();
}
END_TEST

/* Several processes recover at the same time. */

static int arrived[2], released[2];

static void pause_there(void)
{
	char byte = 0;

	if (write(arrived[1], &byte, 1) != 1 || read(released[0], &byte, 1) != 1)
		_exit(1);
}

/* A child that recovers the log, and stops in the middle. */
static pid_t fork_recoverer(int (*recovers)(void))
{
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe(arrived), 0);
	ck_assert_int_eq(pipe(released), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		px_test_at_point("recover.stop.noted", pause_there);
		_exit(recovers());
	}
	ck_assert_int_eq(read(arrived[0], &byte, 1), 1);
	return child;
}

static void release_recoverer(void)
{
	char byte = 0;

	ck_assert_int_eq(write(released[1], &byte, 1), 1);
}

static void wait_for_recoverer(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
	for (int i = 0; i < 2; i++) {
		close(arrived[i]);
		close(released[i]);
	}
}

static int recover_here(void)
{
	return txtrace_recover(file);
}

static int create_another(void)
{
	trace_id_t other;

	return posix_trace_create(0, NULL, &other) || posix_trace_shutdown(other);
}

START_TEST(recover_at_the_same_time_is_done_by_one)
{
	unsigned int nr_recovered, nr_left;
	int status;
	pid_t child;

	leave_log(&scripts[0]);
	child = fork_recoverer(recover_here);
	fails(txtrace_recover(file), EBUSY);
	ok(txtrace_recover_all(&nr_recovered, &nr_left));
	ck_assert_uint_eq(nr_recovered, 0);
	if (_i) {
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
	} else {
		release_recoverer();
		wait_for_recoverer(child);
		expect_clean();
	}
	expect_recovered();
}
END_TEST

/* OPEN-3 EXIT-4: the old content of the file is not the trace */
START_TEST(open_while_a_stopped_process_recovers_gives_ebusy)
{
	uint64_t begin_ns;
	pid_t child;

	leave_log(&scripts[0]);
	child = fork_recoverer(_i ? create_another : recover_here);
	begin_ns = monotonic_ns();
	fails(posix_trace_open(file, &stream), EBUSY);
	ck_assert_uint_lt(monotonic_ns() - begin_ns, UINT64_C(60000000000));
	release_recoverer();
	wait_for_recoverer(child);
	expect_recovered();
}
END_TEST

static void *open_in_thread(void *unused)
{
	int error = posix_trace_open(file, &stream);

	(void)unused;
	return (void *)(intptr_t)error;
}

static void note_signal(int number)
{
	(void)number;
}

static pthread_t open_and_wait(int flags)
{
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = flags};
	pthread_t opener;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(pthread_create(&opener, NULL, open_in_thread, NULL), 0);
	return opener;
}

/* EXIT-4 */
START_TEST(open_while_another_process_recovers_waits_for_it)
{
	uint64_t nr_events;
	void *error;
	pthread_t opener;
	pid_t child;

	leave_log(&scripts[_i]);
	child = fork_recoverer(_i % 2 ? create_another : recover_here);
	opener = open_and_wait(SA_RESTART);
	for (int i = 0; i < 20; i++) {
		if (px_test_kernel_restarts())
			pthread_kill(opener, SIGUSR1);
		sleep_ms(1);
	}
	release_recoverer();
	pthread_join(opener, &error);
	wait_for_recoverer(child);
	ck_assert_int_eq((int)(intptr_t)error, 0);
	for (nr_events = 0; px_test_take_recorded(stream, &seen) != 0;)
		nr_events += seen.info.posix_event_id == type;
	ok(posix_trace_close(stream));
	ck_assert_uint_eq(nr_events, read_log(log_loses()).nr_events);
	expect_all();
	expect_clean();
}
END_TEST

/* OPEN-4 */
START_TEST(open_that_waits_for_a_recovery_ends_by_a_signal)
{
	void *error;
	pthread_t opener;
	pid_t child;

	leave_log(&scripts[0]);
	child = fork_recoverer(recover_here);
	opener = open_and_wait(0);
	while (pthread_tryjoin_np(opener, &error) != 0) {
		pthread_kill(opener, SIGUSR1);
		sched_yield();
	}
	ck_assert_int_eq((int)(intptr_t)error, EINTR);
	release_recoverer();
	wait_for_recoverer(child);
	expect_recovered();
}
END_TEST

static void *recover_in_thread(void *unused)
{
	int error = txtrace_recover(file);

	(void)unused;
	return (void *)(intptr_t)error;
}

/* Threads of one process wait for each other. */
START_TEST(recover_by_many_threads_succeeds_in_all)
{
	pthread_t threads[4];

	leave_log(&scripts[_i]);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, recover_in_thread, NULL), 0);
	for (int i = 0; i < 4; i++) {
		void *error;

		pthread_join(threads[i], &error);
		ck_assert_int_eq((int)(intptr_t)error, 0);
	}
	expect_all();
	expect_clean();
}
END_TEST

/* A controller in another process, which goes on. */
static pid_t fork_controller_of_us(void)
{
	pid_t us = getpid(), child;

	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		trace_attr_t attr;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		posix_trace_attr_init(&attr);
		posix_trace_attr_setstreamfullpolicy(&attr, script->stream.policy);
		posix_trace_attr_setlogfullpolicy(&attr, script->stream.log_policy);
		if (posix_trace_create_withlog(us, &attr, file, &stream) != 0 ||
		    posix_trace_start(stream) != 0)
			_exit(9);
		__atomic_store_n(&progress->is_created, true, __ATOMIC_RELEASE);
		while (progress->flushes) {
			if (posix_trace_flush(stream) != 0)
				_exit(8);
			__atomic_fetch_add(&progress->nr_flushes, 1, __ATOMIC_RELEASE);
		}
		for (;;)
			pause();
	}
	while (!__atomic_load_n(&progress->is_created, __ATOMIC_ACQUIRE))
		sched_yield();
	return child;
}

/*
 * EXIT-1 EXIT-7: the log has what the target recorded, also after the death of its controller; then nothing more is
 * recorded.
 */
START_TEST(recover_while_the_target_goes_on)
{
	pid_t child;

	script = &scripts[_i ? 5 : 0];
	begin_anew();
	child = fork_controller_of_us();
	for (uint32_t number = 0; number < 100; number++)
		record(number);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	for (uint32_t number = 100; number < 150; number++)
		record(number);
	expect_recovered();
	ck_assert_uint_eq(read_log(false).nr_events, 150);
	record(150);
	ck_assert_uint_eq(read_log(false).nr_events, 150);
}
END_TEST

static void wait_for_flushes(uint32_t more)
{
	uint32_t before = __atomic_load_n(&progress->nr_flushes, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&progress->nr_flushes, __ATOMIC_ACQUIRE) - before <= more)
		sched_yield();
}

/*
 * EXIT-1 EXIT-6: the controller dies after it has set aside the event of a sleeping writer: this event is lost, and
 * counted.
 */
START_TEST(recover_counts_what_the_controller_had_set_aside)
{
	trace_event_id_t held = px_test_open_type("held");
	struct px_test_writer writer;
	struct txtrace_loss loss;
	pid_t child;

	script = &scripts[_i / 2 ? 5 : 0];
	begin_anew();
	progress->flushes = true;
	child = fork_controller_of_us();
	px_test_hold(&writer, "record.write.first", held, 1);
	ck_assert(writer.was_held);
	for (uint32_t number = 0; number < 50; number++)
		record(number);
	wait_for_flushes(2); /* the last window began after these events */
	for (uint32_t number = 50; number < 60; number++)
		record(number);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	if (_i % 2)
		px_test_release(&writer);
	ok(txtrace_recover(file));
	if (_i % 2 == 0)
		px_test_release(&writer);
	expect_clean();
	loss = loss_of_log();
	ck_assert_uint_eq(loss.abandoned, 1);
	ck_assert_uint_eq(loss.overwritten + loss.dropped, 0);
	ck_assert_uint_eq(read_log(false).nr_events, 60);
}
END_TEST

/* Further contents of the log. */

static void open_types_late(void)
{
	trace_event_id_t late;

	stream = px_test_create_log(&script->stream, file);
	posix_trace_start(stream);
	posix_trace_eventid_open("early one", &late);
	posix_trace_event(late, NULL, 0);
	posix_trace_flush(stream);
	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "late %d", i);
		posix_trace_eventid_open(name, &late);
		posix_trace_event(late, NULL, 0);
	}
	progress->is_done = true;
}

/* EVNAME-1 TYPELIST-3: types that were opened after the last commit also have their names. */
START_TEST(recover_knows_types_that_were_opened_late)
{
	static const char *const names[] = {"recovered", "early one", "late 0", "late 1",
					    "late 2",	 "late 3",    "late 4"};
	trace_event_id_t id;
	size_t found = 0, recorded = 0;
	int unavailable;

	script = &scripts[0];
	begin_anew();
	ck_assert(run_in_child(open_types_late));
	stream = px_test_open(file);
	for (;;) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		ok(posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable));
		if (unavailable)
			break;
		ok(posix_trace_eventid_get_name(stream, id, name));
		if (id <= POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ck_assert_uint_lt(found, PX_ARRAY_SIZE(names));
		ck_assert_str_eq(name, names[found++]);
	}
	ck_assert_uint_eq(found, PX_ARRAY_SIZE(names));
	while ((id = px_test_take_recorded(stream, &seen)) != 0)
		recorded += id > POSIX_TRACE_UNNAMED_USEREVENT;
	ck_assert_uint_eq(recorded, 6);
	ok(posix_trace_close(stream));
	px_test_check_log(file, 0, &facts);
	expect_clean();
}
END_TEST

/* As many rings as there can be. */
START_TEST(recover_of_a_thousand_rings)
{
	static const struct script wide = {
		{BOUNDED, 1000, 16, 1024, APPENDED, 0}, 30, 20, 0, 0, false, 16};

	script = &wide;
	ck_assert(run_script(is_any, 0));
	expect_recovered();
}
END_TEST

/* CREATE-18: a failed create leaves no files; neither does a shutdown, even if it returns an error. */
START_TEST(recover_finds_nothing_of_a_create_that_failed)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	px_test_limit_files(1 << 16);
	ck_assert_int_ne(posix_trace_create_withlog(0, &attr, file, &stream), 0);
	px_test_unlimit_files();
	expect_clean();
	script = &scripts[0];
	stream = px_test_create_log(&script->stream, file);
	px_test_limit_files(100);
	fails(posix_trace_shutdown(stream), EFBIG);
	px_test_unlimit_files();
	expect_clean();
}
END_TEST

static void *control_in_thread(void *unused)
{
	control_stream();
	for (;;)
		pause();
	return unused;
}

static void end_first_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, control_in_thread, NULL);
	pthread_exit(NULL);
}

/* A process whose first thread has ended still lives, and so does its stream. */
START_TEST(recover_leaves_a_controller_whose_first_thread_has_ended)
{
	pid_t child;

	script = &scripts[0];
	begin_anew();
	fflush(NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		end_first_thread();
	}
	while (!__atomic_load_n(&progress->is_done, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	sleep_ms(20);
	fails(txtrace_recover(file), EBUSY);
	ok(posix_trace_create(0, NULL, &stream));
	ok(posix_trace_shutdown(stream));
	ck_assert_int_eq(count_files("log."), 1);
	ck_assert_int_eq(count_files("stream."), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_recovered();
}
END_TEST

static void *recover_as_last_thread(void *unused)
{
	sleep_ms(20); /* the first one ends */
	_exit(txtrace_recover(file));
	return unused;
}

/* EXIT-4: the recovering process does not need its first thread either */
START_TEST(recover_by_a_process_whose_first_thread_has_ended)
{
	int status;
	pid_t child;

	leave_log(&scripts[0]);
	child = fork();
	if (child == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, recover_as_last_thread, NULL);
		pthread_exit(NULL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	expect_recovered();
}
END_TEST

/*
 * The crash run: several threads record, and their process is killed at a random moment.  PX_CRASH_ROUNDS says how
 * often, for a controller that traces itself, and as often for a target in another process.
 */

#define NR_WRITERS 3

struct count {
	uint32_t begun, returned;
} __attribute__((aligned(PX_CACHE_LINE)));

static struct crash {
	bool is_created, goes;
	struct count count[NR_WRITERS];
} * crash;

struct payload {
	uint32_t writer, number;
	unsigned char bytes[LONGEST];
};

static uint32_t crash_length(uint32_t number)
{
	return (uint32_t)(2 * sizeof(uint32_t)) + number * 7 % (LONGEST + 1);
}

static void *record_for_ever(void *argument)
{
	uint32_t writer = (uint32_t)(uintptr_t)argument;
	struct count *count = &crash->count[writer];

	for (uint32_t number = 0;; number++) {
		struct payload payload = {.writer = writer, .number = number};

		px_test_fill(payload.bytes, sizeof(payload.bytes), number + writer);
		__atomic_store_n(&count->begun, number + 1, __ATOMIC_RELEASE);
		posix_trace_event(type, &payload, crash_length(number));
		__atomic_store_n(&count->returned, number + 1, __ATOMIC_RELEASE);
		if (number % 16 == 0)
			sched_yield();
	}
	return NULL;
}

/* FLUSH; LOOP with a small ring; and UNTIL_FULL with flushes; each with each kind of log. */
static struct px_test_stream choose_crash(uint64_t random)
{
	static const int policies[] = {FLUSHED, FLUSHED, LOOPING, BOUNDED};
	static const int log_policies[] = {APPENDED, LOOPING, BOUNDED};

	return (struct px_test_stream){.policy = policies[random & 3],
				       .size = random & 4 ? 8192 : 65536,
				       .max_data = sizeof(struct payload),
				       .nr_rings = random & 8 ? 1 : 2,
				       .log_policy = log_policies[(random >> 4) % 3],
				       .log_size = random & 64 ? 100000 : 4000000};
}

static struct px_test_stream crash_stream;

static void control_until_killed(void)
{
	pthread_t thread;

	stream = px_test_create_log(&crash_stream, file);
	posix_trace_start(stream);
	__atomic_store_n(&crash->is_created, true, __ATOMIC_RELEASE);
	for (uintptr_t i = 0; i < NR_WRITERS; i++)
		pthread_create(&thread, NULL, record_for_ever, (void *)i);
	for (;;) {
		struct timespec pause = {0, 300000};

		nanosleep(&pause, NULL);
		if (crash_stream.policy == BOUNDED)
			posix_trace_flush(stream);
	}
}

static void read_payload(uint32_t next[NR_WRITERS])
{
	struct payload payload;

	memcpy(&payload, seen.data, sizeof(payload));
	if (payload.writer >= NR_WRITERS || payload.number < next[payload.writer] ||
	    payload.number >= crash->count[payload.writer].begun ||
	    seen.length != crash_length(payload.number) ||
	    !px_test_is_filled(payload.bytes, seen.length - 2 * sizeof(uint32_t),
			       payload.number + payload.writer))
		ck_abort_msg("event %u of writer %u is torn, or twice, or out of order",
			     payload.number, payload.writer);
	next[payload.writer] = payload.number + 1;
}

/* Each event whose call had returned is in the log, or is counted as lost. */
static uint64_t read_crash(void)
{
	uint32_t next[NR_WRITERS] = {0};
	struct txtrace_loss loss;
	uint64_t n = 0, nr_returned = 0, nr_lost;
	trace_event_id_t id;

	stream = px_test_open(file);
	px_test_check_log(file, 0, &facts);
	ok(txtrace_get_loss(stream, &loss));
	while ((id = px_test_take_recorded(stream, &seen)) != 0)
		if (id == type) {
			read_payload(next);
			n++;
		}
	ok(posix_trace_close(stream));
	if (crash_stream.policy != LOOPING)
		ck_assert_uint_eq(loss.overwritten, 0); /* the stream keeps what is not in the log */
	nr_lost = loss.overwritten + loss.dropped + loss.abandoned + facts.commit.nr_lost;
	for (int i = 0; i < NR_WRITERS; i++) {
		nr_returned += crash->count[i].returned;
		if (nr_lost == 0)
			ck_assert_msg(next[i] >= crash->count[i].returned, "writer %d has %u of %u",
				      i, next[i], crash->count[i].returned);
	}
	/* A full log stops the stream: later events are not recorded, and so not lost. */
	if (crash_stream.log_policy != BOUNDED || !facts.commit.log_full)
		ck_assert_msg(n + nr_lost >= nr_returned, "%llu of %llu, %llu lost",
			      (unsigned long long)n, (unsigned long long)nr_returned,
			      (unsigned long long)nr_lost);
	return n;
}

static bool has_recorded(void)
{
	for (int i = 0; i < NR_WRITERS; i++)
		if (__atomic_load_n(&crash->count[i].returned, __ATOMIC_ACQUIRE) > 0)
			return true;
	return false;
}

/*
 * Kill the child after a random delay.  In three of four rounds, the delay begins after the first event: on a loaded
 * machine the child may take longer than any delay to get there, and no round would test a log with events.
 */
static void kill_after(pid_t child, uint64_t random)
{
	struct timespec delay = {0, (long)(random % 12000000)};
	bool is_any_time = random >> 24 & random >> 25 & 1;

	while (!is_any_time && !has_recorded()) {
		siginfo_t info = {0};

		ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
		ck_assert_int_eq(info.si_pid, 0); /* it has not ended by itself */
		sleep_ms(1);
	}
	nanosleep(&delay, NULL);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void begin_crash(uint64_t random)
{
	memset(crash, 0, sizeof(*crash));
	ck_assert_int_eq(ftruncate(file, 0), 0);
	crash_stream = choose_crash(random);
	fflush(NULL);
}

static uint64_t kill_controller(uint64_t random)
{
	pid_t child;

	begin_crash(random);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		control_until_killed();
	}
	kill_after(child, random >> 8);
	return crash->is_created ? read_crash() : 0;
}

/* The target is another process. */
static uint64_t kill_target(uint64_t random)
{
	trace_attr_t attr;
	pid_t child;

	begin_crash(random);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!__atomic_load_n(&crash->goes, __ATOMIC_ACQUIRE))
			sched_yield();
		for (uintptr_t i = 1; i < NR_WRITERS; i++) {
			pthread_t thread;

			pthread_create(&thread, NULL, record_for_ever, (void *)i);
		}
		record_for_ever((void *)0);
	}
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, crash_stream.policy));
	ok(posix_trace_attr_setstreamsize(&attr, crash_stream.size));
	ok(posix_trace_attr_setmaxdatasize(&attr, crash_stream.max_data));
	ok(posix_trace_attr_setlogfullpolicy(&attr, crash_stream.log_policy));
	ok(posix_trace_attr_setlogsize(&attr, crash_stream.log_size));
	ok(posix_trace_create_withlog(child, &attr, file, &stream));
	ok(posix_trace_start(stream));
	__atomic_store_n(&crash->goes, true, __ATOMIC_RELEASE);
	kill_after(child, random >> 8);
	ok(posix_trace_shutdown(stream));
	return read_crash();
}

static int crash_rounds(void)
{
	const char *asked = getenv("PX_CRASH_ROUNDS");

	return asked ? atoi(asked) : nr_rounds(60, 20, 10);
}

static void share_crash(void)
{
	crash = mmap(NULL, sizeof(*crash), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	ck_assert_ptr_ne(crash, MAP_FAILED);
}

/* EXIT-1 EXIT-4 EXIT-6 */
START_TEST(crash_of_the_controller_at_any_instant_loses_nothing)
{
	uint64_t random = test_seed(), nr_events = 0;

	share_crash();
	for (int round = 0; round < crash_rounds(); round++)
		nr_events += kill_controller(next_random(&random));
	ok(posix_trace_create(0, NULL, &stream)); /* the last controller may have died inside its create */
	ok(posix_trace_shutdown(stream));
	expect_clean();
	ck_assert_uint_gt(nr_events, 0);
	printf("%d controllers killed, %llu events\n", crash_rounds(),
	       (unsigned long long)nr_events);
}
END_TEST

/* EVENT-17 EXIT-3 EXIT-6 */
START_TEST(crash_of_the_target_at_any_instant_loses_nothing)
{
	uint64_t random = test_seed(), nr_events = 0;

	share_crash();
	for (int round = 0; round < crash_rounds(); round++)
		nr_events += kill_target(next_random(&random));
	ck_assert_uint_gt(nr_events, 0);
	printf("%d targets killed, %llu events\n", crash_rounds(), (unsigned long long)nr_events);
}
END_TEST

static TCase *death_cases(void)
{
	TCase *tcase = tcase_create("death");

	tcase_add_loop_test(tcase, recover_after_death_at_any_write_has_everything, 0, NR_SCRIPTS);
	tcase_add_loop_test(tcase, recover_after_death_at_any_step_has_everything, 0, NR_SCRIPTS);
	tcase_add_loop_test(tcase, recover_killed_at_any_step_is_gone_on_with, 0, NR_SCRIPTS);
	tcase_add_loop_test(tcase, recover_tells_a_loss_that_START_did_not_know, 0,
			    2 * PX_ARRAY_SIZE(late_deaths));
	tcase_add_loop_test(tcase, recover_tells_a_loss_once, 0, 2);
	tcase_add_loop_test(tcase, recover_killed_at_the_last_gap_tells_it, 0, nr_rounds(20, 4, 2));
	tcase_add_loop_test(tcase, recover_killed_at_each_write_in_turn_is_gone_on_with, 0,
			    NR_SCRIPTS);
	return tcase;
}

static TCase *caller_cases(void)
{
	TCase *tcase = tcase_create("callers");

	tcase_add_loop_test(tcase, recover_by_open_through_a_descriptor_for_reading, 0, NR_SCRIPTS);
	tcase_add_loop_test(tcase, recover_by_the_next_create, 0, NR_SCRIPTS);
	tcase_add_test(tcase, recover_of_a_file_that_has_become_another_log_gives_up);
	tcase_add_loop_test(tcase, recover_after_exec_by_the_new_image, 0, NR_SCRIPTS);
	tcase_add_test(tcase, recover_after_exec_of_a_stranger);
	tcase_add_test(tcase, recover_of_what_is_no_log_gives_einval);
	tcase_add_loop_test(tcase, recover_each_reports_the_outcome_of_a_log, 0, 3);
	tcase_add_test(tcase, recover_of_a_log_whose_writer_lives_gives_ebusy);
	tcase_add_loop_test(tcase, recover_at_the_same_time_is_done_by_one, 0, 2);
	tcase_add_loop_test(tcase, open_while_a_stopped_process_recovers_gives_ebusy, 0, 2);
	tcase_add_loop_test(tcase, open_while_another_process_recovers_waits_for_it, 0, NR_SCRIPTS);
	tcase_add_test(tcase, open_that_waits_for_a_recovery_ends_by_a_signal);
	tcase_add_loop_test(tcase, recover_by_many_threads_succeeds_in_all, 0, NR_SCRIPTS);
	tcase_add_loop_test(tcase, recover_counts_what_the_controller_had_set_aside, 0, 4);
	tcase_add_loop_test(tcase, recover_while_the_target_goes_on, 0, 2);
	tcase_add_test(tcase, recover_knows_types_that_were_opened_late);
	tcase_add_test(tcase, recover_of_a_thousand_rings);
	tcase_add_test(tcase, recover_leaves_a_controller_whose_first_thread_has_ended);
	tcase_add_test(tcase, recover_by_a_process_whose_first_thread_has_ended);
	return tcase;
}

static TCase *left_cases(void)
{
	TCase *tcase = tcase_create("left");

	tcase_add_test(tcase, recover_without_the_segment_leaves_what_was_committed);
	tcase_add_test(tcase, recover_after_another_boot_leaves_what_was_committed);
	tcase_add_test(tcase, recover_behind_entries_of_an_unfinished_write_shows_all);
	tcase_add_test(tcase, recover_leaves_a_checkpoint_file_that_it_does_not_know);
	tcase_add_test(tcase, recover_removes_a_checkpoint_file_that_was_never_valid);
	tcase_add_test(tcase, recover_killed_at_an_invalid_checkpoint_file_leaves_nothing_behind);
	tcase_add_test(tcase, recover_with_random_damage_never_breaks);
	tcase_add_test(tcase, recover_of_a_log_that_was_removed_cleans_up);
	tcase_add_loop_test(tcase, recover_of_a_log_that_was_renamed_completes_it, 0, 2);
	tcase_add_test(tcase, recover_where_the_path_means_another_place_leaves_the_log);
	tcase_add_loop_test(tcase, recover_follows_no_link_and_takes_no_other_file, 0, 2);
	tcase_add_test(tcase, recover_looks_for_no_log_of_another_user);
	tcase_add_test(tcase, recover_without_room_for_the_log_can_be_tried_again);
	tcase_add_test(tcase, recover_has_what_was_read_and_not_written);
	tcase_add_test(tcase, recover_after_a_first_write_lists_each_thread_once);
	tcase_add_test(tcase, recover_behind_writes_that_failed_tells_the_gap);
	tcase_add_test(tcase, recover_finds_nothing_of_a_create_that_failed);
	return tcase;
}

static TCase *full_cases(void)
{
	TCase *tcase = tcase_create("full");

	tcase_add_loop_test(tcase, recover_of_a_full_stream_with_a_full_log_ends_in_one_stop, 0, 3);
	return tcase;
}

static TCase *crash_cases(void)
{
	TCase *tcase = tcase_create("crash");

	tcase_add_test(tcase, crash_of_the_controller_at_any_instant_loses_nothing);
	tcase_add_test(tcase, crash_of_the_target_at_any_instant_loses_nothing);
	return tcase;
}

static int run_all(void)
{
	TCase *tcases[] = {death_cases(), caller_cases(), left_cases(), full_cases(), crash_cases()};
	Suite *suite = suite_create("recover");

	for (size_t i = 0; i < PX_ARRAY_SIZE(tcases); i++) {
		tcase_add_checked_fixture(tcases[i], setup, teardown);
		tcase_set_timeout(tcases[i], 120);
		suite_add_tcase(suite, tcases[i]);
	}
	return run_suite(suite);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--helper") == 0)
		return 0; /* the constructors have done it */
	return run_all();
}
