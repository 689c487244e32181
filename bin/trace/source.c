/* SPDX-License-Identifier: MIT */
#include "trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "input/relay.h"
#include "input/spool.h"
#include "trace/cut.h"
#include "trace/lives.h"
#include "trace/newer.h"
#include "trace/payload.h"
#include "trace/programs.h"
#include "trace/source_names.h"
#include "trace/symbols.h"

#define FIRST_DATA_BYTES 4096
#define DATA_BYTES_MAX (16 << 20) /* a forged log may promise more than there is memory */
#define PROGRESS_EVENTS 65536 /* number of events between two calls of progress() */

/* Opening. */

static void grow_data(struct source *source, size_t size)
{
	source->data = must(realloc(source->data, size));
	source->data_size = size;
}

/* Return the room for the data of the largest event. */
static size_t data_bytes(const struct source *source)
{
	size_t size = 0;

	posix_trace_attr_getmaxdatasize(&source->attr, &size);
	return size < FIRST_DATA_BYTES ? FIRST_DATA_BYTES : size < DATA_BYTES_MAX ? size : DATA_BYTES_MAX;
}

static bool read_objects(struct source *source)
{
	size_t room = 0;
	int unavailable;

	for (;;) {
		struct txtrace_object object;

		if (txtrace_getnext_object(source->trace, &object, &unavailable) != 0)
			return false;
		if (unavailable)
			break;
		if (source->nr_objects == room) {
			room = room ? 2 * room : 256;
			source->objects =
				must(reallocarray(source->objects, room, sizeof(*source->objects)));
		}
		source->objects[source->nr_objects++] = object;
	}
	/* Each volume of a log may repeat an object.  The last copy has the most data, so keep the last copy. */
	for (size_t i = 0; i < source->nr_objects; i++)
		*map_get(&source->by_handle,
			 source->objects[i].handle) = (uintptr_t)&source->objects[i];
	return true;
}

/* Write what a running log has now into a file in memory.  Return its descriptor, or -1. */
static int copy_to_memory(trace_id_t trace)
{
	int fd = memfd_create("txtrace", MFD_CLOEXEC);

	if (fd < 0 || txtrace_copy_log(trace, fd) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * While a LOOP log is being written, it loses its oldest events.  A command that reads the events twice must find the
 * same ones: let it read a copy.
 */
static int replace_by_copy(struct source *source)
{
	trace_id_t copy;
	int policy, fd, error;

	if (!source->file.running || source->is_followed ||
	    posix_trace_get_attr(source->trace, &source->attr) != 0 ||
	    posix_trace_attr_getlogfullpolicy(&source->attr, &policy) != 0 ||
	    policy != POSIX_TRACE_LOOP)
		return 0;
	fd = copy_to_memory(source->trace);
	if (fd < 0)
		return 0;
	error = posix_trace_open(fd, &copy);
	close(fd);
	if (error)
		return error;
	posix_trace_close(source->trace);
	source->trace = copy;
	error = txtrace_get_file_info(copy, &source->file);
	source->file.running = 1;
	source->file.complete = 0; /* the copy is complete, but the log is not */
	return error;
}

int source_copy_running(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), copy = -1;
	struct txtrace_file_info info;
	trace_id_t trace;

	if (fd < 0)
		return -1;
	if (txtrace_open(fd, TXTRACE_OPEN_RUNNING, &trace) == 0) {
		if (txtrace_get_file_info(trace, &info) == 0 && info.running)
			copy = copy_to_memory(trace);
		posix_trace_close(trace);
	}
	close(fd);
	return copy;
}

static int read_machine(struct source *source)
{
	int error = txtrace_get_machine(source->trace, &source->machine);

	source->model = (struct px_fields_model){.of_long = (uint8_t)source->machine.of_long,
						 .of_pointer = (uint8_t)source->machine.of_pointer,
						 .of_long_double = (uint8_t)source->machine.of_long_double,
						 .long_double_digits = (uint8_t)source->machine.long_double_digits,
						 .align_max = (uint8_t)source->machine.align_max,
						 .is_big = source->machine.is_big != 0};
	return error;
}

/* Open the trace in the file fd, and read everything but its events. */
static int open_trace(struct source *source, int fd, double tick_ns)
{
	int error = txtrace_open(fd, TXTRACE_OPEN_RUNNING | TXTRACE_OPEN_DAMAGED, &source->trace);

	if (error)
		return error;
	if (tick_ns > 0)
		error = txtrace_set_tick(source->trace, tick_ns);
	if (!error)
		error = txtrace_get_file_info(source->trace, &source->file);
	if (!error)
		error = replace_by_copy(source);
	if (!error)
		error = read_machine(source);
	if (!error)
		error = txtrace_get_loss(source->trace, &source->loss);
	if (!error)
		error = posix_trace_get_status(source->trace, &source->status);
	if (!error)
		error = posix_trace_get_attr(source->trace, &source->attr);
	if (!error && !read_objects(source))
		error = EIO;
	if (error)
		posix_trace_close(source->trace);
	return error;
}

/* Explain why the file cannot be opened.  EINVAL has several causes. */
static void print_open_error(const char *path, int fd, int error, const struct stat *status,
			     double tick_ns)
{
	if (S_ISDIR(status->st_mode))
		message("%s is a directory", path);
	else if (!S_ISREG(status->st_mode))
		message("%s is not a file that can be read at any offset",
			path);
	else if (status->st_size == 0)
		message(MESSAGE_EMPTY, path);
	else if (error == EBUSY)
		message("%s: another process is completing this log; try again later", path);
	else if (newer_print(fd, path) || relay_print(fd, path))
		return;
	else if (error == EINVAL && tick_ns > 0)
		message("%s: not a ThreadX buffer, or the tick length is wrong", path);
	else if (error == EINVAL)
		message("%s: not a trace: neither a posixtrace log nor a "
			"ThreadX "
			"buffer",
			path);
	else
		message_error(error, "%s", path);
}

static struct source *make_source(void)
{
	static uint64_t serial;
	struct source *source = must(calloc(1, sizeof(*source)));

	source->serial = ++serial;
	return source;
}

static void make_types(struct source *source)
{
	source->type = must(calloc(SOURCE_TYPES, sizeof(*source->type)));
	source->first_held = SOURCE_TYPES;
}

struct source_type *source_hold_type(struct source *source, trace_event_id_t type)
{
	struct source_type *held = &source->type[type];

	if (!held->is_held) {
		held->is_held = true;
		held->next_held = source->first_held;
		source->first_held = type;
	}
	return held;
}

static struct source *open_source(const char *path, double tick_ns, bool is_followed, bool is_quiet)
{
	struct source *source = make_source();
	int fd = is_followed ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : spool_open(path);
	struct stat status;
	int error, cut;

	if (fd < 0 || fstat(fd, &status) != 0) {
		message_error(errno, "%s", path);
		free(source);
		return NULL;
	}
	source->path = path;
	source->is_followed = is_followed;
	source->is_reported = is_followed || is_quiet;
	source->is_sched_reported = is_quiet;
	error = S_ISREG(status.st_mode) ? open_trace(source, fd, tick_ns) : EINVAL;
	if (error == EINVAL && (cut = cut_open(path, fd)) >= 0) {
		error = open_trace(source, cut, tick_ns);
		source->is_cut = true;
		close(cut);
	}
	if (error)
		print_open_error(path, fd, error, &status, tick_ns);
	close(fd);
	if (error) {
		free(source->objects);
		free(source);
		return NULL;
	}
	make_types(source);
	grow_data(source, data_bytes(source));
	if (!is_quiet)
		source_report_state(source);
	return source;
}

struct source *source_open(const char *path, double tick_ns)
{
	return open_source(path, tick_ns, false, false);
}

struct source *source_open_quiet(const char *path, double tick_ns)
{
	return open_source(path, tick_ns, false, true);
}

struct source *source_open_followed(const char *path)
{
	return open_source(path, 0, true, false);
}

int source_refresh(struct source *source, int *is_running)
{
	int error = txtrace_refresh(source->trace, is_running);

	if (!error)
		error = txtrace_get_file_info(source->trace, &source->file);
	if (!error)
		error = txtrace_rewind_objects(source->trace);
	if (error)
		return error;
	map_free(&source->by_handle);
	programs_free(&source->programs);
	source_forget_index(source);
	free(source->objects);
	source->objects = NULL;
	source->nr_objects = 0;
	return read_objects(source) ? 0 : EIO;
}

struct source *source_open_mixed(const char *path, double tick_ns)
{
	struct source *source = source_open(path, 0);

	if (!source || !source->file.foreign || tick_ns <= 0)
		return source;
	source_close(source);
	return source_open(path, tick_ns);
}

bool source_would_be_lost(const char *path, const char *output)
{
	if (!is_same_file(path, output))
		return false;
	message("%s is an input file; the output needs another name", path);
	return true;
}

static void end_progress(const struct source *source)
{
	if (source->task)
		progress_end();
}

static void free_live(struct source *source)
{
	for (size_t i = 0; i < source->by_handle.nr_places; i++)
		free((void *)(uintptr_t)source->by_handle.place[i].value);
	posix_trace_shutdown(source->trace);
}

struct symbols *source_symbols(struct source *source)
{
	if (!source->symbols && !source->is_live && !source->file.foreign)
		source->symbols = symbols_of_log(source->trace);
	return source->symbols;
}

static void forget_type(struct source_type *type)
{
	free(type->name);
	payload_forget(type);
}

void source_close(struct source *source)
{
	if (!source)
		return;
	end_progress(source);
	if (source->is_live)
		free_live(source);
	else
		posix_trace_close(source->trace);
	for (uint32_t i = source->first_held; i < SOURCE_TYPES; i = source->type[i].next_held)
		forget_type(&source->type[i]);
	type_lines_free(&source->type_lines);
	free(source->type);
	if (source->expansion) {
		lives_free(source->expansion->lives);
		free(source->expansion->lives);
		free(source->expansion->event);
	}
	free(source->expansion);
	source_forget_index(source);
	programs_free(&source->programs);
	free(source->origins.origin);
	free(source->origins.name);
	free(source->objects);
	map_free(&source->by_handle);
	map_free(&source->sched_begun);
	free(source->data);
	symbols_free(source->symbols);
	free(source);
}

void source_rewind(struct source *source)
{
	end_progress(source);
	posix_trace_rewind(source->trace);
	programs_rewind(&source->programs);
	source->nr_read = 0;
	source->sched_lost = source->sched_gaps = source->sched_open = 0;
	source->sched_has_ended = source->sched_has_restarted = false;
	map_free(&source->sched_begun);
	source_forget_index(source);
	if (source->expansion) {
		source->expansion->nr = source->expansion->next = 0;
		lives_free(source->expansion->lives);
	}
}

/* Events. */

/* A damaged file may have any time.  Limit the time, so that differences of times do not overflow. */
static int64_t to_ns(const struct timespec *time)
{
	const int64_t last_s = (INT64_MAX / 2) / NS_PER_S - 1; /* a time in the year 2116 */
	int64_t seconds = (int64_t)time->tv_sec;

	seconds = seconds > last_s ? last_s : seconds < -last_s ? -last_s : seconds;
	return seconds * NS_PER_S + time->tv_nsec;
}

static void describe_event(struct source *source, struct event *event,
			   const struct posix_trace_event_info *info, size_t size)
{
	event->number = source->nr_read++;
	event->time_ns = to_ns(&info->posix_timestamp);
	if (event->number == 0)
		source->base_ns = source->file.foreign ? event->time_ns : 0;
	event->time_ns -= source->base_ns;
	if (event->number == 0)
		source->first_ns = event->time_ns;
	source->last_ns = event->time_ns;
	event->type = info->posix_event_id;
	event->name = source_type_name(source, event->type);
	event->row = event->type < SOURCE_TYPES ? source->type[event->type].row : NULL;
	event->context = txtrace_event_context(info);
	event->thread = source_context_name(source, event->context);
	event->priority = txtrace_event_priority(info);
	event->interrupted = txtrace_event_interrupted(info);
	event->cpu = txtrace_event_cpu(info);
	event->pid = info->posix_pid;
	event->address = txtrace_event_address(info);
	event->pthread = txtrace_event_thread(info);
	event->is_truncated = info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	event->size = size;
	event->data = source->data;
	if (event->type >= TXTRACE_SWITCH_IN && event->type <= TXTRACE_SCHED_THREAD &&
	    event->size >= TXTRACE_SCHED_SWITCH_BYTES) {
		event->context = source_find_context(source, event);
		event->thread = source_context_name(source, event->context);
	} else if (source->reused_tids.nr_taken > 0) {
		source_note_tid(source, event);
	}
	event->is_made = event->is_over = false;
	event->of = NULL;
	event->is_call = !source->file.foreign && !source->is_live &&
			 txtrace_get_call(source->trace, info, &event->call) == 0;
	event->waker = event->is_call ? source_context_name(source, event->call.waker) : NULL;
	event->code = programs_code(&source->programs, source, event);
}

bool source_next(struct source *source, struct event *event)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t size;

	if (posix_trace_getnext_event(source->trace, &info, source->data, source->data_size, &size,
				      &unavailable) != 0 ||
	    unavailable) {
		end_progress(source);
		source_report_missing(source);
		source_report_sched(source);
		return false;
	}
	describe_event(source, event, &info, size);
	if (event->type >= TXTRACE_SCHED_GAP && event->type <= TXTRACE_SCHED_STOP)
		source_note_sched(source, event);
	if (source->task && source->nr_read % PROGRESS_EVENTS == 0)
		progress(source->task, source->nr_read, source->file.nr_entries);
	return true;
}

bool source_go(struct source *source, int64_t time_ns)
{
	struct timespec time = {.tv_sec = time_ns / NS_PER_S, .tv_nsec = time_ns % NS_PER_S};
	unsigned long long nr_before;

	source_index(source);
	if (source->file.foreign || source->is_live || source->reused_tids.nr_taken > 0 || time_ns < 0 ||
	    txtrace_seek(source->trace, &time, &nr_before) != 0)
		return false;
	source->nr_read = nr_before;
	return true;
}

/* Active streams. */

struct source *source_attach(trace_id_t trace)
{
	struct source *source = make_source();

	source->path = "-";
	source->trace = trace;
	source->is_live = true;
	source->model = px_fields_native();
	make_types(source);
	if (posix_trace_get_attr(trace, &source->attr) != 0)
		posix_trace_attr_init(&source->attr);
	grow_data(source, data_bytes(source));
	return source;
}

/*
 * Add the thread with this handle if it is new.  A thread registers before its first event, so the stream already knows
 * the thread.
 */
static void add_thread(struct source *source, unsigned int handle)
{
	struct txtrace_object *object;
	struct txtrace_object found;

	if (handle == 0 || source_object(source, handle) ||
	    txtrace_get_thread(source->trace, handle, &found) != 0)
		return;
	object = must(malloc(sizeof(*object)));
	*object = found;
	*map_get(&source->by_handle, handle) = (uintptr_t)object;
}

bool source_wait(struct source *source, struct event *event, int wait_ms)
{
	struct posix_trace_event_info info;
	struct timespec until;
	int unavailable;
	size_t size;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ms * 1000000L;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	if (posix_trace_timedgetnext_event(source->trace, &info, source->data, source->data_size,
					   &size, &unavailable, &until) != 0 ||
	    unavailable)
		return false;
	add_thread(source, txtrace_event_context(&info));
	describe_event(source, event, &info, size);
	return true;
}

uint32_t event_word(const struct event *event, int i)
{
	uint32_t word = 0;

	if (event->is_call)
		return event->is_over ? 0 : event->call.word[i];
	if (event->size >= 4 * (size_t)i + 4)
		memcpy(&word, event->data + 4 * i, sizeof(word));
	return word;
}

unsigned int event_native(const struct event *event)
{
	unsigned long id = event->type - FOREIGN_TYPES;

	if (event->is_call)
		return event->is_over ? NATIVE_RUNNING : event->call.native;
	return event->type >= FOREIGN_TYPES && id < NATIVE_USER ? (unsigned int)id : 0;
}

const char *policy_name(int policy)
{
	switch (policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until-full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_APPEND:
		return "append";
	default:
		return "?";
	}
}
