/* SPDX-License-Identifier: MIT */
#include "waits/why_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/when.h"
#include "trace/programs.h"
#include "trace/states.h"
#include "waits/periods.h"

__attribute__((format(printf, 4, 0))) static void put_line(const struct why_words *to, unsigned int depth,
							   struct why_step step, const char *format, va_list list)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, list);
	if (to->take) {
		to->take(to->arg, depth, line, &step);
		return;
	}
	if (to->json) {
		json_object(to->json, NULL);
		json_number(to->json, "depth", depth);
		json_string(to->json, "text", line);
		json_close(to->json);
		return;
	}
	for (unsigned int i = 0; i < depth; i++)
		text_string(to->text, "  ");
	text_plain(to->text, line, 0);
	text_char(to->text, '\n');
}

void why_line(const struct why_words *to, unsigned int depth, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	put_line(to, depth, (struct why_step){.context = 0}, format, list);
	va_end(list);
}

void why_step_line(const struct why_words *to, unsigned int depth, struct why_step step, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	put_line(to, depth, step, format, list);
	va_end(list);
}

struct why_step why_step(const struct waiter *thread, int64_t from_ns, int64_t until_ns)
{
	return (struct why_step){.context = thread->context, .from_ns = from_ns, .until_ns = until_ns};
}

struct words why_duration(int64_t ns)
{
	struct words words;

	units_duration(words.text, sizeof(words.text), ns);
	return words;
}

struct words why_time(const struct why_words *to, int64_t time_ns)
{
	int64_t ns = time_ns - to->source->first_ns;
	struct words words;
	char text[WHEN_BYTES];

	if (!when_is_relative() && !to->source->file.foreign) {
		when_write(text, time_ns);
		snprintf(words.text, sizeof(words.text), "at %s", text);
		return words;
	}
	snprintf(words.text, sizeof(words.text), "at %s%lld.%06lld s", ns < 0 ? "-" : "",
		 llabs(ns) / NS_PER_S, llabs(ns) % NS_PER_S / 1000);
	return words;
}

struct words why_since(const struct why_words *to, const struct waits *waits, int64_t since_ns)
{
	if (since_ns != LONG_AGO)
		return why_time(to, since_ns);
	if (waits->nr_counted > 0)
		return (struct words){"before the trace began, or in a call that was counted and not recorded"};
	return waits->nr_gaps > 0 ? (struct words){"before the trace began, or in a gap of the trace"} :
				    (struct words){"before the trace began"};
}

struct words why_place(const struct why_words *to, uint64_t address)
{
	const char *name = to->symbols && address ? symbols_code(to->symbols, address) : NULL;
	struct words words = {""};

	if (name)
		snprintf(words.text, sizeof(words.text), " (at %s)", name);
	else if (address != 0)
		snprintf(words.text, sizeof(words.text), " (at 0x%llx)",
			 (unsigned long long)code_address(address));
	return words;
}

static void add_state(struct words *words, const char *label, int64_t ns)
{
	size_t used = strlen(words->text);

	if (ns > 0)
		snprintf(words->text + used, sizeof(words->text) - used, "%s%s%.32s", used > 0 ? ", " : "", label,
			 why_duration(ns).text);
}

struct words why_states(const struct state_times *times)
{
	struct words words = {""};

	add_state(&words, "ran for ", times->ns[THREAD_RUNNING]);
	add_state(&words, "was ready without a CPU for ", state_times_ready(times));
	add_state(&words, "was blocked for ", times->ns[THREAD_BLOCKED]);
	add_state(&words, "did what is not known for ", times->ns[THREAD_UNKNOWN]);
	return words;
}

struct words why_untraced(const struct unseen *unseen, unsigned int context)
{
	const struct unseen_row *most = unseen_most(unseen, context);
	struct words words = {""};
	char text[UNSEEN_NAME_BYTES];

	/* Without calls, no thread has events of its own. */
	if (!most && context == 0 && unseen->waits->nr_calls == 0) {
		const struct sched_thread *thread = thread_states_most_blocked(&unseen->waits->states);
		char name[PERIODS_NAME];

		if (thread)
			snprintf(words.text, sizeof(words.text), "%.120s was blocked for %.40s",
				 periods_thread_name(unseen->waits, thread, name),
				 why_duration(thread->times.ns[THREAD_BLOCKED]).text);
	} else if (most && unseen->waits->nr_gaps == 0)
		snprintf(words.text, sizeof(words.text), "%.120s was blocked for %.40s outside of recorded waits",
			 unseen_name(unseen, most, text), why_duration(most->durations.sum).text);
	return words;
}

struct words why_object(const struct awaited *object)
{
	struct words words;

	waits_describe(object, words.text, sizeof(words.text));
	return words;
}

static bool is_thread(const struct awaited *object)
{
	return object->kind && strcmp(object->kind, "thread") == 0;
}

bool why_is_for_thread(const struct wait *wait)
{
	return is_thread(wait->object);
}

bool why_is_io(const struct wait *wait)
{
	return wait->state == STATE_NET && wait->object->kind;
}

struct words why_wait(unsigned int state, const struct awaited *object, const char *service)
{
	struct words words, name;

	if (!object->kind && !*service) {
		snprintf(words.text, sizeof(words.text), "%s%s",
			 state == STATE_SUSPENDED ? "suspended" : "waiting for ",
			 state == STATE_SUSPENDED ? "" : states[state].kind);
		return words;
	}
	if (!object->kind) {
		snprintf(words.text, sizeof(words.text), "%s (%s)",
			 state == STATE_SLEEP ? "asleep" : "waiting", service);
		return words;
	}
	name = why_object(object);
	if (is_thread(object))
		snprintf(words.text, sizeof(words.text), "waiting for the end of %.99s (%s)",
			 name.text, service);
	else if (!*service)
		snprintf(words.text, sizeof(words.text), "waiting for %.99s", name.text);
	else if (state == STATE_NET)
		snprintf(words.text, sizeof(words.text), "in %s of %.99s", service, name.text);
	else
		snprintf(words.text, sizeof(words.text), "waiting for %.99s (%s)", name.text,
			 service);
	return words;
}
