/* SPDX-License-Identifier: MIT */
/* The words of txtrace why. */
#ifndef TXTRACE_WAITS_WHY_WORDS_H
#define TXTRACE_WAITS_WHY_WORDS_H

#include "base/output.h"
#include "cli/json.h"
#include "trace/source.h"
#include "trace/symbols.h"
#include "waits/unseen.h"
#include "waits/waits.h"

/* What a line is about, so that a viewer can show it: a wait, a hold, or what a thread did at a time. */
struct why_step {
	unsigned int context; /* of the thread; 0: the line has no step */
	unsigned int object;  /* handle of the object that the thread held, or 0 */
	int64_t from_ns, until_ns;
};

struct why_words {
	struct text *text;
	struct json *json; /* NULL: print text */
	/* If this is set, it gets the lines, and neither text nor json is used. */
	void (*take)(void *arg, unsigned int depth, const char *line, const struct why_step *step);
	void *arg;
	const struct source *source;
	struct symbols *symbols; /* NULL: the file is a ThreadX buffer */
};

struct words {
	char text[256];
};

/* Print a line.  Lines at a greater depth are indented more.  In JSON, a line is an object with its depth. */
void why_line(const struct why_words *to, unsigned int depth, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Return a step that is about a thread. */
struct why_step why_step(const struct waiter *thread, int64_t from_ns, int64_t until_ns);

/* Do the same as why_line() with a line that has a step. */
void why_step_line(const struct why_words *to, unsigned int depth, struct why_step step, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

struct words why_duration(int64_t ns);

/* Return a time since the start of the trace: "at 0.020000 s". */
struct words why_time(const struct why_words *to, int64_t time_ns);

/* Return the time when a hold began: "at 0.020000 s", or that it is not known. */
struct words why_since(const struct why_words *to, const struct waits *waits, int64_t since_ns);

/* Return " (at worker+0x1c)", or an empty text. */
struct words why_place(const struct why_words *to, uint64_t address);

/*
 * Return which thread (0: any) was blocked longest outside of recorded waits, as unseen_most() finds it: "worker 12 was
 * blocked for 1.0 s outside of recorded waits".  The text is empty if there is none, or if events are missing: the
 * begin of a wait may be among them.
 */
struct words why_untraced(const struct unseen *unseen, unsigned int context);

/* Return what a thread did: "ran for 2.0 ms, was blocked for 1.0 ms, and 3.0 us are not known". */
struct words why_states(const struct state_times *times);

struct words why_object(const struct awaited *object);

/* Describe a wait: "waiting for mutex A (pthread_mutex_lock)", "asleep (nanosleep)". */
struct words why_wait(unsigned int state, const struct awaited *object, const char *service);

bool why_is_for_thread(const struct wait *wait);
bool why_is_io(const struct wait *wait);

#endif
