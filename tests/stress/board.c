/* SPDX-License-Identifier: MIT */
#include "stress/board.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/procfs.h"

#define VIOLATIONS_SHOWN 20
#define STALE_NS UINT64_C(30000000000)

struct board *board;
int board_fd;
uint32_t my_number;

const char *const birth_names[NR_BIRTHS] = {"supervisor",  "fork",	     "_Fork in a handler",
					    "posix_spawn", "vfork and exec", "exec"};
const char *const deed_names[NR_DEEDS] = {"nothing",	 "traces", "naps",	 "opens types",
					  "gives birth", "execs",  "exits",	 "creates",
					  "starts",	 "stops",  "reads",	 "drains",
					  "flushes",	 "clears", "shuts down", "looks at a log"};

void board_open(int fd)
{
	board_fd = fd;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		abort();
}

/* Its descriptor stays open in every exec. */
void board_make(void)
{
	int fd = memfd_create("stress_processes", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*board)) != 0)
		abort();
	board_open(fd);
	board->oldest = 1;
}

void violation(const char *format, ...)
{
	char text[400];
	va_list arguments;
	int length = snprintf(text, sizeof(text), "VIOLATION: pid %d, life %u: ", (int)getpid(),
			      my_number);

	va_start(arguments, format);
	length += vsnprintf(text + length, sizeof(text) - 1 - (size_t)length, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof(text) - 2)
		length = (int)sizeof(text) - 2;
	text[length++] = '\n';
	/* One write, so that lines of several processes do not mix. */
	if (px_fetch_add(&board->nr_violations, UINT64_C(1)) < VIOLATIONS_SHOWN &&
	    write(STDERR_FILENO, text, (size_t)length) < 0)
		abort();
}

pid_t reap(pid_t child, int options)
{
	int status = 0;
	pid_t ended = waitpid(child, &status, options);
	bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	if (ended > 0 && status != 0 && !was_killed)
		violation("pid %d has ended with status %#x", (int)ended, (unsigned int)status);
	return ended;
}

void sleep_us(uint64_t us)
{
	struct timespec length = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	nanosleep(&length, NULL);
}

static bool take_seat(uint32_t number)
{
	for (uint32_t i = 0; i < NR_SEATS; i++) {
		if (!px_compare_exchange(&board->seat[i], 0, number))
			continue;
		board->life[number].seat = i;
		return true;
	}
	return false;
}

static bool has_free_seat(void)
{
	for (uint32_t i = 0; i < NR_SEATS; i++)
		if (px_load_acquire(&board->seat[i]) == 0)
			return true;
	return false;
}

uint32_t life_reserve(enum birth birth, bool is_controller)
{
	struct life *life;
	uint32_t number;

	if ((birth != BY_EXEC && !has_free_seat()) ||
	    px_load_acquire(&board->nr_lives) >= LIVES_MAX - 1 - NR_SEATS)
		return 0;
	number = px_fetch_add(&board->nr_lives, 1) + 1;
	life = &board->life[number];
	life->parent = my_number;
	life->birth = birth;
	life->is_controller = is_controller;
	life->ordered_ns = monotonic_ns();
	px_store_release(&life->state, RESERVED);
	if (birth == BY_EXEC)
		life->seat = board->life[my_number].seat;
	else if (!take_seat(number)) {
		px_store_release(&life->state, OVER);
		return 0;
	}
	return number;
}

void life_cancel(uint32_t number)
{
	struct life *life = &board->life[number];

	px_store_release(&life->state, OVER);
	px_compare_exchange(&board->seat[life->seat], number, 0);
}

void life_begin(uint32_t number)
{
	struct life *life = &board->life[number];
	struct life *parent = &board->life[life->parent];

	my_number = number;
	life->pid = (uint32_t)getpid();
	life->start = px_procfs_start(life->pid);
	life->is_followed = (uint32_t)getppid() == parent->pid;
	life->born_ns = monotonic_ns();
	if (!px_compare_exchange(&life->state, RESERVED, ALIVE))
		_exit(0); /* so late that the supervisor has given the seat to another process */
	if (life->birth != BY_EXEC)
		return;
	px_store_release(&board->seat[life->seat], number);
	px_store_release(&parent->state, OVER);
}

bool life_is_there(const struct life *life)
{
	return px_procfs_is_same(life->pid, life->start);
}

bool run_is_over(void)
{
	return px_load_acquire(&board->stopping) ||
	       monotonic_ns() > px_load_acquire(&board->pulse_ns) + STALE_NS;
}

void doing(unsigned int i, enum deed deed)
{
	struct life *life = &board->life[my_number];

	px_write_once(&life->beat[i].deed, deed);
	px_store_release(&life->beat[i].since_ns, monotonic_ns());
}

static uint32_t check_of(const struct head *head)
{
	uint32_t x = head->life * 0x9e3779b1u ^ head->number * 0x85ebca6bu ^ head->length;

	x ^= (head->pid * 0xc2b2ae35u) ^ head->tid << 8 ^ (uint32_t)(head->thread >> 12);
	x ^= head->context << 20 ^ head->type << 28;
	x = (x ^ x >> 15) * 0x2c1b3c6du;
	return x ^ x >> 12;
}

static unsigned char byte_at(const struct head *head, size_t i)
{
	return (unsigned char)((head->check + (uint32_t)i * 0x01000193u) >> (i & 7) * 3);
}

void head_fill(struct head *head, unsigned char data[LENGTH_MAX])
{
	head->check = check_of(head);
	memcpy(data, head, sizeof(*head));
	for (size_t i = sizeof(*head); i < head->length; i++)
		data[i] = byte_at(head, i);
}

bool head_is_whole(const struct head *head, const unsigned char *data, size_t size)
{
	if (check_of(head) != head->check || size > head->length)
		return false;
	for (size_t i = sizeof(*head); i < size; i++)
		if (data[i] != byte_at(head, i))
			return false;
	return true;
}

void arguments_make(struct arguments *arguments, uint32_t number)
{
	static char name[] = "stress_processes", role[] = "life";

	snprintf(arguments->number, sizeof(arguments->number), "%u", number);
	snprintf(arguments->fd, sizeof(arguments->fd), "%d", board_fd);
	arguments->vector[0] = name;
	arguments->vector[1] = role;
	arguments->vector[2] = arguments->fd;
	arguments->vector[3] = arguments->number;
	arguments->vector[4] = NULL;
}
