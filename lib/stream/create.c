/* SPDX-License-Identifier: MIT */
/* The beginning and the end of a stream. */
#include "config.h"

#include "stream/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/membarrier.h"
#include "base/procfs.h"
#include "registry/inherit.h"
#include "registry/registry_of.h"
#include "registry/target.h"
#include "ring/cpuring.h"
#include "trace/process.h"
#include "trace/types.h"

static int check_attr(const struct px_attr *attr, bool with_log)
{
	switch (attr->stream_policy) {
	case PX_POLICY_DEFAULT:
	case PX_POLICY_LOOP:
	case PX_POLICY_UNTIL_FULL:
		break;
	case PX_POLICY_FLUSH:
		if (with_log)
			break;
		return EINVAL; /* it needs a log (SETSFP-4, FLUSHP-3) */
	default:
		return EINVAL;
	}
	if (attr->log_policy != PX_POLICY_LOOP && attr->log_policy != PX_POLICY_UNTIL_FULL &&
	    attr->log_policy != PX_POLICY_APPEND)
		return EINVAL;
	if (attr->max_data_size > PX_ATTR_DATA_SIZE_MAX || attr->nr_rings > PX_RINGS_MAX)
		return EINVAL;
	return 0;
}

/*
 * A ring for each CPU, and one for all that cannot write there (cpuring.h).  Where nobody can, or who makes the
 * stream cannot ask for the barrier that this takes, CPUs share rings, as they do where a number of rings is asked
 * for.  The number that the default comes to is the default: the attributes of a stream make another one like it.
 */
static void choose_rings(const struct px_attr *attr, enum px_clock_source source,
			 struct px_geometry *geometry)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (nr_cpus < 1)
		nr_cpus = 1;
	if (nr_cpus >= PX_RINGS_MAX)
		nr_cpus = PX_RINGS_MAX - 1;
	geometry->nr_rings = geometry->nr_shared = attr->nr_rings > 0 ? attr->nr_rings :
									(uint32_t)nr_cpus;
	if ((attr->nr_rings == 0 || attr->nr_rings == (uint32_t)nr_cpus + 1) &&
	    source == PX_CLOCK_HARDWARE && px_cpu_area() && px_membarrier_register() &&
	    px_membarrier_all()) {
		geometry->nr_rings = (uint32_t)nr_cpus + 1;
		geometry->nr_shared = 1;
	}
}

/* Fewer rings, where there is no memory for these: then none of a CPU's own. */
static void have_fewer_rings(struct px_geometry *geometry)
{
	geometry->nr_rings /= 2;
	geometry->nr_shared = geometry->nr_rings;
}

/* What is to be made, for whom. */
struct order {
	const struct px_attr *attr;
	const struct px_clock *clock;
	struct px_target target;
	bool is_self;
	struct px_registry_of registrar; /* open while a slot is looked for and taken */
};

/* A segment with as many rings as fit. */
static int create_segment(struct px_stream *stream, const struct order *order, uint32_t index)
{
	const struct px_attr *attr = order->attr;
	bool bounded = attr->stream_policy != PX_POLICY_LOOP;
	struct px_geometry geometry;
	struct px_mapping mapping;
	int error;

	if (!px_geometry_init(&geometry, attr->stream_size, attr->max_data_size, 1))
		return ENOMEM;
	choose_rings(attr, order->clock->source, &geometry);
	for (;;) {
		error = px_registry_of_make_segment(&order->registrar, index, &stream->slot,
						    px_segment_size(&geometry), &mapping);
		if (error != ENOMEM || geometry.nr_rings == 1)
			break;
		have_fewer_rings(&geometry);
	}
	if (error)
		return error;
	px_segment_init(&mapping, &geometry, bounded, attr->max_data_size, order->clock->source,
			px_clock_shift(order->clock->scale), &stream->view);
	stream->view.segment->policy = attr->stream_policy;
	memcpy(stream->view.segment->name, attr->name, sizeof(attr->name));
	return 0;
}

/* What get_attr will say: the attributes as they are in use (ATTR-3, GETSS-2). */
static void settle_attr(struct px_stream *stream, const struct px_attr *attr, uint64_t create_ns)
{
	/* GETATTR-5: what describes this library is never taken over. */
	px_attr_init(&stream->attr);
	px_attr_set_name(&stream->attr, attr->name);
	stream->attr.max_data_size = attr->max_data_size;
	stream->attr.log_size = attr->log_size;
	stream->attr.log_policy = attr->log_policy;
	stream->attr.inherited = attr->inherited;
	stream->attr.stream_policy = attr->stream_policy;
	stream->attr.stream_size = px_geometry_guarantee(&stream->view.geometry);
	stream->attr.nr_rings = stream->view.geometry.nr_rings;
	stream->attr.create_time = px_clock_timespec(create_ns);
}

static bool inherits(const struct order *order, uint32_t index, const struct px_registry_slot *slot)
{
	uint64_t member[PX_SEGMENT_MEMBERS];

	return slot->is_inherited &&
	       px_registry_of_read_segment(&order->registrar, index, slot,
					   offsetof(struct px_segment, member), member,
					   sizeof(member)) == 0 &&
	       px_inherit_is_among(slot, member, &order->target.id);
}

/* The table of a stream that traces the process already, though it has not looked yet. */
static uint32_t names_of_other_streams(const struct order *order)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		struct px_registry_slot slot;

		if (px_registry_of_read(&order->registrar, i, &slot) && slot.shared_names != 0 &&
		    (px_process_id_is(&slot.target, &order->target.id) ||
		     inherits(order, i, &slot)))
			return slot.shared_names;
	}
	return 0;
}

/*
 * The names that the target has, or will have: with the registry's lock held, so that it cannot choose
 * another table meanwhile.
 */
static int get_shared_names(struct px_stream *stream, const struct order *order)
{
	uint32_t number, others;
	bool has_entered;

	if (order->is_self) {
		int error = px_process_choose_shared_names(&number);

		stream->shared_names.shared_names =
			px_types_shared_names(&stream->shared_names.number);
		return error;
	}
	others = names_of_other_streams(order); /* first: share_family() in process.c */
	if (!px_shared_names_of(order->target.id.pid, order->target.uid, &number, &has_entered))
		return px_target_refusal(&order->target.id);
	if (others != 0 && !has_entered)
		number = others;
	if (number != 0 &&
	    px_shared_names_attach(number, order->target.uid, &stream->shared_names) == 0)
		return 0;
	return px_shared_names_make(order->target.uid, &stream->shared_names);
}

static void put_shared_names(struct px_stream *stream)
{
	if (!stream->is_self)
		px_shared_names_detach(&stream->shared_names);
}

/* Control events need somebody in the viewer. */
static void introduce_controller(const struct px_stream *stream)
{
	struct px_object nobody = {.handle = PX_NO_THREAD,
				   .type = PX_TXTB_THREAD,
				   .priority = 1023,
				   .name = PX_NO_THREAD_NAME};

	px_view_add_thread(&stream->view, &nobody);
}

/* The stream in its segment, as far as that is nobody else's yet. */
static int furnish(struct px_stream *stream, const struct order *order)
{
	struct px_timeline timeline;
	int error;

	px_timeline_init(&timeline, order->clock, px_clock_realtime_offset_ns());
	stream->slot.create_ns = px_timeline_convert(&timeline, timeline.origin.counter);
	error = px_reader_init(&stream->reader, &stream->view, stream->target.pid, &timeline);
	if (error)
		return error;
	settle_attr(stream, order->attr, stream->slot.create_ns);
	if (!order->is_self)
		introduce_controller(stream);
	return 0;
}

static int create_parts(struct px_stream *stream, struct order *order)
{
	struct px_registry_slot *slot = &stream->slot;
	int error;

	error = px_registry_of_find(&order->registrar, &stream->index, &slot->generation);
	if (!error)
		error = create_segment(stream, order, stream->index);
	if (error)
		return error;
	stream->view.generation = slot->generation;
	error = furnish(stream, order);
	slot->create_start = px_procfs_now();
	if (!error)
		error = px_registry_of_publish(&order->registrar, stream->index, slot);
	if (error) {
		px_reader_destroy(&stream->reader);
		px_shm_unmap(&stream->view.mapping);
		px_registry_of_unmake_segment(&order->registrar, stream->index, slot);
	}
	return error;
}

static int create_locked(struct px_stream *stream, struct order *order)
{
	int error;

	if (!order->is_self && !px_procfs_is_same(order->target.id.pid, order->target.id.start))
		return ESRCH;
	stream->is_self = order->is_self;
	stream->target = order->target.id;
	stream->owner = order->target.uid;
	error = get_shared_names(stream, order);
	if (error)
		return error;
	stream->slot = (struct px_registry_slot){.controller = px_process_id(),
						 .target = order->target.id,
						 .is_inherited = order->attr->inherited != 0,
						 .shared_names = stream->shared_names.number};
	error = create_parts(stream, order);
	if (error)
		put_shared_names(stream);
	return error;
}

/* So that no start is that of a process that lived before the call, and after the stream: inherit.h. */
static void wait_for_tick(void)
{
	const struct timespec nap = {0, 1000000};
	uint64_t begin = px_procfs_now();

	while (px_procfs_now() == begin)
		nanosleep(&nap, NULL);
}

static int create_checkpoint_file(struct px_stream *stream, int fd)
{
	struct px_checkpoint_file_setup setup = {.user = stream->owner,
						 .index = stream->index,
						 .slot = &stream->slot,
						 .nr_rings = stream->view.rings.nr_rings,
						 .fd = fd};

	return px_checkpoint_file_create(&setup, &stream->logging.checkpoint_file);
}

static int create_log(struct px_stream *stream, int fd)
{
	struct px_log_setup setup = {.fd = fd,
				     .attr = &stream->attr,
				     .writer = px_process_id(),
				     .target_pid = stream->target.pid,
				     .threads = &stream->view.segment->threads,
				     .types = &stream->view.segment->types,
				     .view = &stream->view};
	struct px_log_state state;
	int error = create_checkpoint_file(stream, fd);

	if (error)
		return error;
	stream->logging.data = malloc(stream->reader.held_capacity);
	stream->logging.checkpoint = px_checkpoint_make(stream->view.rings.nr_rings);
	if (!stream->logging.data || !stream->logging.checkpoint)
		return ENOMEM;
	stream->reader.keeps_slots = stream->view.limit != 0;
	setup.checkpoint_file = stream->logging.checkpoint_file;
	px_stream_log_state(stream, false, &state);
	return px_log_create(&setup, &state, &stream->logging.log);
}

/* As long as somebody may complete its log, and no longer, its memory stays when the controller dies. */
static void mark_log(struct px_stream *stream, bool has_log)
{
	stream->slot.has_log = has_log;
	px_registry_of_mark_log(stream->owner, stream->index, &stream->slot);
}

/* Which policy the default is depends on whether there is a log (WITHLOG-7). */
static struct px_attr choose_attr(const struct px_attr *attr, bool with_log)
{
	struct px_attr chosen;

	if (attr)
		chosen = *attr;
	else
		px_attr_init(&chosen);
	if (chosen.stream_policy == PX_POLICY_DEFAULT)
		chosen.stream_policy = with_log ? PX_POLICY_FLUSH : PX_POLICY_LOOP;
	return chosen;
}

static int find_target(pid_t pid, struct order *order)
{
	const struct px_process_id us = px_process_id();

	order->is_self = pid == 0 || (uint32_t)pid == us.pid;
	if (!order->is_self)
		return px_target_find(pid, &order->target);
	order->target.id = us;
	order->target.uid = geteuid();
	return 0;
}

/* Everything but what only the target, or the log, has to do with. */
static int create_stream(struct px_stream *stream, struct order *order)
{
	struct px_clock clock = px_clock_best(); /* which takes its time: not under the lock */
	int error;

	order->clock = &clock;
	if (order->attr->inherited)
		wait_for_tick();
	error = px_registry_of_open(&order->registrar, order->target.uid);
	if (error)
		return error;
	error = create_locked(stream, order);
	px_registry_of_close(&order->registrar);
	return error;
}

/*
 * The target's part, here rather than at its first event: it would fail in silence.  And what types it has, before it
 * makes its next step (CREATE-7): who opens one now looks at the registry afterwards, in px_process_open_type().
 */
static int meet_target(struct px_stream *stream)
{
	int error = 0;

	if (stream->is_self)
		error = px_process_join(stream->index, stream->view.generation);
	if (!error)
		px_stream_list_types(stream);
	return error;
}

int px_stream_create(pid_t pid, const struct px_attr *attr, int log_fd, struct px_stream **stream)
{
	bool with_log = log_fd >= 0;
	struct px_attr chosen = choose_attr(attr, with_log);
	struct order order = {.attr = &chosen};
	struct px_stream *made;
	int error;

	error = check_attr(&chosen, with_log);
	if (!error && with_log)
		error = px_log_check(log_fd);
	if (!error)
		error = px_process_init();
	if (!error)
		error = find_target(pid, &order);
	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	error = create_stream(made, &order);
	if (error) {
		free(made);
		return error;
	}
	error = meet_target(made);
	PX_TESTPOINT("stream.create.met");
	if (!error && with_log)
		error = create_log(made, log_fd);
	if (!error && with_log)
		mark_log(made, true);
	if (error) {
		px_stream_end(made);
		px_stream_free(made);
		return error;
	}
	*stream = made;
	return 0;
}

void px_stream_end(struct px_stream *stream)
{
	struct px_segment *segment = stream->view.segment;
	bool leaves_log;

	px_exchange(&segment->state, (uint64_t)PX_STATE_ENDED);
	if (stream->logging.checkpoint_file && !stream->logging.log) {
		mark_log(stream, false);
		px_checkpoint_file_remove(stream->logging.checkpoint_file);
		stream->logging.checkpoint_file = NULL;
		PX_TESTPOINT("stream.end.completed");
	}
	leaves_log = stream->logging.checkpoint_file != NULL;
	px_registry_of_end(stream->owner, stream->index, &stream->slot, leaves_log);
	px_process_refresh(); /* the target's part */
	px_wakeup_wake(&segment->waiting);
}

void px_stream_free(struct px_stream *stream)
{
	px_reader_destroy(&stream->reader);
	free(stream->logging.data);
	free(stream->logging.checkpoint);
	px_shm_unmap(&stream->view.mapping);
	put_shared_names(stream);
	free(stream);
}

void px_stream_drop(struct px_stream *stream)
{
	px_shm_retire(&stream->view.mapping);
	if (stream->logging.log)
		px_log_let_go(stream->logging.log);
}
