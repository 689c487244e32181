/* SPDX-License-Identifier: MIT */
/*
 * The code reads the file twice.  The first pass finds the wait to explain.  The second pass keeps the longest waits
 * and holds during that wait (wait_history.h).  Then the explanation goes from the waiting thread to the holder of the
 * object, then to the wait of this holder, and so on.
 */
#include "waits/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "trace/calls.h"
#include "trace/filter.h"
#include "trace/states.h"
#include "trace/symbols.h"
#include "waits/wait_history.h"
#include "waits/waits.h"

#define PRINTED 4	      /* print at most this number of waits of a thread in a period */
#define SMALL_PART 50 /* a share below 1 / SMALL_PART of the period gets no line of its own */
#define DEPTH_MAX 12
/*
 * Short turns share one printed line.  This is so if an object had more than MANY_TURNS turns, and if no turn took more
 * than 1 / FEW_PARTS of the period.
 */
#define MANY_TURNS 8
#define FEW_PARTS 5

struct why {
	struct source *source;
	struct waits waits;
	const char *name;
	const struct time_arg *at;
	struct text *text;
	struct symbols *symbols; /* NULL: the file is a ThreadX buffer */

	/* The first pass. */
	int64_t at_ns;
	bool has_at;
	unsigned int context;	    /* context of the thread to explain */
	struct wait found, nearest; /* `nearest` is the last wait before the time */
	bool is_found, has_nearest;

	/* The second pass. */
	struct wait_history wait_history;

	/* During the output, the chain of waits up to the current wait. */
	const struct kept_wait *chain[DEPTH_MAX];
	unsigned int depth;
};

/* The first pass: find the wait. */

/* The name of a thread of a log ends with its tid. */
static bool is_name_of(const struct txtrace_object *object, const char *name)
{
	size_t length = strlen(name);
	char tid[16];

	snprintf(tid, sizeof(tid), " %d", (int)object->tid);
	return object->tid > 0 && strncmp(object->name, name, length) == 0 &&
	       strcmp(object->name + length, tid) == 0;
}

static bool is_thread(const struct why *why, const struct txtrace_object *object)
{
	char *end;
	unsigned long number;

	if (strcmp(object->name, why->name) == 0 || is_name_of(object, why->name))
		return true;
	number = strtoul(why->name, &end, 10);
	if (*end == '\0' && end != why->name && object->tid > 0 &&
	    number == (unsigned long)object->tid)
		return true;
	number = strtoul(why->name, &end, 16);
	return *end == '\0' && strlen(why->name) >= 6 && number == object->handle;
}

/* Find the thread to explain.  If no thread or several threads match, print a message and return false. */
static bool find_thread(struct why *why)
{
	const struct source *source = why->source;
	unsigned int found = 0;

	for (size_t i = 0; i < source->nr_objects; i++) {
		const struct txtrace_object *object = &source->objects[i];

		if (object->type != OBJECT_THREAD || !is_thread(why, object) ||
		    object->handle == found)
			continue;
		if (found != 0) {
			message("%s: several threads are named %s; give the handle, %08x or %08x",
				source->path, why->name, found, object->handle);
			return false;
		}
		found = object->handle;
	}
	if (found == 0)
		message("%s: there is no thread %s; txtrace report lists them", source->path,
			why->name);
	why->context = found;
	return found != 0;
}

static void check_wait(void *arg, const struct wait *wait)
{
	struct why *why = arg;

	if (wait->thread->context != why->context)
		return;
	if (!why->at->is_set) {
		if (!why->is_found || wait_history_is_longer(wait, &why->found))
			why->found = *wait;
		why->is_found = true;
		return;
	}
	if (!why->has_at)
		why->at_ns = time_arg_ns(why->at, why->source);
	why->has_at = true;
	if (wait->begin_ns <= why->at_ns && (why->at_ns < wait->end_ns || !wait->has_ended)) {
		why->found = *wait;
		why->is_found = true;
	} else if (wait->end_ns <= why->at_ns) {
		why->nearest = *wait;
		why->has_nearest = true;
	}
}

/* Words. */

static void begin_line(const struct why *why, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		text_string(why->text, "  ");
}

static void put_line(const struct why *why, unsigned int depth, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void put_line(const struct why *why, unsigned int depth, const char *format, ...)
{
	char line[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	begin_line(why, depth);
	text_plain(why->text, line, 0);
	text_char(why->text, '\n');
}

struct words {
	char text[256];
};

/* Return a duration as text, such as "41.2 ms". */
static struct words duration(int64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
	struct words words;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if ((double)ns < units[i].ns)
			continue;
		snprintf(words.text, sizeof(words.text), "%.1f %s", (double)ns / units[i].ns,
			 units[i].name);
		return words;
	}
	snprintf(words.text, sizeof(words.text), "%lld ns", (long long)ns);
	return words;
}

/* Return a time since the start of the trace, as text. */
static struct words time_arg(const struct why *why, int64_t time_ns)
{
	int64_t ns = time_ns - why->source->first_ns;
	struct words words;

	if (time_ns == LONG_AGO)
		snprintf(words.text, sizeof(words.text), "before the trace began");
	else
		snprintf(words.text, sizeof(words.text), "at %s%lld.%06lld s", ns < 0 ? "-" : "",
			 llabs(ns) / NS_PER_S, llabs(ns) % NS_PER_S / 1000);
	return words;
}

/* Return " (at worker+0x1c)", or an empty text. */
static struct words place(const struct why *why, uintptr_t address)
{
	const char *name = why->symbols && address ? symbols_code(why->symbols, address) : NULL;
	struct words words = {""};

	if (name)
		snprintf(words.text, sizeof(words.text), " (at %s)", name);
	else if (address != 0)
		snprintf(words.text, sizeof(words.text), " (at 0x%llx)",
			 (unsigned long long)address);
	return words;
}

static struct words object_words(const struct awaited *object)
{
	struct words words;

	waits_describe(object, words.text, sizeof(words.text));
	return words;
}

static bool is_for_thread(const struct wait *wait)
{
	return wait->object->kind && strcmp(wait->object->kind, "thread") == 0;
}

static bool is_io(const struct wait *wait)
{
	return wait->state == STATE_NET && wait->object->kind;
}

/* Describe a wait: "waiting for mutex A (pthread_mutex_lock)", "asleep (nanosleep)". */
static struct words wait_words(const struct wait *wait)
{
	struct words words, object;

	if (!wait->object->kind && !*wait->service) {
		snprintf(words.text, sizeof(words.text), "%s%s",
			 wait->state == STATE_SUSPENDED ? "suspended" : "waiting for ",
			 wait->state == STATE_SUSPENDED ? "" : states[wait->state].kind);
		return words;
	}
	if (!wait->object->kind) {
		snprintf(words.text, sizeof(words.text), "%s (%s)",
			 wait->state == STATE_SLEEP ? "asleep" : "waiting", wait->service);
		return words;
	}
	object = object_words(wait->object);
	if (is_for_thread(wait))
		snprintf(words.text, sizeof(words.text), "waiting for the end of %.99s (%s)",
			 object.text, wait->service);
	else if (!*wait->service)
		snprintf(words.text, sizeof(words.text), "waiting for %.99s", object.text);
	else if (is_io(wait))
		snprintf(words.text, sizeof(words.text), "in %s of %.99s", wait->service,
			 object.text);
	else
		snprintf(words.text, sizeof(words.text), "waiting for %.99s (%s)", object.text,
			 wait->service);
	return words;
}

static void print_wait(const struct why *why, const struct wait *wait, struct part part,
		      unsigned int depth)
{
	struct words what = wait_words(wait);
	bool is_all = part.from_ns <= wait->begin_ns && part.until_ns >= wait->end_ns;

	if (!wait->has_ended)
		put_line(why, depth,
		     "%s was %s from %s on, and still was when the trace ended %s, %s later.",
		     wait->thread->name, what.text, time_arg(why, wait->begin_ns).text + 3,
		     time_arg(why, wait->end_ns).text,
		     duration(wait->end_ns - wait->begin_ns).text);
	else if (depth == 0 || is_all)
		put_line(why, depth, "%s was %s%s %s, from %s to %s.", wait->thread->name,
		     duration(wait->end_ns - wait->begin_ns).text, depth > 0 ? " of that" : "",
		     what.text, time_arg(why, wait->begin_ns).text + 3,
		     time_arg(why, wait->end_ns).text + 3);
	else
		put_line(why, depth, "%s was %s of that %s, in all from %s to %s.", wait->thread->name,
		     duration(part_length(part)).text, what.text,
		     time_arg(why, wait->begin_ns).text + 3, time_arg(why, wait->end_ns).text + 3);
}

/* Deadlock. */

/* Return the position of the thread in the chain, or -1. */
static int place_in_chain(const struct why *why, const struct waiter *thread)
{
	for (unsigned int i = 0; i < why->depth; i++)
		if (why->chain[i]->wait.thread == thread)
			return (int)i;
	return -1;
}

static void print_cycle(const struct why *why, int first, unsigned int depth)
{
	bool has_ended = false;

	for (unsigned int i = (unsigned int)first; i < why->depth; i++)
		has_ended |= why->chain[i]->wait.has_ended;
	if (has_ended) {
		put_line(why, depth, "%s is explained above.", why->chain[first]->wait.thread->name);
		return;
	}
	put_line(why, depth, "Deadlock: none of these threads can continue.");
	for (unsigned int i = (unsigned int)first; i < why->depth; i++) {
		unsigned int next = i + 1 < why->depth ? i + 1 : (unsigned int)first;
		const struct wait *wait = &why->chain[i]->wait;

		put_line(why, depth + 1,
		     is_for_thread(wait) ? "%s waits for the end of %s, which is %s." :
					   "%s waits for %s, which %s holds.",
		     wait->thread->name, object_words(wait->object).text,
		     why->chain[next]->wait.thread->name);
	}
}

/* What a thread did in a period. */

static void print_chain(struct why *why, const struct kept_wait *is, struct part part,
		       unsigned int depth);

static int compare_begins(const void *a, const void *b)
{
	const struct kept_wait *left = *(const struct kept_wait *const *)a;
	const struct kept_wait *right = *(const struct kept_wait *const *)b;

	return (left->wait.begin_ns > right->wait.begin_ns) -
	       (left->wait.begin_ns < right->wait.begin_ns);
}

/*
 * Choose the waits that take most of the period, at most PRINTED, in order of time.  Return their number.  *rest_ns
 * becomes the time of the period that no stored wait covers.
 */
static unsigned int choose_waits(struct kept *kept, struct part part,
				 const struct kept_wait *chosen[PRINTED], int64_t *rest_ns)
{
	unsigned int nr = 0;

	*rest_ns = part_length(part);
	for (unsigned int i = 0; i < kept->nr_waits; i++) {
		const struct wait *wait = &kept->wait[i].wait;
		int64_t ns = part_length(part_common(part, wait->begin_ns, wait->end_ns));
		unsigned int at;

		*rest_ns -= ns;
		if (ns * SMALL_PART < part_length(part) || ns == 0)
			continue;
		for (at = nr < PRINTED ? nr++ : PRINTED; at > 0; at--) {
			const struct wait *other = &chosen[at - 1]->wait;

			if (ns <= part_length(part_common(part, other->begin_ns, other->end_ns)))
				break;
			if (at < PRINTED)
				chosen[at] = chosen[at - 1];
		}
		if (at < PRINTED)
			chosen[at] = &kept->wait[i];
	}
	qsort(chosen, nr, sizeof(struct kept_wait *), compare_begins);
	return nr;
}

static void print_doings(struct why *why, const struct waiter *thread, struct part part,
			unsigned int depth)
{
	const struct kept_wait *chosen[PRINTED];
	int64_t rest_ns;
	unsigned int nr;
	int first = place_in_chain(why, thread);

	if (first >= 0) {
		print_cycle(why, first, depth);
		return;
	}
	nr = choose_waits(wait_history_of_thread(&why->wait_history, thread), part, chosen,
			  &rest_ns);
	for (unsigned int i = 0; i < nr; i++)
		print_chain(why, chosen[i],
			   part_common(part, chosen[i]->wait.begin_ns, chosen[i]->wait.end_ns),
			   depth);
	if (rest_ns * SMALL_PART < part_length(part))
		return;
	if (rest_ns == part_length(part))
		put_line(why, depth, "%s ran, or was ready to run, all the time.", thread->name);
	else
		put_line(why, depth, "%s ran, or was ready to run, for the other %s.", thread->name,
		     duration(rest_ns).text);
}

/* Holders. */

static int compare_holds(const void *a, const void *b)
{
	const struct kept_hold *left = a, *right = b;

	return (left->hold.since_ns > right->hold.since_ns) -
	       (left->hold.since_ns < right->hold.since_ns);
}

static void print_hold(struct why *why, const struct wait *wait, const struct kept_hold *is,
		      struct part part, unsigned int depth)
{
	const struct hold *hold = &is->hold;
	struct part both = wait_history_part(is, part);
	struct words where = place(why, hold->address);

	put_line(why, depth, "%s was held by %s for %s of that; the thread took it %s%s.",
	     object_words(wait->object).text, hold->thread->name, duration(part_length(both)).text,
	     time_arg(why, hold->since_ns).text, where.text);
	if (wait->priority >= 0 && hold->priority > wait->priority)
		put_line(why, depth, "Priority inversion: %s is more urgent (%d) than %s (%d).",
		     wait->thread->name, wait->priority, hold->thread->name, hold->priority);
	print_doings(why, hold->thread, both, depth + 1);
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return (left->ns < right->ns) - (left->ns > right->ns);
}

/*
 * If threads held the object in many short turns, print the turns together.  Return false if there are few turns, or if
 * a turn was long.  The shares were counted only for the period of the explained wait.  So return false for any other
 * period.
 */
static bool print_turns(const struct why *why, const struct wait *wait, struct kept *kept,
		       struct part part, unsigned int depth)
{
	int64_t longest_ns = 0;
	uint64_t nr = 0;

	for (unsigned int i = 0; i < kept->nr_shares; i++) {
		nr += kept->share[i].nr;
		if (kept->share[i].longest_ns > longest_ns)
			longest_ns = kept->share[i].longest_ns;
	}
	if (nr <= MANY_TURNS || part.from_ns != why->wait_history.all.from_ns ||
	    part.until_ns != why->wait_history.all.until_ns ||
	    longest_ns * FEW_PARTS > part_length(part))
		return false;
	qsort(kept->share, kept->nr_shares, sizeof(kept->share[0]), compare_shares);
	put_line(why, depth,
	     "%s was held by others in %llu turns, the longest of %s; txtrace locks "
	     "reports convoys.",
	     object_words(wait->object).text, (unsigned long long)nr, duration(longest_ns).text);
	for (unsigned int i = 0; i < kept->nr_shares && i < PRINTED; i++)
		put_line(why, depth + 1, "%s held it for %s of that, in %llu turns.",
		     kept->share[i].thread->name, duration(kept->share[i].ns).text,
		     (unsigned long long)kept->share[i].nr);
	return true;
}

/* Print the holders of the object.  Return false if no holder is known. */
static bool print_holds(struct why *why, const struct wait *wait, struct part part,
		       unsigned int depth)
{
	struct kept *kept = wait_history_of_object(&why->wait_history, wait->object);
	int64_t rest_ns = 0;
	unsigned int nr_printed = 0, nr_rest = 0;

	if (print_turns(why, wait, kept, part, depth))
		return true;
	if (kept->nr_holds > 0)
		qsort(kept->hold, kept->nr_holds, sizeof(kept->hold[0]), compare_holds);
	for (unsigned int i = 0; i < kept->nr_holds; i++) {
		int64_t ns = part_length(wait_history_part(&kept->hold[i], part));

		if (kept->hold[i].hold.thread == wait->thread || ns == 0)
			continue;
		if (ns * SMALL_PART < part_length(part) || nr_printed == PRINTED) {
			nr_rest++;
			rest_ns += ns;
			continue;
		}
		nr_printed++;
		print_hold(why, wait, &kept->hold[i], part, depth);
	}
	if (nr_rest > 0)
		put_line(why, depth, "It was held %u other times, %s all together.", nr_rest,
		     duration(rest_ns).text);
	return nr_printed + nr_rest > 0;
}

/* Wakers. */

static bool is_condition(const struct awaited *object)
{
	return strcmp(object->kind, "condition") == 0;
}

static void print_lost_signal(const struct why *why, const struct kept_wait *is, unsigned int depth)
{
	const struct signal *before = &is->wait.before;
	bool is_lost = is_condition(is->wait.object) && before->nr_waiters == 0;

	if (before->nr == 0) {
		put_line(why, depth, "No thread signalled %s, neither before the wait nor during it.",
		     object_words(is->wait.object).text);
		return;
	}
	put_line(why, depth, "%s was signalled %s before the wait began, by %s (%s, %s)%s",
	     object_words(is->wait.object).text, duration(is->wait.begin_ns - before->at_ns).text,
	     before->by->name, before->service, time_arg(why, before->at_ns).text,
	     is_lost ? ", when no thread was waiting; there was no later signal." : "; there was no later signal.");
	if (is_lost)
		put_line(why, depth, "Lost wake-up: a signal has no effect on threads that wait later.");
}

static void print_signals(const struct why *why, const struct kept_wait *is, unsigned int depth)
{
	uint64_t nr = is->after.nr - is->wait.before.nr;

	if (nr == 0) {
		if (!is->wait.waker)
			print_lost_signal(why, is, depth);
		return;
	}
	if (is->wait.waker && is->wait.waker == is->after.by)
		return; /* print_end() prints this case */
	put_line(why, depth, "%s was signalled %llu times during the wait, last by %s (%s, %s).",
	     object_words(is->wait.object).text, (unsigned long long)nr, is->after.by->name,
	     is->after.service, time_arg(why, is->after.at_ns).text);
}

static void print_end(const struct why *why, const struct wait *wait, unsigned int depth)
{
	if (!wait->has_ended)
		return;
	if (wait->waker)
		put_line(why, depth, "%s let %s go on%s%s, %s.", wait->waker->name, wait->thread->name,
		     *wait->waker_service ? ": " : "", wait->waker_service,
		     time_arg(why, wait->end_ns).text);
	else if (wait->result == ETIMEDOUT)
		put_line(why, depth, "It timed out.");
	else if (wait->result != 0)
		put_line(why, depth, "It ended with an error: %s.", call_error_words(wait->result));
}

/* Print a wait, the holders of its object, what these threads waited for, and so on. */
static void print_chain(struct why *why, const struct kept_wait *is, struct part part,
		       unsigned int depth)
{
	const struct wait *wait = &is->wait;
	bool has_holder = false;

	print_wait(why, wait, part, depth);
	if (!wait->object->kind || why->depth == DEPTH_MAX)
		return;
	why->chain[why->depth++] = is;
	if (is_for_thread(wait) && wait->holder) {
		has_holder = true;
		print_doings(why, wait->holder, part, depth + 1);
	} else if (wait->object->is_lock) {
		has_holder = print_holds(why, wait, part, depth + 1);
	}
	if (!has_holder && !is_io(wait) && !wait->object->is_lock)
		print_signals(why, is, depth + 1);
	if (!has_holder && wait->waker && !is_io(wait))
		print_doings(why, wait->waker, part, depth + 1);
	print_end(why, wait, depth + 1);
	why->depth--;
}

static void print_no_wait(const struct why *why)
{
	const char *name = source_context_name(why->source, why->context);
	const struct wait *last = &why->nearest;

	if (!why->at->is_set)
		put_line(why, 0, "%s waited for nothing in this trace.", name);
	else if (why->has_nearest)
		put_line(why, 0, "%s did not wait then. Before, it was %s %s, until %s.", name,
		     duration(last->end_ns - last->begin_ns).text, wait_words(last).text,
		     time_arg(why, last->end_ns).text + 3);
	else
		put_line(why, 0, "%s did not wait then, nor before.", name);
}

/* The first pass: find the wait to explain.  If there is none, print a line and return false. */
static bool find_wait(struct why *why)
{
	static const struct selection all;
	const struct waits_listener listener = {.arg = why, .ended = check_wait};

	waits_read(&why->waits, why->source, &all, &listener);
	if (why->is_found) {
		why->wait_history.number = why->found.number;
		why->wait_history.context = why->context;
		why->wait_history.all = (struct part){why->found.begin_ns, why->found.end_ns};
	} else {
		print_no_wait(why);
	}
	waits_free(&why->waits);
	return why->is_found;
}

bool why_report(struct source *source, const char *thread, const struct time_arg *at,
		struct text *text)
{
	static const struct selection all;
	struct why why = {.source = source, .name = thread, .at = at, .text = text};
	const struct waits_listener listener = {
		.arg = &why.wait_history, .ended = wait_history_wait, .given = wait_history_hold};

	if (!find_thread(&why))
		return false;
	if (!find_wait(&why))
		return true;
	if (!source->file.foreign)
		why.symbols = symbols_of_log(source->trace);
	waits_read(&why.waits, source, &all, &listener);
	if (why.wait_history.target.wait.thread)
		print_chain(&why, &why.wait_history.target, why.wait_history.all, 0);
	else
		message("%s: the file changed between two passes", source->path);
	wait_history_free(&why.wait_history);
	symbols_free(why.symbols);
	waits_free(&why.waits);
	return why.wait_history.target.wait.thread != NULL;
}
