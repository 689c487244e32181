/* SPDX-License-Identifier: MIT */
/* A process that traces, makes children, executes other programs, and ends, all at random. */
#include "stress/board.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/thread_timer.h"

#define SELF "/proc/self/exe"

static trace_event_id_t types[NR_TYPES];

/* The writer of this thread, if it is one. */
static __thread struct writer {
	bool is_one;
	uint32_t index;
	uint32_t tid;
	uint64_t random[2]; /* the handler has its own */
} self;

static uint64_t pick(uint64_t *random, uint64_t limit)
{
	return next_random(random) % limit;
}

static uint32_t random_length(uint64_t *random)
{
	uint64_t rest = LENGTH_MAX - sizeof(struct head) + 1;

	return (uint32_t)(sizeof(struct head) + (pick(random, 4) == 0 ? pick(random, rest) : 0));
}

/* The counters on the board surround the call, so a controller can check against them. */
static void trace(bool in_handler)
{
	uint32_t context = self.index * 2 + in_handler;
	uint64_t *random = &self.random[in_handler];
	struct life *me = &board->life[my_number];
	unsigned char data[LENGTH_MAX];
	struct head head = {.life = my_number,
			    .number = me->count[context].begun + 1,
			    .pid = me->pid,
			    .tid = self.tid,
			    .thread = (uint64_t)pthread_self(),
			    .context = context,
			    .type = (uint32_t)pick(random, NR_TYPES),
			    .length = random_length(random)};

	head_fill(&head, data);
	px_store_release(&me->count[context].begun, head.number);
	posix_trace_event(types[head.type], data, head.length);
	px_store_release(&me->count[context].returned, head.number);
}

static void become_writer(uint32_t index)
{
	self.is_one = true;
	self.index = index;
	self.tid = (uint32_t)syscall(SYS_gettid);
	for (uint32_t i = 0; i < 2; i++)
		self.random[i] = board->seed ^ (my_number * 64 + index * 2 + i + 1) *
						       UINT64_C(0x9e3779b97f4a7c15);
}

/* No atfork handler runs, and the child goes on even if its parent was in the middle of an event. */
static void give_birth_in_handler(void)
{
	uint32_t number = life_reserve(BY_HANDLER, false);
	struct life *child;

	if (number == 0)
		return;
	switch (_Fork()) {
	case -1:
		life_cancel(number);
		return;
	case 0:
		life_begin(number);
		become_writer(self.index);
		child = &board->life[number];
		for (int i = 0; i < 20; i++) {
			trace(true);
			if (i == 0 && (uint32_t)getppid() != board->life[child->parent].pid)
				child->is_followed = false; /* it looked too late */
		}
		_exit(0);
	}
}

static void on_signal(int number)
{
	int saved_errno = errno;

	(void)number;
	if (self.is_one) {
		trace(true);
		if (pick(&self.random[1], 100) == 0)
			give_birth_in_handler();
	}
	errno = saved_errno;
}

static void block_handler(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

static void start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	long interval_ns = 500000 + (long)pick(&self.random[0], 5000000);
	struct itimerspec interval = {{0, interval_ns}, {0, interval_ns}};
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)self.tid;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &interval, NULL);
}

static void trace_and_nap(void)
{
	doing(self.index, TRACES);
	for (uint64_t n = 1 + pick(&self.random[0], pick(&self.random[0], 16) ? 40 : 1000); n; n--)
		trace(false);
	doing(self.index, NAPS);
	sleep_us(pick(&self.random[0], 4000));
}

static void *write_on(void *unused)
{
	become_writer(1);
	start_timer();
	block_handler(SIG_UNBLOCK);
	for (;;)
		trace_and_nap();
	return unused;
}

static void *own(void *argument)
{
	own_streams((unsigned int)(uintptr_t)argument);
	return NULL;
}

/* In a random order, so that ids differ between unrelated processes. */
static void open_types(void)
{
	uint64_t first = pick(&self.random[0], NR_TYPES);

	doing(0, OPENS_TYPES);
	for (uint64_t i = first; i < first + NR_TYPES; i++) {
		char name[20];
		int error;

		snprintf(name, sizeof(name), "stress %u", (unsigned int)(i % NR_TYPES));
		error = posix_trace_eventid_open(name, &types[i % NR_TYPES]);
		if (error)
			violation("opening a type gives error %d", error);
	}
}

static void begin_threads(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	bool is_controller = board->life[my_number].is_controller;
	pthread_t thread;

	sigaction(SIGALRM, &action, NULL);
	block_handler(SIG_BLOCK); /* in owners, which have no number of their own */
	if (pthread_create(&thread, NULL, write_on, NULL) != 0)
		violation("no thread");
	for (uintptr_t i = 0; is_controller && i < NR_OWNERS; i++)
		if (pthread_create(&thread, NULL, own, (void *)i) != 0)
			violation("no thread");
	start_timer();
	block_handler(SIG_UNBLOCK);
}

/* Births. */

static void run_on(void);

static void give_birth_by_fork(void)
{
	uint32_t number = life_reserve(BY_FORK, false);
	pid_t child;

	if (number == 0)
		return;
	block_handler(SIG_BLOCK); /* until the child knows its number */
	child = fork();
	if (child == 0) {
		life_begin(number);
		become_writer(0);
		begin_threads();
		run_on();
	}
	if (child < 0)
		life_cancel(number);
	block_handler(SIG_UNBLOCK);
}

static void give_birth_by_spawn(void)
{
	uint32_t number = life_reserve(BY_SPAWN, false);
	struct arguments arguments;
	pid_t child;

	if (number == 0)
		return;
	arguments_make(&arguments, number);
	if (posix_spawn(&child, SELF, NULL, NULL, arguments.vector, environ) != 0)
		life_cancel(number);
}

static void give_birth_by_vfork(void)
{
	uint32_t number = life_reserve(BY_VFORK, false);
	struct arguments arguments;
	pid_t child;

	if (number == 0)
		return;
	arguments_make(&arguments, number);
	block_handler(SIG_BLOCK); /* in the child, the handler would use the number of the parent */
	child = vfork();
	if (child == 0) {
		execve(SELF, arguments.vector, environ);
		_exit(1);
	}
	if (child < 0)
		life_cancel(number);
	block_handler(SIG_UNBLOCK);
}

static void become_another(void)
{
	uint32_t number = life_reserve(BY_EXEC, board->life[my_number].is_controller);
	struct arguments arguments;

	if (number == 0)
		return;
	doing(0, EXECS);
	arguments_make(&arguments, number);
	execve(SELF, arguments.vector, environ);
	px_store_release(&board->life[number].state, OVER);
}

static void end_somehow(void)
{
	doing(0, EXITS);
	if (pick(&self.random[0], 2))
		exit(0);
	_exit(0);
}

/* Controllers live longer, because their checks take time. */
static void do_something(void)
{
	uint64_t chance = board->life[my_number].is_controller ? 2000 : 250;

	doing(0, GIVES_BIRTH);
	switch (pick(&self.random[0], chance)) {
	case 0 ... 7:
		give_birth_by_fork();
		break;
	case 8 ... 11:
		give_birth_by_spawn();
		break;
	case 12 ... 15:
		give_birth_by_vfork();
		break;
	case 16 ... 19:
		become_another();
		break;
	case 20 ... 23:
		end_somehow();
	}
}

static bool owners_are_done(void)
{
	struct life *me = &board->life[my_number];

	for (unsigned int i = 0; me->is_controller && i < NR_OWNERS; i++)
		if (px_load_acquire(&me->beat[NR_WRITERS + i].deed) != NOTHING)
			return false;
	return true;
}

/* Owners end only at the end; until then, the process records events for them to read. */
static _Noreturn void run_on(void)
{
	while (!run_is_over() || !owners_are_done()) {
		trace_and_nap();
		while (reap(-1, WNOHANG) > 0)
			;
		if (!run_is_over())
			do_something();
	}
	doing(0, EXITS);
	exit(0);
}

void live(uint32_t number)
{
	life_begin(number);
	if (board->life[number].birth == BY_EXEC && board->life[number].is_controller)
		look_at_cut_logs(board->life[number].pid);
	become_writer(0);
	open_types();
	for (unsigned int i = 0; board->life[number].is_controller && i < NR_OWNERS; i++)
		doing(NR_WRITERS + i, NAPS);
	begin_threads();
	run_on();
}
