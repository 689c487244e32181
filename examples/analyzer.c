/* SPDX-License-Identifier: MIT */
/*
 * An analyzer: prints a trace from a file that another program has written.  The file is a log of a posixtrace
 * program, or a trace buffer recorded by ThreadX.
 *
 * The program uses only the installed interface: cc -std=gnu11 analyzer.c -lposixtrace
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define SHOWN_BYTES 16 /* of an event's data */
#define NS_PER_S 1000000000
#define THREAD_OBJECT 1

static struct thread {
	unsigned int context;
	char name[64];
} * threads;
static size_t nr_threads;

static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "analyzer: %s: %s\n", what, strerror(error));
	exit(1);
}

/* Events contain the handle of their thread as their context. */
static void read_threads(trace_id_t trace)
{
	struct txtrace_object object;
	int unavailable;

	for (;;) {
		check(txtrace_getnext_object(trace, &object, &unavailable),
		      "txtrace_getnext_object");
		if (unavailable)
			return;
		if (object.type != THREAD_OBJECT)
			continue;
		threads = reallocarray(threads, nr_threads + 1, sizeof(*threads));
		if (!threads)
			check(ENOMEM, "threads");
		threads[nr_threads].context = object.handle;
		memcpy(threads[nr_threads].name, object.name, sizeof(object.name));
		nr_threads++;
	}
}

static const char *thread_of(const struct posix_trace_event_info *event)
{
	unsigned int context = txtrace_event_context(event);

	for (size_t i = 0; i < nr_threads; i++)
		if (threads[i].context == context)
			return threads[i].name;
	return context == 0xFFFFFFFF ? "interrupt" : context == 0xF0F0F0F0 ? "initialization" : "-";
}

/* Names come from a file, so send only printable characters to the terminal. */
static void print_text(const char *text, size_t length, int width)
{
	for (size_t i = 0; i < length && text[i]; i++, width--)
		putchar(isprint((unsigned char)text[i]) ? text[i] : '?');
	printf("%*s", width > 0 ? width : 0, "");
}

static const char *policy_name(int policy)
{
	switch (policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_APPEND:
		return "append";
	default:
		return "?";
	}
}

static void print_attributes(trace_id_t trace)
{
	char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1], when[64] = "?";
	struct timespec created;
	int stream_policy, log_policy;
	struct txtrace_file_info file;
	trace_attr_t attr;
	struct tm *date;

	check(posix_trace_get_attr(trace, &attr), "posix_trace_get_attr");
	check(posix_trace_attr_getname(&attr, name), "posix_trace_attr_getname");
	check(posix_trace_attr_getgenversion(&attr, version), "posix_trace_attr_getgenversion");
	check(posix_trace_attr_getcreatetime(&attr, &created), "posix_trace_attr_getcreatetime");
	check(posix_trace_attr_getstreamfullpolicy(&attr, &stream_policy),
	      "posix_trace_attr_getstreamfullpolicy");
	check(posix_trace_attr_getlogfullpolicy(&attr, &log_policy),
	      "posix_trace_attr_getlogfullpolicy");
	date = localtime(&created.tv_sec);
	if (date)
		strftime(when, sizeof(when), "%F %T", date);
	fputs("trace     ", stdout);
	print_text(*name ? name : "(no name)", sizeof(name), 0);
	printf("\ncreated   %s by ", when);
	print_text(version, sizeof(version), 0);
	putchar('\n');
	check(txtrace_get_file_info(trace, &file), "txtrace_get_file_info");
	if (!file.foreign)
		printf("policies  stream %s, log %s\n", policy_name(stream_policy),
		       policy_name(log_policy));
}

static void print_status(trace_id_t trace)
{
	struct posix_trace_status_info status;
	struct txtrace_file_info file;
	struct txtrace_loss loss;

	check(posix_trace_get_status(trace, &status), "posix_trace_get_status");
	check(txtrace_get_loss(trace, &loss), "txtrace_get_loss");
	check(txtrace_get_file_info(trace, &file), "txtrace_get_file_info");
	printf("file      %s%s%s, %u volume%s, a tick of %g ns, %llu entries\n",
	       file.foreign ? "ThreadX trace buffer" : "posixtrace log",
	       file.byte_swapped ? ", other byte order" : "",
	       file.complete ? "" : ", its writer died", file.nr_volumes,
	       file.nr_volumes == 1 ? "" : "s", file.tick_ns, file.nr_entries);
	printf("lost      %llu overwritten, %llu dropped, %llu abandoned%s\n\n", loss.overwritten,
	       loss.dropped, loss.abandoned,
	       status.posix_log_overrun_status == POSIX_TRACE_OVERRUN ?
		       "; the log has not all that the stream had" :
		       "");
}

static void print_data(const unsigned char *data, size_t length)
{
	size_t shown = length < SHOWN_BYTES ? length : SHOWN_BYTES;

	for (size_t i = 0; i < shown; i++)
		printf("%02x%s", data[i], i % 4 == 3 ? " " : "");
	if (length > shown)
		printf("... %zu bytes", length);
	putchar('\n');
}

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static void print_event(trace_id_t trace, const struct posix_trace_event_info *event,
			const unsigned char *data, size_t length, int64_t since_ns)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "?";

	posix_trace_eventid_get_name(trace, event->posix_event_id, name);
	printf("%9" PRId64 ".%03d  %3u  ", since_ns / 1000, (int)(since_ns % 1000),
	       txtrace_event_cpu(event));
	print_text(thread_of(event), 64, 20);
	fputs("  ", stdout);
	print_text(name, sizeof(name), 32);
	fputs("  ", stdout);
	print_data(data, length);
}

static void print_events(trace_id_t trace, unsigned long long most)
{
	static unsigned char data[65536];
	struct posix_trace_event_info event;
	unsigned long long n = 0;
	int64_t origin_ns = 0;
	size_t length;
	int unavailable;

	printf("%13s  %3s  %-20s  %-32s  %s\n", "time us", "cpu", "thread", "event", "data");
	for (;; n++) {
		check(posix_trace_getnext_event(trace, &event, data, sizeof(data), &length,
						&unavailable),
		      "posix_trace_getnext_event");
		if (unavailable)
			break;
		if (n == 0)
			origin_ns = to_ns(&event.posix_timestamp);
		if (n < most)
			print_event(trace, &event, data, length,
				    to_ns(&event.posix_timestamp) - origin_ns);
	}
	if (n > most)
		printf("... %llu more; --events N prints N of them\n", n - most);
	printf("\n%llu events\n", n);
}

static _Noreturn void print_help(FILE *to, int status)
{
	fputs("usage: analyzer [--events N] FILE\n"
	      "Print the trace in FILE, a log of posixtrace or a trace buffer of ThreadX; of its "
	      "events\n"
	      "the first N (default 40).\n",
	      to);
	exit(status);
}

static bool parse_number(const char *text, unsigned long long *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

int main(int argc, char **argv)
{
	unsigned long long most = 40;
	trace_id_t trace;
	int error, fd;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		print_help(stdout, 0);
	if (argc == 4 && strcmp(argv[1], "--events") == 0 && parse_number(argv[2], &most)) {
		argv += 2;
		argc -= 2;
	}
	if (argc != 2 || argv[1][0] == '-')
		print_help(stderr, 2);
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		check(errno, argv[1]);
	error = posix_trace_open(fd, &trace);
	if (error == EINVAL) {
		fprintf(stderr,
			"analyzer: %s: not a trace that can be read here, or one that is still "
			"written\n",
			argv[1]);
		exit(1);
	}
	check(error, argv[1]);
	read_threads(trace);
	print_attributes(trace);
	print_status(trace);
	print_events(trace, most);
	check(posix_trace_close(trace), "posix_trace_close");
	close(fd);
	free(threads);
	return fflush(stdout) != 0 || ferror(stdout);
}
