/* SPDX-License-Identifier: MIT */
/* Create and end a stream. */
#include "config.h"

#include "stream/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/procfs.h"
#include "base/wide.h"
#include "registry/inherit.h"
#include "registry/names_file.h"
#include "registry/registry_of.h"
#include "registry/target.h"
#include "ring/growth.h"
#include "stream/own_rings.h"
#include "trace/process.h"
#include "trace/types.h"
#include "trace/views.h"

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
		return EINVAL; /* the policy FLUSH needs a log (SETSFP-4, FLUSHP-3) */
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
 * By default, each CPU has its own ring.  Threads that cannot write to these rings use one shared ring (cpuring.h).
 * All rings are shared if there is an obstacle (own_rings.h).  All rings are also shared if the caller requests a
 * number of rings.  Exception: if the caller requests the default number, the stream gets the default rings.  So a
 * program can create a stream with the attributes of another stream, and gets the same rings.
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
	    px_own_rings_obstacle(source) == 0) {
		geometry->nr_rings = (uint32_t)nr_cpus + 1;
		geometry->nr_shared = 1;
	}
}

/* Call this if there is not enough memory for all rings: halve their number, and make all of them shared. */
static void halve_rings(struct px_geometry *geometry)
{
	geometry->nr_rings /= 2;
	geometry->nr_shared = geometry->nr_rings;
}

/* The stream to create, and its target. */
struct request {
	const struct px_attr *attr;
	const struct px_clock *clock;
	struct px_target target;
	bool is_self;
	struct px_registry_of registrar; /* open until the stream has its slot */
};

/* Only a bounded stream with a log has the policy FLUSH. */
static enum px_grows choose_growth(const struct request *request,
				   const struct px_geometry *geometry)
{
	if (request->attr->stream_policy != PX_POLICY_FLUSH || request->registrar.is_remote ||
	    !px_growth_can_begin(geometry))
		return PX_GROWS_NOT;
	if (request->attr->grows)
		return PX_GROWS_SHARED;
	return px_growth_is_wanted && request->is_self && !request->attr->inherited ?
		       PX_GROWS_ALONE :
		       PX_GROWS_NOT;
}

/* Create a segment that grows.  Return false if that is impossible: growth.h says which streams can grow. */
static bool create_growing(const struct px_stream *stream, const struct request *request,
			   const struct px_geometry *geometry, enum px_grows kind,
			   struct px_mapping *mapping)
{
	if (kind == PX_GROWS_NOT ||
	    px_registry_of_make_part(stream->index, &stream->slot, px_segment_size(geometry),
				     PX_SEGMENT_RINGS_OFFSET, mapping) != 0)
		return false;
	if (px_growth_allocate(mapping, geometry, kind))
		return true;
	px_shm_unmap(mapping);
	px_registry_of_unmake_segment(&request->registrar, stream->index, &stream->slot);
	return false;
}

static uint64_t ticks_of(uint64_t ns, const struct px_clock *clock)
{
	return px_multiply_divide(ns, UINT64_C(1) << 48, clock->scale);
}

/* Return the bound of the attribute `stacks` in ticks. */
static uint64_t stack_ticks(const struct px_attr *attr, const struct px_clock *clock)
{
	uint64_t ns = attr->stacks == PX_STACKS_NONE || attr->stacks == PX_STACKS_ALL ? 0 : (attr->stacks - 1) * 1000;

	return ticks_of(ns, clock);
}

/* Return the maximum of the data of an event.  A stream with stacks has room for the largest stack. */
static uint64_t max_data_of(const struct px_attr *attr)
{
	bool is_small = attr->stacks != PX_STACKS_NONE && attr->max_data_size < PX_STACK_BYTES;

	return is_small ? PX_STACK_BYTES : attr->max_data_size;
}

/* Create a segment.  If the memory is not enough for all rings, try again with fewer rings. */
static int create_segment(struct px_stream *stream, const struct request *request, uint32_t index)
{
	const struct px_attr *attr = request->attr;
	bool bounded = attr->stream_policy != PX_POLICY_LOOP;
	struct px_geometry geometry;
	struct px_mapping mapping;
	enum px_grows kind;
	bool grows;
	int error = 0;

	if (!px_geometry_init(&geometry, attr->stream_size, max_data_of(attr), 1))
		return ENOMEM;
	choose_rings(attr, request->clock->source, &geometry);
	kind = choose_growth(request, &geometry);
	grows = create_growing(stream, request, &geometry, kind, &mapping);
	if (!grows && attr->grows)
		return ENOTSUP;
	while (!grows) {
		error = px_registry_of_make_segment(&request->registrar, index, &stream->slot,
						    px_segment_size(&geometry), &mapping);
		if (error != ENOMEM || geometry.nr_rings == 1)
			break;
		halve_rings(&geometry);
	}
	if (error)
		return error;
	px_segment_init(&mapping, &geometry, bounded, max_data_of(attr), request->clock->source,
			px_clock_shift(request->clock->scale), &stream->view);
	stream->view.segment->policy = attr->stream_policy;
	stream->view.segment->aggregates = attr->aggregates;
	stream->view.segment->stacks = attr->stacks;
	stream->view.segment->stack_ticks = stack_ticks(attr, request->clock);
	stream->view.segment->wait_ticks = ticks_of(PX_THREAD_TIME_WAIT_NS, request->clock);
	px_segment_view(&mapping, &stream->view); /* the view has copies of these */
	stream->view.grows = grows ? kind : PX_GROWS_NOT;
	memcpy(stream->view.segment->name, attr->name, sizeof(attr->name));
	return 0;
}

/* Fill in the attributes in use, which get_attr will return (ATTR-3, GETSS-2). */
static void fill_attr(struct px_stream *stream, const struct px_attr *attr, uint64_t create_ns)
{
	/* GETATTR-5: never copy the members that describe this library. */
	px_attr_init(&stream->attr);
	px_attr_set_name(&stream->attr, attr->name);
	stream->attr.max_data_size = max_data_of(attr);
	stream->attr.log_size = attr->log_size;
	stream->attr.log_policy = attr->log_policy;
	stream->attr.inherited = attr->inherited;
	stream->attr.stream_policy = attr->stream_policy;
	stream->attr.stream_size = px_geometry_guarantee(&stream->view.geometry);
	stream->attr.nr_rings = stream->view.geometry.nr_rings;
	stream->attr.grows = attr->grows;
	stream->attr.aggregates = attr->aggregates;
	stream->attr.stacks = attr->stacks;
	stream->attr.create_time = px_attr_time_of(create_ns);
}

static bool inherits(const struct request *request, uint32_t index,
		     const struct px_registry_slot *slot)
{
	uint64_t member[PX_SEGMENT_MEMBERS];

	return slot->is_inherited &&
	       px_registry_of_read_segment(&request->registrar, index, slot,
					   offsetof(struct px_segment, member), member,
					   sizeof(member)) == 0 &&
	       px_inherit_is_among(slot, member, &request->target.id);
}

/*
 * Return the number of the shared name table that another stream of the target has; 0: none.  That table may have no
 * entry for the target yet.
 */
static uint32_t names_of_other_streams(const struct request *request)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		struct px_registry_slot slot;

		if (px_registry_of_read(&request->registrar, i, &slot) && slot.shared_names != 0 &&
		    !px_shared_names_is_private(slot.shared_names) &&
		    (px_process_id_is(&slot.target, &request->target.id) ||
		     inherits(request, i, &slot)))
			return slot.shared_names;
	}
	return 0;
}

/*
 * Get the shared name table that the target has, or will have.  The lock of the registry is held, so the target chooses
 * its first table before or after this.  Only a target that has lost the file of its private table makes a shared one
 * without the lock, and then looks for a stream (px_process_enter_shared_names()).  So call this as late as possible.
 */
static int get_shared_names(struct px_stream *stream, const struct request *request)
{
	uint32_t number, others;
	bool has_entered;
	int error, fd;

	if (request->is_self) { /* only an inherited stream has other users of the table */
		error = px_process_choose_shared_names(request->attr->inherited != 0, &number);

		stream->shared_names.shared_names =
			px_types_shared_names(&stream->shared_names.number);
		return error;
	}
	others = names_of_other_streams(request); /* look here first: see px_process_share_names() */
	error = px_shared_names_of(request->target.id.pid, request->target.uid, &number, &has_entered);
	if (error)
		return error;
	/* The target has been private, so its table is the one that was made from its file. */
	if (px_registry_of_open_names(&request->registrar, request->target.id.pid, &fd) == 0) {
		error = px_names_file_move(fd, request->target.uid, has_entered ? number : others,
					   &stream->shared_names);
		close(fd);
		if (error != EACCES)
			return error;
	}
	if (others != 0 && !has_entered)
		number = others;
	if (number != 0 &&
	    px_shared_names_attach(number, request->target.uid, &stream->shared_names) == 0)
		return 0;
	return px_shared_names_make(request->target.uid, &stream->shared_names);
}

static void put_shared_names(struct px_stream *stream)
{
	if (!stream->is_self)
		px_shared_names_detach(&stream->shared_names);
}

/*
 * If the controller is not the target, its control events belong to no thread.  The viewer needs a thread object for
 * them, so add the object for no thread to the thread table.
 */
static void register_controller(const struct px_stream *stream)
{
	struct px_object no_thread = {.handle = PX_NO_THREAD,
				      .type = PX_TXTB_THREAD,
				      .priority = 1023,
				      .name = PX_NO_THREAD_NAME};

	px_view_add_thread(&stream->view, &no_thread);
}

/* Initialize the stream while its segment is still private. */
static int init_stream(struct px_stream *stream, const struct request *request)
{
	struct px_timeline timeline;
	int error;

	px_timeline_init(&timeline, request->clock, px_clock_realtime_offset_ns());
	stream->slot.create_ns = px_timeline_convert(&timeline, timeline.origin.counter);
	error = px_reader_init(&stream->reader, &stream->view, stream->target.pid, &timeline);
	if (error)
		return error;
	fill_attr(stream, request->attr, stream->slot.create_ns);
	if (!request->is_self)
		register_controller(stream);
	return 0;
}

static int create_parts(struct px_stream *stream, struct request *request)
{
	struct px_registry_slot *slot = &stream->slot;
	int error;

	error = px_registry_of_find(&request->registrar, &stream->index, &slot->generation);
	if (!error)
		error = create_segment(stream, request, stream->index);
	if (error)
		return error;
	PX_TESTPOINT("stream.create.allocated");
	stream->view.generation = slot->generation;
	error = init_stream(stream, request);
	if (!error && stream->view.grows)
		px_growth_begin(&stream->view, stream->view.grows);
	slot->create_start = px_procfs_now();
	PX_TESTPOINT("stream.create.filled");
	if (!error)
		error = get_shared_names(stream, request);
	if (!error) {
		slot->shared_names = stream->shared_names.number;
		error = px_registry_of_publish(&request->registrar, stream->index, slot);
		if (error)
			put_shared_names(stream);
	}
	if (error) {
		px_reader_destroy(&stream->reader);
		px_shm_unmap(&stream->view.mapping);
		px_registry_of_unmake_segment(&request->registrar, stream->index, slot);
	}
	return error;
}

static int create_locked(struct px_stream *stream, struct request *request)
{
	if (!request->is_self &&
	    !px_procfs_is_same(request->target.id.pid, request->target.id.start))
		return ESRCH;
	stream->is_self = request->is_self;
	stream->target = request->target.id;
	stream->owner = request->target.uid;
	stream->slot = (struct px_registry_slot){.controller = px_process_id(),
						 .target = request->target.id,
						 .is_inherited = request->attr->inherited != 0};
	return create_parts(stream, request);
}

/*
 * Wait for the next clock tick.  Then every process that started before this call has an earlier start time than the
 * stream: see inherit.h.
 */
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

/* Without scheduling records, the stream records all else, and what the kernel counts for each thread. */
static void open_sched(struct px_stream *stream, const struct px_attr *attr)
{
	if (!attr->sched)
		return;
	stream->logging.sched_error =
		px_sched_open(stream->target.pid, attr->inherited != 0, &stream->logging.sched);
	stream->attr.sched = stream->logging.sched != NULL;
	if (!stream->logging.sched_error)
		return;
	px_cpu_times_open(stream->target.pid, &stream->logging.cpu_times);
	px_write_once(&stream->view.segment->has_thread_times, 1U);
}

static int create_log(struct px_stream *stream, int fd)
{
	struct px_log_setup setup = {.fd = fd,
				     .attr = &stream->attr,
				     .writer = px_process_id(),
				     .target_pid = stream->target.pid,
				     .threads = &stream->view.segment->threads,
				     .types = &stream->view.segment->types,
				     .descriptions = &stream->view.segment->descriptions,
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
	stream->reader.keeps_marks = true;
	setup.checkpoint_file = stream->logging.checkpoint_file;
	px_stream_log_state(stream, false, &state);
	return px_log_create(&setup, &state, &stream->logging.log);
}

/* While the log is incomplete, the segment must survive the controller, because recovery needs it. */
static void mark_log(struct px_stream *stream, bool has_log)
{
	stream->slot.has_log = has_log;
	px_registry_of_mark_log(stream->owner, stream->index, &stream->slot);
}

/* The default policy depends on whether there is a log (WITHLOG-7). */
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

static int find_target(pid_t pid, struct request *request)
{
	const struct px_process_id us = px_process_id();

	request->is_self = pid == 0 || (uint32_t)pid == us.pid;
	if (!request->is_self)
		return px_target_find(pid, &request->target);
	request->target.id = us;
	request->target.uid = geteuid();
	return 0;
}

/*
 * Create the segment and the registry slot.  Do not attach this process to the stream yet, and do not create the log.
 */
static int create_stream(struct px_stream *stream, struct request *request)
{
	struct px_clock clock = px_clock_best(); /* this is slow, so do it before taking the lock */
	int error;

	request->clock = &clock;
	if (request->attr->inherited)
		wait_for_tick();
	error = px_registry_of_open(&request->registrar, request->target.uid);
	if (error)
		return error;
	error = create_locked(stream, request);
	px_registry_of_close(&request->registrar);
	return error;
}

/*
 * Attach this process now if it is the target.  If the process attached only at its first event, this call could not
 * report a failure.  Then list the types that the target has (CREATE-7).  No type is missed: after a thread of the
 * target has opened a type, it checks the registry for new streams (px_process_open_type()).
 */
static int join_target(struct px_stream *stream)
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
	struct request request = {.attr = &chosen};
	struct px_stream *made;
	int error;

	error = check_attr(&chosen, with_log);
	if (!error && with_log)
		error = px_log_check(log_fd);
	if (!error)
		error = px_process_init();
	if (!error)
		error = find_target(pid, &request);
	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	error = create_stream(made, &request);
	if (error) {
		free(made);
		return error;
	}
	error = join_target(made);
	PX_TESTPOINT("stream.create.met");
	if (!error && with_log)
		open_sched(made, &chosen);
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
	px_process_refresh(px_frame_here()); /* detach this process if it is the target */
	px_views_settle();
	px_wakeup_wake(&segment->waiting);
}

void px_stream_free(struct px_stream *stream)
{
	px_reader_destroy(&stream->reader);
	px_sched_close(stream->logging.sched);
	px_cpu_times_close(stream->logging.cpu_times);
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
		px_log_close_descriptor(stream->logging.log);
}
