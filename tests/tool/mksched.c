/* SPDX-License-Identifier: MIT */
/*
 * Writes a log from a description: mksched FILE [COUNT [PID]] < DESCRIPTION.  If COUNT is not 0, it is a LOOP log that
 * has overwritten so many events before those of the description, and its stream has lost twice as many.  Each line of
 * the description is an event, in the order of time; "#" begins a comment.  TIME is in microseconds.  TID is also the
 * number of the handle.  PID is that of the process; default 100.
 *
 *	TIME start | stop			TXTRACE_SCHED_START; TXTRACE_SCHED_STOP
 *	TIME died				TXTRACE_SCHED_STOP, because the recorder died
 *	TIME thread TID STATE NAME		TXTRACE_SCHED_THREAD
 *	TIME in TID CPU				TXTRACE_SWITCH_IN
 *	TIME out TID CPU STATE			TXTRACE_SWITCH_OUT
 *	TIME gap CPU				TXTRACE_SCHED_GAP begins
 *	TIME resume CPU LOST			TXTRACE_SCHED_GAP ends
 *	TIME counted TID RAN READY		TXTRACE_CPU_TIME, in us
 *	TIME event TID CPU			an event of the program, posix_trace_unnamed_userevent
 *	TIME call TID CPU NAME PHASE OBJECT VALUE COUNT RESULT
 *						a recorded call (calls.def), with OBJECT in hex; PHASE is whole, begins
 *						or ends
 *
 *	TIME exec TID HANDLE NAME		the thread executes another program: from now on it has this handle and
 *						name
 *	TIME priority TID NUMBER		from now on, the thread has this priority in its events; at first 100
 *
 * STATE is unknown, running, ready, blocked, ended or runnable.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>

#include "event/calls.h"
#include "event/names.h"
#include "support/far_log.h"

#define BEGIN_NS UINT64_C(1700000000000000000)

static struct px_threads threads;
static struct px_typelist types;
static struct px_log *log_;
static struct px_log_state log_state;
static unsigned int line_number;
static unsigned int process = 100;
static unsigned int priority_of[256]; /* by tid; 1 + the priority, or 0 */
static unsigned int handle_of[256];   /* by tid, after an exec; or 0 */

static void fail(const char *what)
{
	fprintf(stderr, "mksched: line %u: %s\n", line_number, what);
	exit(1);
}

static unsigned int state_of(const char *word)
{
	static const char *const words[] = {"unknown", "running", "ready", "blocked", "ended", "runnable"};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0)
			return i;
	fail("no such state");
	return 0;
}

static uint32_t handle(uint32_t tid)
{
	return px_txtb_handle(PX_TXTB_THREAD, handle_of[tid % 256] ? handle_of[tid % 256] : tid);
}

static void add_thread(uint32_t tid, const char *name)
{
	struct px_object object = {.handle = handle(tid),
				   .type = PX_TXTB_THREAD,
				   .priority = 100,
				   .pid = process,
				   .tid = tid,
				   .thread = 0x7000 + tid};
	struct px_object known;

	if (px_threads_find(&threads, object.handle, &known))
		return;
	snprintf(object.name, sizeof(object.name), "%s", name);
	px_threads_add(&threads, &object);
}

static void append(uint64_t time_us, uint32_t id, uint32_t tid, uint32_t cpu, uint32_t flags,
		   const void *data, size_t size)
{
	char text[32];
	unsigned int of_thread = priority_of[tid % 256] ? priority_of[tid % 256] - 1 : 100;
	struct px_report report = {
		.record = {.id = id,
			   .pid = tid ? process : 0,
			   .thread = tid ? 0x7000 + tid : 0,
			   .context = tid ? handle(tid) : 0,
			   .priority = px_txtb_priority_word(tid ? of_thread : 0),
			   .cpu = cpu,
			   .flags = flags},
		.time_ns = BEGIN_NS + time_us * 1000,
		.length = size,
		.copied = size};

	snprintf(text, sizeof(text), "thread-%u", tid);
	if (tid)
		add_thread(tid, text);
	while (px_log_append(log_, &report, data) == PX_LOG_WRITE_FIRST)
		if (px_log_write(log_, &log_state) != 0)
			fail("cannot write");
}

static void append_gap(uint64_t time_us, unsigned int cpu, unsigned int phase, unsigned long long nr_lost)
{
	struct txtrace_sched_gap gap = {.nr_lost = nr_lost, .cpu = cpu, .phase = phase};

	append(time_us, PX_EVENT_SCHED_GAP, 0, cpu, 0, &gap, sizeof(gap));
}

static void append_switch(uint64_t time_us, uint32_t id, uint32_t tid, uint32_t cpu, unsigned int state)
{
	struct txtrace_sched data = {.tid = (pid_t)tid, .pid = (pid_t)process, .cpu = cpu, .state = state};

	append(time_us, id, tid, cpu, 0, &data, TXTRACE_SCHED_SWITCH_BYTES);
}

static void append_thread(uint64_t time_us, uint32_t tid, unsigned int state, const char *name)
{
	struct txtrace_sched data = {.tid = (pid_t)tid, .pid = (pid_t)process, .state = state};

	snprintf(data.name, sizeof(data.name), "%.*s", (int)sizeof(data.name) - 1, name);
	add_thread(tid, name);
	append(time_us, PX_EVENT_SCHED_THREAD, tid, 0, 0, &data, sizeof(data));
}

static void append_counted(uint64_t time_us, uint32_t tid, unsigned long long ran_us, unsigned long long ready_us)
{
	struct txtrace_cpu_time data = {
		.tid = (pid_t)tid, .pid = (pid_t)process, .ran_ns = ran_us * 1000, .ready_ns = ready_us * 1000};

	snprintf(data.name, sizeof(data.name), "counted-%u", tid);
	append(time_us, PX_EVENT_CPU_TIME, tid, 0, 0, &data, sizeof(data));
}

static void append_call(uint64_t time_us, const char *rest)
{
	unsigned int tid, cpu, value, count, flags = PX_RECORD_CALL, id;
	char name[64], phase[16];
	union px_call_data data = {.words = {0, 0}};
	uint64_t object;
	int result;

	if (sscanf(rest, "%u %u %63s %15s %" SCNx64 " %u %u %d", &tid, &cpu, name, phase, &object,
		   &value, &count, &result) != 8)
		fail("not a call");
	px_names_find(NULL, name, &id);
	if (id < PX_EVENT_CALL_FIRST)
		fail("no such call");
	px_typelist_add(&types, id, name);
	data.of_object.object = object;
	data.of_object.value = value;
	data.of_object.count = (uint16_t)count;
	data.of_object.result = (int16_t)result;
	if (strcmp(phase, "begins") == 0)
		flags |= PX_RECORD_BEGINS;
	else if (strcmp(phase, "ends") == 0)
		flags |= PX_RECORD_ENDS;
	append(time_us, id, tid, cpu, flags, &data, sizeof(data));
}

static void execute(uint32_t tid, unsigned int other, const char *name)
{
	handle_of[tid % 256] = other;
	add_thread(tid, name);
}

static void append_line(uint64_t time_us, const char *word, const char *rest)
{
	int died = TXTRACE_SCHED_CONTROLLER, stopped = TXTRACE_SCHED_STOPPED;
	unsigned int a = 0, b = 0;
	unsigned long long nr_lost = 0, ready_us = 0;
	char text[32] = "", name[32] = "";

	if (strcmp(word, "call") == 0)
		append_call(time_us, rest);
	else if (strcmp(word, "exec") == 0 && sscanf(rest, "%u %u %31s", &a, &b, name) == 3)
		execute(a, b, name);
	else if (strcmp(word, "priority") == 0 && sscanf(rest, "%u %u", &a, &b) == 2)
		priority_of[a % 256] = b + 1;
	else if (strcmp(word, "start") == 0)
		append(time_us, PX_EVENT_SCHED_START, 0, 0, 0, NULL, 0);
	else if (strcmp(word, "stop") == 0)
		append(time_us, PX_EVENT_SCHED_STOP, 0, 0, 0, &stopped, sizeof(stopped));
	else if (strcmp(word, "died") == 0)
		append(time_us, PX_EVENT_SCHED_STOP, 0, 0, 0, &died, sizeof(died));
	else if (strcmp(word, "thread") == 0 && sscanf(rest, "%u %31s %31s", &a, text, name) == 3)
		append_thread(time_us, a, state_of(text), name);
	else if (strcmp(word, "in") == 0 && sscanf(rest, "%u %u", &a, &b) == 2)
		append_switch(time_us, PX_EVENT_SWITCH_IN, a, b, TXTRACE_RUNNING);
	else if (strcmp(word, "out") == 0 && sscanf(rest, "%u %u %31s", &a, &b, text) == 3)
		append_switch(time_us, PX_EVENT_SWITCH_OUT, a, b, state_of(text));
	else if (strcmp(word, "gap") == 0 && sscanf(rest, "%u", &a) == 1)
		append_gap(time_us, a, TXTRACE_GAP_BEGINS, 0);
	else if (strcmp(word, "resume") == 0 && sscanf(rest, "%u %llu", &a, &nr_lost) == 2)
		append_gap(time_us, a, TXTRACE_GAP_ENDS, nr_lost);
	else if (strcmp(word, "counted") == 0 && sscanf(rest, "%u %llu %llu", &a, &nr_lost, &ready_us) == 3)
		append_counted(time_us, a, nr_lost, ready_us);
	else if (strcmp(word, "event") == 0 && sscanf(rest, "%u %u", &a, &b) == 2)
		append(time_us, PX_EVENT_UNNAMED, a, b, 0, NULL, 0);
	else
		fail("no such event");
}

static void read_description(void)
{
	char line[256], word[16];
	unsigned long long time_us;
	int used;

	while (fgets(line, sizeof(line), stdin)) {
		line_number++;
		line[strcspn(line, "#\n")] = '\0';
		if (line[strspn(line, " \t")] == '\0')
			continue;
		if (sscanf(line, "%llu %15s %n", &time_us, word, &used) != 2)
			fail("no time and event");
		append_line(time_us, word, line + used);
	}
}

int main(int argc, char **argv)
{
	int fd = argc >= 2 && argc <= 4 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	uint64_t count = argc >= 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct px_attr attr;
	struct px_log_setup setup = {.fd = fd,
				     .attr = &attr,
				     .writer = {.pid = 0x7FFFFFFF, .start = 1},
				     .target_pid = process,
				     .threads = &threads,
				     .types = &types};

	if (argc == 4)
		setup.target_pid = process = (unsigned int)strtoul(argv[3], NULL, 10);
	if (fd < 0) {
		fprintf(stderr, "usage: mksched FILE [COUNT [PID]] < DESCRIPTION\n");
		return 2;
	}
	px_attr_init(&attr);
	px_attr_set_name(&attr, "mksched");
	attr.log_policy = count > 0 ? PX_POLICY_LOOP : PX_POLICY_APPEND;
	attr.log_size = 1 << 20;
	attr.nr_rings = 1;
	attr.sched = 1;
	if (px_log_create(&setup, &log_state, &log_) != 0)
		fail("cannot create the log");
	if (count > 0)
		px_test_go_far(log_, count, count);
	log_state.loss.dropped = 2 * count;
	read_description();
	if (px_log_complete(log_, &log_state, PX_LOG_COMPLETE) != 0)
		fail("cannot complete the log");
	return 0;
}
