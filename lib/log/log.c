/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define STAGE_ENTRIES 4096

static void fill_header(struct px_log *log, const struct px_log_setup *setup)
{
	struct px_log_header *header = &log->header;
	struct rlimit limit;

	header->magic = PX_LOG_MAGIC;
	header->version = PX_LOG_VERSION;
	header->machine = px_log_machine();
	header->policy = setup->attr->log_policy;
	header->target_pid = setup->target_pid;
	header->writer_pid = setup->writer.pid;
	header->writer_start = setup->writer.start;
	header->registry_device = px_registry_file().device;
	header->registry_inode = px_registry_file().inode;
	header->tick_ns = PX_LOG_TICK_NS;
	px_log_boot_id(header->boot_id);
	gethostname(header->host, sizeof(header->host) - 1);
	if (getrandom(header->uuid, sizeof(header->uuid), GRND_NONBLOCK) < 0)
		memcpy(header->uuid, &setup->attr->create_time, sizeof(setup->attr->create_time));
	px_log_geometry(setup->attr->log_size, setup->attr->max_data_size,
			header->policy == PX_POLICY_APPEND, &header->nr_entries,
			&header->nr_volumes);
	if (header->policy == PX_POLICY_APPEND && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		header->nr_entries =
			px_log_append_entries(limit.rlim_cur, setup->attr->max_data_size);
	log->layout = px_log_layout(header->nr_entries);
	log->loops = header->policy == PX_POLICY_LOOP;
	log->capacity = (uint64_t)header->nr_entries * header->nr_volumes;
	if (log->capacity != 0) /* an APPEND log ignores the size, but keeps the attribute */
		setup->attr->log_size = log->capacity * PX_SLOT_BYTES;
	header->attr = *setup->attr;
}

/*
 * Return the number of entries in the stage.  The stage holds many events, but not more than a quarter of a volume, so
 * that one write overwrites only a part of a LOOP log.  If the largest event needs more than that quarter, the stage is
 * larger.
 */
static uint32_t choose_stage(const struct px_log *log)
{
	uint32_t least = px_log_event_slots(log->header.attr.max_data_size) + PX_LOG_GAP_FILLERS +
			 PX_LOG_START_FILLERS;
	uint32_t size = log->header.nr_entries / 4;

	size = size < STAGE_ENTRIES ? size : STAGE_ENTRIES;
	return size < least ? least : size;
}

int px_log_allocate(struct px_log *log)
{
	log->stage_size = choose_stage(log);
	/* Allocate one more entry and slot for the last STOP. */
	log->entries = malloc((log->stage_size + 1) * sizeof(*log->entries));
	log->slots = malloc((log->stage_size + 1) * sizeof(*log->slots));
	log->volumes = calloc(log->loops ? log->header.nr_volumes : 1, sizeof(*log->volumes));
	if (log->loops)
		log->heads = calloc(log->capacity / 64 + 1, sizeof(*log->heads));
	if (!log->entries || !log->slots || !log->volumes || (log->loops && !log->heads))
		return ENOMEM;
	px_log_reset_volume(&log->volumes[0]);
	return 0;
}

static int begin(struct px_log *log, const struct px_log_state *state)
{
	int error = px_log_begin_volume(log, 0);

	log->nr_begun = 1;
	/*
	 * List the modules now if the target is this process.  A target that is another process may not have called
	 * exec for its program yet.
	 */
	if (!error && !log->remote_pid)
		error = px_log_write_modules(log);
	return error ? error : px_log_write_commit(log, state->checkpoint);
}

int px_log_create(const struct px_log_setup *setup, const struct px_log_state *state,
		  struct px_log **log)
{
	struct px_log *made;
	int error = px_log_check(setup->fd);

	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return ENOMEM;
	made->threads = setup->threads;
	made->view = setup->view;
	made->checkpoint_file = setup->checkpoint_file;
	made->types = setup->types;
	made->remote_pid = setup->target_pid == setup->writer.pid ? 0 : setup->target_pid;
	error = px_log_take_descriptor(made, setup->fd);
	if (error) {
		free(made);
		return error;
	}
	fill_header(made, setup);
	error = px_log_allocate(made);
	if (!error)
		error = begin(made, state);
	if (error) {
		px_log_free(made);
		return error;
	}
	if (made->checkpoint_file)
		px_checkpoint_file_sign(made->checkpoint_file, made->header.uuid);
	*log = made;
	return 0;
}

void px_log_free(struct px_log *log)
{
	px_log_close_descriptor(log);
	free(log->entries);
	free(log->slots);
	free(log->volumes);
	free(log->heads);
	px_translator_free(log->translator);
	free(log);
}

void px_log_clear(struct px_log *log, const struct px_log_state *state)
{
	uint64_t used = log->written.end > log->spoiled ? log->written.end : log->spoiled;

	if (log->nr_begun > 1 || used > log->header.nr_entries)
		used = log->header.nr_entries;
	if (log->to_clear < used)
		log->to_clear = used;
	log->is_cleared = true;
	memset(&log->staged, 0, sizeof(log->staged));
	memset(&log->written, 0, sizeof(log->written));
	log->nr_staged = 0;
	log->stage_position = 0;
	log->nr_begun = 1;
	log->spoiled = 0;
	log->has_hole = log->is_full = log->wants_stop = false;
	log->has_translation = log->is_idle = false;
	log->open = 0;
	log->nr_lost = 0;
	log->first_error = 0;
	for (uint32_t i = 0; i < (log->loops ? log->header.nr_volumes : 1); i++)
		if (i == 0 || log->volumes[i].context[0].handle)
			px_log_reset_volume(&log->volumes[i]);
	if (log->loops)
		memset(log->heads, 0, (log->capacity / 64 + 1) * sizeof(*log->heads));
	px_log_fill_commit(log, state);
	/* The log in memory is empty now, so every commit from now on describes an empty log. */
	px_log_keep_checkpoint(log, state->checkpoint);
}

int px_log_empty(struct px_log *log)
{
	int error = px_log_ensure_descriptor(log);

	return error ? error : px_log_empty_file(log);
}

int px_log_write(struct px_log *log, const struct px_log_state *state)
{
	PX_TESTPOINT("log.write.begin");
	px_log_stage_stop(log);
	return px_log_write_stage(log, state);
}

/* Return the length of the file up to its last used slot. */
static uint64_t file_length(const struct px_log *log)
{
	uint64_t last = log->nr_begun - 1;
	uint64_t used = log->header.nr_entries;
	bool is_round = log->loops && log->written.end >= log->capacity;

	if (!is_round && log->written.end / log->header.nr_entries == last)
		used = px_log_slot_in_volume(&log->header, log->written.end);
	return last * log->layout.size + log->layout.slots + used * sizeof(struct px_log_slot);
}

/* If the log is empty, stage the fillers: the viewer shows nothing for an image without entries. */
static void stage_if_empty(struct px_log *log)
{
	const struct timespec *time = &log->header.attr.create_time;

	if (log->staged.end == 0)
		px_log_begin_stamps(log,
				    (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
}

/* Return true if there is more to write than the names of event types and a commit. */
static bool has_unwritten(const struct px_log *log)
{
	return log->nr_staged > 0 || (log->wants_stop && !log->staged.has_stop) ||
	       log->is_cleared || log->has_hole || log->stage_position < log->spoiled;
}

static int write_rest(struct px_log *log, const struct px_log_state *state)
{
	int error;

	stage_if_empty(log);
	if (has_unwritten(log))
		return px_log_write(log, state);
	error = px_log_write_names(log);
	if (!error)
		px_log_fill_commit(log, state);
	return error;
}

/*
 * Set the length of the file before the commit marks the log as complete: readers refuse a complete log that is too
 * short.
 */
static int end_file(struct px_log *log, const struct px_log_state *state, enum px_log_end end)
{
	int error;

	PX_TESTPOINT("log.write.before");
	error = px_log_ensure_descriptor(log);
	if (error)
		return error;
	if (ftruncate(log->fd, (off_t)file_length(log)) != 0)
		return errno;
	/* The target may have loaded more modules by now.  If the list cannot be written, the log has no list. */
	if (end == PX_LOG_COMPLETE)
		px_log_write_modules(log);
	px_log_write_wrappers(log, state->tick_ns);
	log->commit.is_complete = end;
	return px_log_write_commit(log, state->checkpoint);
}

int px_log_complete(struct px_log *log, const struct px_log_state *state, enum px_log_end end)
{
	int error = px_log_ensure_descriptor(log);
	int first_error = error;

	if (!error)
		error = first_error = write_rest(log, state);
	/* The events of the failed write are lost, but a second write, without these events, may succeed. */
	if (error && end == PX_LOG_COMPLETE && px_log_ensure_descriptor(log) == 0)
		error = write_rest(log, state);
	if (!error)
		error = end_file(log, state, end);
	px_log_free(log);
	return first_error ? first_error : error;
}

void px_log_set_namer(struct px_log *log, const struct px_namer *namer)
{
	log->namer = namer;
	if (log->translator)
		px_call_objects_set_namer(px_translator_objects(log->translator), namer);
}
