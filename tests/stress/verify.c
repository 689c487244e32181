/* SPDX-License-Identifier: MIT */
#include "stress/verify.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_ext.h>
#include <unistd.h>

#include "support/log_checker.h"
#include "txtb/txtb.h"

struct sequence {
	uint32_t from, to; /* numbers between them were begun after start, and returned before stop */
	uint32_t at_stop;  /* the last number that was begun before stop returned */
	uint32_t last;
	uint32_t breaks, overflows; /* the state of the stream at that time */
	uint32_t missing;
	uint32_t was_seen;
	uint64_t time_ns;
};

struct record {
	struct sequence sequence[NR_CONTEXTS];
};

#define RECORDS_BYTES (LIVES_MAX * sizeof(struct record))

/* Most of this memory is never used. */
void stream_init(struct stream *stream)
{
	memset(stream, 0, sizeof(*stream));
	stream->record = mmap(NULL, RECORDS_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stream->record == MAP_FAILED)
		abort();
}

void stream_destroy(struct stream *stream)
{
	munmap(stream->record, RECORDS_BYTES);
}

/* Lives that the stream traces. */

enum answer { NO, MAYBE, YES };

/* exit() has perhaps removed the names of the process, so that a later stream cannot find them. */
static bool was_exiting(const struct stream *stream, const struct life *life)
{
	return px_load_acquire(&life->beat[0].deed) == EXITS &&
	       px_load_acquire(&life->beat[0].since_ns) < stream->made_ns;
}

/* Follow the parents up to the target: each must have begun after the stream was made. */
static enum answer belongs(const struct stream *stream, uint32_t number)
{
	enum answer answer = YES;

	if (stream->is_foreign)
		return MAYBE;
	while (number != stream->target) {
		const struct life *life = &board->life[number];

		if (number == 0 || (life->birth != BY_EXEC && !stream->is_inherited))
			return NO;
		if (was_exiting(stream, life))
			answer = MAYBE;
		number = life->parent;
		if (life->birth == BY_EXEC)
			continue; /* the same process */
		if (life->born_ns < stream->ordered_ns)
			return NO;
		if (life->ordered_ns < stream->made_ns ||
		    (life->birth != BY_FORK && !life->is_followed))
			answer = MAYBE;
	}
	return was_exiting(stream, &board->life[number]) ? MAYBE : answer;
}

/* The event would belong to the stream if it were inherited. */
static bool is_kept_out(const struct stream *stream, uint32_t number)
{
	struct stream inherited = {.target = stream->target,
				   .is_inherited = true,
				   .ordered_ns = stream->ordered_ns,
				   .made_ns = stream->made_ns};

	return !stream->is_inherited && belongs(stream, number) == NO &&
	       belongs(&inherited, number) == YES;
}

/* Windows. */

void window_begin(struct stream *stream)
{
	uint32_t nr = px_load_acquire(&board->nr_lives);

	stream->first_life = px_load_acquire(&board->oldest);
	memset(&stream->record[stream->first_life], 0,
	       (nr + 1 - stream->first_life) * sizeof(struct record));
	for (uint32_t i = stream->first_life; i <= nr; i++)
		for (int k = 0; k < NR_CONTEXTS; k++)
			stream->record[i].sequence[k].from =
				px_load_acquire(&board->life[i].count[k].begun);
	stream->window = CLOSED;
	stream->breaks = stream->overflows = 0;
	stream->silent = 0;
}

void window_end(struct stream *stream)
{
	uint32_t nr = px_load_acquire(&board->nr_lives);

	for (uint32_t i = stream->first_life; i <= nr; i++)
		for (int k = 0; k < NR_CONTEXTS; k++)
			stream->record[i].sequence[k].to =
				px_load_acquire(&board->life[i].count[k].returned);
}

void window_stopped(struct stream *stream)
{
	uint32_t nr = px_load_acquire(&board->nr_lives);

	for (uint32_t i = stream->first_life; i <= nr; i++)
		for (int k = 0; k < NR_CONTEXTS; k++)
			stream->record[i].sequence[k].at_stop =
				px_load_acquire(&board->life[i].count[k].begun);
	stream->last_life = nr;
}

static bool is_inside(const struct life *life, const struct record *record)
{
	for (int k = 0; k < NR_CONTEXTS; k++)
		if (px_load_acquire(&life->count[k].returned) < record->sequence[k].at_stop)
			return true;
	return false;
}

bool window_is_quiet(const struct stream *stream)
{
	for (uint32_t i = stream->first_life; i <= stream->last_life; i++) {
		const struct life *life = &board->life[i];

		if (px_load_acquire(&life->state) == ALIVE && is_inside(life, &stream->record[i]) &&
		    life_is_there(life))
			return false;
	}
	return true;
}

static uint32_t missing_of(const struct sequence *sequence, bool has_end)
{
	uint32_t last = sequence->was_seen && sequence->last > sequence->from ? sequence->last :
										sequence->from;

	return sequence->missing + (has_end && sequence->to > last ? sequence->to - last : 0);
}

static void settle_life(struct stream *stream, uint32_t number, bool has_end)
{
	const struct life *life = &board->life[number];
	enum answer answer = belongs(stream, number);
	uint64_t missing = 0;
	bool seen = false, traced = false;

	for (int k = 0; k < NR_CONTEXTS; k++) {
		const struct sequence *sequence = &stream->record[number].sequence[k];

		missing += missing_of(sequence, has_end);
		seen |= sequence->was_seen;
		traced |= sequence->to > sequence->from;
	}
	if (answer == YES)
		stream->missing += missing;
	if (answer == YES && missing > stream->missing_most) {
		stream->missing_most = missing;
		stream->missing_life = number;
	}
	if (answer == YES && seen && number != stream->target)
		count(nr_seen[life->birth], 1);
	if (traced && is_kept_out(stream, number))
		count(nr_kept_out, 1);
}

/* Print most about the writer of which most events are missing. */
static void violation_missing(const struct stream *stream, uint64_t lost)
{
	const struct record *record = &stream->record[stream->missing_life];
	const struct life *life = &board->life[stream->missing_life];
	char text[200];
	int length = 0;

	for (int k = 0; k < NR_CONTEXTS; k++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   " %u..%u, last %u;", record->sequence[k].from + 1,
				   record->sequence[k].to, record->sequence[k].last);
	violation("%s: %" PRIu64 " events are missing, %" PRIu64
		  " counted as lost; life %u, pid %u, "
		  "parent %u, born by %s:%s",
		  stream->name, stream->missing, lost, stream->missing_life, life->pid,
		  life->parent, birth_names[life->birth], text);
}

void window_settle(struct stream *stream, uint64_t lost, bool has_end)
{
	uint32_t nr = px_load_acquire(&board->nr_lives);
	uint64_t before = stream->missing;

	for (uint32_t i = stream->first_life; i <= nr; i++)
		settle_life(stream, i, has_end);
	count(nr_windows, 1);
	count(nr_missing, stream->missing - before);
	if (stream->missing > lost)
		violation_missing(stream, lost);
}

/* Events. */

static uint64_t lost_without_mark(struct stream *stream)
{
	struct txtrace_loss loss;

	return txtrace_get_loss(stream->trid, &loss) ? UINT64_MAX : loss.dropped + loss.abandoned;
}

static void check_gap(struct stream *stream, const struct head *head,
		      const struct sequence *sequence, uint32_t gap)
{
	uint64_t counted;

	/* A looping log has lost events only at its beginning. */
	if (stream->is_foreign || (!sequence->was_seen && stream->log_loops))
		return;
	if (belongs(stream, head->life) != YES && !sequence->was_seen)
		return;
	/* START is before the first event. */
	if (stream->overflows != sequence->overflows ||
	    stream->breaks != (sequence->was_seen ? sequence->breaks : 1))
		return;
	stream->silent += gap;
	counted = lost_without_mark(stream);
	if (stream->silent > counted)
		violation("%s: %u events of life %u, writer %u, are missing before number %u: "
			  "%" PRIu64 " without a mark, %" PRIu64 " counted",
			  stream->name, gap, head->life, head->context, head->number,
			  stream->silent, counted);
}

static void check_number(struct stream *stream, const struct head *head, uint64_t time_ns)
{
	struct sequence *sequence = &stream->record[head->life].sequence[head->context];
	uint32_t last = sequence->was_seen && sequence->last > sequence->from ? sequence->last :
										sequence->from;

	if (sequence->was_seen && head->number <= sequence->last)
		violation("%s: number %u of life %u, writer %u, after %u", stream->name,
			  head->number, head->life, head->context, sequence->last);
	else if (head->number > last + 1) {
		sequence->missing += head->number - last - 1;
		check_gap(stream, head, sequence, head->number - last - 1);
	}
	if (time_ns < sequence->time_ns)
		violation("%s: time of life %u, writer %u, falls by %" PRIu64 " ns", stream->name,
			  head->life, head->context, sequence->time_ns - time_ns);
	sequence->was_seen = true;
	sequence->last = head->number;
	sequence->time_ns = time_ns;
	sequence->breaks = stream->breaks;
	sequence->overflows = stream->overflows;
}

static void check_type(struct stream *stream, trace_event_id_t id, uint32_t type)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "", wanted[20];

	if (id < sizeof(stream->type_of) && stream->type_of[id] == type + 1)
		return;
	snprintf(wanted, sizeof(wanted), "stress %u", type);
	if (posix_trace_eventid_get_name(stream->trid, id, name) != 0 || strcmp(name, wanted) != 0)
		violation("%s: type %u is named \"%s\", not \"%s\"", stream->name, id, name,
			  wanted);
	else
		stream->type_of[id] = (unsigned char)(type + 1);
}

static void check_truncation(struct stream *stream, const struct posix_trace_event_info *info,
			     const struct head *head, size_t size)
{
	bool is_cut = head->length > stream->max_data;

	if (stream->is_foreign)
		return;
	if (size != (is_cut ? stream->max_data : head->length) ||
	    info->posix_truncation_status !=
		    (is_cut ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED))
		violation("%s: %u bytes, %zu reported, truncation %d", stream->name, head->length,
			  size, info->posix_truncation_status);
}

static void check_user_event(struct stream *stream, const struct posix_trace_event_info *info,
			     const unsigned char *data, size_t size, bool is_late)
{
	struct head head;

	count(nr_events, 1);
	if (size < sizeof(head)) {
		violation("%s: an event of %zu bytes", stream->name, size);
		return;
	}
	memcpy(&head, data, sizeof(head));
	if (!head_is_whole(&head, data, size) || head.context >= NR_CONTEXTS || head.life == 0 ||
	    head.life > px_load_acquire(&board->nr_lives)) {
		violation("%s: a torn event of %zu bytes", stream->name, size);
		return;
	}
	if (stream->window == CLOSED && !is_late)
		violation("%s: number %u of life %u, writer %u, is outside of a window; this one begins after %u",
			  stream->name, head.number, head.life, head.context,
			  stream->record[head.life].sequence[head.context].from);
	if ((uint32_t)info->posix_pid != head.pid || board->life[head.life].pid != head.pid ||
	    !pthread_equal(info->posix_thread_id, (pthread_t)head.thread))
		violation("%s: an event of pid %u, life %u, is reported of pid %d", stream->name,
			  head.pid, head.life, (int)info->posix_pid);
	if (belongs(stream, head.life) == NO)
		violation("%s: life %u, pid %u, born by %s, is not to be traced", stream->name,
			  head.life, head.pid, birth_names[board->life[head.life].birth]);
	check_type(stream, info->posix_event_id, head.type);
	check_truncation(stream, info, &head, size);
	check_number(stream, &head, px_test_ns(info->posix_timestamp));
}

static void change_window(struct stream *stream, enum window next)
{
	/* If a log becomes full when the stream has just stopped automatically, it ends with two of them. */
	if (stream->window == next && !(next == CLOSED && stream->log_fills))
		violation("%s: %s", stream->name,
			  next == OPEN ? "START in a window" : "STOP outside of one");
	stream->window = next;
	stream->breaks++;
}

/*
 * If a writer had no CPU for long, the reader reports its event after younger ones, perhaps after STOP or within a gap.
 * Return true for such an event.
 */
static bool came_late(struct stream *stream, const struct posix_trace_event_info *info)
{
	uint64_t time_ns = px_test_ns(info->posix_timestamp);

	if (time_ns < stream->newest_ns)
		return true;
	stream->newest_ns = time_ns;
	return false;
}

void check_event(struct stream *stream, const struct posix_trace_event_info *info,
		 const unsigned char *data, size_t size)
{
	/* A flush of a full stream records its events before the stream records again. */
	bool is_flush = info->posix_event_id == POSIX_TRACE_FLUSH_START ||
			info->posix_event_id == POSIX_TRACE_FLUSH_STOP;

	if (came_late(stream, info) && info->posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT) {
		check_user_event(stream, info, data, size, true);
		return;
	}
	if (stream->resume_is_next && info->posix_event_id != POSIX_TRACE_RESUME && !is_flush &&
	    !(stream->log_fills && info->posix_event_id == POSIX_TRACE_STOP))
		violation("%s: type %u where RESUME is due", stream->name, info->posix_event_id);
	if (!is_flush)
		stream->resume_is_next = false;
	switch (info->posix_event_id) {
	case POSIX_TRACE_START:
		change_window(stream, OPEN);
		break;
	case POSIX_TRACE_STOP:
		change_window(stream, CLOSED);
		break;
	case POSIX_TRACE_OVERFLOW:
		stream->overflows++;
		stream->resume_is_next = true;
		if (!stream->is_bounded)
			stream->window = UNKNOWN; /* START and STOP are overwritten like other events */
		break;
	case POSIX_TRACE_RESUME:
	case POSIX_TRACE_FLUSH_START:
	case POSIX_TRACE_FLUSH_STOP:
		break;
	default:
		check_user_event(stream, info, data, size, false);
	}
}

/* Logs. */

static struct look {
	struct stream *stream;
	int fd;
} look;

static void read_log(struct stream *stream)
{
	struct posix_trace_event_info info;
	unsigned char data[2048];
	size_t length;
	int unavailable;

	for (;;) {
		ok(posix_trace_getnext_event(stream->trid, &info, data, sizeof(data), &length,
					     &unavailable));
		if (unavailable)
			return;
		check_event(stream, &info, data, length);
	}
}

START_TEST(log_of_many_processes_is_sound)
{
	struct stream *stream = look.stream;
	unsigned int flags = PX_TEST_LOG_NAMES_TWICE; /* in logs of controllers that were killed */
	struct px_test_log_facts facts;
	int error;

	if (stream->is_foreign)
		flags |= PX_TEST_LOG_IS_CUT;
	px_test_check_log(look.fd, flags, &facts);
	error = posix_trace_open(look.fd, &stream->trid);
	if (stream->is_foreign && error == EBUSY)
		return; /* the process that recovers it is stopped */
	ok(error);
	if (stream->log_loops)
		stream->window = UNKNOWN;
	read_log(stream);
	if (!stream->is_foreign)
		window_settle(stream,
			      facts.commit.overwritten + facts.commit.dropped +
				      facts.commit.abandoned + facts.commit.nr_lost,
			      !facts.commit.log_full || stream->log_loops);
	ok(posix_trace_close(stream->trid));
}
END_TEST

/* Run it in this process; a failure counts as one violation. */
void look_at_log(struct stream *stream, int fd)
{
	Suite *suite = suite_create("verify");
	TCase *tcase = tcase_create("log");
	SRunner *runner;
	TestResult **failures;

	look = (struct look){stream, fd};
	tcase_add_test(tcase, log_of_many_processes_is_sound);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	failures = srunner_failures(runner);
	for (int i = 0; i < srunner_ntests_failed(runner); i++)
		violation("%s: line %d: %s", stream->name, tr_lno(failures[i]),
			  tr_msg(failures[i]));
	free(failures);
	srunner_free(runner);
}

/* A creator that died early left no file that the viewer would accept as a trace buffer. */
static bool has_begun(int fd)
{
	uint32_t id = 0;

	return pread(fd, &id, sizeof(id), 0) == sizeof(id) && id == PX_TXTB_ID;
}

static void look_at_cut_log(const char *path)
{
	struct stream stream;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	stream_init(&stream);
	snprintf(stream.name, sizeof(stream.name), "%.119s", path);
	stream.is_foreign = stream.log_loops = stream.log_fills = true;
	stream.max_data = LENGTH_MAX;
	if (has_begun(fd)) {
		look_at_log(&stream, fd);
		count(nr_cut_logs, 1);
	}
	stream_destroy(&stream);
	close(fd);
}

void look_at_cut_logs(uint32_t pid)
{
	DIR *directory = opendir(board->directory);
	struct dirent *entry;
	char prefix[32], path[300];

	snprintf(prefix, sizeof(prefix), "log.%u.", pid);
	while (directory && (entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%.50s", board->directory, entry->d_name);
		look_at_cut_log(path);
		if (px_load_acquire(&board->nr_violations) == 0) /* otherwise keep it as evidence */
			unlink(path);
	}
	if (directory)
		closedir(directory);
}
