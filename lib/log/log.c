/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "log/archive.h"

#define STAGE_ENTRIES 4096

static void fill_header(struct px_log *log, const struct px_log_setup *setup)
{
	struct px_log_header *header = &log->header;
	struct rlimit limit;

	header->magic = PX_LOG_MAGIC;
	header->version = PX_LOG_VERSION;
	header->machine = px_log_machine();
	header->layouts = px_log_layouts();
	header->policy = setup->takes_all ? PX_POLICY_APPEND : setup->attr->log_policy;
	header->target_pid = setup->target_pid;
	header->writer_pid = setup->writer.pid;
	header->writer_start = setup->writer.start;
	header->registry_device = px_registry_file().device;
	header->registry_inode = px_registry_file().inode;
	header->tick_ns = PX_LOG_TICK_NS;
	px_log_boot_id(header->boot_id);
	px_log_set_pid_space(header);
	gethostname(header->host, sizeof(header->host) - 1);
	if (getrandom(header->uuid, sizeof(header->uuid), GRND_NONBLOCK) < 0)
		memcpy(header->uuid, &setup->attr->create_time, sizeof(setup->attr->create_time));
	header->layouts.has_origins = setup->has_origins;
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
		limit.rlim_cur = RLIM_INFINITY;
	px_log_geometry(header, setup->attr->log_size, setup->attr->max_data_size, limit.rlim_cur);
	log->layout = px_log_layout(px_log_nr_objects(header), header->nr_entries,
				    header->volume_max);
	log->loops = header->policy == PX_POLICY_LOOP;
	log->capacity = (uint64_t)header->nr_entries * header->nr_volumes;
	if (log->capacity != 0) /* APPEND ignores the size, but keeps the attribute */
		setup->attr->log_size = header->volume_max * header->nr_volumes;
	header->attr = *setup->attr;
}

/*
 * Return the number of entries in the stage.  The stage holds many events, but is smaller than a volume.  So one write
 * overwrites only a part of a LOOP log.
 */
static uint32_t choose_stage(const struct px_log *log)
{
	uint32_t least = PX_ENTRIES_MAX + 1 + PX_LOG_GAP_FILLERS + PX_LOG_START_FILLERS;
	uint32_t size = log->header.nr_entries / (log->loops ? PX_LOG_CHAPTERS : 4);

	size = size < STAGE_ENTRIES ? size : STAGE_ENTRIES;
	return size < least ? least : size;
}

static void reset_frames(struct px_log *log)
{
	log->frame = 0;
	log->ends_chapter = true;
	log->ends_volume = false;
	log->frames_end = log->nr_frames = log->unused = 0;
	log->first_part = log->nr_parts = 0;
	log->volume_at = log->next_at = 0;
	log->next_link = log->layout.header + offsetof(struct px_log_header, next_volume);
}

int px_log_allocate(struct px_log *log, const struct px_threads *threads)
{
	size_t max_data = log->header.attr.max_data_size > PX_SYSTEM_EVENT_BYTES ?
				  log->header.attr.max_data_size :
				  PX_SYSTEM_EVENT_BYTES;

	log->stage_size = choose_stage(log);
	/* Allocate one entry more, for the last STOP. */
	log->entries = malloc((log->stage_size + 1) * sizeof(*log->entries));
	log->pack = px_pack_make(log->stage_size + 1, max_data);
	log->volumes = px_log_make_volumes(&log->header, log->loops ? log->header.nr_volumes : 1);
	log->parts_max = log->loops ? log->header.nr_volumes * PX_LOG_PARTS_EACH : 1;
	log->parts = calloc(log->parts_max, sizeof(*log->parts));
	log->threads = px_threadmap_make(threads);
	if (!log->entries || !log->pack || !log->volumes || !log->parts || !log->threads)
		return ENOMEM;
	px_threadmap_collect(log->threads);
	px_log_reset_volume(log, &log->volumes[0]);
	reset_frames(log);
	px_log_begin_cache(log);
	log->commit_at = log->layout.commit;
	return 0;
}

/* Compute the offset of the tail: it is behind all volumes. */
static void place_tail(struct px_log *log)
{
	uint64_t at = log->loops ? log->header.nr_volumes * log->layout.size : log->layout.size;

	log->tail = px_log_tail();
	log->tail.modules += at;
	log->tail.wrappers += at;
	log->tail.names += at;
}

static int begin(struct px_log *log, const struct px_log_state *state)
{
	int error;

	place_tail(log);
	error = px_log_begin_volume(log, 0);
	log->nr_begun = 1;
	/*
	 * List the modules now if the target is this process.  If the target is another process, wait: it may not have
	 * called exec for its program yet.
	 */
	if (!error && !log->remote_pid)
		error = px_log_write_modules(log);
	if (error)
		return error;
	log->commit.modules_at = log->tail.modules;
	log->commit.wrappers_at = log->tail.wrappers;
	log->commit.names_at = log->tail.names;
	px_log_read_clocks(log, state);
	return px_log_write_commit(log, state->checkpoint);
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
	made->view = setup->view;
	made->from = setup->from;
	made->checkpoint_file = setup->checkpoint_file;
	made->types = setup->types;
	made->descriptions = setup->descriptions;
	made->reads_clocks = true;
	if (setup->from)
		made->commit.clocks = setup->from->clocks;
	made->remote_pid = setup->target_pid == setup->writer.pid ? 0 : setup->target_pid;
	error = px_log_take_descriptor(made, setup->fd);
	if (error) {
		free(made);
		return error;
	}
	fill_header(made, setup);
	error = px_log_allocate(made, setup->threads);
	if (!error)
		error = begin(made, state);
	if (error) {
		px_log_free(made);
		return error;
	}
	if (made->checkpoint_file)
		px_checkpoint_file_validate(made->checkpoint_file, made->header.uuid);
	*log = made;
	return 0;
}

void px_log_free(struct px_log *log)
{
	px_log_close_descriptor(log);
	free(log->entries);
	px_pack_free(log->pack);
	px_log_free_volumes(log->volumes);
	free(log->parts);
	px_translator_free(log->translator);
	px_threadmap_free(log->threads);
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
	log->open = log->switched = log->ran = 0;
	log->nr_lost = 0;
	log->lacks_others = false;
	log->follows_loss = false;
	log->first_error = 0;
	for (uint32_t i = 0; i < (log->loops ? log->header.nr_volumes : 1); i++)
		if (i == 0 || log->volumes[i].is_begun)
			px_log_reset_volume(log, &log->volumes[i]);
	reset_frames(log);
	log->commit.first_frame = 0;
	log->commit.nr_clears++;
	px_log_fill_commit(log, state, 0);
	/* The log in memory is empty now, so the next commit describes an empty log. */
	px_log_keep_checkpoint(log, state->checkpoint);
}

int px_log_empty(struct px_log *log)
{
	int error = px_log_ensure_descriptor(log);

	return error ? error : px_log_empty_file(log);
}

void px_log_collect_threads(struct px_log *log)
{
	px_threadmap_collect(log->threads);
}

int px_log_write(struct px_log *log, const struct px_log_state *state)
{
	PX_TESTPOINT("log.write.begin");
	px_log_collect_threads(log);
	px_log_stage_stop(log);
	return px_log_write_stage(log, state);
}

void px_log_set_namer(struct px_log *log, const struct px_namer *namer)
{
	log->namer = namer;
	if (log->translator)
		px_call_objects_set_namer(px_translator_objects(log->translator), namer);
}
