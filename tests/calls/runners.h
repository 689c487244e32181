/* SPDX-License-Identifier: MIT */
/*
 * Programs that processes run, and the records of their calls, which a translator reads.  A record has the layout FD,
 * because the calls here are those of descriptors, and of processes that inherit them.
 */
#ifndef PX_TESTS_CALLS_RUNNERS_H
#define PX_TESTS_CALLS_RUNNERS_H

#include <stddef.h>
#include <stdint.h>

#include "calls/translate.h"
#include "event/calls.h"

extern struct px_translator *translator;

/* For each test. */
void runners_setup(void);
void runners_teardown(void);

/* The first thread of a program that a process runs, or another one. */
struct runner {
	uint32_t pid, tid, handle, program;
};

struct runner runner(uint32_t pid, uint32_t program);
struct runner other_thread(struct runner by);

/* A time that no record has. */
uint32_t next_tick(void);

/* A call, without and with what follows its data: a text, and more. */
void call(struct runner by, enum px_call call, uint32_t flags, int fd, uint32_t value,
	  int64_t result);
void call_more(struct runner by, enum px_call call, uint32_t flags, int fd, uint32_t value,
	       int64_t result, const void *more, size_t size);

/* The object that the last call names first: its handle. */
uint32_t object_of_call(void);

void opens(struct runner by, int fd, const char *path, uint32_t value);
void closes(struct runner by, int fd);
struct runner forks(struct runner by, uint32_t pid);

/* The process executes a program, or goes on with that of its parent, which called fork() just before. */
void starts(struct runner by, uint32_t parent, const char *command);

/* The process executes a program by its path, and that program says so. */
void executes(struct runner before, struct runner after, const char *path, const char *path_told);

/* An event of the trace system, such as the end of a stream's overflow. */
void system_event(uint32_t id);

/* The name of the object that a read of the descriptor shows, without the number that makes names differ. */
const char *file_of(struct runner by, int fd);

#define IS(by, fd, name) ck_assert_str_eq(file_of(by, fd), name)
/* The file is none that a path is known of. */
#define IS_UNKNOWN(by, fd) ck_assert_ptr_nonnull(strstr(file_of(by, fd), " fd "))

#endif
