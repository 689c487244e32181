/* SPDX-License-Identifier: MIT */
/*
 * stress SECONDS: a process that traces itself as hard as it can, and looks at all that is
 * reported.
 *
 * Eight writers, each interrupted by handlers that trace too, write events whose bytes follow from
 * their writer and a number.  Meanwhile owners create streams of all kinds, start, stop, clear,
 * filter and copy them at random, and shut them down in the middle of everything.  Each stream has
 * a reader, fast or slow, or none.
 *
 * A reader checks that
 *	- every byte is what was written (no event is torn),
 *	- the numbers of one writer rise, and time with them (a handler counts as another writer),
 *	- a number is missing only where OVERFLOW and RESUME stood, where the stream did not run,
 *	  where the type was filtered, or where a loss was counted,
 *	- START and STOP alternate, and events stand between them and pass the filter.
 * At the end no file may be left but the registry.  PX_SEED repeats the decisions, though not the
 * races.
 */
#include "support/common.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/layout.h"
#include "stream/handle.h"
#include "stream/stream.h"
#include "support/txtb_checker.h"

#define NR_WRITERS 8
#define NR_OWNERS 4
#define NR_TYPES 6
#define NR_CONTEXTS 3 /* the thread, and two handlers that can interrupt it and each other */
#define LENGTH_MAX 1200
#define BUFFER_BYTES 4096
#define VIOLATIONS_SHOWN 20

static uint32_t stopping;
static uint64_t nr_violations, nr_events, nr_windows, nr_overflows, nr_missing, nr_cycles,
	nr_copies, nr_late;
static uint64_t loss_overwritten, loss_dropped, loss_abandoned;
static trace_event_id_t types[NR_TYPES], empty_type;

__attribute__((format(printf, 2, 3))) static void violation(const char *where, const char *format,
							    ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (px_fetch_add(&nr_violations, UINT64_C(1)) < VIOLATIONS_SHOWN)
		fprintf(stderr, "VIOLATION: %s: %s\n", where, text);
}

static void sleep_us(uint64_t us)
{
	struct timespec length = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

	nanosleep(&length, NULL);
}

/* Events: 16 bytes with the writer, the length and the number, and bytes that follow from those. */

struct head {
	uint32_t writer_id; /* writer << 16 | context << 8 | type */
	uint32_t length;
	uint32_t number;
	uint32_t check;
};

static uint32_t check_of(const struct head *head)
{
	uint32_t x = head->writer_id * 0x9e3779b1u ^ head->length * 0x85ebca6bu ^ head->number;

	x = (x ^ x >> 15) * 0x2c1b3c6du;
	return x ^ x >> 12;
}

static unsigned char byte_at(const struct head *head, uint32_t i)
{
	return (unsigned char)((head->check + i * 0x01000193u) >> (i & 7) * 3);
}

static void fill(unsigned char *data, const struct head *head)
{
	memcpy(data, head, sizeof(*head));
	for (uint32_t i = sizeof(*head); i < head->length; i++)
		data[i] = byte_at(head, i);
}

static bool is_whole(const unsigned char *data, size_t size, const struct head *head)
{
	if (check_of(head) != head->check || size > head->length)
		return false;
	for (uint32_t i = sizeof(*head); i < size; i++)
		if (data[i] != byte_at(head, i))
			return false;
	return true;
}

/* Writers. */

struct writer {
	pthread_t thread;
	uint32_t index;
	uint64_t random[NR_CONTEXTS];
	uint32_t number[NR_CONTEXTS][NR_TYPES];
	timer_t timer;
};

static struct writer writers[NR_WRITERS];
static __thread struct writer *self;

static uint32_t random_length(uint64_t *random)
{
	uint64_t x = next_random(random);

	switch (x % 8) {
	case 0:
		return 16 + (uint32_t)(x >> 8) % (LENGTH_MAX - 15);
	case 1:
	case 2:
		return 16 + (uint32_t)(x >> 8) % 80;
	default:
		return 16;
	}
}

static void write_event(struct writer *writer, uint32_t context)
{
	unsigned char data[LENGTH_MAX];
	uint64_t *random = &writer->random[context];
	uint32_t type = (uint32_t)(next_random(random) % NR_TYPES);
	struct head head = {.writer_id = writer->index << 16 | context << 8 | type,
			    .length = random_length(random),
			    .number = ++writer->number[context][type]};

	if (next_random(random) % 64 == 0)
		posix_trace_event(empty_type, NULL, 0);
	head.check = check_of(&head);
	fill(data, &head);
	posix_trace_event(types[type], data, head.length);
}

static void on_signal(int number)
{
	int saved_errno = errno;

	if (self)
		write_event(self, number == SIGUSR1 ? 1 : 2);
	errno = saved_errno;
}

static void start_timer(struct writer *writer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	long interval_ns = 200000 + (long)(next_random(&writer->random[0]) % 3000000);
	struct itimerspec interval = {{0, interval_ns}, {0, interval_ns}};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, &writer->timer);
	timer_settime(writer->timer, 0, &interval, NULL);
}

static void block_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

static void *write_bursts(void *argument)
{
	struct writer *writer = argument;

	self = writer;
	start_timer(writer);
	block_signals(SIG_UNBLOCK);
	while (!px_load_acquire(&stopping)) {
		uint64_t x = next_random(&writer->random[0]);

		for (uint64_t n = 1 + x % (x % 16 ? 200 : 5000); n > 0; n--)
			write_event(writer, 0);
		if (x >> 32 & 3)
			sleep_us((x >> 40) % 2000);
		else
			sched_yield();
	}
	block_signals(SIG_BLOCK);
	timer_delete(writer->timer);
	return NULL;
}

/* Threads that begin and end: each is an object in every stream. */
static void *write_and_end(void *unused)
{
	for (int i = 0; i < 3; i++)
		posix_trace_event(empty_type, NULL, 0);
	return unused;
}

static void *make_threads(void *argument)
{
	uint64_t random = *(uint64_t *)argument;

	while (!px_load_acquire(&stopping)) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, write_and_end, NULL) == 0)
			pthread_join(thread, NULL);
		sleep_us(next_random(&random) % 20000);
	}
	return NULL;
}

/* Streams. */

enum window { UNKNOWN, OPEN, CLOSED };
enum answer { NO, YES, MAYBE };

struct sequence {
	uint32_t number;
	uint32_t breaks;    /* the largest number when this one was read */
	uint32_t overflows; /* likewise */
	uint32_t filters;   /* the same for its type */
};

/* What the reader of a stream knows. */
struct knowledge {
	struct sequence sequence[NR_WRITERS][NR_CONTEXTS][NR_TYPES];
	uint64_t time[NR_WRITERS][NR_CONTEXTS];
	uint64_t newest; /* time */
	enum window window;
	enum answer resume_is_next;
	bool knows_filter;
	trace_event_set_t filter;
	bool passed_early
		[NR_TYPES]; /* it was filtered but reported; a FILTER that lets it pass must follow */
	uint32_t breaks, overflows, filters[NR_TYPES];
	uint32_t clears;	 /* as last seen */
	uint64_t silent_missing; /* missing numbers without OVERFLOW and RESUME before them, since the last clear */
};

struct stream {
	trace_id_t trid;
	char name[100];
	bool bounded;
	unsigned int nr_rings;
	size_t max_data;
	enum { FAST, SLOW, STALLING, NONE } pace;
	uint32_t clears; /* odd while a clear is in progress */
	uint64_t reader_random;
	pthread_t reader;
	struct knowledge *knowledge;
};

/* Losses of a stream that has room, whose OVERFLOW may be missing: writers found no slot, or were killed. */
static uint64_t lost_with_room(const struct stream *stream)
{
	struct px_stream *inner = px_handle_lock(stream->trid);
	uint64_t sum = 0;

	if (!inner)
		return UINT64_MAX; /* shut down meanwhile, so the reader can check nothing any more */
	for (uint32_t i = 0; i < inner->view.rings.nr_rings; i++)
		sum += px_read_once(&px_rings_get(&inner->view.rings, i).control->given_up);
	sum += inner->reader.loss.abandoned;
	if (stream->bounded) /* a sleeping writer does not hold the tail for ever */
		sum += inner->reader.loss.overwritten;
	px_handle_unlock(stream->trid);
	return sum;
}

/* Numbers are missing, and the stream reports no loss. */
static void account(struct stream *stream, const struct head *head, uint32_t missing)
{
	uint64_t counted;

	stream->knowledge->silent_missing += missing;
	counted = lost_with_room(stream);
	if (stream->knowledge->silent_missing > counted)
		violation(stream->name,
			  "%u events of writer %u.%u type %u missing before number %u: %" PRIu64
			  " without a mark, %" PRIu64 " counted",
			  missing, head->writer_id >> 16, head->writer_id >> 8 & 255, head->writer_id & 255,
			  head->number, stream->knowledge->silent_missing, counted);
}

static void check_number(struct stream *stream, const struct head *head)
{
	struct knowledge *knowledge = stream->knowledge;
	uint32_t type = head->writer_id & 255;
	struct sequence *sequence =
		&knowledge->sequence[head->writer_id >> 16][head->writer_id >> 8 & 255][type];
	struct sequence now = {head->number, knowledge->breaks, knowledge->overflows,
			       knowledge->filters[type]};
	uint32_t missing = head->number - sequence->number - 1;

	if ((int32_t)(head->number - sequence->number) <= 0)
		violation(stream->name, "number %u of writer %u.%u type %u after number %u",
			  head->number, head->writer_id >> 16, head->writer_id >> 8 & 255, type,
			  sequence->number);
	else if (missing > 0 && now.breaks == sequence->breaks) {
		px_fetch_add(&nr_missing, (uint64_t)missing);
		if (now.overflows == sequence->overflows && now.filters == sequence->filters)
			account(stream, head, missing);
	}
	*sequence = now;
}

/* If a writer loses its CPU, its event comes late: after those of handlers that have interrupted it (GETNEXT-9). */
static void check_time(struct stream *stream, uint32_t writer, uint32_t context,
		       const struct posix_trace_event_info *info)
{
	uint64_t time = px_test_ns(info->posix_timestamp);
	uint64_t *last = &stream->knowledge->time[writer][context];

	if (time < *last)
		violation(stream->name, "time of writer %u.%u falls by %" PRIu64 " ns", writer, context,
			  *last - time);
	*last = time;
}

static uint32_t index_of(trace_event_id_t id)
{
	uint32_t i = 0;

	while (i < NR_TYPES && types[i] != id)
		i++;
	return i;
}

/* The filter changes a moment before the FILTER event, so events that pass the new filter may come before it. */
static void check_filter(struct knowledge *knowledge, trace_event_id_t id)
{
	uint32_t i = index_of(id);
	int member = 0;

	if (!knowledge->knows_filter || i == NR_TYPES)
		return;
	posix_trace_eventset_ismember(id, &knowledge->filter, &member);
	knowledge->passed_early[i] |= member;
}

/* The next FILTER has come, or the reader no longer knows the filter. */
static void settle_filter(struct stream *stream, const trace_event_set_t *filter)
{
	struct knowledge *knowledge = stream->knowledge;

	for (uint32_t i = 0; i < NR_TYPES; i++) {
		int member = 1;

		if (filter)
			posix_trace_eventset_ismember(types[i], filter, &member);
		if (knowledge->passed_early[i] && member)
			violation(stream->name, "events of type %u, which is filtered", types[i]);
	}
	memset(knowledge->passed_early, 0, sizeof(knowledge->passed_early));
}

/*
 * Return true if a younger event was reported before.  An event whose writer lost its CPU comes late, perhaps after the
 * STOP of its window, or after a FILTER that excludes it (GETNEXT-9).
 */
static bool is_older(struct knowledge *knowledge, const struct posix_trace_event_info *info)
{
	uint64_t time = px_test_ns(info->posix_timestamp);

	if (time < knowledge->newest)
		return true;
	knowledge->newest = time;
	return false;
}

static void check_truncation(struct stream *stream, const struct posix_trace_event_info *info,
			     const struct head *head, size_t size, size_t capacity)
{
	size_t recorded = head->length < stream->max_data ? head->length : stream->max_data;
	size_t read = recorded < capacity ? recorded : capacity;
	int wanted = read < recorded	     ? POSIX_TRACE_TRUNCATED_READ :
		     recorded < head->length ? POSIX_TRACE_TRUNCATED_RECORD :
					       POSIX_TRACE_NOT_TRUNCATED;

	if (size != read || info->posix_truncation_status != wanted)
		violation(stream->name, "%u bytes: %zu of %zu reported, truncation %d",
			  head->length, size, read, info->posix_truncation_status);
}

static void check_user_event(struct stream *stream, const struct posix_trace_event_info *info,
			     const unsigned char *data, size_t size, size_t capacity)
{
	struct knowledge *knowledge = stream->knowledge;
	struct head head;

	if (is_older(knowledge, info)) {
		px_fetch_add(&nr_late, UINT64_C(1));
	} else {
		if (knowledge->window == CLOSED)
			violation(stream->name, "event of type %u outside of a window",
				  info->posix_event_id);
		check_filter(knowledge, info->posix_event_id);
	}
	if (info->posix_event_id == empty_type) {
		if (size != 0)
			violation(stream->name, "event without data has %zu bytes", size);
		return;
	}
	if (size < sizeof(head)) {
		violation(stream->name, "event of type %u has %zu bytes", info->posix_event_id,
			  size);
		return;
	}
	memcpy(&head, data, sizeof(head));
	if (!is_whole(data, size, &head) || head.writer_id >> 16 >= NR_WRITERS ||
	    (head.writer_id >> 8 & 255) >= NR_CONTEXTS || (head.writer_id & 255) >= NR_TYPES ||
	    types[head.writer_id & 255] != info->posix_event_id) {
		violation(stream->name, "torn event of type %u, %zu bytes", info->posix_event_id,
			  size);
		return;
	}
	if (!pthread_equal(info->posix_thread_id, writers[head.writer_id >> 16].thread))
		violation(stream->name, "writer %u is another thread", head.writer_id >> 16);
	check_truncation(stream, info, &head, size, capacity);
	check_time(stream, head.writer_id >> 16, head.writer_id >> 8 & 255, info);
	check_number(stream, &head);
}

/* The reader does not know the filter any more. */
static void forget_filter(struct knowledge *knowledge)
{
	knowledge->knows_filter = false;
	memset(knowledge->passed_early, 0, sizeof(knowledge->passed_early));
}

/* START and FILTER contain the filter, unless the buffer of the reader was too small. */
static void take_filter(struct knowledge *knowledge, const unsigned char *data, size_t size,
			size_t offset)
{
	forget_filter(knowledge);
	if (size < offset + sizeof(knowledge->filter))
		return;
	knowledge->knows_filter = true;
	memcpy(&knowledge->filter, data + offset, sizeof(knowledge->filter));
}

/* No event is missing of types that both filters let pass. */
static void note_filter(struct stream *stream, const unsigned char *data, size_t size)
{
	struct knowledge *knowledge = stream->knowledge;
	trace_event_set_t sets[2]; /* the old filter, and the new one */
	int in_old = 1, in_new = 1;

	if (size >= sizeof(sets)) {
		memcpy(sets, data, sizeof(sets));
		settle_filter(stream, &sets[1]);
	}
	for (uint32_t i = 0; i < NR_TYPES; i++) {
		if (size >= sizeof(sets)) {
			posix_trace_eventset_ismember(types[i], &sets[0], &in_old);
			posix_trace_eventset_ismember(types[i], &sets[1], &in_new);
		}
		knowledge->filters[i] += in_old || in_new;
	}
	take_filter(knowledge, data, size, sizeof(sets[0]));
}

static void check_window(struct stream *stream, enum window next)
{
	struct knowledge *knowledge = stream->knowledge;

	if (knowledge->window == next)
		violation(stream->name, next == OPEN ? "START in a window" : "STOP outside of one");
	settle_filter(stream, NULL);
	knowledge->window = next;
	knowledge->breaks++;
}

/* If a writer drops an event while the stream starts, the mark may come after START. */
static bool has_dropped(const struct stream *stream)
{
	struct px_stream *inner = px_handle_lock(stream->trid);
	bool result;

	if (!inner)
		return true; /* shut down meanwhile */
	result = px_view_dropped(&inner->view) > 0;
	px_handle_unlock(stream->trid);
	return result;
}

static void check_overflow(struct stream *stream)
{
	struct knowledge *knowledge = stream->knowledge;

	px_fetch_add(&nr_overflows, UINT64_C(1));
	knowledge->overflows++;
	knowledge->resume_is_next = YES;
	if (!stream->bounded) {
		knowledge->window = UNKNOWN; /* START and STOP are overwritten like other events */
		forget_filter(knowledge);
	} else if (knowledge->window == OPEN && lost_with_room(stream) == 0 && !has_dropped(stream)) {
		violation(stream->name, "OVERFLOW in a window of a bounded stream");
	}
}

static void check_event(struct stream *stream, const struct posix_trace_event_info *info,
			const unsigned char *data, size_t size, size_t capacity)
{
	struct knowledge *knowledge = stream->knowledge;

	px_fetch_add(&nr_events, UINT64_C(1));
	if (knowledge->resume_is_next == (info->posix_event_id == POSIX_TRACE_RESUME ? NO : YES))
		violation(stream->name, "type %u where RESUME %s", info->posix_event_id,
			  knowledge->resume_is_next == YES ? "is due" : "follows nothing");
	knowledge->resume_is_next = NO;
	switch (info->posix_event_id) {
	case POSIX_TRACE_START:
		is_older(knowledge, info);
		px_fetch_add(&nr_windows, UINT64_C(1));
		check_window(stream, OPEN);
		take_filter(knowledge, data, size, 0);
		break;
	case POSIX_TRACE_STOP:
		is_older(knowledge, info);
		check_window(stream, CLOSED);
		break;
	case POSIX_TRACE_FILTER:
		is_older(knowledge, info);
		note_filter(stream, data, size);
		break;
	case POSIX_TRACE_OVERFLOW:
		check_overflow(stream);
		break;
	case POSIX_TRACE_RESUME:
		break;
	default:
		check_user_event(stream, info, data, size, capacity);
	}
}

/* A clear came: the reader knows nothing for certain any more. */
static void forget(struct knowledge *knowledge)
{
	knowledge->breaks++;
	knowledge->window = UNKNOWN;
	forget_filter(knowledge);
	knowledge->resume_is_next = MAYBE;
	knowledge->silent_missing = 0;
}

/*
 * An event that was read while a clear came or was in progress may be older or newer than the clear.  It must be
 * complete, and proves nothing about what follows.
 */
static void check_between_clears(struct stream *stream, uint32_t clears_before,
				 const struct posix_trace_event_info *info,
				 const unsigned char *data, size_t size, size_t capacity)
{
	struct knowledge *knowledge = stream->knowledge;
	uint32_t clears = px_load_acquire(&stream->clears);
	bool is_unsure = clears != clears_before || clears % 2 != 0;

	if (is_unsure || clears != knowledge->clears)
		forget(knowledge);
	knowledge->clears = clears;
	check_event(stream, info, data, size, capacity);
	if (is_unsure)
		forget(knowledge);
}

static size_t random_capacity(uint64_t *random)
{
	uint64_t x = next_random(random);

	return x % 16 ? BUFFER_BYTES : sizeof(struct head) + (x >> 8) % 200;
}

static int read_somehow(struct stream *stream, struct posix_trace_event_info *info, void *data,
			size_t capacity, size_t *size, int *unavailable)
{
	struct timespec until;

	switch (next_random(&stream->reader_random) % 4) {
	case 0:
		return posix_trace_getnext_event(stream->trid, info, data, capacity, size,
						 unavailable);
	case 1:
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 5000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		return posix_trace_timedgetnext_event(stream->trid, info, data, capacity, size,
						      unavailable, &until);
	default:
		return posix_trace_trygetnext_event(stream->trid, info, data, capacity, size,
						    unavailable);
	}
}

static void keep_pace(struct stream *stream)
{
	uint64_t x = next_random(&stream->reader_random);

	if (stream->pace == SLOW && x % 64 == 0)
		sleep_us((x >> 8) % 3000);
	if (stream->pace == STALLING && x % 5000 == 0)
		sleep_us((x >> 16) % 150000);
}

static void *read_stream(void *argument)
{
	struct stream *stream = argument;
	struct posix_trace_event_info info;
	unsigned char data[BUFFER_BYTES];

	for (;;) {
		size_t capacity = random_capacity(&stream->reader_random);
		size_t size = 0;
		int unavailable = 0;
		uint32_t clears = px_load_acquire(&stream->clears);
		int error = read_somehow(stream, &info, data, capacity, &size, &unavailable);

		if (error == EINVAL)
			return NULL; /* shut down */
		if (error && error != ETIMEDOUT)
			violation(stream->name, "reading gives error %d", error);
		if (error || unavailable) {
			sleep_us(100);
			continue;
		}
		check_between_clears(stream, clears, &info, data, size, capacity);
		keep_pace(stream);
	}
}

/* Owners. */

struct owner {
	pthread_t thread;
	uint32_t index;
	uint64_t random;
};

static uint64_t pick(struct owner *owner, uint64_t limit)
{
	return next_random(&owner->random) % limit;
}

static bool create_stream(struct owner *owner, struct stream *stream)
{
	static const size_t max_data[] = {16, 64, 256, 1000, 1200};
	static const size_t sizes[] = {0, 8192, 65536, 524288};
	static const char *const paces[] = {"fast", "slow", "stalling", "no"};
	size_t size = sizes[pick(owner, 4)];
	trace_attr_t attr;
	int error;

	memset(stream, 0, sizeof(*stream));
	stream->bounded = pick(owner, 2);
	stream->nr_rings = (unsigned int)pick(owner, 2);
	stream->max_data = max_data[pick(owner, 5)];
	stream->pace = pick(owner, 4);
	stream->reader_random = next_random(&owner->random);
	snprintf(stream->name, sizeof(stream->name), "%s, %s, %zu bytes, data %zu, %s reader",
		 stream->bounded ? "UNTIL_FULL" : "LOOP", stream->nr_rings ? "1 ring" : "rings",
		 size, stream->max_data, paces[stream->pace]);
	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, stream->bounded ? POSIX_TRACE_UNTIL_FULL :
								      POSIX_TRACE_LOOP);
	posix_trace_attr_setstreamsize(&attr, size);
	posix_trace_attr_setmaxdatasize(&attr, stream->max_data);
	txtrace_attr_setrings(&attr, stream->nr_rings);
	error = posix_trace_create(0, &attr, &stream->trid);
	if (error)
		violation(stream->name, "create gives error %d", error);
	return error == 0;
}

static void filter_some(struct owner *owner, struct stream *stream)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	for (uint64_t n = pick(owner, 3); n > 0; n--)
		posix_trace_eventset_add(types[pick(owner, NR_TYPES)], &set);
	posix_trace_set_filter(stream->trid, &set, (int)pick(owner, 3) + POSIX_TRACE_SET_EVENTSET);
}

static void clear_it(struct stream *stream)
{
	px_fetch_add(&stream->clears, 1);
	posix_trace_clear(stream->trid);
	px_fetch_add(&stream->clears, 1);
}

static void copy_it(struct owner *owner, struct stream *stream)
{
	struct txtb_trace trace;
	size_t length = 0;
	double tick_ns;
	void *buffer;
	uint32_t ring = stream->nr_rings ? 0 : (uint32_t)pick(owner, 2);

	txtrace_copy_ring(stream->trid, ring, NULL, 0, &length, &tick_ns);
	buffer = malloc(length += 100000);
	if (buffer &&
	    txtrace_copy_ring(stream->trid, ring, buffer, length, &length, &tick_ns) == 0) {
		enum txtb_verdict verdict = txtb_check(buffer, length, &trace);

		px_fetch_add(&nr_copies, UINT64_C(1));
		if (verdict != TXTB_ACCEPTED || trace.nr_events != trace.nr_event_slots ||
		    (trace.warnings & (TXTB_CONTEXT_UNNAMED | TXTB_CONTEXT_NO_THREAD |
				       TXTB_TIME_FALLS | TXTB_TIME_STEPS_BACK)))
			violation(stream->name, "copy is %s, warnings %#x",
				  txtb_verdict_name(verdict), trace.warnings);
		txtb_free(&trace);
	}
	free(buffer);
}

static void check_status(struct stream *stream)
{
	struct posix_trace_status_info status;

	if (posix_trace_get_status(stream->trid, &status) != 0)
		violation(stream->name, "no status");
	/* A bounded stream that is full does not run. */
	if (stream->bounded && status.posix_stream_full_status == POSIX_TRACE_FULL &&
	    status.posix_stream_status == POSIX_TRACE_RUNNING)
		violation(stream->name, "runs and is full");
}

static void do_something(struct owner *owner, struct stream *stream)
{
	switch (pick(owner, 20)) {
	case 0 ... 6:
		posix_trace_start(stream->trid);
		break;
	case 7 ... 9:
		posix_trace_stop(stream->trid);
		break;
	case 10:
		clear_it(stream);
		break;
	case 11 ... 14:
		filter_some(owner, stream);
		break;
	case 15 ... 17:
		check_status(stream);
		break;
	default:
		copy_it(owner, stream);
	}
}

static void add_losses(struct stream *stream)
{
	struct txtrace_loss loss;

	if (txtrace_get_loss(stream->trid, &loss) != 0) {
		violation(stream->name, "no losses");
		return;
	}
	px_fetch_add(&loss_overwritten, (uint64_t)loss.overwritten);
	px_fetch_add(&loss_dropped, (uint64_t)loss.dropped);
	px_fetch_add(&loss_abandoned, (uint64_t)loss.abandoned);
}

/* A stream from its creation to its end. */
static void live(struct owner *owner)
{
	struct stream stream;
	uint64_t until = monotonic_ns() + pick(owner, 8) * 100000000;

	if (!create_stream(owner, &stream))
		return;
	stream.knowledge = calloc(1, sizeof(*stream.knowledge));
	stream.knowledge->window = CLOSED;
	stream.knowledge->breaks = 1;
	if (stream.pace != NONE)
		pthread_create(&stream.reader, NULL, read_stream, &stream);
	posix_trace_start(stream.trid);
	do {
		do_something(owner, &stream);
		sleep_us(pick(owner, 20000));
	} while (monotonic_ns() < until && !px_load_acquire(&stopping));
	add_losses(&stream);
	if (posix_trace_shutdown(stream.trid) != 0)
		violation(stream.name, "shutdown fails");
	if (stream.pace != NONE)
		pthread_join(stream.reader, NULL);
	free(stream.knowledge);
	px_fetch_add(&nr_cycles, UINT64_C(1));
}

static void *own_streams(void *argument)
{
	while (!px_load_acquire(&stopping))
		live(argument);
	return NULL;
}

/* The whole. */

static void open_types(void)
{
	char name[20];

	for (uint32_t i = 0; i < NR_TYPES; i++) {
		snprintf(name, sizeof(name), "stress %u", i);
		posix_trace_eventid_open(name, &types[i]);
	}
	posix_trace_eventid_open("empty", &empty_type);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval interval = {{0, 1700}, {0, 1700}};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	block_signals(SIG_BLOCK); /* in this thread, and in threads that do not read */
	setitimer(ITIMER_REAL, &interval, NULL);
}

/* All files of the owner are gone with their streams. */
static void check_files(void)
{
	const char *path = getenv("TXTRACE_DIR");
	DIR *directory = path ? opendir(path) : NULL;
	struct dirent *entry;

	if (!directory) {
		printf("TXTRACE_DIR is not set: files are not looked at\n");
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, PX_LAYOUT_REGISTRY) != 0)
			violation("files", "%s is left behind", entry->d_name);
	closedir(directory);
}

static void run(uint64_t seconds, uint64_t seed)
{
	static struct owner owners[NR_OWNERS];
	uint64_t random = seed, until = monotonic_ns() + seconds * 1000000000;
	pthread_t maker;

	for (uint32_t i = 0; i < NR_WRITERS; i++) {
		writers[i].index = i;
		for (int k = 0; k < NR_CONTEXTS; k++)
			writers[i].random[k] = next_random(&random);
		pthread_create(&writers[i].thread, NULL, write_bursts, &writers[i]);
	}
	for (uint32_t i = 0; i < NR_OWNERS; i++) {
		owners[i] = (struct owner){.index = i, .random = next_random(&random)};
		pthread_create(&owners[i].thread, NULL, own_streams, &owners[i]);
	}
	pthread_create(&maker, NULL, make_threads, &random);
	while (monotonic_ns() < until && px_read_once(&nr_violations) < VIOLATIONS_SHOWN)
		sleep_ms(100);
	px_store_release(&stopping, 1);
	for (uint32_t i = 0; i < NR_OWNERS; i++)
		pthread_join(owners[i].thread, NULL);
	for (uint32_t i = 0; i < NR_WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	pthread_join(maker, NULL);
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t seed;

	if (seconds == 0) {
		fprintf(stderr, "usage: %s SECONDS\n", argv[0]);
		return 2;
	}
	seed = test_seed();
	fflush(stdout);
	open_types();
	catch_signals();
	run(seconds, seed);
	check_files();
	printf("%" PRIu64 " streams, %" PRIu64 " windows, %" PRIu64 " copies; %" PRIu64
	       " events read, %" PRIu64 " missed, %" PRIu64 " late, %" PRIu64 " gaps marked\n",
	       nr_cycles, nr_windows, nr_copies, nr_events, nr_missing, nr_late, nr_overflows);
	printf("counted at the end of streams: %" PRIu64 " overwritten, %" PRIu64
	       " dropped, %" PRIu64 " abandoned\n",
	       loss_overwritten, loss_dropped, loss_abandoned);
	printf("%" PRIu64 " violations\n", nr_violations);
	return nr_violations ? 1 : 0;
}
