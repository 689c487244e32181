/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace buffer of ThreadX from a description on standard input, for the tests of the tool. Numbers are in any
 * base of C. The lines of a description, each with what it describes:
 *
 *	# TEXT				nothing; text after the numbers of an event is ignored, too
 *	big				the byte order; the default is little
 *	mask NUMBER, names NUMBER	time mask, bytes of a name
 *	down NUMBER			the timer counts down from this number: a stamp is the number minus the ticks of
 *					the event, and only the bits of the mask are written
 *	priorities			the second word of an event: the priority that the object of the thread has; in
 *					an interrupt, the handle of the interrupted thread, or 0 if the last thread
 *					before it was suspended with no thread to run next
 *	oldest NUMBER			the buffer has wrapped: the first event is written to this slot, counted from 0
 *	object TYPE HANDLE PRIORITY NAME
 *	parameters FIRST SECOND		of the last object; for a thread, the start and the size of its stack
 *	deleted				the last object is not available
 *	event CONTEXT ID TICKS [INFO1 [INFO2 [INFO3 [INFO4]]]]
 *	repeat COUNT			the last object or event COUNT times, with rising handles or ticks
 *	loop COUNT STEP, end		the events between these lines COUNT times, each time STEP ticks later
 *	poke OFFSET BYTES VALUE		these bytes of the file, in its byte order, after all else is written
 *	size BYTES			the file is cut, or filled with zeros
 *	scramble SEED			up to four bytes anywhere
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE 0x10000u
#define LINES_MAX 4096
#define FIRST_RESERVED 0xF0F0F0F0u
#define INTERRUPT 0xFFFFFFFFu
#define SUSPEND 2

struct object {
	unsigned int type, handle, priority, parameters[2], is_deleted, count;
	char name[64];
};

struct event {
	unsigned int context, id, stamp, info[4], count;
};

struct change {
	char kind;
	unsigned long long a, b, c;
};

static struct object objects[LINES_MAX];
static struct event events[LINES_MAX];
static struct change changes[LINES_MAX];
static unsigned int nr_objects, nr_events, nr_changes;
static unsigned int *last_count; /* of the last object or event */
static unsigned int all_objects, all_events;
static unsigned int big, mask = 0xFFFFFFFF, name_size = 32;
static unsigned int counts_down, down_from, has_priorities, oldest, interrupted;
static unsigned int loop_begin, loop_count, loop_step;
static unsigned char file[8 << 20];
static size_t size;

static void poke(size_t offset, unsigned int bytes, unsigned long long value)
{
	for (unsigned int i = 0; i < bytes && offset + i < sizeof(file); i++)
		file[offset + i] = (unsigned char)(value >> 8 * (big ? bytes - 1 - i : i));
}

static void put(unsigned int bytes, unsigned long long value)
{
	poke(size, bytes, value);
	size += bytes;
}

static void change(char kind, unsigned long long a, unsigned long long b, unsigned long long c)
{
	changes[nr_changes++] = (struct change){kind, a, b, c};
}

static int take_one(unsigned int *count, unsigned int *nr, unsigned int *all)
{
	*count = 1;
	last_count = count;
	++*all;
	return ++*nr;
}

static int end_loop(void)
{
	unsigned int nr = nr_events - loop_begin;

	if (!loop_count || nr_objects + nr_changes + loop_begin + nr * loop_count >= LINES_MAX)
		return 0;
	for (unsigned int i = 1; i < loop_count; i++)
		for (unsigned int j = 0; j < nr; j++) {
			events[nr_events] = events[loop_begin + j];
			events[nr_events].stamp += i * loop_step;
			all_events += events[nr_events++].count;
		}
	loop_count = 0;
	last_count = NULL;
	return 1;
}

/*
 * Read up to `nr` numbers behind the word that begins the line, and set *rest behind them.  Return how many there are.
 * scanf() would limit them to INT_MAX where a long has 32 bits.
 */
static unsigned int numbers(const char *line, const char *word, unsigned int nr, unsigned int *const to[],
			    const char **rest)
{
	size_t length = strlen(word);
	unsigned int count = 0;
	char *end = (char *)(uintptr_t)line + length;

	if (strncmp(line, word, length) != 0 || *end != ' ')
		return 0;
	for (const char *at = end; count < nr; at = end) {
		unsigned long long number = strtoull(at, &end, 0);

		if (end == at)
			break;
		*to[count++] = (unsigned int)number;
	}
	if (rest)
		*rest = end;
	return count;
}

#define NUMBERS(line, word, ...)                                                                   \
	numbers(line, word, sizeof((unsigned int *[]){__VA_ARGS__}) / sizeof(unsigned int *),      \
		(unsigned int *[]){__VA_ARGS__}, &rest)

/* Return 0 if the line is not one of these. */
static int take_setting(const char *line)
{
	struct object *last = &objects[nr_objects - (nr_objects > 0)];
	const char *rest;

	if (line[0] == '#' || line[0] == '\n')
		return 1;
	if (strcmp(line, "big\n") == 0)
		return big = 1;
	if (strcmp(line, "priorities\n") == 0)
		return has_priorities = 1;
	if (strcmp(line, "deleted\n") == 0)
		return last->is_deleted = 1;
	if (strcmp(line, "end\n") == 0)
		return end_loop();
	if (NUMBERS(line, "down", &down_from) == 1)
		return counts_down = 1;
	loop_begin = strncmp(line, "loop ", 5) == 0 ? nr_events : loop_begin;
	return NUMBERS(line, "mask", &mask) == 1 || NUMBERS(line, "names", &name_size) == 1 ||
	       NUMBERS(line, "oldest", &oldest) == 1 ||
	       NUMBERS(line, "loop", &loop_count, &loop_step) == 2 ||
	       NUMBERS(line, "parameters", &last->parameters[0], &last->parameters[1]) == 2;
}

static int take_line(const char *line)
{
	struct object *object = &objects[nr_objects];
	struct event *event = &events[nr_events];
	unsigned long long a, b, c;
	const char *rest;

	if (nr_objects + nr_events + nr_changes >= LINES_MAX)
		return 0;
	*event = (struct event){0};
	if (take_setting(line))
		return 1;
	if (NUMBERS(line, "object", &object->type, &object->handle, &object->priority) == 3) {
		sscanf(rest, " %63[^\n]", object->name);
		return take_one(&object->count, &nr_objects, &all_objects);
	}
	if (NUMBERS(line, "event", &event->context, &event->id, &event->stamp, &event->info[0], &event->info[1],
		    &event->info[2], &event->info[3]) >= 3)
		return take_one(&event->count, &nr_events, &all_events);
	if (last_count && sscanf(line, "repeat %lli", (long long *)&a) == 1) {
		*(last_count == &objects[nr_objects - (nr_objects > 0)].count ?
			  &all_objects :
			  &all_events) += (unsigned int)a - 1;
		return *last_count = (unsigned int)a;
	}
	if (sscanf(line, "poke %lli %lli %lli", (long long *)&a, (long long *)&b, (long long *)&c) == 3)
		change('p', a, b, c);
	else if (sscanf(line, "size %lli", (long long *)&a) == 1)
		change('s', a, 0, 0);
	else if (sscanf(line, "scramble %lli", (long long *)&a) == 1)
		change('x', a, 0, 0);
	else
		return 0;
	return 1;
}

static void write_header(void)
{
	unsigned int registry_end = BASE + 48 + all_objects * (16 + name_size);

	put(4, 0x54585442);
	put(4, mask);
	put(4, BASE);
	put(4, BASE + 48);
	put(2, 0);
	put(2, name_size);
	put(4, registry_end);
	put(4, registry_end);
	put(4, registry_end + 32 * all_events);
	put(4, registry_end + 32 * (all_events ? oldest % all_events : 0));
	put(4, 0xAAAAAAAA);
	put(4, 0xBBBBBBBB);
	put(4, 0xCCCCCCCC);
}

static void write_object(const struct object *object, unsigned int i)
{
	put(1, object->is_deleted);
	put(1, object->type);
	put(1, object->type == 1 ? 0x80 | object->priority >> 8 : 0);
	put(1, object->type == 1 ? object->priority & 0xFF : 0);
	put(4, object->handle + i);
	put(4, object->parameters[0]);
	put(4, object->parameters[1]);
	memcpy(file + size, object->name, name_size < 64 ? name_size : 64);
	size += name_size;
}

static unsigned int second_word(const struct event *event)
{
	unsigned int is_thread = event->context < FIRST_RESERVED;

	if (!has_priorities)
		return is_thread ? 0x80000000u : 0;
	if (event->context == INTERRUPT)
		return interrupted;
	if (!is_thread)
		return 0;
	interrupted = event->id == SUSPEND ? event->info[3] : event->context;
	for (unsigned int i = 0; i < nr_objects; i++)
		if (objects[i].type == 1 && objects[i].handle == event->context)
			return 0x80000000u | objects[i].priority;
	return 0x80000000u;
}

static void write_event(const struct event *event, unsigned int i)
{
	unsigned int ticks = event->stamp + i;

	put(4, event->context);
	put(4, second_word(event));
	put(4, event->id);
	put(4, counts_down ? (down_from - ticks) & mask : ticks);
	for (int j = 0; j < 4; j++)
		put(4, event->info[j]);
}

static void write_parts(void)
{
	size_t begin, end;

	for (unsigned int i = 0; i < nr_objects; i++)
		for (unsigned int j = 0; j < objects[i].count && size < sizeof(file) - 80; j++)
			write_object(&objects[i], j);
	begin = size;
	end = begin + 32ul * all_events;
	if (all_events)
		size += 32ul * (oldest % all_events);
	for (unsigned int i = 0; i < nr_events; i++)
		for (unsigned int j = 0; j < events[i].count && size < sizeof(file) - 80; j++) {
			write_event(&events[i], j);
			if (oldest && size == end)
				size = begin;
		}
	if (oldest)
		size = end;
}

static void scramble(unsigned long long seed)
{
	uint64_t state = seed * 6364136223846793005u + 1442695040888963407u;

	for (unsigned int n = 1 + seed % 4; n > 0; n--) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		/* Half of the changes are in the header. */
		file[(state >> 33) % (state >> 63 ? size : 64)] = (unsigned char)(state >> 24);
	}
}

static void apply(const struct change *at)
{
	if (at->kind == 'p')
		poke(at->a, (unsigned int)at->b, at->c);
	else if (at->kind == 's')
		size = at->a < sizeof(file) ? at->a : sizeof(file);
	else
		scramble(at->a);
}

int main(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin))
		if (!take_line(line)) {
			fprintf(stderr, "mktrx: %s", line);
			return 2;
		}
	write_header();
	write_parts();
	for (unsigned int i = 0; i < nr_changes; i++)
		apply(&changes[i]);
	return fwrite(file, 1, size, stdout) == size ? 0 : 2;
}
