/* SPDX-License-Identifier: MIT */
/*
 * stress_processes [SECONDS]: sixteen processes that trace, four of which control streams of all the
 * others, while each of them is stopped, killed, replaced and multiplied at random.
 *
 *	processes_board		what they share: which processes live, their parents, and how far each one is
 *	processes_subject	every process: it traces from two threads and their handlers, forks, spawns,
 *				execs, exits
 *	processes_controller	threads of some: they create streams for anybody, with log or without,
 *				inherited or not, and shut them down in the middle of everything
 *	processes_verify	what must be true of a stream
 *	here			the supervisor: it fills empty seats, disturbs processes, and checks that none hangs
 *
 * At the end nothing may be left: no process, no file but the registry, no registry slot, no System V
 * segment.  PX_SEED repeats the decisions, though not the races.
 */
#include "base/layout.h"
#include "stress/board.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "registry/registry.h"
#include "registry/shared_names.h"

#define SECONDS 4	   /* of make check */
#define LONGER_NS UINT64_C(60000000000)
#define SECONDS_FOR_ALL 20 /* then all kinds of births have occurred */
#define VIOLATIONS_MAX 20
#define HANG_NS UINT64_C(30000000000)
#define LATE_NS UINT64_C(10000000000) /* a process that has not begun by then does not exist */
#define SEATS_KEPT_FREE 6	      /* for children */
#define OLD_LIVES 1000		      /* numbers may be taken long before they are used */

static uint64_t seed;
static volatile sig_atomic_t interrupted;
static uint64_t stopped_until[NR_SEATS]; /* 0: it runs */
static int stopped_fd[NR_SEATS];

static uint64_t pick(uint64_t limit)
{
	return next_random(&seed) % limit;
}

/* Open this process and no other one that may get its pid; -1: it is gone. */
static int open_process(const struct life *life)
{
	int fd = (int)syscall(SYS_pidfd_open, life->pid, 0);

	if (fd >= 0 && life_is_there(life))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void send(int fd, int number)
{
	syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
}

static void let_go_on(uint32_t seat)
{
	send(stopped_fd[seat], SIGCONT);
	close(stopped_fd[seat]);
	stopped_until[seat] = 0;
}

static void let_all_go_on(void)
{
	for (uint32_t i = 0; i < NR_SEATS; i++)
		if (stopped_until[i] != 0)
			let_go_on(i);
}

/* Seats. */

static void bury(uint32_t seat)
{
	uint32_t number = px_load_acquire(&board->seat[seat]);
	struct life *life = &board->life[number];
	uint32_t state = px_load_acquire(&life->state);

	if (number == 0 || (state == ALIVE && life_is_there(life)))
		return;
	if (state == RESERVED && monotonic_ns() < life->ordered_ns + LATE_NS)
		return;
	/* At this moment, an exec may give the seat to the next life. */
	if (!px_compare_exchange(&life->state, state, OVER) ||
	    !px_compare_exchange(&board->seat[seat], number, 0))
		return;
	if (state != ALIVE || !life->is_controller)
		return;
	let_all_go_on(); /* one of them may hold the lock that this process needs to recover the logs */
	look_at_cut_logs(life->pid);
}

static void bury_the_dead(void)
{
	uint32_t oldest = px_load_acquire(&board->nr_lives);

	while (reap(-1, WNOHANG) > 0)
		;
	for (uint32_t i = 0; i < NR_SEATS; i++) {
		uint32_t number;

		bury(i);
		number = px_load_acquire(&board->seat[i]);
		if (number != 0 && number < oldest)
			oldest = number;
	}
	px_store_release(&board->oldest, oldest > OLD_LIVES ? oldest - OLD_LIVES : 1);
}

static void fill_seats(void)
{
	uint32_t nr_controllers = 0, nr_free = 0, number;
	struct arguments arguments;
	bool is_controller;
	pid_t child;

	for (uint32_t i = 0; i < NR_SEATS; i++) {
		number = px_load_acquire(&board->seat[i]);
		nr_free += number == 0;
		nr_controllers += number != 0 && board->life[number].is_controller;
	}
	is_controller = nr_controllers < NR_CONTROLLERS;
	if (!is_controller && nr_free <= SEATS_KEPT_FREE)
		return;
	number = life_reserve(BY_SUPERVISOR, is_controller);
	if (number == 0)
		return;
	arguments_make(&arguments, number);
	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments.vector, environ) != 0)
		life_cancel(number);
}

/* Torments. */

static void torment(uint32_t seat)
{
	uint32_t number = px_load_acquire(&board->seat[seat]);
	const struct life *life = &board->life[number];
	bool kills = pick(2);
	int fd;

	if (number == 0 || px_load_acquire(&life->state) != ALIVE || stopped_until[seat] != 0 ||
	    (life->is_controller && pick(4) != 0))
		return;
	fd = open_process(life);
	if (fd < 0)
		return;
	if (kills) {
		send(fd, SIGKILL);
		close(fd);
		board->nr_kills++;
	} else {
		send(fd, SIGSTOP);
		stopped_fd[seat] = fd;
		stopped_until[seat] = monotonic_ns() + pick(200) * 1000000;
		board->nr_stops++;
	}
}

static void torment_some(void)
{
	uint64_t now = monotonic_ns();

	for (uint32_t i = 0; i < NR_SEATS; i++)
		if (stopped_until[i] != 0 && now > stopped_until[i])
			let_go_on(i);
	if (pick(3) == 0)
		torment((uint32_t)pick(NR_SEATS));
}

/* Watching. */

static void print_file(const char *label, const char *path)
{
	char text[200];
	FILE *file = fopen(path, "r");

	if (file && fgets(text, sizeof(text), file))
		fprintf(stderr, " %s %.*s", label, (int)strcspn(text, "\n"), text);
	if (file)
		fclose(file);
}

static void print_threads(uint32_t pid)
{
	static const char *const files[] = {"stat", "wchan", "syscall"};
	char path[300];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		fprintf(stderr, "\t%s:", entry->d_name);
		for (int i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "/proc/%u/task/%.20s/%s", pid, entry->d_name,
				 files[i]);
			print_file(files[i], path);
		}
		fputc('\n', stderr);
	}
	if (directory)
		closedir(directory);
}

static void print_who_waits(void)
{
	uint64_t now = monotonic_ns();

	for (uint32_t i = 0; i < NR_SEATS; i++) {
		uint32_t number = px_load_acquire(&board->seat[i]);
		const struct life *life = &board->life[number];

		if (number == 0)
			continue;
		fprintf(stderr, "life %u, pid %u, state %u, born by %s%s%s:", number, life->pid,
			life->state, birth_names[life->birth],
			life->is_controller ? ", controller" : "",
			stopped_until[i] ? ", stopped" : "");
		for (int k = 0; k < NR_BEATS; k++)
			if (life->beat[k].since_ns != 0)
				fprintf(stderr, " %s for %" PRIu64 " ms;",
					deed_names[life->beat[k].deed],
					(now - life->beat[k].since_ns) / 1000000);
		fputc('\n', stderr);
		print_threads(life->pid);
	}
}

static bool hangs(const struct life *life)
{
	uint64_t now = monotonic_ns();

	for (int k = 0; k < NR_BEATS; k++) {
		uint64_t since = px_load_acquire(&life->beat[k].since_ns);

		if (since != 0 && life->beat[k].deed != NOTHING && now > since + HANG_NS)
			return true;
	}
	return false;
}

static void watch(void)
{
	for (uint32_t i = 0; i < NR_SEATS; i++) {
		uint32_t number = px_load_acquire(&board->seat[i]);

		if (number == 0 || px_load_acquire(&board->life[number].state) != ALIVE ||
		    !hangs(&board->life[number]))
			continue;
		violation("life %u hangs", number);
		print_who_waits();
		interrupted = 1;
		return;
	}
}

/* Without one of these, nothing was tested. */
static bool has_seen_something(void)
{
	uint64_t nr_seen = 0;

	for (int i = BY_FORK; i < NR_BIRTHS; i++)
		nr_seen += px_load_acquire(&board->nr_seen[i]);
	return nr_seen > 0 && px_load_acquire(&board->nr_events) > 0 && px_load_acquire(&board->nr_logs) > 0;
}

/* On a slow machine there may be too few lives in this time, so it may take longer. */
static void run(uint64_t seconds)
{
	uint64_t until = monotonic_ns() + seconds * 1000000000, latest = until + LONGER_NS;

	while ((monotonic_ns() < until || (!has_seen_something() && monotonic_ns() < latest)) && !interrupted &&
	       px_load_acquire(&board->nr_violations) < VIOLATIONS_MAX) {
		px_store_release(&board->pulse_ns, monotonic_ns());
		bury_the_dead();
		fill_seats();
		torment_some();
		watch();
		sleep_us(1000 + pick(15000));
	}
}

static void kill_all(void)
{
	for (uint32_t i = 0; i < NR_SEATS; i++) {
		const struct life *life = &board->life[px_load_acquire(&board->seat[i])];
		int fd = px_load_acquire(&life->state) == ALIVE ? open_process(life) : -1;

		if (fd < 0)
			continue;
		send(fd, SIGKILL);
		close(fd);
	}
}

/* All processes must end by themselves: this is part of the test.  Orphans become children of this process. */
static void end_all(void)
{
	uint64_t until = monotonic_ns() + HANG_NS;
	bool is_late = false;

	px_store_release(&board->stopping, 1);
	let_all_go_on();
	while (reap(-1, WNOHANG) >= 0 || errno != ECHILD) {
		px_store_release(&board->pulse_ns, monotonic_ns());
		bury_the_dead();
		sleep_us(5000);
		if (monotonic_ns() < until)
			continue;
		if (is_late)
			return;
		is_late = true;
		violation("not all have ended");
		print_who_waits();
		kill_all();
		until += HANG_NS;
	}
	bury_the_dead();
}

/* What is left. */

/* A create finds the streams of dead controllers, and frees their slots. */
static void expect_no_streams(void)
{
	struct px_registry_slot slot;
	trace_id_t trid;

	if (posix_trace_create(0, NULL, &trid) != 0 || posix_trace_shutdown(trid) != 0)
		violation("no stream can be made at the end");
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		if (px_registry_read(i, &slot))
			violation("slot %u is taken by pid %u", i, slot.controller.pid);
}

static void expect_no_files(void)
{
	const char *path = getenv("TXTRACE_DIR");
	DIR *directory = path ? opendir(path) : NULL;
	struct dirent *entry;
	char own_names[64];

	if (!directory)
		return;
	snprintf(own_names, sizeof(own_names), PX_LAYOUT_PREFIX("names") "%d.", (int)getpid());
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, PX_LAYOUT_REGISTRY) != 0 &&
		    strncmp(entry->d_name, own_names, strlen(own_names)) != 0)
			violation("%s is left behind", entry->d_name);
	closedir(directory);
}

static bool was_ours(uint32_t pid)
{
	for (uint32_t i = 1; i <= board->nr_lives; i++)
		if (board->life[i].pid == pid)
			return true;
	return pid == (uint32_t)getpid();
}

/*
 * Other programs use the machine too.  So count a segment only if a process of this test made it and no process has it.
 */
static void expect_no_segments(time_t since)
{
	FILE *file = fopen("/proc/sysvipc/shm", "r");
	unsigned long size, made;
	unsigned int id, pid, attached;
	char line[300];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*d %u %*o %lu %u %*u %u %*u %*u %*u %*u %*u %*u %lu", &id, &size,
			   &pid, &attached, &made) == 5 &&
		    size == sizeof(struct px_shared_names) && attached == 0 &&
		    (time_t)made >= since && was_ours(pid))
			violation("System V segment %u, made by pid %u, is left behind", id, pid);
	if (file)
		fclose(file);
}

/* If one of these is missing, the test has not tested it.  In some seconds, a kind of birth may not occur. */
static void expect_variety(uint64_t seconds)
{
	for (int i = BY_FORK; i < NR_BIRTHS; i++)
		if (board->nr_seen[i] == 0 && seconds >= SECONDS_FOR_ALL)
			violation("no traced stream saw a process that was made by %s",
				  birth_names[i]);
	if (!has_seen_something())
		violation("no child, no event or no log was seen: %" PRIu64 " events, %" PRIu64 " logs",
			  board->nr_events, board->nr_logs);
	if (seconds >= SECONDS_FOR_ALL && (board->nr_kept_out == 0 || board->nr_cut_logs == 0))
		violation("%" PRIu64 " children were kept out, %" PRIu64 " cut logs were read",
			  board->nr_kept_out, board->nr_cut_logs);
}

static void report(void)
{
	printf("%u lives, %" PRIu64 " killed, %" PRIu64 " stops; %" PRIu64 " streams, %" PRIu64
	       " refused, %" PRIu64 " windows, %" PRIu64 " logs, %" PRIu64 " cut ones\n",
	       board->nr_lives, board->nr_kills, board->nr_stops, board->nr_streams,
	       board->nr_refused, board->nr_windows, board->nr_logs, board->nr_cut_logs);
	printf("%" PRIu64 " events read, %" PRIu64 " missing; %" PRIu64
	       " lost in streams without log\n",
	       board->nr_events, board->nr_missing, board->nr_lost);
	printf("traced from birth:");
	for (int i = BY_FORK; i < NR_BIRTHS; i++)
		printf(" %" PRIu64 " by %s,", board->nr_seen[i], birth_names[i]);
	printf(" %" PRIu64 " kept out\n%" PRIu64 " violations\n", board->nr_kept_out,
	       board->nr_violations);
}

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* A directory for logs, next to that of segments, which must be empty at the end. */
static void make_directory(void)
{
	const char *segments = getenv("TXTRACE_DIR");

	snprintf(board->directory, sizeof(board->directory), "%.150s-logs.XXXXXX",
		 segments && *segments ? segments : "/tmp/posixtrace");
	if (!mkdtemp(board->directory))
		exit(2);
}

static void remove_directory(void)
{
	if (rmdir(board->directory) != 0)
		printf("%s: logs are left there\n", board->directory);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_interrupt};
	uint64_t seconds = argc == 2 ? strtoull(argv[1], NULL, 10) : SECONDS;
	time_t begin = time(NULL);

	px_test_forgive_leaks();
	if (argc == ARGUMENTS - 1 && strcmp(argv[1], "life") == 0) {
		board_open(atoi(argv[2]));
		live((uint32_t)strtoul(argv[3], NULL, 10));
	}
	if (argc > 2 || seconds == 0) {
		fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
		return 2;
	}
	board_make();
	board->seed = seed = test_seed();
	fflush(stdout);
	make_directory();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	run(seconds);
	end_all();
	expect_no_streams();
	expect_no_files();
	expect_no_segments(begin);
	if (!interrupted)
		expect_variety(seconds);
	report();
	remove_directory();
	return board->nr_violations ? 1 : 0;
}
