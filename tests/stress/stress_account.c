/* SPDX-License-Identifier: MIT */
/*
 * stress_account [SECONDS]: is each event read or counted, whatever happens to its writer?
 *
 * Processes inherit a stream and write to it from two threads.  Meanwhile signal handlers leave calls by siglongjmp()
 * or record events of their own, and the processes fork.  This process stops and continues them, kills them and
 * replaces them, and reads, with pauses.  Each thread, and each handler, counts the events that it begins and those
 * that it completes.  When all have ended:
 *
 *	- no event was read twice, or was not whole,
 *	- completed <= read + counted as lost <= begun,
 *	- the newest events are there, and after them there is none.
 *
 * PX_SEED repeats the decisions, though not the races.
 */
#include "support/common.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define SECONDS 2 /* of make check */
#define NR_SEATS 5
#define NR_VOICES 262144 /* this process has the first one */
#define NR_NEWEST 20
#define LONGEST 1500
#define NUMBERS_MAX 65536 /* then the thread uses another voice */

/* A writer: a thread, or the handlers of a thread. */
struct voice {
	uint32_t begun, completed;
};

struct board {
	uint32_t nr_voices, nr_jumps, nr_forks;
	struct voice voice[NR_VOICES];
};

struct content {
	uint32_t voice, number;
};

static const struct {
	int policy;
	size_t size;
	unsigned int nr_rings;
} kinds[] = {
	{POSIX_TRACE_LOOP, 30000, 0},
	{POSIX_TRACE_LOOP, 30000, 1},
	{POSIX_TRACE_UNTIL_FULL, 100000, 0},
	{POSIX_TRACE_UNTIL_FULL, 100000, 1},
};

static struct board *board;
static trace_event_id_t type;
static trace_id_t stream;
static uint64_t seed, nr_kills, nr_stops, nr_violations;

static void violation(const char *what, uint64_t a, uint64_t b)
{
	printf("violation: %s: %" PRIu64 ", %" PRIu64 "\n", what, a, b);
	fflush(stdout);
	nr_violations++;
}

/* Writers. */

static void pause_us(uint64_t us)
{
	const struct timespec time = {0, (long)us * 1000};

	nanosleep(&time, NULL);
}

static uint32_t new_voice(void)
{
	uint32_t voice = px_fetch_add(&board->nr_voices, UINT32_C(1));

	if (voice >= NR_VOICES)
		_exit(0);
	return voice;
}

static void record(uint32_t voice, size_t length)
{
	struct voice *own = &board->voice[voice];
	unsigned char data[LONGEST];
	struct content content = {voice, own->begun};

	memcpy(data, &content, sizeof(content));
	px_test_fill(data + sizeof(content), length - sizeof(content), content.number);
	px_store_release(&own->begun, content.number + 1);
	posix_trace_event(type, data, length);
	px_store_release(&own->completed, own->completed + 1);
}

static size_t pick_length(uint64_t *random)
{
	static const size_t lengths[] = {sizeof(struct content), sizeof(struct content), 16, 60, 200, LONGEST};

	return lengths[next_random(random) % PX_ARRAY_SIZE(lengths)];
}

/* Record some events quickly, then pause, so that others write and read. */
static void rest(uint64_t *random)
{
	if (next_random(random) % 30 == 0)
		pause_us(next_random(random) % 1000);
}

static sigjmp_buf out;
static volatile sig_atomic_t may_jump;
static uint32_t handler_voice;
static uint64_t handler_random;

static void on_alarm(int number)
{
	uint64_t choice = next_random(&handler_random) % 4;

	(void)number;
	if (choice != 0)
		record(handler_voice, pick_length(&handler_random));
	if (choice == 3 || !may_jump)
		return;
	px_fetch_add(&board->nr_jumps, UINT32_C(1));
	siglongjmp(out, 1);
}

static void *write_beside(void *unused)
{
	for (;;) {
		uint32_t voice = new_voice();
		uint64_t random = voice;

		while (board->voice[voice].begun < NUMBERS_MAX) {
			record(voice, pick_length(&random));
			rest(&random);
		}
	}
	return unused;
}

/* The child of a writer records a few events and exits. */
static void fork_once(void)
{
	sigset_t alarm, before;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, &before);
	if (fork() == 0) {
		uint32_t voice = new_voice();
		uint64_t random = voice;

		for (int i = 0; i < 100; i++)
			record(voice, pick_length(&random));
		_exit(0);
	}
	px_fetch_add(&board->nr_forks, UINT32_C(1));
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void write_until_killed(void)
{
	const struct itimerval timer = {{0, 300}, {0, 300}};
	const struct sigaction action = {.sa_handler = on_alarm};
	static uint32_t voice;
	static uint64_t random;
	sigset_t alarm;
	pthread_t thread;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	pthread_create(&thread, NULL, write_beside, NULL);
	voice = new_voice();
	handler_voice = new_voice();
	random = handler_random = voice;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	sigsetjmp(out, 1);
	may_jump = 0;
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	for (;;) {
		if (board->voice[voice].begun >= NUMBERS_MAX)
			voice = new_voice();
		if (next_random(&random) % 2000 == 0)
			fork_once();
		may_jump = 1;
		record(voice, pick_length(&random));
		may_jump = 0;
		rest(&random);
	}
}

/* The reader. */

static struct seen {
	unsigned char *number; /* 1: read */
	uint32_t capacity;
} seen[NR_VOICES];

static bool note_number(const struct content *content)
{
	struct seen *voice = &seen[content->voice];

	if (content->number >= voice->capacity) {
		uint32_t wanted = content->number * 2 + 64;

		voice->number = realloc(voice->number, wanted);
		if (!voice->number)
			abort();
		memset(voice->number + voice->capacity, 0, wanted - voice->capacity);
		voice->capacity = wanted;
	}
	return voice->number[content->number]++ == 0;
}

/* Return true if it is an event of a writer. */
static bool check_event(const struct px_test_event *event)
{
	struct content content;

	if (event->info.posix_event_id != type)
		return false;
	memcpy(&content, event->data, sizeof(content));
	if (event->length < sizeof(content) || content.voice >= NR_VOICES ||
	    content.number >= px_load_acquire(&board->voice[content.voice].begun) ||
	    !px_test_is_filled(event->data + sizeof(content), event->length - sizeof(content), content.number))
		violation("not whole", content.voice, content.number);
	else if (!note_number(&content))
		violation("read twice", content.voice, content.number);
	return true;
}

static struct px_test_event last_event;

static uint64_t read_some(uint64_t most)
{
	uint64_t nr_read = 0;

	for (uint64_t i = 0; i < most && px_test_take(stream, &last_event) != 0; i++)
		nr_read += check_event(&last_event);
	return nr_read;
}

/* The processes. */

static pid_t seat[NR_SEATS];
static bool is_stopped[NR_SEATS];

static void fill_seat(int i)
{
	is_stopped[i] = false;
	seat[i] = fork();
	if (seat[i] < 0)
		abort();
	if (seat[i] == 0)
		write_until_killed();
}

static void kill_seat(int i)
{
	kill(seat[i], SIGKILL);
	while (waitpid(seat[i], NULL, 0) < 0 && errno == EINTR)
		;
	nr_kills++;
}

static void torment(void)
{
	int i = (int)(next_random(&seed) % NR_SEATS);

	if (next_random(&seed) % 4 == 0) {
		kill_seat(i);
		fill_seat(i);
		return;
	}
	kill(seat[i], is_stopped[i] ? SIGCONT : SIGSTOP);
	is_stopped[i] = !is_stopped[i];
	nr_stops += is_stopped[i];
}

/* Return the number of events read. */
static uint64_t run(uint64_t until_ns)
{
	uint64_t nr_read = 0;

	for (int i = 0; i < NR_SEATS; i++)
		fill_seat(i);
	while (monotonic_ns() < until_ns) {
		torment();
		nr_read += read_some(next_random(&seed) % 5000);
		if (next_random(&seed) % 2)
			pause_us(next_random(&seed) % 3000);
	}
	for (int i = 0; i < NR_SEATS; i++)
		kill_seat(i);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) /* the children of writers */
		;
	return nr_read;
}

/* All but the newest events of this process, which come last. */
static uint64_t read_rest(void)
{
	uint64_t nr_read;
	uint32_t number = 0;

	nr_read = read_some(UINT64_MAX);
	for (int i = 0; i < NR_NEWEST; i++)
		record(0, sizeof(struct content));
	ok(posix_trace_stop(stream));
	while (px_test_take(stream, &last_event) != 0) {
		struct content content;

		if (!check_event(&last_event))
			continue;
		nr_read++;
		memcpy(&content, last_event.data, sizeof(content));
		number += content.voice == 0;
	}
	if (number != NR_NEWEST)
		violation("newest events", number, NR_NEWEST);
	if (px_test_take(stream, &last_event) != 0)
		violation("an event after none", last_event.info.posix_event_id, 0);
	return nr_read;
}

static void make(int i)
{
	trace_attr_t attr;

	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, kinds[i].policy));
	ok(posix_trace_attr_setstreamsize(&attr, kinds[i].size));
	ok(posix_trace_attr_setmaxdatasize(&attr, LONGEST));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	if (kinds[i].nr_rings != 0)
		ok(txtrace_attr_setrings(&attr, kinds[i].nr_rings));
	ok(posix_trace_create(0, &attr, &stream));
	ok(posix_trace_attr_destroy(&attr));
	ok(posix_trace_start(stream));
	px_test_expect(stream, POSIX_TRACE_START, &last_event);
}

static void check_account(uint64_t nr_read)
{
	uint64_t begun = 0, completed = 0, known;
	struct txtrace_loss loss;

	for (uint32_t i = 0; i < board->nr_voices && i < NR_VOICES; i++) {
		begun += board->voice[i].begun;
		completed += board->voice[i].completed;
	}
	ok(txtrace_get_loss(stream, &loss));
	known = nr_read + loss.overwritten + loss.dropped + loss.abandoned;
	printf("%" PRIu64 " begun, %" PRIu64 " completed, %" PRIu64 " read, %llu overwritten, %llu dropped, "
	       "%llu abandoned; %" PRIu32 " jumps, %" PRIu32 " forks, %" PRIu64 " kills, %" PRIu64 " stops\n",
	       begun, completed, nr_read, loss.overwritten, loss.dropped, loss.abandoned, board->nr_jumps,
	       board->nr_forks, nr_kills, nr_stops);
	fflush(stdout);
	if (known < completed)
		violation("completed, and neither read nor counted", completed, known);
	if (known > begun)
		violation("more counted than begun", known, begun);
}

static uint64_t seconds = SECONDS;

/* EVENT-17 STATUS-4 LOOP-2 LOOP-3 FORK-1 */
START_TEST(events_of_writers_killed_stopped_left_and_forked_are_read_or_counted)
{
	uint64_t nr_read;

	seed = test_seed();
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(board, MAP_FAILED);
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	board->nr_voices = 1;
	type = px_test_open_type("account");
	make(_i);
	fflush(stdout);
	nr_read = run(monotonic_ns() + seconds * 1000000000 / PX_ARRAY_SIZE(kinds));
	nr_read += read_rest();
	check_account(nr_read);
	ok(posix_trace_shutdown(stream));
	ck_assert_uint_eq(nr_violations, 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("stress_account");
	TCase *tcase = tcase_create("account");

	if (argc > 1)
		seconds = strtoull(argv[1], NULL, 10);
#ifdef __SANITIZE_THREAD__
	skip_program("ThreadSanitizer does not know handlers that leave a call, in a child of fork()");
#endif
	tcase_set_timeout(tcase, (double)seconds + 60);
	tcase_add_loop_test(tcase, events_of_writers_killed_stopped_left_and_forked_are_read_or_counted, 0,
			    PX_ARRAY_SIZE(kinds));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
