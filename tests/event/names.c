/* SPDX-License-Identifier: MIT */
/*
 * The name table alone: its answers; that threads and processes agree about them; and that neither a killed writer nor
 * hostile content stops a process.
 */
#include "support/common.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "event/names.h"

#define NR_ENTRIES (PX_EVENT_USER_END - PX_EVENT_USER_FIRST)
#define FIRST PX_EVENT_USER_FIRST
#define UNTOUCHED 0xdeadbeefu

/* The word of an entry, in the format of names.c. */
enum { FREE = 0, WRITING = 1, READY = 2, DEAD = 3, STATE_MASK = 3, TID_SHIFT = 2 };

/* PID_MAX_LIMIT of Linux is 2^22, so no thread has this tid. */
#define NOBODY 0x3ffffffeu

static struct px_names *names;

/* The table ends at the end of its memory, so an access beyond it faults. */
static struct px_names *new_table(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (PX_NAMES_SIZE + page - 1) / page * page;
	char *start = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);

	ck_assert_ptr_ne(start, MAP_FAILED);
	ck_assert_int_eq(mprotect(start + size, page, PROT_NONE), 0);
	return (struct px_names *)(start + size - PX_NAMES_SIZE);
}

static void begin(void)
{
	names = new_table();
}

static uint32_t self(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool is_alive(uint32_t tid)
{
	return tid <= INT_MAX && syscall(SYS_tkill, (int)tid, 0) == 0;
}

static unsigned int nr_asked;

static bool always_alive(uint32_t tid)
{
	(void)tid;
	(void)px_fetch_add(&nr_asked, 1);
	return true;
}

static bool never_alive(uint32_t tid)
{
	(void)tid;
	errno = ESRCH;
	return false;
}

static unsigned int open_name(const char *name)
{
	unsigned int id = UNTOUCHED;

	ok(px_names_open(names, name, self(), is_alive, &id));
	return id;
}

static unsigned int find_name(const char *name)
{
	unsigned int id = UNTOUCHED;

	px_names_find(names, name, &id);
	return id;
}

static uint32_t state_of(unsigned int id)
{
	return px_load_acquire(&names->entry[id - FIRST].word) & STATE_MASK;
}

static void expect_name(unsigned int id, const char *name)
{
	char text[PX_NAME_MAX + 1];

	ok(px_names_get(names, id, text));
	ck_assert_str_eq(text, name);
}

static void make_name(char text[PX_NAME_MAX + 1], unsigned int number)
{
	snprintf(text, PX_NAME_MAX + 1, "event number %u", number);
}

/* The names of the standard. */
static const struct {
	unsigned int id;
	const char *name;
} predefined[] = {
	{1, "posix_trace_error"},
	{2, "posix_trace_start"},
	{3, "posix_trace_stop"},
	{4, "posix_trace_filter"},
	{5, "posix_trace_overflow"},
	{6, "posix_trace_resume"},
	{7, "posix_trace_flush_start"},
	{8, "posix_trace_flush_stop"},
	{9, "txtrace_switch_in"},
	{10, "txtrace_switch_out"},
	{11, "txtrace_sched_thread"},
	{12, "txtrace_sched_gap"},
	{13, "txtrace_sched_start"},
	{14, "txtrace_sched_stop"},
	{16, "posix_trace_unnamed_userevent"},
};

/* EVOPEN-1 EVOPEN-3 TYPELIST-4 */
START_TEST(names_open_new_names_gives_ids_in_order)
{
	ck_assert_uint_eq(open_name("first"), FIRST);
	ck_assert_uint_eq(open_name("second"), FIRST + 1);
	ck_assert_uint_eq(open_name("third"), FIRST + 2);
	expect_name(FIRST + 1, "second");
}
END_TEST

/* EVOPEN-2 MODEL-5 */
START_TEST(names_open_known_name_gives_its_id)
{
	unsigned int first = open_name("first");
	unsigned int second = open_name("second");

	ck_assert_uint_eq(open_name("first"), first);
	ck_assert_uint_eq(open_name("second"), second);
	ck_assert_uint_eq(state_of(FIRST + 2), FREE);
}
END_TEST

/* EVOPEN-1 */
START_TEST(names_open_buffer_reused_by_caller_keeps_name)
{
	char name[] = "mine";
	unsigned int id = open_name(name);

	memset(name, 'x', sizeof(name) - 1);
	expect_name(id, "mine");
}
END_TEST

/* EVOPEN-9 TRIDOPEN-8 MODEL-5 */
START_TEST(names_open_predefined_name_gives_predefined_id)
{
	ck_assert_uint_eq(open_name(predefined[_i].name), predefined[_i].id);
	ck_assert_uint_eq(find_name(predefined[_i].name), predefined[_i].id);
	ck_assert_uint_eq(state_of(FIRST), FREE);
}
END_TEST

/* EVOPEN-12 */
START_TEST(names_open_bytes_that_differ_gives_different_ids)
{
	static const char *const texts[] = {
		"name", "Name", "name ", "nam", "namee", "posix_trace_starts", "posix_trace_star",
		"n\xc3\xa4me", "n\xc3\x84me", "na\xcc\x88me", "\xff", "\x80", " ",
	};

	for (unsigned int i = 0; i < PX_ARRAY_SIZE(texts); i++)
		ck_assert_uint_eq(open_name(texts[i]), FIRST + i);
	for (unsigned int i = 0; i < PX_ARRAY_SIZE(texts); i++)
		ck_assert_uint_eq(find_name(texts[i]), FIRST + i);
}
END_TEST

/* EVOPEN-8 */
START_TEST(names_open_empty_string_is_a_name)
{
	unsigned int id;

	ck_assert_uint_eq(find_name(""), PX_EVENT_NONE);
	id = open_name("");
	ck_assert_uint_eq(id, FIRST);
	ck_assert_uint_eq(open_name(""), id);
	ck_assert_uint_eq(find_name(""), id);
	expect_name(id, "");
}
END_TEST

/* EVOPEN-7 EVNAME-1 */
START_TEST(names_open_longest_name_is_kept_whole)
{
	char longest[PX_NAME_MAX + 1];
	unsigned int id;

	memset(longest, 'n', PX_NAME_MAX);
	longest[PX_NAME_MAX] = '\0';
	id = open_name(longest);
	expect_name(id, longest);
	ck_assert_uint_eq(open_name(longest), id);
	longest[PX_NAME_MAX - 1] = '\0';
	ck_assert_uint_eq(open_name(longest), id + 1);
}
END_TEST

/* EVOPEN-7 TRIDOPEN-6 GEN-11 */
START_TEST(names_open_name_too_long_is_enametoolong)
{
	char longer[PX_NAME_MAX + 2];
	unsigned int id = UNTOUCHED;

	memset(longer, 'n', PX_NAME_MAX + 1);
	longer[PX_NAME_MAX + 1] = '\0';
	fails(px_names_open(names, longer, self(), is_alive, &id), ENAMETOOLONG);
	ck_assert_uint_eq(id, UNTOUCHED);
	ck_assert_uint_eq(state_of(FIRST), FREE);
	ck_assert_uint_eq(find_name(longer), PX_EVENT_NONE);
}
END_TEST

/* EVOPEN-4 EVOPEN-10 GEN-11 */
START_TEST(names_open_full_table_is_enospc)
{
	char name[PX_NAME_MAX + 1];
	unsigned int id = UNTOUCHED;

	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		make_name(name, i);
		ck_assert_uint_eq(open_name(name), FIRST + i);
	}
	fails(px_names_open(names, "one more", self(), is_alive, &id), ENOSPC);
	ck_assert_uint_eq(id, UNTOUCHED);
	ck_assert_uint_eq(find_name("one more"), PX_EVENT_NONE);
	ck_assert_uint_eq(open_name(name), PX_EVENT_USER_END - 1);
	ck_assert_uint_eq(find_name(name), PX_EVENT_USER_END - 1);
	expect_name(PX_EVENT_USER_END - 1, name);
	ck_assert_uint_eq(open_name("posix_trace_stop"), PX_EVENT_STOP);
}
END_TEST

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A search through a full table takes microseconds; the bound leaves time for sanitizers. */
START_TEST(names_find_full_table_is_quick)
{
	char name[PX_NAME_MAX + 1];
	uint64_t start_ns;

	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		make_name(name, i);
		open_name(name);
	}
	start_ns = cpu_ns();
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_uint_eq(find_name("not there"), PX_EVENT_NONE);
	ck_assert_uint_lt(cpu_ns() - start_ns, 100 * 5000000u);
}
END_TEST

/* EVOPEN-3 */
START_TEST(names_open_equal_hash_compares_text)
{
	open_name("alpha");
	open_name("beta");
	names->entry[1].hash = names->entry[0].hash;
	names->entry[0].hash = ~names->entry[0].hash;
	/* Now only "beta" has the hash of "alpha". */
	ck_assert_uint_eq(find_name("alpha"), PX_EVENT_NONE);
	ck_assert_uint_eq(open_name("alpha"), FIRST + 2);
}
END_TEST

/* EVOPEN-4 */
START_TEST(names_find_absent_name_gives_zero)
{
	ck_assert_uint_eq(find_name("absent"), PX_EVENT_NONE);
	open_name("present");
	ck_assert_uint_eq(find_name("absent"), PX_EVENT_NONE);
	ck_assert_uint_eq(find_name("present"), FIRST);
	ck_assert_uint_eq(state_of(FIRST + 1), FREE);
}
END_TEST

/* Contract of names.h: each process skips a dead entry. */
START_TEST(names_find_dead_entry_is_skipped)
{
	open_name("first");
	names->entry[1].word = NOBODY << TID_SHIFT | DEAD;
	names->entry[1].hash = names->entry[0].hash;
	memcpy(names->entry[1].text, "first", sizeof("first"));
	ck_assert_uint_eq(open_name("third"), FIRST + 2);
	ck_assert_uint_eq(find_name("third"), FIRST + 2);
	ck_assert_uint_eq(find_name("first"), FIRST);
}
END_TEST

/* Contract of names.h: find never waits. */
START_TEST(names_find_entry_being_written_ends_the_search)
{
	uint64_t start_ns = monotonic_ns();

	open_name("first");
	names->entry[1].word = self() << TID_SHIFT | WRITING;
	for (unsigned int i = 0; i < 1000; i++)
		ck_assert_uint_eq(find_name("second"), PX_EVENT_NONE);
	ck_assert_uint_eq(find_name("first"), FIRST);
	ck_assert_uint_lt(monotonic_ns() - start_ns, 1000000000u);
	ck_assert_uint_eq(state_of(FIRST + 1), WRITING);
}
END_TEST

/* SYSEV-1 EVNAME-3 AMB-9 */
START_TEST(names_get_predefined_id_gives_its_name)
{
	expect_name(predefined[_i].id, predefined[_i].name);
}
END_TEST

/* EVNAME-6 GEN-11 */
START_TEST(names_get_id_without_name_is_einval)
{
	static const unsigned int nameless[] = {
		0, FIRST + 1, FIRST + 2, FIRST + 3, PX_EVENT_IDS - 1, PX_EVENT_IDS,
		PX_EVENT_IDS + 1, INT_MAX, UINT_MAX,
	};
	char text[PX_NAME_MAX + 1] = "untouched";

	open_name("first");
	names->entry[1].word = self() << TID_SHIFT | WRITING;
	names->entry[2].word = DEAD;
	for (unsigned int i = 0; i < PX_ARRAY_SIZE(nameless); i++) {
		fails(px_names_get(names, nameless[i], text), EINVAL);
		ck_assert_str_eq(text, "untouched");
	}
}
END_TEST

/* EVNAME-7: a buffer with exactly the size of the name is enough. */
START_TEST(names_get_short_name_writes_no_more_than_it)
{
	char text[PX_NAME_MAX + 1];

	memset(text, '#', sizeof(text));
	ok(px_names_get(names, open_name("abc"), text));
	ck_assert_int_eq(memcmp(text, "abc\0#", 5), 0);
}
END_TEST

/* EVNAME-2 MAP-1 */
START_TEST(names_get_same_id_gives_same_name)
{
	unsigned int id = open_name("kept");

	for (unsigned int i = 0; i < 100; i++) {
		char name[PX_NAME_MAX + 1];

		make_name(name, i);
		open_name(name);
		expect_name(id, "kept");
	}
}
END_TEST

/* GEN-2 */
START_TEST(names_open_any_path_keeps_errno)
{
	unsigned int id;

	names->entry[0].word = NOBODY << TID_SHIFT | WRITING;
	errno = 4711;
	ok(px_names_open(names, "name", self(), never_alive, &id));
	ok(px_names_open(names, "name", self(), never_alive, &id));
	ok(px_names_open(names, "posix_trace_start", self(), never_alive, &id));
	px_names_find(names, "absent", &id);
	fails(px_names_get(names, 0, (char[PX_NAME_MAX + 1]){""}), EINVAL);
	ck_assert_int_eq(errno, 4711);
}
END_TEST

/*
 * Threads and processes.  Each opens the same names in its own order, and stores the answers where the main thread can
 * read them.
 */
#define NR_NAMES 300
#define WINDOW 200
#define NR_THREADS 4
#define NR_PROCESSES 4

struct answers {
	int error[NR_PROCESSES][NR_THREADS][WINDOW];
	unsigned int id[NR_PROCESSES][NR_THREADS][WINDOW]; /* of name `process * 33 + column` */
};

static struct answers *answers;
static pthread_barrier_t *barrier;
static uint64_t seed;

struct worker {
	unsigned int process, thread;
};

static unsigned int name_of(unsigned int process, unsigned int column)
{
	return process * ((NR_NAMES - WINDOW) / (NR_PROCESSES - 1)) + column;
}

static void shuffle(unsigned int *order, unsigned int count, uint64_t random)
{
	for (unsigned int i = 0; i < count; i++)
		order[i] = i;
	for (unsigned int i = count - 1; i > 0; i--) {
		unsigned int other = (unsigned int)(next_random(&random) % (i + 1));
		unsigned int kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

static void *open_window(void *argument)
{
	const struct worker *me = argument;
	unsigned int order[WINDOW];

	shuffle(order, WINDOW, seed + me->process * NR_THREADS + me->thread);
	pthread_barrier_wait(barrier);
	for (unsigned int i = 0; i < WINDOW; i++) {
		unsigned int column = order[i];
		char name[PX_NAME_MAX + 1];

		make_name(name, name_of(me->process, column));
		answers->error[me->process][me->thread][column] =
			px_names_open(names, name, self(), is_alive,
				      &answers->id[me->process][me->thread][column]);
	}
	return NULL;
}

static void run_threads(unsigned int process)
{
	struct worker worker[NR_THREADS];
	pthread_t thread[NR_THREADS];

	for (unsigned int i = 0; i < NR_THREADS; i++) {
		worker[i] = (struct worker){process, i};
		if (pthread_create(&thread[i], NULL, open_window, &worker[i]))
			abort();
	}
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Children must not print it again. */
static uint64_t seed_before_fork(void)
{
	uint64_t value = test_seed();

	fflush(stdout);
	return value;
}

static void prepare_crowd(unsigned int nr_processes)
{
	pthread_barrierattr_t shared;

	seed = seed_before_fork();
	answers = mmap(NULL, sizeof(*answers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	ck_assert_ptr_ne(answers, MAP_FAILED);
	ck_assert_ptr_ne(barrier, MAP_FAILED);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(barrier, &shared, nr_processes * NR_THREADS);
}

/* Each name has one id for all threads that asked, and each id has one name. */
static void expect_agreement(unsigned int nr_processes)
{
	unsigned int id_of[NR_NAMES] = {0};
	bool taken[PX_EVENT_IDS] = {false};

	for (unsigned int p = 0; p < nr_processes; p++) {
		for (unsigned int t = 0; t < NR_THREADS; t++) {
			for (unsigned int c = 0; c < WINDOW; c++) {
				unsigned int id = answers->id[p][t][c];

				ok(answers->error[p][t][c]);
				ck_assert_uint_ge(id, FIRST);
				ck_assert_uint_lt(id, PX_EVENT_IDS);
				if (id_of[name_of(p, c)] == 0)
					ck_assert(!taken[id]);
				else
					ck_assert_uint_eq(id, id_of[name_of(p, c)]);
				id_of[name_of(p, c)] = id;
				taken[id] = true;
			}
		}
	}
	for (unsigned int n = 0; n < NR_NAMES; n++) {
		char name[PX_NAME_MAX + 1];

		if (id_of[n] == 0)
			continue;
		make_name(name, n);
		expect_name(id_of[n], name);
		ck_assert_uint_eq(find_name(name), id_of[n]);
	}
}

/* The texts of READY entries; each text may occur only once. */
static unsigned int expect_unique_texts(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		if (state_of(FIRST + i) != READY)
			continue;
		count++;
		for (unsigned int j = i + 1; j < NR_ENTRIES; j++)
			if (state_of(FIRST + j) == READY)
				ck_assert_str_ne(names->entry[i].text, names->entry[j].text);
	}
	return count;
}

/* EVOPEN-2 EVOPEN-3 GEN-3 MODEL-5 */
START_TEST(names_open_from_many_threads_gives_one_id_for_a_name)
{
	prepare_crowd(1);
	run_threads(0);
	expect_agreement(1);
	ck_assert_uint_eq(expect_unique_texts(), WINDOW);
}
END_TEST

/* EVOPEN-5 TRIDOPEN-2 MAP-1 */
START_TEST(names_open_from_many_processes_gives_one_id_for_a_name)
{
	pid_t child[NR_PROCESSES];

	prepare_crowd(NR_PROCESSES);
	for (unsigned int i = 0; i < NR_PROCESSES; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			run_threads(i);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < NR_PROCESSES; i++) {
		int status;

		ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	expect_agreement(NR_PROCESSES);
	ck_assert_uint_ge(expect_unique_texts(), WINDOW);
}
END_TEST

/* The two steps at which a writer can disappear. */
static const char *const points[] = {"names.open.writing", "names.open.stored"};

static const char *point; /* the test points of the hooks */

static void set_hook(void (*hook)(const char *name), const char *where)
{
	point = where;
	__atomic_store_n(&px_testpoint_hook, hook, __ATOMIC_RELEASE);
}

static void kill_here(const char *name)
{
	if (strcmp(name, point) == 0)
		kill(getpid(), SIGKILL);
}

static void lose_writer(const char *name, const char *where)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		unsigned int id;

		set_hook(kill_here, where);
		px_names_open(names, name, self(), is_alive, &id);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* MODEL-5: a killed writer costs one id and a millisecond. */
START_TEST(names_open_writer_killed_leaves_table_usable)
{
	uint64_t start_ns;

	open_name("before");
	lose_writer("lost", points[_i]);
	ck_assert_uint_eq(state_of(FIRST + 1), WRITING);
	ck_assert_uint_eq(find_name("lost"), PX_EVENT_NONE);
	ck_assert_uint_eq(find_name("before"), FIRST);

	start_ns = monotonic_ns();
	ck_assert_uint_eq(open_name("lost"), FIRST + 2);
	ck_assert_uint_ge(monotonic_ns() - start_ns, 1000000u);
	ck_assert_uint_eq(state_of(FIRST + 1), DEAD);
	ck_assert_uint_eq(find_name("lost"), FIRST + 2);
	ck_assert_uint_eq(open_name("after"), FIRST + 3);
	ck_assert_uint_eq(open_name("before"), FIRST);
}
END_TEST

/* Several killed writers in a row: each finds the entry of the one before it. */
START_TEST(names_open_writers_killed_in_a_row_leaves_table_usable)
{
	for (unsigned int i = 0; i < 10; i++)
		lose_writer("lost", points[i % 2]);
	ck_assert_uint_eq(open_name("lost"), FIRST + 10);
	ck_assert_uint_eq(expect_unique_texts(), 1);
}
END_TEST

/* The process is killed at a random moment, while others go on. */
START_TEST(names_open_writers_killed_anywhere_leaves_table_usable)
{
	uint64_t random = seed_before_fork();

	for (unsigned int round = 0; round < 60; round++) {
		uint64_t start = next_random(&random) % NR_NAMES;
		pid_t child = fork();

		if (child == 0) {
			for (unsigned int i = 0;; i++) {
				char name[PX_NAME_MAX + 1];
				unsigned int id;

				make_name(name, (unsigned int)(start + i) % NR_NAMES);
				px_names_open(names, name, self(), is_alive, &id);
			}
		}
		usleep((useconds_t)(next_random(&random) % 1000));
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
	}
	for (unsigned int i = 0; i < NR_NAMES; i++) {
		char name[PX_NAME_MAX + 1];

		make_name(name, i);
		expect_name(open_name(name), name);
	}
	ck_assert_uint_eq(expect_unique_texts(), NR_NAMES);
}
END_TEST

/* A writer that waits until the test releases it. */
static __thread bool may_stand;
static uint32_t standing, released;

static void stand_here(const char *name)
{
	if (!may_stand || strcmp(name, point))
		return;
	may_stand = false;
	px_store_release(&standing, 1);
	while (!px_load_acquire(&released))
		sleep_ms(1);
}

struct opening {
	const char *name;
	unsigned int id;
	int error;
};

static void *stand_and_open(void *argument)
{
	struct opening *opening = argument;

	may_stand = true;
	opening->error = px_names_open(names, opening->name, self(), always_alive, &opening->id);
	return NULL;
}

static pthread_t start_standing(struct opening *opening, const char *where)
{
	pthread_t thread;

	set_hook(stand_here, where);
	ck_assert_int_eq(pthread_create(&thread, NULL, stand_and_open, opening), 0);
	while (!px_load_acquire(&standing))
		sleep_ms(1);
	return thread;
}

/* EVOPEN-2: if a slow thread is in time, it gets its id, and the waiting thread gets the same id. */
START_TEST(names_open_writer_slow_is_waited_for)
{
	struct opening slow = {"same", 0, -1}, quick = {"same", 0, -1};
	pthread_t first = start_standing(&slow, points[_i]);
	pthread_t second;

	ck_assert_int_eq(pthread_create(&second, NULL, stand_and_open, &quick), 0);
	sleep_ms(10);
	px_store_release(&released, 1);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	ok(slow.error);
	ok(quick.error);
	ck_assert_uint_eq(slow.id, quick.id);
	ck_assert_uint_eq(expect_unique_texts(), 1);
}
END_TEST

/* EVOPEN-2 EVOPEN-3 MODEL-5: another thread takes the entry that was free a moment ago. */
START_TEST(names_open_entry_taken_meanwhile_is_looked_at_again)
{
	struct opening slow = {"same", 0, -1};
	pthread_t thread = start_standing(&slow, "names.open.free");

	ck_assert_uint_eq(open_name(_i ? "other" : "same"), FIRST);
	px_store_release(&released, 1);
	pthread_join(thread, NULL);
	ok(slow.error);
	ck_assert_uint_eq(slow.id, _i ? FIRST + 1 : FIRST);
	expect_name(slow.id, "same");
	ck_assert_uint_eq(expect_unique_texts(), _i ? 2 : 1);
}
END_TEST

/* EVOPEN-2 MODEL-5: the others give up a living writer that does not move.  Later it finds the id of another thread. */
START_TEST(names_open_writer_stopped_is_given_up)
{
	struct opening stopped = {"same", 0, -1};
	pthread_t thread = start_standing(&stopped, points[_i]);
	uint64_t start_ns = monotonic_ns();
	unsigned int id = 0;

	ok(px_names_open(names, "same", self(), always_alive, &id));
	ck_assert_uint_ge(monotonic_ns() - start_ns, 90000000u);
	ck_assert_uint_eq(id, FIRST + 1);
	px_store_release(&released, 1);
	pthread_join(thread, NULL);
	ok(stopped.error);
	ck_assert_uint_eq(stopped.id, FIRST + 1);
	ck_assert_uint_eq(state_of(FIRST), DEAD);
	ck_assert_uint_eq(expect_unique_texts(), 1);
}
END_TEST

static unsigned int inner_id;

static void open_here(const char *name)
{
	if (!may_stand || strcmp(name, point))
		return;
	may_stand = false;
	ok(px_names_open(names, "same", self(), always_alive, &inner_id));
}

/* Contract of names.h: a handler that opens a name breaks a rule, but causes no deadlock and no duplicate. */
START_TEST(names_open_within_itself_gives_one_id)
{
	set_hook(open_here, points[_i]);
	may_stand = true;
	ck_assert_uint_eq(open_name("same"), FIRST + 1);
	ck_assert_uint_eq(inner_id, FIRST + 1);
	ck_assert_uint_eq(nr_asked, 0); /* there was no reason to wait */
	ck_assert_uint_eq(expect_unique_texts(), 1);
}
END_TEST

/* With any content, the functions stay inside the memory of the table and return within seconds. */
START_TEST(names_table_hostile_is_survived)
{
	uint64_t random = test_seed();
	unsigned char *bytes = (unsigned char *)names;
	unsigned int id;

	for (size_t i = 0; i < PX_NAMES_SIZE; i++)
		bytes[i] = (unsigned char)next_random(&random);
	for (id = 0; id < PX_EVENT_IDS + 10; id++) {
		char text[PX_NAME_MAX + 1];

		memset(text, '#', sizeof(text));
		if (px_names_get(names, id, text) == 0)
			ck_assert_uint_lt(strlen(text), sizeof(text));
	}
	px_names_find(names, "name", &id);
	ck_assert_uint_eq(id, PX_EVENT_NONE);
	px_names_open(names, "name", self(), _i ? always_alive : never_alive, &id);
}
END_TEST

/* A thread that never ends has claimed all entries, so the function gives up early. */
START_TEST(names_open_all_claimed_by_living_thread_is_bounded)
{
	uint64_t start_ns = monotonic_ns();
	unsigned int id = UNTOUCHED;

	for (unsigned int i = 0; i < NR_ENTRIES; i++)
		names->entry[i].word = NOBODY << TID_SHIFT | WRITING;
	fails(px_names_open(names, "name", self(), always_alive, &id), ENOSPC);
	ck_assert_uint_eq(id, UNTOUCHED);
	ck_assert_uint_lt(monotonic_ns() - start_ns, 10000000000u); /* 100 ms for each would be 400 s */
}
END_TEST

/* MAP-2: ids without a name stay without one; later names follow; nothing else than another name is in the way. */
START_TEST(names_adopt_gives_each_name_its_id)
{
	struct px_names *from = names;
	unsigned int first = open_name("first"), second;

	names->entry[1].word = DEAD;
	second = open_name("second");
	ck_assert_uint_eq(second, FIRST + 2);
	for (int again = 0; again < 2; again++) {
		names = again ? names : new_table();
		ck_assert(px_names_adopt(names, from, self(), is_alive));
		ck_assert_uint_eq(find_name("first"), first);
		ck_assert_uint_eq(state_of(FIRST + 1), DEAD);
		ck_assert_uint_eq(find_name("second"), second);
		ck_assert_uint_eq(open_name("third"), second + 1);
	}
	names = new_table();
	ck_assert_uint_eq(open_name("first"), first);
	ck_assert_uint_eq(open_name("other"), FIRST + 1);
	ck_assert(px_names_adopt(names, from, self(), is_alive));
	ck_assert_uint_eq(find_name("second"), second);
	names = new_table();
	open_name("other");
	ck_assert(!px_names_adopt(names, from, self(), is_alive));
	names = new_table();
	open_name("second"); /* with another id */
	ck_assert(!px_names_adopt(names, from, self(), is_alive));
}
END_TEST

/* A text that fills its field, without a null byte. */
START_TEST(names_text_without_null_is_cut)
{
	struct px_name_entry *entry = &names->entry[NR_ENTRIES - 1];
	char longest[PX_NAME_MAX + 1], text[PX_NAME_MAX + 1];

	memset(longest, 'n', PX_NAME_MAX);
	longest[PX_NAME_MAX] = '\0';
	open_name(longest);
	for (unsigned int i = 1; i < NR_ENTRIES; i++)
		names->entry[i].word = DEAD;
	*entry = (struct px_name_entry){.word = READY, .hash = names->entry[0].hash};
	memset(entry->text, 'n', sizeof(entry->text));
	names->entry[0].word = DEAD;

	/* The last bytes of the memory; strlen() would access the guard page. */
	ok(px_names_get(names, PX_EVENT_USER_END - 1, text));
	ck_assert_str_eq(text, longest);
	ck_assert_uint_eq(find_name(longest), PX_EVENT_NONE);
	fails(px_names_open(names, longest, self(), is_alive, &(unsigned int){0}), ENOSPC);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("names");
	TCase *basic = tcase_create("basic");
	TCase *crowd = tcase_create("crowd");
	TCase *lost = tcase_create("lost");
	TCase *hostile = tcase_create("hostile");

	tcase_add_checked_fixture(basic, begin, NULL);
	tcase_set_timeout(basic, 30);
	tcase_add_test(basic, names_open_new_names_gives_ids_in_order);
	tcase_add_test(basic, names_open_known_name_gives_its_id);
	tcase_add_test(basic, names_open_buffer_reused_by_caller_keeps_name);
	tcase_add_loop_test(basic, names_open_predefined_name_gives_predefined_id, 0,
			    PX_ARRAY_SIZE(predefined));
	tcase_add_test(basic, names_open_bytes_that_differ_gives_different_ids);
	tcase_add_test(basic, names_open_empty_string_is_a_name);
	tcase_add_test(basic, names_open_longest_name_is_kept_whole);
	tcase_add_test(basic, names_open_name_too_long_is_enametoolong);
	tcase_add_test(basic, names_open_full_table_is_enospc);
	tcase_add_test(basic, names_find_full_table_is_quick);
	tcase_add_test(basic, names_open_equal_hash_compares_text);
	tcase_add_test(basic, names_find_absent_name_gives_zero);
	tcase_add_test(basic, names_find_dead_entry_is_skipped);
	tcase_add_test(basic, names_find_entry_being_written_ends_the_search);
	tcase_add_loop_test(basic, names_get_predefined_id_gives_its_name, 0,
			    PX_ARRAY_SIZE(predefined));
	tcase_add_test(basic, names_get_id_without_name_is_einval);
	tcase_add_test(basic, names_get_short_name_writes_no_more_than_it);
	tcase_add_test(basic, names_get_same_id_gives_same_name);
	tcase_add_test(basic, names_open_any_path_keeps_errno);
	suite_add_tcase(suite, basic);

	tcase_add_checked_fixture(crowd, begin, NULL);
	tcase_set_timeout(crowd, 60);
	tcase_add_loop_test(crowd, names_open_from_many_threads_gives_one_id_for_a_name, 0, 10);
	tcase_add_loop_test(crowd, names_open_from_many_processes_gives_one_id_for_a_name, 0, 10);
	suite_add_tcase(suite, crowd);

	tcase_add_checked_fixture(lost, begin, NULL);
	tcase_set_timeout(lost, 60);
	tcase_add_loop_test(lost, names_open_writer_killed_leaves_table_usable, 0,
			    PX_ARRAY_SIZE(points));
	tcase_add_test(lost, names_open_writers_killed_in_a_row_leaves_table_usable);
	tcase_add_test(lost, names_open_writers_killed_anywhere_leaves_table_usable);
	tcase_add_loop_test(lost, names_open_writer_slow_is_waited_for, 0, PX_ARRAY_SIZE(points));
	tcase_add_loop_test(lost, names_open_entry_taken_meanwhile_is_looked_at_again, 0, 2);
	tcase_add_loop_test(lost, names_open_writer_stopped_is_given_up, 0, PX_ARRAY_SIZE(points));
	tcase_add_loop_test(lost, names_open_within_itself_gives_one_id, 0, PX_ARRAY_SIZE(points));
	suite_add_tcase(suite, lost);

	tcase_add_checked_fixture(hostile, begin, NULL);
	tcase_set_timeout(hostile, 60);
	tcase_add_loop_test(hostile, names_table_hostile_is_survived, 0, 2);
	tcase_add_test(hostile, names_open_all_claimed_by_living_thread_is_bounded);
	tcase_add_test(hostile, names_text_without_null_is_cut);
	tcase_add_test(hostile, names_adopt_gives_each_name_its_id);
	suite_add_tcase(suite, hostile);

	return run_suite(suite);
}
