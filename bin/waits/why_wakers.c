/* SPDX-License-Identifier: MIT */
#include "waits/why_wakers.h"

#include <errno.h>
#include <string.h>

#include "trace/calls.h"

static struct why_step step_of_signal(const struct signal *signal)
{
	return why_step(signal->by, signal->at_ns, signal->at_ns);
}

static bool is_condition(const struct awaited *object)
{
	return strcmp(object->kind, "condition") == 0;
}

static void print_lost_signal(const struct why_chain *why, const struct kept_wait *is, unsigned int depth)
{
	const struct signal *before = &is->wait.before;
	bool is_lost = is_condition(is->wait.object) && before->nr_waiters == 0;
	/*
	 * This is also true of an object whose place is known: it may be in memory that another process shares, and
	 * that process may have ended before the recorder found the place of its object.
	 */
	bool may_be_shared = why->doubt.has_processes;
	bool is_sure = !*why->doubt.reasons.text && !may_be_shared;

	if (before->nr == 0)
		why_line(&why->to, depth,
			 "No thread of this trace signalled %s, neither before the wait nor during it.",
			 why_object(is->wait.object).text);
	else
		why_step_line(&why->to, depth, step_of_signal(before),
			 "%s was signalled %s before the wait began, by %s (%s, %s)%s",
			 why_object(is->wait.object).text,
			 why_duration(is->wait.begin_ns - before->at_ns).text, before->by->name,
			 before->service, why_time(&why->to, before->at_ns).text,
			 is_lost ? ", when no thread was waiting; there was no later signal." :
				   "; there was no later signal.");
	if (before->nr == 0 && why->doubt.lacks_beginning)
		why_line(&why->to, depth, "A signal may be older than the trace, which does not show the beginning of "
					  "the program.");
	if (*why->doubt.reasons.text)
		why_line(&why->to, depth, "The trace may lack a signal: %s.", why->doubt.reasons.text);
	if (may_be_shared)
		why_line(&why->to, depth,
			 "If the object is in shared memory, a signal by another process may have another "
			 "name in this trace.");
	if (before->nr > 0 && is_lost)
		why_line(&why->to, depth, "%s a signal has no effect on threads that wait later.",
			 is_sure ? "Lost wake-up:" : "Perhaps a lost wake-up:");
}

void why_wakers_print(const struct why_chain *why, const struct kept_wait *is, unsigned int depth)
{
	uint64_t nr = is->after.nr - is->wait.before.nr;

	if (nr == 0) {
		if (!is->wait.waker)
			print_lost_signal(why, is, depth);
		return;
	}
	if (is->wait.waker && is->wait.waker == is->after.by)
		return; /* print_end() prints this case */
	why_step_line(&why->to, depth, step_of_signal(&is->after),
		      "%s was signalled %llu time%s during the wait, last by %s (%s, %s).",
	     why_object(is->wait.object).text, (unsigned long long)nr, nr == 1 ? "" : "s", is->after.by->name,
	     is->after.service, why_time(&why->to, is->after.at_ns).text);
}

void why_wakers_print_end(const struct why_chain *why, const struct wait *wait, unsigned int depth)
{
	if (!wait->has_ended)
		return;
	if (wait->waker)
		why_step_line(&why->to, depth, why_step(wait->waker, wait->end_ns, wait->end_ns),
			      "%s let %s go on%s%s; the wait ended %s.", wait->waker->name,
			 wait->thread->name, *wait->waker_service ? ": " : "", wait->waker_service,
			 why_time(&why->to, wait->end_ns).text);
	else if (wait->result == ETIMEDOUT)
		why_line(&why->to, depth, "It timed out.");
	else if (wait->result != 0)
		why_line(&why->to, depth, "It ended with an error: %s.", call_error_words(wait->result));
}
