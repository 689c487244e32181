/* SPDX-License-Identifier: MIT */
/*
 * Measures many short cases in turn.
 *
 * A *case* is a loop over one operation.  A *batch* is a timed run of the loop, much shorter than a
 * time slice.  A *round* measures every case once, first on one pinned thread, then on all CPUs at
 * once with a pinned thread on each.  The figure of a case in a round is the median of its batches,
 * so a batch in which a thread is preempted does not count.  A disturbance that lasts longer than a
 * round affects all cases equally.  Therefore ratios and differences are taken within a round, and
 * the output is their median over the rounds.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

#define HARNESS_ROUNDS_MAX 1000

enum harness_mode { HARNESS_ONE, HARNESS_ALL, HARNESS_MODES };

struct harness_case {
	const char *name;
	const char *what;      /* the description in the output */
	void (*run)(size_t n); /* the loop, n times */

	/* Called on the main thread around each repeat; may be NULL.  begin returns 0 or an error number. */
	int (*begin)(void);
	void (*end)(void);

	/* 0 means the default. */
	size_t batch;	   /* operations in a batch */
	size_t nr_batches; /* in a repeat */
	size_t repeats;	   /* in a round, each with its own begin and end */
	size_t warm_up;	   /* operations before the first batch */
	bool one_only;	   /* not on all CPUs */

	/* Set by the harness, except selected. */
	bool selected;
	double *figure[HARNESS_MODES]; /* ns per operation, one per round; NaN: not measured */
};

struct harness_figure {
	double median, min, max;
};

/* Create a thread for each CPU that this process may use.  Return 0 or an error number. */
int harness_init(void);
unsigned int harness_nr_cpus(void);

/* Run function(n) on all CPUs at once. */
void harness_on_all(void (*function)(size_t n), size_t n);

/* Run all rounds of all selected cases.  Return 0, ENOMEM, or the error of a begin function. */
int harness_run(struct harness_case *cases, size_t nr_cases, unsigned int nr_rounds);

/* Print a table of the selected cases. */
void harness_print(const struct harness_case *cases, size_t nr_cases);

/* Return the case with this name.  It must exist. */
struct harness_case *harness_find(struct harness_case *cases, size_t nr_cases, const char *name);

/* Median, least and greatest over the rounds.  Return false if the case was not measured. */
bool harness_figure(const struct harness_case *item, enum harness_mode mode,
		    struct harness_figure *figure);

/* Median, least and greatest of a(round) op b(round), where op is '/' or '-'.  Return false if there is no figure. */
bool harness_compare(const struct harness_case *a, enum harness_mode a_mode, char op,
		     const struct harness_case *b, enum harness_mode b_mode,
		     struct harness_figure *figure);

#endif
