/* SPDX-License-Identifier: MIT */
/* txtrace merge: write the events of several traces to one log or trace buffer, sorted by time. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "cli/command.h"
#include "cmd/merge_clocks.h"
#include "cmd/merge_log.h"
#include "cmd/merge_twice.h"
#include "report/messages.h"
#include "trace/calls.h"
#include "trace/origins.h"
#include "trace/selection.h"
#include "trace/source.h"
#include "trx/trx.h"

enum { OPTION_OFFSET = OPTION_OWN, OPTION_MESSAGE, OPTION_TO };

enum { TO_CHOSEN, TO_LOG, TO_TRX };

#define FILES_MAX 4096

static const struct option_row option_rows[] = {
	OPTION_ROW_OUTPUT,
	OPTION_ROW_FORCE,
	{OPTION_TO, "to", "log|trx", "a log (usual if all files are logs), or a trace buffer"},
	{OPTION_OFFSET, "offset", "FILE=TIME", "start time of a trace, or a shift in time"},
	{OPTION_MESSAGE, "message", "S..R:FIELD", "correct the clocks: the events of messages"},
	OPTION_ROW_FILTER,
	OPTION_ROWS_TYPE,
	{OPTION_SPLIT, "split", NULL, "a file for each 200000 events"},
	{OPTION_PER_CORE, "per-core", NULL, "a file for each CPU"},
	OPTION_ROWS_THREADX,
	OPTIONS_END,
};

struct offset {
	const char *file; /* the file name before the "=" */
	size_t length;
	struct time_arg time_arg;
	bool is_used;
};

struct options {
	struct selection selection;
	struct trx_options trx;
	struct offset *offset;
	unsigned int nr_offsets;
	struct spans messages;
	int to;
	bool is_log; /* the output is a log */
	bool is_placed_by_sockets;
};

struct input {
	const char *path;
	struct source *source; /* NULL: it is closed, because there are many files */
	char *label;
	/* Facts of the file, which stay known when it is closed. */
	bool is_foreign, is_empty;
	int64_t first_ns, base_ns;
	struct event event; /* the next event */
	bool has_event;
	int64_t time_ns; /* of this event, in the merged trace */
};

static struct input *inputs;
static struct messages_file *placed; /* for each input */
static struct merge_clock *clocks;   /* for each input */
static unsigned int nr_inputs;

/* Start times of the files. */

static struct offset *find_offset(struct options *options, const char *path)
{
	for (unsigned int i = 0; i < options->nr_offsets; i++) {
		struct offset *offset = &options->offset[i];

		if (strlen(path) == offset->length &&
		    memcmp(path, offset->file, offset->length) == 0) {
			offset->is_used = true;
			return offset;
		}
	}
	return NULL;
}

/*
 * Return the time of an offset. A time of day without a date belongs to the day on which the trace begins, if this day
 * is known.
 */
static int64_t date_of(const struct offset *offset, const struct input *input)
{
	const struct source day = {.first_ns = input->first_ns + input->base_ns};

	return time_arg_ns(&offset->time_arg, &day);
}

/* Get the start time of a log, or of a buffer with --offset. Return false if it is unknown. */
static bool own_begin(struct options *options, const struct input *input, int64_t *begin)
{
	const struct offset *offset = find_offset(options, input->path);

	if (offset && !offset->time_arg.is_relative)
		*begin = date_of(offset, input);
	else
		*begin = input->first_ns + (offset ? offset->time_arg.ns : 0);
	return !input->is_foreign || (offset && !offset->time_arg.is_relative);
}

/*
 * Compute the time shift of each trace. A trace without a known start time begins at the earliest known start time plus
 * its offset. If no start time is known, use 0.
 */
static void place_all(struct options *options)
{
	int64_t common = 0, begin;
	bool is_dated = false;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		if (inputs[i].is_empty || !own_begin(options, &inputs[i], &begin))
			continue;
		common = is_dated && common < begin ? common : begin;
		is_dated = true;
	}
	for (unsigned int i = 0; i < nr_inputs; i++) {
		struct input *input = &inputs[i];

		clocks[i].is_set_by_user = find_offset(options, input->path) != NULL;
		if (!own_begin(options, input, &begin))
			begin += common; /* in a trace without a date, first_ns is 0 */
		placed[i] = (struct messages_file){.path = input->path,
						   .source = input->source,
						   .shift_ns = begin - input->first_ns,
						   .clock = i,
						   .uncertainty_ns = -1};
	}
	options->trx.epoch_ns = is_dated ? 0 : inputs[0].base_ns;
}

/* If an offset names a file that is not merged, print a message and return false. */
static bool check_offsets(const struct options *options)
{
	for (unsigned int i = 0; i < options->nr_offsets; i++) {
		const struct offset *offset = &options->offset[i];

		if (offset->is_used)
			continue;
		message("--offset: %.*s is not among the files", (int)offset->length, offset->file);
		return false;
	}
	return true;
}

/* Reading. */

static void read_next(const struct options *options, struct input *input)
{
	input->has_event = selection_next(&options->selection, input->source, &input->event);
	if (input->has_event)
		input->time_ns = messages_time(&placed[input - inputs], input->event.time_ns);
}

/* To place a file, its first event is needed, and to correct its clock, all events. */
/* Connections can tell of files that have one clock each, if the user says nothing else. */
static bool may_use_sockets(const struct options *options)
{
	for (unsigned int i = 0; i < nr_inputs; i++)
		if (clocks[i].is_merged)
			return false;
	return options->nr_offsets == 0 && merge_clocks_differ(clocks, nr_inputs);
}

static bool place_by_sockets(struct options *options)
{
	merge_clocks_share(clocks, placed, nr_inputs);
	return messages_place_by_sockets(placed, nr_inputs, &options->is_placed_by_sockets);
}

/* A log has times from 1970 to 2116. */
#define TIMES_END ((int64_t)1 << 62)

static bool check_begins(struct options *options)
{
	for (unsigned int i = 0; i < nr_inputs; i++) {
		int64_t begin = inputs[i].first_ns + placed[i].shift_ns;

		if (inputs[i].is_empty || inputs[i].is_foreign || !find_offset(options, inputs[i].path) ||
		    (begin >= 0 && begin < TIMES_END))
			continue;
		message("--offset: the first event of %s would be before 1970 or after 2116", inputs[i].path);
		return false;
	}
	return true;
}

static bool place_inputs(struct options *options)
{
	place_all(options);
	if (!check_begins(options))
		return false;
	merge_clocks_tell(clocks, placed, nr_inputs);
	if (options->messages.nr > 0)
		return messages_place(&options->messages, placed, nr_inputs);
	if (may_use_sockets(options) && !place_by_sockets(options))
		return false;
	if (!options->is_placed_by_sockets)
		merge_clocks_place(clocks, placed, nr_inputs);
	return true;
}

/* Return the name of a file without directories and suffix. */
static char *label_of(const char *path)
{
	const char *name = name_of(path);

	return strndup(name, length_without_suffix(name));
}

/* Open a file, and note the facts of it. */
static bool open_input(const struct options *options, struct input *input, const char *path)
{
	struct event event;

	input->path = path;
	input->source = source_open_mixed(path, options->selection.tick_ns);
	input->label = label_of(path);
	if (!input->source || !input->label)
		return false;
	source_report_losses(input->source);
	input->is_foreign = input->source->file.foreign;
	input->is_empty = !source_next(input->source, &event);
	input->first_ns = input->source->first_ns;
	input->base_ns = input->source->base_ns;
	source_rewind(input->source);
	clocks[input - inputs] = merge_clock_of(input->source);
	return true;
}

static void close_input(struct input *input)
{
	source_close(input->source);
	input->source = NULL;
}

/* A trace buffer is made from all files at once. */
static bool open_again(const struct options *options)
{
	for (unsigned int i = 0; i < nr_inputs; i++) {
		if (!inputs[i].source)
			inputs[i].source = source_open_mixed(inputs[i].path, options->selection.tick_ns);
		if (!inputs[i].source)
			return false;
	}
	return true;
}

/* Only trace buffers have ticks. */
static void check_tick(const struct options *options, bool has_foreign)
{
	if (options->selection.tick_ns > 0 && !has_foreign)
		message("--tick changes nothing: no file is a trace buffer");
}

/* Decide whether the output is a log. */
static bool choose_output(struct options *options)
{
	const char *foreign = NULL;

	for (unsigned int i = 0; i < nr_inputs; i++)
		if (inputs[i].is_foreign && !foreign)
			foreign = inputs[i].path;
	check_tick(options, foreign != NULL);
	options->is_log = options->to == TO_LOG ||
			  (options->to == TO_CHOSEN && !foreign && !options->trx.splits && !options->trx.per_core);
	if (options->is_log && foreign)
		message("%s is a trace buffer, which has no times for a log: use --to trx", foreign);
	else if (options->is_log && (options->trx.splits || options->trx.per_core))
		message("--split and --per-core need --to trx");
	else if (!options->is_log && nr_inputs > TRX_INPUTS_MAX)
		message("merge --to trx takes %d files at most", TRX_INPUTS_MAX);
	else
		return options->is_log || open_again(options);
	return false;
}

static struct input *oldest_input(void)
{
	struct input *oldest = NULL;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		struct input *input = &inputs[i];

		if (input->has_event &&
		    (!oldest || input->time_ns < oldest->time_ns))
			oldest = input;
	}
	return oldest;
}

static void put_all(const struct options *options, struct trx *trx)
{
	struct input *input;
	uint64_t nr_events = 0;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		calls_expand(inputs[i].source);
		read_next(options, &inputs[i]);
	}

	while ((input = oldest_input())) {
		trx_put(trx, (unsigned int)(input - inputs), &input->event, input->time_ns);
		read_next(options, input);
		if (++nr_events % 65536 == 0)
			progress("merging", nr_events, 0);
	}
	progress_end();
}

/* Keep the tick of a trace buffer. If another trace needs a shorter tick, use the shorter tick. */
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

/* Two hosts have CPUs with the same numbers, and the file of a CPU must not mix their events. */
static bool has_several_hosts(void)
{
	const char *host = NULL;

	for (unsigned int i = 0; i < nr_inputs; i++) {
		if (source_nr_hosts(inputs[i].source) > 1 ||
		    (host && clocks[i].host[0] != '\0' && strcmp(clocks[i].host, host) != 0))
			return true;
		if (clocks[i].host[0] != '\0')
			host = clocks[i].host;
	}
	return false;
}

static bool write_merged(struct options *options)
{
	static struct trx trx;
	bool is_fine;

	if (options->trx.per_core && has_several_hosts()) {
		message("--per-core: the files are of several hosts, and their CPUs have the same numbers");
		return false;
	}
	is_fine = trx_begin(&trx, options->trx.output);
	if (!is_fine)
		return false;
	for (unsigned int i = 0; i < nr_inputs; i++)
		trx_add_source(&trx, inputs[i].source, inputs[i].label);
	put_all(options, &trx);
	options->trx.tick_ns = choose_tick();
	is_fine = trx_write(&trx, &options->trx);
	trx_free(&trx);
	return is_fine;
}

static bool is_input(const char *output)
{
	for (unsigned int i = 0; i < nr_inputs; i++)
		if (is_same_file(inputs[i].path, output)) {
			message("%s is an input file; the output needs another name", output);
			return true;
		}
	return false;
}

static bool write_log(const struct options *options)
{
	const struct merge_log merge = {.output = options->trx.output,
					.overwrites = options->trx.overwrites,
					.selection = &options->selection,
					.files = placed,
					.nr_files = nr_inputs};

	return merge_log_write(&merge);
}

static bool begin_selection(const struct options *options)
{
	struct source *sources[TRX_INPUTS_MAX];

	for (unsigned int i = 0; i < nr_inputs; i++)
		sources[i] = inputs[i].source;
	return selection_begin(&options->selection, sources, nr_inputs);
}

static int merge_files(struct options *options, int n, char **paths)
{
	bool is_fine = true;

	inputs = must(calloc((size_t)n, sizeof(*inputs)));
	placed = must(calloc((size_t)n, sizeof(*placed)));
	clocks = must(calloc((size_t)n, sizeof(*clocks)));
	for (int i = 0; is_fine && i < n; i++) {
		is_fine = open_input(options, &inputs[i], paths[i]);
		nr_inputs++;
		if (n > MERGE_AT_ONCE)
			close_input(&inputs[i]);
	}
	is_fine = is_fine && choose_output(options) && (options->is_log || begin_selection(options)) &&
		  place_inputs(options) && check_offsets(options) && !is_input(options->trx.output) &&
		  merge_twice_check(placed, nr_inputs) &&
		  (options->is_log ? write_log(options) : write_merged(options));
	if (is_fine && options->messages.nr == 0 && !options->is_placed_by_sockets)
		merge_clocks_report(clocks, placed, nr_inputs);
	for (unsigned int i = 0; i < nr_inputs; i++) {
		close_input(&inputs[i]);
		free(inputs[i].label);
	}
	free(inputs);
	free(placed);
	free(clocks);
	return is_fine ? EXIT_FINE : EXIT_TROUBLE;
}

/* Options. */

static bool has_offset(const struct options *options, const char *file, size_t length)
{
	for (unsigned int i = 0; i < options->nr_offsets; i++)
		if (options->offset[i].length == length && memcmp(options->offset[i].file, file, length) == 0)
			return true;
	return false;
}

static bool read_offset(struct options *options, const char *argument)
{
	const char *equals = strrchr(argument, '=');
	struct offset *offset;

	if (!equals || equals == argument) {
		message("--offset takes FILE=TIME, not %s", argument);
		return false;
	}
	if (has_offset(options, argument, (size_t)(equals - argument))) {
		message("--offset is given twice for %.*s", (int)(equals - argument), argument);
		return false;
	}
	options->offset = must(reallocarray(options->offset, options->nr_offsets + 1, sizeof(*offset)));
	offset = &options->offset[options->nr_offsets++];
	*offset = (struct offset){.file = argument, .length = (size_t)(equals - argument)};
	return time_arg_parse(equals + 1, &offset->time_arg);
}

static bool read_output_kind(struct options *options, const char *argument)
{
	options->to = strcmp(argument, "log") == 0 ? TO_LOG : strcmp(argument, "trx") == 0 ? TO_TRX : TO_CHOSEN;
	if (options->to == TO_CHOSEN)
		message("--to takes log or trx, not %s", argument);
	return options->to != TO_CHOSEN;
}

/* After an error, print a message and return false. */
static bool read_option(void *argument, int code)
{
	struct options *options = argument;
	int taken = selection_option(&options->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case 'o':
		options->trx.output = optarg;
		return true;
	case OPTION_FORCE:
		return options->trx.overwrites = true;
	case OPTION_TO:
		return read_output_kind(options, optarg);
	case OPTION_OFFSET:
		return read_offset(options, optarg);
	case OPTION_MESSAGE:
		return spans_add_message(&options->messages, optarg);
	case OPTION_SPLIT:
		return options->trx.splits = true;
	case OPTION_PER_CORE:
		return options->trx.per_core = true;
	default:
		return false;
	}
}

static bool check_order(const struct options *options, int nr_files)
{
	if (!options->trx.output)
		message("merge needs -o FILE; see txtrace merge --help");
	else if (nr_files < 2)
		message("merge takes two files or more; see txtrace merge --help");
	else if (nr_files > FILES_MAX)
		message("merge takes %d files at most", FILES_MAX);
	else if (strcmp(options->trx.output, "-") == 0 &&
		 (options->trx.splits || options->trx.per_core))
		message("more than one file would be written: use -o FILE");
	else
		return true;
	return false;
}

static int run(int argc, char **argv)
{
	static struct options options;
	int code;

	if (!options_read(&cmd_merge, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	if (!check_order(&options, argc - optind))
		return EXIT_TROUBLE;
	code = merge_files(&options, argc - optind, argv + optind);
	selection_free(&options.selection);
	spans_free(&options.messages);
	free(options.offset);
	return code;
}

const struct command cmd_merge = {
	.name = "merge",
	.arguments = "FILE FILE...",
	.summary = "merge several traces into one, sorted by time",
	.options = option_rows,
	.run = run,
};
