/* SPDX-License-Identifier: MIT */
/*
 * The shared name table, and the list of types of a stream: concurrent claims, killed processes, tables that run out of
 * places, and forged content.
 */
#include "support/common.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/procfs_maps.h"
#include "base/shm.h"
#include "event/typelist.h"
#include "registry/names_file.h"
#include "registry/shared_names.h"
#include "support/helper_process.h"
#include "trace/types.h"

static struct px_shared_names *shared_names;
static struct px_typelist *list;

/* Shared with children that the test kills. */
static void *make_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

static void setup(void)
{
	shared_names = make_shared(sizeof(*shared_names));
	list = make_shared(sizeof(*list));
}

static void teardown(void)
{
	__atomic_store_n(&px_testpoint_hook, NULL, __ATOMIC_RELEASE);
}

static uint64_t word_of(pid_t pid)
{
	return px_procfs_word((uint32_t)pid, px_procfs_start((uint32_t)pid));
}

static uint64_t own_word(void)
{
	return word_of(getpid());
}

/* Words that belong to no process: the pid of a living process with another start time. */
static uint64_t dead_word(uint64_t i)
{
	return px_procfs_word((uint32_t)getpid(), px_procfs_start((uint32_t)getpid()) + 1 + i);
}

/* A process that sleeps until the test ends. */
static pid_t fork_sleeper(void)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	while (child == 0)
		pause();
	return child;
}

static void add_to(struct px_shared_names_member *member, unsigned int id)
{
	member->opened.bits[id / 64] |= UINT64_C(1) << id % 64;
}

/* EVOPEN-4: a process has one place, whichever of its threads asks */
START_TEST(enter_the_same_process_gives_the_same_place)
{
	struct px_shared_names_member *member = px_shared_names_enter(shared_names, own_word());

	ck_assert_ptr_nonnull(member);
	ck_assert_uint_eq(member->word, own_word());
	ck_assert_ptr_eq(px_shared_names_enter(shared_names, own_word()), member);
	ck_assert_ptr_eq(px_shared_names_find(shared_names, own_word()), member);
	ck_assert_ptr_ne(px_shared_names_enter(shared_names, word_of(1)), member);
	ck_assert_ptr_null(px_shared_names_find(shared_names, dead_word(0)));
}
END_TEST

/* A process without a start time, as without /proc, has no word, so it does not mistake a free place for its own */
START_TEST(enter_without_a_word_gives_no_place)
{
	ck_assert_ptr_null(px_shared_names_find(shared_names, 0));
	ck_assert_ptr_null(px_shared_names_enter(shared_names, 0));
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++)
		ck_assert_uint_eq(shared_names->member[i].word, 0);
}
END_TEST

/* FORK-7: the library reuses the places of dead processes, and empties them; it keeps those of living ones */
START_TEST(enter_a_full_table_takes_places_of_the_dead)
{
	struct px_shared_names_member *living = px_shared_names_enter(shared_names, own_word());
	struct px_shared_names_member *fresh;

	add_to(living, 17);
	for (uint64_t i = 0; i < PX_SHARED_NAMES_MEMBERS - 1; i++) {
		struct px_shared_names_member *member = px_shared_names_enter(shared_names,
									      dead_word(i));

		ck_assert_ptr_nonnull(member);
		add_to(member, 18);
	}
	fresh = px_shared_names_enter(shared_names, word_of(1));
	ck_assert_ptr_nonnull(fresh);
	ck_assert_ptr_ne(fresh, living);
	ck_assert(!px_eventset_has(&fresh->opened, 18));
	ck_assert_ptr_eq(px_shared_names_find(shared_names, own_word()), living);
	ck_assert(px_eventset_has(&living->opened, 17));
	ck_assert_ptr_null(px_shared_names_find(shared_names, dead_word(0)));
}
END_TEST

/* There are more living processes than places: a further process gets no place until one of them ends, and no process
 * loses its place. */
START_TEST(enter_more_than_there_are_places_gives_none_until_one_ends)
{
	static pid_t sleeper[PX_SHARED_NAMES_MEMBERS];
	uint64_t begin;

	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
		sleeper[i] = fork_sleeper();
		ck_assert_ptr_nonnull(px_shared_names_enter(shared_names, word_of(sleeper[i])));
	}
	begin = monotonic_ns();
	ck_assert_ptr_null(px_shared_names_enter(shared_names, own_word()));
	ck_assert_uint_lt(monotonic_ns() - begin, UINT64_C(1000000000));
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++)
		ck_assert_ptr_nonnull(px_shared_names_find(shared_names, word_of(sleeper[i])));
	kill(sleeper[100], SIGKILL);
	waitpid(sleeper[100], NULL, 0);
	ck_assert_ptr_eq(px_shared_names_enter(shared_names, own_word()),
			 &shared_names->member[100]);
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++)
		kill(sleeper[i], SIGKILL);
}
END_TEST

/* What happens while a claim waits at its test point. */

static struct px_shared_names_member *second_claim;

static void claim_too(void)
{
	second_claim = px_shared_names_enter(shared_names, own_word());
}

static void free_the_first_place_and_claim(void)
{
	px_store_release(&shared_names->member[0].word,
			 UINT64_C(0)); /* like a process that frees places of dead processes */
	claim_too();
}

/* Two processes claim a place for one process: the target, and its controller */
START_TEST(enter_twice_at_once_gives_one_place)
{
	struct px_shared_names_member *first;
	int places = 0;

	if (_i)
		ck_assert_ptr_nonnull(px_shared_names_enter(shared_names, dead_word(0)));
	px_test_at_point("shared_names.place.taken", _i ? free_the_first_place_and_claim : claim_too);
	first = px_shared_names_enter(shared_names, own_word());
	ck_assert_ptr_nonnull(first);
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++)
		places += shared_names->member[i].word == own_word();
	ck_assert_int_eq(places, 1);
	ck_assert_ptr_eq(px_shared_names_find(shared_names, own_word()), first);
	ck_assert_ptr_eq(second_claim, first);
}
END_TEST

/* A child that is killed at this point of the operation. */
static const char *deadly_point;

static void die_there(const char *name)
{
	if (strcmp(name, deadly_point) == 0)
		kill(getpid(), SIGKILL);
}

static void kill_at(const char *point, void (*function)(void))
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		deadly_point = point;
		__atomic_store_n(&px_testpoint_hook, die_there, __ATOMIC_RELEASE);
		function();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFSIGNALED(status), "%s was not reached", point);
}

static void enter_self(void)
{
	px_shared_names_enter(shared_names, own_word());
}

/* EXIT-6 */
START_TEST(enter_killed_in_the_middle_costs_no_place_for_good)
{
	for (int i = 0; i < PX_SHARED_NAMES_MEMBERS + 10; i++)
		kill_at("shared_names.place.taken", enter_self);
	ck_assert_ptr_nonnull(px_shared_names_enter(shared_names, own_word()));
}
END_TEST

/* A table with content from a hostile process: the functions return in bounded time, and access only the table. */
START_TEST(enter_a_hostile_table_ends)
{
	uint64_t seed = test_seed();
	struct px_shared_names_member *member;

	for (int round = 0; round < 20; round++) {
		uint64_t begin = monotonic_ns();

		for (int i = 0; i < PX_SHARED_NAMES_MEMBERS; i++) {
			uint64_t random = next_random(&seed);

			shared_names->member[i].word = round == 0 ? 1 :
						       round == 1 ? UINT64_MAX :
								    random;
			memset(&shared_names->member[i].opened, (int)(random >> 56),
			       sizeof(shared_names->member[i].opened));
		}
		member = px_shared_names_enter(shared_names, own_word());
		ck_assert(!member || (member >= shared_names->member &&
				      member < shared_names->member + PX_SHARED_NAMES_MEMBERS));
		if (round == 0)
			ck_assert_ptr_null(member); /* other processes have claimed all places */
		ck_assert_uint_lt(monotonic_ns() - begin, UINT64_C(1000000000));
	}
}
END_TEST

/* The segment. */

static struct px_shared_names_ref make_family(void)
{
	struct px_shared_names_ref ref;

	ok(px_shared_names_make(geteuid(), &ref));
	ck_assert_uint_ne(ref.number, 0);
	return ref;
}

static bool exists(uint32_t number)
{
	struct shmid_ds status;

	return shmctl((int)(number - 1), IPC_STAT, &status) == 0;
}

/* MAP-2 EXEC-3: the memory exists as long as a process uses it, and no longer */
START_TEST(shared_names_lives_as_long_as_somebody_has_it)
{
	struct px_shared_names_ref ref = make_family(), again;
	uint32_t number = ref.number;
	pid_t child;

	px_shared_names_keep(&ref);
	child = fork_sleeper();

	ref.shared_names->member[3].word = 42;
	px_shared_names_detach(&ref);
	ck_assert_ptr_null(ref.shared_names);
	ok(px_shared_names_attach(number, geteuid(), &again));
	ck_assert_uint_eq(again.shared_names->member[3].word, 42);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert(exists(number));
	px_shared_names_detach(&again);
	ck_assert(!exists(number));
	ck_assert_int_ne(px_shared_names_attach(number, geteuid(), &again), 0);
}
END_TEST

/* Memory that is no shared name table, that belongs to another user, or that others may open. */
static int make_segment(size_t size, int mode, uint64_t magic)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | mode);
	void *memory;

	ck_assert_int_ge(id, 0);
	memory = shmat(id, NULL, 0);
	ck_assert_ptr_ne(memory, (void *)-1);
	shmctl(id, IPC_RMID, NULL);
	memcpy(memory, &magic, sizeof(magic));
	return id;
}

static int exchanged_id;
static bool was_asked, was_exchanged;
static uint64_t names_magic;

/* The numbers of segments repeat after many segments.  Root can choose the next number. */
static bool is_next(int id)
{
	FILE *file = fopen("/proc/sys/kernel/shm_next_id", "w");
	bool is_written = file && fprintf(file, "%d", id) > 0;

	return file && fclose(file) == 0 && is_written;
}

/* A smaller segment with the same number, whose header is that of a shared name table. */
static void exchange(void)
{
	was_asked = true;
	shmctl(exchanged_id, IPC_RMID, NULL);
	if (!is_next(exchanged_id))
		return;
	was_exchanged = true;
	exchanged_id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	memcpy(shmat(exchanged_id, NULL, 0), &names_magic, sizeof(names_magic));
}

/* If it were attached, there would be no memory after its end. */
START_TEST(shared_names_whose_number_becomes_anothers_is_refused)
{
	struct px_shared_names_ref ref, other;
	int id;

	/* Otherwise another suite that runs at the same time may get the number. */
	unshare(CLONE_NEWIPC);
	ref = make_family();
	id = shmget(IPC_PRIVATE, sizeof(struct px_shared_names), IPC_CREAT | 0600);
	exchanged_id = id;
	names_magic = ref.shared_names->magic;
	px_test_at_point("shared_names.attach.checked", exchange);
	ck_assert_int_ne(px_shared_names_attach((uint32_t)id + 1, geteuid(), &other), 0);
	ck_assert(was_asked);
	ck_assert_int_eq(exchanged_id, id);
	shmctl(id, IPC_RMID, NULL);
	px_shared_names_detach(&ref);
	if (!was_exchanged)
		px_test_skip("no right to choose the number of a segment");
}
END_TEST

static int leave_segment(const size_t *size)
{
	return shmget(IPC_PRIVATE, *size, IPC_CREAT | 0600);
}

/*
 * A process makes it and is killed at the first step. used: this process attaches it before, because other suites run
 * at the same time and remove unused segments.
 */
static int left_over(size_t size, void **used)
{
	int fds[2], id = -1;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		id = leave_segment(&size);
		if (write(fds[1], &id, sizeof(id)) == sizeof(id))
			for (;;)
				pause();
		_exit(1);
	}
	ck_assert_int_eq(read(fds[0], &id, sizeof(id)), sizeof(id));
	if (used)
		*used = shmat(id, NULL, 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(fds[0]);
	close(fds[1]);
	return id;
}

static bool is_there(int id)
{
	struct shmid_ds status;

	return shmctl(id, IPC_STAT, &status) == 0;
}

/* EXIT-5: the library removes leftovers, but nothing that belongs to others or is in use. */
START_TEST(sweep_removes_what_a_killed_process_left)
{
	size_t size = sizeof(struct px_shared_names);
	void *memory = NULL;
	int gone = left_over(size, NULL), others = left_over(size + 8, NULL);
	int ours = leave_segment(&size), used = left_over(size, &memory);

	px_shared_names_sweep();
	ck_assert(!is_there(gone));
	ck_assert(is_there(others) && is_there(ours) && is_there(used));
	shmctl(others, IPC_RMID, NULL);
	shmctl(ours, IPC_RMID, NULL);
	shmdt(memory);
	px_shared_names_sweep();
	ck_assert(!is_there(used));
}
END_TEST

START_TEST(shared_names_that_is_none_is_refused)
{
	struct px_shared_names_ref ref = make_family(), other;
	uint64_t magic = ref.shared_names->magic;
	const int refused[] = {
		make_segment(sizeof(struct px_shared_names), 0600, 0),
		make_segment(sizeof(struct px_shared_names), 0600, magic + 1),
		make_segment(sizeof(struct px_shared_names) + 1, 0600, magic),
		make_segment(4096, 0600, magic),
		make_segment(sizeof(struct px_shared_names), 0660, magic),
		make_segment(sizeof(struct px_shared_names), 0602, magic),
	};

	const size_t nr = sizeof(refused) / sizeof(refused[0]), first_with_mode = 4;
	struct shmid_ds status;
	bool has_modes;

	ck_assert_int_eq(shmctl(refused[0], IPC_STAT, &status), 0);
	has_modes = (status.shm_perm.mode & 0777) == 0600; /* an emulator may put them elsewhere */
	for (size_t i = 0; i < (has_modes ? nr : first_with_mode); i++)
		fails(px_shared_names_attach((uint32_t)refused[i] + 1, geteuid(), &other),
		      i == 0 ? EAGAIN : EACCES);
	fails(px_shared_names_attach(0, geteuid(), &other), ENOENT);
	fails(px_shared_names_attach(INT32_MAX, geteuid(), &other), EACCES);
	fails(px_shared_names_attach(UINT32_MAX, geteuid(), &other), ENOENT);
	fails(px_shared_names_attach(ref.number, geteuid() + 1, &other), EACCES);
	ok(px_shared_names_attach(
		(uint32_t)make_segment(sizeof(struct px_shared_names), 0600, magic) + 1, geteuid(),
		&other));
	errno = 1234;
	px_shared_names_attach(INT32_MAX, geteuid(), &other);
	ck_assert_int_eq(errno, 1234);
	if (!has_modes)
		px_test_skip("this kernel does not tell the mode of a segment");
}
END_TEST

/* CREATE-7: it finds the memory in a process that uses such memory itself; a child uses that of its parent */
START_TEST(shared_names_of_a_process_is_found_among_its_other_segments)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC), child;
	uint32_t number, again;
	bool has_entered;

	ok(px_shared_names_of((uint32_t)target.pid, geteuid(), &number, &has_entered));
	ck_assert_uint_eq(number, 0);
	ok((int)px_helper_do(&target, "use-segments", 0, _i, NULL).a);
	px_helper_open(&target, "found");
	ok(px_helper_create(&target, 0, 0, true)); /* until then the table is private */
	ok((int)px_helper_do(&target, "use-segments", 0, _i, NULL).a);
	ok(px_shared_names_of((uint32_t)target.pid, geteuid(), &number, &has_entered));
	ck_assert_uint_ne(number, 0);
	child = px_helper_make_by(&target, PX_BY_FORK);
	ok(px_shared_names_of((uint32_t)child.pid, geteuid(), &again, &has_entered));
	ck_assert_uint_eq(again, number);
	ok(px_helper_shutdown(&target, 0)); /* the next child inherits nothing */
	child = px_helper_make_by(&target, PX_BY_SPAWN);
	ok(px_shared_names_of((uint32_t)child.pid, geteuid(), &again, &has_entered));
	ck_assert_uint_eq(again, 0);
	fails(px_shared_names_of(INT32_MAX, geteuid(), &again, &has_entered), ESRCH);
}
END_TEST

static void trick_use_segments(struct px_order *order)
{
	order->a = 0;
	for (int i = 0; i < order->b; i++) {
		int id = shmget(IPC_PRIVATE, i % 2 ? 4096 : sizeof(struct px_shared_names),
				IPC_CREAT | 0600);

		order->a |= id < 0 || shmat(id, NULL, 0) == (void *)-1;
		shmctl(id, IPC_RMID, NULL);
	}
}

/* From now on, no such memory is available. */
static void trick_forbid_segments(struct px_order *order)
{
	FILE *file;

	order->a = unshare(CLONE_NEWIPC) == 0 ? 0 : errno;
	if (order->a)
		return;
	file = fopen("/proc/sys/kernel/shmmni", "w");
	order->a = !file || fputs("0", file) < 0 || fclose(file) != 0 ? EROFS : 0;
}

/* EVOPEN-1 FORK-7: without such memory, names still work for the process and for its children by fork */
START_TEST(shared_names_without_system_v_memory_is_private)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC), child;
	int64_t error = px_helper_do(&target, "forbid-segments", 0, 0, NULL).a;
	uint32_t number;
	trace_event_id_t id;
	pid_t pid;

	if (error != 0) { /* not root, or a container */
		px_test_skip("no right to forbid System V memory");
		return;
	}
	id = px_helper_open(&target, "private");
	ck_assert_uint_gt(id, POSIX_TRACE_UNNAMED_USEREVENT);
	ok(px_helper_create(&target, 0, 0, true));
	ok(px_helper_start(&target, 0));
	/* Another program has its own table, where the same id is another name.  So it is not traced (MAP-1). */
	child = px_helper_make_by(&target, PX_BY_SPAWN);
	ck_assert_uint_eq(px_helper_open(&child, "another"), id);
	px_helper_trace(&child, id, 1);
	fails(px_helper_create(&target, 1, child.pid, false), ENOMEM);
	ok(px_helper_create(&child, 0, 0, false)); /* now it looks again */
	px_helper_trace(&child, id, 2);
	child = px_helper_make_by(&target, PX_BY_FORK);
	ck_assert_uint_eq(px_helper_open(&child, "private"), id);
	px_helper_trace(&child, id, 3);
	px_helper_trace(&target, id, 4);
	ck_assert_uint_eq(px_helper_take(&target, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&target, 0, &number, &pid), id);
	ck_assert_uint_eq(number, 3);
	ck_assert_int_eq(pid, child.pid);
	ck_assert_uint_eq(px_helper_take(&target, 0, &number, &pid), id);
	ck_assert_uint_eq(number, 4);
}
END_TEST

static void trick_limit_segments(struct px_order *order)
{
	FILE *file = fopen("/proc/sys/kernel/shmmni", "w");

	order->a = !file || fprintf(file, "%d", (int)order->a) < 0 || fclose(file) != 0 ? EROFS : 0;
}

static void trick_few_segments(struct px_order *order)
{
	if (unshare(CLONE_NEWIPC) == 0)
		trick_limit_segments(order);
	else
		order->a = errno;
}

static void trick_count_segments(struct px_order *order)
{
	struct shm_info used;

	order->a = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&used) < 0 ? -1 : used.used_ids;
}

#define FEW 50

/* EVOPEN-1 CREATE-7: programs that no stream traces use no segment, and any of them can be traced. */
START_TEST(shared_names_of_many_programs_use_no_segments)
{
	struct px_helper first = px_helper_make(PX_BY_FORK_EXEC), other;
	int64_t error = px_helper_do(&first, "few-segments", FEW, 0, NULL).a;
	uint32_t number;
	trace_event_id_t id;

	if (error != 0) { /* not root, or a container */
		px_test_skip("no right to limit System V memory");
		return;
	}
	id = px_helper_open(&first, "one of many");
	for (int i = 0; i < FEW + 10; i++) {
		other = px_helper_make_by(&first, PX_BY_SPAWN);
		ck_assert_uint_eq(px_helper_open(&other, "one of many"), id);
		if (i % 2) { /* these trace themselves */
			ok(px_helper_create(&other, 0, 0, false));
			ok(px_helper_start(&other, 0));
		}
	}
	ck_assert_int_eq(px_helper_do(&first, "count-segments", 0, 0, NULL).a, 0);
	ok(px_helper_create(&first, 0, other.pid, false));
	ok(px_helper_start(&first, 0));
	ok(px_helper_create(&other, 1, first.pid, false));
	ok(px_helper_start(&other, 1));
	px_helper_trace(&other, id, 1);
	px_helper_trace(&first, id, 2);
	ck_assert_uint_eq(px_helper_take(&first, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&first, 0, &number, NULL), id);
	ck_assert_uint_eq(number, 1);
	ck_assert_uint_eq(px_helper_take(&other, 1, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&other, 1, &number, NULL), id);
	ck_assert_uint_eq(number, 2);
	/* Both streams of the second program have its names. */
	px_helper_trace(&other, px_helper_open(&other, "later"), 3);
	ck_assert_uint_eq(px_helper_take(&other, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&other, 0, &number, NULL), id);
	ck_assert_uint_eq(px_helper_take(&other, 0, &number, NULL), px_helper_open(&other, "later"));
	ck_assert_uint_eq(number, 3);
}
END_TEST

/* MAP-2: a controller traces one process of a private table.  The others open their next name in the shared table. */
START_TEST(shared_names_of_a_family_move_together)
{
	struct px_helper parent = px_helper_make(PX_BY_FORK_EXEC), child, controller;
	trace_event_id_t first = px_helper_open(&parent, "first"), ids[3];
	uint32_t number;

	child = px_helper_make_by(&parent, PX_BY_FORK);
	controller = px_helper_make(PX_BY_FORK_EXEC);
	ids[0] = px_helper_open(&parent, "before");
	ok(px_helper_create(&controller, 0, child.pid, false)); /* the child opens nothing until then */
	ok(px_helper_start(&controller, 0));
	ids[1] = px_helper_open(&parent, "by the parent");
	ids[2] = px_helper_open(&child, "by the child");
	ck_assert_uint_ne(ids[1], ids[2]);
	ck_assert_uint_ne(ids[0], ids[2]);
	ck_assert_uint_eq(px_helper_open(&child, "by the parent"), ids[1]);
	ck_assert_uint_eq(px_helper_open(&parent, "by the child"), ids[2]);
	ck_assert_uint_eq(px_helper_open(&child, "before"), ids[0]);
	px_helper_trace(&child, first, 1);
	px_helper_trace(&child, ids[2], 2);
	ck_assert_uint_eq(px_helper_take(&controller, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&controller, 0, &number, NULL), first);
	ck_assert_uint_eq(px_helper_take(&controller, 0, &number, NULL), ids[2]);
	ok(px_helper_create(&controller, 1, parent.pid, false)); /* the table is the same */
	ok(px_helper_start(&controller, 1));
	px_helper_trace(&parent, ids[2], 3);
	ck_assert_uint_eq(px_helper_take(&controller, 1, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&controller, 1, &number, NULL), ids[2]);
}
END_TEST

static trace_event_id_t by_controller;
static struct px_shared_names_ref moved;

/* Like a controller that opens a name for this process at once. */
static void move_and_open(void)
{
	char name[PX_SHM_NAME_MAX];
	uint64_t inode;
	int fd;

	ck_assert(px_procfs_file((uint32_t)getpid(), PX_NAMES_FILE_PREFIX, name, sizeof(name), &inode));
	ok(px_shm_open(name, &fd));
	ok(px_names_file_move(fd, geteuid(), 0, &moved));
	close(fd);
	ok(px_types_open_for(moved.shared_names, NULL, "by the controller", &by_controller));
}

/* MAP-1: a thread has the id of a new name in the private table when the shared one gives this id to another name. */
START_TEST(open_while_the_table_moves_gives_the_id_of_the_shared_table)
{
	trace_event_id_t before, id, again;

	ok(posix_trace_eventid_open("before", &before));
	px_test_at_point("types.open.found", move_and_open);
	ok(posix_trace_eventid_open("new", &id));
	ck_assert_uint_eq(by_controller, before + 1);
	ck_assert_uint_eq(id, before + 2);
	ok(posix_trace_eventid_open("by the controller", &again));
	ck_assert_uint_eq(again, by_controller);
	ok(posix_trace_eventid_open("before", &again));
	ck_assert_uint_eq(again, before);
	px_shared_names_detach(&moved);
}
END_TEST

static bool has_names_file(pid_t pid)
{
	char name[PX_SHM_NAME_MAX];
	uint64_t inode;

	return px_procfs_file((uint32_t)pid, PX_NAMES_FILE_PREFIX, name, sizeof(name), &inode) &&
	       px_shm_has(name);
}

static bool is_file_of(const char *name, pid_t pid)
{
	char prefix[PX_SHM_NAME_MAX];

	snprintf(prefix, sizeof(prefix), "%s%d.", PX_NAMES_FILE_PREFIX, (int)pid);
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static pid_t sought;
static int nr_found;
static char found[512]; /* path of the last one */

static void count_file(const char *name, void *argument)
{
	(void)argument;
	if (is_file_of(name, sought)) {
		nr_found++;
		snprintf(found, sizeof(found), "%s/%s", getenv("TXTRACE_DIR"), name);
	}
}

static int count_files(pid_t pid)
{
	sought = pid;
	nr_found = 0;
	px_shm_for_each(PX_NAMES_FILE_PREFIX, count_file, NULL);
	return nr_found;
}

/* EXIT-5: the file ends with the last process, or with the next stream if that process was killed. */
START_TEST(names_file_ends_with_its_processes)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC), child;
	trace_id_t trid;

	px_helper_open(&target, "name");
	child = px_helper_make_by(&target, PX_BY_FORK);
	ck_assert(has_names_file(target.pid) && has_names_file(child.pid));
	px_helper_begin(&target, "exit", 0, 0, NULL);
	px_helper_await_gone(&target);
	ck_assert(has_names_file(child.pid));
	if (_i) {
		px_helper_begin(&child, "exit", 0, 0, NULL);
		px_helper_await_gone(&child);
	} else {
		px_helper_kill(&child);
		ok(posix_trace_create(0, NULL, &trid));
		ok(posix_trace_shutdown(trid));
	}
	ck_assert_int_eq(count_files(target.pid), 0);
}
END_TEST

/* EXIT-5: the next stream removes the file of a process that was killed while it made the file. */
START_TEST(names_file_of_a_process_killed_while_it_makes_it_is_removed)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);
	trace_id_t trid;

	px_helper_signal_at(&target, "names_file.make.made", SIGKILL);
	px_helper_begin(&target, "open", 0, 0, "name");
	px_helper_await_gone(&target);
	ck_assert_int_eq(count_files(target.pid), 1);
	if (_i == 0)
		ck_assert_int_eq(truncate(found, 0), 0);
	ok(posix_trace_create(0, NULL, &trid));
	ok(posix_trace_shutdown(trid));
	ck_assert_int_eq(count_files(target.pid), 0);
}
END_TEST

/* Other processes trace the target only now.  Both names have the ids that the target got for them. */
static trace_id_t expect_names(const struct px_helper *target, trace_event_id_t before,
			       trace_event_id_t after)
{
	trace_id_t stream = px_test_start_for(target->pid, false);
	char name[TRACE_EVENT_NAME_MAX];

	ok(posix_trace_eventid_get_name(stream, before, name));
	ck_assert_str_eq(name, "before");
	ok(posix_trace_eventid_get_name(stream, after, name));
	ck_assert_str_eq(name, "after");
	return stream;
}

static void expect_traced_with_names(const struct px_helper *target, trace_event_id_t before,
				     trace_event_id_t after)
{
	trace_id_t stream = expect_names(target, before, after);

	px_helper_trace(target, before, 1);
	px_helper_trace(target, after, 2);
	px_helper_trace(target, px_helper_open(target, "while traced"), 3);
	for (uint32_t number = 1; number <= 3; number++)
		px_test_expect_number(stream, number, target->pid);
	ok(posix_trace_shutdown(stream));
}

static void trick_chroot(struct px_order *order)
{
	order->a = chroot(order->text) != 0 || chdir("/") != 0 ? errno : 0;
}

/* CREATE-7 CREATE-18: no System V memory when the process opens its first name */
START_TEST(open_without_segments_is_listed_by_a_later_stream)
{
	struct px_helper first = px_helper_make(PX_BY_FORK_EXEC), target;
	trace_event_id_t id;

	if (px_helper_do(&first, "few-segments", 0, 0, NULL).a != 0) { /* not root, or a container */
		px_test_skip("no right to limit System V memory");
		return;
	}
	target = px_helper_make_by(&first, PX_BY_SPAWN);
	id = px_helper_open(&target, "name");
	fails(px_helper_create(&first, 0, target.pid, false), ENOMEM);
	ck_assert_int_eq(px_helper_do(&first, "limit-segments", FEW, 0, NULL).a, 0);
	ok(px_helper_create(&first, 0, target.pid, false));
	ok(px_helper_start(&first, 0));
	px_helper_trace(&target, id, 1);
	ck_assert_uint_eq(px_helper_take(&first, 0, NULL, NULL), POSIX_TRACE_START);
	ck_assert_uint_eq(px_helper_take(&first, 0, NULL, NULL), id);
}
END_TEST

/* CREATE-7 EVOPEN-1: the process can open neither its file nor any stream any more, so it records nothing */
START_TEST(open_after_a_chroot_is_listed_by_a_later_stream)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);
	trace_event_id_t before = px_helper_open(&target, "before");
	char empty[] = "/tmp/posixtrace-empty.XXXXXX";
	int error;

	ck_assert_ptr_nonnull(mkdtemp(empty));
	error = (int)px_helper_do(&target, "chroot", 0, 0, empty).a;
	rmdir(empty);
	if (error == EPERM) {
		px_test_skip("no right to chroot");
		return;
	}
	ck_assert_int_eq(error, 0);
	expect_names(&target, before, px_helper_open(&target, "after"));
}
END_TEST

/* CREATE-7 EVOPEN-1: another process has damaged the file, or removed it because no process seemed to use it. */
START_TEST(open_beside_a_damaged_file_is_listed_by_a_later_stream)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);
	trace_event_id_t before = px_helper_open(&target, "before");
	char name[PX_SHM_NAME_MAX], path[512];
	uint64_t inode;

	ck_assert(px_procfs_file((uint32_t)target.pid, PX_NAMES_FILE_PREFIX, name, sizeof(name),
				 &inode));
	snprintf(path, sizeof(path), "%s/%s", getenv("TXTRACE_DIR"), name);
	px_test_damage(path, (enum px_test_damage)_i);
	expect_traced_with_names(&target, before, px_helper_open(&target, "after"));
	unlink(path);
}
END_TEST

/* CREATE-7: the same, but the process opens no other name: its names come with it. */
START_TEST(events_beside_a_damaged_file_are_recorded)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);
	trace_event_id_t before = px_helper_open(&target, "before");
	char name[PX_SHM_NAME_MAX], path[512];
	trace_id_t stream;
	uint64_t inode;

	ck_assert(px_procfs_file((uint32_t)target.pid, PX_NAMES_FILE_PREFIX, name, sizeof(name), &inode));
	snprintf(path, sizeof(path), "%s/%s", getenv("TXTRACE_DIR"), name);
	px_test_damage(path, (enum px_test_damage)_i);
	stream = px_test_start_for(target.pid, false);
	px_helper_trace(&target, before, 1);
	px_test_expect_number(stream, 1, target.pid);
	ok(posix_trace_eventid_get_name(stream, before, name));
	ck_assert_str_eq(name, "before");
	ok(posix_trace_shutdown(stream));
	unlink(path);
}
END_TEST

/* CREATE-7: the directory of segments appears after the program has opened its first name, which has no file then. */
START_TEST(open_before_the_registry_exists_is_listed_by_a_later_stream)
{
	char own[256], directory[] = "/tmp/posixtrace-late.XXXXXX", later[64], segments[80], command[64];
	struct px_helper target, controller;
	trace_event_id_t before, after;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(later, sizeof(later), "%s/later", directory);
	snprintf(segments, sizeof(segments), "%s/segments", later);
	snprintf(own, sizeof(own), "%s", getenv("TXTRACE_DIR"));
	setenv("TXTRACE_DIR", segments, 1);
	target = px_helper_make(PX_BY_FORK_EXEC);
	before = px_helper_open(&target, "before");
	ck_assert_int_eq(access(segments, F_OK), -1);
	ck_assert_int_eq(mkdir(later, 0700), 0);
	ck_assert_int_eq(mkdir(segments, 0700), 0);
	controller = px_helper_make(PX_BY_FORK_EXEC);
	setenv("TXTRACE_DIR", own, 1);
	/* Until the program uses the registry itself, it is as one without the library. */
	ok(px_helper_create(&controller, 0, target.pid, false));
	ok(px_helper_start(&controller, 0));
	ck_assert_uint_eq(px_helper_take(&controller, 0, NULL, NULL), POSIX_TRACE_START);
	px_helper_trace(&target, before, 1);
	ck_assert_uint_eq(px_helper_take(&controller, 0, NULL, NULL), 0);
	ok(px_helper_create(&target, 0, target.pid, false));
	after = px_helper_open(&target, "after");
	ok(px_helper_create(&controller, 1, target.pid, false));
	ok(px_helper_start(&controller, 1));
	ck_assert_uint_eq(px_helper_take(&controller, 1, NULL, NULL), POSIX_TRACE_START);
	px_helper_trace(&target, before, 2);
	px_helper_trace(&target, after, 3);
	ck_assert_uint_eq(px_helper_take(&controller, 1, NULL, NULL), before);
	ck_assert_uint_eq(px_helper_take(&controller, 1, NULL, NULL), after);
	ck_assert_uint_eq(px_helper_do(&controller, "trid-open", 1, 0, "before").b, before);
	ck_assert_uint_eq(px_helper_do(&controller, "trid-open", 1, 0, "after").b, after);
	for (int i = 0; i < 2; i++)
		ok(px_helper_shutdown(&controller, i));
	ok(px_helper_shutdown(&target, 0));
	px_helper_kill(&target);
	px_helper_kill(&controller);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

/* EVOPEN-1 FORK-5: no process knows that a child uses the file of its parent, and the parent ends */
START_TEST(open_by_a_child_without_entry_after_its_parent_is_listed_by_a_later_stream)
{
	struct px_helper target, child;
	trace_event_id_t before;

	if (!px_test_has_fork_advice()) {
		px_test_skip("without a handler, the child takes itself for its parent");
		return;
	}
	target = px_helper_make(PX_BY_FORK_EXEC);
	before = px_helper_open(&target, "before");
	child = px_helper_make_by(&target, PX_BY_CLONE);
	px_helper_begin(&target, "exit", 0, 0, NULL);
	px_helper_await_gone(&target);
	ck_assert(!has_names_file(child.pid));
	ck_assert_uint_eq(px_helper_open(&child, "before"), before);
	expect_traced_with_names(&child, before, px_helper_open(&child, "after"));
}
END_TEST

/* Children that no handler of fork() has entered in the table of their parent, which ends. */

/* Make the parent, with two names.  Return false if the test cannot be run. */
static bool make_parent(struct px_helper *parent, trace_event_id_t *before, trace_event_id_t *after)
{
	if (!px_test_has_fork_advice()) {
		px_test_skip("without a handler, the child takes itself for its parent");
		return false;
	}
	*parent = px_helper_make(PX_BY_FORK_EXEC);
	*before = px_helper_open(parent, "before");
	*after = px_helper_open(parent, "after");
	return true;
}

static void let_exit(const struct px_helper *helper)
{
	px_helper_begin(helper, "exit", 0, 0, NULL);
	px_helper_await_gone(helper);
}

/* CREATE-7 FORK-5: a child enters itself while its parent removes the file, or after that, and opens no other name */
START_TEST(names_of_a_child_that_enters_late_are_listed_by_a_later_stream)
{
	static const char *const points[] = {"names_file.remove.unused", "names_file.remove.marked", NULL};
	struct px_helper target, child;
	trace_event_id_t before, after;

	if (!make_parent(&target, &before, &after))
		return;
	child = px_helper_make_by(&target, PX_BY_CLONE);
	if (points[_i])
		px_helper_signal_at(&target, points[_i], SIGSTOP);
	px_helper_begin(&target, "exit", 0, 0, NULL);
	if (points[_i])
		px_helper_await_state(&target, 'T');
	else
		px_helper_await_gone(&target);
	px_helper_trace(&child, before, 0);
	if (points[_i]) {
		kill(target.pid, SIGCONT);
		px_helper_await_gone(&target);
	}
	expect_traced_with_names(&child, before, after);
}
END_TEST

/*
 * CREATE-7: child and controller make their tables at the same time.  The controller finds none before the child has
 * made its own, and publishes its stream before the child moves (_i == 0); or it has not looked yet when the child
 * enters itself (_i == 1).
 */
static struct px_helper late_child;
static trace_event_id_t late_type;

static void trace_late(void)
{
	px_helper_trace(&late_child, late_type, 0);
}

START_TEST(names_of_a_child_that_enters_while_its_stream_is_made_are_found)
{
	trace_event_id_t before, after;
	struct px_helper target, child;
	trace_id_t stream;

	if (!make_parent(&target, &before, &after))
		return;
	child = px_helper_make_by(&target, PX_BY_CLONE);
	let_exit(&target);
	if (_i == 0) {
		px_helper_hold_at(&child, "process.shared_names.made");
		px_helper_begin(&child, "trace", before, 0, NULL);
		px_helper_await_held(&child);
		stream = px_test_start_for(child.pid, false);
		px_helper_release(&child);
		px_helper_end(&child);
		px_test_expect_number(stream, 0, child.pid);
	} else {
		late_child = child;
		late_type = before;
		px_test_at_point("stream.create.filled", trace_late);
		stream = px_test_start_for(child.pid, false);
	}
	px_helper_trace(&child, after, 1);
	px_test_expect_number(stream, 1, child.pid);
	ok(posix_trace_shutdown(stream));
	expect_traced_with_names(&child, before, after);
}
END_TEST

/* The last process that has made a shared table has ended before the next child enters itself. */
START_TEST(names_of_a_child_that_enters_after_its_sibling_are_listed_by_a_later_stream)
{
	struct px_helper target, first, second;
	trace_event_id_t before, after;

	if (!make_parent(&target, &before, &after))
		return;
	first = px_helper_make_by(&target, PX_BY_CLONE);
	second = px_helper_make_by(&target, PX_BY_CLONE);
	let_exit(&target);
	px_helper_trace(&first, before, 0);
	px_helper_kill(&first);
	px_helper_await_gone(&first);
	px_helper_trace(&second, before, 0);
	expect_traced_with_names(&second, before, after);
}
END_TEST

/* MAP-2: two children make a shared table at the same time: both use the same one. */
START_TEST(names_of_two_children_that_enter_at_once_are_in_one_table)
{
	struct px_helper target, first, second;
	trace_event_id_t before, after, id;

	if (!make_parent(&target, &before, &after))
		return;
	first = px_helper_make_by(&target, PX_BY_CLONE);
	second = px_helper_make_by(&target, PX_BY_CLONE);
	let_exit(&target);
	px_helper_hold_at(&first, "names_file.move_own.prepared");
	px_helper_begin(&first, "trace", before, 0, NULL);
	px_helper_await_held(&first);
	px_helper_trace(&second, before, 0);
	px_helper_release(&first);
	px_helper_end(&first);
	id = px_helper_open(&first, "by the first");
	ck_assert_uint_ne(px_helper_open(&second, "by the second"), id);
	ck_assert_uint_eq(px_helper_open(&second, "by the first"), id);
}
END_TEST

/* EXIT-5: without a descriptor, too, the last process removes the file */
START_TEST(names_file_ends_with_a_process_without_descriptors)
{
	struct px_helper target = px_helper_make(PX_BY_FORK_EXEC);

	px_helper_open(&target, "name");
	ck_assert_int_eq(count_files(target.pid), 1);
	px_helper_begin(&target, "exit-poor", 0, 0, NULL);
	px_helper_await_gone(&target);
	ck_assert_int_eq(count_files(target.pid), 0);
}
END_TEST

static void trick_exit_poor(struct px_order *order)
{
	const struct rlimit none = {0};

	(void)order;
	setrlimit(RLIMIT_NOFILE, &none);
	exit(0);
}

static void trick_describe(struct px_order *order)
{
	order->a = txtrace_describe_type((trace_event_id_t)order->a, order->text);
}

/*
 * CREATE-7 FORK-5: the stream is there before the child has entered itself, so its controller finds no names.  They
 * come with the child, unless the controller has given one of their ids to another name.
 */
START_TEST(names_of_a_child_that_enters_after_its_stream_come_with_it)
{
	trace_event_id_t before, after, other;
	struct px_helper target, child;
	struct txtrace_stream status;
	char description[64];
	size_t length;
	trace_id_t stream;

	if (!make_parent(&target, &before, &after))
		return;
	ok((int)px_helper_do(&target, "describe", after, 0, "u32 number").a);
	child = px_helper_make_by(&target, PX_BY_CLONE);
	let_exit(&target);
	stream = px_test_start_for(child.pid, false);
	if (_i)
		ok(posix_trace_trid_eventid_open(stream, "after", &other));
	px_helper_trace(&child, after, 1);
	ok(txtrace_get_stream(stream, &status));
	if (_i) {
		ck_assert_uint_eq(other, before);
		ck_assert_int_eq(status.absent, child.pid);
		ck_assert_int_eq(status.absent_error, EACCES);
		return;
	}
	ck_assert_int_eq(status.absent, 0);
	ok(txtrace_get_type_description(stream, after, description, sizeof(description), &length));
	ck_assert_uint_eq(length, strlen("u32 number"));
	ck_assert_mem_eq(description, "u32 number", length);
	px_helper_trace(&child, before, 2);
	px_helper_trace(&child, px_helper_open(&child, "while traced"), 3);
	for (uint32_t number = 1; number <= 3; number++)
		px_test_expect_number(stream, number, child.pid);
	ok(posix_trace_shutdown(stream));
	expect_names(&child, before, after);
}
END_TEST

/* The list of types. */

static void expect_type(uint32_t i, unsigned int id, const char *name)
{
	char got[PX_NAME_MAX + 1] = "";
	unsigned int got_id = 0;

	ck_assert(px_typelist_get(list, i, &got_id, got));
	ck_assert_uint_eq(got_id, id);
	ck_assert_str_eq(got, name);
	ok(px_typelist_name(list, id, got));
	ck_assert_str_eq(got, name);
	ck_assert(px_eventset_has(&list->listed, id));
}

static void expect_end(uint32_t i)
{
	char name[PX_NAME_MAX + 1];
	unsigned int id;

	ck_assert(!px_typelist_get(list, i, &id, name));
}

/* TYPELIST-4 */
START_TEST(add_keeps_the_order_and_lists_each_once)
{
	char name[PX_NAME_MAX + 1];

	ck_assert_uint_eq(px_typelist_add(list, 100, "hundred"), 0);
	ck_assert_uint_eq(px_typelist_add(list, 17, "first"), 1);
	ck_assert_uint_eq(px_typelist_add(list, 4095, "last"), 2);
	ck_assert_uint_eq(px_typelist_add(list, 17, "first"), 1);
	memset(name, 'n', PX_NAME_MAX);
	name[PX_NAME_MAX] = '\0';
	ck_assert_uint_eq(px_typelist_add(list, 18, name), 3);
	ck_assert_uint_eq(px_typelist_add(list, 19, ""), 4);
	expect_type(0, 100, "hundred");
	expect_type(1, 17, "first");
	expect_type(2, 4095, "last");
	expect_type(3, 18, name);
	expect_type(4, 19, "");
	expect_end(5);
	fails(px_typelist_name(list, 20, name), EINVAL);
	fails(px_typelist_name(list, 4096, name), EINVAL);
	fails(px_typelist_name(list, UINT32_MAX, name), EINVAL);
	ok(px_typelist_name(list, POSIX_TRACE_STOP, name));
	ck_assert_str_eq(name, "posix_trace_stop");
}
END_TEST

/* TYPELIST-3: as many types as there are ids, and no more */
START_TEST(add_all_types_there_can_be)
{
	char name[PX_NAME_MAX + 1];

	for (unsigned int id = PX_EVENT_IDS - 1; id >= PX_EVENT_USER_FIRST; id--) {
		snprintf(name, sizeof(name), "type %u", id);
		ck_assert_uint_eq(px_typelist_add(list, id, name), PX_EVENT_IDS - 1 - id);
	}
	for (uint32_t i = 0; i < PX_TYPELIST_MAX; i += 97) {
		snprintf(name, sizeof(name), "type %u", PX_EVENT_IDS - 1 - i);
		expect_type(i, PX_EVENT_IDS - 1 - i, name);
	}
	expect_end(PX_TYPELIST_MAX);
	expect_end(UINT32_MAX);
}
END_TEST

static void add_the_same(void)
{
	px_typelist_add(list, 17, "same");
}

static void add_another(void)
{
	px_typelist_add(list, 18, "another");
}

/* EVOPEN-11: two processes list the same type at the same time, or two types */
START_TEST(add_at_once_lists_each_once)
{
	px_test_at_point("typelist.add.taken", _i ? add_another : add_the_same);
	ck_assert_uint_eq(px_typelist_add(list, 17, "same"), 0);
	expect_type(0, 17, "same");
	if (_i)
		expect_type(1, 18, "another");
	expect_end(_i ? 2 : 1);
}
END_TEST

/* EXIT-6 TYPELIST-3: the next process that lists an entry completes it if its writer was killed in the middle */
START_TEST(add_killed_in_the_middle_is_finished_by_the_next)
{
	char name[PX_NAME_MAX + 1];
	unsigned int id = 4711;

	kill_at("typelist.add.taken", add_the_same);
	ck_assert(px_typelist_get(list, 0, &id, name));
	ck_assert_uint_eq(id, PX_EVENT_NONE);
	fails(px_typelist_name(list, 17, name), EINVAL);
	px_typelist_add(list, 18, "another");
	expect_type(1, 18, "another");
	px_typelist_add(list, 17, "same");
	expect_type(0, 17, "same");
	/* Killed when only the set was not done yet: each type in the list has its name. */
	list->listed = (struct px_eventset){{0}};
	ok(px_typelist_name(list, 17, name));
	ck_assert_str_eq(name, "same");
	px_typelist_add(list, 17, "same");
	expect_type(0, 17, "same");
	expect_end(2);
}
END_TEST

#define ADDERS 4

static void *add_many(void *argument)
{
	unsigned int start = (unsigned int)(uintptr_t)argument;
	char name[PX_NAME_MAX + 1];

	for (unsigned int i = 0; i < 600; i++) {
		unsigned int id = PX_EVENT_USER_FIRST + (start * 150 + i) % 600;

		snprintf(name, sizeof(name), "type %u", id);
		px_typelist_add(list, id, name);
	}
	return NULL;
}

/* TYPELIST-3 TYPELIST-4: several processes list the same types */
START_TEST(add_by_many_threads_lists_each_once)
{
	static bool seen[PX_EVENT_IDS];
	char name[PX_NAME_MAX + 1], wanted[PX_NAME_MAX + 1];
	pthread_t threads[ADDERS];
	unsigned int id;

	for (uintptr_t i = 0; i < ADDERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, add_many, (void *)i), 0);
	for (int i = 0; i < ADDERS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < 600; i++) {
		ck_assert(px_typelist_get(list, i, &id, name));
		ck_assert_uint_ne(id, PX_EVENT_NONE);
		ck_assert(!seen[id]);
		seen[id] = true;
		snprintf(wanted, sizeof(wanted), "type %u", id);
		ck_assert_str_eq(name, wanted);
	}
	expect_end(600);
}
END_TEST

/*
 * A list with content from a hostile process: the ids that are read are in range, the names end, and a full list takes
 * no more.
 */
START_TEST(list_that_is_hostile_gives_nothing_out_of_range)
{
	uint64_t seed = test_seed();
	char name[PX_NAME_MAX + 1];
	unsigned int id;

	for (size_t i = 0; i < sizeof(*list); i++)
		((unsigned char *)list)[i] = (unsigned char)(next_random(&seed) | 1);
	for (uint32_t i = 0; px_typelist_get(list, i, &id, name); i++) {
		ck_assert_uint_lt(i, PX_TYPELIST_MAX);
		ck_assert(id == PX_EVENT_NONE || (id >= PX_EVENT_USER_FIRST && id < PX_EVENT_IDS));
		if (id != PX_EVENT_NONE)
			ck_assert_uint_le(strnlen(name, sizeof(name)), PX_NAME_MAX);
	}
	for (unsigned int i = 0; i < PX_EVENT_IDS + 10; i++)
		if (px_typelist_name(list, i, name) == 0)
			ck_assert_uint_le(strnlen(name, sizeof(name)), PX_NAME_MAX);
	ck_assert_uint_le(px_typelist_add(list, 17, "mine"), PX_TYPELIST_MAX);
}
END_TEST

static const struct px_named_trick tricks[] = {
	{"use-segments", trick_use_segments},
	{"forbid-segments", trick_forbid_segments},
	{"few-segments", trick_few_segments},
	{"limit-segments", trick_limit_segments},
	{"count-segments", trick_count_segments},
	{"chroot", trick_chroot},
	{"describe", trick_describe},
	{"exit-poor", trick_exit_poor},
	{NULL, NULL},
};

/* FORK-7: before its first call, a child has only its parent's table, and not that of its parent's target */
START_TEST(shared_names_of_a_controllers_child_is_the_controllers_own)
{
	struct px_shared_names_ref ref[2] = {make_family(), make_family()};
	struct px_shared_names_ref *own = &ref[_i];
	bool has_entered;
	uint32_t number;
	pid_t child;

	if (!px_test_has_fork_advice()) {
		px_test_skip("this kernel keeps no memory from children of fork()");
		return;
	}
	px_shared_names_keep(own);
	child = fork_sleeper();
	ok(px_shared_names_of((uint32_t)child, geteuid(), &number, &has_entered));
	ck_assert_uint_eq(number, own->number);
	ck_assert(!has_entered);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	px_shared_names_detach(&ref[0]);
	px_shared_names_detach(&ref[1]);
}
END_TEST

static TCase *place_cases(void)
{
	TCase *tcase = tcase_create("places");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, enter_the_same_process_gives_the_same_place);
	tcase_add_test(tcase, enter_without_a_word_gives_no_place);
	tcase_add_test(tcase, enter_a_full_table_takes_places_of_the_dead);
	tcase_add_test(tcase, enter_more_than_there_are_places_gives_none_until_one_ends);
	tcase_add_loop_test(tcase, enter_twice_at_once_gives_one_place, 0, 2);
	tcase_add_test(tcase, enter_killed_in_the_middle_costs_no_place_for_good);
	tcase_add_test(tcase, enter_a_hostile_table_ends);
	return tcase;
}

static TCase *segment_cases(void)
{
	static const int others[] = {0, 10, 100};
	TCase *tcase = tcase_create("segment");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, shared_names_lives_as_long_as_somebody_has_it);
	tcase_add_test(tcase, sweep_removes_what_a_killed_process_left);
	tcase_add_test(tcase, shared_names_that_is_none_is_refused);
	tcase_add_test(tcase, shared_names_whose_number_becomes_anothers_is_refused);
	for (int i = 0; i < 3; i++)
		tcase_add_loop_test(tcase,
				    shared_names_of_a_process_is_found_among_its_other_segments,
				    others[i], others[i] + 1);
	tcase_add_loop_test(tcase, shared_names_of_a_controllers_child_is_the_controllers_own, 0,
			    2);
	tcase_add_test(tcase, shared_names_without_system_v_memory_is_private);
	tcase_add_test(tcase, shared_names_of_many_programs_use_no_segments);
	tcase_add_test(tcase, shared_names_of_a_family_move_together);
	tcase_add_test(tcase, open_while_the_table_moves_gives_the_id_of_the_shared_table);
	tcase_add_loop_test(tcase, names_file_of_a_process_killed_while_it_makes_it_is_removed, 0, 2);
	tcase_add_loop_test(tcase, names_file_ends_with_its_processes, 0, 2);
	tcase_add_test(tcase, open_without_segments_is_listed_by_a_later_stream);
	tcase_add_test(tcase, open_after_a_chroot_is_listed_by_a_later_stream);
	tcase_add_test(tcase, open_before_the_registry_exists_is_listed_by_a_later_stream);
	tcase_add_loop_test(tcase, open_beside_a_damaged_file_is_listed_by_a_later_stream, 0, PX_NR_DAMAGES);
	tcase_add_loop_test(tcase, events_beside_a_damaged_file_are_recorded, 0, PX_NR_DAMAGES);
	tcase_add_test(tcase, open_by_a_child_without_entry_after_its_parent_is_listed_by_a_later_stream);
	tcase_add_loop_test(tcase, names_of_a_child_that_enters_late_are_listed_by_a_later_stream, 0, 3);
	tcase_add_loop_test(tcase, names_of_a_child_that_enters_after_its_stream_come_with_it, 0, 2);
	tcase_add_loop_test(tcase, names_of_a_child_that_enters_while_its_stream_is_made_are_found, 0, 2);
	tcase_add_test(tcase, names_of_a_child_that_enters_after_its_sibling_are_listed_by_a_later_stream);
	tcase_add_test(tcase, names_of_two_children_that_enter_at_once_are_in_one_table);
	tcase_add_test(tcase, names_file_ends_with_a_process_without_descriptors);
	return tcase;
}

static TCase *list_cases(void)
{
	TCase *tcase = tcase_create("list");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, add_keeps_the_order_and_lists_each_once);
	tcase_add_test(tcase, add_all_types_there_can_be);
	tcase_add_loop_test(tcase, add_at_once_lists_each_once, 0, 2);
	tcase_add_test(tcase, add_killed_in_the_middle_is_finished_by_the_next);
	tcase_add_test(tcase, add_by_many_threads_lists_each_once);
	tcase_add_test(tcase, list_that_is_hostile_gives_nothing_out_of_range);
	return tcase;
}

int main(int argc, char **argv)
{
	Suite *suite;

	if (px_helper_main(argc, argv, tricks))
		return 0;
	suite = suite_create("shared_names");
	suite_add_tcase(suite, place_cases());
	suite_add_tcase(suite, segment_cases());
	suite_add_tcase(suite, list_cases());
	return run_suite(suite);
}
