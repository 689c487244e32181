/* SPDX-License-Identifier: MIT */
/*
 * Root traces a process of a hostile user.  The user attacks what they share: the segments of the streams, the table of
 * names, the registry.  Each call of the controller must return, access only its own memory, and lose no event of an
 * honest process.  PX_HOSTILE_SECONDS is the time for each kind of attack, by default 2.
 */
#include "support/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/layout.h"
#include "registry/registry.h"
#include "registry/shared_names.h"
#include "ring/segment.h"
#include "support/other_user.h"

#define HOSTILE_UID px_test_user(0)
#define HONEST_UID px_test_user(1)

/* The time that a call may take on a busy machine.  A creation may wait for two locks. */
#define CALL_NS UINT64_C(5000000000)
#define LOCKED_CALL_NS UINT64_C(20000000000)

#define TARGETS_MAX 16

/* The hostile process.  It does not use the library, but its children do. */

struct memory {
	int id;
	unsigned char *base;
	size_t size;
	unsigned char *whole; /* a copy of the original content */
};

static struct memory memories[TARGETS_MAX];
static int nr_memories;
static uint64_t random_state;

static uint64_t below(uint64_t bound)
{
	return bound ? next_random(&random_state) % bound : 0;
}

static void forget_memories(void)
{
	for (int i = 0; i < nr_memories; i++) {
		shmdt(memories[i].base);
		free(memories[i].whole);
	}
	nr_memories = 0;
}

static void attach_memory(int id)
{
	struct memory *memory = &memories[nr_memories];
	struct shmid_ds status;
	void *base;

	if (shmctl(id, IPC_STAT, &status) != 0 || status.shm_perm.uid != geteuid())
		return;
	base = shmat(id, NULL, 0);
	if (base == (void *)-1)
		return;
	*memory = (struct memory){id, base, status.shm_segsz, malloc(status.shm_segsz)};
	memcpy(memory->whole, base, memory->size);
	nr_memories++;
}

/* Find all that is shared with this process, in the kernel's list of mappings. */
static void find_memories(void)
{
	struct shm_info info;
	int last = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);

	forget_memories();
	for (int i = 0; i <= last && nr_memories < TARGETS_MAX; i++) {
		struct shmid_ds status;
		int id = shmctl(i, SHM_STAT, &status);

		if (id >= 0)
			attach_memory(id);
	}
}

static uint64_t wild_value(const struct memory *memory)
{
	uint64_t other;

	switch (below(7)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return below(1 << 16);
	case 3:
		return UINT64_C(1) << below(64);
	case 4: /* a word from elsewhere, or a similar one */
		memcpy(&other, memory->base + below(memory->size / 8) * 8, sizeof(other));
		return other + below(5) - 2;
	case 5: /* a possible slot word */
		return below(1 << 20) << PX_WORD_POSITION_SHIFT |
		       below(1 << 22) << PX_WORD_TID_SHIFT | below(8);
	default:
		return next_random(&random_state);
	}
}

/* The sensitive places: the head of the segment, and the control pages of the rings. */
static size_t wild_offset(const struct memory *memory)
{
	size_t rings = PX_SEGMENT_RINGS_OFFSET;

	switch (below(4)) {
	case 0:
		return below(512) * 8 % memory->size;
	case 1:
		return (rings + below(64) * 8) % memory->size / 8 * 8;
	default:
		return below(memory->size / 8) * 8;
	}
}

static void scribble_once(void)
{
	const struct memory *memory = &memories[below((uint64_t)nr_memories)];
	size_t offset = wild_offset(memory);
	size_t length = below(4096);
	uint64_t value;

	if (length > memory->size - offset)
		length = memory->size - offset;
	switch (below(400)) {
	case 0:
		memset(memory->base + offset, (int)below(256), length);
		break;
	case 1:
		memcpy(memory->base + offset, memory->whole + offset, length);
		break;
	case 2:
		memcpy(memory->base, memory->whole, memory->size);
		break;
	default:
		value = wild_value(memory);
		__atomic_store_n((uint64_t *)(void *)(memory->base + offset), value,
				 __ATOMIC_RELAXED);
	}
}

/* Change one word over and over, so that each retry finds another value. */
static void hammer(void)
{
	const struct memory *memory = &memories[below((uint64_t)nr_memories)];
	uint64_t *word = (uint64_t *)(void *)(memory->base + wild_offset(memory));
	uint64_t value = *word;
	uint64_t step = UINT64_C(1) << below(64);

	for (int i = 0; i < 200000; i++)
		__atomic_store_n(word, value += step, __ATOMIC_RELAXED);
}

static void attack_contents(void)
{
	if (nr_memories == 0)
		return;
	if (below(8) == 0)
		hammer();
	for (uint64_t i = below(20000); i > 0; i--)
		scribble_once();
}

static void attack_pages(void)
{
	for (int i = 0; i < nr_memories; i++) {
		const struct memory *memory = &memories[i];
		size_t pages = memory->size / 4096;
		size_t first = below(pages), nr = 1 + below(pages - first);

		madvise(memory->base + first * 4096, nr * 4096, MADV_REMOVE);
	}
}

/* Try each way to reach what /proc shows as a file; each must fail. */
static void cut_memory(const struct memory *memory)
{
	struct shmid_ds status;
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)memory->base,
		 (unsigned long)memory->base + (memory->size + 4095) / 4096 * 4096);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		if (ftruncate(fd, 0) == 0 || fallocate(fd, 3, 0, 4096) == 0)
			_exit(66);
		close(fd);
	}
	if (truncate(path, 0) == 0)
		_exit(66);
	if (shmctl(memory->id, IPC_STAT, &status) == 0) {
		status.shm_segsz = 1;
		status.shm_perm.mode = 0600 | (below(2) ? 0066 : 0);
		shmctl(memory->id, IPC_SET, &status);
	}
	if (below(20) == 0)
		shmctl(memory->id, IPC_RMID, NULL);
}

/* The user owns the registry, so all of this works. */
static void attack_registry(const char *path)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char other[160];
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	uint64_t value = next_random(&random_state);

	snprintf(other, sizeof(other), "%s.x", path);
	switch (below(14)) {
	case 0:
		if (ftruncate(fd, (off_t)below(20000)) != 0)
			break;
		break;
	case 1: /* then the library makes it again */
	case 10:
	case 11:
		unlink(path);
		break;
	case 2:
		rename(path, other);
		break;
	case 3:
		unlink(path);
		rename(other, path);
		break;
	case 4:
		unlink(path);
		if (mkfifo(path, 0600) != 0)
			break;
		break;
	case 5:
		unlink(path);
		if (symlink("/etc/passwd", path) != 0)
			break;
		break;
	case 6:
		chmod(path, (mode_t)below(01000));
		break;
	case 7:
		if (fcntl(fd, F_SETLK, &whole) == 0)
			sleep_ms((unsigned int)below(30));
		break;
	default:
		for (int i = 0; i < 50; i++, value = next_random(&random_state))
			if (pwrite(fd, &value, 1 + below(8),
				   (off_t)below(sizeof(struct px_registry))) < 0)
				break;
	}
	if (fd >= 0)
		close(fd);
}

static void attack_files(void)
{
	char path[128];

	for (int i = 0; i < nr_memories; i++)
		cut_memory(&memories[i]);
	px_other_user_path(path, geteuid(), PX_LAYOUT_REGISTRY);
	attack_registry(path);
	px_other_user_path(path, geteuid(), "");
	if (below(50) == 0) {
		chmod(path, (mode_t)below(01000));
		sleep_ms(1);
		chmod(path, 0700);
	}
}

static const struct {
	const char *name;
	void (*once)(void);
} attacks[] = {
	{"contents", attack_contents},
	{"files", attack_files},
	{"pages", attack_pages},
};

/*
 * A traced child, which may crash, because its memory is attacked.  It is not made by fork(), because handlers of the
 * library would read the registry in the parent, and it may be truncated.
 */
static pid_t start_victim(void)
{
	pid_t child = px_test_clone();

	if (child == 0) {
		alarm(2); /* the call may also never return */
		execl("/proc/self/exe", "check", "--foreigner", "victim", NULL);
		_exit(126);
	}
	return child;
}

static int be_victim(int argc, char **argv)
{
	const pid_t parent = getppid();
	trace_event_id_t type;

	(void)argc;
	(void)argv;
	if (posix_trace_eventid_open("victim", &type))
		type = POSIX_TRACE_UNNAMED_USEREVENT;
	for (uint32_t i = 0; i % 64 != 0 || getppid() == parent; i++) {
		unsigned char data[300];

		memset(data, (int)i, sizeof(data));
		posix_trace_event(type, data, i % sizeof(data));
		if (i % 64 == 0)
			sched_yield();
	}
	return 0;
}

static void mind_victim(pid_t *victim)
{
	if (*victim <= 0 || waitpid(*victim, NULL, WNOHANG) == *victim)
		*victim = start_victim();
}

static int be_hostile(int argc, char **argv)
{
	uint64_t looked_ns = 0;
	bool has_begun = false;
	void (*once)(void) = NULL;
	pid_t victim = 0;

	for (size_t i = 0; argc == 1 && i < PX_ARRAY_SIZE(attacks); i++)
		if (strcmp(argv[0], attacks[i].name) == 0)
			once = attacks[i].once;
	if (!once)
		return 1;
	random_state = monotonic_ns();
	for (;;) {
		if (monotonic_ns() - looked_ns > 50000000) {
			mind_victim(&victim);
			find_memories();
			looked_ns = monotonic_ns();
		}
		has_begun |= nr_memories > 0; /* there is a stream */
		if (has_begun)
			once();
		else
			sleep_ms(1);
	}
}

static const struct px_other_user_role_entry roles[] = {
	{"hostile", be_hostile}, {"victim", be_victim}, {NULL, NULL}};

/* The controller. */

static uint64_t longest_ns, longest_locked_ns;
static uint64_t nr_calls, nr_created, nr_taken;

#define TIMED(longest, call)                                                                       \
	do {                                                                                       \
		uint64_t begin_ = monotonic_ns(), took_;                                           \
                                                                                                   \
		call;                                                                              \
		took_ = monotonic_ns() - begin_;                                                   \
		longest = took_ > longest ? took_ : longest;                                       \
		nr_calls++;                                                                        \
	} while (0)
#define CALL(call) TIMED(longest_ns, call)

struct traced {
	trace_id_t trid;
	bool exists;
	bool has_log;
	int file;
};

static void create_stream(struct traced *traced, pid_t pid, int policy, bool has_log)
{
	trace_attr_t attr;
	int error;

	traced->has_log = has_log;
	ok(posix_trace_attr_init(&attr));
	ok(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	ok(posix_trace_attr_setstreamfullpolicy(&attr, policy));
	ok(posix_trace_attr_setmaxdatasize(&attr, 200));
	ok(txtrace_attr_setrings(&attr, 2));
	if (has_log) {
		traced->file = px_test_file();
		ok(posix_trace_attr_setlogsize(&attr, 1000000));
		TIMED(longest_locked_ns,
		      error = posix_trace_create_withlog(pid, &attr, traced->file, &traced->trid));
	} else {
		TIMED(longest_locked_ns, error = posix_trace_create(pid, &attr, &traced->trid));
	}
	traced->exists = error == 0;
	nr_created += traced->exists;
	if (traced->exists)
		CALL(posix_trace_start(traced->trid));
	else if (has_log)
		close(traced->file);
}

static void end_stream(struct traced *traced)
{
	trace_id_t log;
	struct px_test_event event;

	if (!traced->exists)
		return;
	TIMED(longest_locked_ns, posix_trace_shutdown(traced->trid));
	traced->exists = false;
	if (!traced->has_log)
		return;
	/* The recorded data may be nonsense, but the log must be valid. */
	lseek(traced->file, 0, SEEK_SET);
	ok(posix_trace_open(traced->file, &log));
	for (int i = 0; i < 1000 && px_test_take_recorded(log, &event); i++)
		;
	ok(posix_trace_close(log));
	close(traced->file);
}

static void take_some(trace_id_t trid)
{
	struct px_test_event event;
	int unavailable = 0;

	for (int i = 0; i < 200 && !unavailable; i++)
		CALL(posix_trace_trygetnext_event(trid, &event.info, event.data, 300, &event.length,
						  &unavailable));
	nr_taken += !unavailable;
}

static void wait_for_one(trace_id_t trid)
{
	struct px_test_event event;
	struct timespec until;
	int unavailable;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 10000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	CALL(posix_trace_timedgetnext_event(trid, &event.info, event.data, 300, &event.length,
					    &unavailable, &until));
}

static void copy_rings(trace_id_t trid)
{
	static char image[1 << 20];
	double tick_ns;
	size_t length;

	for (unsigned int i = 0; i < 3; i++)
		CALL(txtrace_copy_ring(trid, i, image, sizeof(image), &length, &tick_ns));
	CALL(txtrace_get_trxc(trid, image, sizeof(image), &length));
}

static void look_at_stream(trace_id_t trid, uint64_t *random)
{
	uint32_t handle = px_txtb_handle(PX_TXTB_THREAD, (uint32_t)next_random(random) % 64);
	struct txtrace_stream stream;
	struct txtrace_object thread = {.name = ""};
	struct txtrace_wrapper wrapper = {.symbol = ""};
	int unavailable;

	CALL(txtrace_get_stream(trid, &stream));
	ck_assert_uint_lt(strnlen(stream.name, sizeof(stream.name)), sizeof(stream.name));
	CALL(txtrace_get_thread(trid, handle, &thread));
	ck_assert_uint_lt(strnlen(thread.name, sizeof(thread.name)), sizeof(thread.name));
	CALL(txtrace_getnext_wrapper(trid, &wrapper, &unavailable));
	ck_assert_uint_lt(strnlen(wrapper.symbol, sizeof(wrapper.symbol)), sizeof(wrapper.symbol));
}

static void look_at_types(trace_id_t trid, uint64_t *random)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int unavailable = 0;

	snprintf(name, sizeof(name), "type %u", (unsigned int)(next_random(random) % 2000));
	CALL(posix_trace_trid_eventid_open(trid, name, &type));
	CALL(posix_trace_eventid_get_name(trid, (trace_event_id_t)(next_random(random) % 2000),
					  name));
	CALL(posix_trace_eventtypelist_rewind(trid));
	while (!unavailable)
		CALL(posix_trace_eventtypelist_getnext_id(trid, &type, &unavailable));
}

static void set_filter(trace_id_t trid, uint64_t *random)
{
	trace_event_set_t set;

	ok(posix_trace_eventset_empty(&set));
	ok(posix_trace_eventset_add((trace_event_id_t)(1 + next_random(random) % 1000), &set));
	CALL(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	CALL(posix_trace_get_filter(trid, &set));
}

static void control(trace_id_t trid, uint64_t *random)
{
	struct posix_trace_status_info status;
	struct txtrace_loss loss;
	trace_attr_t attr;

	switch (next_random(random) % 5) {
	case 0:
		CALL(posix_trace_stop(trid));
		break;
	case 1:
		CALL(posix_trace_clear(trid));
		break;
	case 2:
		CALL(posix_trace_get_attr(trid, &attr));
		break;
	}
	CALL(posix_trace_start(trid));
	CALL(posix_trace_get_status(trid, &status));
	CALL(txtrace_get_loss(trid, &loss));
}

static void work_on(struct traced *traced, uint64_t *random)
{
	trace_id_t trid = traced->trid;

	switch (next_random(random) % 9) {
	case 0:
		set_filter(trid, random);
		break;
	case 1:
		look_at_types(trid, random);
		break;
	case 2:
		copy_rings(trid);
		break;
	case 3:
		if (traced->has_log)
			CALL(posix_trace_flush(trid));
		else
			wait_for_one(trid);
		break;
	case 4:
		control(trid, random);
		break;
	case 5:
		look_at_stream(trid, random);
		break;
	default:
		take_some(trid);
	}
}

/* The stream of another user works as before. */
struct honest {
	struct px_other_user process;
	trace_id_t trid;
	trace_event_id_t type;
	uint32_t number;
};

static void begin_honest(struct honest *honest)
{
	struct px_test_event event;

	px_other_user_start(&honest->process, HONEST_UID);
	honest->type = (trace_event_id_t)px_other_user_tell(&honest->process, FOREIGN_OPEN, "honest",
							   0, 0);
	ok(posix_trace_create(honest->process.pid, NULL, &honest->trid));
	ok(posix_trace_start(honest->trid));
	px_test_expect(honest->trid, POSIX_TRACE_START, &event);
}

static void expect_honest(struct honest *honest)
{
	struct px_test_event event;

	px_other_user_tell(&honest->process, FOREIGN_RECORD, NULL, honest->number, 20);
	for (int i = 0; i < 20; i++) {
		px_test_expect(honest->trid, honest->type, &event);
		ck_assert_uint_eq(px_test_number(&event), honest->number);
		honest->number++;
	}
}

static void end_honest(struct honest *honest)
{
	struct px_test_event event;

	px_test_expect(honest->trid, 0, &event);
	px_test_expect_status(honest->trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL,
			      POSIX_TRACE_NO_OVERRUN);
	ok(posix_trace_shutdown(honest->trid));
	ck_assert_int_eq(px_other_user_stop(&honest->process), 0);
}

static const struct {
	int policy;
	bool has_log;
} kinds[] = {
	{POSIX_TRACE_LOOP, false},
	{POSIX_TRACE_UNTIL_FULL, false},
	{POSIX_TRACE_FLUSH, true},
	{POSIX_TRACE_UNTIL_FULL, true},
};

static void control_for(pid_t hostile, struct honest *honest, uint64_t ns)
{
	struct traced traced[PX_ARRAY_SIZE(kinds)] = {{0}};
	uint64_t end_ns = monotonic_ns() + ns, random = test_seed();

	/* At first, a wait for its lock may time out, or its registry may be invalid. */
	while (monotonic_ns() < end_ns ||
	       (nr_created == 0 && monotonic_ns() < end_ns + UINT64_C(30000000000))) {
		size_t i = next_random(&random) % PX_ARRAY_SIZE(kinds);

		if (!traced[i].exists)
			create_stream(&traced[i], hostile, kinds[i].policy, kinds[i].has_log);
		else if (next_random(&random) % 100 == 0)
			end_stream(&traced[i]);
		else
			work_on(&traced[i], &random);
		expect_honest(honest);
	}
	for (size_t i = 0; i < PX_ARRAY_SIZE(kinds); i++)
		end_stream(&traced[i]);
}

static void clean_up(void)
{
	px_other_user_remove_directory(HOSTILE_UID);
	px_other_user_remove_directory(HONEST_UID);
	px_other_user_remove_segments(HOSTILE_UID);
	px_other_user_remove_segments(HONEST_UID);
}

static unsigned int seconds(void)
{
	const char *asked = getenv("PX_HOSTILE_SECONDS");

	return asked ? (unsigned int)strtoul(asked, NULL, 10) : 2;
}

/* CREATE-13 GEN-9 */
START_TEST(controller_of_hostile_target_is_not_harmed)
{
	struct honest honest = {.number = 0};
	pid_t hostile;
	int status;

	clean_up();
	begin_honest(&honest);
	hostile = px_other_user_start_role("hostile", HOSTILE_UID, attacks[_i].name);
	control_for(hostile, &honest, seconds() * UINT64_C(1000000000));
	ck_assert_int_eq(waitpid(hostile, &status, WNOHANG), 0); /* the child did its task */
	kill(hostile, SIGKILL);
	ck_assert_int_eq(waitpid(hostile, &status, 0), hostile);
	end_honest(&honest);
	printf("%s: %" PRIu64 " calls, %" PRIu64 " streams, %" PRIu64
	       " times all events, longest %.3f s, with lock %.3f s\n",
	       attacks[_i].name, nr_calls, nr_created, nr_taken, (double)longest_ns / 1e9,
	       (double)longest_locked_ns / 1e9);
	ck_assert_uint_lt(longest_ns, CALL_NS);
	ck_assert_uint_lt(longest_locked_ns, LOCKED_CALL_NS);
	ck_assert_uint_gt(nr_created, 0);
	for (int i = 0; i < 500 && px_other_user_count_segments(HOSTILE_UID) != 0; i++)
		sleep_ms(10); /* its victim dies with it, or by an alarm */
	ck_assert_int_eq(px_other_user_count_segments(HOSTILE_UID), 0);
	ck_assert_int_eq(px_other_user_count_segments(HONEST_UID), 0);
	clean_up();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("hostile");
	TCase *tcase = tcase_create("attacks");

	tcase_add_loop_test(tcase, controller_of_hostile_target_is_not_harmed, 0,
			    PX_ARRAY_SIZE(attacks));
	tcase_set_timeout(tcase, 120 + 10 * seconds());
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(int argc, char **argv)
{
	px_other_user_main(argc, argv, roles);
	if (geteuid() != 0)
		skip_program("needs root, to have other users");
	return run_suite(make_suite());
}
