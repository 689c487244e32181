/* SPDX-License-Identifier: MIT */
/*
 * switch_parts [ROUNDS]: what makes a switch cost more while its records are on, for threads that began before the
 * recording.  Two threads of a child take turns through two pipes on CPU 0.  In each round they do so alone, and with
 * events of the kernel that have more and more of what lib/sched/perf.c asks for.  The unit is CPU time of the child.
 * The output is the median of the costs, and of what each costs more than the bare switch of its round.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15
#define ROUNDS_MAX 1000
#define TURNS 20000
#define BUFFER_BYTES (1 << 20)

struct part {
	const char *name;
	bool has_events, is_disabled, has_records, is_cpu_wide;
	uint64_t fields; /* of each record */
};

static const struct part parts[] = {
	{"bare switch", false, false, false, false, 0},
	{"events that are off", true, true, false, false, 0},
	{"events", true, false, false, false, 0},
	{"records without fields", true, false, true, false, 0},
	{"records with the thread", true, false, true, false, PERF_SAMPLE_TID},
	{"records with the time", true, false, true, false, PERF_SAMPLE_TIME},
	{"records with both, as in a recording", true, false, true, false, PERF_SAMPLE_TID | PERF_SAMPLE_TIME},
	{"the same, of all threads of the CPU", true, false, true, true, PERF_SAMPLE_TID | PERF_SAMPLE_TIME},
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static int there[2], back[2], ask[2], answer[2];
static _Atomic pid_t echo_tid;
static struct perf_event_mmap_page *buffer;
static atomic_bool is_over;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "switch_parts: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void use_cpu(size_t number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *echo(void *unused)
{
	char byte;

	atomic_store(&echo_tid, (pid_t)syscall(SYS_gettid));
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return unused;
}

static _Noreturn void serve(void)
{
	pid_t tids[2] = {getpid(), 0};
	pthread_t thread;
	char byte;

	use_cpu(0);
	if (pthread_create(&thread, NULL, echo, NULL) != 0)
		exit(1);
	while (atomic_load(&echo_tid) == 0)
		usleep(100);
	tids[1] = atomic_load(&echo_tid);
	if (write(answer[1], tids, sizeof(tids)) != sizeof(tids))
		exit(1);
	while (read(ask[0], &byte, 1) == 1) {
		int64_t begin = cpu_ns();
		double ns;

		for (int i = 0; i < TURNS; i++)
			if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				exit(1);
		ns = (double)(cpu_ns() - begin) / (2 * TURNS);
		if (write(answer[1], &ns, sizeof(ns)) != sizeof(ns))
			exit(1);
	}
	_exit(0);
}

/* Open an event for a thread, or for all threads (-1).  The events share the buffer of the first one. */
static int open_event(const struct part *part, pid_t tid, int first)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = part->fields,
				       .sample_id_all = part->fields != 0,
				       .disabled = part->is_disabled,
				       .inherit = tid != -1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .context_switch = part->has_records,
				       .use_clockid = 1,
				       .clockid = CLOCK_MONOTONIC,
				       .watermark = 1,
				       .wakeup_watermark = UINT32_MAX};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail(part->name);
	if (first >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first) != 0)
		fail("output");
	if (first >= 0)
		return fd;
	buffer = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (buffer == MAP_FAILED)
		fail("buffer");
	return fd;
}

static void *drain(void *unused)
{
	while (!atomic_load(&is_over)) {
		__atomic_store_n(&buffer->data_tail, __atomic_load_n(&buffer->data_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
		usleep(3000);
	}
	return unused;
}

static double take_turns(void)
{
	char byte = 0;
	double ns;

	if (write(ask[1], &byte, 1) != 1 || read(answer[0], &ns, sizeof(ns)) != sizeof(ns))
		fail("the child");
	return ns;
}

static double measure(const struct part *part, const pid_t tids[2])
{
	int fds[2] = {-1, -1};
	pthread_t reader;
	double ns;

	if (!part->has_events)
		return take_turns();
	fds[0] = open_event(part, part->is_cpu_wide ? -1 : tids[0], -1);
	if (!part->is_cpu_wide)
		fds[1] = open_event(part, tids[1], fds[0]);
	atomic_store(&is_over, false);
	if (pthread_create(&reader, NULL, drain, NULL) != 0)
		fail("thread");
	ns = take_turns();
	atomic_store(&is_over, true);
	pthread_join(reader, NULL);
	munmap(buffer, (size_t)sysconf(_SC_PAGESIZE) + BUFFER_BYTES);
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	return ns;
}

static int compare(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

int main(int argc, char **argv)
{
	static double ns[NR_PARTS][ROUNDS_MAX], more[NR_PARTS][ROUNDS_MAX];
	int nr_rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
	pid_t child, tids[2];

	if (nr_rounds < 1 || nr_rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: switch_parts [ROUNDS]\n");
		return 2;
	}
	if (pipe(there) != 0 || pipe(back) != 0 || pipe(ask) != 0 || pipe(answer) != 0)
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		close(ask[1]);
		serve();
	}
	use_cpu(1);
	if (read(answer[0], tids, sizeof(tids)) != sizeof(tids))
		fail("the child");
	for (int i = 0; i < nr_rounds; i++)
		for (size_t k = 0; k < NR_PARTS; k++) {
			ns[k][i] = measure(&parts[k], tids);
			more[k][i] = 100 * (ns[k][i] / ns[0][i] - 1);
		}
	printf("%-40s %9s %9s\n", "", "median/ns", "more/%");
	for (size_t k = 0; k < NR_PARTS; k++) {
		qsort(ns[k], (size_t)nr_rounds, sizeof(double), compare);
		qsort(more[k], (size_t)nr_rounds, sizeof(double), compare);
		printf("%-40s %9.0f %9.1f\n", parts[k].name, ns[k][nr_rounds / 2], more[k][nr_rounds / 2]);
	}
	close(ask[1]);
	waitpid(child, NULL, 0);
	return 0;
}
