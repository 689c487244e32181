/* SPDX-License-Identifier: MIT */
#include "cmd/output_options.h"

#include "base/message.h"
#include "cli/terminal.h"
#include "live/wrapper_stats.h"

bool output_options_option(struct output_options *output_options, int code)
{
	int taken = selection_option(&output_options->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_FORMAT:
		return format_parse_of_table(optarg, &output_options->format);
	case 'o':
		output_options->output = optarg;
		return true;
	case OPTION_WIDE:
		output_options->is_wide = true;
		return true;
	case OPTION_FORCE:
		output_options->overwrites = true;
		return true;
	default:
		return terminal_option(code, optarg);
	}
}

static bool open_text(const struct output_options *output_options, const char *path)
{
	if (output_options->output && source_would_be_lost(path, output_options->output))
		return false;
	if (!output_options->output)
		terminal_page();
	return text_open(output_options->text, output_options->output, output_options->overwrites);
}

bool output_options_begin(struct output_options *output_options, const char *path,
			  struct source *(*open)(const char *path, double tick_ns))
{
	static struct text text;

	output_options->text = &text;
	output_options->source = open(path, output_options->selection.tick_ns);
	if (output_options->source && selection_begin(&output_options->selection, &output_options->source, 1) &&
	    open_text(output_options, path))
		return true;
	source_close(output_options->source);
	selection_free(&output_options->selection);
	return false;
}

int output_options_end(struct output_options *output_options)
{
	bool is_written = text_close(output_options->text, true);

	source_close(output_options->source);
	selection_free(&output_options->selection);
	return is_written ? EXIT_FINE : EXIT_TROUBLE;
}

bool output_options_begin_tables(struct output_options *output_options, const char *path, struct table *table)
{
	if (!output_options_begin(output_options, path, source_open_mixed))
		return false;
	source_report_losses(output_options->source);
	wrapper_stats_report(output_options->source);
	table_open(table, output_options->text, output_options->format);
	table->width = output_options->is_wide ? 0 : table_usual_width(table);
	return true;
}

int output_options_end_tables(struct output_options *output_options, struct table *table)
{
	table_close(table);
	return output_options_end(output_options);
}
