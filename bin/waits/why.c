/* SPDX-License-Identifier: MIT */
/*
 * The code reads the file twice.  The first pass finds the wait to explain (why_choice.h).  The second pass stores what
 * happened during that wait (wait_history.h).  Then the explanation goes from the waiting thread to the holder of the
 * object, then to the wait of this holder, and so on (why_chain.h).
 */
#include "waits/why.h"

#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "trace/selection.h"
#include "waits/why_chain.h"
#include "waits/why_choice.h"

static void print_no_wait(const struct why_words *to, const struct why_choice *choice, bool has_time)
{
	const char *name = source_context_name(to->source, choice->context);
	const struct wait *last = &choice->nearest, *broken = &choice->broken;
	const struct words untraced = why_untraced(&choice->unseen, choice->context);

	if (!choice->has_thread)
		why_line(to, 0, *untraced.text ? "This trace has no recorded wait." :
						 "No thread waited for anything in this trace.");
	else if (choice->has_broken && (!has_time || !choice->has_nearest || broken->begin_ns > last->begin_ns))
		why_line(to, 0, "%s was %s from %s on. The trace lacks the end of this wait.", name,
			 why_wait(broken->state, broken->object, broken->service).text,
			 why_time(to, broken->begin_ns).text + 3);
	else if (!has_time)
		why_line(to, 0, *untraced.text ? "%s has no recorded wait in this trace." :
						 "%s waited for nothing in this trace.",
			 name);
	else if (choice->has_nearest)
		why_line(to, 0, "%s did not wait then. Before, it was %s %s, until %s.", name,
			 why_duration(last->end_ns - last->begin_ns).text,
			 why_wait(last->state, last->object, last->service).text,
			 why_time(to, last->end_ns).text + 3);
	else
		why_line(to, 0, "%s did not wait then, nor before.", name);
	if (*untraced.text)
		why_line(to, 0, "%s.", untraced.text);
}

/* Say that another single wait of the thread was longer than those that are explained. */
static void print_longest(const struct why_words *to, const struct why_choice *choice)
{
	const struct wait *longest = &choice->longest;

	if (choice->cost.nr > 0 && longest->object != choice->found.object)
		why_line(to, 0, "Its longest single wait was another: %s %s, from %s on.",
			 why_duration(longest->end_ns - longest->begin_ns).text,
			 why_wait(longest->state, longest->object, longest->service).text,
			 why_time(to, longest->begin_ns).text + 3);
}

/* The second pass. */

static bool explain(struct source *source, const struct why_choice *choice, struct why_chain *why)
{
	static const struct selection all;
	const struct waits_listener listener = {.arg = &why->history,
						.ended = wait_history_wait,
						.stack = wait_history_stack,
						.given = wait_history_hold,
						.unknown = wait_history_unknown,
						.spent = wait_history_spent,
						.ran = wait_history_ran};
	struct waits waits;

	why->waits = &waits;
	wait_history_begin(&why->history);
	why->history.number = choice->found.number;
	why->history.context = choice->context;
	why->history.all = (struct part){choice->found.begin_ns, choice->found.end_ns};
	why->history.has_cost = choice->cost.nr > 1;
	why->history.cost_object = choice->found.object->index;
	waits_read(&waits, source, &all, &listener);
	why_doubt_end(&why->doubt, &waits);
	if (why->history.target.wait.thread) {
		if (choice->cost.nr > 1)
			why_chain_print_cost(why, &choice->found, choice->cost.nr, choice->cost.ns);
		why_chain_print(why);
		print_longest(&why->to, choice);
		why_chain_print_times(why);
		why_chain_print_untraced(why, &choice->unseen, choice->context);
	} else {
		message("%s: the file changed between two passes", source->path);
	}
	wait_history_free(&why->history);
	waits_free(&waits);
	return why->history.target.wait.thread != NULL;
}

/* The wait, and then the explanation as lines. */
static void begin_json(struct why_chain *why, const struct why_choice *choice, struct json *json)
{
	const struct source *source = why->to.source;

	why->to.json = json;
	json_begin(json, why->to.text);
	json_string(json, "file", source->path);
	if (choice->is_found) {
		json_string(json, "thread", source_context_name(source, choice->context));
		json_string(json, "object", choice->found.object->name);
		json_number(json, "number", choice->found.number);
		json_key(json, "start_s");
		text_seconds(why->to.text, choice->found.begin_ns - source->first_ns, 0);
		json_key(json, "duration_s");
		text_seconds(why->to.text, choice->found.end_ns - choice->found.begin_ns, 0);
	}
	json_array(json, "lines");
}

bool why_report(struct source *source, const char *thread, const struct time_arg *at,
		struct text *text, bool is_json)
{
	struct why_chain why = {.to = {.source = source, .text = text}};
	struct why_choice choice;
	struct json json;
	bool is_fine = true;

	why_doubt_begin(&why.doubt, source);
	if (!why_choose(source, thread, at, &choice)) {
		is_fine = false;
	} else {
		if (is_json)
			begin_json(&why, &choice, &json);
		if (!source->file.foreign)
			why.to.symbols = symbols_of_log(source->trace);
		if (choice.is_found)
			is_fine = explain(source, &choice, &why);
		else
			print_no_wait(&why.to, &choice, at->is_set);
		symbols_free(why.to.symbols);
		if (is_json) {
			json_close(&json);
			json_end(&json);
		}
	}
	why_choice_free(&choice);
	return is_fine;
}
