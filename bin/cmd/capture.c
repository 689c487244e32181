/* SPDX-License-Identifier: MIT */
/* txtrace capture: read the trace buffer of a target through gdb's remote protocol. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/message.h"
#include "capture/capture_file.h"
#include "capture/gdb.h"
#include "capture/symbol.h"
#include "capture/target_buffer.h"
#include "cli/command.h"

#define INTERVAL_MS 100
#define TIMEOUT_MS 5000

enum {
	OPTION_GDB = OPTION_OWN,
	OPTION_SYMBOL,
	OPTION_ELF,
	OPTION_ADDRESS,
	OPTION_LENGTH,
	OPTION_LIVE,
	OPTION_APPEND,
	OPTION_INTERVAL,
	OPTION_TIMEOUT
};

static const struct option_row option_rows[] = {
	{OPTION_GDB, "gdb", "HOST:PORT", "the stub: gdbserver, QEMU, OpenOCD, ..."},
	{OPTION_SYMBOL, "symbol", "NAME", "the variable that is the trace buffer"},
	{OPTION_ELF, "elf", "FILE", "the program, which has the symbol"},
	{OPTION_ADDRESS, "address", "A", "the address of the trace buffer"},
	{OPTION_LENGTH, "length", "N", "the size of the memory; default: the header says it"},
	{OPTION_LIVE, "live", NULL, "read while the target runs"},
	{OPTION_APPEND, "append", NULL, "go on until Ctrl-C, and append new events"},
	{OPTION_INTERVAL, "interval", "MS", "time between two looks of --append; default 100"},
	{OPTION_TIMEOUT, "timeout", "MS", "how long to wait for the stub; default 5000"},
	{'o', "output", "FILE", "write to this file"},
	OPTION_ROW_FORCE,
	OPTIONS_END,
};

struct options {
	const char *stub, *symbol, *elf, *output;
	bool has_address, is_live, appends, overwrites;
	uint64_t address, length, interval_ms, timeout_ms;
};

static volatile sig_atomic_t must_end;

static void on_signal(int number)
{
	(void)number;
	must_end = 1;
}

static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case OPTION_GDB:
		options->stub = optarg;
		return true;
	case OPTION_SYMBOL:
		options->symbol = optarg;
		return true;
	case OPTION_ELF:
		options->elf = optarg;
		return true;
	case OPTION_ADDRESS:
		options->has_address = true;
		return options_is_number("an address", optarg, 0, UINT64_MAX, &options->address);
	case OPTION_LENGTH:
		return options_is_number("a length", optarg, 1, UINT64_MAX, &options->length);
	case OPTION_LIVE:
		return options->is_live = true;
	case OPTION_APPEND:
		return options->appends = true;
	case OPTION_INTERVAL:
		return options_is_number("a number of milliseconds", optarg, 1, 3600000, &options->interval_ms);
	case OPTION_TIMEOUT:
		return options_is_number("a number of milliseconds", optarg, 1, 3600000, &options->timeout_ms);
	case 'o':
		options->output = optarg;
		return true;
	case OPTION_FORCE:
		return options->overwrites = true;
	default:
		return false;
	}
}

static bool check(const struct options *options)
{
	const char *missing = NULL;

	if (!options->stub)
		missing = "--gdb=HOST:PORT";
	else if (!options->output)
		missing = "-o FILE";
	else if (options->has_address == (options->symbol != NULL))
		missing = "either --symbol=NAME or --address=A";
	else if (options->symbol && !options->elf)
		missing = "--elf=FILE for --symbol";
	if (missing)
		message("capture needs %s; see txtrace capture --help", missing);
	return !missing;
}

static bool find_buffer(const struct options *options, struct gdb *gdb, struct target_buffer *buffer)
{
	uint64_t address = options->address, size = 0;

	if (options->symbol && !symbol_find(gdb, options->elf, options->symbol, &address, &size))
		return false;
	if (options->length)
		size = options->length;
	return target_buffer_begin(buffer, gdb, address, size ? size : UINT64_MAX);
}

static bool take(struct target_buffer *buffer, struct capture_file *file)
{
	const unsigned char *entries;
	uint32_t n = target_buffer_look(buffer, &entries);

	return n == 0 || capture_file_append(file, buffer, entries, n);
}

static void rest(uint64_t ms)
{
	const struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL); /* a signal ends it */
}

/* Take what is there; with --append, until the user ends it.  Return false if the file cannot be written. */
static bool take_all(const struct options *options, struct target_buffer *buffer, struct capture_file *file)
{
	struct gdb *gdb = buffer->gdb;

	for (;;) {
		if (options->is_live ? !gdb_continue_live(gdb) : !gdb_halt(gdb))
			return true;
		if (!take(buffer, file))
			return false;
		if (!options->appends || must_end || gdb->fault[0] != '\0')
			return true;
		/* Some stubs have stopped the target for the look, also with --live. */
		if (options->is_live ? !gdb_continue_live(gdb) : !gdb_continue(gdb))
			return true;
		rest(options->interval_ms);
	}
}

static void report(const struct options *options, const struct target_buffer *buffer, const struct capture_file *file)
{
	print_line("%" PRIu64 " events from 0x%" PRIx64 ", written to %s", file->nr_entries, buffer->address,
		   options->output);
	if (buffer->nr_laps > 0)
		print_line("at least %" PRIu64 " events were overwritten before they were read; the target has "
			   "passed the whole buffer %" PRIu64 " times, so there may be more",
			   buffer->nr_lost, buffer->nr_laps);
	else if (buffer->nr_lost > 0)
		print_line("%" PRIu64 " events were overwritten while they were read", buffer->nr_lost);
	if (buffer->nr_doubtful > 0)
		print_line("the buffer was full: its oldest event is left out, because the target may have begun to "
			   "overwrite it");
}

static int capture(const struct options *options, struct gdb *gdb)
{
	struct target_buffer buffer = {0};
	struct capture_file file;
	int code = EXIT_FINE;

	if (!find_buffer(options, gdb, &buffer))
		return EXIT_TROUBLE;
	if (!capture_file_open(&file, options->output, options->overwrites)) {
		target_buffer_free(&buffer);
		return EXIT_TROUBLE;
	}
	if (!take_all(options, &buffer, &file))
		code = EXIT_TROUBLE;
	/* With --append, the end of the program is not a fault of the stub. */
	if (gdb->fault[0] != '\0' && !(options->appends && gdb->has_ended)) {
		message("the stub at %s %s; %s", options->stub, gdb->fault,
			file.nr_entries ? "the file has what was read before" : "nothing was read");
		code = EXIT_TROUBLE;
	} else if (code == EXIT_FINE && file.nr_entries == 0) {
		message("the trace buffer at 0x%" PRIx64 " has no events", buffer.address);
		code = EXIT_FOUND;
	}
	if (file.nr_entries > 0)
		report(options, &buffer, &file);
	if (!capture_file_close(&file))
		code = EXIT_TROUBLE;
	target_buffer_free(&buffer);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {.interval_ms = INTERVAL_MS, .timeout_ms = TIMEOUT_MS};
	struct sigaction action = {.sa_handler = on_signal};
	static struct gdb gdb;
	int code;

	if (!options_read(&cmd_capture, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	if (optind < argc) {
		message("capture takes no argument; see txtrace capture --help");
		return EXIT_TROUBLE;
	}
	if (!check(&options))
		return EXIT_TROUBLE;
	if (options.appends) {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
	}
	if (!gdb_open(&gdb, options.stub, (int)options.timeout_ms))
		return EXIT_TROUBLE;
	code = capture(&options, &gdb);
	gdb_close(&gdb);
	return code;
}

const struct command cmd_capture = {
	.name = "capture",
	.arguments = "",
	.summary = "read the trace buffer of a running target through gdb's remote protocol",
	.options = option_rows,
	.run = run,
};
