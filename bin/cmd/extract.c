/* SPDX-License-Identifier: MIT */
/* txtrace extract: find the trace buffers in any file, and write them as files for TraceX. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/json.h"
#include "extract/walk.h"
#include "input/unpack.h"

#define BUFFER_END 28 /* offset of the word in the header */

enum { OPTION_LARGEST = OPTION_OWN, OPTION_AT, OPTION_RATIO };

static const struct option_row option_rows[] = {
	{'o', "output", "DIR", "write each buffer to a file in this directory; make it if needed"},
	OPTION_ROW_FORCE,
	{OPTION_LARGEST, "largest", NULL, "only the largest buffer of each file"},
	{OPTION_AT, "at", "ADDRESS", "only the buffer at this address"},
	{OPTION_RATIO, "ratio", "N", "stop if data unpack to N times the file; default 1000"},
	{'v', "verbose", NULL, "print why other places with TXTB are no buffers"},
	OPTION_ROW_TEXT_OR_JSON,
	OPTIONS_END,
};

struct options {
	const char *directory;
	bool overwrites, only_largest, has_address, is_verbose, is_json;
	uint64_t address, ratio;
};

/* A buffer that is being read. */
struct item {
	struct text *text; /* the file, or NULL */
	char *path;
	char *member;
	unsigned char header[HEADER_BYTES];
};

struct job {
	const struct options *options;
	struct walk walk;
	struct text *out;
	struct json json;
	struct item *largest;
	struct found largest_found;
	uint64_t nr_found, nr_rejected;
	bool has_titles, has_failed;
};

static const char *title(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* Files. */

static char *path_for(const struct job *job, const struct found *found)
{
	const char *path = job->walk.path, *member = job->walk.member;
	const char *stem = strcmp(path, "-") == 0 ? "stdin" : name_of(path);
	char *name = NULL, *from;

	if (asprintf(&name, "%s/%.*s%s%s-%" PRIx64 ".trx", job->options->directory, (int)length_without_suffix(stem),
		     stem, member ? "-" : "", member ? name_of(member) : "",
		     found->has_offset ? found->offset : found->address) < 0)
		name = NULL;
	must(name);
	/* The name of a member comes from the archive. */
	for (from = name + strlen(job->options->directory) + 1; *from; from++)
		if (*from == '/' || (unsigned char)*from < 0x21 || *from == 0x7F)
			*from = '_';
	return name;
}

static void close_item(struct job *job, struct item *item, bool keep)
{
	if (item->text && !text_close(item->text, keep) && keep)
		job->has_failed = true;
	free(item->text);
	free(item->path);
	free(item->member);
	free(item);
}

static void *begin(void *argument, const struct found *found)
{
	struct job *job = argument;
	const struct options *options = job->options;
	struct item *item;

	if (options->has_address && found->header.base != options->address &&
	    !(found->has_address && found->address == options->address))
		return NULL;
	item = must(calloc(1, sizeof(*item)));
	if (job->walk.member)
		item->member = must(strdup(job->walk.member));
	if (!options->directory)
		return item;
	item->path = path_for(job, found);
	item->text = must(calloc(1, sizeof(*item->text)));
	if (!text_open(item->text, item->path, options->overwrites)) {
		free(item->text);
		item->text = NULL;
		job->has_failed = true;
	}
	return item;
}

static void take_bytes(void *argument, const unsigned char *bytes, size_t size)
{
	struct item *item = argument;

	if (item && item->text)
		text_put(item->text, bytes, size);
}

static bool is_cut(const struct found *found)
{
	return found->size < found->header.size;
}

/* TraceX refuses a buffer that ends before its last entry.  So let the header end it after the last whole entry. */
static void mend_header(struct item *item, const struct found *found)
{
	uint32_t end = found->header.buffer_start + found->nr_read * HEADER_ENTRY_BYTES;
	unsigned char bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(end >> 8 * (found->header.is_big ? 3 - i : i));
	text_patch(item->text, BUFFER_END, bytes, sizeof(bytes));
}

/* The list. */

enum grade { GRADE_GOOD, GRADE_FAIR, GRADE_POOR };

static const char *const grade_names[] = {"good", "fair", "poor"};

__attribute__((format(printf, 4, 5))) static void add_reason(char *why, size_t size, const char *separator,
							     const char *format, ...)
{
	size_t used = strlen(why);
	va_list arguments;

	if (used > 0)
		used += (size_t)snprintf(why + used, size - used, "%s", separator);
	if (used >= size)
		return;
	va_start(arguments, format);
	vsnprintf(why + used, size - used, format, arguments);
	va_end(arguments);
}

/* How sure it is that a buffer is one, and why. */
static enum grade judge(const struct found *found, char *why, size_t size)
{
	const struct header *header = &found->header;
	enum grade grade = GRADE_GOOD;

	why[0] = 0;
	if (found->has_address && (uint32_t)found->address == header->base)
		add_reason(why, size, ", ", "its base is its address");
	if (found->has_address && (uint32_t)found->address != header->base) {
		add_reason(why, size, ", ", "its base is 0x%" PRIx32 ", not its address", header->base);
		grade = GRADE_FAIR;
	}
	if (is_cut(found)) {
		add_reason(why, size, ", ", "cut: %" PRIu32 " of %" PRIu32 " slots", found->nr_read, header->nr_slots);
		grade = GRADE_FAIR;
	}
	if (found->nr_odd_objects > 0) {
		add_reason(why, size, ", ", "%" PRIu32 " of %" PRIu32 " objects are not as ThreadX writes them",
			   found->nr_odd_objects, header->nr_objects);
		grade = found->nr_odd_objects > header->nr_objects / 8 ? GRADE_POOR : GRADE_FAIR;
	}
	if (found->nr_odd > 0) {
		add_reason(why, size, ", ", "%" PRIu32 " of %" PRIu32 " entries are not as ThreadX writes them",
			   found->nr_odd, found->nr_used);
		grade = found->nr_odd > found->nr_used / 8 ? GRADE_POOR : grade == GRADE_GOOD ? GRADE_FAIR : grade;
	}
	if (found->nr_used == 0)
		add_reason(why, size, ", ", "no entry is used");
	if (!why[0])
		add_reason(why, size, ", ", "header, objects and entries fit");
	return grade;
}

static void number_or_none(struct job *job, const char *key, bool is_known, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, number);
	if (job->options->is_json && is_known)
		json_string(&job->json, key, text);
	else if (job->options->is_json)
		json_null(&job->json, key);
	else
		text_printf(job->out, "%-18s  ", is_known ? text : "-");
}

static void print_json(struct job *job, const struct item *item, const struct found *found, const char *why,
		       enum grade grade)
{
	struct json *json = &job->json;

	json_object(json, NULL);
	json_string(json, "file", job->walk.path);
	if (item->member)
		json_string(json, "member", item->member);
	number_or_none(job, "offset", found->has_offset, found->offset);
	number_or_none(job, "address", found->has_address, found->address);
	number_or_none(job, "base", true, found->header.base);
	json_string(json, "order", found->header.is_big ? "big" : "little");
	json_number(json, "bytes", found->header.size);
	json_number(json, "slots", found->header.nr_slots);
	json_number(json, "slots_read", found->nr_read);
	json_number(json, "used", found->nr_used);
	json_number(json, "objects", found->nr_named);
	json_string(json, "plausibility", grade_names[grade]);
	json_string(json, "why", why);
	if (item->text)
		json_string(json, "written", item->path);
	json_close(json);
}

static void print_text(struct job *job, const struct item *item, const struct found *found, const char *why,
		       enum grade grade)
{
	struct text *out = job->out;

	if (!job->has_titles)
		text_printf(out, "%-18s  %-18s  %-6s %8s %8s %8s  %s\n", "offset", "address", "order", "slots", "used",
			    "objects", "plausibility");
	job->has_titles = true;
	number_or_none(job, NULL, found->has_offset, found->offset);
	number_or_none(job, NULL, found->has_address, found->address);
	text_printf(out, "%-6s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 "  %s: %s", found->header.is_big ? "big" : "little",
		    found->header.nr_slots, found->nr_used, found->nr_named, grade_names[grade], why);
	if (item->member) {
		text_string(out, "; in ");
		text_plain(out, item->member, 0);
	}
	if (item->text) {
		text_string(out, "; written to ");
		text_plain(out, item->path, 0);
	}
	text_char(out, '\n');
}

/* List a buffer, and complete its file. */
static void finish_item(struct job *job, struct item *item, const struct found *found)
{
	char why[256];
	enum grade grade = judge(found, why, sizeof(why));
	bool is_useful = found->nr_read > 0;

	if (item->text && !is_useful) {
		text_close(item->text, false);
		free(item->text);
		item->text = NULL;
		add_reason(why, sizeof(why), ", ", "not written");
	}
	if (item->text && is_cut(found))
		mend_header(item, found);
	if (job->options->is_json)
		print_json(job, item, found, why, grade);
	else
		print_text(job, item, found, why, grade);
	close_item(job, item, true);
}

static void end(void *argument, void *context, const struct found *found)
{
	struct job *job = argument;
	struct item *item = context;

	if (!item)
		return;
	job->nr_found++;
	if (!job->options->only_largest) {
		finish_item(job, item, found);
	} else if (!job->largest || found->size > job->largest_found.size) {
		if (job->largest)
			close_item(job, job->largest, false);
		job->largest = item;
		job->largest_found = *found;
	} else {
		close_item(job, item, false);
	}
}

static void reject(void *argument, const struct found *found, const char *reason)
{
	struct job *job = argument;

	job->nr_rejected++;
	if (job->options->is_verbose)
		message("%s: %s0x%" PRIx64 " has %s, but %s", title(job->walk.path),
			found->has_offset ? "" : "address ",
			found->has_offset ? found->offset : found->address,
			found->header.is_big ? "TXTB" : "BTXT", reason);
}

static const struct scan_calls calls = {begin, take_bytes, end, reject};

static int extract_file(struct job *job, const char *path)
{
	struct stream stream;
	uint64_t nr_before = job->nr_found;

	if (!stream_open(&stream, path))
		return EXIT_TROUBLE;
	job->walk = (struct walk){.path = path, .file = &stream, .ratio = job->options->ratio};
	job->has_titles = false;
	job->nr_rejected = 0;
	job->walk.scan = scan_new(&calls, job);
	walk_stream(&job->walk, &stream);
	if (job->largest)
		finish_item(job, job->largest, &job->largest_found);
	job->largest = NULL;
	scan_free(job->walk.scan);
	stream_close(&stream);
	if (job->nr_found == nr_before && job->nr_rejected == 0)
		message("%s has no trace buffer", title(path));
	else if (job->nr_found == nr_before)
		message("%s has no trace buffer; places with TXTB or BTXT that are none: %" PRIu64 "%s", title(path),
			job->nr_rejected, job->options->is_verbose ? "" : " (-v says why)");
	if (job->walk.has_faults || job->has_failed)
		return EXIT_TROUBLE;
	return job->nr_found > nr_before ? EXIT_FINE : EXIT_FOUND;
}

static bool read_option(void *argument, int code)
{
	struct options *options = argument;

	switch (code) {
	case 'o':
		options->directory = optarg;
		return true;
	case OPTION_FORCE:
		options->overwrites = true;
		return true;
	case OPTION_LARGEST:
		options->only_largest = true;
		return true;
	case OPTION_AT:
		options->has_address = true;
		return options_is_number("an address", optarg, 0, UINT64_MAX, &options->address);
	case OPTION_RATIO:
		if (!options_is_number("a ratio", optarg, 0, UINT64_MAX, &options->ratio))
			return false;
		if (options->ratio == 0)
			message("the ratio must be at least 1");
		return options->ratio > 0;
	case 'v':
		options->is_verbose = true;
		return true;
	case OPTION_FORMAT:
		return options_is_json(optarg, &options->is_json);
	default:
		return false;
	}
}

static int run(int argc, char **argv)
{
	struct options options = {.ratio = UNPACK_RATIO};
	static struct text out;
	struct job job = {.options = &options, .out = &out};
	struct stat status;
	int worst = EXIT_FINE;

	if (!options_read(&cmd_extract, argc, argv, read_option, &options))
		return EXIT_TROUBLE;
	if (optind == argc) {
		message("file required; see txtrace extract --help");
		return EXIT_TROUBLE;
	}
	if (options.directory && mkdir(options.directory, 0777) != 0 && errno != EEXIST) {
		message_error(errno, "cannot make the directory %s", options.directory);
		return EXIT_TROUBLE;
	}
	if (options.directory && (stat(options.directory, &status) != 0 || !S_ISDIR(status.st_mode))) {
		message("%s is not a directory", options.directory);
		return EXIT_TROUBLE;
	}
	if (!text_open(&out, NULL, false))
		return EXIT_TROUBLE;
	if (options.is_json) {
		json_begin(&job.json, &out);
		json_array(&job.json, "buffers");
	}
	for (int i = optind; i < argc; i++) {
		int code;

		if (!options.is_json && optind + 1 < argc)
			text_printf(&out, "%s:\n", argv[i]);
		code = extract_file(&job, argv[i]);
		worst = code > worst ? code : worst;
	}
	if (options.is_json) {
		json_close_on_line(&job.json);
		json_end(&job.json);
	}
	return text_close(&out, true) ? worst : EXIT_TROUBLE;
}

const struct command cmd_extract = {
	.name = "extract",
	.arguments = "FILE...",
	.summary = "find trace buffers in memory dumps, core files and other files",
	.options = option_rows,
	.run = run,
};
