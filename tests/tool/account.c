/* SPDX-License-Identifier: MIT */
/*
 * A program that keeps account of the events that it records, and a check of a trace against that account.
 *
 *	account record [OPTION...] ACCOUNT	record events in threads, and count them in the file ACCOUNT
 *		-l FILE		trace itself into this log
 *		-p POLICY	of the log: loop, until-full or append
 *		-s BYTES	size of the log
 *		-r BYTES	size of a ring
 *		-S POLICY	of the stream: flush, loop or until-full
 *		-o		trace itself without a log
 *		-t THREADS	so many threads
 *		-n COUNT	so many events a thread; otherwise until SIGTERM
 *		-u MICROSECONDS	between two events of a thread
 *		-k SIGNAL	end by this signal
 *		-R		read the events of the own stream, too, and count them
 *	account check [OPTION...] FILE ACCOUNT	check a trace
 *		-a		each event that was recorded before the call must be there, and no other one missing
 *		-e		the trace may begin late, but from then on has all that was recorded before the call,
 *				except events whose loss is marked and counted: on a busy machine a flush may be late
 *		-d		a damaged or cut file: each event must be whole, but any may be missing
 *		-w		the log is being written
 *		-b		the trace may begin late
 *		-A ACCOUNT	with -a and -e: what was recorded by then must be there
 *		-f COUNT	look again so many times, as a follower does
 *	account number ACCOUNT			print how many events were recorded
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_ext.h>
#include <unistd.h>

#define THREADS_MAX 16
#define DATA_MAX 200
#define IMAGE_BYTES 16 /* of the data of an event that the image of a log shows */

/* The file, which another process can read at any time. */
struct account {
	uint64_t nr_threads;
	uint64_t begun[THREADS_MAX];  /* number of events that the thread may have recorded */
	uint64_t ended[THREADS_MAX]; /* number of events that it has certainly recorded */
	uint64_t nr_read;	     /* with -R: events that the program has read itself */
};

/* The data of an event: this, and bytes that depend on it. */
struct data {
	uint64_t sequence;
	uint32_t thread;
	uint32_t length;
	unsigned char more[DATA_MAX];
};

static struct account *account;
static int is_over; /* a signal handler sets it, for all threads */

static bool has_ended(void)
{
	return __atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

static void end_all(void)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
}

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "account: %s: %s\n", what, strerror(error));
	exit(99);
}

static void map_account(const char *path, bool makes)
{
	int fd = open(path, makes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, 0644);

	must(fd < 0, path);
	must(makes && ftruncate(fd, sizeof(*account)) != 0, path);
	account = mmap(NULL, sizeof(*account), makes ? PROT_READ | PROT_WRITE : PROT_READ,
		       MAP_SHARED, fd, 0);
	must(account == MAP_FAILED, path);
	close(fd);
}

static size_t fill(struct data *data, uint32_t thread, uint64_t sequence)
{
	uint64_t seed = (sequence + 1) * 0x9E3779B97F4A7C15 ^ thread;

	*data = (struct data){.sequence = sequence, .thread = thread};
	/* One event in eight is long. */
	data->length = sequence % 8 == 7 ? (uint32_t)(seed % DATA_MAX) : 0;
	for (uint32_t i = 0; i < data->length; i++)
		data->more[i] = (unsigned char)(seed >> i % 56);
	return offsetof(struct data, more) + data->length;
}

/* Record. */

static struct {
	const char *log;
	int policy, stream_policy, signal_number;
	size_t size, ring_size;
	bool is_traced, reads;
	unsigned int nr_threads, pause_us;
	uint64_t count;
} order = {.nr_threads = 2, .count = UINT64_MAX, .policy = POSIX_TRACE_LOOP};

static trace_event_id_t type;
static trace_id_t trace;

static void *run_thread(void *argument)
{
	uint32_t thread = (uint32_t)(uintptr_t)argument;

	for (uint64_t i = 0; i < order.count && !has_ended(); i++) {
		struct data data;
		size_t length = fill(&data, thread, i);

		__atomic_store_n(&account->begun[thread], i + 1, __ATOMIC_SEQ_CST);
		posix_trace_event(type, &data, length);
		__atomic_store_n(&account->ended[thread], i + 1, __ATOMIC_SEQ_CST);
		if (order.pause_us > 0)
			usleep(order.pause_us);
	}
	return NULL;
}

static void *run_reader(void *argument)
{
	struct posix_trace_event_info info;
	struct data data;
	size_t length;
	int unavailable = 0;

	while (!has_ended() && posix_trace_trygetnext_event(trace, &info, &data, sizeof(data), &length,
							    &unavailable) == 0)
		if (unavailable)
			usleep(1000);
		else if (info.posix_event_id == type)
			account->nr_read++;
	return argument;
}

static void end(int number)
{
	(void)number;
	end_all();
}

static void trace_self(void)
{
	trace_attr_t attr;
	int fd = -1;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setname(&attr, "account");
	if (order.stream_policy)
		posix_trace_attr_setstreamfullpolicy(&attr, order.stream_policy);
	if (order.ring_size)
		posix_trace_attr_setstreamsize(&attr, order.ring_size);
	posix_trace_attr_setlogfullpolicy(&attr, order.policy);
	if (order.size)
		posix_trace_attr_setlogsize(&attr, order.size);
	if (order.log) {
		fd = open(order.log, O_RDWR | O_CREAT | O_TRUNC, 0644);
		must(fd < 0, order.log);
		must(posix_trace_create_withlog(0, &attr, fd, &trace), "create_withlog");
	} else {
		must(posix_trace_create(0, &attr, &trace), "create");
	}
	must(posix_trace_start(trace), "start");
}

static int policy_of(const char *word)
{
	return strcmp(word, "loop") == 0       ? POSIX_TRACE_LOOP :
	       strcmp(word, "until-full") == 0 ? POSIX_TRACE_UNTIL_FULL :
	       strcmp(word, "flush") == 0      ? POSIX_TRACE_FLUSH :
						 POSIX_TRACE_APPEND;
}

static int record(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX], reader;
	int option;

	while ((option = getopt(argc, argv, "l:p:s:r:S:ot:n:u:k:R")) != -1)
		switch (option) {
		case 'l':
			order.log = optarg;
			order.is_traced = true;
			break;
		case 'p':
			order.policy = policy_of(optarg);
			break;
		case 's':
			order.size = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			order.ring_size = strtoul(optarg, NULL, 10);
			break;
		case 'S':
			order.stream_policy = policy_of(optarg);
			break;
		case 'o':
			order.is_traced = true;
			break;
		case 't':
			order.nr_threads = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			order.count = strtoull(optarg, NULL, 10);
			break;
		case 'u':
			order.pause_us = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'k':
			order.signal_number = atoi(optarg);
			break;
		case 'R':
			order.reads = true;
			break;
		default:
			return 99;
		}
	must(order.nr_threads > THREADS_MAX || optind + 1 != argc, "arguments");
	signal(SIGTERM, end);
	map_account(argv[optind], true);
	must(posix_trace_eventid_open("counted", &type), "eventid_open");
	if (order.is_traced)
		trace_self();
	if (order.reads)
		must(pthread_create(&reader, NULL, run_reader, NULL), "pthread_create");
	for (uintptr_t i = 0; i < order.nr_threads; i++)
		must(pthread_create(&thread[i], NULL, run_thread, (void *)i), "pthread_create");
	account->nr_threads = order.nr_threads;
	for (unsigned int i = 0; i < order.nr_threads; i++)
		pthread_join(thread[i], NULL);
	if (order.signal_number)
		raise(order.signal_number);
	end_all();
	if (order.reads)
		pthread_join(reader, NULL);
	return 0;
}

/* Check. */

static struct {
	bool has_all, may_begin_late, may_lose, is_damaged, is_written; /* -e: the first three */
	unsigned int nr_looks;
} wanted;

static struct {
	uint64_t next[THREADS_MAX]; /* sequence number of the next event */
	bool has_begun[THREADS_MAX];
	uint64_t nr, nr_gaps;
	uint64_t nr_overflows, nr_overflows_before[THREADS_MAX]; /* the second case: before the thread's last event */
} seen;

static int failures;

static void complain(const char *what, uint32_t thread, uint64_t a, uint64_t b)
{
	if (failures++ < 5)
		fprintf(stderr, "account: %s: thread %u, %llu, %llu\n", what, thread,
			(unsigned long long)a, (unsigned long long)b);
}

static void check_event(const struct data *data, size_t length)
{
	uint32_t thread = data->thread;
	struct data expected;

	if (length < offsetof(struct data, more) || thread >= THREADS_MAX ||
	    (fill(&expected, thread, data->sequence) != length &&
	     !(wanted.is_damaged && length == IMAGE_BYTES)) ||
	    memcmp(&expected, data, length) != 0) {
		complain("an event is not whole", thread, data->sequence, length);
		return;
	}
	if (data->sequence >= __atomic_load_n(&account->begun[thread], __ATOMIC_SEQ_CST))
		complain("an event was never recorded", thread, data->sequence, 0);
	if (seen.has_begun[thread] && data->sequence < seen.next[thread])
		complain("an event is there twice, or late", thread, data->sequence, seen.next[thread]);
	if (data->sequence != seen.next[thread] && (seen.has_begun[thread] || !wanted.may_begin_late)) {
		seen.nr_gaps += data->sequence - seen.next[thread];
		if (!wanted.is_damaged && seen.nr_overflows == seen.nr_overflows_before[thread])
			complain("a gap is not marked", thread, data->sequence, seen.next[thread]);
	}
	seen.nr_overflows_before[thread] = seen.nr_overflows;
	seen.has_begun[thread] = true;
	seen.next[thread] = data->sequence + 1;
	seen.nr++;
}

static void read_all(trace_id_t log, trace_event_id_t counted)
{
	struct posix_trace_event_info info;
	struct data data;
	size_t length;
	int unavailable = 0;

	while (posix_trace_getnext_event(log, &info, &data, sizeof(data), &length, &unavailable) == 0 &&
	       !unavailable)
		if (info.posix_event_id == counted)
			check_event(&data, length);
		else if (info.posix_event_id == POSIX_TRACE_OVERFLOW)
			seen.nr_overflows++;
}

/* In a buffer without section, an event type has the number of ThreadX; the name is the same. */
static trace_event_id_t find_type(trace_id_t log)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable;

	while (posix_trace_eventtypelist_getnext_id(log, &id, &unavailable) == 0 && !unavailable)
		if (posix_trace_eventid_get_name(log, id, name) == 0 && strcmp(name, "counted") == 0)
			return id;
	return 0;
}

static void follow(trace_id_t log, trace_event_id_t counted)
{
	int is_running = 1;

	for (unsigned int i = 0; i < wanted.nr_looks && is_running; i++) {
		must(txtrace_refresh(log, &is_running), "txtrace_refresh");
		if (counted == 0) {
			posix_trace_eventtypelist_rewind(log);
			counted = find_type(log);
		}
		read_all(log, counted);
		usleep(10000);
	}
}

/*
 * Whether the log has overwritten events.  Then all events of a thread may be overwritten that had ended before the
 * oldest event: such a thread is not in the log, and this is no gap.
 */
static bool goes_round_of(trace_id_t log)
{
	struct posix_trace_status_info status;
	trace_attr_t attr;
	int policy = 0;

	must(posix_trace_get_status(log, &status), "posix_trace_get_status");
	must(posix_trace_get_attr(log, &attr), "posix_trace_get_attr");
	posix_trace_attr_getlogfullpolicy(&attr, &policy);
	return wanted.may_begin_late && policy == POSIX_TRACE_LOOP &&
	       status.posix_log_full_status == POSIX_TRACE_FULL;
}

static int check(int argc, char **argv)
{
	uint64_t ended[THREADS_MAX];
	struct txtrace_file_info info;
	struct txtrace_loss loss;
	unsigned long long nr_lost = 0;
	trace_event_id_t counted;
	trace_id_t log;
	bool has_before = false, goes_round;
	int option, fd;

	while ((option = getopt(argc, argv, "aebdwf:A:")) != -1)
		switch (option) {
		case 'a':
			wanted.has_all = true;
			break;
		case 'e':
			wanted.has_all = wanted.may_begin_late = wanted.may_lose = true;
			break;
		case 'A':
			map_account(optarg, false);
			memcpy(ended, account->ended, sizeof(ended));
			has_before = true;
			break;
		case 'b':
			wanted.may_begin_late = true;
			break;
		case 'd':
			wanted.is_damaged = true;
			break;
		case 'w':
			wanted.is_written = true;
			break;
		case 'f':
			wanted.nr_looks = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		default:
			return 99;
		}
	must(optind + 2 != argc, "arguments");
	map_account(argv[optind + 1], false);
	if (!has_before)
		memcpy(ended, account->ended, sizeof(ended));
	fd = open(argv[optind], O_RDONLY);
	must(fd < 0, argv[optind]);
	must(txtrace_open(fd,
			  (wanted.is_written ? TXTRACE_OPEN_RUNNING : 0) |
				  (wanted.is_damaged ? TXTRACE_OPEN_DAMAGED : 0),
			  &log),
	     "txtrace_open");
	counted = find_type(log);
	read_all(log, counted);
	follow(log, counted);
	must(txtrace_get_file_info(log, &info), "txtrace_get_file_info");
	must(txtrace_get_loss(log, &loss), "txtrace_get_loss");
	if (!wanted.has_all || wanted.may_lose)
		nr_lost = info.nr_missing + loss.overwritten + loss.dropped + loss.abandoned;
	goes_round = goes_round_of(log);
	for (uint32_t i = 0; wanted.has_all && i < account->nr_threads; i++)
		if (seen.next[i] < ended[i] && (seen.has_begun[i] || !goes_round))
			seen.nr_gaps += ended[i] - seen.next[i];
	if (!wanted.is_damaged && seen.nr_gaps > nr_lost)
		complain("more events are missing than may be", 0, seen.nr_gaps, nr_lost);
	printf("%llu events, %llu missing; counted: %llu missing, %llu dropped, %llu abandoned, %llu overwritten\n",
	       (unsigned long long)seen.nr, (unsigned long long)seen.nr_gaps, (unsigned long long)info.nr_missing,
	       (unsigned long long)loss.dropped, (unsigned long long)loss.abandoned,
	       (unsigned long long)loss.overwritten);
	posix_trace_close(log);
	return failures != 0;
}

static int print_number(const char *path)
{
	uint64_t sum = 0;

	map_account(path, false);
	for (int i = 0; i < THREADS_MAX; i++)
		sum += account->ended[i];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "record") == 0)
		return record(argc - 1, argv + 1);
	if (argc > 2 && strcmp(argv[1], "check") == 0)
		return check(argc - 1, argv + 1);
	if (argc == 3 && strcmp(argv[1], "number") == 0)
		return print_number(argv[2]);
	return 99;
}
