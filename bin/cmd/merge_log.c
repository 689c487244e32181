/* SPDX-License-Identifier: MIT */
#include "cmd/merge_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/leftovers.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/unnamed.h"
#include "trace/payload.h"

#define DRIFT_UNIT 1e12
#define COPY_BYTES (1 << 20)

/* A log of this group. */
struct member {
	struct source *source;
	struct messages_file file; /* the correction of its times */
	struct event event;	   /* the next one */
	bool has_event;
	int64_t time_ns;
};

struct group {
	const struct selection *selection; /* NULL: all events */
	struct member *member;
	unsigned int nr;
	struct txtrace_merge *merge;
	uint64_t nr_events;
};

/* Events. */

/* The library makes from the calls of a log what calls_next() adds, so the merged log does not get that. */
static void read_next(const struct group *group, struct member *member)
{
	do {
		member->has_event = group->selection ?
					    selection_next(group->selection, member->source,
							   &member->event) :
					    source_next(member->source, &member->event);
	} while (member->has_event && member->event.is_made);
	if (member->has_event)
		member->time_ns = messages_time(&member->file, member->event.time_ns);
}

static int append(struct group *group, unsigned int number)
{
	const struct member *member = &group->member[number];
	const struct event *event = &member->event;
	const struct txtrace_event to = {
		.time_ns = (unsigned long long)(member->time_ns > 0 ? member->time_ns : 0),
		.address = event->address,
		.thread = event->pthread,
		.length = event->size,
		.type = event->type,
		.pid = event->pid,
		.truncation = event->is_truncated ? POSIX_TRACE_TRUNCATED_RECORD :
						    POSIX_TRACE_NOT_TRUNCATED,
		.cpu = event->cpu,
		/* The thread of a scheduling record is found by its number, and the record tells no priority. */
		.context = event->priority < 0 ? 0 : event->context,
		.priority = event->priority,
		.phase = event->is_call ? event->call.phase : -1};

	return txtrace_merge_event(group->merge, number, &to, event->data);
}

/* A heap of the members that have an event, by time, then by their order. */
static bool is_before(const struct group *group, unsigned int a, unsigned int b)
{
	const struct member *x = &group->member[a], *y = &group->member[b];

	return x->time_ns != y->time_ns ? x->time_ns < y->time_ns : a < b;
}

static void sift_down(const struct group *group, unsigned int *heap, unsigned int nr,
		      unsigned int at)
{
	for (unsigned int least = at;; at = least) {
		for (unsigned int child = 2 * at + 1; child <= 2 * at + 2 && child < nr; child++)
			if (is_before(group, heap[child], heap[least]))
				least = child;
		if (least == at)
			return;
		unsigned int moved = heap[at];

		heap[at] = heap[least];
		heap[least] = moved;
	}
}

static int append_all(struct group *group)
{
	unsigned int heap[MERGE_AT_ONCE], nr = 0;
	int error = 0;

	for (unsigned int i = 0; i < group->nr; i++) {
		read_next(group, &group->member[i]);
		if (group->member[i].has_event)
			heap[nr++] = i;
	}
	for (unsigned int i = nr / 2; i-- > 0;)
		sift_down(group, heap, nr, i);
	while (!error && nr > 0) {
		struct member *first = &group->member[heap[0]];

		error = append(group, heap[0]);
		read_next(group, first);
		if (!first->has_event)
			heap[0] = heap[--nr];
		sift_down(group, heap, nr, 0);
		if (++group->nr_events % 65536 == 0)
			progress("merging", group->nr_events, 0);
	}
	progress_end();
	return error;
}

/* Say in the merged log where each log comes from, and how its times were corrected. */
static void note_origins(struct group *group)
{
	for (unsigned int i = 0; i < group->nr; i++) {
		const struct member *member = &group->member[i];
		struct txtrace_origin origin = {
			.shift_ns = member->file.shift_ns + member->file.correction.offset_ns,
			.drift = (long long)(member->file.correction.drift * DRIFT_UNIT),
			.uncertainty_ns = member->file.uncertainty_ns,
		};

		snprintf(origin.name, sizeof(origin.name), "%s", name_of(member->file.path));
		txtrace_merge_origin(group->merge, i, &origin);
	}
}

/* Say in the merged log that events of a log are missing; this is known when all of them are read. */
static void note_missing(struct group *group)
{
	for (unsigned int i = 0; i < group->nr; i++)
		txtrace_merge_missing(group->merge, i, source_missing(group->member[i].source));
}

static int merge_group(struct group *group, int fd)
{
	trace_id_t trace[MERGE_AT_ONCE];
	int error, ended;

	for (unsigned int i = 0; i < group->nr; i++)
		trace[i] = group->member[i].source->trace;
	error = txtrace_merge_begin(fd, trace, group->nr, &group->merge);
	if (error)
		return error;
	note_origins(group);
	error = append_all(group);
	note_missing(group);
	ended = txtrace_merge_end(group->merge);
	return error ? error : ended;
}

static bool begin_selection(const struct group *group)
{
	struct source *sources[MERGE_AT_ONCE] = {NULL};

	for (unsigned int i = 0; i < group->nr; i++)
		sources[i] = group->member[i].source;
	return !group->selection || selection_begin(group->selection, sources, group->nr);
}

static void report_error(int error, const char *output)
{
	if (error == E2BIG)
		message("%s: these logs have more hosts, event types or descriptions of types than a log can have",
			output);
	else
		message_error(error, "%s", output);
}

/* Merge some files into a file that is open.  selection: NULL for all events. */
static bool merge_files(struct messages_file *files, unsigned int nr,
			const struct selection *selection, int fd, const char *output)
{
	struct group group = {.selection = selection,
			      .member = must(calloc(nr, sizeof(*group.member))),
			      .nr = nr};
	bool is_fine = true;
	int error = 0;

	for (unsigned int i = 0; is_fine && i < nr; i++) {
		group.member[i].file = files[i];
		group.member[i].source = files[i].source ?: source_open_quiet(files[i].path, 0);
		is_fine = group.member[i].source != NULL;
	}
	/* The filter reads the fields as print does, also those of types that are bytes in the merged log. */
	is_fine = is_fine && begin_selection(&group);
	for (unsigned int i = 0; is_fine && i < nr; i++)
		payload_describe_for_merge(group.member[i].source);
	if (is_fine)
		error = merge_group(&group, fd);
	if (error)
		report_error(error, output);
	for (unsigned int i = 0; i < nr; i++)
		if (!files[i].source)
			source_close(group.member[i].source);
	free(group.member);
	return is_fine && !error;
}

/* Many files. */

/*
 * Make a file that has a name until it is removed.  Return its descriptor, or -1 after a message about `shown`, or
 * about the directory if that is NULL.
 */
static int make_temporary(const char *directory, const char *name, const char *shown, char **path)
{
	int fd;

	if (asprintf(path, "%s/.%.200s.XXXXXX", directory, name) < 0)
		*path = must(NULL);
	fd = leftovers_make(*path);
	if (fd < 0) {
		message_error(errno, "%s", shown ?: directory);
		free(*path);
		*path = NULL;
	}
	return fd;
}

static void remove_temporary(const char *path)
{
	unlink(path);
	leftovers_forget(path);
	free((char *)path);
}

static void remove_all(struct messages_file *files, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		remove_temporary(files[i].path);
	free(files);
}

/*
 * Merge groups of the files into fewer ones.  The events of these have their final times, but other pids, types and
 * data, so only the events of the files themselves can be selected.
 */
static struct messages_file *merge_groups(struct messages_file *files, unsigned int *nr,
					  const struct selection *selection)
{
	unsigned int nr_made = 0, nr_files = *nr;
	struct messages_file *made = must(calloc(nr_files / MERGE_AT_ONCE + 1, sizeof(*made)));

	for (unsigned int at = 0; at < nr_files; at += MERGE_AT_ONCE) {
		unsigned int part = nr_files - at < MERGE_AT_ONCE ? nr_files - at : MERGE_AT_ONCE;
		char *path;
		int fd = make_temporary(temporary_directory(), "txtrace-merge", NULL, &path);
		bool is_fine = fd >= 0;

		if (is_fine) {
			made[nr_made++] = (struct messages_file){.path = path};
			is_fine = merge_files(&files[at], part, selection, fd, path);
			close(fd);
		}
		if (!is_fine) {
			remove_all(made, nr_made);
			return NULL;
		}
	}
	*nr = nr_made;
	return made;
}

static bool merge_into(const struct merge_log *merge, int fd)
{
	struct messages_file *files = merge->files, *made = NULL, *fewer;
	unsigned int nr = merge->nr_files, nr_made = 0;
	bool is_fine = true;

	while (is_fine && nr > MERGE_AT_ONCE) {
		fewer = merge_groups(files, &nr, made ? NULL : merge->selection);
		is_fine = fewer != NULL;
		if (made)
			remove_all(made, nr_made);
		files = made = fewer;
		nr_made = fewer ? nr : 0;
	}
	is_fine = is_fine && merge_files(files, nr, made ? NULL : merge->selection, fd, merge->output);
	if (made)
		remove_all(made, nr_made);
	return is_fine;
}

/* The output. */

static bool copy_to(int to, const char *name, int fd)
{
	char *bytes = must(malloc(COPY_BYTES));
	off_t at = 0;
	ssize_t size;
	int error = 0;

	while (!error && (size = pread(fd, bytes, COPY_BYTES, at)) > 0) {
		error = write_all(to, bytes, (size_t)size);
		at += size;
	}
	free(bytes);
	if (error)
		message_error(error, "%s", name);
	return !error;
}

/* A device or a FIFO gets the bytes; a new file must not take its name. */
static bool is_device(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool copy_to_device(const char *path, int fd)
{
	int to = open(path, O_WRONLY | O_CLOEXEC);
	bool is_fine;

	if (to < 0) {
		message_error(errno, "%s", path);
		return false;
	}
	is_fine = copy_to(to, path, fd);
	close(to);
	return is_fine;
}

/* link() never replaces a file; some file systems do not have it. */
static int rename_part(const char *target, const char *part, bool overwrites)
{
	if (!overwrites && link(part, target) == 0)
		return unlink(part) == 0 ? 0 : errno;
	if (!overwrites && access(target, F_OK) == 0)
		return EEXIST;
	return rename(part, target) == 0 ? 0 : errno;
}

/* part: the temporary name; NULL: the file has none. */
static bool finish(const struct merge_log *merge, int fd, const char *target, const char *part)
{
	mode_t mask = umask(0);
	int error = 0;

	umask(mask);
	if (strcmp(merge->output, "-") == 0)
		return copy_to(STDOUT_FILENO, "standard output", fd);
	if (is_device(merge->output))
		return copy_to_device(merge->output, fd);
	if (fchmod(fd, 0666 & ~mask) != 0)
		error = errno;
	if (!error)
		error = part ? rename_part(target, part, merge->overwrites) :
			       unnamed_give_name(fd, target, merge->overwrites);
	if (error == EEXIST)
		message("%s already exists; --force overwrites it", merge->output);
	else if (error)
		message_error(error, "%s", merge->output);
	return !error;
}

/* Open a file for the merged log: without a name if that is possible.  Return -1 after a message. */
static int open_output(const char *target, const char *output, bool is_copied, char **part)
{
	char *directory = is_copied ? must(strdup(temporary_directory())) : must(directory_of(target));
	int fd = is_copied ? -1 : unnamed_open(target, O_RDWR);

	*part = NULL;
	if (fd < 0)
		fd = make_temporary(directory, is_copied ? "txtrace-merge" : name_of(target),
				    is_copied ? NULL : output, part);
	free(directory);
	return fd;
}

bool merge_log_write(const struct merge_log *merge)
{
	bool is_stdout = strcmp(merge->output, "-") == 0, is_fine;
	struct stat status;
	char *target, *part;
	int fd;

	if (!is_stdout && !merge->overwrites && lstat(merge->output, &status) == 0) {
		message("%s already exists; --force overwrites it", merge->output);
		return false;
	}
	target = must(target_of(merge->output));
	fd = open_output(target, merge->output, is_stdout || is_device(merge->output), &part);
	is_fine = fd >= 0 && merge_into(merge, fd) && finish(merge, fd, target, part);
	if (fd >= 0)
		close(fd);
	if (part)
		remove_temporary(part); /* it has another name now, or is of no use */
	free(target);
	return is_fine;
}
