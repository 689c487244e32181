/* SPDX-License-Identifier: MIT */
/*
 * The names and descriptions of event types that a log holds.  The caller reads the records of names from the file
 * (struct px_log_name) and adds each of them.  The records are hostile input: a wrong one has no effect.
 */
#ifndef PX_LOG_ARCHIVE_NAMES_H
#define PX_LOG_ARCHIVE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "event/descriptions.h"
#include "event/names.h"
#include "log/format.h"

/* All bytes 0: there are no names yet.  The caller frees the content with px_archive_names_free(). */
struct px_archive_names {
	struct px_log_name *names;
	uint32_t nr_names;
	struct px_descriptions *descriptions; /* NULL: none */
	char *description;		      /* the pieces of one that were added */
	size_t description_bytes;
	uint32_t described; /* the id of the last piece */
	/* Index: id of an event type; value: index of its name + 1, or 0 if it has no name. */
	uint16_t name_of[PX_EVENT_IDS];
};

/* Call this before the first name is added.  A further call does nothing.  Return false if there is no memory. */
bool px_archive_names_begin(struct px_archive_names *names);
void px_archive_names_free(struct px_archive_names *names);

/* Add a name.  The first name of an id is valid. */
void px_archive_names_add_name(struct px_archive_names *names, const struct px_log_name *from);

/* Add a record: a name, or a piece of a description.  Return false if there is no memory. */
bool px_archive_names_add(struct px_archive_names *names, const struct px_log_name *record);

/* The functions type(), type_name() and description() of an archive (archive.h). */
unsigned int px_archive_names_type(const struct px_archive_names *names, uint32_t i);
int px_archive_names_get(const struct px_archive_names *names, unsigned int id, char name[PX_NAME_MAX + 1]);
size_t px_archive_names_describe(const struct px_archive_names *names, unsigned int id,
				 char text[PX_FIELDS_TEXT_MAX]);

#endif
