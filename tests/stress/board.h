/* SPDX-License-Identifier: MIT */
/*
 * The memory that all processes of stress_processes share: a list of lives.  A *life* is one program in one process: it
 * begins with fork or exec, and ends with exec or death.  Its number is never used again.  A life writes to the board
 * its parent and how it began, the progress of each of its writers, and what its threads are doing.  So a reader of a
 * stream knows which events must be there, and the supervisor knows which thread waits for what.  Any process may be
 * killed or stopped at any moment, so nothing here is locked.
 */
#ifndef PX_TESTS_STRESS_BOARD_H
#define PX_TESTS_STRESS_BOARD_H

#include "support/common.h"

#include "base/atomic.h"

#define NR_SEATS 16 /* lives at a time */
#define NR_CONTROLLERS 4
#define LIVES_MAX (1u << 18)
#define NR_WRITERS 2
#define NR_CONTEXTS (2 * NR_WRITERS) /* each writer, and the handler that interrupts it */
#define NR_OWNERS 2		     /* threads of a controller that have streams */
#define NR_TYPES 4

enum life_state { UNUSED, RESERVED, ALIVE, OVER };

enum birth { BY_SUPERVISOR, BY_FORK, BY_HANDLER, BY_SPAWN, BY_VFORK, BY_EXEC, NR_BIRTHS };
extern const char *const birth_names[NR_BIRTHS];

enum deed {
	NOTHING,
	TRACES,
	NAPS,
	OPENS_TYPES,
	GIVES_BIRTH,
	EXECS,
	EXITS,
	CREATES,
	STARTS,
	STOPS,
	READS,
	DRAINS,
	FLUSHES,
	CLEARS,
	SHUTS_DOWN,
	LOOKS_AT_LOG,
	NR_DEEDS
};
extern const char *const deed_names[NR_DEEDS];

/* Threads that publish what they do: the writers, then the owners. */
#define NR_BEATS (NR_WRITERS + NR_OWNERS)

struct life {
	uint32_t state;
	uint32_t pid;
	uint64_t start; /* with pid: the process */
	uint32_t parent;
	uint32_t birth;
	uint32_t seat;
	uint32_t is_controller;
	uint32_t is_followed; /* its parent lived when it began; otherwise its parent is not known */
	uint64_t ordered_ns;  /* CLOCK_MONOTONIC before its birth, and after it */
	uint64_t born_ns;
	struct {
		uint32_t begun, returned; /* numbers of events */
	} count[NR_CONTEXTS];
	struct {
		uint32_t deed;
		uint64_t since_ns;
	} beat[NR_BEATS];
};

struct board {
	uint64_t pulse_ns; /* the supervisor's */
	uint64_t seed;
	uint32_t stopping;
	uint32_t nr_lives;
	uint32_t oldest;     /* no life after it in the list lives */
	char directory[200]; /* of logs */
	uint64_t nr_violations;

	/* For the report. */
	uint64_t nr_streams, nr_refused, nr_windows, nr_logs, nr_cut_logs, nr_events, nr_missing,
		nr_lost, nr_kept_out, nr_seen[NR_BIRTHS], nr_kills, nr_stops;

	uint32_t seat[NR_SEATS]; /* the number of a life; 0: free */
	struct life life[LIVES_MAX];
};

extern struct board *board;
extern int board_fd;

/* Return the life of this process; 0: it has none. */
extern uint32_t my_number;

void board_make(void);
void board_open(int fd);

__attribute__((format(printf, 1, 2))) void violation(const char *format, ...);
#define count(counter, n) px_fetch_add(&board->counter, (uint64_t)(n))

/*
 * Wait like waitpid(), and check the status: a process ends by itself or is killed, and any other end is a violation.
 * All code reaps with this function, so that a crash in the library does not look like a kill.
 */
pid_t reap(pid_t child, int options);

void sleep_us(uint64_t us);

/* Make a life for a child, or for the program that this process executes; 0: there is no free seat. */
uint32_t life_reserve(enum birth birth, bool is_controller);
void life_cancel(uint32_t number);

/* From now on, this process is that life. */
void life_begin(uint32_t number);

/* Return true if the process of this life exists. */
bool life_is_there(const struct life *life);

/* Return true if the time is up, or the supervisor is gone. */
bool run_is_over(void);

/* Set what thread number i of this process does from now on. */
void doing(unsigned int i, enum deed deed);

/* Events: their first bytes have the writer, the length and the number, which determine the other bytes. */
struct head {
	uint32_t life;
	uint32_t number;
	uint32_t pid;
	uint32_t tid;
	uint64_t thread; /* pthread_t */
	uint32_t context;
	uint32_t type;
	uint32_t length;
	uint32_t check;
};

#define LENGTH_MAX 512 /* 10 slots */

void head_fill(struct head *head, unsigned char data[LENGTH_MAX]);
bool head_is_whole(const struct head *head, const unsigned char *data, size_t size);

/* The argument vector with which exec makes a process this life, and its texts. */
#define ARGUMENTS 5
struct arguments {
	char number[16], fd[16];
	char *vector[ARGUMENTS];
};
void arguments_make(struct arguments *arguments, uint32_t number);

/* subject.c: run this life, to its end. */
_Noreturn void live(uint32_t number);

/* controller.c: make streams, one after the other, until the run is over. */
void own_streams(unsigned int owner);

/* verify.c: check the logs that a process left when it died, or became another program. */
void look_at_cut_logs(uint32_t pid);

#endif
