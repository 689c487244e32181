/* SPDX-License-Identifier: MIT */
#include "waits/why_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "waits/why_chain.h"

/* A wait to explain. */
struct question {
	struct why_chain why;
	uint64_t number; /* of the event that begins the wait */
	unsigned int context;
	int64_t begin_ns, end_ns;
	int64_t most_ns; /* the latest end of this question and of those before it */
	uint64_t nr_stored;
	bool is_left_out;
};

struct questions {
	struct question *question;
	size_t nr, most;
	uint64_t nr_stored; /* of all questions */
	struct unseen unseen;
	struct map
		times_of; /* key: context; value: pointer to a struct state_times of the whole trace */
};

/* The first pass chooses the waits: a heap, with the shortest of them at the top. */

static int64_t length_of(const struct question *question)
{
	return question->end_ns - question->begin_ns;
}

/* Of two waits with the same length, the later one is left out. */
static bool is_shorter(const struct question *a, const struct question *b)
{
	return length_of(a) < length_of(b) ||
	       (length_of(a) == length_of(b) && a->number > b->number);
}

static void swap(struct question *a, struct question *b)
{
	struct question old = *a;

	*a = *b;
	*b = old;
}

static void sift_up(struct question *heap, size_t at)
{
	for (; at > 0 && is_shorter(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&heap[at], &heap[(at - 1) / 2]);
}

static void sift_down(struct question *heap, size_t nr)
{
	for (size_t at = 0, next; (next = 2 * at + 1) < nr; at = next) {
		if (next + 1 < nr && is_shorter(&heap[next + 1], &heap[next]))
			next++;
		if (!is_shorter(&heap[next], &heap[at]))
			return;
		swap(&heap[next], &heap[at]);
	}
}

static void choose(void *arg, const struct wait *wait)
{
	struct questions *questions = arg;
	const struct question is = {.number = wait->number,
				    .context = wait->thread->context,
				    .begin_ns = wait->begin_ns,
				    .end_ns = wait->end_ns};

	if (!wait->counts)
		return;
	if (questions->nr < questions->most) {
		questions->question[questions->nr] = is;
		sift_up(questions->question, questions->nr++);
	} else if (is_shorter(&questions->question[0], &is)) {
		questions->question[0] = is;
		sift_down(questions->question, questions->nr);
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct question *left = a, *right = b;

	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

/* The second pass gives each question what happened during its wait. */

static void leave_out(struct questions *questions, struct question *question)
{
	wait_history_free(&question->why.history);
	memset(&question->why.history, 0, sizeof(question->why.history));
	questions->nr_stored -= question->nr_stored;
	question->is_left_out = true;
}

static void count_stored(struct questions *questions, struct question *question)
{
	struct question *most = question;

	question->nr_stored++;
	if (++questions->nr_stored <= STRETCHES)
		return;
	for (size_t i = 0; i < questions->nr; i++)
		if (!questions->question[i].is_left_out &&
		    questions->question[i].nr_stored > most->nr_stored)
			most = &questions->question[i];
	leave_out(questions, most);
}

/*
 * Return the next question, from *at on, whose wait and this period may overlap, or NULL.  At the first call, *at is
 * SIZE_MAX.
 */
static struct question *next_question(struct questions *questions, int64_t from_ns,
				      int64_t until_ns, size_t *at)
{
	size_t first = 0, last = questions->nr;

	if (*at == SIZE_MAX) {
		while (first < last) {
			size_t middle = first + (last - first) / 2;

			if (questions->question[middle].most_ns < from_ns)
				first = middle + 1;
			else
				last = middle;
		}
		*at = first;
	}
	while (*at < questions->nr && questions->question[*at].begin_ns <= until_ns) {
		struct question *question = &questions->question[(*at)++];

		if (!question->is_left_out && question->end_ns >= from_ns)
			return question;
	}
	return NULL;
}

#define EACH(question, arg, from_ns, until_ns)                                                     \
	for (struct {                                                                              \
		     size_t at;                                                                    \
		     struct question *is;                                                          \
	     } each = {SIZE_MAX, NULL};                                                            \
	     (each.is = (question) = next_question(arg, from_ns, until_ns, &each.at)) != NULL;     \
	     count_stored(arg, each.is))

static void take_wait(void *arg, const struct wait *wait)
{
	struct question *question;

	EACH(question, arg, wait->begin_ns, wait->end_ns)
	wait_history_wait(&question->why.history, wait);
}

static void take_stack(void *arg, const struct wait *wait, const struct stack *stack)
{
	struct question *question;

	EACH(question, arg, wait->begin_ns, wait->end_ns)
	wait_history_stack(&question->why.history, wait, stack);
}

static void take_hold(void *arg, const struct hold *hold, int64_t at_ns)
{
	struct question *question;

	EACH(question, arg, hold->since_ns, at_ns)
	wait_history_hold(&question->why.history, hold, at_ns);
}

static void take_unknown(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns)
{
	struct question *question;

	EACH(question, arg, from_ns, until_ns)
	wait_history_unknown(&question->why.history, thread, from_ns, until_ns);
}

static void take_ran(void *arg, const struct waiter *thread, int64_t from_ns, int64_t until_ns,
		     int64_t ran_ns)
{
	struct question *question;

	EACH(question, arg, from_ns, until_ns)
	wait_history_ran(&question->why.history, thread, from_ns, until_ns, ran_ns);
}

static void take_spent(void *arg, const struct sched_thread *thread, const struct waiter *waiter,
		       enum thread_state state, int64_t from_ns, int64_t until_ns)
{
	struct questions *questions = arg;
	struct question *question;
	uint64_t *times;

	unseen_spent(&questions->unseen, thread, waiter, state, from_ns, until_ns);
	if (thread->context != 0) {
		times = map_get(&questions->times_of, thread->context);
		if (!*times)
			*times = (uintptr_t)must(calloc(1, sizeof(struct state_times)));
		units_add(&((struct state_times *)(uintptr_t)*times)->ns[state],
			  until_ns - from_ns);
	}
	EACH(question, arg, from_ns, until_ns)
	wait_history_spent(&question->why.history, thread, waiter, state, from_ns, until_ns);
}

/* Output. */

static void explain(struct questions *questions, struct question *question,
		    const struct why_listener *listener)
{
	struct why_chain *why = &question->why;
	uint64_t times = map_find(&questions->times_of, question->context);

	why_doubt_end(&why->doubt, why->waits);
	if (times)
		why->history.target_times = *(const struct state_times *)(uintptr_t)times;
	listener->begin(listener->arg, &why->history.target.wait);
	why_chain_print(why);
	why_chain_print_times(why);
	why_chain_print_untraced(why, &questions->unseen, question->context);
}

static void prepare(struct questions *questions, const struct why_chain *all)
{
	int64_t most_ns = INT64_MIN;

	if (questions->nr > 0)
		qsort(questions->question, questions->nr, sizeof(*questions->question), by_begin);
	for (size_t i = 0; i < questions->nr; i++) {
		struct question *question = &questions->question[i];

		if (question->end_ns > most_ns)
			most_ns = question->end_ns;
		question->most_ns = most_ns;
		question->why = *all;
		wait_history_begin(&question->why.history);
		question->why.history.number = question->number;
		question->why.history.context = question->context;
		question->why.history.all = (struct part){question->begin_ns, question->end_ns};
	}
}

static void read_again(struct questions *questions, struct source *source,
		       const struct why_listener *listener)
{
	static const struct selection all;
	const struct waits_listener again = {.arg = questions,
					     .ended = take_wait,
					     .stack = take_stack,
					     .given = take_hold,
					     .unknown = take_unknown,
					     .spent = take_spent,
					     .ran = take_ran};
	struct waits waits;
	struct why_chain why = {
		.to = {.source = source, .take = listener->line, .arg = listener->arg},
		.waits = &waits};

	why_doubt_begin(&why.doubt, source);
	if (!source->file.foreign)
		why.to.symbols = symbols_of_log(source->trace);
	prepare(questions, &why);
	unseen_begin(&questions->unseen, &waits, source, &all);
	waits_read(&waits, source, &all, &again);
	unseen_end(&questions->unseen);
	for (size_t i = 0; i < questions->nr; i++) {
		struct question *question = &questions->question[i];

		if (!question->is_left_out && question->why.history.target.wait.thread)
			explain(questions, question, listener);
		wait_history_free(&question->why.history);
	}
	unseen_free(&questions->unseen);
	waits_free(&waits);
	symbols_free(why.to.symbols);
}

void why_all(struct source *source, const struct selection *selection, size_t nr,
	     const struct why_listener *listener)
{
	struct questions questions = {.question = must(calloc(nr + 1, sizeof(struct question))),
				      .most = nr};
	const struct waits_listener first = {.arg = &questions, .ended = choose};
	struct waits waits;

	waits_read(&waits, source, selection, &first);
	waits_free(&waits);
	if (questions.nr > 0)
		read_again(&questions, source, listener);
	for (size_t i = 0; i < questions.times_of.nr_places; i++)
		free((void *)(uintptr_t)questions.times_of.place[i].value);
	map_free(&questions.times_of);
	free(questions.question);
}
