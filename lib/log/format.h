/* SPDX-License-Identifier: MIT */
/*
 * The layout of a log: volumes of one size, one after the other.  A volume is a TXTB image, which the
 * viewer opens as it is, and a POSIX section after it:
 *
 *	image		TXTB header, PX_LOG_OBJECTS object slots, an entry of 32 bytes a slot
 *	section		header		identifies the log; written once
 *			commit		how far the log is written; first volume only
 *			names		event types in the order in which they were opened; first volume only
 *			modules		the modules of the target, as text (modules.h); first volume only
 *			wrappers	wrapper statistics (wrapper_stats.h); first volume only
 *			objects		the exact names and numbers of the object slots
 *			slots		48 bytes a slot: what has no room in TXTB
 *
 * Areas begin on pages, and entries are aligned to their size.  The file is sparse until it is filled.
 * All areas of a volume have their full size from the beginning, so nothing ever moves.
 *
 * A *position* counts slots since the log began.  The slot is position modulo all slots of the log
 * (LOOP), else simply position.  Each slot holds the position for which it was last written, so a
 * reader detects a slot with another position.  A record is in one volume.  If it has no room there,
 * a word of 0 marks the end of the volume.  Fillers are entries for the viewer only: in a time gap
 * that is longer than the range of stamps, and before the first event.  Entries that are only shown
 * are for the viewer, too: what ThreadX would have recorded beside a call (translate.h).
 *
 * The entry of a native event has information words that differ from the data of the call.  The data
 * is in the slot, where other events have pthread_t, pid and length.  Pthread_t and pid are in the
 * object of the entry's context, and the length is in the upper half of the flags.
 *
 * Times are nanoseconds on the scale of CLOCK_REALTIME.  The writer has converted them, so a reader
 * needs no clock.
 *
 * The writer keeps an order, so that at every instant the viewer accepts the image with its events in
 * order, and the section is whole: objects, slots, entries, names, then the commit, which is one write
 * within one page.  A log that overwrites first writes the commit that gives up the oldest events.
 * Then it writes context 0 into the first entry to overwrite, where the viewer stops.  Then it sets
 * `current` to the entry after the last one, and it writes that first entry last.
 *
 * All numbers have the byte order and sizes of the machine that wrote them.  Another kind of machine
 * refuses the section (MODEL-9).
 */
#ifndef PX_LOG_FORMAT_H
#define PX_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/attr.h"
#include "event/eventset.h"
#include "event/names.h"
#include "event/threads.h"
#include "ring/record.h"
#include "ring/wrapper_stats.h"
#include "txtb/txtb.h"

#define PX_LOG_MAGIC UINT64_C(0x31474f4c58545850) /* "PXTXLOG1" in memory, on most machines */
#define PX_LOG_VERSION 2
#define PX_LOG_PAGE 4096
#define PX_LOG_TICK_NS 100
#define PX_LOG_MODULES_BYTES 65536

/* Object slots of a volume: one for no thread, one for the idle thread, those in use, event types. */
#define PX_LOG_OBJECTS 1020
#define PX_LOG_IN_USE 896 /* threads, and the objects of calls */
#define PX_LOG_SLOT_IDLE 1

#define PX_LOG_VOLUME_ENTRIES_MAX 1048575
#define PX_LOG_VOLUMES_MAX 1024 /* of a log of bounded size: 80 GiB */
#define PX_LOG_START_FILLERS 3
#define PX_LOG_GAP_FILLERS 16
#define PX_LOG_GAP_TICKS (UINT64_C(1) << 30) /* of a filler: a quarter of a stamp's range */

_Static_assert((sizeof(struct px_txtb_header) + PX_LOG_OBJECTS * sizeof(struct px_txtb_object)) %
			       sizeof(struct px_txtb_entry) ==
		       0,
	       "no entry is on two pages");

/* What can differ on another kind of machine, or in another build of the library. */
struct px_log_machine {
	uint16_t byte_order; /* 0x0102 */
	uint8_t of_long;
	uint8_t of_pointer;
	uint8_t of_thread; /* pthread_t */
	uint8_t of_time;   /* time_t */
	uint16_t of_attr;
	char name[24]; /* of the architecture */
};

struct px_log_header {
	uint64_t magic;
	uint32_t version;
	uint32_t volume; /* number of this one */
	struct px_log_machine machine;
	uint8_t uuid[16];    /* the same in all volumes of a log */
	uint32_t nr_entries; /* slots of each volume */
	uint32_t nr_volumes; /* at most; 0: no bound */
	uint32_t policy;     /* enum px_full_policy */
	uint32_t target_pid;
	uint32_t writer_pid;
	uint32_t tick_ns;
	uint64_t writer_start;
	uint64_t registry_device; /* of the registry with its stream */
	uint64_t registry_inode;
	char boot_id[40];
	char host[64];
	struct px_attr attr;
};

/* How a log ended. */
enum px_log_end {
	PX_LOG_OPEN = 0,     /* it did not end, or not yet */
	PX_LOG_COMPLETE = 1, /* by its writer */
	PX_LOG_RECOVERED = 2 /* by another process, after its writer died */
};

struct px_log_commit {
	uint64_t serial; /* also of its checkpoint (checkpoint.h) */
	uint64_t first;	 /* position of the oldest record */
	uint64_t end;	 /* position after the newest record */
	uint64_t nr_events;
	uint64_t nr_shortened; /* time gaps that are too short in the image */
	uint64_t shortened_ns;
	uint64_t overwritten; /* in the stream: as px_loss */
	uint64_t dropped;
	uint64_t abandoned;
	uint64_t nr_lost; /* in the log: overwritten, discarded, not written */
	uint32_t nr_names;
	uint32_t is_complete; /* enum px_log_end */
	uint32_t stream_full; /* flags */
	uint32_t stream_overrun;
	uint32_t log_full;
	uint32_t log_overrun;
	int32_t flush_error; /* the first one since create or clear */
	uint32_t modules_bytes;
	uint32_t nr_wrappers;
	uint32_t reserved;
};

struct px_log_name {
	uint32_t id;
	char text[PX_NAME_MAX + 1];
};

struct px_log_object {
	struct px_object object; /* handle 0: the slot is free */
	uint64_t address;	 /* of the object of a call, or its descriptor */
	uint64_t site;		 /* address of its first call */
};

enum px_log_kind {
	PX_LOG_NOTHING = 0, /* the volume ends here */
	PX_LOG_EVENT = 1,
	PX_LOG_MORE = 2, /* more data of the event before: 40 bytes, and 16 in the entry */
	PX_LOG_FILLER = 3,
	PX_LOG_SHOWN = 4 /* only shown: belongs to the event before or after it */
};

/* Flags of a slot: this one, and some of enum px_record_flags. */
#define PX_LOG_IS_NATIVE 0x100u
#define PX_LOG_RECORD_FLAGS                                                                        \
	((uint32_t)(PX_RECORD_TRUNCATED | PX_RECORD_CALL | PX_RECORD_BEGINS | PX_RECORD_ENDS))
#define PX_LOG_NATIVE_BYTES_MAX 0xFFFFu

struct px_log_slot {
	uint64_t word; /* position << 8 | enum px_log_kind */
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread; /* pthread_t; of a native event: 16 bytes of data begin here */
	uint32_t pid;
	uint32_t length; /* bytes of data */
	uint32_t id;
	uint32_t flags;
};

_Static_assert(sizeof(struct px_log_header) <= PX_LOG_PAGE, "one page");
_Static_assert(sizeof(struct px_log_commit) <= 512, "one write within a page");
_Static_assert(sizeof(struct px_log_name) == 64, "name");
_Static_assert(sizeof(struct px_log_object) == 112, "object");
_Static_assert(sizeof(struct px_wrapper_sum) == 96, "wrapper");
_Static_assert(offsetof(struct px_log_slot, id) - offsetof(struct px_log_slot, thread) ==
		       PX_RECORD_FIRST_BYTES,
	       "data of a call");
_Static_assert(sizeof(struct px_log_slot) == sizeof(struct px_slot), "slot");

PX_INLINE uint64_t px_log_word(uint64_t position, enum px_log_kind kind)
{
	return position << 8 | kind;
}

/* Offsets of the areas in a volume. */
struct px_log_layout {
	uint64_t entries;
	uint64_t header;
	uint64_t commit;
	uint64_t names;
	uint64_t modules;
	uint64_t wrappers;
	uint64_t objects;
	uint64_t slots;
	uint64_t size; /* to the next volume */
};

struct px_log_layout px_log_layout(uint32_t nr_entries);

/*
 * For a position, these functions return: the number of its volume, the offset of that volume in the file, the slot
 * in that volume, and the first position of the next volume.
 */
PX_INLINE uint64_t px_log_volume_number(const struct px_log_header *header, uint64_t position)
{
	uint64_t number = position / header->nr_entries;

	return header->policy == PX_POLICY_LOOP ? number % header->nr_volumes : number;
}

PX_INLINE uint64_t px_log_volume_offset(const struct px_log_header *header,
					const struct px_log_layout *layout, uint64_t position)
{
	return px_log_volume_number(header, position) * layout->size;
}

PX_INLINE uint32_t px_log_slot_in_volume(const struct px_log_header *header, uint64_t position)
{
	return (uint32_t)(position % header->nr_entries);
}

PX_INLINE uint64_t px_log_next_volume_at(const struct px_log_header *header, uint64_t position)
{
	return position + header->nr_entries - px_log_slot_in_volume(header, position);
}

/* Return the slots of the largest event with at most this much user data, including the entries beside its own. */
uint32_t px_log_event_slots(uint64_t max_data);

/*
 * Choose the size of the volumes of a log, and their greatest number.  For APPEND there is no bound.  Else all
 * events in sum take at most log_size bytes, or the least that a log needs to work.
 */
void px_log_geometry(uint64_t log_size, uint64_t max_data, bool append, uint32_t *nr_entries,
		     uint32_t *nr_volumes);

/* Find and read the header of the log of fd.  Return false if the file has no POSIX section. */
bool px_log_find(int fd, struct px_log_header *header, struct px_log_layout *layout);

/* Return true if this is the header of a log of this kind of machine and this version, with possible sizes. */
bool px_log_header_is_ours(const struct px_log_header *header);

/* Read the commit.  Return false if there is none, or if its positions are impossible. */
bool px_log_read_commit(int fd, const struct px_log_header *header,
			const struct px_log_layout *layout, struct px_log_commit *commit);

/* This machine. */
struct px_log_machine px_log_machine(void);

/* Get the id of this boot of the machine, or "" if the kernel provides none. */
void px_log_boot_id(char boot_id[40]);

#endif
