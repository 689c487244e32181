/* SPDX-License-Identifier: MIT */
/*
 * Which object a descriptor refers to, in processes that fork, execute programs and end, all of it at random: what the
 * translator says of the records agrees with an account of what the kernel would do.
 */
#include "support/common.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "calls/runners.h"

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
	Suite *suite = suite_create("descriptors_at_random");
	TCase *tcase = tcase_create("descriptors_at_random");

	tcase_add_checked_fixture(tcase, runners_setup, runners_teardown);
	tcase_add_loop_test(tcase, all_is_as_the_account_says, 0, 40);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
