/* SPDX-License-Identifier: MIT */
/*
 * Which object a descriptor refers to, in processes that fork, execute programs and end.  The test writes the records
 * of the calls itself.  One test makes them at random, and keeps its own account of what the kernel would do.
 */
#include "support/common.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "calls/translate.h"
#include "event/calls.h"

static struct px_threads threads;
static struct px_threadmap *map;
static struct px_translator *translator;
static struct px_translation translation;

static void setup(void)
{
	memset(&threads, 0, sizeof(threads));
	map = px_threadmap_make(&threads);
	translator = px_translator_make(map);
	ck_assert(map && translator);
}

static void teardown(void)
{
	px_translator_free(translator);
	px_threadmap_free(map);
}

/* The first thread of a program that a process runs. */
struct runner {
	uint32_t pid, handle, program;
};

static struct runner runner(uint32_t pid, uint32_t program)
{
	static uint32_t serial;
	struct runner it = {pid, px_txtb_handle(PX_TXTB_THREAD, ++serial), program};
	struct px_object object = {.handle = it.handle,
				   .type = PX_TXTB_THREAD,
				   .pid = pid,
				   .tid = pid,
				   .program = program,
				   .thread = 0x7000,
				   .name = "runner"};

	px_threads_add(&threads, &object);
	return it;
}

static uint64_t clock_ticks; /* of the last record, without the bits that the time of a fork lacks */

/* A call with the layout FD, a text after it, and more. */
static void call_more(struct runner by, enum px_call call, uint32_t flags, int fd, uint32_t value, int64_t result,
		      const void *more, size_t size)
{
	struct {
		union px_call_data first;
		unsigned char more[64];
	} data = {.first.of_fd = {fd, value, result}};
	struct px_record record = {.counter = ++clock_ticks << PX_FORK_TICKS_SHIFT,
				   .pid = by.pid,
				   .thread = 0x7000,
				   .context = by.handle,
				   .id = px_call_event(call),
				   .flags = flags | PX_RECORD_CALL,
				   .length = (uint32_t)(sizeof(data.first) + size)};

	memcpy(data.more, more, size);
	px_translate(translator, &record, &data, record.length, &translation);
}

static void call(struct runner by, enum px_call call, uint32_t flags, int fd, uint32_t value, int64_t result)
{
	call_more(by, call, flags, fd, value, result, "", 0);
}

static void opens(struct runner by, int fd, const char *path, uint32_t value)
{
	call_more(by, PX_CALL_open, 0, fd, value, fd, path, strlen(path));
}

static void closes(struct runner by, int fd)
{
	call(by, PX_CALL_close, 0, fd, 0, 0);
}

static struct runner forks(struct runner by, uint32_t pid)
{
	call(by, PX_CALL_fork, 0, 0, 0, pid);
	return runner(pid, by.program);
}

/* The process executes a program, or goes on with that of its parent, which called fork() just before. */
static void starts(struct runner by, uint32_t parent, const char *command)
{
	call_more(by, PX_CALL_txtrace_process_start, 0, (int)parent, *command ? 0 : (uint32_t)clock_ticks + 1, 0,
		  command, strlen(command));
}

/* The process executes a program by its path, and that program says so. */
static void executes(struct runner before, struct runner after, const char *path, const char *path_told)
{
	call_more(before, PX_CALL_execve, PX_RECORD_BEGINS, -1, 0, 0, path, strlen(path));
	call_more(after, PX_CALL_txtrace_process_start, 0, 1, 0,
		  (int64_t)px_call_hash_path(path_told, strlen(path_told)), "program", 7);
}

/* The name of the object that a read of the descriptor shows, without the number that makes names differ. */
static const char *file_of(struct runner by, int fd)
{
	static char name[PX_OBJECT_NAME_SIZE];
	const struct px_call_object *object;

	call(by, PX_CALL_read, 0, fd, 10, 1);
	object = px_translator_find(translator, translation.entries[translation.own].info[0]);
	ck_assert_ptr_nonnull(object);
	snprintf(name, sizeof(name), "%s", object->object.name);
	name[strcspn(name, "#") - (strchr(name, '#') ? 1 : 0)] = '\0';
	return name;
}

#define IS(by, fd, name) ck_assert_str_eq(file_of(by, fd), name)
/* The file is none that a path is known of. */
#define IS_UNKNOWN(by, fd) ck_assert_ptr_nonnull(strstr(file_of(by, fd), " fd "))

START_TEST(child_has_what_its_parent_had_when_it_began)
{
	struct runner parent = runner(100, 1), first, second;

	opens(parent, 3, "/a", 0);
	first = forks(parent, 101);
	closes(parent, 3);
	opens(parent, 3, "/b", 0);
	opens(parent, 4, "/c", 0);
	second = forks(parent, 102);
	call(parent, PX_CALL_dup, 0, 4, 0, 3);
	IS(parent, 3, "/c");
	IS(first, 3, "/a");
	IS(second, 3, "/b");
	IS(second, 4, "/c");
	IS_UNKNOWN(first, 4);
}
END_TEST

START_TEST(grandchild_has_what_its_ancestors_had)
{
	struct runner parent = runner(100, 1), child, grandchild;

	opens(parent, 3, "/a", 0);
	opens(parent, 4, "/b", 0);
	child = forks(parent, 101);
	grandchild = forks(child, 102);
	opens(child, 4, "/c", 0);
	closes(parent, 3);
	closes(parent, 4);
	IS(grandchild, 3, "/a");
	IS(grandchild, 4, "/b");
	IS(child, 3, "/a");
	IS(child, 4, "/c");
}
END_TEST

START_TEST(descriptor_that_the_child_closed_is_not_that_of_its_parent_again)
{
	struct runner parent = runner(100, 1), child, grandchild;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	closes(child, 3);
	grandchild = forks(child, 102);
	IS_UNKNOWN(child, 3);
	IS_UNKNOWN(grandchild, 3);
	IS(parent, 3, "/a");
}
END_TEST

/* With a call that marks it: open, F_SETFD, FIOCLEX, dup3, accept4, pipe2 and fopen. */
START_TEST(program_that_is_executed_does_not_have_what_was_marked)
{
	struct runner before = runner(100, 1), after = runner(100, 2);

	opens(before, 3, "/kept", 0);
	opens(before, 4, "/marked", O_CLOEXEC);
	opens(before, 5, "/marked-later", 0);
	call(before, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 5, F_SETFD, 0);
	opens(before, 6, "/not-marked-any-more", O_CLOEXEC);
	call(before, PX_CALL_fcntl, 0, 6, F_SETFD, 0);
	opens(before, 7, "/by-ioctl", 0);
	call(before, PX_CALL_ioctl, 0, 7, (uint32_t)FIOCLEX, 0);
	opens(before, 8, "/by-ioctl-not", O_CLOEXEC);
	call(before, PX_CALL_ioctl, 0, 8, (uint32_t)FIONCLEX, 0);
	call(before, PX_CALL_dup, PX_RECORD_ENDS_WITH_EXEC, 3, 0, 9);
	call(before, PX_CALL_dup, 0, 4, 0, 10);
	call(before, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 3, F_SETFD, -1); /* failed */
	call_more(before, PX_CALL_fopen, PX_RECORD_ENDS_WITH_EXEC, 11, 0, 11, "/stream", 7);
	call(before, PX_CALL_pipe, PX_RECORD_ENDS_WITH_EXEC, 12, 13, 0);
	IS(before, 9, "/kept");
	executes(before, after, "/bin/program", "/bin/program");
	IS(after, 3, "/kept");
	IS(after, 6, "/not-marked-any-more");
	IS(after, 8, "/by-ioctl-not");
	IS(after, 10, "/marked");
	executes(after, runner(100, 3), "name", "/bin/name"); /* execvp() */
	IS(after, 10, "/marked");
	for (int fd = 4; fd <= 13; fd++)
		if (fd != 6 && fd != 8 && fd != 10)
			IS_UNKNOWN(after, fd);
}
END_TEST

/* A program that is not traced was between, and may have changed everything; or the call failed, or is not recorded. */
START_TEST(descriptors_are_not_known_after_a_program_that_is_not_traced)
{
	struct runner before = runner(100, 1), after = runner(100, 2);

	opens(before, 3, "/a", 0);
	if (_i == 0)
		executes(before, after, "/bin/static", "/bin/program");
	call_more(before, PX_CALL_execve, PX_RECORD_BEGINS, _i == 1 ? 7 : -1, 0, 0, "/bin/program", 12);
	if (_i == 2)
		call_more(before, PX_CALL_execve, PX_RECORD_ENDS, -1, 0, -2, "/bin/program", 12);
	if (_i > 0)
		call_more(after, PX_CALL_txtrace_process_start, 0, 1, 0, (int64_t)px_call_hash_path("/bin/program", 12),
			  "program", 7);
	IS_UNKNOWN(after, 3);
}
END_TEST

/* The mark is that of each process, and the first record of the program may be any call. */
START_TEST(mark_ends_the_descriptor_only_in_the_process_that_executes)
{
	struct runner parent = runner(100, 1), child, program;

	opens(parent, 3, "/a", O_CLOEXEC);
	opens(parent, 4, "/b", 0);
	opens(parent, 5, "/c", O_CLOEXEC);
	child = forks(parent, 101);
	call(parent, PX_CALL_fcntl, 0, 5, F_SETFD, 0);
	call(child, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 4, F_SETFD, 0);
	program = runner(101, 2);
	IS_UNKNOWN(program, 3);
	IS_UNKNOWN(program, 4);
	IS_UNKNOWN(program, 5);
	IS(parent, 3, "/a");
	IS(parent, 4, "/b");
	IS(parent, 5, "/c");
}
END_TEST

START_TEST(child_may_tell_before_its_parent_that_it_began)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 3, "/a", 0);
	opens(parent, 4, "/b", 0);
	child = runner(101, 1);
	starts(child, 100, "");
	closes(child, 3);
	opens(child, 5, "/own", 0);
	forks(parent, 101);
	closes(parent, 4);
	IS_UNKNOWN(child, 3);
	IS(child, 4, "/b");
	IS(child, 5, "/own");
}
END_TEST

START_TEST(child_of_vfork_has_nothing_that_is_known)
{
	struct runner parent = runner(100, 1), program;

	opens(parent, 3, "/a", 0);
	call(parent, PX_CALL_vfork, _i ? PX_RECORD_ENDS : 0, 0, 0, 101);
	program = runner(101, 2);
	starts(program, 100, "program");
	IS_UNKNOWN(program, 3);
	call(parent, PX_CALL_posix_spawn, 0, 102, 0, 0);
	program = runner(102, 3);
	starts(program, 100, "program");
	IS_UNKNOWN(program, 3);
}
END_TEST

START_TEST(process_with_a_pid_that_is_used_again_has_nothing_of_the_first)
{
	const int32_t ended[] = {101, 0};
	struct runner parent = runner(100, 1), child;
	uint32_t lock;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	starts(child, 100, "");
	IS(child, 3, "/a");
	opens(child, 4, "/b", 0);
	call_more(child, PX_CALL_pthread_mutex_lock, 0, 0x1000, 0, 0, "", 0);
	lock = translation.entries[translation.own].info[0];
	if (_i == 1)
		call_more(parent, PX_CALL_waitpid, 0, -1, 0, 101, ended, sizeof(ended));
	closes(parent, 3);
	child = forks(parent, 101); /* without a wait: the program ignores SIGCHLD */
	starts(child, 100, "");
	IS_UNKNOWN(child, 3);
	IS_UNKNOWN(child, 4);
	call_more(child, PX_CALL_pthread_mutex_lock, 0, 0x1000, 0, 0, "", 0);
	ck_assert_uint_ne(translation.entries[translation.own].info[0], lock);
}
END_TEST

START_TEST(child_of_daemon_has_other_standard_streams)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 1, "/out", 0);
	opens(parent, 3, "/log", 0);
	call(parent, PX_CALL_daemon, 0, 0, _i ? 1 : 0, 0);
	child = runner(101, 1);
	starts(child, 100, "");
	IS(child, 3, "/log");
	if (_i)
		IS(child, 1, "/out");
	else
		IS_UNKNOWN(child, 1);
}
END_TEST

/* A server with a child for each connection, which begins to read when the next connections are there. */
START_TEST(each_of_many_children_has_its_own)
{
	struct runner parent = runner(100, 1), child[3000];
	char name[32];

	opens(parent, 3, "/listener", 0);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(child); i++) {
		snprintf(name, sizeof(name), "/connection-%u", i);
		opens(parent, 4, name, 0);
		child[i] = forks(parent, 1000 + i);
		closes(parent, 4);
	}
	closes(parent, 3);
	for (uint32_t i = 0; i < PX_ARRAY_SIZE(child); i++) {
		snprintf(name, sizeof(name), "/connection-%u", i);
		IS(child[i], 4, name);
		IS(child[i], 3, "/listener");
	}
}
END_TEST

/* If the table has to forget a process, what it inherited is not known, but not wrong. */
START_TEST(what_the_table_forgets_is_never_wrong)
{
	struct runner parent = runner(100, 1), child;
	char name[32];

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	for (int i = 0; i < 2 * PX_CALL_OBJECTS_MAX; i++) {
		snprintf(name, sizeof(name), "/file %d", i);
		opens(parent, 4 + i, name, 0);
	}
	opens(parent, 3, "/b", 0);
	IS_UNKNOWN(child, 3);
	IS(parent, 3, "/b");
}
END_TEST

static void system_event(uint32_t id)
{
	struct px_record record = {.counter = ++clock_ticks << PX_FORK_TICKS_SHIFT, .id = id};

	px_translate(translator, &record, "", 0, &translation);
}

/* Among the lost events may be a close and another open. */
START_TEST(nothing_is_known_after_events_were_lost)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	starts(child, 100, "");
	system_event(PX_EVENT_OVERFLOW);
	IS_UNKNOWN(parent, 3);
	opens(parent, 4, "/b", 0);
	IS_UNKNOWN(parent, 4);
	system_event(PX_EVENT_RESUME);
	IS_UNKNOWN(parent, 3);
	IS_UNKNOWN(parent, 4);
	IS_UNKNOWN(child, 3);
	opens(parent, 3, "/c", 0);
	IS(parent, 3, "/c");
	IS_UNKNOWN(child, 3);
	child = forks(parent, 102);
	closes(parent, 3);
	IS(child, 3, "/c");
}
END_TEST

/* Another thread opens and closes files while this one forks: the child has what was there before, or after, that. */
START_TEST(what_other_threads_change_during_a_fork_is_not_known_in_the_child)
{
	struct runner parent = runner(100, 1), other = parent, child = runner(101, 1);
	uint32_t fork_time;

	opens(parent, 3, "/a", 0);
	opens(parent, 4, "/b", 0);
	opens(parent, 5, "/c", 0);
	fork_time = (uint32_t)++clock_ticks;
	closes(other, 3);
	opens(other, 3, "/d", 0);
	call(other, PX_CALL_dup, 0, 3, 0, 4);
	if (_i)
		call_more(child, PX_CALL_txtrace_process_start, 0, 100, fork_time, 0, "", 0);
	call(parent, PX_CALL_fork, 0, 0, fork_time, 101);
	IS_UNKNOWN(child, 3);
	IS_UNKNOWN(child, 4);
	IS(child, 5, "/c");
	closes(parent, 4);
	IS(parent, 3, "/d");
}
END_TEST

/* The child closed the file of its parent, and has another one there, of which the table has no room to know. */
START_TEST(descriptor_that_the_table_forgot_is_not_that_of_the_parent)
{
	struct runner parent = runner(100, 1), child;

	opens(parent, 3, "/a", 0);
	child = forks(parent, 101);
	closes(child, 3);
	opens(child, 3, "/b", 0);
	for (int i = 0; i < 2 * PX_CALL_OBJECTS_MAX; i++) {
		opens(parent, 4 + i, "/other", 0);
		if (i % 1000 == 0)
			IS(parent, 3, "/a");
	}
	IS_UNKNOWN(child, 3);
	call(parent, PX_CALL_fcntl, PX_RECORD_ENDS_WITH_EXEC, 3, F_SETFD, 0);
	IS_UNKNOWN(child, 3);
}
END_TEST

/* Nobody waits for the children (SIGCHLD is ignored), and each ends before its parent tells that it began. */
START_TEST(parent_that_tells_late_is_not_believed)
{
	struct runner parent = runner(100, 1), child;

	for (int i = 0; i < 3; i++) {
		opens(parent, 3, "/a", 0);
		child = runner(101, 1);
		starts(child, 100, "");
		call(child, PX_CALL_txtrace_process_end, 0, 0, 0, 0);
		call(parent, PX_CALL_fork, 0, 0, 0, 101);
	}
	call(parent, PX_CALL_fork, 0, 0, 0, 101);
	closes(parent, 3);
	opens(parent, 3, "/b", 0);
	child = runner(101, 1);
	starts(child, 100, "");
	ck_assert_str_ne(file_of(child, 3), "/b");
}
END_TEST

/* A log that goes on has the objects of before, but the events that were not written may have changed descriptors. */
START_TEST(descriptors_that_were_restored_are_not_believed)
{
	struct runner parent = runner(100, 1);
	struct px_object object = {
		.handle = px_txtb_handle(PX_TXTB_FILE, 77), .type = PX_TXTB_FILE, .pid = 100, .name = "/a"};

	px_translator_restore(translator, &object, 3, 0);
	ck_assert_ptr_nonnull(px_translator_find(translator, object.handle));
	IS_UNKNOWN(parent, 3);
}
END_TEST

/* The account: what the kernel has for each process. */

#define PROCESSES 8
#define FDS 6
#define FIRST_FD 3
#define ROUNDS 4000

static struct process {
	bool lives;
	bool was_left; /* a process with this pid has ended, but nobody waited for it as far as the trace shows */
	bool is_half_told; /* its parent or itself did not tell that it began */
	bool has_parent; /* its parent, or that one's, may be gone: what it inherited is perhaps not known */
	struct runner by;
	unsigned int file[FDS]; /* 0: closed; otherwise the number in its path */
	bool is_known[FDS];	/* the trace can tell that the descriptor is this file */
	bool is_marked[FDS];
} process[PROCESSES];

static uint64_t random_state;
static unsigned int nr_files, nr_programs, nr_exact;

static unsigned int below(unsigned int bound)
{
	return (unsigned int)(next_random(&random_state) % bound);
}

static void open_one(struct process *it, int i)
{
	char name[32];

	it->file[i] = ++nr_files;
	it->is_known[i] = true;
	it->is_marked[i] = below(2);
	snprintf(name, sizeof(name), "/f%u", nr_files);
	opens(it->by, FIRST_FD + i, name, it->is_marked[i] ? O_CLOEXEC : 0);
}

static void dup_one(struct process *it, int from, int to)
{
	if (from == to || !it->file[from])
		return;
	it->file[to] = it->file[from];
	it->is_known[to] = it->is_known[from];
	it->is_marked[to] = below(2);
	call(it->by, PX_CALL_dup, it->is_marked[to] ? PX_RECORD_ENDS_WITH_EXEC : 0, FIRST_FD + from, 0, FIRST_FD + to);
}

static void mark_one(struct process *it, int i)
{
	if (!it->file[i])
		return;
	it->is_marked[i] = below(2);
	call(it->by, PX_CALL_fcntl, it->is_marked[i] ? PX_RECORD_ENDS_WITH_EXEC : 0, FIRST_FD + i, F_SETFD, 0);
}

static void check_one(struct process *it, int i)
{
	char wanted[32];
	const char *name = file_of(it->by, FIRST_FD + i);

	snprintf(wanted, sizeof(wanted), "/f%u", it->file[i]);
	if (it->file[i] && !strcmp(name, wanted)) {
		nr_exact++;
		return;
	}
	ck_assert_msg(strstr(name, " fd "), "fd %d of %u is %s, not %s", FIRST_FD + i, it->by.pid, name, wanted);
	ck_assert_msg(!it->file[i] || !it->is_known[i] || !it->has_parent, "fd %d of %u is not known, but is %s",
		      FIRST_FD + i, it->by.pid, wanted);
	/* The read has made an object for it. */
	it->file[i] = it->file[i] ? it->file[i] : ++nr_files;
	it->is_known[i] = false;
}

static void execute(struct process *it)
{
	struct runner before;

	for (int i = 0; i < FDS; i++)
		if (it->is_marked[i])
			it->file[i] = 0;
	before = it->by;
	it->by = runner(it->by.pid, ++nr_programs);
	if (below(2))
		executes(before, it->by, "program", "program");
	else
		check_one(it, (int)below(FDS));
}

/*
 * The parent and the child tell it, in any order.  If no other process had this pid, it may also be that only one of
 * them tells it, because a record was lost.  Then it does not end without a record, because one more loss would let the
 * next process with its pid look the same.
 */
static void fork_one(struct process *it, struct process *child)
{
	unsigned int tellers = child->was_left ? 3 + below(2) : 1 + below(4);

	*child = *it;
	child->was_left = false;
	child->is_half_told = tellers < 3;
	child->by = runner(1000 + (uint32_t)(child - process), it->by.program);
	if (tellers == 1 || tellers == 3)
		call(it->by, PX_CALL_fork, 0, 0, 0, child->by.pid);
	if (tellers != 1)
		starts(child->by, it->by.pid, "");
	if (tellers == 4) {
		check_one(child, (int)below(FDS));
		open_one(child, (int)below(FDS));
		call(it->by, PX_CALL_fork, 0, 0, 0, child->by.pid);
	}
}

static void vfork_one(struct process *it, struct process *child)
{
	*child = (struct process){.lives = true, .has_parent = true};
	call(it->by, PX_CALL_vfork, PX_RECORD_ENDS, 0, 0, 1000 + (child - process));
	child->by = runner(1000 + (uint32_t)(child - process), ++nr_programs);
	starts(child->by, it->by.pid, "program");
	for (int i = 0; i < FDS; i++)
		child->file[i] = it->file[i];
}

/* The end of a process may be recorded by itself, by its parent, by both, or by nobody (SIGKILL). */
static void end_one(struct process *it, struct process *parent)
{
	const int32_t waited[] = {(int32_t)it->by.pid, 9};

	it->lives = false;
	it->was_left = !it->is_half_told && below(2);
	if (below(2))
		call(it->by, PX_CALL_txtrace_process_end, 0, 0, 0, 0);
	if (!it->was_left)
		call_more(parent->by, PX_CALL_waitpid, 0, -1, 0, waited[0], waited, sizeof(waited));
	for (int i = 0; i < PROCESSES; i++)
		process[i].has_parent = false;
}

static struct process *some(bool lives)
{
	unsigned int at = below(PROCESSES);

	for (unsigned int i = 0; i < PROCESSES; i++)
		if (process[(at + i) % PROCESSES].lives == lives)
			return &process[(at + i) % PROCESSES];
	return NULL;
}

START_TEST(all_is_as_the_account_says)
{
	random_state = 77 + (uint64_t)_i;
	memset(process, 0, sizeof(process));
	nr_files = nr_exact = 0;
	process[0] = (struct process){.lives = true, .has_parent = true, .by = runner(1000, ++nr_programs)};
	for (int round = 0; round < ROUNDS; round++) {
		struct process *it = some(true), *other = some(false);
		int i = (int)below(FDS);

		switch (below(20)) {
		case 0:
		case 1:
			if (other)
				fork_one(it, other);
			break;
		case 2:
			if (other)
				vfork_one(it, other);
			break;
		case 3:
			execute(it);
			break;
		case 4:
			other = some(true);
			if (other != it && below(2))
				end_one(it, other);
			break;
		case 5:
		case 6:
			if (it->file[i])
				closes(it->by, FIRST_FD + i);
			it->file[i] = 0;
			break;
		case 7:
		case 8:
			dup_one(it, i, (int)below(FDS));
			break;
		case 9:
			mark_one(it, i);
			break;
		case 10:
		case 11:
		case 12:
			open_one(it, i);
			break;
		default:
			check_one(it, i);
		}
	}
	ck_assert_uint_gt(nr_exact, ROUNDS / 16);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("descriptors");
	TCase *tcase = tcase_create("descriptors");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, child_has_what_its_parent_had_when_it_began);
	tcase_add_test(tcase, grandchild_has_what_its_ancestors_had);
	tcase_add_test(tcase, descriptor_that_the_child_closed_is_not_that_of_its_parent_again);
	tcase_add_test(tcase, program_that_is_executed_does_not_have_what_was_marked);
	tcase_add_loop_test(tcase, descriptors_are_not_known_after_a_program_that_is_not_traced, 0, 3);
	tcase_add_test(tcase, mark_ends_the_descriptor_only_in_the_process_that_executes);
	tcase_add_test(tcase, child_may_tell_before_its_parent_that_it_began);
	tcase_add_loop_test(tcase, child_of_vfork_has_nothing_that_is_known, 0, 2);
	tcase_add_loop_test(tcase, process_with_a_pid_that_is_used_again_has_nothing_of_the_first, 0, 2);
	tcase_add_loop_test(tcase, child_of_daemon_has_other_standard_streams, 0, 2);
	tcase_add_test(tcase, each_of_many_children_has_its_own);
	tcase_add_test(tcase, what_the_table_forgets_is_never_wrong);
	tcase_add_test(tcase, nothing_is_known_after_events_were_lost);
	tcase_add_loop_test(tcase, what_other_threads_change_during_a_fork_is_not_known_in_the_child, 0, 2);
	tcase_add_test(tcase, descriptor_that_the_table_forgot_is_not_that_of_the_parent);
	tcase_add_test(tcase, parent_that_tells_late_is_not_believed);
	tcase_add_test(tcase, descriptors_that_were_restored_are_not_believed);
	tcase_add_loop_test(tcase, all_is_as_the_account_says, 0, 40);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
