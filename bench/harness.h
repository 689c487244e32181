/* SPDX-License-Identifier: MIT */
/*
 * Measures many short cases side by side.
 *
 * A *case* is a loop over one operation.  A *batch* is a timed run of the loop, well below the
 * length of a time slice.  A *round* measures every case once, first on one pinned thread, then on
 * all CPUs at once, a pinned thread on each.  The figure of a case in a round is the median of its
 * batches, so a thread that loses its CPU in the middle of one does not count; and whatever slows
 * the machine for longer than a round meets all cases alike.  Therefore ratios and differences are
 * taken within a round, and the median of the rounds is what is told of them.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

#define HARNESS_ROUNDS_MAX 1000

enum harness_mode { HARNESS_ONE, HARNESS_ALL, HARNESS_MODES };

struct harness_case {
	const char *name;
	const char *what;      /* for people */
	void (*run)(size_t n); /* the loop, n times */

	/* On the main thread around each repeat; may be NULL.  begin: 0 or an error number. */
	int (*begin)(void);
	void (*end)(void);

	/* 0 in any of these: the default. */
	size_t batch;	   /* operations in a batch */
	size_t nr_batches; /* in a repeat */
	size_t repeats;	   /* in a round, each with its own begin and end */
	size_t warm_up;	   /* operations ahead of the first batch */
	bool one_only;	   /* not on all CPUs */

	/* The harness's. */
	bool selected;
	double *figure[HARNESS_MODES]; /* ns an operation, one a round; NaN: not measured */
};

struct harness_figure {
	double median, min, max;
};

/* Make the threads, one for each CPU this process may use.  0 or an error number. */
int harness_init(void);
unsigned int harness_nr_cpus(void);

/* Run function(n) on all CPUs at once. */
void harness_on_all(void (*function)(size_t n), size_t n);

/* All rounds of all selected cases.  0, or ENOMEM, or what begin gave. */
int harness_run(struct harness_case *cases, size_t nr_cases, unsigned int nr_rounds);

/* A table of the selected cases. */
void harness_print(const struct harness_case *cases, size_t nr_cases);

/* The case with this name, which is there. */
struct harness_case *harness_find(struct harness_case *cases, size_t nr_cases, const char *name);

/* False if there is none. */
bool harness_figure(const struct harness_case *item, enum harness_mode mode,
		    struct harness_figure *figure);

/* Median, least and greatest of a(round) op b(round): '/' or '-'.  False if there is none. */
bool harness_compare(const struct harness_case *a, enum harness_mode a_mode, char op,
		     const struct harness_case *b, enum harness_mode b_mode,
		     struct harness_figure *figure);

#endif
