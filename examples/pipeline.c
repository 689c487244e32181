/* SPDX-License-Identifier: MIT */
/*
 * A pipeline of threads that traces itself, and prints the trace.
 *
 * Reader threads walk a directory tree and read its files, block by block.  Worker threads digest the
 * blocks.  A writer thread collects the results.  Between them are bounded queues.  All blocks of a
 * file go to the same worker, in order, so a digest needs no lock.  An analyzer thread reads the trace
 * at the same time; or the trace is written to a log, which is read at the end.
 *
 * The program uses only the installed interface: cc -std=gnu11 pipeline.c -lposixtrace -pthread
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np() */
#endif
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace.h>
#include <trace_ext.h>
#include <unistd.h>

#define READERS 2
#define WORKERS_MAX 256
#define WORKERS_MAX_TEXT TEXT_OF(WORKERS_MAX)
#define TEXT_OF(macro) TEXT(macro)
#define TEXT(word) #word
#define QUEUE_SLOTS 16
#define BLOCK_SIZE 65536
#define SHOWN_LINES 16 /* printed from the beginning of the trace, and from its end */
#define COMPLAINTS 5   /* messages about unreadable files; further files are counted */
#define NAP_NS 1000000 /* sleep of the analyzer if there is nothing to read */
#define NS_PER_S 1000000000
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static struct {
	const char *root;
	unsigned int nr_workers;
	bool has_policy;
	int policy;
	size_t stream_size;   /* bytes */
	const char *log_path; /* NULL: the trace is read while it is recorded */
	bool all;
} options = {.policy = POSIX_TRACE_LOOP, .stream_size = 1 << 20};

static struct stat log_file;

static void die(const char *what, int error)
{
	fprintf(stderr, "pipeline: %s: %s\n", what, strerror(error));
	exit(1);
}

static void check(int error, const char *what)
{
	if (error)
		die(what, error);
}

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		die("memory", errno);
	return memory;
}

/* 64-bit FNV-1a. */
static uint64_t digest(uint64_t hash, const void *data, size_t length)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * FNV_PRIME;
	return hash;
}

/* Events and their data.  The data is recorded as it is in memory, so the structures have no padding. */

#define NAME_SIZE 48

struct file_data {
	uint64_t size;
	uint64_t digest;
	uint32_t file;
	uint32_t error;
	char name[NAME_SIZE]; /* no null: the data ends with it; of a longer name, the end */
};

struct read_data {
	uint64_t offset;
	uint32_t file;
	uint32_t length;
};

struct queue_data {
	uint32_t queue; /* 0: of the writer; i: of worker i */
	uint32_t depth;
	uint32_t file; /* 0: no file was put or taken */
};

union event_data {
	struct file_data file;
	struct read_data read;
	struct queue_data queue;
};

enum event {
	FILE_OPEN,
	FILE_READ,
	FILE_FAILED,
	QUEUE_PUT,
	QUEUE_FULL,
	QUEUE_GET,
	QUEUE_EMPTY,
	DIGEST_BEGIN,
	DIGEST_END,
	NR_EVENTS
};

static struct {
	const char *name;
	size_t least; /* minimum bytes of data */
	trace_event_id_t id;
} events[NR_EVENTS] = {
	[FILE_OPEN] = {"file_open", offsetof(struct file_data, name), 0},
	[FILE_READ] = {"file_read", sizeof(struct read_data), 0},
	[FILE_FAILED] = {"file_failed", offsetof(struct file_data, name), 0},
	[QUEUE_PUT] = {"queue_put", sizeof(struct queue_data), 0},
	[QUEUE_FULL] = {"queue_full", sizeof(struct queue_data), 0},
	[QUEUE_GET] = {"queue_get", sizeof(struct queue_data), 0},
	[QUEUE_EMPTY] = {"queue_empty", sizeof(struct queue_data), 0},
	[DIGEST_BEGIN] = {"digest_begin", offsetof(struct file_data, name), 0},
	[DIGEST_END] = {"digest_end", offsetof(struct file_data, name), 0},
};

struct file {
	uint32_t number; /* from 1 */
	int error;
	uint64_t size; /* at open; at the end, bytes digested */
	uint64_t digest;
	const char *name; /* path relative to the root */
	char path[];
};

static void trace_file(enum event event, const struct file *file)
{
	struct file_data data = {.size = file->size,
				 .digest = file->digest,
				 .file = file->number,
				 .error = (uint32_t)file->error};
	size_t length = strlen(file->name);

	if (length <= NAME_SIZE) {
		memcpy(data.name, file->name, length);
	} else {
		memcpy(data.name, file->name + length - NAME_SIZE, NAME_SIZE);
		memcpy(data.name, "...", 3);
		length = NAME_SIZE;
	}
	posix_trace_event(events[event].id, &data, offsetof(struct file_data, name) + length);
}

static void trace_read(uint32_t file, uint64_t offset, uint32_t length)
{
	struct read_data data = {offset, file, length};

	posix_trace_event(events[FILE_READ].id, &data, sizeof(data));
}

static void trace_queue(enum event event, uint32_t queue, uint32_t depth, uint32_t file)
{
	struct queue_data data = {queue, depth, file};

	posix_trace_event(events[event].id, &data, sizeof(data));
}

/*
 * Say which fields the data have, for txtrace.  The name in struct file_data takes the rest of the data, so these
 * events have a description.  The others have a type, whose fields txtrace finds if you compile this file with -g.
 */
static void describe_events(void)
{
	static const enum event of_files[] = {FILE_OPEN, FILE_FAILED, DIGEST_BEGIN, DIGEST_END};
	static const enum event of_queues[] = {QUEUE_PUT, QUEUE_FULL, QUEUE_GET, QUEUE_EMPTY};

	for (size_t i = 0; i < sizeof(of_files) / sizeof(of_files[0]); i++)
		check(txtrace_describe_type(events[of_files[i]].id,
					    "uint64_t size, digest; uint32_t file, error; char name[];"),
		      "txtrace_describe_type");
	for (size_t i = 0; i < sizeof(of_queues) / sizeof(of_queues[0]); i++)
		check(TXTRACE_TYPE(events[of_queues[i]].id, struct queue_data), "TXTRACE_TYPE");
	check(TXTRACE_TYPE(events[FILE_READ].id, struct read_data), "TXTRACE_TYPE");
}

/* Queues. */

struct item {
	void *payload;
	uint32_t file;
};

struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t not_empty, not_full;
	struct item item[QUEUE_SLOTS];
	uint32_t number, first, depth;
	bool is_closed;
};

static struct queue results;
static struct queue blocks[WORKERS_MAX];

static void init_queue(struct queue *queue, uint32_t number)
{
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
	pthread_cond_init(&queue->not_full, NULL);
	queue->number = number;
}

static void put(struct queue *queue, void *payload, uint32_t file)
{
	pthread_mutex_lock(&queue->mutex);
	if (queue->depth == QUEUE_SLOTS)
		trace_queue(QUEUE_FULL, queue->number, queue->depth, 0);
	while (queue->depth == QUEUE_SLOTS)
		pthread_cond_wait(&queue->not_full, &queue->mutex);
	queue->item[(queue->first + queue->depth++) % QUEUE_SLOTS] = (struct item){payload, file};
	/* A trace point takes no lock and never waits, so it may be called with the mutex held. */
	trace_queue(QUEUE_PUT, queue->number, queue->depth, file);
	pthread_cond_signal(&queue->not_empty);
	pthread_mutex_unlock(&queue->mutex);
}

/* Wait for the next payload; NULL if the queue is empty and closed. */
static void *get(struct queue *queue)
{
	struct item item = {NULL, 0};

	pthread_mutex_lock(&queue->mutex);
	if (queue->depth == 0)
		trace_queue(QUEUE_EMPTY, queue->number, 0, 0);
	while (queue->depth == 0 && !queue->is_closed)
		pthread_cond_wait(&queue->not_empty, &queue->mutex);
	if (queue->depth > 0) {
		item = queue->item[queue->first];
		queue->first = (queue->first + 1) % QUEUE_SLOTS;
		queue->depth--;
		trace_queue(QUEUE_GET, queue->number, queue->depth, item.file);
		pthread_cond_signal(&queue->not_full);
	}
	pthread_mutex_unlock(&queue->mutex);
	return item.payload;
}

static void close_queue(struct queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	queue->is_closed = true;
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->mutex);
}

/* Threads. */

struct thread {
	pthread_t id;
	char name[16];
	void (*run)(uint32_t number);
	uint32_t number;
	/* Computed by the analyzer. */
	unsigned long long nr_events, nr_waits;
	int64_t waited_ns, wait_began_ns; /* wait_began_ns 0: not waiting */
};

/* In the order of creation; they are joined in the same order. */
static struct thread threads[1 + READERS + WORKERS_MAX + 2];
static unsigned int nr_threads;

/* No thread runs before all have names, so the analyzer can read the table without a lock. */
static pthread_barrier_t all_made;

static void *thread_main(void *argument)
{
	struct thread *thread = argument;

	pthread_barrier_wait(&all_made);
	thread->run(thread->number);
	return NULL;
}

static void make_thread(const char *kind, uint32_t number, void (*run)(uint32_t number))
{
	struct thread *thread = &threads[nr_threads++];

	if (number > 0)
		snprintf(thread->name, sizeof(thread->name), "%s %" PRIu32, kind, number);
	else
		snprintf(thread->name, sizeof(thread->name), "%s", kind);
	thread->number = number;
	thread->run = run;
	check(pthread_create(&thread->id, NULL, thread_main, thread), "cannot make a thread");
	pthread_setname_np(thread->id, thread->name);
}

static void join_threads(unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		pthread_join(threads[i].id, NULL);
}

/* Readers. */

struct block {
	struct file *file;
	uint64_t offset;
	size_t length;
	bool is_last;
	unsigned char bytes[BLOCK_SIZE];
};

/* Shared by the readers. */
static struct {
	pthread_mutex_t mutex;
	FTS *fts;
	uint32_t nr_files;
} walk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void begin_walk(void)
{
	char *root = strdup(options.root);
	char *roots[] = {root, NULL};

	if (!root)
		die("memory", errno);
	/* Do not follow links, except for the root.  Do not enter other file systems. */
	walk.fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, by_name);
	if (!walk.fts)
		die(options.root, errno);
	free(root);
}

static struct file *make_file(const FTSENT *entry, int error)
{
	struct file *file = allocate(sizeof(*file) + entry->fts_pathlen + 1);

	*file = (struct file){.number = ++walk.nr_files, .error = error, .digest = FNV_BASIS};
	memcpy(file->path, entry->fts_path, entry->fts_pathlen + 1u);
	file->name = file->path;
	if (entry->fts_level > FTS_ROOTLEVEL) {
		file->name += strlen(options.root);
		while (*file->name == '/')
			file->name++;
	}
	return file;
}

static bool is_log(const struct stat *file)
{
	return options.log_path && file->st_dev == log_file.st_dev &&
	       file->st_ino == log_file.st_ino;
}

/* The next regular file, or the next entry that cannot be read; NULL at the end. */
static struct file *next_file(void)
{
	struct file *file = NULL;
	FTSENT *entry;

	pthread_mutex_lock(&walk.mutex);
	do {
		errno = 0;
		entry = fts_read(walk.fts);
		if (!entry && errno != 0)
			die(options.root, errno);
		if (entry && entry->fts_info == FTS_F && is_log(entry->fts_statp))
			continue; /* our own log grows while we read it */
		if (entry && entry->fts_info == FTS_F)
			file = make_file(entry, 0);
		else if (entry && (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
				   entry->fts_info == FTS_NS))
			file = make_file(entry, entry->fts_errno);
	} while (entry && !file);
	pthread_mutex_unlock(&walk.mutex);
	return file;
}

/* Do not block if the name refers to a FIFO now. */
static int open_file(struct file *file)
{
	int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		file->error = errno;
	else if (!S_ISREG(status.st_mode))
		file->error = ENODEV;
	else
		file->size = (uint64_t)status.st_size;
	if (file->error && fd >= 0)
		close(fd);
	return file->error ? -1 : fd;
}

/* Only the last block of a file is shorter than BLOCK_SIZE. */
static struct block *read_block(struct file *file, int fd, uint64_t offset)
{
	struct block *block = allocate(sizeof(*block));
	ssize_t got;

	block->file = file;
	block->offset = offset;
	block->length = 0;
	do {
		got = read(fd, block->bytes + block->length, BLOCK_SIZE - block->length);
		if (got > 0)
			block->length += (size_t)got;
	} while ((got > 0 && block->length < BLOCK_SIZE) || (got < 0 && errno == EINTR));
	if (got < 0)
		file->error = errno;
	block->is_last = block->length < BLOCK_SIZE;
	trace_read(file->number, offset, (uint32_t)block->length);
	return block;
}

static void read_file(struct file *file)
{
	uint32_t number = file->number;
	struct queue *queue = &blocks[number % options.nr_workers];
	int fd = file->error ? -1 : open_file(file);
	uint64_t offset = 0;
	struct block *block;
	bool is_last;

	if (fd < 0) {
		trace_file(FILE_FAILED, file);
		put(&results, file, number);
		return;
	}
	trace_file(FILE_OPEN, file);
	do {
		block = read_block(file, fd, offset);
		offset += block->length;
		is_last = block->is_last;
		put(queue, block, number); /* after the last block, the worker owns the file */
	} while (!is_last);
	close(fd);
}

static void run_reader(uint32_t number)
{
	struct file *file;

	(void)number;
	while ((file = next_file()))
		read_file(file);
}

/* Workers. */

static void digest_block(const struct block *block)
{
	struct file *file = block->file;

	if (block->offset == 0)
		trace_file(DIGEST_BEGIN, file);
	file->digest = digest(file->digest, block->bytes, block->length);
	if (block->is_last) {
		file->size = block->offset + block->length;
		trace_file(file->error ? FILE_FAILED : DIGEST_END, file);
		put(&results, file, file->number);
	}
}

static void run_worker(uint32_t number)
{
	struct block *block;

	while ((block = get(&blocks[number - 1]))) {
		digest_block(block);
		free(block);
	}
}

/* Writer. */

static struct {
	unsigned long long nr_files, nr_failures;
	uint64_t size;
	uint64_t digest; /* of names and contents; independent of the order of files */
} total;

/* A name can contain any bytes: print bytes that could confuse a terminal as \xNN. */
static void print_name(FILE *to, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)name[i];

		if (byte >= 0x20 && byte < 0x7F && byte != '\\')
			putc(byte, to);
		else
			fprintf(to, "\\x%02x", byte);
	}
}

static void collect(const struct file *file)
{
	uint64_t hash;

	if (file->error) {
		if (total.nr_failures++ < COMPLAINTS) {
			fputs("pipeline: cannot read '", stderr);
			print_name(stderr, file->name, strlen(file->name));
			fprintf(stderr, "': %s\n", strerror(file->error));
		}
		return;
	}
	hash = digest(FNV_BASIS, file->name, strlen(file->name) + 1);
	total.digest += digest(hash, &file->digest, sizeof(file->digest));
	total.size += file->size;
	total.nr_files++;
}

static void run_writer(uint32_t number)
{
	struct file *file;

	(void)number;
	while ((file = get(&results))) {
		collect(file);
		free(file);
	}
	if (total.nr_failures > COMPLAINTS)
		fprintf(stderr, "pipeline: ... and %llu more\n", total.nr_failures - COMPLAINTS);
}

/* The trace, and its analyzer. */

#define TYPES_MAX 64

static trace_id_t trace;
static atomic_bool is_over;
static struct txtrace_loss loss;

static struct type {
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int event; /* enum event, or -1: not defined here */
	unsigned long long count, bytes;
} types[TYPES_MAX] = {{.name = "(unknown)", .event = -1}};
static uint32_t nr_types = 1;

/* One line of the listing. */
struct line {
	int64_t time_ns;
	int thread; /* -1: none */
	uint32_t type;
	uint32_t length;
	union event_data data; /* truncated to this size */
};

static struct line *lines;
static size_t nr_lines, room_for_lines;

static int event_of(const char *name)
{
	for (int i = 0; i < NR_EVENTS; i++)
		if (strcmp(events[i].name, name) == 0)
			return i;
	return -1;
}

/* Get all event types of the stream, with their names. */
static void list_types(void)
{
	int unavailable;

	for (struct type *type = &types[1]; nr_types < TYPES_MAX; type++, nr_types++) {
		check(posix_trace_eventtypelist_getnext_id(trace, &type->id, &unavailable),
		      "posix_trace_eventtypelist_getnext_id");
		if (unavailable)
			break;
		check(posix_trace_eventid_get_name(trace, type->id, type->name),
		      "posix_trace_eventid_get_name");
		type->event = event_of(type->name);
	}
}

static uint32_t type_of(trace_event_id_t id)
{
	uint32_t i = nr_types - 1;

	while (i > 0 && !posix_trace_eventid_equal(trace, types[i].id, id))
		i--;
	return i;
}

static int thread_of(pthread_t id)
{
	static unsigned int last;

	for (unsigned int tried = 0; tried < nr_threads; tried++) {
		if (pthread_equal(threads[last].id, id))
			return (int)last;
		last = (last + 1) % nr_threads;
	}
	return -1;
}

/* The index at which line i is kept: of all lines, or of the first and the last SHOWN_LINES. */
static size_t place_of(size_t i)
{
	return options.all || i < SHOWN_LINES ? i : SHOWN_LINES + i % SHOWN_LINES;
}

static void keep(const struct line *line)
{
	size_t place = place_of(nr_lines++);

	if (place >= room_for_lines) {
		room_for_lines = room_for_lines ? 2 * room_for_lines : 2 * SHOWN_LINES;
		lines = reallocarray(lines, room_for_lines, sizeof(*lines));
		if (!lines)
			die("memory", errno);
	}
	lines[place] = *line;
}

/* A thread waits from QUEUE_FULL or QUEUE_EMPTY until its next event. */
static void note_thread(struct thread *thread, const struct line *line)
{
	int event = types[line->type].event;

	thread->nr_events++;
	if (thread->wait_began_ns)
		thread->waited_ns += line->time_ns - thread->wait_began_ns;
	thread->wait_began_ns = 0;
	if (event == QUEUE_FULL || event == QUEUE_EMPTY) {
		thread->nr_waits++;
		thread->wait_began_ns = line->time_ns;
	}
}

static void forget_waits(void)
{
	for (unsigned int i = 0; i < nr_threads; i++)
		threads[i].wait_began_ns = 0;
}

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static void note(const struct posix_trace_event_info *info, const void *data, size_t length)
{
	struct line line = {.time_ns = to_ns(&info->posix_timestamp),
			    .type = type_of(info->posix_event_id),
			    .thread = thread_of(info->posix_thread_id),
			    .length = (uint32_t)length};

	memcpy(&line.data, data, length < sizeof(line.data) ? length : sizeof(line.data));
	types[line.type].count++;
	types[line.type].bytes += length;
	if (line.thread >= 0)
		note_thread(&threads[line.thread], &line);
	else
		forget_waits(); /* events may be missing */
	keep(&line);
}

static bool read_event(void)
{
	static unsigned char data[2 * sizeof(trace_event_set_t)]; /* largest system event */
	struct posix_trace_event_info info;
	int unavailable;
	size_t length;

	if (options.log_path)
		check(posix_trace_getnext_event(trace, &info, data, sizeof(data), &length,
						&unavailable),
		      "posix_trace_getnext_event");
	else
		check(posix_trace_trygetnext_event(trace, &info, data, sizeof(data), &length,
						   &unavailable),
		      "posix_trace_trygetnext_event");
	if (unavailable)
		return false;
	note(&info, data, length);
	return true;
}

/* The analyzer sleeps for a fixed time instead of waiting for an event, so trace points need not wake it up. */
static void run_analyzer(uint32_t number)
{
	const struct timespec nap = {0, NAP_NS};
	bool is_last_look;

	(void)number;
	do {
		is_last_look = atomic_load(&is_over);
		while (read_event())
			;
		if (!is_last_look)
			nanosleep(&nap, NULL);
	} while (!is_last_look);
}

static int open_log(int flags)
{
	int fd = open(options.log_path, flags | O_CLOEXEC, 0666);

	if (fd < 0)
		die(options.log_path, errno);
	return fd;
}

/* A log with POSIX_TRACE_APPEND contains all events.  The stream is flushed while it is running. */
static int create_with_log(trace_attr_t *attr)
{
	int fd = open_log(O_WRONLY | O_CREAT | O_TRUNC);
	int error;

	if (fstat(fd, &log_file) != 0)
		die(options.log_path, errno);
	check(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_FLUSH),
	      "posix_trace_attr_setstreamfullpolicy");
	check(posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND),
	      "posix_trace_attr_setlogfullpolicy");
	error = posix_trace_create_withlog(0, attr, fd, &trace);
	close(fd); /* the stream has a duplicate */
	return error;
}

/* Write the names of the events for TraceX to a file next to the log. */
static void write_trxc(void)
{
	static char text[65536], path[4096];
	size_t length;
	FILE *file;

	check(txtrace_get_trxc(trace, text, sizeof(text), &length), "txtrace_get_trxc");
	snprintf(path, sizeof(path), "%sc", options.log_path);
	file = fopen(path, "w");
	if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0)
		die(path, errno);
}

/* Read the log in the same way as another program would. */
static void read_log(void)
{
	int fd = open_log(O_RDONLY);

	check(posix_trace_open(fd, &trace), "posix_trace_open");
	while (read_event())
		;
	check(txtrace_get_loss(trace, &loss), "txtrace_get_loss");
	write_trxc();
	check(posix_trace_close(trace), "posix_trace_close");
	close(fd);
}

static void create_trace(void)
{
	trace_attr_t attr;
	int error;

	for (int i = 0; i < NR_EVENTS; i++)
		check(posix_trace_eventid_open(events[i].name, &events[i].id), events[i].name);
	describe_events();
	check(posix_trace_attr_init(&attr), "posix_trace_attr_init");
	check(posix_trace_attr_setname(&attr, "pipeline"), "posix_trace_attr_setname");
	check(posix_trace_attr_setstreamfullpolicy(&attr, options.policy),
	      "posix_trace_attr_setstreamfullpolicy");
	check(posix_trace_attr_setstreamsize(&attr, options.stream_size),
	      "posix_trace_attr_setstreamsize");
	if (options.log_path)
		error = create_with_log(&attr);
	else
		error = posix_trace_create(0, &attr, &trace);
	if (error == ENOMEM)
		die("no room for the trace; a smaller --size may help", error);
	if (error && error != EAGAIN && options.log_path)
		die(options.log_path, error);
	if (error && error != EAGAIN)
		die("no trace; is the directory of shared memory usable? See posixtrace(7)", error);
	check(error, "posix_trace_create");
	check(posix_trace_attr_destroy(&attr), "posix_trace_attr_destroy");
	list_types();
}

/* Printing. */

static void print_queue(const struct queue_data *queue)
{
	if (queue->queue == 0)
		printf("the writer");
	else
		printf("worker %" PRIu32, queue->queue);
}

static void print_file(const struct line *line)
{
	const struct file_data *file = &line->data.file;

	printf("#%" PRIu32 " ", file->file);
	print_name(stdout, file->name, line->length - offsetof(struct file_data, name));
}

static void print_data(enum event event, const struct line *line)
{
	const union event_data *data = &line->data;

	switch (event) {
	case FILE_OPEN:
		print_file(line);
		printf(", %" PRIu64 " bytes", data->file.size);
		break;
	case FILE_READ:
		printf("#%" PRIu32 " %" PRIu32 " bytes", data->read.file, data->read.length);
		if (data->read.offset > 0)
			printf(" at %" PRIu64, data->read.offset);
		break;
	case FILE_FAILED:
		print_file(line);
		printf(": %s", strerror((int)data->file.error));
		break;
	case QUEUE_PUT:
		printf("#%" PRIu32 " for ", data->queue.file);
		print_queue(&data->queue);
		printf(", %" PRIu32 " in the queue", data->queue.depth);
		break;
	case QUEUE_FULL:
		printf("waits for ");
		print_queue(&data->queue);
		printf(" to take something");
		break;
	case QUEUE_GET:
		printf("#%" PRIu32 ", %" PRIu32 " left in the queue", data->queue.file,
		       data->queue.depth);
		break;
	case QUEUE_EMPTY:
		printf("waits for something to do");
		break;
	case DIGEST_BEGIN:
		print_file(line);
		break;
	case DIGEST_END:
		print_file(line);
		printf(", %" PRIu64 " bytes, %016" PRIx64, data->file.size, data->file.digest);
		break;
	case NR_EVENTS:
		break;
	}
}

/* Events of the trace system. */
static void print_system(const struct line *line)
{
	trace_event_id_t id = types[line->type].id;
	int automatic;

	memcpy(&automatic, &line->data, sizeof(automatic));
	if (posix_trace_eventid_equal(trace, id, POSIX_TRACE_START))
		printf("recording begins");
	else if (posix_trace_eventid_equal(trace, id, POSIX_TRACE_STOP))
		printf("recording %s", automatic ? "pauses, there is no room" : "ends");
	else if (posix_trace_eventid_equal(trace, id, POSIX_TRACE_OVERFLOW))
		printf("from here, events are lost");
	else if (posix_trace_eventid_equal(trace, id, POSIX_TRACE_RESUME))
		printf("from here, they are recorded again");
}

static void print_line(const struct line *line, int64_t origin_ns, int time_width)
{
	int64_t time_ns = line->time_ns - origin_ns;
	int event = types[line->type].event;

	printf("%*" PRId64 ".%03d  %-10s  %-30s  ", time_width - 4, time_ns / 1000,
	       (int)(time_ns % 1000), line->thread < 0 ? "-" : threads[line->thread].name,
	       types[line->type].name);
	if (event < 0)
		print_system(line);
	else if (line->length >= events[event].least && line->length <= sizeof(line->data))
		print_data((enum event)event, line);
	putchar('\n');
}

static void print_trace(void)
{
	size_t left_out = 0;
	int time_width;
	char text[32];

	if (nr_lines == 0)
		return;
	if (!options.all && nr_lines > 2 * SHOWN_LINES)
		left_out = nr_lines - 2 * SHOWN_LINES;
	time_width = snprintf(text, sizeof(text), "%" PRId64 ".000",
			      (lines[place_of(nr_lines - 1)].time_ns - lines[0].time_ns) / 1000);
	if (time_width < 10)
		time_width = 10;
	printf("\n%*s  %-10s  %-30s  %s\n", time_width, "time us", "thread", "event", "data");
	for (size_t i = 0; i < nr_lines; i++) {
		if (left_out > 0 && i == SHOWN_LINES) {
			printf("%*s  %zu more; --all prints them\n", time_width, "...", left_out);
			i += left_out;
		}
		print_line(&lines[place_of(i)], lines[0].time_ns, time_width);
	}
}

static void print_loss(void)
{
	unsigned long long lost = loss.overwritten + loss.dropped + loss.abandoned;

	printf("%llu event%s lost", lost, lost == 1 ? "" : "s");
	if (lost > 0)
		printf(" (%llu overwritten, %llu dropped, %llu abandoned)", loss.overwritten,
		       loss.dropped, loss.abandoned);
	printf(", %zu read\n", nr_lines);
}

static void print_summary(void)
{
	printf("\n%-30s  %10s  %12s\n", "event", "count", "data bytes");
	for (size_t i = 0; i < nr_types; i++)
		if (types[i].count > 0)
			printf("%-30s  %10llu  %12llu\n", types[i].name, types[i].count,
			       types[i].bytes);
	printf("\n%-30s  %10s  %12s  %12s\n", "thread", "events", "waits", "waited us");
	for (unsigned int i = 0; i < nr_threads; i++)
		if (threads[i].nr_events > 0)
			printf("%-30s  %10llu  %12llu  %8" PRId64 ".%03d\n", threads[i].name,
			       threads[i].nr_events, threads[i].nr_waits,
			       threads[i].waited_ns / 1000, (int)(threads[i].waited_ns % 1000));
}

static void print_total(int64_t wall_ns)
{
	printf("\n%llu files, %" PRIu64 " bytes, %llu not readable, digest %016" PRIx64 "\n",
	       total.nr_files, total.size, total.nr_failures, total.digest);
	printf("%" PRId64 ".%03d ms of wall time\n", wall_ns / 1000000,
	       (int)(wall_ns / 1000 % 1000));
}

/* Options. */

static void print_help(void)
{
	printf("usage: pipeline [OPTION]... DIRECTORY\n"
	       "Digest all files below DIRECTORY with a pipeline of threads, and print the trace\n"
	       "that it takes of itself.\n"
	       "\n"
	       "  -j WORKERS        threads that digest, 1 to %d; default: one for each CPU\n"
	       "  --policy POLICY   when the trace is full: loop (the default) or until-full;\n"
	       "                    not with --log\n"
	       "  --size BYTES      least size of the trace; K, M or G may follow; default 1M\n"
	       "  --log FILE        trace into FILE, which TraceX opens; the names of the events\n"
	       "                    go into FILEc (name.trxc).  All events are kept\n"
	       "  --all             print all events, not just the first and the last %d\n"
	       "  -h, --help        print this\n"
	       "\n"
	       "In the trace #N is a file; file_open has its name.  Symbolic links are not\n"
	       "followed.\n"
	       "Exit status: 0, 1 if something fails, 2 if an option or DIRECTORY is wrong.\n",
	       WORKERS_MAX, SHOWN_LINES);
}

__attribute__((noreturn)) static void refuse(const char *what, const char *word)
{
	fprintf(stderr, "pipeline: %s", what);
	if (word) {
		fputs(" '", stderr);
		print_name(stderr, word, strlen(word));
		fputc('\'', stderr);
	}
	fputs("; see --help\n", stderr);
	exit(2);
}

/* Parse a number from 1 to most.  If has_unit, K, M or G may follow it. */
static size_t parse_number(const char *text, size_t most, bool has_unit, const char *what)
{
	static const char units[] = "KMG";
	unsigned long long number;
	unsigned int shift = 0;
	const char *unit;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	unit = has_unit && *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (!isdigit((unsigned char)*text) || *end || errno)
		refuse(what, text);
	if (number == 0 || number > most >> shift)
		refuse(what, text);
	return (size_t)(number << shift);
}

static int parse_policy(const char *text)
{
	if (strcmp(text, "loop") == 0)
		return POSIX_TRACE_LOOP;
	if (strcmp(text, "until-full") == 0)
		return POSIX_TRACE_UNTIL_FULL;
	refuse("--policy is loop or until-full, not", text);
}

static unsigned int count_cpus(void)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (nr_cpus < 1)
		return 1;
	return nr_cpus < WORKERS_MAX ? (unsigned int)nr_cpus : WORKERS_MAX;
}

static void parse_options(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"all", no_argument, NULL, 'a'},	{"help", no_argument, NULL, 'h'},
		{"log", required_argument, NULL, 'l'},	{"policy", required_argument, NULL, 'p'},
		{"size", required_argument, NULL, 's'}, {0},
	};
	int option;

	opterr = 0; /* getopt_long() would print the path of the program that libtool runs */
	while ((option = getopt_long(argc, argv, "hj:", long_options, NULL)) != -1) {
		switch (option) {
		case 'a':
			options.all = true;
			break;
		case 'h':
			print_help();
			exit(0);
		case 'j':
			options.nr_workers = (unsigned int)parse_number(
				optarg, WORKERS_MAX, false,
				"-j takes a number from 1 to " WORKERS_MAX_TEXT ", not");
			break;
		case 'l':
			options.log_path = optarg;
			break;
		case 'p':
			options.policy = parse_policy(optarg);
			options.has_policy = true;
			break;
		case 's':
			options.stream_size = parse_number(optarg, SIZE_MAX, true,
							   "--size takes a number of bytes, not");
			break;
		default:
			refuse("unknown option, or one without its argument", NULL);
		}
	}
	/* With a log the stream is flushed, so it does not become full. */
	if (options.log_path && options.has_policy)
		refuse("--policy does not go with --log", NULL);
	if (optind == argc)
		refuse("a directory is needed", NULL);
	if (optind + 1 < argc)
		refuse("one directory only, not also", argv[optind + 1]);
	options.root = argv[optind];
	if (options.nr_workers == 0)
		options.nr_workers = count_cpus();
}

static void check_root(void)
{
	int fd = open(options.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		fputs("pipeline: '", stderr);
		print_name(stderr, options.root, strlen(options.root));
		fprintf(stderr, "': %s\n", strerror(errno));
		exit(2);
	}
	close(fd);
}

static void make_threads(void)
{
	threads[nr_threads++] = (struct thread){.id = pthread_self(), .name = "main"};
	init_queue(&results, 0);
	for (uint32_t i = 1; i <= options.nr_workers; i++)
		init_queue(&blocks[i - 1], i);
	check(pthread_barrier_init(&all_made, NULL,
				   1 + READERS + options.nr_workers + (options.log_path ? 1 : 2)),
	      "pthread_barrier_init");
	for (uint32_t i = 1; i <= READERS; i++)
		make_thread("reader", i, run_reader);
	for (uint32_t i = 1; i <= options.nr_workers; i++)
		make_thread("worker", i, run_worker);
	make_thread("writer", 0, run_writer);
	if (!options.log_path)
		make_thread("analyzer", 0, run_analyzer);
}

/* Run all threads, from the first file to the last result. */
static void run_pipeline(void)
{
	unsigned int first_worker = 1 + READERS;
	unsigned int writer = first_worker + options.nr_workers;

	pthread_barrier_wait(&all_made);
	join_threads(1, first_worker);
	for (unsigned int i = 0; i < options.nr_workers; i++)
		close_queue(&blocks[i]);
	join_threads(first_worker, writer);
	close_queue(&results);
	join_threads(writer, writer + 1);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return to_ns(&now);
}

/* After this all events have been read. */
static void end_trace(void)
{
	if (options.log_path) {
		check(posix_trace_shutdown(trace), "posix_trace_shutdown");
		read_log();
		return;
	}
	atomic_store(&is_over, true);
	join_threads(nr_threads - 1, nr_threads); /* the analyzer */
	check(txtrace_get_loss(trace, &loss), "txtrace_get_loss");
	check(posix_trace_shutdown(trace), "posix_trace_shutdown");
}

static void print_log_path(void)
{
	if (!options.log_path)
		return;
	printf("\nThe trace is in %s.  TraceX opens it as it is: set Options > Ticks per\n"
	       "Microsecond to 10.  For the names of the events, put %sc into its\n"
	       "folder CustomEvents, as tracex_custom.trxc, before.\n",
	       options.log_path, options.log_path);
}

int main(int argc, char **argv)
{
	int64_t wall_ns;

	parse_options(argc, argv);
	check_root();
	begin_walk();
	create_trace();
	make_threads();

	check(posix_trace_start(trace), "posix_trace_start");
	wall_ns = now_ns();
	run_pipeline();
	wall_ns = now_ns() - wall_ns;
	check(posix_trace_stop(trace), "posix_trace_stop");
	end_trace();

	print_loss();
	print_trace();
	print_summary();
	print_total(wall_ns);
	print_log_path();
	fts_close(walk.fts);
	free(lines);
	if (fflush(stdout) != 0 || ferror(stdout))
		die("standard output", errno);
	return 0;
}
