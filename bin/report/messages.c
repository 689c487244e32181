/* SPDX-License-Identifier: MIT */
#include "report/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/units.h"
#include "report/clock_fit.h"
#include "report/sockets.h"

#define PPM 1e-6
#define CONNECTIONS_LEAST 2 /* a port is one of some 30000, so one pair of ends is easily chance (sockets.h) */

struct end {
	unsigned int kind, file;
	uint64_t key;
	int64_t ns; /* with the shift of the file */
};

struct sent {
	unsigned int from, to;
	int64_t sent_ns, got_ns;
};

struct list {
	void *items;
	size_t nr, room;
};

struct messages {
	struct messages_file *files;
	unsigned int nr_files;
	struct list sent, received; /* struct end */
	struct list messages;	    /* struct sent */
	unsigned int nr_kinds;	    /* of messages of the user; those of sockets follow */
	bool is_quiet;
	size_t nr_least;	    /* fewer bounds of a kind may be there by chance: they tell nothing */
	size_t nr_ambiguous;	    /* numbers that several sent messages have */
	bool *is_placed;	    /* for each file */
	int64_t *uncertainty_ns;    /* for each file that is placed: of the correction; -1: not known */
	int64_t *first_ns, *last_ns; /* of each file */
};

static void *add(struct list *list, size_t size)
{
	if (list->nr == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->items = must(reallocarray(list->items, list->room, size));
	}
	return (char *)list->items + list->nr++ * size;
}

/* Reading. */

static void add_end(struct messages *messages, bool is_sent, struct end end)
{
	*(struct end *)add(is_sent ? &messages->sent : &messages->received, sizeof(end)) = end;
}

static void take_event(struct messages *messages, unsigned int file, struct spans *kinds, struct sockets *sockets,
		       const struct event *event)
{
	struct messages_file *of = &messages->files[file];
	unsigned int clock = of->clock;
	int64_t ns = event->time_ns + of->shift_ns;
	struct sockets_end ends[SOCKETS_ENDS_MAX];
	unsigned int nr_ends = sockets_event(sockets, event, ends);
	uint64_t key = 0;

	for (unsigned int i = 0; i < nr_ends; i++)
		add_end(messages, ends[i].is_sent,
			(struct end){kinds->nr + ends[i].message, clock, ends[i].key, ends[i].time_ns + of->shift_ns});
	if (messages->first_ns[clock] > ns)
		messages->first_ns[clock] = ns;
	if (messages->last_ns[clock] < ns)
		messages->last_ns[clock] = ns;
	for (unsigned int i = 0; i < kinds->nr; i++) {
		unsigned int role = spans_role(&kinds->span[i], of->source, event, &key);

		if (role & SPAN_BEGINS)
			add_end(messages, true, (struct end){i, clock, key, ns});
		if (role & SPAN_ENDS)
			add_end(messages, false, (struct end){i, clock, key, ns});
	}
}

static bool read_file(struct messages *messages, unsigned int file, struct spans *kinds)
{
	struct messages_file *of = &messages->files[file];
	struct source *source = of->source ?: source_open_quiet(of->path, 0);
	bool is_own = !of->source;
	struct sockets sockets = {0};
	struct event event;

	if (!source)
		return false;
	of->source = source;
	messages->first_ns[file] = INT64_MAX;
	messages->last_ns[file] = INT64_MIN;
	source_rewind(source);
	while (source_next(source, &event))
		take_event(messages, file, kinds, &sockets, &event);
	sockets_free(&sockets);
	spans_report_keys(kinds, source);
	spans_forget(kinds);
	if (is_own)
		source_close(source);
	else
		source_rewind(source);
	if (is_own)
		of->source = NULL;
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct end *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return (left->key > right->key) - (left->key < right->key);
}

/* Leave only the sent messages whose number no other one has. */
static void drop_ambiguous(struct messages *messages)
{
	struct end *sent = messages->sent.items;
	size_t nr = 0;

	if (messages->sent.nr > 0)
		qsort(sent, messages->sent.nr, sizeof(*sent), by_key);
	for (size_t i = 0, next; i < messages->sent.nr; i = next) {
		for (next = i + 1; next < messages->sent.nr && by_key(&sent[i], &sent[next]) == 0;)
			next++;
		if (next == i + 1)
			sent[nr++] = sent[i];
		else
			messages->nr_ambiguous += sent[i].kind < messages->nr_kinds;
	}
	messages->sent.nr = nr;
}

/* Ports are used again.  If the addresses of a connection come twice, nobody knows which ends belong together. */
static void drop_connections(struct messages *messages)
{
	struct end *received = messages->received.items;
	size_t nr = 0;

	if (messages->received.nr > 0)
		qsort(received, messages->received.nr, sizeof(*received), by_key);
	for (size_t i = 0, next; i < messages->received.nr; i = next) {
		for (next = i + 1; next < messages->received.nr && by_key(&received[i], &received[next]) == 0;)
			next++;
		for (size_t j = i; (next == i + 1 || received[i].kind < messages->nr_kinds) && j < next; j++)
			received[nr++] = received[j];
	}
	messages->received.nr = nr;
}

/* A message of the user may arrive in several files, or more than once. */
static void match(struct messages *messages)
{
	const struct end *received = messages->received.items;

	drop_ambiguous(messages);
	drop_connections(messages);
	for (size_t i = 0; messages->sent.nr > 0 && i < messages->received.nr; i++) {
		const struct end *sent = bsearch(&received[i], messages->sent.items, messages->sent.nr, sizeof(*sent),
						 by_key);

		if (sent && sent->file != received[i].file)
			*(struct sent *)add(&messages->messages, sizeof(struct sent)) =
				(struct sent){sent->file, received[i].file, sent->ns, received[i].ns};
	}
}

/* Placing. */

static int64_t corrected(const struct messages *messages, unsigned int file, int64_t ns)
{
	struct messages_file unshifted = messages->files[file];

	unshifted.shift_ns = 0;
	return messages_time(&unshifted, ns);
}

static size_t count_between(const struct messages *messages, unsigned int file, bool is_placed)
{
	const struct sent *sent = messages->messages.items;
	size_t nr = 0;

	for (size_t i = 0; i < messages->messages.nr; i++)
		nr += (sent[i].from == file && messages->is_placed[sent[i].to] == is_placed) ||
		      (sent[i].to == file && messages->is_placed[sent[i].from] == is_placed);
	return nr;
}

/* Return the file with the most messages from and to files that are placed, or the number of files. */
static unsigned int choose(const struct messages *messages)
{
	unsigned int best = messages->nr_files;
	size_t most = 0;

	for (unsigned int i = 0; i < messages->nr_files; i++) {
		size_t nr = messages->is_placed[i] ? 0 : count_between(messages, i, true);

		if (nr > most) {
			most = nr;
			best = i;
		}
	}
	return best;
}

/* The bounds for a file, from the messages to and from files that are placed. */
struct between {
	struct clock_bound *lower, *upper;
	size_t nr_lower, nr_upper;
	int64_t base_ns; /* is to be added to their values, so that a double is exact enough for them */
	unsigned int peer; /* one of those files */
	bool has_other_peers;
	int64_t uncertainty_ns; /* the largest one of those files; -1: not known */
};

static void add_bound(const struct messages *messages, struct between *between, unsigned int peer, bool is_upper,
		      int64_t at_ns, int64_t value_ns)
{
	struct clock_bound *bound = is_upper ? &between->upper[between->nr_upper++] :
					       &between->lower[between->nr_lower++];
	bool is_first = between->nr_lower + between->nr_upper == 1;
	int64_t uncertainty_ns = messages->uncertainty_ns[peer];

	if (is_first)
		between->base_ns = value_ns;
	between->has_other_peers |= !is_first && peer != between->peer;
	between->peer = peer;
	if (uncertainty_ns < 0 || (between->uncertainty_ns >= 0 && uncertainty_ns > between->uncertainty_ns))
		between->uncertainty_ns = uncertainty_ns;
	*bound = (struct clock_bound){(double)at_ns, (double)(value_ns - between->base_ns)};
}

static struct between find_bounds(const struct messages *messages, unsigned int file)
{
	const struct sent *sent = messages->messages.items;
	int64_t origin_ns = messages->first_ns[file];
	size_t room = messages->messages.nr;
	struct between between = {.lower = must(calloc(room, sizeof(struct clock_bound))),
				  .upper = must(calloc(room, sizeof(struct clock_bound)))};

	for (size_t i = 0; i < messages->messages.nr; i++) {
		if (sent[i].from == file && messages->is_placed[sent[i].to])
			add_bound(messages, &between, sent[i].to, true, sent[i].sent_ns - origin_ns,
				  corrected(messages, sent[i].to, sent[i].got_ns) - sent[i].sent_ns);
		else if (sent[i].to == file && messages->is_placed[sent[i].from])
			add_bound(messages, &between, sent[i].from, false, sent[i].got_ns - origin_ns,
				  corrected(messages, sent[i].from, sent[i].sent_ns) - sent[i].got_ns);
	}
	return between;
}

/* Say how fast a clock is, if the messages tell, and else within which bounds. */
static void describe_drift(char *text, size_t size, const struct clock_fit *fit)
{
	double drift = fit->drift < 0 ? -fit->drift : fit->drift;

	if (drift > fit->drift_uncertainty)
		snprintf(text, size, "%s %.1f +- %.1f us a second", fit->drift < 0 ? "gained" : "lost", drift / PPM,
			 fit->drift_uncertainty / PPM);
	else
		snprintf(text, size, "gained or lost %.1f us a second at most", (drift + fit->drift_uncertainty) / PPM);
}

/* Say what is known of a clock. */
static void report(const struct messages *messages, unsigned int file, const struct between *between,
		   const struct clock_fit *fit)
{
	const char *path = messages->files[file].path;
	const char *peer = between->has_other_peers ? "the other files" : messages->files[between->peer].path;
	unsigned long long nr = between->nr_lower + between->nr_upper;
	int64_t offset_ns = messages->files[file].correction.offset_ns;
	const char *way = offset_ns < 0 ? "ahead of" : "behind";
	char offset[32], uncertainty[32], drift[80];

	units_duration(offset, sizeof(offset), offset_ns < 0 ? -offset_ns : offset_ns);
	units_duration(uncertainty, sizeof(uncertainty), messages->uncertainty_ns[file]);
	describe_drift(drift, sizeof(drift), fit);
	if (!fit->is_possible)
		message("%s: %llu messages between it and %s contradict each other: a clock was set, or an event is "
			"not that of its message; the order of some events is wrong",
			path, nr, peer);
	else if ((!fit->has_lower || !fit->has_upper) && offset_ns == 0)
		message("%s: all %llu messages between it and %s go one way, and agree with its clock, which is taken "
			"as it is",
			path, nr, peer);
	else if (!fit->has_lower || !fit->has_upper)
		message("%s: its clock was %s %s that of %s, or more: all %llu messages go one way, so they do not "
			"tell how much more",
			path, offset, way, peer, nr);
	else if (messages->uncertainty_ns[file] < 0)
		message("%s: its clock was about %s %s that of %s, from %llu messages; that clock is not known well",
			path, offset, way, peer, nr);
	else
		message("%s: its clock was %s +- %s %s that of %s, and %s, from %llu %s", path, offset, uncertainty,
			way, peer, drift, nr, messages->nr_kinds > 0 ? "messages" : "bounds of connections");
}

/* With messages in one direction, change a clock only as far as they demand. */
static int64_t choose_offset(const struct between *between, const struct clock_fit *fit)
{
	int64_t offset_ns = between->base_ns + (int64_t)floor(fit->offset);

	if (!fit->has_lower)
		return offset_ns < 0 ? offset_ns : 0;
	if (!fit->has_upper)
		return offset_ns >= 0 ? offset_ns + 1 : 0;
	return offset_ns;
}

static void place(struct messages *messages, unsigned int file)
{
	struct between between = find_bounds(messages, file);
	size_t nr_lower = between.nr_lower, nr_upper = between.nr_upper;
	struct clock_fit fit =
		clock_fit(between.lower, between.nr_lower, between.upper, between.nr_upper, 0,
			  (double)(messages->last_ns[file] - messages->first_ns[file]));

	messages->files[file].correction = (struct clock_correction){
		.offset_ns = choose_offset(&between, &fit), .drift = fit.drift, .origin_ns = messages->first_ns[file]};
	messages->is_placed[file] = true;
	messages->uncertainty_ns[file] = -1;
	/* 2 ns: the times are rounded. */
	if (fit.has_lower && fit.has_upper && fit.is_possible && between.uncertainty_ns >= 0 &&
	    nr_lower >= messages->nr_least && nr_upper >= messages->nr_least)
		messages->uncertainty_ns[file] = (int64_t)fit.uncertainty + 2 + between.uncertainty_ns;
	if (!messages->is_quiet)
		report(messages, file, &between, &fit);
	free(between.lower);
	free(between.upper);
}

/* Files with one clock have one correction. */
static void share_clocks(struct messages *messages)
{
	for (unsigned int i = 0; i < messages->nr_files; i++) {
		const struct messages_file *first = &messages->files[messages->files[i].clock];

		messages->files[i].correction = first->correction;
		messages->files[i].uncertainty_ns = first->uncertainty_ns;
	}
}

/* The first file of those between which there are messages keeps its clock. */
static void place_all(struct messages *messages)
{
	for (unsigned int i = 0; i < messages->nr_files; i++) {
		unsigned int file;

		if (messages->is_placed[i] || messages->files[i].clock != i)
			continue;
		messages->is_placed[i] = true;
		if (i > 0 && !messages->is_quiet)
			message("%s: no message tells how far its clock is from that of %s, so it is taken as it is",
				messages->files[i].path, messages->files[0].path);
		messages->files[i].uncertainty_ns = i > 0 ? -1 : 0;
		while ((file = choose(messages)) < messages->nr_files) {
			place(messages, file);
			/* From the first file, no message leads to these: their clocks are known only to each other. */
			messages->files[file].uncertainty_ns = i > 0 ? -1 : messages->uncertainty_ns[file];
		}
	}
	share_clocks(messages);
}

static bool has_end(const struct list *list, unsigned int kind)
{
	const struct end *end = list->items;

	for (size_t i = 0; i < list->nr; i++)
		if (end[i].kind == kind)
			return true;
	return false;
}

/* Say which events of the user's messages are in no file: a name may be misspelt. */
static void report_missing(const struct messages *messages, const struct spans *kinds)
{
	for (unsigned int i = 0; i < kinds->nr; i++) {
		const struct span *kind = &kinds->span[i];

		if (!has_end(&messages->sent, i))
			message("--message %s: no file has an event %s with that number", kind->name, kind->begins);
		if (!has_end(&messages->received, i))
			message("--message %s: no file has an event %s with that number", kind->name, kind->ends);
	}
}

static bool gather(struct messages *messages, struct spans *kinds)
{
	unsigned int nr_files = messages->nr_files;
	bool is_fine = true;

	messages->nr_kinds = kinds->nr;
	messages->is_placed = must(calloc(nr_files, sizeof(*messages->is_placed)));
	messages->uncertainty_ns = must(calloc(nr_files, sizeof(*messages->uncertainty_ns)));
	messages->first_ns = must(calloc(nr_files, sizeof(*messages->first_ns)));
	messages->last_ns = must(calloc(nr_files, sizeof(*messages->last_ns)));
	for (unsigned int i = 0; is_fine && i < nr_files; i++)
		is_fine = read_file(messages, i, kinds);
	if (is_fine) {
		report_missing(messages, kinds);
		match(messages);
	}
	if (messages->nr_ambiguous > 0)
		message("--message: several messages have the same number; these %zu numbers are not used",
			messages->nr_ambiguous);
	return is_fine;
}

static void release(struct messages *messages)
{
	free(messages->sent.items);
	free(messages->received.items);
	free(messages->messages.items);
	free(messages->is_placed);
	free(messages->uncertainty_ns);
	free(messages->first_ns);
	free(messages->last_ns);
}

bool messages_place(struct spans *kinds, struct messages_file *files, unsigned int nr_files)
{
	struct messages messages = {.files = files, .nr_files = nr_files};
	bool is_fine = gather(&messages, kinds);

	if (is_fine)
		place_all(&messages);
	release(&messages);
	return is_fine;
}

/* What the connections correct more than the file tells. */
static int64_t told_ns(const struct messages *messages, unsigned int i)
{
	const struct messages_file *file = &messages->files[i];
	const int64_t at_ns = messages->first_ns[i];

	return clock_correction_at(&file->correction, at_ns) - clock_correction_at(&file->told, at_ns);
}

/*
 * The corrections by connections are relative to the first file, those that files tell are to UTC.  So compare the
 * differences of two files.  Return false after a message if two files contradict each other.
 */
static bool agree_with_told(const struct messages *messages)
{
	for (unsigned int i = 0; i < messages->nr_files; i++) {
		for (unsigned int k = 0; k < i; k++) {
			const struct messages_file *file = &messages->files[i], *other = &messages->files[k];
			int64_t ns = told_ns(messages, i) - told_ns(messages, k);
			const int64_t most_ns = file->told_uncertainty_ns + other->told_uncertainty_ns;
			char found[32], most[32];

			ns = ns < 0 ? -ns : ns;
			if (file->told_uncertainty_ns < 0 || other->told_uncertainty_ns < 0 ||
			    ns - most_ns <= file->uncertainty_ns + other->uncertainty_ns)
				continue;
			units_duration(found, sizeof(found), ns);
			units_duration(most, sizeof(most), most_ns);
			message("%s: by connections with the same addresses and ports, its clock would be %s off that "
				"of %s, but by what the kernels told %s at most; so these are other connections, and "
				"none is used",
				file->path, found, other->path, most);
			return false;
		}
	}
	return true;
}

/* The first attempt is quiet: the connections may not tell enough. */
bool messages_place_by_sockets(struct messages_file *files, unsigned int nr_files, bool *is_known)
{
	struct messages messages = {
		.files = files, .nr_files = nr_files, .is_quiet = true, .nr_least = CONNECTIONS_LEAST};
	struct spans none = {.nr = 0};
	bool is_fine = gather(&messages, &none);

	*is_known = is_fine && messages.messages.nr > 0;
	if (*is_known)
		place_all(&messages);
	for (unsigned int i = 0; i < nr_files; i++)
		*is_known = *is_known && files[i].uncertainty_ns >= 0;
	*is_known = *is_known && agree_with_told(&messages);
	messages.is_quiet = false;
	for (unsigned int i = 0; i < nr_files; i++) {
		messages.is_placed[i] = false;
		files[i].correction = (struct clock_correction){0};
		files[i].uncertainty_ns = -1;
	}
	if (*is_known)
		place_all(&messages);
	release(&messages);
	return is_fine;
}
