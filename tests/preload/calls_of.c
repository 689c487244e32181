/* SPDX-License-Identifier: MIT */
/*
 * calls_of [-2] OBJECT GROUP,...  PROGRAM [ARGUMENT...]: run the program with the object preloaded, trace it, and print
 * the calls of these groups, thread by thread, in a form that is the same each time.  Objects and descriptors are
 * letters, in the order of their first use.  Threads are "self" and "other", and times of waiting are "some" or "none".
 * If a mutex has two owners at the same time, in the order of the trace, print this on standard error and exit with 1.
 * With -2 there are two streams, and calls_of reads the second one.  It reads the stream itself, so it sees the
 * recorded events, before a log translates them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#include "event/calls.h"
#include "stream/handle.h"
#include "stream/stream.h"

#define THREADS_MAX 256
#define OBJECTS_MAX 64
#define LINE_MAX_ 256

enum { LOCK = 52, UNLOCK = 57 }; /* in the order in which ThreadX has them */

static const struct {
	const char *group;
	const char *fields;
} calls[PX_CALLS] = {
#define PX_CALL(name, group, layout, object, native, state, i1, i2, i3, i4, fields)                \
	{#group, fields},
#include "event/calls.def"
};

static struct thread {
	uint32_t context;
	char *text;
	size_t length;
} threads[THREADS_MAX];

static uint64_t objects[OBJECTS_MAX];
static const char *groups;

static __attribute__((noreturn)) void fail(const char *what, int error)
{
	fprintf(stderr, "calls_of: %s: %s\n", what, strerror(error));
	exit(99);
}

static bool is_wanted(enum px_call call)
{
	size_t length = strlen(calls[call].group);

	for (const char *p = groups; (p = strstr(p, calls[call].group)); p += length)
		if ((p == groups || p[-1] == ',') && (p[length] == ',' || p[length] == '\0'))
			return true;
	return call == PX_CALL_sched_yield || call == PX_CALL_thrd_yield;
}

static char letter_of(uint64_t object)
{
	int i = 0;

	if (object == 0)
		return '0';
	while (i < OBJECTS_MAX - 1 && objects[i] != 0 && objects[i] != object)
		i++;
	objects[i] = object;
	return (char)(i < 26 ? 'A' + i : 'a' + i - 26);
}

/* Names that the program creates contain its pid. */
static void print_text(FILE *out, const unsigned char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isdigit(text[i]))
			putc(text[i], out);
		else if (i == 0 || !isdigit(text[i - 1]))
			putc('N', out);
}

static uint64_t number_of(const unsigned char *data, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, data, size);
	return number;
}

/* The descriptor that a call opens may have any number.  For other calls, print the result. */
static void print_number(FILE *out, enum px_call call, char kind, const char *name, uint64_t number,
			 uint32_t tid)
{
	if (kind == 'p')
		putc(letter_of(number), out);
	else if (kind == 't')
		fputs(number == 0 ? "none" : number == tid ? "self" : "other", out);
	else if (kind == 'd')
		fputs((int32_t)number < 0 ? "-1" : "open", out);
	else if (strcmp(name, "waited_ns") == 0 || strcmp(name, "left") == 0)
		fputs(number ? "some" : "none", out);
	else if (kind == 'q' && call == PX_CALL_mq_open && (int64_t)number >= 0)
		fputs("open", out);
	else
		fprintf(out, "%lld", (long long)number);
}

static size_t size_of(char kind)
{
	return strchr("pnq", kind) ? 8 : strchr("hec", kind) ? 2 : 4;
}

static void print_fields(FILE *out, enum px_call call, const unsigned char *data, size_t length,
			 uint32_t tid)
{
	bool is_fd = px_calls[call].layout == PX_LAYOUT_FD;
	char fields[LINE_MAX_], *rest, *field;
	size_t at = 0;

	snprintf(fields, sizeof(fields), "%s", calls[call].fields);
	for (int i = 0; (field = strtok_r(i ? NULL : fields, " ", &rest)); i++) {
		static const size_t of_object[] = {8, 4, 2, 2}, of_fd[] = {4, 4, 8};
		char *kind = strchr(field, ':');
		size_t size = is_fd ? i < 3 ? of_fd[i] :
				      kind  ? size_of(kind[1]) :
					      0 :
			      i < 4 ? of_object[i] :
			      kind  ? size_of(kind[1]) :
				      0;

		if (kind && kind[1] == 's') {
			fprintf(out, " %.*s=", (int)(kind - field), field);
			print_text(out, data + at, length - at);
			return;
		}
		if (kind && at + size <= length) {
			*kind = '\0';
			fprintf(out, " %s=", field);
			print_number(out, call, kind[1], field, number_of(data + at, size), tid);
		}
		at += size;
	}
}

static struct thread *thread_of(uint32_t context)
{
	for (int i = 0; i < THREADS_MAX; i++) {
		if (threads[i].context == context)
			return &threads[i];
		if (threads[i].context == 0) {
			threads[i].context = context;
			return &threads[i];
		}
	}
	fail("threads", ENOMEM);
}

static struct {
	uint64_t mutex;
	uint32_t holder; /* context */
} held[OBJECTS_MAX];
static int nr_two_owners;

/* A mutex has no owner when a thread acquires it, and its owner releases it last. */
static void follow_owner(const struct px_record *record, enum px_call call, const void *data)
{
	union px_call_data words;
	int i = 0;

	memcpy(&words, data, sizeof(words));
	if (strcmp(calls[call].group, "mutex") != 0 ||
	    (words.of_object.result != 0 && words.of_object.result != EOWNERDEAD))
		return;
	while (i < OBJECTS_MAX - 1 && held[i].mutex != 0 && held[i].mutex != words.of_object.object)
		i++;
	held[i].mutex = words.of_object.object;
	if (px_calls[call].native == UNLOCK) {
		if (words.of_object.count <= 1)
			held[i].holder = 0;
	} else if (px_calls[call].native != LOCK) {
		held[i].holder = 0;
	} else if (!(record->flags & PX_RECORD_BEGINS) && words.of_object.value == 0) {
		nr_two_owners += held[i].holder != 0 && words.of_object.result == 0;
		held[i].holder = record->context;
	}
}

static void take(trace_id_t trid, const struct px_record *record, const unsigned char *data,
		 size_t length)
{
	struct thread *thread;
	struct txtrace_object object;
	enum px_call call;
	char *line;
	size_t size;
	FILE *out;

	if (!(record->flags & PX_RECORD_CALL) || !px_call_of_event(record->id, &call) ||
	    !is_wanted(call))
		return;
	follow_owner(record, call, data);
	if (txtrace_get_thread(trid, record->context, &object) != 0)
		fail("a thread that is not known", ESRCH);
	out = open_memstream(&line, &size);
	fputs(px_call_name(call), out);
	if (record->flags & PX_RECORD_BEGINS)
		fputs(" BEGINS", out);
	if (record->flags & PX_RECORD_ENDS)
		fputs(" ENDS", out);
	print_fields(out, call, data, length, (uint32_t)object.tid);
	putc('\n', out);
	fclose(out);
	thread = thread_of(record->context);
	thread->text = realloc(thread->text, thread->length + size + 1);
	memcpy(thread->text + thread->length, line, size + 1);
	thread->length += size;
	free(line);
}

static void read_all(trace_id_t trid)
{
	struct px_stream *stream = px_handle_lock(trid);
	unsigned char data[1024];
	struct px_report report;
	enum px_next next;

	while ((next = px_stream_next(stream, data, sizeof(data), &report)) != PX_NEXT_NONE) {
		if (next != PX_NEXT_EVENT)
			continue;
		px_handle_unlock(trid);
		take(trid, &report.record, data, report.copied);
		stream = px_handle_lock(trid);
	}
	px_handle_unlock(trid);
}

/* The program waits until it is traced. */
static pid_t start(char **argv, int *release)
{
	int way[2];
	char go;
	pid_t pid;

	if (pipe(way) != 0)
		fail("pipe", errno);
	pid = fork();
	if (pid == 0) {
		close(way[1]);
		if (read(way[0], &go, 1) != 1)
			_exit(99);
		close(way[0]);
		setenv("LD_PRELOAD", argv[1], 1);
		execv(argv[3], argv + 3);
		_exit(127);
	}
	close(way[0]);
	*release = way[1];
	return pid;
}

static void trace(pid_t pid, trace_id_t *trid)
{
	trace_attr_t attr;
	int error;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, 8 << 20);
	error = posix_trace_create(pid, &attr, trid);
	if (!error)
		error = posix_trace_start(*trid);
	if (error)
		fail("stream", error);
}

int main(int argc, char **argv)
{
	bool is_second = argc > 1 && strcmp(argv[1], "-2") == 0;
	struct posix_trace_status_info info;
	int error;
	trace_id_t trid;
	int release, status = 0;
	pid_t pid;

	argv += is_second;
	if (argc < 4 + is_second)
		fail("arguments", EINVAL);
	groups = argv[2];
	pid = start(argv, &release);
	trace(pid, &trid);
	if (is_second)
		trace(pid, &trid);
	if (write(release, "", 1) != 1 || waitpid(pid, &status, 0) != pid || status != 0)
		fail(argv[3], ECHILD);
	error = posix_trace_stop(trid);
	if (error == 0)
		error = posix_trace_get_status(trid, &info);
	if (error == 0 && info.posix_stream_overrun_status != POSIX_TRACE_NO_OVERRUN)
		error = EOVERFLOW;
	if (error != 0)
		fail("the stream", error);
	read_all(trid);
	for (int i = 0; i < THREADS_MAX && threads[i].context; i++)
		printf("thread %d:\n%s", i + 1, threads[i].text);
	if (nr_two_owners > 0)
		fprintf(stderr, "calls_of: %d times a mutex has two owners\n", nr_two_owners);
	return nr_two_owners > 0;
}
