/* SPDX-License-Identifier: MIT */
/* Declarations that the files merge*.c share.  No other file includes this. */
#ifndef PX_LOG_MERGE_PRIVATE_H
#define PX_LOG_MERGE_PRIVATE_H

#include "log/copy.h"
#include "log/merge.h"

/* The number of a thread in a log, and in the merged log. */
struct px_merge_handle {
	uint32_t from, to;
};

/* The data of an event type of a machine of another kind: what its description means there and here. */
struct px_merge_layout {
	struct px_fields *from, *to; /* NULL: the data stay as they are */
};

struct px_merge_log {
	uint32_t first_origin, nr_origins;
	/* This process, as a number of the merged log, has no thread of the logs before; 0: there is none. */
	uint32_t other_process;
	bool is_running; /* its writer was writing it when it was added */
	/* Index: number of a host in the log; value: number in the merged log. */
	uint16_t host_of[PX_HOSTS_MAX];
	uint16_t type_of[PX_EVENT_IDS]; /* 0: the log has no such type */
	struct px_merge_layout *layout;	/* index: id minus PX_EVENT_USER_FIRST; NULL: the machine is of this kind */
	struct px_merge_handle *handle; /* sorted by `from` */
	uint32_t nr_handles;
	uint32_t last; /* index of the handle that was found last */
};

struct px_merge_type {
	char name[PX_NAME_MAX + 1];
	char *text; /* its description; NULL: none */
	size_t length;
};

struct px_merge {
	struct px_archive archive; /* the tables of the merged log, for px_log_copy_begin(); must be the first member */
	struct px_merge_log *log;
	uint32_t nr_logs;
	struct px_archive_object *object;
	size_t nr_objects, objects_size;
	uint32_t next_handle; /* serial of the next thread */
	struct px_merge_type *type; /* index: id in the merged log minus PX_EVENT_USER_FIRST */
	uint32_t nr_types;
	uint16_t call[PX_EVENT_IDS - PX_EVENT_CALL_FIRST]; /* ids of the calls that a log has */
	uint32_t nr_calls;
	struct px_wrapper_sum *wrapper;
	uint32_t nr_wrappers;
	struct px_origins origins; /* each has its own copy of its modules */
	uint32_t nr_hosts;
	struct px_log_copy_result result;
	struct px_log_copy *copy;
	int fd;
	unsigned char *data, *converted; /* of an event, before and after the conversion from another machine */
	size_t data_size;
	int error;
};

/* merge_origins.c: where the logs come from */

/* Add the origins of a log, and set host_of and other_process.  Return 0, ENOMEM or E2BIG. */
int px_merge_add_origins(struct px_merge *merge, struct px_merge_log *log, struct px_archive *from);

/* merge_tables.c: what the logs have, in the numbers of the merged log */

/*
 * The description of a type whose data cannot be converted: they stay bytes.  The type is another one than that with
 * the same name here.
 */
#define PX_MERGE_BYTES "u8 data[]"

/* Add a log's part of each table.  The caller has set log->host_of.  Return 0, ENOMEM or E2BIG. */
int px_merge_add_types(struct px_merge *merge, struct px_merge_log *log, struct px_archive *from);
int px_merge_add_objects(struct px_merge *merge, struct px_merge_log *log, struct px_archive *from);
int px_merge_add_wrappers(struct px_merge *merge, struct px_archive *from);

/* Return the pid or tid, the CPU, or the handle of a thread in the merged log.  Other numbers stay as they are. */
uint32_t px_merge_pid(const struct px_merge_log *log, uint32_t pid);
uint32_t px_merge_cpu(const struct px_merge_log *log, uint32_t pid, uint32_t cpu);
uint32_t px_merge_handle(struct px_merge *merge, struct px_merge_log *log, uint32_t handle);

/* merge_event.c */

/* Change the numbers in the data of an event, which has `length` bytes. */
void px_merge_convert_data(struct px_merge *merge, struct px_merge_log *log, const struct px_record *record,
			   unsigned char *data, size_t length);

#endif
