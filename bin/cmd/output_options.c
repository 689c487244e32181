/* SPDX-License-Identifier: MIT */
#include "cmd/output_options.h"

#include "base/message.h"
#include "cli/terminal.h"

bool printing_option(struct printing *printing, int code)
{
	int taken = selection_option(&printing->selection, code, optarg);

	if (taken != 0)
		return taken > 0;
	switch (code) {
	case OPTION_FORMAT:
		return format_parse_of_table(optarg, &printing->format);
	case 'o':
		printing->output = optarg;
		return true;
	case OPTION_FORCE:
		printing->overwrites = true;
		return true;
	default:
		return terminal_option(code, optarg);
	}
}

static bool open_text(const struct printing *printing, const char *path)
{
	if (printing->output && source_would_be_lost(path, printing->output))
		return false;
	if (!printing->output)
		terminal_page();
	return text_open(printing->text, printing->output, printing->overwrites);
}

bool printing_begin(struct printing *printing, const char *path,
		    struct source *(*open)(const char *path, double tick_ns))
{
	static struct text text;

	printing->text = &text;
	printing->source = open(path, printing->selection.tick_ns);
	if (printing->source && open_text(printing, path))
		return true;
	source_close(printing->source);
	selection_free(&printing->selection);
	return false;
}

int printing_end(struct printing *printing)
{
	bool is_written = text_close(printing->text, true);

	source_close(printing->source);
	selection_free(&printing->selection);
	return is_written ? EXIT_FINE : EXIT_TROUBLE;
}
