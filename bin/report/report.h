/* SPDX-License-Identifier: MIT */
/*
 * The reports on a file. report_gather() reads the file and collects what all reports need. report_print() prints the
 * reports. doc/reports.md has the rules and the meaning of each number.
 */
#ifndef TXTRACE_REPORT_REPORT_H
#define TXTRACE_REPORT_REPORT_H

#include "cli/table.h"
#include "report/counted.h"
#include "report/counters.h"
#include "report/counts.h"
#include "report/cpus.h"
#include "report/events.h"
#include "report/inversions.h"
#include "report/processes.h"
#include "report/states.h"
#include "report/statistics.h"

enum report_kind {
	REPORT_PROFILE = 1,
	REPORT_PERFORMANCE = 2,
	REPORT_SERVICES = 4,
	REPORT_STACKS = 8,
	REPORT_FILEX = 16,
	REPORT_NETX = 32,
	REPORT_INVERSIONS = 64,
	REPORT_CPUS = 128,
	REPORT_PROCESSES = 256,
	REPORT_LATENCY = 512
};

struct report {
	struct source *source;
	struct contexts contexts;
	struct report_events events;
	struct statistics statistics;
	struct inversions *inversions; /* NULL until they are collected */
	struct counts counts;
	struct count_map services; /* counts for each context and event type */
	struct count_map on_cpus;  /* counts for each context and CPU */
	struct count_map of_processes; /* counts for each context and index of a process */
	struct processes processes;
	struct cpus cpus;
	struct states states;
	struct counted counted; /* empty if the log has scheduling records */
	bool has_records; /* the log has scheduling records: then run times are those of `states` */
	uint64_t nr_gaps; /* number of OVERFLOW events */
};

/*
 * Read the file.  All bytes of the report are 0: it has 3 MB, of which most are never used, so it is best static.  The
 * caller frees its content with report_free().
 */
void report_gather(struct report *report, struct source *source, const struct selection *selection);
void report_free(struct report *report);

/* kinds has a bit for each report to print; 0 means all reports that are not empty. */
void report_print(struct report *report, struct table *table, unsigned int kinds);

/* report_states.c: the reports on scheduling records. */
void report_print_states(const struct report *report, struct table *table);
void report_print_counted(const struct report *report, struct table *table);
void report_print_latency(const struct report *report, struct table *table);
/* Put the name of a thread. */
void report_put_name(const struct report *report, struct table *table, const struct states_row *row);
/* Call put for each thread that ran and has no handle. */
void report_put_bare(const struct report *report, struct table *table,
		     void (*put)(const struct report *report, struct table *table, const struct states_row *row));

/* report_threads.c: the reports about threads. */
void report_print_profile(const struct report *report, struct table *table);
void report_print_performance(const struct report *report, struct table *table);
void report_print_stacks(const struct report *report, struct table *table);
void report_print_inversions(const struct report *report, struct table *table);
void report_print_cpus(const struct report *report, struct table *table);
void report_print_processes(const struct report *report, struct table *table);

/* Return true if any event has a stack pointer. */
bool report_has_stacks(const struct report *report);
/* Return the number of processes that the trace names. */
size_t report_count_processes(const struct report *report);

#endif
