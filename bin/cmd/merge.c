/* SPDX-License-Identifier: MIT */
/* txtrace merge: several traces in one trace buffer, in the order of time. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/message.h"
#include "cli/command.h"
#include "trace/filter.h"
#include "trace/source.h"
#include "trx/trx.h"

enum { OPTION_OFFSET = OPTION_OWN };

static const struct option_row options[] = {
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	{OPTION_OFFSET, "offset", "FILE=TIME", "when a trace begins, or how much it is moved"},
	OPTION_ROW_FILTER,
	{OPTION_SPLIT, "split", NULL, "a file for each 200000 events"},
	{OPTION_PER_CORE, "per-core", NULL, "a file for each CPU"},
	OPTION_ROW_TICK,
	OPTIONS_END,
};

struct offset {
	const char *file; /* up to the = */
	size_t length;
	struct moment moment;
	bool is_used;
};

struct order {
	struct selection selection;
	struct trx_order trx;
	struct offset offset[TRX_INPUTS_MAX];
	unsigned int nr_offsets;
};

struct input {
	struct source *source;
	char *label;
	struct event event; /* the next one */
	bool has_event;
	int64_t shift_ns; /* what its times are moved by */
};

static struct input inputs[TRX_INPUTS_MAX];
static unsigned int nr_inputs;

/* Where files begin. */

static struct offset *find_offset(struct order *order, const char *path)
{
	for (unsigned int i = 0; i < order->nr_offsets; i++) {
		struct offset *offset = &order->offset[i];

		if (strlen(path) == offset->length &&
		    memcmp(path, offset->file, offset->length) == 0) {
			offset->is_used = true;
			return offset;
		}
	}
	return NULL;
}

/* A time of day is one of the day on which the trace begins, as far as that is known. */
static int64_t date_of(const struct offset *offset, const struct source *source)
{
	const struct source day = {.first_ns = source->first_ns + source->base_ns};

	return moment_ns(&offset->moment, &day);
}

/* Where a trace begins that can tell it: a log, or one with a date.  False: it cannot. */
static bool own_begin(struct order *order, const struct input *input, int64_t *begin)
{
	const struct offset *offset = find_offset(order, input->source->path);

	if (offset && !offset->moment.is_relative)
		*begin = date_of(offset, input->source);
	else
		*begin = input->source->first_ns + (offset ? offset->moment.ns : 0);
	return !input->source->file.foreign || (offset && !offset->moment.is_relative);
}

/* All others begin when the first of these does, or so long after that; if there are none, at 0. */
static void place_all(struct order *order)
{
	int64_t common = 0, begin;
	bool is_dated = false;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		if (!inputs[i].has_event || !own_begin(order, &inputs[i], &begin))
			continue;
		common = is_dated && common < begin ? common : begin;
		is_dated = true;
	}
	for (unsigned int i = 0; i < nr_inputs; i++) {
		struct input *input = &inputs[i];

		if (!own_begin(order, input, &begin))
			begin += common; /* first_ns is 0 where there is no date */
		input->shift_ns = begin - input->source->first_ns;
	}
	order->trx.epoch_ns = is_dated ? 0 : inputs[0].source->base_ns;
}

/* False: one is of no file, and that was said. */
static bool check_offsets(const struct order *order)
{
	for (unsigned int i = 0; i < order->nr_offsets; i++) {
		const struct offset *offset = &order->offset[i];

		if (offset->is_used)
			continue;
		say("--offset: %.*s is not among the files", (int)offset->length, offset->file);
		return false;
	}
	return true;
}

/* Reading. */

static void read_next(const struct order *order, struct input *input)
{
	input->has_event = selection_next(&order->selection, input->source, &input->event);
}

/* The name of a file without directories and suffix. */
static char *label_of(const char *path)
{
	const char *name = name_of(path);

	return strndup(name, length_without_suffix(name));
}

static bool open_input(const struct order *order, struct input *input, const char *path)
{
	input->source = source_open_mixed(path, order->selection.tick_ns);
	input->label = label_of(path);
	if (!input->source || !input->label)
		return false;
	source_tell_losses(input->source);
	source_expand(input->source);
	return true;
}

static struct input *oldest_input(void)
{
	struct input *oldest = NULL;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		struct input *input = &inputs[i];

		if (input->has_event &&
		    (!oldest || input->event.time_ns + input->shift_ns <
					oldest->event.time_ns + oldest->shift_ns))
			oldest = input;
	}
	return oldest;
}

static void put_all(const struct order *order, struct trx *trx)
{
	struct input *input;
	uint64_t nr_events = 0;

	while ((input = oldest_input())) {
		trx_put(trx, (unsigned int)(input - inputs), &input->event,
			input->event.time_ns + input->shift_ns);
		read_next(order, input);
		if (++nr_events % 65536 == 0)
			progress("merging", nr_events, 0);
	}
	progress_end();
}

/* A trace buffer keeps its tick, unless another trace needs a shorter one. */
static double choose_tick(void)
{
	double tick_ns = 0;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		const struct txtrace_file_info *file = &inputs[i].source->file;
		double own = file->foreign && file->tick_ns >= 1 ? file->tick_ns : 1;

		if (tick_ns == 0 || own < tick_ns)
			tick_ns = own;
	}
	return tick_ns;
}

static bool write_merged(struct order *order)
{
	static struct trx trx;
	bool is_fine = trx_begin(&trx, order->trx.output);

	if (!is_fine)
		return false;
	for (unsigned int i = 0; i < nr_inputs; i++)
		trx_add_source(&trx, inputs[i].source, inputs[i].label);
	put_all(order, &trx);
	order->trx.tick_ns = choose_tick();
	is_fine = trx_write(&trx, &order->trx);
	trx_free(&trx);
	return is_fine;
}

static bool is_input(const char *output)
{
	for (unsigned int i = 0; i < nr_inputs; i++)
		if (is_same_file(inputs[i].source->path, output)) {
			say("%s would be written over itself", output);
			return true;
		}
	return false;
}

static int merge_files(struct order *order, int n, char **paths)
{
	bool is_fine = true;

	for (int i = 0; is_fine && i < n; i++) {
		is_fine = open_input(order, &inputs[i], paths[i]);
		nr_inputs++;
		if (is_fine)
			read_next(order, &inputs[i]);
	}
	if (is_fine)
		place_all(order);
	is_fine = is_fine && check_offsets(order) && !is_input(order->trx.output) &&
		  write_merged(order);
	for (unsigned int i = 0; i < nr_inputs; i++) {
		source_close(inputs[i].source);
		free(inputs[i].label);
	}
	return is_fine ? EXIT_FINE : EXIT_TROUBLE;
}

/* Options. */

static bool read_offset(struct order *order, const char *argument)
{
	struct offset *offset = &order->offset[order->nr_offsets];
	const char *equals = strrchr(argument, '=');

	if (!equals || equals == argument) {
		say("--offset is FILE=TIME, not %s", argument);
		return false;
	}
	if (order->nr_offsets == TRX_INPUTS_MAX) {
		say("--offset is for %d files at most", TRX_INPUTS_MAX);
		return false;
	}
	offset->file = argument;
	offset->length = (size_t)(equals - argument);
	order->nr_offsets++;
	return moment_parse(equals + 1, &offset->moment);
}

/* False: something is wrong, and that was said. */
static bool read_option(struct order *order, int code)
{
	int taken = selection_option(&order->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case 'o':
		order->trx.output = optarg;
		return true;
	case OPTION_FORCE:
		return order->trx.overwrites = true;
	case OPTION_OFFSET:
		return read_offset(order, optarg);
	case OPTION_SPLIT:
		return order->trx.splits = true;
	case OPTION_PER_CORE:
		return order->trx.per_core = true;
	default:
		return false;
	}
}

static bool check_order(const struct order *order, int nr_files)
{
	if (!order->trx.output)
		say("merge needs -o FILE; see txtrace merge --help");
	else if (nr_files < 2)
		say("merge takes two files or more; see txtrace merge --help");
	else if (nr_files > TRX_INPUTS_MAX)
		say("merge takes %d files at most", TRX_INPUTS_MAX);
	else if (strcmp(order->trx.output, "-") == 0 && (order->trx.splits || order->trx.per_core))
		say("more than one file needs a name for them");
	else
		return true;
	return false;
}

static int run(int argc, char **argv)
{
	static struct order order;
	int code;

	while ((code = options_next(&cmd_merge, argc, argv)) != -1)
		if (!read_option(&order, code))
			return EXIT_TROUBLE;
	if (!check_order(&order, argc - optind))
		return EXIT_TROUBLE;
	code = merge_files(&order, argc - optind, argv + optind);
	selection_free(&order.selection);
	return code;
}

const struct command cmd_merge = {
	.name = "merge",
	.arguments = "FILE FILE...",
	.summary = "put several traces into one, in the order of time",
	.options = options,
	.run = run,
};
