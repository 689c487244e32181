/* SPDX-License-Identifier: MIT */
#include "log/log_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/modules.h"
#include "log/archive.h"
#include "registry/maps_file.h"

#define WRAPPERS_AT_ONCE 40 /* number of rows in one write */

/* Write the pieces of a description with one write, so that a commit has all of them or none. */
static int write_description(struct px_log *log, unsigned int id)
{
	struct px_log_name rows[PX_FIELDS_TEXT_MAX / (PX_NAME_MAX + 1) + 1];
	char text[PX_FIELDS_TEXT_MAX];
	size_t length = px_descriptions_get(log->descriptions, id, text), done = 0;
	uint32_t nr = 0;
	int error;

	if (length == 0)
		return 0;
	do {
		struct px_log_name *row = &rows[nr++];
		size_t piece = length - done < sizeof(row->text) ? length - done : sizeof(row->text);

		memset(row, 0, sizeof(*row));
		row->id = PX_LOG_DESCRIPTION | id;
		memcpy(row->text, text + done, piece);
		done += piece;
	} while (rows[nr - 1].text[PX_NAME_MAX] != '\0');
	if (log->nr_description_rows + nr <= PX_LOG_DESCRIPTION_ROWS_MAX &&
	    log->commit.nr_names + nr <= PX_LOG_NAMES_MAX) {
		error = px_log_write_all(log, rows, nr * sizeof(*rows),
					 log->tail.names + log->commit.nr_names * sizeof(*rows));
		if (error)
			return error;
		log->commit.nr_names += nr;
		log->nr_description_rows += nr;
	}
	px_eventset_add(&log->described, id);
	return 0;
}

static int write_descriptions(struct px_log *log)
{
	uint32_t nr = log->descriptions ? px_load_acquire(&log->descriptions->nr) : 0;
	int error = 0;

	if (nr == log->descriptions_done)
		return 0;
	for (unsigned int id = PX_EVENT_USER_FIRST; !error && id < PX_EVENT_USER_END; id++)
		if (!px_eventset_has(&log->described, id))
			error = write_description(log, id);
	if (!error)
		log->descriptions_done = nr;
	return error;
}

/*
 * A type in the list may not be ready yet, because another thread is adding it.  types_done stops at the first type
 * that is not ready.  This call also writes the types after that one, and a later call checks them again.
 */
int px_log_write_names(struct px_log *log)
{
	bool has_passed = false;
	int error;

	for (uint32_t i = log->types_done;; i++) {
		struct px_log_name name = {0}; /* the bytes after the name go into the file, too */

		if (!px_typelist_get(log->types, i, &name.id, name.text))
			break;
		has_passed |= name.id == PX_EVENT_NONE;
		if (name.id != PX_EVENT_NONE && !px_eventset_has(&log->named, name.id) &&
		    log->commit.nr_names < PX_LOG_NAMES_MAX) {
			error = px_log_write_all(log, &name, sizeof(name),
					  log->tail.names + log->commit.nr_names * sizeof(name));
			if (error)
				return error;
			px_eventset_add(&log->named, name.id);
			log->commit.nr_names++;
		}
		if (!has_passed)
			log->types_done = i + 1;
	}
	return write_descriptions(log);
}

static size_t list_modules(const struct px_log *log, char *text)
{
	if (log->from) {
		size_t length = log->from->kind->modules(log->from, text, PX_LOG_MODULES_BYTES);

		return length < PX_LOG_MODULES_BYTES ? length : PX_LOG_MODULES_BYTES;
	}
	return log->remote_pid ?
		       px_maps_file_list(log->remote_pid, text, PX_LOG_MODULES_BYTES) :
		       px_modules_list(text, PX_LOG_MODULES_BYTES);
}

/*
 * If the write fails, the file may have a part of a list: record that the log has no list.  If the target does not
 * exist any more, keep the list of the last call.
 */
int px_log_write_modules(struct px_log *log)
{
	char *text = malloc(PX_LOG_MODULES_BYTES);
	size_t length;
	int error;

	if (!text)
		return ENOMEM;
	length = list_modules(log, text);
	if (length == 0 && log->remote_pid) {
		free(text);
		return 0;
	}
	error = px_log_write_all(log, text, length, log->tail.modules);
	log->commit.modules_bytes = error ? 0 : (uint32_t)length;
	free(text);
	return error;
}

static bool get_wrapper(const struct px_log *log, uint32_t i, double tick_ns,
			struct px_wrapper_sum *row)
{
	if (log->view)
		return px_view_wrapper(log->view, i, tick_ns, row);
	return log->from && log->from->kind->wrapper(log->from, i, row);
}

/*
 * Row i always belongs to the same wrapper, and only its counts change.  If the writer dies here, some rows in the file
 * have older counts than the others.
 */
int px_log_write_wrappers(struct px_log *log, double tick_ns)
{
	struct px_wrapper_sum rows[WRAPPERS_AT_ONCE];
	uint32_t nr, done = 0;
	int error = 0;

	do {
		for (nr = 0; nr < WRAPPERS_AT_ONCE && get_wrapper(log, done + nr, tick_ns, &rows[nr]);)
			nr++;
		if (nr > 0)
			error = px_log_write_all(log, rows, nr * sizeof(*rows),
					  log->tail.wrappers + done * sizeof(*rows));
		done += error ? 0 : nr;
	} while (!error && nr == WRAPPERS_AT_ONCE);
	if (done > log->commit.nr_wrappers)
		log->commit.nr_wrappers = done;
	return error;
}

int px_log_copy_tail(struct px_log *log, int from_fd, const struct px_log_tail *to)
{
	const struct px_log_commit *commit = &log->commit;
	int error = px_log_copy(log, from_fd, log->tail.modules, to->modules, commit->modules_bytes);

	if (!error)
		error = px_log_copy(log, from_fd, log->tail.wrappers, to->wrappers,
				    commit->nr_wrappers * sizeof(struct px_wrapper_sum));
	if (!error)
		error = px_log_copy(log, from_fd, log->tail.names, to->names,
				    commit->nr_names * sizeof(struct px_log_name));
	return error;
}

int px_log_move_tail(struct px_log *log, uint64_t at)
{
	struct px_log_tail to = px_log_tail();
	struct px_log_commit before = log->commit;
	int error, fd = px_log_open_reader(log);

	if (fd < 0) {
		/* If the tail cannot be read, it stays, and the next volume begins behind it. */
		log->next_at = log->tail.modules + to.size;
		return 0;
	}
	to.modules += at;
	to.wrappers += at;
	to.names += at;
	error = px_log_copy_tail(log, fd, &to);
	close(fd);
	if (error)
		return error;
	log->commit.modules_at = to.modules;
	log->commit.wrappers_at = to.wrappers;
	log->commit.names_at = to.names;
	error = px_log_write_commit(log, NULL);
	if (error)
		log->commit = before;
	else
		log->tail = to;
	return error;
}
