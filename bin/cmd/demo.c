/* SPDX-License-Identifier: MIT */
/*
 * txtrace demo: run a small program that traces itself.  Clients put orders into a bounded queue.  Cooks take the
 * orders from the queue and share one oven.  One of the cooks is less urgent than the others.
 *
 * With the preloaded object, the trace also has the program's calls, so it shows waits, locks and priority inversions.
 * Then `record` runs the program: this executable with the argument KITCHEN.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "cli/command.h"
#include "live/preload.h"
#include "live/session.h"

#define NR_CLIENTS 2
#define NR_COOKS 3
#define NR_ORDERS 60 /* number of orders of each client */
#define QUEUE_PLACES 8
#define NS_PER_US 1000L
#define LESS_URGENT 5
#define KITCHEN "--kitchen" /* not for users, so not in the table of options */

static const struct option_row options[] = {
	{'o', "output", "FILE", "the log; default demo.trx"},
	OPTION_ROW_FORCE,
	OPTIONS_END,
};

enum step { ORDERED, QUEUE_FULL, TAKEN, OVEN_WAIT, OVEN_BEGIN, OVEN_END, SERVED, NR_STEPS };

static const char *const step_names[NR_STEPS] = {"order placed", "queue full", "order taken",
						 "oven wanted",	 "oven begin", "oven end",
						 "order served"};

static struct {
	trace_event_id_t step[NR_STEPS];
	pthread_mutex_t mutex; /* protects the queue */
	pthread_cond_t changed;
	uint32_t order[QUEUE_PLACES];
	unsigned int nr_waiting, first, nr_clients;
	pthread_mutex_t oven;
} kitchen = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	     .changed = PTHREAD_COND_INITIALIZER,
	     .oven = PTHREAD_MUTEX_INITIALIZER};

static void work_for(long us)
{
	const struct timespec time = {0, us * NS_PER_US};

	nanosleep(&time, NULL);
}

/*
 * Record the order number, and either the length of the queue or the number of the cook.  The data is a text such as
 * "1003 queue 8".  The text fits into the four words that TraceX shows.
 */
static void trace(enum step step, uint32_t order, const char *what, uint32_t number)
{
	char data[16];
	int length = snprintf(data, sizeof(data), "%u %s %u", order, what, number);

	posix_trace_event(kitchen.step[step], data, (size_t)length);
}

static void place(uint32_t order)
{
	pthread_mutex_lock(&kitchen.mutex);
	if (kitchen.nr_waiting == QUEUE_PLACES)
		trace(QUEUE_FULL, order, "queue", QUEUE_PLACES);
	while (kitchen.nr_waiting == QUEUE_PLACES)
		pthread_cond_wait(&kitchen.changed, &kitchen.mutex);
	kitchen.order[(kitchen.first + kitchen.nr_waiting++) % QUEUE_PLACES] = order;
	trace(ORDERED, order, "queue", kitchen.nr_waiting);
	pthread_cond_broadcast(&kitchen.changed);
	pthread_mutex_unlock(&kitchen.mutex);
}

/* Return false if no more orders will come. */
static bool take(uint32_t *order)
{
	bool has_one;

	pthread_mutex_lock(&kitchen.mutex);
	while (kitchen.nr_waiting == 0 && kitchen.nr_clients > 0)
		pthread_cond_wait(&kitchen.changed, &kitchen.mutex);
	has_one = kitchen.nr_waiting > 0;
	if (has_one) {
		*order = kitchen.order[kitchen.first];
		kitchen.first = (kitchen.first + 1) % QUEUE_PLACES;
		kitchen.nr_waiting--;
		trace(TAKEN, *order, "queue", kitchen.nr_waiting);
		pthread_cond_broadcast(&kitchen.changed);
	}
	pthread_mutex_unlock(&kitchen.mutex);
	return has_one;
}

static void *run_client(void *argument)
{
	uint32_t client = (uint32_t)(uintptr_t)argument + 1;
	char name[16];

	snprintf(name, sizeof(name), "client %u", client);
	pthread_setname_np(pthread_self(), name);
	for (uint32_t i = 0; i < NR_ORDERS; i++) {
		place(client * 1000 + i + 1);
		work_for(i % 16 < 10 ? 200 : 6000);
	}
	pthread_mutex_lock(&kitchen.mutex);
	kitchen.nr_clients--;
	pthread_cond_broadcast(&kitchen.changed);
	pthread_mutex_unlock(&kitchen.mutex);
	return NULL;
}

static void *run_cook(void *argument)
{
	uint32_t cook = (uint32_t)(uintptr_t)argument + 1, order;
	char name[16];

	snprintf(name, sizeof(name), "cook %u", cook);
	pthread_setname_np(pthread_self(), name);
	while (take(&order)) {
		work_for(500);
		trace(OVEN_WAIT, order, "cook", cook);
		pthread_mutex_lock(&kitchen.oven);
		trace(OVEN_BEGIN, order, "cook", cook);
		work_for(order % 7 == 0 ? 6000 : 1000);
		trace(OVEN_END, order, "cook", cook);
		pthread_mutex_unlock(&kitchen.oven);
		trace(SERVED, order, "cook", cook);
	}
	return NULL;
}

static void name_objects(void)
{
	txtrace_name_object(&kitchen.mutex, "queue lock");
	txtrace_name_object(&kitchen.changed, "queue changed");
	txtrace_name_object(&kitchen.oven, "oven");
}

/*
 * Start the clients last, and only if all cooks have started.  Otherwise a client could wait forever.  A thread
 * inherits the priority of the thread that starts it.
 */
static int run_kitchen(void)
{
	pthread_t threads[NR_COOKS + NR_CLIENTS];
	int usual = getpriority(PRIO_PROCESS, 0);
	int nr = 0, error = 0;

	name_objects();
	kitchen.nr_clients = NR_CLIENTS;
	while (!error && nr < NR_COOKS + NR_CLIENTS) {
		bool is_cook = nr < NR_COOKS;
		uintptr_t number = (uintptr_t)(is_cook ? nr : nr - NR_COOKS);

		if (nr == NR_COOKS - 1)
			setpriority(PRIO_PROCESS, 0, usual + LESS_URGENT);
		error = pthread_create(&threads[nr], NULL, is_cook ? run_cook : run_client,
				       (void *)number);
		nr += !error;
	}
	if (error) {
		pthread_mutex_lock(&kitchen.mutex);
		kitchen.nr_clients -= (unsigned int)(nr < NR_COOKS ? NR_CLIENTS :
								     NR_COOKS + NR_CLIENTS - nr);
		pthread_cond_broadcast(&kitchen.changed);
		pthread_mutex_unlock(&kitchen.mutex);
	}
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return error;
}

/* The process whose calls `record` records. */
static int run_recorded(void)
{
	int error = 0;

	for (int i = 0; i < NR_STEPS && !error; i++)
		error = posix_trace_eventid_open(step_names[i], &kitchen.step[i]);
	if (!error)
		error = run_kitchen();
	if (error)
		message_error(error, "cannot trace the demo");
	return error ? EXIT_TROUBLE : EXIT_FINE;
}

/* Store the path of this executable.  Return false if the object cannot be preloaded into it. */
static bool can_preload(char self[PATH_MAX])
{
	struct preload_program program;
	char object[PATH_MAX], why_not[PATH_MAX + 256];
	ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);
	bool can;

	if (length <= 0 || !preload_find(object, why_not, sizeof(why_not)))
		return false;
	self[length] = '\0';
	preload_inspect(&program, self, object);
	can = !program.why_not[0] && !program.sanitizer[0];
	preload_end(&program);
	return can;
}

/* In the name of a log, % begins a place holder, and %% is a %.  The caller frees the name. */
static char *log_name(const char *path)
{
	char *name = must(calloc(2, strlen(path) + 1)), *to = name;

	for (; *path; path++) {
		*to++ = *path;
		if (*path == '%')
			*to++ = '%';
	}
	return name;
}

static int record_demo(const char *path, bool overwrites, char *self)
{
	char *name = log_name(path), text[] = "record", preload[] = "--preload", quiet[] = "--quiet",
	     growing[] = "--policy=append", title[] = "--name=demo", output[] = "-o", force[] = "--force",
	     end[] = "--", kitchen_argument[] = KITCHEN, demo[] = "demo";
	char *arguments[] = {text, preload, quiet, growing, title, output, name,
			     overwrites ? force : quiet, end, self, demo, kitchen_argument, NULL};
	int code;

	optind = 0; /* getopt() begins again */
	code = cmd_record.run((int)(sizeof(arguments) / sizeof(arguments[0])) - 1, arguments);
	free(name);
	return code == 0 ? EXIT_FINE : EXIT_TROUBLE;
}

static int create(int fd, trace_id_t *trid)
{
	trace_attr_t attr;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setname(&attr, "demo");
	if (!error)
		error = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (!error)
		error = posix_trace_create_withlog(0, &attr, fd, trid);
	posix_trace_attr_destroy(&attr);
	for (int i = 0; i < NR_STEPS && !error; i++)
		error = posix_trace_eventid_open(step_names[i], &kitchen.step[i]);
	return error;
}

static int trace_kitchen(int fd)
{
	trace_id_t trid = 0;
	int error = create(fd, &trid), end_error;

	if (!error)
		error = posix_trace_start(trid);
	if (!error)
		error = run_kitchen();
	end_error = posix_trace_shutdown(trid);
	return error ? error : end_error;
}

static int write_demo(const char *path, bool overwrites)
{
	char *aside;
	int fd = session_open_log(path, overwrites, &aside);
	int error;

	if (fd < 0)
		return EXIT_TROUBLE;
	error = trace_kitchen(fd);
	close(fd);
	if (error) {
		session_drop_log(path, &aside);
		message_error(error, "cannot trace the demo");
		return EXIT_TROUBLE;
	}
	session_keep_log(&aside);
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	const char *path = "demo.trx";
	char self[PATH_MAX];
	bool overwrites = false;
	int code;

	if (argc == 2 && strcmp(argv[1], KITCHEN) == 0)
		return run_recorded();

	while ((code = options_next(&cmd_demo, argc, argv)) != -1) {
		if (code == 'o')
			path = optarg;
		else if (code == OPTION_FORCE)
			overwrites = true;
		else
			return EXIT_TROUBLE;
	}
	if (optind != argc) {
		message("demo takes no argument; see txtrace demo --help");
		return EXIT_TROUBLE;
	}
	code = can_preload(self) ? record_demo(path, overwrites, self) : write_demo(path, overwrites);
	if (code == EXIT_FINE)
		message("wrote %s; look at it with: txtrace print %s", path, path);
	return code;
}

const struct command cmd_demo = {
	.name = "demo",
	.arguments = "",
	.summary = "write a sample trace for trying the other commands",
	.options = options,
	.run = run,
};
