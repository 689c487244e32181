/* SPDX-License-Identifier: MIT */
#include "export/html_why.h"

#include <inttypes.h>

#include "waits/why_all.h"

/* An explanation has about 1 KiB, so the number of waits depends on the number of events: 3 bytes an event. */
#define EVENTS_FOR_WAIT 400
#define LEAST_WAITS 32
#define MOST_WAITS 256

struct output {
	struct text *text;
	const struct source *source;
	bool has_wait, has_line;
};

static void put_wait(void *arg, const struct wait *wait)
{
	struct output *output = arg;

	text_printf(output->text, "%s[%u,%" PRId64 ",[", output->has_wait ? "]],\n" : "",
		    wait->thread->context, wait->begin_ns - output->source->first_ns);
	output->has_wait = true;
	output->has_line = false;
}

static void put_line(void *arg, unsigned int depth, const char *line, const struct why_step *step)
{
	struct output *output = arg;

	text_printf(output->text, "%s[%u,", output->has_line ? "," : "", depth);
	text_json(output->text, line);
	if (step->context != 0)
		text_printf(output->text, ",%u,%u,%" PRId64 ",%" PRId64, step->context,
			    step->object, step->from_ns - output->source->first_ns,
			    step->until_ns - output->source->first_ns);
	text_char(output->text, ']');
	output->has_line = true;
}

void html_put_why(struct text *text, struct source *source, const struct selection *selection,
		  uint64_t nr_events)
{
	struct output output = {.text = text, .source = source};
	const struct why_listener listener = {.arg = &output, .begin = put_wait, .line = put_line};
	uint64_t nr = nr_events / EVENTS_FOR_WAIT;

	text_string(text, "\"why\":[");
	if (nr_events > 0)
		why_all(source, selection,
			nr < LEAST_WAITS ? LEAST_WAITS :
			nr > MOST_WAITS	 ? MOST_WAITS :
					   (size_t)nr,
			&listener);
	text_string(text, output.has_wait ? "]]],\n" : "],\n");
}
